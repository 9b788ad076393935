// SPDX-License-Identifier: MIT
// Constraint expressions: parsing, and evaluation with every name known, zero or large.
#include <cstdlib>
#include <limits>

#include "tests/fuzz/targets.hpp"
#include "tuner/expression/expression.hpp"

namespace pgtune::fuzz {
namespace {

class SameValue final : public space::Scope {
 public:
  explicit SameValue(std::int64_t value) : value_(value) {}
  [[nodiscard]] std::optional<std::int64_t> value(std::string_view name) const override {
    if (name == "UNKNOWN") return std::nullopt;
    return value_;
  }

 private:
  std::int64_t value_;
};

}  // namespace

void expression(std::string_view bytes) {
  const auto parsed = space::Expression::parse(bytes);
  if (!parsed) {
    if (parsed.error().message.empty()) std::abort();
    return;
  }
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-3}, std::int64_t{64}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    const auto result = parsed->evaluate(SameValue(value));
    if (!result && result.error().message.empty()) std::abort();
  }
  for (std::size_t i = 0; i < parsed->names().size(); ++i) {
    if (parsed->name_position(i) >= parsed->text().size()) std::abort();
  }
}

}  // namespace pgtune::fuzz
