// SPDX-License-Identifier: MIT
#include "tuner/session/final.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/session/launchable.hpp"
#include "tuner/session/round_order.hpp"
#include "tuner/session/time_estimate.hpp"

namespace pgtune::session {
namespace {

/// Rounds a time budget leaves room for after `done` rounds that took `spent_s`.
int affordable_rounds(int wanted, int done, double spent_s, std::optional<double> time_left_s) {
  if (!time_left_s || done == 0 || spent_s <= 0) return wanted;
  const double more = std::floor(std::max(0.0, *time_left_s) / (spent_s / done));
  if (more >= wanted - done) return wanted;
  return std::min(wanted, std::max(kMinimumFinalRounds, done + static_cast<int>(more)));
}

}  // namespace

Final::Final(const Context& context, SearchState& state, const ReferenceReport& reference, ProgressReporter& progress)
    : context_(context), state_(state), reference_(reference), progress_(progress) {}

Result<FinalResult> Final::run() {
  while (true) {
    const auto picked = pick();
    if (picked.empty()) return FinalResult{{}, {}, true};
    progress_.enter_final(state_, context_.options.final_rounds, expected_final_s(context_.options));
    auto finalists = build_finalists(context_, state_, picked);
    if (!finalists) return tl::unexpected(std::move(finalists.error()));
    if (!*finalists) return FinalResult{};
    auto field = entries(std::move(**finalists));
    if (has_survivor(field)) {
      const auto complete = run_rounds(field);
      if (!complete) return tl::unexpected(complete.error());
      save(field);
      if (has_survivor(field)) return result(std::move(field), *complete);
    }
    tried_.insert(picked.begin(), picked.end());
  }
}

bool Final::has_survivor(const std::vector<Entry>& field) {
  return std::any_of(field.begin(), field.end(), [](const Entry& entry) { return entry.index && !entry.out; });
}

std::vector<std::size_t> Final::pick() const {
  auto order = state_.ranked();
  std::erase_if(order, [&](std::size_t index) { return tried_.count(index) > 0; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(context_.options.finalists, 1))));
  return order;
}

std::vector<Final::Entry> Final::entries(std::vector<Finalist> finalists) const {
  std::vector<Entry> out;
  for (Finalist& finalist : finalists) {
    const Variant& variant = state_.variant(finalist.index);
    out.push_back({{variant, std::move(finalist.plan), std::move(finalist.build), -1}, finalist.index, {}, false});
  }
  const auto add_reference = [&](int algorithm) {
    if (static_cast<std::size_t>(algorithm) >= reference_.algorithms.size()) return;
    out.push_back({{{}, {}, {}, algorithm}, std::nullopt, {}, false});
  };
  add_reference(reference_.first);
  if (reference_.best != reference_.first) add_reference(reference_.best);
  return out;
}

/// True when all rounds ran, false when the user stopped them.
Result<bool> Final::run_rounds(std::vector<Entry>& field) {
  const RoundOrder orders(field.size(), context_.options.seed);
  const double start_s = context_.clock.now_s();
  int rounds = std::max(context_.options.final_rounds, 1);
  for (int round = 0; round < rounds; ++round) {
    if (context_.stop.load()) return false;
    if (auto ran = run_round(field, orders.order(round), round + 1); !ran) return tl::unexpected(ran.error());
    if (!has_survivor(field)) return true;
    const double spent_s = context_.clock.now_s() - start_s;
    rounds = affordable_rounds(rounds, round + 1, spent_s, context_.time_left_s());
    progress_.final_round(round + 1, rounds, spent_s / (round + 1) * (rounds - round - 1));
  }
  return true;
}

Result<void> Final::run_round(std::vector<Entry>& field, const std::vector<std::size_t>& order, int round) {
  device::RoundRequest request;
  request.round = round;
  std::vector<std::size_t> place_of(field.size());
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i].out) continue;
    place_of[i] = active.size();
    active.push_back(i);
    request.contenders.push_back(field[i].contender);
  }
  for (const std::size_t i : order) {
    if (!field[i].out) request.order.push_back(static_cast<int>(place_of[i]));
  }

  auto report = context_.device.run_round(request);
  if (!report) return tl::unexpected(std::move(report.error()));
  if (report->blocks.size() != active.size() || report->outcomes.size() != active.size()) {
    return fail(ErrorKind::kInternal, fmt::format("a round of {} contenders reported {} blocks and {} outcomes",
                                                  active.size(), report->blocks.size(), report->outcomes.size()));
  }
  for (std::size_t position = 0; position < request.order.size(); ++position) {
    const auto place = static_cast<std::size_t>(request.order[position]);
    Entry& entry = field[active[place]];
    if (auto& block = report->blocks[place]) {
      block->stage = Stage::kFinal;
      block->round = round;
      block->position = static_cast<int>(position);
      entry.blocks.push_back(*block);
    } else {
      drop(entry, report->outcomes[place]);
    }
  }
  return {};
}

void Final::drop(Entry& entry, const Outcome& outcome) {
  entry.out = true;
  if (entry.index) record_failure(context_, state_, *entry.index, outcome);
}

void Final::save(const std::vector<Entry>& field) const {
  std::vector<FinalBlocks> blocks;
  for (const Entry& entry : field) {
    if (entry.blocks.empty()) continue;
    std::optional<Variant> variant;
    if (entry.index) variant = entry.contender.variant;
    blocks.push_back({std::move(variant), entry.contender.reference_algorithm, entry.blocks});
  }
  context_.store.save_final(blocks);
}

Result<FinalResult> Final::result(std::vector<Entry> field, bool complete) const {
  FinalResult out;
  out.complete = complete;
  bool has_reference = false;
  for (Entry& entry : field) {
    has_reference = has_reference || !entry.index;
    if (entry.blocks.empty()) continue;
    if (!entry.index) {
      out.references.push_back({entry.contender.reference_algorithm, std::move(entry.blocks)});
    } else if (!entry.out) {
      const std::int64_t smem = smem_bytes(entry.contender.build, entry.contender.plan);
      out.variants.push_back({entry.contender.variant, entry.contender.build, smem, std::move(entry.blocks)});
    }
  }
  if (has_reference && out.references.empty() && !out.variants.empty()) {
    return fail(ErrorKind::kEnvironment,
                "the reference failed in every round of the final; the trials are kept, run the search again");
  }
  return out;
}

}  // namespace pgtune::session
