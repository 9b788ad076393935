// SPDX-License-Identifier: MIT
#include "tuner/protocol/messages.hpp"

#include <fmt/format.h>

namespace pgtune::protocol {

std::string out_of_compile_memory(std::int64_t limit_bytes, const std::string& said) {
  return fmt::format("the compiler needs more than its limit of {} MiB of memory (--compile-memory): {}",
                     limit_bytes >> 20, said);
}

}  // namespace pgtune::protocol
