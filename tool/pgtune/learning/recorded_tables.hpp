// SPDX-License-Identifier: MIT
// A database's searches as tables for trying strategies.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/queries/records.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tuner/search/simulation.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::tool {

// The templates whose recorded variants have features: built-in ones, and a user's own if available.

class KnownTemplates {
 public:
  /// The templates of GEMM and of the built-in operations. Loads them all, so do not call it for each table.
  explicit KnownTemplates(const Catalogue& catalogue);

  /// Adds a user's own template from a file, which then replaces any of its name.
  void add(const space::TemplateDefinition& definition);

  /// Null if there is none of that name.
  [[nodiscard]] const space::TemplateDefinition* find(const std::string& name) const;
  /// By name.
  [[nodiscard]] const std::map<std::string, space::TemplateDefinition>& all() const { return by_name_; }
  /// Whether no recording can be of this template: it was added, and pgtune ships none of its name.
  [[nodiscard]] bool is_new(const std::string& name) const { return new_names_.count(name) != 0; }

 private:
  std::map<std::string, space::TemplateDefinition> by_name_;
  std::set<std::string> new_names_;
};

struct ForeignTable;

struct RecordedTable {
  std::string origin;  ///< the file
  Problem problem;
  DeviceInfo device;                   ///< the board searched last
  std::vector<std::string> templates;  ///< in the order of the table
  search::MeasuredTable table;
  /// Data of a variant that a simulation does not need.
  struct Detail {
    std::string reason;           ///< of a failure
    std::vector<double> times_s;  ///< a launch, of each sample
    double compile_s = 0;         ///< 0 if nothing was compiled
  };
  std::vector<Detail> details = {};  ///< of each of the table's variants
  std::string measured_at = {};      ///< when its last search ended, UTC ISO 8601
  std::string name = {};  ///< name of another tool's table, whose problem pgtune does not know; otherwise empty
  std::shared_ptr<const ForeignTable> imported = {};  ///< that table, with data that a simulation does not need

  /// Its title for display.
  [[nodiscard]] std::string title() const { return name.empty() ? problem.title() : name; }
};

/// One table for each device class, problem and conditions searched on a GPU, in the order of the problems' keys. Each
/// has the newest trial of each variant, for each template's version that was searched last. Variants of a known
/// template get its present names, defaults, seeds and costs; those that it no longer has are left out. Throws
/// db::Error.
[[nodiscard]] std::vector<RecordedTable> recorded_tables(const db::Database& database, const KnownTemplates& templates);
/// The same for the problems that these sessions searched.
[[nodiscard]] std::vector<RecordedTable> recorded_tables(const db::Database& database, const KnownTemplates& templates,
                                                         std::span<const db::SessionRow> sessions);

/// For each of the table's variants, whether its template's preset includes it; true for unknown templates.
[[nodiscard]] std::vector<bool> in_preset(const RecordedTable& table, const KnownTemplates& templates);

}  // namespace pgtune::tool
