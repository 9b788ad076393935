// SPDX-License-Identifier: MIT
#include "tool/pgtune/pipeline/progress_line.hpp"

#include <fmt/format.h>

#include "tool/pgtune/cli/terminal/live_line.hpp"
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
    : terminal_(terminal), shape_(streamed.problem.shape()) {}

ProgressLine::~ProgressLine() { terminal_.hide_live(); }

void ProgressLine::update(const session::PipelineProgress& progress) {
  if (terminal_.verbosity() == Verbosity::kQuiet) return;
  const std::string text = fmt::format("{}: {}", shape_, work_text(progress));
  if (terminal_.error_is_terminal()) {
    terminal_.show_live({elided(text, terminal_.error_width() - 1)});
  } else if (progress.phase != phase_ || !began_) {
    terminal_.note(text);
  }
  phase_ = progress.phase;
  began_ = true;
}

}  // namespace pgtune::tool
