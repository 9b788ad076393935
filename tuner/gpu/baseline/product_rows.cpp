// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/product_rows.hpp"

#include <fmt/format.h>

#include <string_view>

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kScaledMultiple = 4;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
std::int64_t blocks(std::int64_t elements) { return (elements + kScaledBlock - 1) / kScaledBlock; }

tl::unexpected<Error> refused(std::string_view what, std::size_t group, std::int64_t number) {
  return fail(ErrorKind::kInternal, fmt::format("{} of group {}: {}", what, group, number));
}

}  // namespace

Result<std::vector<ProductGroup>> groups_with_rows(const LibraryProduct& product, const ProductGeometry& geometry,
                                                   const std::vector<std::int32_t>& counts) {
  if (!product.offsets && !product.rows) return std::vector<ProductGroup>{{0, 0, geometry.rows}};
  const auto groups = static_cast<std::size_t>(geometry.groups);
  if (counts.size() != groups + (product.offsets ? 1 : 0)) return refused("numbers", groups, geometry.groups);
  std::vector<ProductGroup> out;
  for (std::size_t i = 0; i < groups; ++i) {
    ProductGroup group{static_cast<std::int64_t>(i), 0, counts[i]};
    if (product.offsets) {
      group.first = counts[i];
      group.rows = std::int64_t{counts[i + 1]} - counts[i];
    }
    if (group.first < 0 || group.rows < 0 || group.first + group.rows > geometry.rows)
      return refused(fmt::format("rows from {}", group.first), i, group.rows);
    if (group.rows > 0) out.push_back(group);
  }
  return out;
}

std::int64_t solved_rows(const LibraryProduct& product, std::int64_t rows) {
  return product.is_scaled() ? round_up(rows, kScaledMultiple) : rows;
}

void append_scales_a(const OperationBuffer& buffer, const std::vector<float>& stored, const ProductGroup& group,
                     std::int64_t solved, std::vector<float>& out) {
  const std::size_t rank = buffer.extents.size();
  const std::int64_t matrix = rank > 2 ? group.index * buffer.strides[0] : 0;
  for (std::int64_t block = 0; block < buffer.extents[rank - 1]; ++block) {
    for (std::int64_t row = 0; row < solved; ++row) {
      const std::int64_t at =
          matrix + (group.first + row) * buffer.strides[rank - 2] + block * buffer.strides[rank - 1];
      out.push_back(row < group.rows ? stored.at(static_cast<std::size_t>(at)) : 0);
    }
  }
}

void append_scales_b(const OperationBuffer& buffer, const std::vector<float>& stored, std::int64_t group,
                     std::vector<float>& out) {
  const std::size_t rank = buffer.extents.size();
  const std::int64_t matrix = rank > 2 ? group * buffer.strides[0] : 0, along_k = buffer.extents[rank - 1];
  for (std::int64_t column = 0; column < buffer.extents[rank - 2]; ++column) {
    for (std::int64_t block = 0; block < round_up(along_k, kScaledMultiple); ++block) {
      const std::int64_t at = matrix + column * buffer.strides[rank - 2] + block * buffer.strides[rank - 1];
      out.push_back(block < along_k ? stored.at(static_cast<std::size_t>(at)) : 0);
    }
  }
}

std::int64_t scales_of_a(const ProductGeometry& geometry, std::int64_t solved) {
  return solved * blocks(geometry.depth);
}

std::int64_t scales_of_b(const ProductGeometry& geometry) {
  return blocks(geometry.columns) * round_up(blocks(geometry.depth), kScaledMultiple);
}

}  // namespace pgtune::gpu
