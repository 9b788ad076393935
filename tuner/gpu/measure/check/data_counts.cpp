// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/data_counts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

namespace pgtune::gpu {
namespace {

template <typename Integer>
std::int64_t load(const std::byte* from) {
  Integer value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Calls `visit` with each element, in the order of their indices.
template <typename Visit>
void for_elements(const OperationBuffer& buffer, std::span<const std::byte> stored, const Visit& visit) {
  const auto bytes = static_cast<std::size_t>(element_bytes(buffer.type));
  const auto at = buffer.type == ElementType::kInt8 ? load<std::int8_t> : load<std::int32_t>;
  std::array<std::int64_t, kMaxBufferRank> index{};
  const std::size_t rank = buffer.extents.size();
  for (std::int64_t element = 0; element < buffer.elements(); ++element) {
    std::size_t place = 0;
    for (std::size_t i = 0; i < rank; ++i) place += static_cast<std::size_t>(index.at(i) * buffer.strides[i]);
    visit(at(stored.subspan(place * bytes, bytes).data()));
    for (std::size_t i = rank; i-- > 0;) {
      if (++index.at(i) < buffer.extents[i]) break;
      index.at(i) = 0;
    }
  }
}

}  // namespace

double count_elements(const OperationCount& count, const OperationBuffer& buffer, std::span<const std::byte> stored) {
  double sum = 0;
  std::int64_t largest = std::numeric_limits<std::int64_t>::min();
  std::int64_t found = 0;
  std::optional<std::int64_t> previous;
  for_elements(buffer, stored, [&](std::int64_t value) {
    sum += static_cast<double>(value);
    largest = std::max(largest, value);
    found += count.kind == CountKind::kAbove     ? value > count.bound
             : count.kind == CountKind::kNonzero ? value != 0
                                                 : previous.has_value() && value > *previous;
    previous = value;
  });
  if (count.kind == CountKind::kSum) return sum;
  return static_cast<double>(count.kind == CountKind::kMax ? largest : found);
}

}  // namespace pgtune::gpu
