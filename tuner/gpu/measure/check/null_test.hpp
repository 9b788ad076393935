// SPDX-License-Identifier: MIT
// Whether the check of an operation can tell right from wrong.
#pragma once

#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"

namespace pgtune::gpu {

/// Puts results into operand copy 0 that nobody has computed and compares them as a variant's: the reference itself,
/// rounded to the outputs' types, has to pass. Zeros, the reference shifted by one element, and the result of inputs
/// of which a sixteenth is zero, for each input of real numbers in turn, must not. Errors: (usage) one does
/// not, with what that says of the operation, or the reference leaves elements unwritten; (internal) CUDA fails. Of
/// outputs that residuals judge, the right result is the one that the reference computes, and all are judged alike.
/// Leaves data and reference as it found them. Precondition: the buffers are an operation's.
[[nodiscard]] Result<void> null_test(const OperandBuffers& buffers, Checker& checker, cudaStream_t stream);

}  // namespace pgtune::gpu
