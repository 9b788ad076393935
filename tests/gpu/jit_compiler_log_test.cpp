// SPDX-License-Identifier: MIT
// Reading the compiler's log: resources, hazards, first error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tuner/gpu/jit/builder.hpp"

namespace pgtune::gpu {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr std::string_view kTwoKernels =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'reduce' for 'sm_90a'\n"
    "ptxas info    : Function properties for reduce\n"
    "ptxas         .     32 bytes stack frame, 36 bytes spill stores, 28 bytes spill loads\n"
    "ptxas info    : Used 64 registers, used 1 barriers, 32 bytes cumulative stack size\n"
    "ptxas info    : Compile time = 31.788 ms\n"
    "ptxas info    : Compiling entry function 'gemm' for 'sm_90a'\n"
    "ptxas info    : Function properties for gemm\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 1 barriers, 34816 bytes smem, 380 bytes cmem[0]\n"
    "ptxas info    : Compile time = 34.673 ms\n";

TEST(ParseResources, ReadsEveryKernel) {
  const auto kernels = parse_resources(kTwoKernels);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].symbol, "reduce");
  EXPECT_EQ(kernels[0].registers, 64);
  EXPECT_EQ(kernels[0].stack_bytes, 32);
  EXPECT_EQ(kernels[0].spill_bytes, 64);
  EXPECT_EQ(kernels[0].static_smem_bytes, 0);
  EXPECT_EQ(kernels[1].symbol, "gemm");
  EXPECT_EQ(kernels[1].registers, 168);
  EXPECT_EQ(kernels[1].stack_bytes, 0);
  EXPECT_EQ(kernels[1].spill_bytes, 0);
  EXPECT_EQ(kernels[1].static_smem_bytes, 34816);
}

TEST(ParseResources, CountsTheLargestOfAKernelAndItsFunctions) {
  const auto kernels = parse_resources(
      "ptxas info    : Compiling entry function 'gemm' for 'sm_80'\n"
      "ptxas info    : Function properties for gemm\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, 512 bytes smem\n"
      "ptxas info    : Function properties for helper\n"
      "    48 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].registers, 40);
  EXPECT_EQ(kernels[0].stack_bytes, 48);
  EXPECT_EQ(kernels[0].spill_bytes, 8);
}

TEST(ParseResources, EmptyWithoutPtxasLines) {
  EXPECT_TRUE(parse_resources("").empty());
  EXPECT_TRUE(parse_resources("kernel.cu(1): warning #177-D: variable \"registers\" was declared\n").empty());
}

TEST(FindHazard, SerialisedWgmma) {
  const auto hazard =
      find_hazard(std::string(kTwoKernels) +
                  "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are "
                  "serialized due to insufficient register resources in the function 'gemm'\n");
  ASSERT_TRUE(hazard);
  EXPECT_THAT(*hazard, HasSubstr("C7511"));
  EXPECT_THAT(*hazard, EndsWith("'gemm'"));
}

TEST(FindHazard, IgnoredSetmaxnreg) {
  EXPECT_TRUE(
      find_hazard("ptxas info : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum "
                  "register requirements."));
}

TEST(FindHazard, NothingInAGoodLog) {
  EXPECT_FALSE(find_hazard(kTwoKernels));
  EXPECT_FALSE(find_hazard("kernel.cu(1): warning #177-D: variable \"wgmma\" was declared but never referenced"));
}

TEST(FindFirstError, FrontEndErrorWithFileAndLine) {
  EXPECT_EQ(find_first_error("kernel.cu(1): warning #177-D: variable \"error\" was declared\n"
                             "  int error = 3;\n"
                             "kernel.cu(7): error: identifier \"BM\" is undefined\n"
                             "kernel.cu(9): error: identifier \"BN\" is undefined\n"
                             "2 errors detected in the compilation of \"kernel.cu\".\n"),
            "kernel.cu(7): error: identifier \"BM\" is undefined");
}

TEST(FindFirstError, OtherForms) {
  EXPECT_EQ(find_first_error("kernel.cu(2): catastrophic error: #error directive: no\n"),
            "kernel.cu(2): catastrophic error: #error directive: no");
  EXPECT_EQ(find_first_error("k.cu(2): error #20: identifier \"x\" is undefined\r\n"),
            "k.cu(2): error #20: identifier \"x\" is undefined");
  EXPECT_EQ(find_first_error("ptxas application ptx input, line 24; error   : Unknown modifier '.instr'\n"),
            "ptxas application ptx input, line 24; error   : Unknown modifier '.instr'");
  EXPECT_EQ(find_first_error("ptxas fatal   : Ptx assembly aborted due to errors"),
            "ptxas fatal   : Ptx assembly aborted due to errors");
  EXPECT_EQ(find_first_error("nvrtc: error: invalid value for --gpu-architecture (-arch)\n"),
            "nvrtc: error: invalid value for --gpu-architecture (-arch)");
}

TEST(FindFirstError, NothingWithoutAnErrorLine) {
  EXPECT_FALSE(find_first_error(""));
  EXPECT_FALSE(find_first_error("1 catastrophic error detected in the compilation of \"kernel.cu\".\n"));
  EXPECT_FALSE(find_first_error(kTwoKernels));
}

TEST(ExplainUndefinedLabel, LeavesOtherErrorsAlone) {
  for (const char* error : {"k.cu(2): error: identifier \"BM\" is undefined", "k.cu(2): error: expected a \";\"",
                            "k.cu(2): error: identifier \"MY_LABEL_x\" is undefined"})
    EXPECT_FALSE(explain_undefined_label(error, {{"LABEL_x", "1"}})) << error;
}

TEST(ExplainUndefinedLabel, IsShortened) {
  std::vector<Define> defines;
  for (int i = 0; i < 200; ++i) defines.push_back({"LABEL_label" + std::to_string(i), "1"});
  const auto reason = explain_undefined_label("k.cu(2): error: identifier \"LABEL_n\" is undefined", defines);
  ASSERT_TRUE(reason);
  EXPECT_LE(reason->size(), kMaxReasonBytes);
  EXPECT_THAT(*reason, EndsWith("..."));
}

TEST(FindFirstError, IsShortenedBetweenCharacters) {
  std::string line = "kernel.cu(1): error: ";
  while (line.size() < 2 * kMaxReasonBytes) line += "\xc3\xa4";
  for (const std::string_view prefix : {"", "x"}) {
    const auto error = find_first_error(std::string(prefix) + line);
    ASSERT_TRUE(error);
    EXPECT_LE(error->size(), kMaxReasonBytes);
    EXPECT_THAT(*error, EndsWith("\xa4..."));
  }
}

}  // namespace
}  // namespace pgtune::gpu
