// SPDX-License-Identifier: MIT
#include "tuner/protocol/messages.hpp"

#include <fmt/format.h>

namespace pgtune::protocol {

Contender contender_of(const BuiltContender& built) {
  if (const BaselineAlgorithm* const algorithm = algorithm_of(built)) return *algorithm;
  return variant_of(built)->variant;
}

std::string out_of_compile_memory(std::int64_t limit_bytes, const std::string& said) {
  return fmt::format("the compiler needs more than its limit of {} MiB of memory (--compile-memory): {}",
                     limit_bytes >> 20, said);
}

}  // namespace pgtune::protocol
