// SPDX-License-Identifier: MIT
#include "tuner/session/confirm_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/session/answer/settled_energy.hpp"
#include "tuner/session/stages.hpp"

namespace pgtune::session {
namespace {

/// Takes those from the final that failed in the confirm rounds.
void leave_out_failed(SessionRun& run, const std::vector<RoundEntry>& asked) {
  for (const RoundEntry& entry : asked) {
    if (!entry.index || run.state.trial(*entry.index).report.outcome.kind == OutcomeKind::kOk) continue;
    run.leave_out(variant_of(entry.contender)->variant);
  }
}

/// The final's order is that of the rounds that chose, the answer's that of those that did not. Nothing where the
/// chosen one failed in these, which its outcome tells.
void note_change(SessionRun& run, const Variant& chosen) {
  const RankedVariant& best = run.answer.best();
  if (best.variant == chosen) return;
  const auto row = std::find_if(run.answer.ranking.begin(), run.answer.ranking.end(),
                                [&](const RankedVariant& other) { return other.variant == chosen; });
  if (row == run.answer.ranking.end()) return;
  run.evidence.add_notes(
      {fmt::format("the final chose {}, but {} was {:.1f} % faster when both were measured again: it is declared, its "
                   "intervals widened for the second choice",
                   chosen.id(), best.variant.id(), 100 * (row->time_s / best.time_s - 1))});
}

/// Confirm rounds for the answer's best.
Result<void> confirm(SessionRun& run) {
  const Variant chosen = run.answer.best().variant;
  const auto asked = confirm_field(run.final.field, chosen);
  TRY_ASSIGN(auto confirmed, run_confirm(run.context, run.state, asked, run.plan.timing, run.answer.best().time_s,
                                         run.progress, run.evidence.troubles()));
  run.take_end(confirmed.end);
  run.answer.stages.confirm_s += confirmed.time_s;
  leave_out_failed(run, asked);
  if (variants_of(run.final.field).empty()) {
    run.answer.ranking.clear();
    run.answer.ties.clear();
    run.answer.from_final = false;
    return final_stage(run);
  }
  const bool has_baseline = !baselines_of(confirmed.field).empty();
  if (!has_baseline && confirmed.whole() && !baselines_of(run.final.field).empty()) {
    return fail(ErrorKind::kEnvironment,
                "the baseline failed in every one of them; the trials are kept, run the search again");
  }
  run.evidence.take_final_samples(confirmed.field, run.result.baseline.best);
  run.answer.lead_in_s = median_lead_in_s(run.evidence.final_samples());
  run.confirm = std::move(confirmed);
  if (!run.confirm.whole()) run.answer.from_final = false;
  rank_final_of(run);
  if (is_confirmed(run)) note_change(run, chosen);
  return {};
}

}  // namespace

bool is_confirmed(const SessionRun& run) {
  const bool has_baseline = baselines_of(run.confirm.field).empty() == baselines_of(run.final.field).empty();
  return run.confirm.whole() && has_baseline && !run.answer.ranking.empty() &&
         entry_of(run.confirm.field, run.answer.best().variant) != nullptr;
}

Result<void> confirm_stage(SessionRun& run) {
  while (run.plan.confirms && run.answer.from_final && !run.ended() && !is_confirmed(run)) {
    if (auto done = confirm(run); !done) return done;
  }
  return {};
}

}  // namespace pgtune::session
