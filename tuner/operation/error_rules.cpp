// SPDX-License-Identifier: MIT
#include "tuner/operation/error_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/model/rounding.hpp"
#include "tuner/operation/operation_reader.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::operation {
namespace {

using space::Reach;

constexpr EnumNames<ErrorRule, 6> kRules{{{ErrorRule::kExact, "exact"},
                                          {ErrorRule::kUlp, "ulp"},
                                          {ErrorRule::kSum, "sum"},
                                          {ErrorRule::kBlocked, "blocked"},
                                          {ErrorRule::kAllclose, "allclose"},
                                          {ErrorRule::kResidual, "residual"}}};
constexpr std::int64_t kUsualRoundings = 4, kMostRoundings = 1000;  ///< further ones of a sum

void read_arithmetic(const JsonCursor& cursor, const OperationDefinition& definition, ErrorSpec& out) {
  std::vector<std::string_view> words;
  for (const Dtype dtype : all_dtypes()) words.push_back(to_string(dtype));
  if (!definition.dtypes.empty()) words.push_back(kDtypeWord);
  const std::string word = cursor.choice(words);
  out.problems_arithmetic = word == kDtypeWord;
  if (const auto dtype = parse_dtype(word)) out.arithmetic = *dtype;
}

Dtype arithmetic(const ErrorSpec& spec, const ErrorValues& values) {
  return spec.problems_arithmetic ? values.dtype : spec.arithmetic;
}

Result<std::int64_t> number(const Expression& expression, const char* field, const ErrorValues& values) {
  auto value = expression.evaluate(values.names);
  if (!value) return fail(std::move(value.error()), fmt::format("{}.error.{}", values.of, field));
  return *value;
}

Result<std::int64_t> terms_of(const ErrorSpec& spec, const ErrorValues& values) {
  auto terms = number(*spec.terms, "terms", values);
  if (terms && *terms < 1)
    return fail(ErrorKind::kUsage, fmt::format("{}: a sum has at least one term, not {}", values.of, *terms));
  return terms;
}

Result<double> error_of_sum(const ErrorSpec& spec, std::int64_t terms, const ErrorValues& values) {
  if (spec.rule == ErrorRule::kBlocked) return blocked_sum_error(arithmetic(spec, values), terms, spec.block);
  std::int64_t further = kUsualRoundings;
  if (spec.further) {
    const auto given = number(*spec.further, "further", values);
    if (!given) return tl::unexpected<Error>(given.error());
    further = *given;
  }
  if (further < 0 || further > kMostRoundings)
    return fail(ErrorKind::kUsage,
                fmt::format("{}: there are 0 to {} further roundings, not {}", values.of, kMostRoundings, further));
  return sum_error(arithmetic(spec, values), terms, static_cast<int>(further));
}

Result<Activation> activation(const Expression& expression, const ErrorValues& values) {
  const auto label = number(expression, "activation", values);
  if (!label) return tl::unexpected<Error>(label.error());
  for (const Activation known : all_activations()) {
    if (label_value(to_string(known)) == *label) return known;
  }
  return fail(ErrorKind::kUsage, fmt::format("{}: '{}' is the label of no activation", values.of, expression.text()));
}

}  // namespace

EnumTable<ErrorRule> enum_table(ErrorRule /*value*/) { return kRules; }

