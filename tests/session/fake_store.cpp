// SPDX-License-Identifier: MIT
#include "fake_store.hpp"

#include <gtest/gtest.h>

namespace pgtune::session {
namespace {

std::string text(const StoreKey& key) {
  return key.problem.key() + "|" + key.templates.id().name + "|" + key.templates.id().content_hash + "|" +
         key.device.uuid + "|" + key.device.driver_branch() + "|" + std::string(to_string(key.source)) + "|" +
         key.conditions.key();
}

}  // namespace

std::optional<Answer> FakeStore::answer(const StoreKey& key) {
  const auto found = answers_.find(text(key));
  if (found == answers_.end()) return std::nullopt;
  return found->second;
}

std::map<std::string, StoredTrial> FakeStore::trials(const StoreKey& key) { return trials_[text(key)]; }

void FakeStore::begin(const StoreKey& key, SessionKind kind, std::uint64_t /*seed*/, const std::string& command_line) {
  ++sessions;
  current_ = text(key);
  last_command_line = command_line;
  last_kind = kind;
}

void FakeStore::save_baseline(const BaselineReport& /*baseline*/) {
  EXPECT_FALSE(current_.empty()) << "saved outside a session";
  ++baselines;
}

void FakeStore::save_trial(const Variant& variant, const BuildInfo& build, const TrialReport& report) {
  EXPECT_FALSE(current_.empty()) << "saved outside a session";
  saved_trials.push_back(variant.key());
  trials_[current_][variant.id()] = {report, build};
}

void FakeStore::save_rounds(Stage stage, const std::vector<ContenderSamples>& samples) {
  rounds[stage].push_back(samples);
}

void FakeStore::save_energy(const EnergyRecord& record) { energy.push_back(record); }

std::optional<Ceilings> FakeStore::ceilings(const DeviceInfo& /*device*/, Source /*source*/) { return saved_ceilings; }

void FakeStore::save_ceilings(const Ceilings& ceilings) { saved_ceilings = ceilings; }

void FakeStore::finish(const std::optional<Answer>& answer) {
  finished.push_back(answer);
  if (answer && last_kind == SessionKind::kSearch) answers_[current_] = *answer;
  current_.clear();
}

}  // namespace pgtune::session
