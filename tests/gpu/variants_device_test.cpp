// SPDX-License-Identifier: MIT
// Representative variants of every template, each launched once on a small ragged problem and checked. Nothing is
// timed, so that compute-sanitizer can watch (scripts/sanitize-gpu); its tools slow a launch down ten to a hundred
// times.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/launching_gpu.hpp"
#include "tests/gpu/template_cases.hpp"
#include "tests/gpu/variant_cases.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kVariantsPerProblem = 4;

ParameterValue& value_of(Variant& variant, std::string_view name) {
  return std::find_if(variant.parameters.begin(), variant.parameters.end(),
                      [&](const Assignment& parameter) { return parameter.name == name; })
      ->value;
}

class VariantsOnDevice : public testing::TestWithParam<fs::path>, protected LaunchingGpu {
 protected:
  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
    auto definition = space::load_template(GetParam(), shipped_header);
    ASSERT_TRUE(definition) << definition.error().text();
    definition_ = std::move(*definition);
    definition_.preset.clear();  // what is legal, not only what a search tries
  }

  /// The default variant's neighbours and the extremes that are legal for `problem`, of those with `fixed` if it is
  /// given.
  [[nodiscard]] std::vector<Variant> chosen(const Problem& problem, const Assignment* fixed) const {
    auto space = space::legal_variants(definition_, problem, info_);
    EXPECT_TRUE(space) << space.error().text();
    if (!space) return {};
    std::vector<Variant>& legal = space->variants;
    if (fixed != nullptr) {
      std::erase_if(legal, [&](const Variant& variant) { return *variant.find(fixed->name) != fixed->value; });
    }
    if (legal.empty()) return {};
    std::vector<Variant> variants = extreme_variants(definition_, legal, kVariantsPerProblem - 1);
    const auto usual = nearest(legal, definition_.default_variant(), nullptr);
    if (std::find(variants.begin(), variants.end(), *usual) == variants.end()) variants.push_back(*usual);
    return variants;
  }

  /// The small problems in each dtype and output type.
  [[nodiscard]] std::vector<Problem> problems() const {
    std::vector<Problem> all;
    for (const Problem& types : types_of(definition_)) {
      for (const Problem& problem : small_problems()) all.push_back(with_types(problem, types));
    }
    return all;
  }

  /// Those with an epilogue, in the first and in the last of the types.
  [[nodiscard]] std::vector<Problem> fused() const {
    std::vector<Problem> all, types = types_of(definition_);
    std::erase_if(types, [](const Problem& problem) { return problem.dtype == Dtype::kInt8; });  // has none
    for (const Epilogue& epilogue : epilogues_of(definition_)) {
      for (const Problem& problem : fused_problems(epilogue)) {
        all.push_back(with_types(problem, types.front()));
        all.push_back(with_types(problem, types.back()));
      }
    }
    return all;
  }

  /// Each of the schedules that is legal, with `fixed` if it is given, and with fewer stages or shorter vectors where
  /// so many or so long ones do not fit.
  [[nodiscard]] std::vector<Variant> like(const std::vector<const char*>& schedules, const Problem& problem,
                                          const Assignment* fixed) const {
    std::vector<Variant> variants;
    for (const char* text : schedules) {
      Variant variant = space::parse_variant(definition_, text).value();
      if (fixed != nullptr) value_of(variant, fixed->name) = fixed->value;
      const bool staged = variant.find("STAGES") != nullptr;
      ParameterValue& lowered = value_of(variant, staged ? "STAGES" : "VEC_BYTES");
      for (std::int64_t most = std::get<std::int64_t>(lowered); most > (staged ? 1 : 0);
           most = staged ? most - 1 : most / 2) {
        lowered = most;
        if (space::why_illegal(definition_, variant, problem, info_) != std::nullopt) continue;
        variants.push_back(variant);
        break;
      }
    }
    return variants;
  }

  /// Of all variants, or of those with a parameter's value; chosen() from them, or like() schedules of a template.
  void expect_right(const std::vector<Problem>& problems, const Assignment* fixed = nullptr,
                    const std::vector<const char*>* schedules = nullptr) {
    for (const Problem& problem : problems) {
      const std::vector<Variant> variants =
          schedules != nullptr ? like(*schedules, problem, fixed) : chosen(problem, fixed);
      if (variants.empty()) continue;
      const auto own = operation_kernels(driver_, *kernels_, problem, info_.architecture);
      const auto buffers = OperandBuffers::allocate(*kernels_, *own, {}, 1, stream_.get());
      ASSERT_TRUE(buffers);
      const auto checker = Checker::create(*kernels_, *buffers, *own, stream_.get());
      ASSERT_TRUE(checker);
      const std::vector<Result<Built>> built = build(definition_, variants, problem);
      for (std::size_t i = 0; i < variants.size(); ++i) {
        SCOPED_TRACE(problem.title() + " " + variants[i].key());
        launch_once(built[i], *buffers, **checker);
        if (HasFatalFailure()) return;
      }
    }
    if (launched_ == 0) GTEST_SKIP() << "no variant is legal for these problems on this GPU";
    fmt::print("launched {} variants of {}\n", launched_, definition_.name);
  }

  void launch_once(const Result<Built>& built, const OperandBuffers& buffers, Checker& checker) {
    ASSERT_TRUE(built) << built.error().text();
    const auto loaded = load(*built, buffers.copies());
    ASSERT_TRUE(loaded) << loaded.error().text;
    const auto verdict = checker.check(**loaded);
    ASSERT_TRUE(verdict) << verdict.error().text;
    EXPECT_EQ(verdict->fault, "");
    ++launched_;
  }

  space::TemplateDefinition definition_;
  int launched_ = 0;
};

