// SPDX-License-Identifier: MIT
// Records name their fields once; JSON (util/fields_json.hpp) and other generic code use that one list:
//
//   struct Window {
//     double window_s = 0;
//     std::optional<double> share;
//     int repeats = 0;
//
//     PGTUNE_FIELDS(window_s, share, (repeats, kUnlessDefault))
//   };
//
// A record within a record is a field like any other. Fields are numbers, text, enumerations with a table
// (util/named_enum.hpp), records, and std::optional, std::vector, std::map and std::shared_ptr of these. The macro
// defines visit_fields(self, visit), where self is the record or the record const. A record whose names differ from its
// members', or that takes in another record's fields, defines it by hand:
//
//     template <typename Self, typename Visit>
//     static void visit_fields(Self& self, const Visit& visit) {
//       visit("energy_range_j", low_high(self.low_j, self.high_j));
//       Window::visit_fields(self.window, visit);
//     }
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

/// Rules for fields that are not always written, or may be missing when read. A std::optional needs no rule: it is left
/// out if empty.
enum class FieldRule {
  kRequired,
  kUnlessDefault,  ///< left out if it equals Value{}; the default if it is missing
};
template <FieldRule rule>
using FieldRuleTag = std::integral_constant<FieldRule, rule>;
inline constexpr FieldRuleTag<FieldRule::kUnlessDefault> kUnlessDefault;

/// A visitor that tests whether visit_fields() exists.
struct AnyVisitor {
  template <typename Field, FieldRule rule = FieldRule::kRequired>
  void operator()(const char* /*name*/, Field&& /*field*/, FieldRuleTag<rule> /*rule*/ = {}) const {}
};

template <typename Record>
concept HasFields = std::is_class_v<Record> && requires(Record& record, const Record& constant) {
  Record::visit_fields(record, AnyVisitor());
  Record::visit_fields(constant, AnyVisitor());
};

/// A field with a number that no measurement can give.
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

/// Checks a record from an untrusted source. Error (database): "WHAT with the impossible number VALUE as FIELD".
[[nodiscard]] tl::unexpected<Error> impossible_number_error(const ImpossibleNumber& number, std::string_view what);

template <HasFields Record>
[[nodiscard]] Result<void> require_possible_numbers(const Record& record, std::string_view what) {
  if (const auto impossible = find_impossible_number(record)) return impossible_number_error(*impossible, what);
  return {};
}

}  // namespace pgtune

// A field is its name, or (name, rule) with a rule from above.
#define PGTUNE_FIELDS(...)                                   \
  template <typename Self, typename Visit>                   \
  static void visit_fields(Self& self, const Visit& visit) { \
    PGTUNE_FOR_EACH(PGTUNE_VISIT, __VA_ARGS__)               \
  }
#define PGTUNE_VISIT(field) PGTUNE_JOIN(PGTUNE_VISIT_, PGTUNE_SECOND(PGTUNE_PROBE field, PLAIN, ~))(field)
#define PGTUNE_VISIT_PLAIN(name) visit(#name, self.name);
#define PGTUNE_VISIT_RULED(field) PGTUNE_VISIT_NAME_AND_RULE field
#define PGTUNE_VISIT_NAME_AND_RULE(name, rule) visit(#name, self.name, rule);
// If `field` is in parentheses, they make this a macro call that expands to text with RULED in second place.
#define PGTUNE_PROBE(...) ~, RULED
#define PGTUNE_SECOND(...) PGTUNE_SECOND_OF(__VA_ARGS__)
#define PGTUNE_SECOND_OF(first, second, ...) second
#define PGTUNE_JOIN(left, right) PGTUNE_JOIN_EXPANDED(left, right)
#define PGTUNE_JOIN_EXPANDED(left, right) left##right
// Applies `macro` to each argument. A macro does not expand itself, so it is scanned again, 27 times or more.
#define PGTUNE_FOR_EACH(macro, ...) PGTUNE_SCAN(PGTUNE_FOR_FIRST(macro, __VA_ARGS__))
#define PGTUNE_FOR_FIRST(macro, first, ...) \
  macro(first) __VA_OPT__(PGTUNE_FOR_REST PGTUNE_NOTHING()()(macro, __VA_ARGS__))
#define PGTUNE_FOR_REST() PGTUNE_FOR_FIRST
#define PGTUNE_NOTHING()
#define PGTUNE_SCAN(...) PGTUNE_SCAN_3(PGTUNE_SCAN_3(PGTUNE_SCAN_3(PGTUNE_SCAN_3(__VA_ARGS__))))
#define PGTUNE_SCAN_3(...) PGTUNE_SCAN_2(PGTUNE_SCAN_2(PGTUNE_SCAN_2(PGTUNE_SCAN_2(__VA_ARGS__))))
#define PGTUNE_SCAN_2(...) PGTUNE_SCAN_1(PGTUNE_SCAN_1(PGTUNE_SCAN_1(PGTUNE_SCAN_1(__VA_ARGS__))))
#define PGTUNE_SCAN_1(...) __VA_ARGS__
