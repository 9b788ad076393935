// SPDX-License-Identifier: MIT
// Records name their fields once; JSON (util/fields_json.hpp) and whatever else treats all fields alike follow from
// that one list:
//
//   struct Window {
//     double window_s = 0, low_j = 0, high_j = 0;
//     std::optional<double> share;
//     int repeats = 0;
//
//     template <typename Self, typename Visit>
//     static void visit_fields(Self& self, const Visit& visit) {
//       visit("window_s", self.window_s);
//       visit("energy_range_j", low_high(self.low_j, self.high_j));
//       visit("share", self.share);
//       visit("repeats", self.repeats, kMayBeMissing);
//     }
//   };
//
// Self is the record, or the record const. A record within a record is a field like any other; a call of its
// visit_fields() in the outer one's takes its fields in among the outer's. Fields are numbers, text, enumerations with
// a table (util/named_enum.hpp), records, and std::optional, std::vector, std::map and std::shared_ptr of these.
#pragma once

#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>

#include "tuner/util/result.hpp"

namespace pgtune {

/// Two fields of a record that are shown as one pair, [low, high].
template <typename Number>
struct LowHigh {
  Number& low;
  Number& high;
};
template <typename Number>
[[nodiscard]] LowHigh<Number> low_high(Number& low, Number& high) {
  return {low, high};
}

template <typename Value>
inline constexpr bool is_low_high = false;
template <typename Number>
inline constexpr bool is_low_high<LowHigh<Number>> = true;

/// How a field differs from one that is always written and must be there when it is read. A std::optional needs no such
/// word: it is left out where it holds nothing.
enum class FieldRule {
  kRequired,
  kMayBeMissing,   ///< came after the record's first form: has its default where it is missing
  kUnlessDefault,  ///< the same, and left out where it equals Value{}
};
template <FieldRule rule>
using FieldRuleTag = std::integral_constant<FieldRule, rule>;
inline constexpr FieldRuleTag<FieldRule::kMayBeMissing> kMayBeMissing;
inline constexpr FieldRuleTag<FieldRule::kUnlessDefault> kUnlessDefault;

/// What visit_fields() can be asked with to see whether it is there.
struct AnyVisitor {
  template <typename Field, FieldRule rule = FieldRule::kRequired>
  void operator()(const char* /*name*/, Field&& /*field*/, FieldRuleTag<rule> /*rule*/ = {}) const {}
};

template <typename Record>
concept HasFields = std::is_class_v<Record> && requires(Record& record, const Record& constant) {
  Record::visit_fields(record, AnyVisitor());
  Record::visit_fields(constant, AnyVisitor());
};

/// A field with a number that no measurement gives.
struct ImpossibleNumber {
  std::string_view field;
  double value;
};

/// The first of a record's own numbers, in the order of its fields, that is negative or not finite.
template <HasFields Record>
[[nodiscard]] std::optional<ImpossibleNumber> find_impossible_number(const Record& record) {
  std::optional<ImpossibleNumber> found;
  const auto judge = [&](const char* name, double value) {
    if (!found && !(std::isfinite(value) && value >= 0)) found = ImpossibleNumber{name, value};
  };
  Record::visit_fields(record, [&]<typename Field>(const char* name, const Field& field, auto... /*rule*/) {
    if constexpr (std::is_arithmetic_v<Field>) {
      judge(name, static_cast<double>(field));
    } else if constexpr (std::same_as<Field, std::optional<double>>) {
      if (field) judge(name, *field);
    } else if constexpr (is_low_high<Field>) {
      judge(name, static_cast<double>(field.low));
      judge(name, static_cast<double>(field.high));
    }
  });
  return found;
}

/// For the plausibility of a record that somebody else may have written: an Error (database) "WHAT with the impossible
/// number VALUE as FIELD".
[[nodiscard]] tl::unexpected<Error> impossible_number_error(const ImpossibleNumber& number, std::string_view what);

template <HasFields Record>
[[nodiscard]] Result<void> require_possible_numbers(const Record& record, std::string_view what) {
  if (const auto impossible = find_impossible_number(record)) return impossible_number_error(*impossible, what);
  return {};
}

}  // namespace pgtune