TEST_P(VariantsOnDevice, AreRightOnSmallRaggedProblems) { expect_right(problems()); }

TEST_P(VariantsOnDevice, AreRightWithEveryEpilogue) { expect_right(fused()); }

TEST_P(VariantsOnDevice, AreRightWhereRegistersTransposeAnOperand) {
  const Assignment transposed{"LEFT_SOURCE", "registers"};
  if (definition_.default_variant().find(transposed.name) == nullptr)
    GTEST_SKIP() << "nothing is transposed in registers";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_to_turn(types)) problems.push_back(problem);
  }
  expect_right(problems, &transposed);
}

// The CTAs' shares of a narrow tile are then no multiples of eight lines, the length of a swizzle's pattern.
TEST_P(VariantsOnDevice, AreRightWhereFourCtasShareATile) {
  const Assignment shared{"CLUSTER_M", 4};
  if (definition_.default_variant().find(shared.name) == nullptr) GTEST_SKIP() << "has no clusters";
  expect_right(problems(), &shared);
}

TEST_P(VariantsOnDevice, AreRightWhereCIsCopiedWhileMultiplying) {
  if (definition_.name != "gemm_wgmma") GTEST_SKIP() << "reads C when it stores D";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_with_c(types)) problems.push_back(problem);
  }
  const Assignment copied{"C_SOURCE", "shared"}, boxes{"D_BUFFERS", 4};
  expect_right(problems, &copied, &kSchedules);
  expect_right(problems, &boxes, &kSchedules);
}

TEST_P(VariantsOnDevice, AreRightWhereThreadsCopyOperandsOfAnyPitch) {
  const Assignment copied{"COPY", "cp_async"};
  const bool by_ffma = definition_.name == "sgemm_tma";
  if (!by_ffma && definition_.name != "gemm_wgmma") GTEST_SKIP() << "copies in one way";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_of_any_pitch(types)) problems.push_back(problem);
  }
  if (by_ffma) {
    for (const Problem& problem : problems_of_many_odd_lines()) problems.push_back(problem);
  }
  expect_right(problems, &copied, by_ffma ? &kCopyingProducers : &kSchedules);
}

