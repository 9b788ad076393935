// SPDX-License-Identifier: MIT
// The buffers of any problem as one list, GEMM's among them, for what treats all alike.
#pragma once

#include <string>
#include <vector>

#include "tuner/model/launch_plan.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune {

struct ProblemOperand {
  Operand operand = Operand::kA;
  OperationBuffer buffer;  ///< of GEMM its name, type, role, extents and strides alone
  /// A launch that may overlap the one before it may read it before that one has ended, which so must not write it.
  bool may_be_read_early = false;
};

/// Of GEMM A, B, C where beta is not 0, the bias where it has one, and D; of an operation its buffers in their order.
[[nodiscard]] std::vector<ProblemOperand> operands_of(const Problem& problem);

/// Whether both are of one type and at the same distances from their starts, however their indices run: what one launch
/// writes as the one, another may read as the other.
[[nodiscard]] bool are_same_elements(const OperationBuffer& a, const OperationBuffer& b);

/// "bf16 16x4096", with strides where elements are not packed: "f32 16x70, strides 96 and 1".
[[nodiscard]] std::string elements_text(const OperationBuffer& buffer);

}  // namespace pgtune
