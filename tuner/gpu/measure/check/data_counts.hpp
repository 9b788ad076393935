// SPDX-License-Identifier: MIT
// What an operation counts in its data.
#pragma once

#include <cstddef>
#include <span>

#include "tuner/model/operation_problem.hpp"

namespace pgtune::gpu {

/// Of the buffer's elements, whatever lies between them. `stored`: buffer.bytes() bytes as the GPU holds them, of int8
/// or int32.
[[nodiscard]] double count_elements(const OperationCount& count, const OperationBuffer& buffer,
                                    std::span<const std::byte> stored);

}  // namespace pgtune::gpu
