// SPDX-License-Identifier: MIT
// The options that select a pipeline, common to `pgtune pipeline` and `pgtune export pipeline`.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/search/pipeline_search.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"

namespace pgtune::tool {

/// The word of an option; nothing if it was not given. Throws CommandError (usage) for an unknown one.
template <typename Enum>
std::optional<Enum> parse_word(const char* option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto value = enumerator_of<Enum>(text);
  if (value) return value;
  std::string words;
  for (const auto& [enumerator, word] : enum_table(Enum{})) words += (words.empty() ? "" : ", ") + std::string(word);
  throw CommandError(ErrorKind::kUsage, fmt::format("unknown {} '{}'. Give one of: {}.", option, text, words));
}

/// In bytes: a quarter of this machine's memory, and at most half of the available memory, as pinned pages cannot be
/// swapped.
[[nodiscard]] std::int64_t default_pinned_limit();

/// The time limit of a request to a worker, which pins, copies and checks all streaming operands at most once for each
/// pipeline of a round.
[[nodiscard]] std::chrono::milliseconds request_timeout(const pipeline::StreamedProblem& streamed);

class WhichPipeline {
 public:
  void add_to(CommandLine& app, const char* group);
  /// Throws CommandError (usage): not exactly one problem, or one without pipelines.
  [[nodiscard]] pipeline::StreamedProblem streamed() const;
  /// Cut and memory, if given. Throws CommandError (usage) for unknown words.
  void read_into(session::PipelineOptions& options) const;

 private:
  ProblemOptions problems_;
  std::string stream_ = "A,D", cut_, memory_;
};

}  // namespace pgtune::tool
