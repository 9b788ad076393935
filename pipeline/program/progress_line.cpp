// SPDX-License-Identifier: MIT
#include "pipeline/program/progress_line.hpp"

#include <fmt/format.h>

#include "tool/pgtune/cli/terminal/quantity.hpp"

namespace pgtune::tool {
namespace {

std::string work_text(const session::PipelineProgress& progress) {
  using Phase = session::PipelineProgress::Phase;
  std::string best;
  if (progress.best_s > 0)
    best = fmt::format("; best so far {} ms, {:.1f} % of the bound", milliseconds_text(progress.best_s),
                       100 * progress.bound_s / progress.best_s);
  switch (progress.phase) {
    case Phase::kPrepare:
      return "making operands and the float64 reference";
    case Phase::kRates:
      return "measuring copies";
    case Phase::kKernels:
      return "measuring kernels alone";
    case Phase::kSearch:
      return fmt::format("{} pipeline{} tried{}", progress.done, progress.done == 1 ? "" : "s", best);
    case Phase::kRounds:
      break;
  }
  return fmt::format("round {} of {}{}", progress.done, progress.total, best);
}

}  // namespace

ProgressLine::ProgressLine(Terminal& terminal, const pipeline::StreamedProblem& streamed)
    : line_(terminal), shape_(streamed.problem.shape()) {}

void ProgressLine::update(const session::PipelineProgress& progress) {
  line_.update(static_cast<int>(progress.phase), fmt::format("{}: {}", shape_, work_text(progress)));
}

}  // namespace pgtune::tool
