// SPDX-License-Identifier: MIT
// What expressions of templates may ask of the device, and where a call's buffers stand.
#pragma once

#include "exported/checked.hpp"
#include "exported/types.hpp"

namespace pgtune_export::detail {

/// Every operation's facts, the names of its templates' expressions, begin with the device's.
struct DeviceFacts {
  Int v_ARCH, v_SM_COUNT, v_SMEM_LIMIT, v_SMEM_PER_SM, v_REGS_PER_SM, v_L2_BYTES;
};

/// A buffer of a call, by its number among the operation's.
using Place = std::uint8_t;
constexpr Place kWorkspace = 255;

constexpr Int kBufferAlignment = 256;  ///< ALIGN_* tell no more

inline Int address(const void* pointer) noexcept {
  return static_cast<Int>(reinterpret_cast<std::uintptr_t>(pointer) & 0xff);
}

}  // namespace pgtune_export::detail
