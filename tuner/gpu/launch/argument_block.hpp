// SPDX-License-Identifier: MIT
// The arguments of one kernel launch, packed once and passed by pointer to every launch.
#pragma once

#include <cstdint>
#include <vector>

#include <cuda.h>

#include "tuner/gpu/launch/operand_set.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

class ArgumentBlock {
 public:
  /// `maps` are the plan's tensor maps in its order, encoded for `operands`; they must outlive the block and not move.
  /// Errors (internal): an index outside `maps`, an integer that an int32 argument cannot hold.
  [[nodiscard]] static Result<ArgumentBlock> pack(const std::vector<KernelArgument>& arguments,
                                                  const OperandSet& operands, const std::vector<CUtensorMap>& maps);

  /// One pointer per argument, in the form cuLaunchKernelEx takes. Points into this block.
  [[nodiscard]] void** pointers() const { return const_cast<void**>(pointers_.data()); }

 private:
  std::vector<std::uint64_t> values_;  ///< never resized after pack: pointers_ points into it
  std::vector<void*> pointers_;
};

}  // namespace pgtune::gpu
