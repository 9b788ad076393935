// SPDX-License-Identifier: MIT
// What a database's searches measured, as tables that strategies can be tried on.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "db/queries/records.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tuner/search/simulation.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::tool {

// The templates whose recorded variants can be told in features: those that pgtune has, and a user's own at hand.

class KnownTemplates {
 public:
  /// Those of GEMM and of the operations that pgtune has, each loaded: not to be done table by table.
  explicit KnownTemplates(const Catalogue& catalogue);

  /// A template at hand, which then stands for its name: a user's own, from a file.
  void add(const space::TemplateDefinition& definition);

  /// Null where there is none of that name.
  [[nodiscard]] const space::TemplateDefinition* find(const std::string& name) const;
  /// By name.
  [[nodiscard]] const std::map<std::string, space::TemplateDefinition>& all() const { return by_name_; }

 private:
  std::map<std::string, space::TemplateDefinition> by_name_;
};

struct ForeignTable;

struct RecordedTable {
  std::string origin;  ///< the file
  Problem problem;
  DeviceInfo device;                   ///< the board searched last
  std::vector<std::string> templates;  ///< in the order of the table
  search::MeasuredTable table;
  /// What a simulation does not need to know of a variant.
  struct Detail {
    std::string reason;           ///< of a failure
    std::vector<double> times_s;  ///< a launch, of each sample
    double compile_s = 0;         ///< 0 where nothing was compiled
  };
  std::vector<Detail> details = {};  ///< of each of the table's variants
  std::string measured_at = {};      ///< when its last search ended, UTC ISO 8601
  std::string name = {};  ///< of another tool's table, which is of no problem that pgtune knows; otherwise empty
  std::shared_ptr<const ForeignTable> imported = {};  ///< that table, with what a simulation does not need to know

  /// What people know it by.
  [[nodiscard]] std::string title() const { return name.empty() ? problem.title() : name; }
};

/// One for each device class, problem and conditions that was searched on a GPU, with the newest trial of each
/// variant, of each template in the version that was searched last; in the order of the problems' keys. Variants of a
/// template that is known have its present names, and its defaults, seeds and costs; those that it has no more are
/// left out. Throws db::Error.
[[nodiscard]] std::vector<RecordedTable> recorded_tables(const db::Database& database, const KnownTemplates& templates);
/// The same of the problems that these sessions searched.
[[nodiscard]] std::vector<RecordedTable> recorded_tables(const db::Database& database, const KnownTemplates& templates,
                                                         std::span<const db::SessionRow> sessions);

/// Of each of the table's variants whether its template's preset holds it worth trying; each is in that
/// of a template that is not known.
[[nodiscard]] std::vector<bool> in_preset(const RecordedTable& table, const KnownTemplates& templates);

}  // namespace pgtune::tool
