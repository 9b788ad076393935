// SPDX-License-Identifier: MIT
// Steps that change a buffer in place, on the GPU: a residual stream that two norms add to. Each is judged by what it
// found, whatever later steps made of it; a launch begins with the data.
#include "tests/gpu/chain_on_gpu.hpp"
#include "tuner/model/problem_operands.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kChain = R"json({
  "schema": 1, "name": "norms", "dtypes": ["bf16"], "dimensions": [{"name": "T"}, {"name": "H"}],
  "buffers": [{"name": "stream"}, {"name": "normed"}],
  "steps": [
    {"name": "first", "operation": "add_rmsnorm.json", "size": {"M": "T", "N": "H"},
     "buffers": {"R": "stream", "Y": "normed"}},
    {"name": "second", "operation": "add_rmsnorm.json", "size": {"M": "T", "N": "H"},
     "buffers": {"X": "normed", "R": "stream"}}]
})json";

class ResidualOnGpu : public ChainOnGpu {
 protected:
  static constexpr std::size_t kFirst = 0, kSecond = 1;

  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    const auto operation =
        operation::load_operation(fs::path(PGTUNE_SOURCE_DIR) / "examples/operations/add_rmsnorm/add_rmsnorm.json");
    ASSERT_TRUE(operation) << operation.error().text();
    const auto definition = chain::parse_chain(kChain, "norms.json");
    ASSERT_TRUE(definition) << definition.error().text();
    const auto made = chain::make_chain(*definition, {{"add_rmsnorm.json", *operation}}, {{"T", 16}, {"H", 1024}}, {});
    ASSERT_TRUE(made) << made.error().text();
    chain_ = *made;
    template_ = operation_template(*operation, "examples/operations/add_rmsnorm/add_rmsnorm_rows.json");
    make_context();
    for (std::size_t i = 0; i < chain_.steps.size(); ++i) kernels_of_steps_.push_back(kernel_of(template_));
  }

  protocol::ChainKernel kernel_of(const space::TemplateDefinition& definition) {
    const Variant variant = space::parse_variant(definition, "THREADS_PER_ROW=128").value();
    return {built(definition, variant, chain_.steps[kFirst].problem), std::nullopt};
  }

  /// That step's operation with R uniform up to `largest`.
  void fill_up_to(std::size_t step, double largest) {
    OperationProblem operation = *chain_.steps[step].problem.operation;
    OperationBuffer& r = operation.buffers.at(*operation.find_buffer("R"));
    r.fill = FillKind::kUniform;
    r.first = -largest;
    r.second = largest;
    chain_.steps[step].problem.operation = OperationHandle(std::move(operation));
  }

  space::TemplateDefinition template_;
};

TEST_F(ResidualOnGpu, IsRightHoweverOftenItIsChecked) { expect_right_however_often_it_is_checked(); }

TEST_F(ResidualOnGpu, AStepThatChangesNothingIsFound) {
  kernels_of_steps_[kSecond] = kernel_of(edited(template_, "store_vector<false>(r, first + at, vector_of(sum));", ""));
  expect_wrong("step 'second': by itself");
}

TEST_F(ResidualOnGpu, SnapshotsHoldWhatEachStepFound) {
  const auto memory = ChainMemory::allocate(*kernels_, chain_, 3);
  ASSERT_TRUE(memory) << memory.error().message();
  const auto snapshots = ChainSnapshots::allocate(chain_, *memory);
  ASSERT_TRUE(snapshots) << snapshots.error().message();
  EXPECT_EQ(snapshots->copies(), (std::vector<std::size_t>{0, 2}));
  const std::size_t stream = 0;
  const auto write = [&](std::uint32_t word) {
    ASSERT_TRUE(kernels_->fill_pattern(memory->span(2, stream), word, stream_.get()));
  };
  write(1);
  ASSERT_TRUE(snapshots->keep(2, kFirst, stream_.get()));
  write(2);
  ASSERT_TRUE(snapshots->keep(2, kSecond, stream_.get()));
  write(3);
  ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
  const auto word = [&](const OperandSet& set, std::size_t step) {
    const auto operands = operands_of(chain_.steps[step].problem);
    std::uint32_t out = 0;
    for (const ProblemOperand& operand : operands) {
      if (operand.buffer.role != BufferRole::kInOut) continue;
      EXPECT_EQ(cudaMemcpy(&out, device_pointer(set[operand.operand].address), sizeof(out), cudaMemcpyDeviceToHost),
                cudaSuccess);
    }
    return out;
  };
  EXPECT_EQ(word(snapshots->found(2, kFirst), kFirst), 1U);
  EXPECT_EQ(word(snapshots->left(2, kFirst), kFirst), 2U);
  EXPECT_EQ(word(snapshots->found(2, kSecond), kSecond), 2U);
  EXPECT_EQ(word(snapshots->left(2, kSecond), kSecond), 3U);
}

TEST_F(ResidualOnGpu, AStepIsJudgedByWhatItFound) {
  // The stream begins with the first step's data, which are larger than those that the second step's kernel is right
  // for and is checked with by itself.
  fill_up_to(kFirst, 20);
  fill_up_to(kSecond, 10);
  kernels_of_steps_[kSecond] =
      kernel_of(edited(template_, "sum[i] = element_of(before, i)",
                       "sum[i] = (fabsf(element_of(before, i)) > 10.25f ? 0.0f : 1.0f) * element_of(before, i)"));
  const auto chain = current();
  ASSERT_TRUE(chain);
  const auto check = chain->check(false);
  ASSERT_TRUE(check) << check.error().message();
  EXPECT_EQ(check->outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_NE(check->outcome.reason.find("step 'second'"), std::string::npos) << check->outcome.reason;
  EXPECT_EQ(check->outcome.reason.find("by itself"), std::string::npos) << check->outcome.reason;
}

}  // namespace
}  // namespace pgtune::gpu
