// SPDX-License-Identifier: MIT
// A file of shapes: one per line; blank lines and text after '#' are ignored. Types, layout, epilogue, batch, leading
// dimensions, beta and a weight may follow: "4096x4096x4096 bf16 nt out f32 epilogue bias+gelu batch 8 lda 5120 beta
// 1". M may be a range: "1..8192x4096x4096".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/problem.hpp"

namespace pgtune::tool {

/// More than any user can search; a file with more is the wrong one.
inline constexpr std::size_t kMaxShapes = 10'000;

struct ListedShape {
  int line = 0;
  Problem problem = {};                      ///< from parse_shape_range(): M, N and K
  std::optional<std::int64_t> first_m = {};  ///< of a range of M
  std::optional<Dtype> dtype = {};
  std::optional<ElementType> output = {};
  std::optional<Epilogue> epilogue = {};
  std::optional<std::string> layout = {};
  std::optional<std::string> batch = {}, lda = {}, ldb = {}, ldc = {}, beta = {};  ///< as written
  std::optional<std::string> weight = {};  ///< as written: the share of the whole list's time
  bool chained = false;
};

/// Throws CommandError (usage) with the line in `origin`: no shape, or too many lines.
[[nodiscard]] std::vector<ListedShape> parse_shape_list(std::string_view text, const std::string& origin);

/// One problem of an operation in a file of sizes, "M=4096,N=8192" per line.
struct ListedSizes {
  int line = 0;
  std::string text;
};

/// Throws CommandError (usage): too many lines, or more than one word in one.
[[nodiscard]] std::vector<ListedSizes> parse_size_list(std::string_view text, const std::string& origin);

/// The text of `file`. Throws CommandError (usage) if it cannot be read or is larger than a list of kMaxShapes.
[[nodiscard]] std::string read_shape_list(const std::string& file);

}  // namespace pgtune::tool
