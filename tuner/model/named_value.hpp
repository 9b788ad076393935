// SPDX-License-Identifier: MIT
// Numbers by their names.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/util/fields.hpp"

namespace pgtune {

struct NamedValue {
  std::string name;
  std::int64_t value = 0;

  PGTUNE_FIELDS(name, value)
  friend bool operator==(const NamedValue&, const NamedValue&) = default;
};

struct NamedScalar {
  std::string name;
  double value = 0;

  PGTUNE_FIELDS(name, value)
  friend bool operator==(const NamedScalar&, const NamedScalar&) = default;
};

}  // namespace pgtune
