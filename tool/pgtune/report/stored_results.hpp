// SPDX-License-Identifier: MIT
// The best variants a database holds, in pgtune's own types, with the filters that show, report and export share.
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
  /// The best variant's template, where this build has another version of it.
  std::vector<OtherVersion> other_versions;
};

/// Throws db::Error that names the row where it cannot be read. Without other_versions.
[[nodiscard]] StoredResult read_result(db::BestRow row, const std::string& origin);

/// Of the searches of a problem on a class of device, under the same conditions and from the same source, such as those
/// of one template and of all of them, the result that a report tells: of this build's version of the template, then
/// of a whole final, and then the fastest. In the order given.
[[nodiscard]] std::vector<StoredResult> one_a_problem(std::vector<StoredResult> results);

class ResultFilter {
 public:
  /// --db, --shape and the other options of a problem, --on, --template, --source.
  void add_to(CommandLine& app);

  /// What matches, ordered by problem size. Throws CommandError (usage) for a bad filter, and what read_result()
  /// throws.
  [[nodiscard]] std::vector<StoredResult> load(const Context& context) const;

  /// The same of every board, not of every class alone, and of benches too: for board_groups(). Of these problems
  /// (their keys) alone, where they are given.
  [[nodiscard]] std::vector<StoredResult> load_boards(
      const Context& context, const std::optional<std::set<std::string>>& problems = std::nullopt) const;

  /// What matches in another database than load()'s, which is read alone.
  [[nodiscard]] std::vector<StoredResult> load_from(const Context& context, const std::string& path) const;

  /// Whether --on and the options of a problem let it through. Throws CommandError (usage) for a bad filter.
  [[nodiscard]] bool admits(const Problem& problem, const DeviceInfo& device) const;
  /// Whether --template or --source is given, which say nothing of what is no kernel.
  [[nodiscard]] bool of_kernels_alone() const { return !template_.empty() || !source_.empty(); }

  /// --template as given: a name, a template's JSON by path, or nothing.
  [[nodiscard]] const std::string& template_selector() const { return template_; }
  /// --operation, loaded; null where it is not given.
  [[nodiscard]] const LoadedOperation* operation() const { return problems_.operation(); }

  /// The problems of a file of shapes that is no filter: options of a problem are about its lines then, where no shape
  /// is given. Throws CommandError (usage).
  [[nodiscard]] std::vector<Problem> problems_of_file(const std::string& file);

  /// The file of load()'s database.
  [[nodiscard]] std::filesystem::path database_path(const Context& context) const;
  /// The database of load(), to read. Throws db::Error.
  [[nodiscard]] db::Database open_database(const Context& context) const;

  /// Why nothing matched, with what to do about it.
  [[nodiscard]] std::string nothing_found(const Context& context) const;

 private:
  /// Throws CommandError (usage) where an option says more about a shape and none is given.
  void require_shape_for_options() const;
  [[nodiscard]] std::vector<StoredResult> load(
      const Context& context, const db::Database& database, bool boards,
      const std::optional<std::set<std::string>>& problems = std::nullopt) const;

  ProblemOptions problems_;
  bool other_shapes_ = false;  ///< options of a problem may be about these
  std::string database_, device_, template_, source_;
};

}  // namespace pgtune::tool
