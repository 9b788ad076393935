// SPDX-License-Identifier: MIT
// A search's results in a database: session::Store on a pgtune database.
#pragma once

#include <optional>

#include "db/database.hpp"
#include "db/queries/queries.hpp"
#include "db/queries/records.hpp"
#include "tuner/session/store.hpp"

namespace pgtune::tool {

// A search's records with their database keys: a variant by its key and its template's content, results by what may be
// reused.

/// This program and its system.
[[nodiscard]] db::Program this_program();
/// The key of results of `searched`, of every board of the class: one of the key's templates, or the id of all of them.
[[nodiscard]] db::ResultKey result_key(const session::StoreKey& key, const space::TemplateId& searched);
// Of a variant of one of `templates`.
[[nodiscard]] db::VariantRow variant_row(const Variant& variant, const space::TemplateSet& templates);
[[nodiscard]] db::TrialRow trial_row(const Variant& variant, const space::TemplateSet& templates,
                                     const BuildInfo& build, const TrialReport& report);
[[nodiscard]] db::ContenderRow contender_row(const Contender& contender, const space::TemplateSet& templates);

/// Every call is one transaction and throws db::Error when the database refuses it.
class DatabaseStore : public session::Store {
 public:
  /// `database` must outlive the store.
  explicit DatabaseStore(db::Database& database) : database_(database) {}

  [[nodiscard]] std::optional<session::Answer> answer(const session::StoreKey& key, session::Boards boards) override;
  [[nodiscard]] std::map<std::string, session::StoredTrial> trials(const session::StoreKey& key) override;
  [[nodiscard]] std::map<std::string, Sample> raced(const session::StoreKey& key) override;
  [[nodiscard]] std::vector<FatalTrial> fatal_trials(const DeviceInfo& device) override;
  void begin(const session::StoreKey& key, std::uint64_t seed, const std::string& command_line) override;
  void save_baseline(const BaselineReport& baseline) override;
  void save_trial(const Variant& variant, const BuildInfo& build, const TrialReport& report) override;
  void save_rounds(Stage stage, const std::vector<session::ContenderSamples>& samples) override;
  void save_energy(const session::EnergyRecord& record) override;
  [[nodiscard]] std::optional<Ceilings> ceilings(const DeviceInfo& device) override;
  void save_ceilings(const Ceilings& ceilings) override;
  void finish(const std::optional<session::Answer>& answer) override;
  [[nodiscard]] std::optional<Family> family(const session::StoreKey& key, std::int64_t first_m, bool one_order,
                                             session::Boards boards) override;
  void save_family(const session::StoreKey& key, const Family& family, std::uint64_t seed,
                   const std::string& command_line) override;

  /// Reads the newest counters of every contender on the key's problem, of the class; and writes new ones. A variant
  /// belongs to one of the key's templates.
  [[nodiscard]] std::vector<db::CountersRow> counters(const session::StoreKey& key) const;
  void save_counters(const session::StoreKey& key, const std::variant<Variant, std::string>& contender,
                     const KernelCounters& counters);

 private:
  [[nodiscard]] db::RowId begin_session(const session::StoreKey& key, const db::TemplateRow& searched,
                                        std::uint64_t seed, const std::string& command_line);
  /// The answer of the newest session that searched exactly this.
  [[nodiscard]] std::optional<session::Answer> answer_of(const session::StoreKey& key,
                                                         const space::TemplateId& searched, session::Boards boards);

  db::Database& database_;
  db::RowId session_ = 0;
  std::optional<session::StoreKey> key_;  ///< of the session begun
};

}  // namespace pgtune::tool
