// SPDX-License-Identifier: MIT
#include "fake_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tuner/model/device_class.hpp"

namespace pgtune::session {
namespace {

std::string text(const StoreKey& key) {
  return key.problem.key() + "|" + key.templates.id().name + "|" + key.templates.id().content_hash + "|" +
         device_class(key.device).text() + "|" + key.conditions.key() + "|" +
         (key.kind == SessionKind::kFamily ? "family" : "search");
}

}  // namespace

std::optional<Answer> FakeStore::answer(const StoreKey& key, Boards boards) {
  const std::vector<Answer>& all = answers_[text(key)];
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const Answer& answer) {
    return boards == Boards::kOfClass || answer.board == key.device.uuid;
  });
  if (found == all.rend()) return std::nullopt;
  return *found;
}

/// Those of one board a class; which one's are newer is the database's business.
std::map<std::string, StoredTrial> FakeStore::trials(const StoreKey& key) {
  std::map<std::string, StoredTrial> found;
  for (const auto& [board, trials] : trials_[text(key)]) {
    for (const auto& [id, trial] : trials) {
      found.insert_or_assign(id, trial);
      found[id].on_this_board = board == key.device.uuid;
    }
  }
  return found;
}

std::map<std::string, Sample> FakeStore::raced(const StoreKey& key) { return raced_[text(key)][key.device.uuid]; }

void FakeStore::begin(const StoreKey& key, std::uint64_t /*seed*/, const std::string& command_line) {
  ++sessions;
  current_ = text(key);
  board_ = key.device.uuid;
  last_command_line = command_line;
  last_kind = key.kind;
}

void FakeStore::save_baseline(const BaselineReport& /*baseline*/) {
  EXPECT_FALSE(current_.empty()) << "saved outside a session";
  ++baselines;
}

void FakeStore::save_trial(const Variant& variant, const BuildInfo& build, const TrialReport& report) {
  EXPECT_FALSE(current_.empty()) << "saved outside a session";
  saved_trials.push_back(variant.key());
  trials_[current_][board_][variant.id()] = {report, build};
}

void FakeStore::save_rounds(Stage stage, const std::vector<ContenderSamples>& samples) {
  rounds[stage].push_back(samples);
  if (stage != Stage::kRace) return;
  for (const ContenderSamples& one : samples) {
    const Variant* const variant = variant_of(one.contender);
    if (variant != nullptr && !one.samples.empty())
      raced_[current_][board_].insert_or_assign(variant->id(), one.samples.back());
  }
}

void FakeStore::save_energy(const EnergyRecord& record) { energy.push_back(record); }

std::optional<Ceilings> FakeStore::ceilings(const DeviceInfo& /*device*/) { return saved_ceilings; }

void FakeStore::save_ceilings(const Ceilings& ceilings) { saved_ceilings = ceilings; }

void FakeStore::finish(const std::optional<Answer>& answer) {
  finished.push_back(answer);
  if (answer && last_kind == SessionKind::kSearch) answers_[current_].push_back(*answer);
  current_.clear();
}

std::optional<Family> FakeStore::family(const StoreKey& key, std::int64_t first_m, bool one_order, Boards /*boards*/) {
  const auto found = std::find_if(families.rbegin(), families.rend(), [&](const Family& family) {
    return family.problem == key.problem && family.first_m == first_m && family.sum_order.empty() != one_order;
  });
  if (found == families.rend()) return std::nullopt;
  return *found;
}

void FakeStore::save_family(const StoreKey& /*key*/, const Family& family, std::uint64_t /*seed*/,
                            const std::string& /*command_line*/) {
  families.push_back(family);
}

}  // namespace pgtune::session
