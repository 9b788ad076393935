// SPDX-License-Identifier: MIT
#include "pipeline/worker/host_operands.hpp"

#include <algorithm>

namespace pgtune::gpu {
namespace {

using pipeline::HostMemory;
using pipeline::Matrix;

HostKind kind_of(HostMemory memory, Matrix matrix) {
  if (memory == HostMemory::kRegistered) return HostKind::kRegistered;
  // The host reads D, and reads write-combined memory byte by byte.
  if (memory == HostMemory::kWriteCombined && matrix != Matrix::kD) return HostKind::kWriteCombined;
  return memory == HostMemory::kPageable ? HostKind::kPageable : HostKind::kPinned;
}

HostCopy whole_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  return {to, from, bytes, bytes, bytes, 1};
}

}  // namespace

CudaResult<> HostOperandSets::allocate_pageable() {
  for (const Matrix matrix : pipeline::kMatrices) {
    if (!streamed_.streams(matrix)) continue;
    auto buffer = HostBuffer::allocate(HostKind::kPageable, streamed_.bytes(matrix));
    if (!buffer) return tl::unexpected(buffer.error());
    pageable_.matrices[pipeline::index_of(matrix)] = std::move(*buffer);
  }
  return {};
}

std::int64_t HostOperandSets::pinned_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [place, held] : pinned_) bytes += held.operands->bytes();
  return bytes;
}

void HostOperandSets::make_room(std::int64_t bytes, const Release& release) {
  while (!pinned_.empty() && pinned_bytes() + bytes > pinned_limit_bytes_) {
    const auto oldest = std::min_element(pinned_.begin(), pinned_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    release(oldest->first);
    pinned_.erase(oldest);
  }
}

CudaResult<HostOperands> HostOperandSets::copy_of_pageable(const HostPlace& place) {
  HostOperands copy;
  for (const Matrix matrix : pipeline::kMatrices) {
    const HostBuffer& from = pageable_[matrix];
    auto buffer = HostBuffer::allocate(kind_of(place.memory, matrix), from.bytes(), place.node);
    if (!buffer) return tl::unexpected(buffer.error());
    if (from.bytes() > 0) copier_.copy(whole_copy(buffer->data(), from.data(), from.bytes()));
    copy.matrices[pipeline::index_of(matrix)] = std::move(*buffer);
  }
  return copy;
}

CudaResult<const HostOperands*> HostOperandSets::of(HostPlace place, std::int64_t ring_bytes, const Release& release) {
  if (place.memory == HostMemory::kPageable || place.memory == HostMemory::kStaged) {
    make_room(ring_bytes, release);
    return &pageable_;
  }
  if (place.memory == HostMemory::kMapped) place.memory = HostMemory::kPinned;
  if (const auto known = pinned_.find(place); known != pinned_.end()) {
    known->second.used = ++uses_;
    return known->second.operands.get();
  }
  make_room(pageable_.bytes() + ring_bytes, release);
  auto copy = copy_of_pageable(place);
  if (!copy) return tl::unexpected(copy.error());
  Held& held = pinned_[place];
  held.operands = std::make_unique<HostOperands>(std::move(*copy));
  held.used = ++uses_;
  return held.operands.get();
}

void HostOperandSets::poison_d(const HostOperands& operands, std::uint32_t pattern) {
  const HostBuffer& d = operands[Matrix::kD];
  if (d.bytes() == 0) return;
  // The first mebibyte by hand, the rest from there.
  const std::int64_t first = std::min<std::int64_t>(d.bytes(), std::int64_t{1} << 20);
  for (std::int64_t i = 0; i < first; ++i)
    d.data()[i] = static_cast<std::byte>(pattern >> 8 * static_cast<unsigned>(i % 4));
  for (std::int64_t at = first; at < d.bytes(); at += first) {
    const std::int64_t bytes = std::min(first, d.bytes() - at);
    std::copy_n(d.data(), bytes, d.data() + at);
  }
}

}  // namespace pgtune::gpu
