// SPDX-License-Identifier: MIT
// A store in memory that keeps sessions apart by key and counts what was saved.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/session/store.hpp"

namespace pgtune::session {

class FakeStore final : public Store {
 public:
  [[nodiscard]] std::optional<Answer> answer(const StoreKey& key, Boards boards) override;
  [[nodiscard]] std::map<std::string, StoredTrial> trials(const StoreKey& key) override;
  [[nodiscard]] std::map<std::string, Sample> raced(const StoreKey& key) override;
  [[nodiscard]] std::vector<FatalTrial> fatal_trials(const DeviceInfo& /*device*/) override { return known_killers; }
  void begin(const StoreKey& key, std::uint64_t seed, const std::string& command_line) override;
  void save_baseline(const BaselineReport& baseline) override;
  void save_trial(const Variant& variant, const BuildInfo& build, const TrialReport& report) override;
  void save_rounds(Stage stage, const std::vector<ContenderSamples>& samples) override;
  void save_energy(const EnergyRecord& record) override;
  [[nodiscard]] std::optional<Ceilings> ceilings(const DeviceInfo& device) override;
  void save_ceilings(const Ceilings& ceilings) override;
  void finish(const std::optional<Answer>& answer) override;
  [[nodiscard]] std::optional<Family> family(const StoreKey& key, std::int64_t first_m, bool one_order,
                                             Boards boards) override;
  void save_family(const StoreKey& key, const Family& family, std::uint64_t seed,
                   const std::string& command_line) override;

  int sessions = 0, baselines = 0;
  std::vector<std::string> saved_trials;                               ///< keys in order
  std::map<Stage, std::vector<std::vector<ContenderSamples>>> rounds;  ///< every call, by stage
  std::vector<EnergyRecord> energy;
  std::optional<Ceilings> saved_ceilings;
  std::vector<FatalTrial> known_killers;  ///< whatever the key
  std::vector<std::optional<Answer>> finished;
  std::vector<Family> families;
  std::string last_command_line;
  SessionKind last_kind = SessionKind::kSearch;

 private:
  std::string current_, board_;
  std::map<std::string, std::map<std::string, std::map<std::string, StoredTrial>>> trials_;  ///< by key, board and id
  std::map<std::string, std::map<std::string, std::map<std::string, Sample>>> raced_;        ///< as trials_
  std::map<std::string, std::vector<Answer>> answers_;
};

}  // namespace pgtune::session