ErrorSpec read_error(const JsonCursor& cursor, const space::KnownNames& names, const OperationDefinition& definition) {
  cursor.expect_fields({"rule", "ulps", "float32_ulps", "terms", "arithmetic", "block", "relative", "absolute",
                        "further", "activation", "factor"});
  ErrorSpec out;
  out.rule = cursor.required("rule").choice_of<ErrorRule>();
  const auto number = [&](const char* field, ErrorRule rule, double& target) {
    const auto given = cursor.optional(field);
    if (!given) return;
    if (out.rule != rule) given->problem(fmt::format("it belongs to the rule {}", to_string(rule)));
    target = given->number();
    if (!(target >= 0)) given->problem("no error is negative");
  };
  number("ulps", ErrorRule::kUlp, out.ulps);
  number("float32_ulps", ErrorRule::kUlp, out.float32_ulps);
  number("relative", ErrorRule::kAllclose, out.relative);
  number("absolute", ErrorRule::kAllclose, out.absolute);
  if (out.rule == ErrorRule::kSum || out.rule == ErrorRule::kBlocked) {
    out.terms = names.read(cursor.required("terms"), Reach::kProblem);
    if (const auto arithmetic = cursor.optional("arithmetic")) read_arithmetic(*arithmetic, definition, out);
  } else {
    for (const char* field : {"terms", "arithmetic"}) {
      if (const auto given = cursor.optional(field)) given->problem("it belongs to the rules sum and blocked");
    }
  }
  for (const auto& [field, target] : {std::pair{"further", &out.further}, std::pair{"activation", &out.activation}}) {
    const auto given = cursor.optional(field);
    if (!given) continue;
    if (out.rule != ErrorRule::kSum) given->problem("it belongs to the rule sum");
    *target = names.read(*given, Reach::kProblem);
  }
  if (out.rule == ErrorRule::kBlocked) {
    const JsonCursor block = cursor.required("block");
    out.block = block.integer();
    if (out.block < 1) block.problem("a block has at least one term");
  } else if (const auto block = cursor.optional("block")) {
    block->problem("it belongs to the rule blocked");
  }
  if (out.rule == ErrorRule::kResidual) {
    out.factor = names.read(cursor.required("factor"), Reach::kProblem);
  } else if (const auto factor = cursor.optional("factor")) {
    factor->problem("it belongs to the rule residual");
  }
  return out;
}

bool needs_scale(const ErrorSpec& spec) {
  return spec.rule == ErrorRule::kSum || spec.rule == ErrorRule::kBlocked || spec.rule == ErrorRule::kResidual ||
         (spec.rule == ErrorRule::kUlp && spec.float32_ulps > 0);
}

Result<ToleratedError> tolerated_error(const ErrorSpec& spec, ElementType type, const ErrorValues& values) {
  // A difference below the smallest possible one between two results is zero.
  constexpr double kNothing = 1e-300;
  const ElementTraits& t = traits(type);
  switch (spec.rule) {
    case ErrorRule::kExact:
      break;
    case ErrorRule::kUlp: {
      const double ulp = t.is_integer() ? 0 : std::ldexp(1.0, -t.mantissa_bits);
      return ToleratedError{spec.float32_ulps * kUnitRoundoffFloat32, spec.ulps * ulp,
                            absolute_error(type) * std::max(1.0, spec.ulps)};
    }
    case ErrorRule::kSum:
    case ErrorRule::kBlocked: {
      const auto terms = terms_of(spec, values);
      if (!terms) return tl::unexpected<Error>(terms.error());
      const auto of_sum = error_of_sum(spec, *terms, values);
      if (!of_sum) return tl::unexpected<Error>(of_sum.error());
      const ToleratedError error{*of_sum, unit_roundoff(type), absolute_error(type)};
      if (!spec.activation) return error;
      return activation(*spec.activation, values).map([&](Activation own) { return activated(error, own); });
    }
    case ErrorRule::kAllclose:
      return ToleratedError{spec.absolute, spec.relative, kNothing};
    case ErrorRule::kResidual: {
      const auto factor = number(*spec.factor, "factor", values);
      if (!factor) return tl::unexpected<Error>(factor.error());
      if (*factor < 1)
        return fail(ErrorKind::kUsage,
                    fmt::format("{}: a residual may be at least one roundoff, not {}", values.of, *factor));
      const double roundoff = t.is_integer() ? 0 : std::ldexp(1.0, -t.mantissa_bits - 1);
      return ToleratedError{static_cast<double>(*factor) * roundoff, 0, kNothing, true};
    }
  }
  return ToleratedError{0, 0, kNothing};
}

Result<double> error_of_early_rounding(const ErrorSpec& spec, ElementType type, const ErrorValues& values) {
  const double roundoff = unit_roundoff(type);
  if (roundoff == 0) return 0;
  const auto terms = terms_of(spec, values);
  if (!terms) return tl::unexpected<Error>(terms.error());
  return error_of_sum(spec, *terms, values).map([&](double of_sum) { return roundoff / of_sum; });
}

}  // namespace pgtune::operation
