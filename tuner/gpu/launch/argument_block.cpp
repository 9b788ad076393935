// SPDX-License-Identifier: MIT
#include "tuner/gpu/launch/argument_block.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

namespace pgtune::gpu {
namespace {

// Values sit at the low bytes of their slot: kernels read as many bytes as the parameter has.
template <typename T>
std::uint64_t slot(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

}  // namespace

Result<ArgumentBlock> ArgumentBlock::pack(const std::vector<KernelArgument>& arguments, const OperandSet& operands,
                                          const std::vector<CUtensorMap>& maps) {
  ArgumentBlock block;
  block.values_.resize(arguments.size());
  block.pointers_.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const KernelArgument& argument = arguments[i];
    block.pointers_[i] = &block.values_[i];
    switch (argument.kind) {
      case ArgumentKind::kPointer:
        block.values_[i] = operands[argument.operand].address;
        break;
      case ArgumentKind::kTensorMap:
        if (argument.integer < 0 || static_cast<std::size_t>(argument.integer) >= maps.size()) {
          return fail(ErrorKind::kInternal,
                      fmt::format("argument {} names tensor map {} of {}", i, argument.integer, maps.size()));
        }
        block.pointers_[i] = const_cast<CUtensorMap*>(&maps[static_cast<std::size_t>(argument.integer)]);
        break;
      case ArgumentKind::kInt32:
        if (argument.integer < std::numeric_limits<std::int32_t>::min() ||
            argument.integer > std::numeric_limits<std::int32_t>::max()) {
          return fail(ErrorKind::kInternal,
                      fmt::format("argument {} is {}, which an int32 cannot hold; the template needs an int64 argument "
                                  "or a legality rule",
                                  i, argument.integer));
        }
        block.values_[i] = slot(static_cast<std::int32_t>(argument.integer));
        break;
      case ArgumentKind::kInt64:
        block.values_[i] = slot(argument.integer);
        break;
      case ArgumentKind::kFloat32:
        block.values_[i] = slot(static_cast<float>(argument.real));
        break;
    }
  }
  return block;
}

}  // namespace pgtune::gpu
