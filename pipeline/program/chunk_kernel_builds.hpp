// SPDX-License-Identifier: MIT
// pgtune's own kernels for chunks of a pipeline: stored ones, and the model's guesses.
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

/// The sources of chunks' kernels in addition to cuBLASLt.
enum class KernelChoice {
  kGuess,     ///< the best stored kernel for a chunk's problem; if there is none, the model's guess
  kStored,    ///< only stored ones
  kCublasLt,  ///< none
};
[[nodiscard]] EnumTable<KernelChoice> enum_table(KernelChoice choice);  ///< "guess", "stored", "cublaslt"

/// Names a variant for a problem without a search; nothing if it knows none. Throws CommandError.
using KernelGuess = std::function<std::optional<Variant>(const Problem&, const space::TemplateSet&, const DeviceInfo&)>;

/// A variant for chunks of exactly this problem, to be built.
struct ChosenKernel {
  Problem problem;
  LaunchPlan plan = {};
  protocol::BuildRequest request = {};
  bool guessed = false;
  std::string template_hash = {};
};

/// For every chunk that the options allow, including last and smaller ones: the kernel in `database` for GPUs like
/// `device`, else that of `guess`, which is called only if allowed and needed. --verbose reports chunks without either.
[[nodiscard]] std::vector<ChosenKernel> choose_chunk_kernels(Context& context, db::Database& database,
                                                             const pipeline::StreamedProblem& streamed,
                                                             const DeviceInfo& device,
                                                             const session::PipelineOptions& options,
                                                             KernelChoice choice, const KernelGuess& guess);

/// Equal for equal kernels of equal templates; empty if there are none.
[[nodiscard]] std::string kernels_text(const std::vector<ChosenKernel>& kernels);

/// Kernels that cannot be built are reported on standard error; their chunks use cuBLASLt.
[[nodiscard]] std::vector<protocol::ChunkKernel> build_chunk_kernels(Context& context,
                                                                     std::vector<ChosenKernel> kernels);

}  // namespace pgtune::tool
