// SPDX-License-Identifier: MIT
// A file of shapes: one a line, blank lines and what follows a '#' aside. Behind a shape may stand what a problem's
// title says of its types, layout, epilogue and batch: "4096x4096x4096 bf16 nt out f32 epilogue bias+gelu batch 8".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"

namespace pgtune::tool {

/// More than anybody searches in a lifetime; a file with more is the wrong one.
inline constexpr std::size_t kMaxShapes = 10'000;

struct ListedShape {
  int line = 0;
  Problem problem = {};  ///< as parse_shape() leaves it: M, N and K
  std::optional<Dtype> dtype = {};
  std::optional<ElementType> output = {};
  std::optional<Epilogue> epilogue = {};
  std::optional<std::string> layout = {};
  std::optional<std::string> batch = {};  ///< as written
  bool chained = false;
};

/// Throws CommandError (usage) that says where in `origin` what is wrong: a line that is no shape, too many of them.
[[nodiscard]] std::vector<ListedShape> parse_shape_list(std::string_view text, const std::string& origin);

/// One problem of an operation in a file of sizes, "M=4096,N=8192" a line.
struct ListedSizes {
  int line = 0;
  std::string text;
};

/// Throws CommandError (usage): too many lines, or more than one word in one.
[[nodiscard]] std::vector<ListedSizes> parse_size_list(std::string_view text, const std::string& origin);

/// The text of `file`. Throws CommandError (usage) where it cannot be read or is larger than a list of kMaxShapes.
[[nodiscard]] std::string read_shape_list(const std::string& file);

}  // namespace pgtune::tool
