// SPDX-License-Identifier: MIT
// Steps that follow pointers, on the GPU: their arrays lead into the buffers that the chain's steps share.
#include "tests/gpu/chain_on_gpu.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {
namespace {

constexpr const char* kProducts = R"json({
  "schema": 1, "name": "products", "dtypes": ["f32"], "dimensions": [{"name": "G"}, {"name": "N"}],
  "buffers": [{"name": "middle"}],
  "steps": [
    {"name": "up", "operation": "gemm_pointers.json", "size": {"G": "G", "M": "16", "N": "N", "K": "32", "W": "2"},
     "buffers": {"C": "middle"}},
    {"name": "down", "operation": "gemm_pointers.json", "size": {"G": "G", "M": "16", "N": "32", "K": "N", "W": "3"},
     "buffers": {"A": "middle"}}
  ]
})json";
constexpr const char* kExample = "examples/operations/gemm_pointers/";

class PointersInAChain : public ChainOnGpu {
 protected:
  static constexpr std::size_t kUp = 0, kDown = 1;

  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    const auto path = std::filesystem::path(PGTUNE_SOURCE_DIR) / kExample / "gemm_pointers.json";
    const auto operation = operation::load_operation(path);
    ASSERT_TRUE(operation) << operation.error().text();
    const auto definition = chain::parse_chain(kProducts, "products.json");
    ASSERT_TRUE(definition) << definition.error().text();
    const auto made = chain::make_chain(*definition, {{"gemm_pointers.json", *operation}}, {{"G", 12}, {"N", 64}}, {});
    ASSERT_TRUE(made) << made.error().text();
    chain_ = *made;
    template_ = operation_template(*operation, std::string(kExample) + "gemm_pointers_tiles.json");
    make_context();
    for (const ChainStep& step : chain_.steps) kernels_of_steps_.push_back(kernel_of(template_, step));
  }

  protocol::ChainKernel kernel_of(const space::TemplateDefinition& definition, const ChainStep& step) {
    return {built(definition, space::parse_variant(definition, "BM=16,BN=32").value(), step.problem), std::nullopt};
  }

  space::TemplateDefinition template_;
};

TEST_F(PointersInAChain, LeadIntoWhatTheStepsShareOnEveryCopy) { expect_right_however_often_it_is_checked(); }

TEST_F(PointersInAChain, AStepThatFollowsTheWrongOnesIsFound) {
  kernels_of_steps_[kDown] =
      kernel_of(edited(template_, "bs[blockIdx.z];", "bs[blockIdx.z / 2];"), chain_.steps[kDown]);
  expect_wrong("step 'down'");
}

}  // namespace
}  // namespace pgtune::gpu
