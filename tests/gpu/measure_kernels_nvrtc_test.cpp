// SPDX-License-Identifier: MIT
// The measuring worker's own kernels, those that a baseline copies operands with too, compile for every architecture
// pgtune knows; needs no GPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tuner/gpu/baseline/baseline_operands.hpp"
#include "tuner/gpu/jit/nvrtc.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

TEST(MeasureKernels, CompileForEveryArchitecture) {
  const fs::path folder = PGTUNE_SOURCE_DIR "/tuner/gpu/measure/check";
  TemplateSource source{"kernels.cu", read_file(folder / "kernels.cu").value(), {}};
  for (const auto& header : fs::directory_iterator(folder / "kernels"))
    source.headers.push_back({fs::relative(header.path(), folder).string(), read_file(header.path()).value()});
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100a", "sm_120a"}) {
    auto program = NvrtcProgram::create(source);
    ASSERT_TRUE(program) << program.error().text();
    const Compilation compiled =
        program->compile({std::string("--gpu-architecture=") + architecture, "--std=c++17", "-default-device"});
    EXPECT_EQ(compiled.status, NVRTC_SUCCESS) << architecture << ": " << compiled.log;
    EXPECT_EQ(compiled.log.find("warning"), std::string::npos) << compiled.log;
    for (const char* kernel : {"fill_pattern", "copy_matrix", "checksum", "count_changed_bytes", "read_clocks",
                               "rewrite", "hold", "fill_tensor", "compare_tensor", "sum_tensor", "store_result",
                               "clear_pieces", "count_unwritten", "copy_words8_streaming"}) {
      EXPECT_NE(compiled.cubin.find(kernel), std::string::npos) << architecture << " lacks " << kernel;
    }
  }
}

TEST(OperandCopyKernels, CompileForEveryArchitecture) {
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100a", "sm_120a"}) {
    const auto cubin = OperandCopyKernels::compile(architecture);
    ASSERT_TRUE(cubin) << cubin.error().text();
    for (const char* kernel : {"lay_out_operands", "copy_rows"})
      EXPECT_NE(cubin->find(kernel), std::string::npos) << architecture << " lacks " << kernel;
  }
}

}  // namespace
}  // namespace pgtune::gpu
