// SPDX-License-Identifier: MIT
// Every operation's reference and every operation's templates through NVRTC. Needs no GPU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gpu/operation_cases.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/check/operation_kernels.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/operation/gemm_operation.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMaxExtremes = 10;

std::vector<std::optional<Dtype>> dtypes_of(const operation::OperationDefinition& definition) {
  if (definition.dtypes.empty()) return {std::nullopt};
  return {definition.dtypes.begin(), definition.dtypes.end()};
}

TEST(Operations, ReferencesCompileInEveryDtype) {
  const TestFolder folder;
  OperationKernels::keep_cubins_in(shared_cubins(folder));
  for (const auto& path : operation_files()) {
    const auto definition = operation::load_operation(path);
    ASSERT_TRUE(definition) << definition.error().text();
    for (const auto& dtype : dtypes_of(*definition)) {
      const auto problem = operation::make_problem(*definition, usual_sizes(*definition), dtype);
      ASSERT_TRUE(problem) << problem.error().text();
      const auto cubin = OperationKernels::compile(*problem->operation, "sm_90a");
      ASSERT_TRUE(cubin) << cubin.error().text();
      for (const ReferenceLaunch& pass : problem->operation->reference)
        EXPECT_THAT(*cubin, HasSubstr(pass.symbol)) << path;
    }
  }
}

TEST(Operations, GemmsReferenceCompilesInEveryDtype) {
  const TestFolder folder;
  OperationKernels::keep_cubins_in(shared_cubins(folder));
  for (const Dtype dtype : all_dtypes()) {
    Problem problem = parse_shape("127x129x131").value();
    problem.dtype = dtype;
    const auto numbers = operation::with_operation(with_default_strides(problem).value());
    ASSERT_TRUE(numbers) << numbers.error().text();
    // Types of one byte are converted by instructions that only newer targets have.
    for (const char* architecture : {"sm_80", "sm_90a", "sm_100a", "sm_120a"}) {
      if (architecture != std::string_view("sm_80") && element_bytes(dtype) > 1) continue;
      const auto cubin = OperationKernels::compile(*numbers->operation, architecture);
      ASSERT_TRUE(cubin) << cubin.error().text();
      EXPECT_THAT(*cubin, HasSubstr("gemm"));
    }
  }
}

TEST(Operations, ReferencesAreKeptForTheNextProcess) {
  const TestFolder folder;
  OperationKernels::keep_cubins_in(CubinCache::open(folder.path()).value());
  OperationProblem operation;
  operation.name = "kept";
  operation.source = {"kept.cu", "#include \"operation.cuh\"\nextern \"C\" __global__ void kept() {}\n", {}};
  const auto cubin = OperationKernels::compile(operation, "sm_90a");
  ASSERT_TRUE(cubin) << cubin.error().text();
  std::size_t cubins = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    cubins += entry.path().extension() == ".cubin" ? 1 : 0;
  EXPECT_EQ(cubins, 1);
  EXPECT_EQ(OperationKernels::compile(operation, "sm_90a").value(), *cubin);
  EXPECT_NE(OperationKernels::compile(operation, "sm_80").value(), *cubin);
}

TEST(Operations, AReferenceThatDoesNotCompileSaysWhy) {
  OperationProblem operation;
  operation.name = "broken";
  operation.source = {"broken.cu", "#include \"operation.cuh\"\nnonsense;\n", {}};
  const auto cubin = OperationKernels::compile(operation, "sm_90a");
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(cubin.error().text(), HasSubstr("broken.cu(2)"));
}

TEST(Operations, AReferencesKernelsTakeWhatTheyArePassed) {
  OperationProblem operation;
  operation.name = "own";
  operation.source = {"own.cu",
                      "#include \"operation.cuh\"\n"
                      "#include <cooperative_groups.h>\n"
                      "extern \"C\" __global__ void right(double* y, i64 n, float a) { y[n] = a; }\n"
                      "extern \"C\" __global__ void fill(float* x, u64 seed) { *x = seed; }\n"
                      "__global__ void mangled(double* y) { *y = 1; }\n",
                      {}};
  const auto said = [&] {
    const auto cubin = OperationKernels::compile(operation, "sm_90a");
    EXPECT_TRUE(cubin || cubin.error().kind == ErrorKind::kUsage);
    return cubin ? "" : cubin.error().text();
  };
  const ReferenceArgument value{ReferenceArgumentKind::kValue}, count{ReferenceArgumentKind::kInt64},
      scalar{ReferenceArgumentKind::kFloat32};
  operation.reference = {{"right", {}, {}, {value, count, scalar}}};
  EXPECT_EQ(said(), "");
  operation.reference.front().arguments = {value, count};
  EXPECT_THAT(said(), HasSubstr("kernel 'right' has 3 parameters, and is passed 2 arguments"));
  operation.reference.front().arguments = {value, scalar, scalar};
  EXPECT_THAT(said(), HasSubstr("argument 2 (float32) is 4 bytes, the kernel's parameter 2 has 8"));
  operation.reference = {{"wrong", {}, {}, {}}};
  EXPECT_THAT(said(), HasSubstr("the reference of the operation 'own': the source has no kernel 'wrong'"));
  operation.reference = {{"mangled", {}, {}, {value}}};
  EXPECT_THAT(said(), HasSubstr("not extern \"C\""));
  operation.reference.clear();
  operation.buffers.emplace_back().name = "X";
  operation.buffers.front().kernel = ReferenceLaunch{"fill", {}, {}, {count}};
  EXPECT_THAT(said(), HasSubstr("kernel 'fill' has 2 parameters"));
}

