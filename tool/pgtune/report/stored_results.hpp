// SPDX-License-Identifier: MIT
// The best variants in a database, in pgtune's own types, with the filters of show, report and export.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/report/answer_text.hpp"
#include "tuner/session/store.hpp"

namespace pgtune::tool {

struct StoredResult {
  db::BestRow row;
  Problem problem;
  DeviceInfo device;
  Conditions conditions;
  session::Answer answer;
  /// The best variant's template, if this build has another version of it.
  std::vector<OtherVersion> other_versions;
};

/// Does not fill other_versions. Throws db::Error that names an unreadable row.
[[nodiscard]] StoredResult read_result(db::BestRow row, const std::string& origin);

/// Selects one result for each problem, class of device, conditions and source, among searches of one template and of
/// all. Prefers this build's version of the template, then a whole final, then the fastest. Keeps the given order.
[[nodiscard]] std::vector<StoredResult> one_a_problem(std::vector<StoredResult> results);

class ResultFilter {
 public:
  /// --db, --shape and the other options of a problem, --on, --template, --source.
  void add_to(CommandLine& app);

  /// The matching results, ordered by problem size, with a note of given shapes that have none. Throws CommandError
  /// (usage) for a bad filter, and the errors of read_result().
  [[nodiscard]] std::vector<StoredResult> load(Context& context) const;

  /// The same for every board instead of every class, and for benches too: for board_groups(). Only for the problems
  /// with these keys, if given.
  [[nodiscard]] std::vector<StoredResult> load_boards(
      const Context& context, const std::optional<std::set<std::string>>& problems = std::nullopt) const;

  /// The matching results in another database than load()'s, which is opened read-only.
  [[nodiscard]] std::vector<StoredResult> load_from(const Context& context, const std::string& path) const;

  /// Families that serve one of the problems, or all without a shape; newest first. None where --template or another
  /// operation is given.
  [[nodiscard]] std::vector<db::FamilyRow> load_families(const Context& context) const;

  /// Whether it passes --on and the options of a problem. Throws CommandError (usage) for a bad filter.
  [[nodiscard]] bool admits(const Problem& problem, const DeviceInfo& device) const;
  /// Whether --template or --source is given, which apply only to kernels.
  [[nodiscard]] bool of_kernels_alone() const { return !template_.empty() || !source_.empty(); }

  /// --template as given: a name, a template's JSON by path, or nothing.
  [[nodiscard]] const std::string& template_selector() const { return template_; }
  [[nodiscard]] const std::vector<std::string>& include_folders() const { return problems_.include_folders(); }
  /// --operation, loaded; null where it is not given.
  [[nodiscard]] const LoadedOperation* operation() const { return problems_.operation(); }

  /// The problems of a file of shapes that is no filter: options of a problem then apply to its lines if no shape is
  /// given. Throws CommandError (usage).
  [[nodiscard]] std::vector<Problem> problems_of_file(const std::string& file);

  /// The file of load()'s database.
  [[nodiscard]] std::filesystem::path database_path(const Context& context) const;
  /// database_option_text() of it.
  [[nodiscard]] std::string database_option() const;
  /// The database of load(), to read. Throws db::Error.
  [[nodiscard]] db::Database open_database(const Context& context) const;

  /// Why nothing matched, with the remedy.
  [[nodiscard]] std::string nothing_found(const Context& context) const;

 private:
  /// Throws CommandError (usage) if an option describes a shape and none is given.
  void require_shape_for_options() const;
  /// The given shapes; none: all.
  [[nodiscard]] std::vector<RequestedShape> wanted() const;
  [[nodiscard]] std::vector<StoredResult> load(
      const Context& context, const db::Database& database, bool boards,
      const std::optional<std::set<std::string>>& problems = std::nullopt) const;

  ProblemOptions problems_;
  bool other_shapes_ = false;  ///< options of a problem may apply to these
  std::string database_, device_, template_, source_;
};

}  // namespace pgtune::tool
