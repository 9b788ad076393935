// SPDX-License-Identifier: MIT
// The columns of a table that store a record of the model (tuner/util/fields.hpp). Their names are the fields' names,
// so a new field needs only a column in the schema.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "db/sqlite/statement.hpp"
#include "tuner/util/fields.hpp"

namespace pgtune::db {

/// All fields of the record except those that a table does not store, or stores in another form. They are numbers,
/// truth values, text or optional numbers, in the record's order.
template <HasFields Record>
class RecordColumns {
 public:
  RecordColumns(std::initializer_list<std::string_view> without) : without_(without) {
    visit(Record{}, [&](const auto& /*field*/, std::string_view name) { names_.emplace_back(name); });
  }

  /// "round, position, launches"
  [[nodiscard]] std::string list() const {
    std::string text;
    for (const std::string& name : names_) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  /// Reads the columns in the order of list(), from the statement's next one on.
  void read(Statement& statement, Record& record) const {
    visit(record, [&](auto& field, std::string_view /*name*/) { statement >> field; });
  }

  /// For Statement::bind(): the record's values in the order of list(). Refers to both.
  struct Bound {
    const RecordColumns& columns;
    const Record& record;
    template <typename Take>
    void for_each_value(const Take& take) const {
      columns.visit(record, [&](const auto& field, std::string_view /*name*/) { take(field); });
    }
  };
  [[nodiscard]] Bound of(const Record& record) const { return {*this, record}; }

  /// "INSERT INTO table (first, second, round, position) VALUES (?1, ?2, ?3, ?4)"; the record's columns come after
  /// `keys`.
  [[nodiscard]] std::string insert_into(std::string_view table, std::initializer_list<std::string_view> keys,
                                        std::string_view verb = "INSERT") const {
    std::string columns, parameters;
    int count = 0;
    const auto add = [&](std::string_view name) {
      if (count > 0) columns += ", ", parameters += ", ";
      columns += name;
      parameters += '?' + std::to_string(++count);
    };
    for (const std::string_view key : keys) add(key);
    for (const std::string& name : names_) add(name);
    std::string text(verb);
    text += " INTO ";
    text += table;
    return text + " (" + columns + ") VALUES (" + parameters + ")";
  }

 private:
  template <typename AnyRecord, typename Use>
  void visit(AnyRecord&& record, const Use& use) const {
    Record::visit_fields(record, [&](const char* name, auto& field, auto... /*rule*/) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (std::is_arithmetic_v<Field> || std::same_as<Field, std::string> ||
                    std::same_as<Field, std::optional<double>>) {
        if (std::find(without_.begin(), without_.end(), name) == without_.end()) use(field, name);
      }
    });
  }

  std::vector<std::string_view> without_;
  std::vector<std::string> names_;
};

}  // namespace pgtune::db
