// SPDX-License-Identifier: MIT
#include "tuner/util/count_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace pgtune {

std::string count_text(std::int64_t count) {
  for (const auto& [unit, name] : {std::pair{1e12, "trillion"}, std::pair{1e9, "billion"}}) {
    if (const double units = static_cast<double>(count) / unit; units >= 1)
      return fmt::format("{:.{}f} {}", units, units < 10 ? 2 : units < 100 ? 1 : 0, name);
  }
  std::string text = std::to_string(count);
  for (std::size_t left = text.size(); left > 3; left -= 3) text.insert(left - 3, ",");
  return text;
}

}  // namespace pgtune
