// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/header_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pgtune::tool {
namespace {

using testing::HasSubstr;

HeaderRow row_for(const char* shape, const char* layout, std::int64_t bm, const std::string& device = "NVIDIA H200") {
  HeaderRow row;
  row.device.name = device;
  row.device.uuid = "GPU-1";
  row.device.driver_version = "580.1";
  row.problem = parse_shape(shape)
                    .and_then([&](Problem p) { return with_layout(p, layout); })
                    .and_then(with_default_strides)
                    .value();
  row.variant = {
      "sgemm_simt",
      {{"BM", bm}, {"COPY", std::string("cp_async")}, {"device", std::int64_t{7}}, {"union", std::int64_t{3}}}};
  row.template_hash = "0123456789abcdef";
  row.source = Source::kGpu;
  row.finished_at = "2026-01-02T03:04:05Z";
  row.time_s = 2.7e-3;
  row.tflops = 50.9;
  row.ratio = 0.987;
  row.ratio_low = 0.98;
  row.ratio_high = 0.99;
  return row;
}

std::vector<HeaderRow> sample_rows() {
  HeaderRow replayed = row_for("1000x1000x1000", "tn", 64);
  replayed.source = Source::kReplay;
  replayed.problem.alpha = 0.1;
  HeaderRow fused = row_for("512x512x512", "nn", 32);
  fused.problem.epilogue = {true, Activation::kSilu};
  return {row_for("4096x4096x4096", "nn", 128), replayed, fused,
          row_for("4096x4096x4096", "nn", 256, "A \"quoted\\ name")};
}

/// A program that fails to compile or run unless the header's table and lookup are right.
constexpr const char* kConsumer = R"(#include "best.hpp"
#include "best.hpp"  // self-contained and guarded
using namespace my::gemm;
static_assert(sizeof(kSgemmSimtTable) / sizeof(kSgemmSimtTable[0]) == 4);
constexpr auto* found = find_sgemm_simt("NVIDIA H200", packed_problem(4096, 4096, 4096));
static_assert(found->BM == 128 && found->COPY == "cp_async");
static_assert(found->device == "NVIDIA H200" && found->device_ == 7 && found->union_ == 3);
static_assert(find_sgemm_simt("NVIDIA H200", packed_problem(4096, 4096, 4097)) == nullptr);
static_assert(find_sgemm_simt("NVIDIA H100", packed_problem(4096, 4096, 4096)) == nullptr);
constexpr Problem scaled() { Problem p = packed_problem(1000, 1000, 1000, "tn"); p.alpha = 0.1; return p; }
static_assert(find_sgemm_simt("NVIDIA H200", scaled())->BM == 64);
static_assert(find_sgemm_simt("A \"quoted\\ name", packed_problem(4096, 4096, 4096))->BM == 256);
constexpr Problem fused() { Problem p = packed_problem(512, 512, 512); p.epilogue = "bias+silu"; return p; }
static_assert(find_sgemm_simt("NVIDIA H200", fused())->BM == 32);
static_assert(find_sgemm_simt("NVIDIA H200", packed_problem(512, 512, 512)) == nullptr);
int main() { return found->BM == 128 ? 0 : 1; }
)";

/// Runs a compiler over the header and its consumer; returns the shell's status.
int compile_with(const std::string& command) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("header_writer_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "best.hpp") << write_header(sample_rows(), "my::gemm");
  std::ofstream(folder / "consumer.cpp") << kConsumer;
  std::ofstream(folder / "consumer.cu") << kConsumer;
  const int status = std::system(("cd '" + folder.string() + "' && " + command).c_str());
  std::filesystem::remove_all(folder);
  return status;
}

TEST(WriteHeader, CompilesAsCxx17AndLooksUp) {
  EXPECT_EQ(compile_with("c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror consumer.cpp -o consumer && ./consumer"), 0);
}

TEST(WriteHeader, CompilesWithNvcc) {
  if (std::system("nvcc --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no working nvcc on PATH";
  EXPECT_EQ(compile_with("nvcc -std=c++17 -Werror all-warnings -c consumer.cu -o consumer.o"), 0);
}

TEST(WriteHeader, SaysWhatTheElementsOfEachDtypeAre) {
  const std::string text = write_header(sample_rows(), "best");
  for (const Dtype dtype : all_dtypes())
    EXPECT_THAT(text, HasSubstr("\n///   \"" + std::string(to_string(dtype)) + "\": A")) << to_string(dtype);
  EXPECT_THAT(text, HasSubstr("\"tf32x3\": A and B float; C and D float\n"));
  EXPECT_THAT(text, HasSubstr("\"bf16\": A and B __nv_bfloat16; C and D __nv_bfloat16, or float for `out` \"f32\"\n"));
  EXPECT_THAT(text, HasSubstr("\"e5m2\": A __nv_fp8_e5m2, B __nv_fp8_e4m3; C and D __nv_bfloat16\n"));
}

TEST(WriteHeader, MarksWhatIsUnsettledBesideItsFigures) {
  EXPECT_THAT(write_header(sample_rows(), "best"), testing::Not(HasSubstr("unsettled")));
  HeaderRow row = row_for("4096x4096x4096", "nn", 128);
  row.sampling = Sampling::kUnsettled;
  EXPECT_THAT(write_header({row}, "best"), HasSubstr("[0.980, 0.990]\n    // unsettled: measured in short samples"));
}

TEST(WriteHeader, CarriesProvenance) {
  const std::string text = write_header(sample_rows(), "best");
  EXPECT_THAT(text, HasSubstr("4096x4096x4096 f32 nn: 2.7 ms, 50.9 TFLOP/s, 0.987 of cuBLASLt [0.980, 0.990]"));
  EXPECT_THAT(text, HasSubstr("GPU-1, driver 580.1, 2026-01-02T03:04:05Z, template 0123456789ab"));
  EXPECT_THAT(text, HasSubstr("from a REPLAY of a recording"));
}

}  // namespace
}  // namespace pgtune::tool
