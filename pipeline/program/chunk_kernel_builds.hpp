// SPDX-License-Identifier: MIT
// The kernels of pgtune's that chunks of a pipeline may have: stored ones, and the model's guesses.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "pipeline/search/messages.hpp"
#include "pipeline/search/pipeline_search.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// What chunks have beside cuBLASLt's kernels.
enum class KernelChoice {
  kGuess,     ///< the best stored kernel of a chunk's problem; where there is none, what the model guesses
  kStored,    ///< stored ones alone
  kCublasLt,  ///< nothing
};
[[nodiscard]] EnumTable<KernelChoice> enum_table(KernelChoice choice);  ///< "guess", "stored", "cublaslt"

/// Names the variant to take for a problem without a search; nothing where it knows none. Throws CommandError.
using KernelGuess = std::function<std::optional<Variant>(const Problem&, const space::TemplateSet&, const DeviceInfo&)>;

/// A variant for chunks of exactly this problem, to be built.
struct ChosenKernel {
  Problem problem;
  LaunchPlan plan = {};
  protocol::BuildRequest request = {};
  bool guessed = false;
  std::string template_hash = {};
};

/// For every chunk that the options allow, the last and smaller ones too: what `database` has for it on GPUs like
/// `device`, or what `guess` names, which is asked only where it is wanted and needed. Where there is neither, it is
/// said with --verbose.
[[nodiscard]] std::vector<ChosenKernel> choose_chunk_kernels(Context& context, db::Database& database,
                                                             const pipeline::StreamedProblem& streamed,
                                                             const DeviceInfo& device,
                                                             const session::PipelineOptions& options,
                                                             KernelChoice choice, const KernelGuess& guess);

/// The same for the same kernels, whose templates are the same; empty of none.
[[nodiscard]] std::string kernels_text(const std::vector<ChosenKernel>& kernels);

/// What cannot be built is told on standard error, and left to cuBLASLt.
[[nodiscard]] std::vector<protocol::ChunkKernel> build_chunk_kernels(Context& context,
                                                                     std::vector<ChosenKernel> kernels);

}  // namespace pgtune::tool
