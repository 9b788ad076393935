// SPDX-License-Identifier: MIT
#include "tuner/session/verification_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "tuner/session/confirm_stage.hpp"
#include "tuner/session/pipeline/finalist_builds.hpp"
#include "tuner/session/stages.hpp"

namespace pgtune::session {
namespace {

class FinalistVerification {
 public:
  explicit FinalistVerification(SessionRun& run) : run_(run), context_(run.context) {}

  [[nodiscard]] Result<void> verify_all();

 private:
  enum class Next { kGoOn, kRankingChanged, kDone };

  /// `must`: it is the winner or may become it.
  [[nodiscard]] Result<Next> verify(const RankedVariant& row, bool must);
  [[nodiscard]] std::int64_t launches(double launch_s, bool must) const;
  [[nodiscard]] Result<void> leave_out(const Variant& variant, const Outcome& outcome);
  void note() const;

  SessionRun& run_;
  const SessionContext& context_;
  std::map<std::string, std::int64_t> verified_;  ///< launches by id
  double others_s_ = 0;
};

Result<void> FinalistVerification::verify_all() {
  Next next = Next::kRankingChanged;
  while (next == Next::kRankingChanged && run_.answer.from_final && !run_.ended()) {
    next = Next::kGoOn;
    for (std::size_t i = 0; i < run_.answer.ranking.size() && next == Next::kGoOn; ++i) {
      const RankedVariant row = run_.answer.ranking[i];
      if (verified_.count(row.variant.id()) > 0) continue;
      TRY_ASSIGN(auto after, verify(row, i == 0 || context_.options.objective != Objective::kTime));
      next = after;
    }
  }
  const auto verified = static_cast<int>(verified_.size());
  run_.progress.round(verified, verified, verified, 0);
  if (run_.answer.from_final && !verified_.empty()) note();
  return {};
}

std::int64_t FinalistVerification::launches(double launch_s, bool must) const {
  const std::int64_t wanted = launches_that_find(kFoundRate, kFoundConfidence);
  const auto left_s = context_.time_left_s();
  if (!left_s || launch_s <= 0) return wanted;
  const auto affordable = static_cast<std::int64_t>(std::max(*left_s, must ? kWinnerOverBudget_s : 0.0) / launch_s);
  return std::clamp(affordable, kLeastVerifyLaunches, wanted);
}

Result<FinalistVerification::Next> FinalistVerification::verify(const RankedVariant& row, bool must) {
  if (context_.stop.load()) {
    run_.result.interrupted = true;
    return Next::kDone;
  }
  const std::int64_t count = launches(row.time_s, must);
  const double expected_s = static_cast<double>(count) * row.time_s;
  if (!must) {
    const bool cut_short = count < launches_that_find(kFoundRate, kFoundConfidence);
    if (cut_short || others_s_ + expected_s > kOtherFinalists_s) return Next::kDone;
    others_s_ += expected_s;
  }
  const RoundEntry* const entry = entry_of(run_.final.field, row.variant);
  if (entry == nullptr) return Next::kGoOn;
  run_.progress.round(static_cast<int>(verified_.size()) + 1, static_cast<int>(run_.answer.ranking.size()),
                      static_cast<std::int64_t>(run_.answer.ranking.size()), expected_s);
  protocol::VerifyRequest request{.built = *variant_of(entry->contender), .launches = count};
  // Far from the seeds that users choose, and another one in each search.
  request.data_seed = (context_.options.conditions.data_seed + context_.options.seed) * 0x9e3779b97f4a7c15ULL + 1;
  request.launch_s = row.time_s;
  const double start_s = context_.clock.now_s();
  const auto report = context_.device.verify(request);
  run_.answer.stages.verify_s += context_.clock.now_s() - start_s;
  if (!report) return tl::unexpected(report.error());
  if (report->outcome.kind != OutcomeKind::kOk) {
    TRY(leave_out(row.variant, report->outcome));
    return Next::kRankingChanged;
  }
  verified_.emplace(row.variant.id(), count);
  if (!report->deterministic) {
    run_.evidence.add_notes(
        {fmt::format("{} is not deterministic: its result differs from launch to launch, inside the error bound",
                     row.variant.id())});
  }
  return Next::kGoOn;
}

Result<void> FinalistVerification::leave_out(const Variant& variant, const Outcome& outcome) {
  record_failure(context_, run_.state, *entry_of(run_.final.field, variant)->index, outcome);
  run_.leave_out(variant);
  run_.evidence.add_notes({fmt::format("{} is out: {}", variant.id(), outcome.reason)});
  if (!variants_of(run_.final.field).empty()) {
    rank_final_of(run_);
    return confirm_stage(run_);
  }
  run_.answer.ranking.clear();
  run_.answer.ties.clear();
  run_.answer.from_final = false;
  if (auto done = final_stage(run_); !done) return done;
  return confirm_stage(run_);
}

void FinalistVerification::note() const {
  const std::size_t others = verified_.size() - 1, all = run_.answer.ranking.size() - 1;
  const std::string of_others = all == 0 ? "" : fmt::format(", and {} of the other {} finalists", others, all);
  const auto winner = verified_.find(run_.answer.best().variant.id());
  if (winner == verified_.end()) return;
  const double took_s = run_.answer.stages.verify_s;
  const std::string took = took_s > kToldFrom_s ? fmt::format("; that took {:.1f} s", took_s) : "";
  const double found = 1 - std::pow(1 - kFoundRate, static_cast<double>(winner->second));
  run_.evidence.add_notes(
      {fmt::format("verified after the final, on other data: the winner{}; {} launches of the winner over a poisoned D "
                   "were compared, "
                   "which finds what is wrong once in {:.0f} launches with {:.1f} %{}",
                   of_others, winner->second, 1 / kFoundRate, 100 * found, took)});
}

}  // namespace

std::int64_t launches_that_find(double rate, double confidence) {
  return static_cast<std::int64_t>(std::ceil(std::log(1 - confidence) / std::log(1 - rate)));
}

Result<void> verification_stage(SessionRun& run) {
  if (!run.answer.from_final) return {};
  run.progress.enter_rounds(Progress::Phase::kVerification, static_cast<int>(run.answer.ranking.size()),
                            static_cast<std::int64_t>(run.answer.ranking.size()), 0);
  return FinalistVerification(run).verify_all();
}

}  // namespace pgtune::session
