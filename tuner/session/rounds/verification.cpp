// SPDX-License-Identifier: MIT
#include "tuner/session/rounds/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pgtune::session {

std::int64_t launches_that_find(double rate, double confidence) {
  return static_cast<std::int64_t>(std::ceil(std::log(1 - confidence) / std::log(1 - rate)));
}

Result<Verified> Verification::verify(const std::vector<RankedVariant>& ranking, const std::vector<RoundEntry>& field) {
  const auto ranked = static_cast<std::int64_t>(ranking.size());
  if (!begun_) progress_.enter_rounds(Progress::Phase::kVerification, static_cast<int>(ranked), ranked, 0);
  begun_ = true;
  Verified out;
  Next next = Next::kGoOn;
  for (std::size_t i = 0; i < ranking.size() && next == Next::kGoOn; ++i) {
    if (verified_.count(ranking[i].variant.id()) > 0) continue;
    const bool must = i == 0 || context_.options.objective != Objective::kTime;
    TRY_ASSIGN(next, verify(ranking[i], entry_of(field, ranking[i].variant), must, ranking.size(), out));
  }
  took_s_ += out.time_s;
  if (next == Next::kFailed) return out;
  const auto verified = static_cast<int>(verified_.size());
  progress_.round(verified, verified, verified, 0);
  if (auto note = this->note(ranking)) out.notes.push_back(std::move(*note));
  return out;
}

std::int64_t Verification::launches(double launch_s, bool must) const {
  const std::int64_t wanted = launches_that_find(kFoundRate, kFoundConfidence);
  const auto left_s = context_.time_left_s();
  if (!left_s || launch_s <= 0) return wanted;
  const auto affordable = static_cast<std::int64_t>(std::max(*left_s, must ? kWinnerOverBudget_s : 0.0) / launch_s);
  return std::clamp(affordable, kLeastVerifyLaunches, wanted);
}

Result<Verification::Next> Verification::verify(const RankedVariant& row, const RoundEntry* entry, bool must,
                                                std::size_t ranked, Verified& out) {
  if (context_.stop.load()) {
    out.interrupted = true;
    return Next::kDone;
  }
  const std::int64_t count = launches(row.time_s, must);
  const double expected_s = static_cast<double>(count) * row.time_s;
  if (!must) {
    const bool cut_short = count < launches_that_find(kFoundRate, kFoundConfidence);
    if (cut_short || others_s_ + expected_s > kOtherFinalists_s) return Next::kDone;
    others_s_ += expected_s;
  }
  if (entry == nullptr) return Next::kGoOn;
  progress_.round(static_cast<int>(verified_.size()) + 1, static_cast<int>(ranked), static_cast<std::int64_t>(ranked),
                  expected_s);
  protocol::VerifyRequest request{.built = *variant_of(entry->contender), .launches = count};
  // Far from the seeds that users choose, and another one in each search.
  request.data_seed = (context_.options.conditions.data_seed + context_.options.seed) * 0x9e3779b97f4a7c15ULL + 1;
  request.launch_s = row.time_s;
  const double start_s = context_.clock.now_s();
  TRY_ASSIGN(const auto report, context_.device.verify(request));
  out.time_s += context_.clock.now_s() - start_s;
  if (report.outcome.kind != OutcomeKind::kOk) {
    out.failed = {row.variant, report.outcome};
    out.notes.push_back(fmt::format("{} is out: {}", row.variant.id(), report.outcome.reason));
    return Next::kFailed;
  }
  verified_.emplace(row.variant.id(), count);
  if (!report.deterministic) {
    out.notes.push_back(fmt::format(
        "{} is not deterministic: its result differs from launch to launch, inside the error bound", row.variant.id()));
  }
  return Next::kGoOn;
}

std::optional<std::string> Verification::note(const std::vector<RankedVariant>& ranking) const {
  const auto winner = verified_.find(ranking.front().variant.id());
  if (winner == verified_.end()) return std::nullopt;
  const std::size_t others = verified_.size() - 1, all = ranking.size() - 1;
  const std::string of_others = all == 0 ? "" : fmt::format(", and {} of the other {} finalists", others, all);
  const std::string took = took_s_ > kToldFrom_s ? fmt::format("; that took {:.1f} s", took_s_) : "";
  const double found = 1 - std::pow(1 - kFoundRate, static_cast<double>(winner->second));
  return fmt::format(
      "verified after the final, on other data: the winner{}; {} launches of the winner over a poisoned D were "
      "compared, which finds what is wrong once in {:.0f} launches with {:.1f} %{}",
      of_others, winner->second, 1 / kFoundRate, 100 * found, took);
}

}  // namespace pgtune::session
