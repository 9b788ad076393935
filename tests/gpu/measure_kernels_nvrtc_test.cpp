// SPDX-License-Identifier: MIT
// The measuring worker's own kernels compile for every architecture pgtune knows; needs no GPU.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tuner/gpu/jit/nvrtc_program.hpp"

namespace pgtune::gpu {
namespace {

TEST(MeasureKernels, CompileForEveryArchitecture) {
  std::ifstream file(PGTUNE_SOURCE_DIR "/tuner/gpu/measure/kernels.cu");
  std::stringstream source;
  source << file.rdbuf();
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100a", "sm_120a"}) {
    auto program = NvrtcProgram::create({"kernels.cu", source.str(), {}});
    ASSERT_TRUE(program) << program.error().text();
    const Compilation compiled =
        program->compile({std::string("--gpu-architecture=") + architecture, "--std=c++17", "--no-cache"});
    EXPECT_EQ(compiled.status, NVRTC_SUCCESS) << architecture << ": " << compiled.log;
    EXPECT_EQ(compiled.log.find("warning"), std::string::npos) << compiled.log;
    for (const char* kernel : {"fill_pattern", "fill_data", "copy_along_k", "checksum", "count_changed_bytes",
                               "reference_float64", "compare", "read_clocks"}) {
      EXPECT_NE(compiled.cubin.find(kernel), std::string::npos) << architecture << " lacks " << kernel;
    }
  }
}

}  // namespace
}  // namespace pgtune::gpu
