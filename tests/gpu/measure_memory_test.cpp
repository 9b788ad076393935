// SPDX-License-Identifier: MIT
// What is said of problems that do not fit the GPU's memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/measure/current_problem.hpp"
#include "tuner/operation/operation_definition.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kFree = 1000;

TEST(MemoryNeed, AnOperationThatDoesNotFitIsToldWhichSizesToLessen) {
  const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "operations/softmax.json";
  const Problem problem =
      operation::make_problem(operation::load_operation(path).value(), {{"M", 64}, {"N", 128}}, Dtype::kBf16).value();
  const MemoryNeed memory = CheckedProblem::memory_of(problem);
  EXPECT_GE(memory.copy, problem.operand_bytes());
  EXPECT_GE(memory.once, 64 * 128 * (8 + 4)) << "a reference in float64 and its scale in float32";
  const Error error = too_large(problem, memory, kFree);
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_EQ(error.text(), "softmax bf16 M=64,N=128 needs " + std::to_string(memory.copy + memory.once) +
                              " bytes of GPU memory (buffers, float64 reference, baselines' memory) and 1000 are free; "
                              "choose smaller sizes (M, N), or free memory on the GPU");
}

TEST(MemoryNeed, OfGemmItIsShapeAndBatch) {
  const Problem problem = as_sent(parse_shape("64x32x16").and_then(with_default_strides).value());
  const Error error = too_large(problem, {5000, 700}, kFree);
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_EQ(error.text(),
            "64x32x16 f32 nn needs 5700 bytes of GPU memory (operands, float64 reference, cuBLASLt's workspace) and "
            "1000 are free; choose a smaller shape or batch, or free memory on the GPU");
}

}  // namespace
}  // namespace pgtune::gpu