TEST_P(VariantsOnDevice, AreRightWhereCtasFinishOddSlices) {
  if (definition_.name != "gemm_wgmma") GTEST_SKIP() << "slices are multiples of 16 columns";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const char* shape : {"130x216x2080", "128x451x2080"}) {
      Problem problem = problem_of(shape, "nt");
      problem.beta = -2;
      problems.push_back(with_types(problem, types));
    }
  }
  expect_right(problems, nullptr, &kOddSlices);
}

TEST_P(VariantsOnDevice, AreRightWhereRowsOfDAreStaged) {
  if (definition_.name != "gemm_wgmma") GTEST_SKIP() << "stores rows of D in one way";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_of_staged_rows(types)) problems.push_back(problem);
  }
  const Assignment staged{"EPILOGUE", "staged"};
  expect_right(problems, &staged, &kSchedules);
  expect_right(problems, &staged, &kManySharers);
}

// The check launches each twice, so that its counts go on where the launch before left them.
TEST_P(VariantsOnDevice, AreRightWhereManyCtasShareATile) {
  const bool by_mma = definition_.name == "gemm_mma";
  if (!by_mma && definition_.name != "gemm_wgmma") GTEST_SKIP() << "eight share a tile at most";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const auto& [shape, layout] :
         {std::pair{"72x56x8320", "tn"}, std::pair{"72x120x8320", "nt"}, std::pair{"24x40x8320", "tt"},
          std::pair{"42x98x8320", "nn"}, std::pair{"48x56x33280", "nt"}}) {
      Problem problem = problem_of(shape, layout);
      problem.beta = -2;
      problems.push_back(with_types(problem, types));
    }
  }
  expect_right(problems, nullptr, by_mma ? &kMmaSharers : &kManySharers);
}

TEST_P(VariantsOnDevice, AreRightWhereMoreRowsAreSwapped) {
  if (definition_.name != "gemm_wgmma") GTEST_SKIP() << "swaps no operands, or those of few rows alone";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const auto& [shape, layout] :
         {std::pair{"88x1296x2080", "nt"}, std::pair{"91x1296x2080", "nt"}, std::pair{"200x1296x2080", "nn"},
          std::pair{"331x1296x2080", "nt"}, std::pair{"96x1299x2080", "tn"}}) {
      Problem problem = problem_of(shape, layout);
      problem.beta = -2;
      problems.push_back(with_types(problem, types));
    }
  }
  for (const char* way : {"tma", "staged", "direct"}) {
    const Assignment stored{"EPILOGUE", way};
    expect_right(problems, &stored, &kSwappedRows);
  }
}

TEST_P(VariantsOnDevice, AreRightWhereDHasFewRowsOrColumns) {
  if (definition_.name != "gemm_skinny") GTEST_SKIP() << "is for more rows and columns";
  std::vector<Problem> problems;
  for (const Problem& types : types_of(definition_)) {
    for (const Problem& problem : problems_of_few_vectors(types)) problems.push_back(problem);
  }
  expect_right(problems, nullptr, &kLineSharers);
}

// A grid's y and z end at 65,535.
TEST_P(VariantsOnDevice, AreRightInBatchesBeyondAGridsY) {
  std::vector<Problem> problems;
  const std::vector<Problem> types = types_of(definition_);
  for (const char* shape : {"9x37x20", "20x24x16"}) {
    Problem problem = problem_of(shape, "nt");
    problem.batch = 65543;
    problem.beta = -2;
    problems.push_back(with_types(problem, types.front()));
    problems.push_back(with_types(problem, types.back()));
  }
  expect_right(problems);
}

INSTANTIATE_TEST_SUITE_P(All, VariantsOnDevice, testing::ValuesIn(template_files()), [](const auto& instance) {
  std::string name = instance.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace pgtune::gpu