TEST(Operations, TemplatesCompileInTheirExtremes) {
  const TestFolder folder;
  const Builder builder(shared_cubins(folder), find_toolkit().value());
  for (const auto& path : operation_files()) {
    const auto operation = operation::load_operation(path);
    ASSERT_TRUE(operation) << operation.error().text();
    for (const auto& dtype : dtypes_of(*operation)) {
      const auto problem = operation::make_problem(*operation, usual_sizes(*operation), dtype);
      ASSERT_TRUE(problem) << problem.error().text();
      for (const auto& definition : templates_of(path, *operation)) {
        ASSERT_TRUE(definition) << definition.error().text();
        // What a template for Hopper does better is not tried there: such ones are compiled for Ada.
        DeviceInfo device = architecture_info("sm_90a").value();
        auto enumeration = space::legal_variants(*definition, *problem, device);
        if (enumeration && enumeration->variants.empty()) {
          device = architecture_info("sm_89").value();
          enumeration = space::legal_variants(*definition, *problem, device);
        }
        ASSERT_TRUE(enumeration) << enumeration.error().text();
        ASSERT_FALSE(enumeration->variants.empty()) << definition->name;
        // Types differ in how an element is loaded and stored, which the first one's extremes do not: one for each.
        const std::size_t most = dtype == dtypes_of(*operation).front() ? kMaxExtremes : 1;
        for (const Variant& variant : extreme_variants(*definition, enumeration->variants, most)) {
          const auto plan = space::make_launch_plan(*definition, variant, *problem, device);
          ASSERT_TRUE(plan) << plan.error().text();
          const auto defines = space::make_defines(*definition, variant, *problem, device);
          ASSERT_TRUE(defines) << defines.error().text();
          const auto built =
              builder.build({1, variant, definition->source, *defines, device.architecture, kernel_calls(*plan)});
          ASSERT_TRUE(built) << built.error().text();
          ASSERT_EQ(built->outcome.kind, OutcomeKind::kOk) << variant.key() << ": " << built->outcome.reason;
          EXPECT_EQ(built->build.spill_bytes, 0) << definition->name << " " << variant.key();
        }
      }
    }
  }
}

// ptxas gives up where the accumulators of one wgmma do not fit what launch bounds leave a thread at the start, however
// many registers the consumers are given later.
TEST(Operations, TheWidestTileOfTwoCtasCompilesAndWiderOnesAreRefused) {
  const DeviceInfo device = architecture_info("sm_90a").value();
  const std::filesystem::path path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "operations/gemm_grouped.json";
  const auto operation = operation::load_operation(path).value();
  const auto problem = operation::make_problem(operation, usual_sizes(operation), Dtype::kBf16).value();
  const auto definition = templates_of(path, operation).front().value();
  ASSERT_EQ(definition.name, "gemm_grouped_wgmma");
  const auto variant = [&](int columns, int stages) {
    return space::parse_variant(definition,
                                fmt::format("BM=64,BN={},WARPGROUPS_M=1,CTAS_PER_SM=2,STAGES={}", columns, stages))
        .value();
  };
  for (const auto& [columns, stages] : {std::pair{208, 3}, {224, 3}, {240, 2}, {256, 2}}) {
    const auto reason = space::why_illegal(definition, variant(columns, stages), problem, device).value();
    ASSERT_TRUE(reason) << columns;
    EXPECT_THAT(*reason, HasSubstr("that a thread starts with"));
  }
  const Variant widest = variant(192, 3);
  EXPECT_EQ(space::why_illegal(definition, widest, problem, device).value(), std::nullopt);
  const TestFolder folder;
  const Builder builder(shared_cubins(folder), find_toolkit().value());
  const auto defines = space::make_defines(definition, widest, problem, device).value();
  const auto built = builder.build({1, widest, definition.source, defines, device.architecture});
  ASSERT_TRUE(built) << built.error().text();
  EXPECT_EQ(built->outcome.kind, OutcomeKind::kOk) << built->outcome.reason;
  EXPECT_EQ(built->build.spill_bytes, 0);
}

}  // namespace
}  // namespace pgtune::gpu
