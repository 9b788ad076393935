// SPDX-License-Identifier: MIT
// Names with values, for tests of expressions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tuner/expression/expression.hpp"

namespace pgtune::space {

class MapScope : public Scope {
 public:
  MapScope(std::map<std::string, std::int64_t, std::less<>> values) : values_(std::move(values)) {}
  [[nodiscard]] std::optional<std::int64_t> value(std::string_view name) const override {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

}  // namespace pgtune::space
