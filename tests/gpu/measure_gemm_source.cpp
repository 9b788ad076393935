// SPDX-License-Identifier: MIT
#include "tests/gpu/measure_gemm_source.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tuner/gpu/jit/nvrtc.hpp"

namespace pgtune::gpu {
namespace {

constexpr const char* kSource = R"(
using i64 = long long;
extern "C" __global__ void gemm(float* a, const float* b, const float* c, float* d, float* workspace, int m, int n, int k,
                                i64 row_a, i64 column_a, i64 row_b, i64 column_b, i64 ldc, i64 stride_a, i64 stride_b,
                                i64 stride_c, float alpha, float beta) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  const bool first = row == 0 && column == 0 && blockIdx.z == 0;
  if (row >= m || column >= n) return;
  a += blockIdx.z * stride_a;
  b += blockIdx.z * stride_b;
  d += blockIdx.z * stride_c;
  float sum = 0;
  int depth = k;
#ifdef MISSING_PRODUCT
  depth = k - 1;
#endif
  for (int i = 0; i < depth; ++i) {
    float left = a[row * row_a + i * column_a], right = b[i * row_b + column * column_b];
#ifdef REDUCED_PRECISION
    left = __uint_as_float(__float_as_uint(left) & 0xffffe000u);
    right = __uint_as_float(__float_as_uint(right) & 0xffffe000u);
#endif
    sum += left * right;
  }
  float value = alpha * sum;
#ifdef READ_ADDEND
  value += beta * c[blockIdx.z * stride_c + row * ldc + column];
#else
  if (beta != 0) value += beta * c[blockIdx.z * stride_c + row * ldc + column];
#endif
#ifdef WRONG_ELEMENT
  if (row == 17 && column == 3) value += 1;
#endif
#ifdef NAN_ELEMENT
  if (row == 17 && column == 3) value = __int_as_float(0x7fffffff);
#endif
#ifdef UNWRITTEN
  if (row == 17 && column == 3) return;
#endif
#ifdef NEEDS_ZERO_WORKSPACE
  if (first) { value += workspace[0]; workspace[0] += 1; }
#endif
  d[row * ldc + column] = value;
#ifdef WRITE_PADDING
  if (first) d[n + 1] = 0;
#endif
#ifdef WRITE_AFTER
  if (first) for (int i = 0; i < 3; ++i) d[gridDim.z * stride_c + i] = 0;
#endif
#ifdef WRITE_OPERAND
  if (first) a[0] += 1;
#endif
#ifdef WRITE_AFTER_WORKSPACE
  if (first) workspace[16] = 0;
#endif
#ifdef ILLEGAL_ADDRESS
  if (first) *reinterpret_cast<volatile float*>(16) = value;
#endif
#ifdef SLOW
  const i64 start = clock64();
  while (clock64() - start < SLOW) {}
#endif
}
)";

KernelArgument pointer(Operand operand) { return {.kind = ArgumentKind::kPointer, .operand = operand}; }
KernelArgument int32(std::int64_t value) { return {.kind = ArgumentKind::kInt32, .integer = value}; }
KernelArgument int64(std::int64_t value) { return {.kind = ArgumentKind::kInt64, .integer = value}; }
KernelArgument real(double value) { return {.kind = ArgumentKind::kFloat32, .real = value}; }

constexpr std::int64_t kTile = 16;
constexpr std::int64_t kWorkspaceBytes = 64;

}  // namespace

BuildInfo build_source(const TestFolder& folder, const std::string& source, const std::string& architecture,
                       const std::vector<Define>& defines) {
  static int count = 0;
  auto program = NvrtcProgram::create({"test.cu", source, {}});
  EXPECT_TRUE(program);
  std::vector<std::string> options{"--gpu-architecture=" + architecture, "--std=c++17", "-default-device"};
  for (const Define& define : defines) options.push_back("-D" + define.name + "=" + define.value);
  const Compilation compiled = program->compile(options);
  EXPECT_EQ(compiled.status, NVRTC_SUCCESS) << compiled.log;
  BuildInfo build;
  build.cubin_path = (folder.path() / (std::to_string(count++) + ".cubin")).string();
  std::ofstream(build.cubin_path, std::ios::binary) << compiled.cubin;
  return build;
}

protocol::TrialRequest gemm_trial(const TestFolder& folder, const Problem& p, const std::string& architecture,
                                  const std::string& fault) {
  std::vector<Define> defines;
  if (!fault.empty()) defines.push_back({fault, fault == "SLOW" ? "2000000" : "1"});
  protocol::TrialRequest request;
  request.built.build = build_source(folder, kSource, architecture, defines);
  KernelLaunch launch;
  launch.symbol = "gemm";
  launch.grid = {(p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile, p.batch};
  launch.block = {kTile, kTile, 1};
  launch.arguments = {pointer(Operand::kA),
                      pointer(Operand::kB),
                      pointer(Operand::kC),
                      pointer(Operand::kD),
                      pointer(Operand::kWorkspace),
                      int32(p.m),
                      int32(p.n),
                      int32(p.k),
                      int64(p.trans_a ? 1 : p.lda),
                      int64(p.trans_a ? p.lda : 1),
                      int64(p.trans_b ? 1 : p.ldb),
                      int64(p.trans_b ? p.ldb : 1),
                      int64(p.ldc),
                      int64(p.stride_a()),
                      int64(p.stride_b()),
                      int64(p.stride_c()),
                      real(p.alpha),
                      real(p.beta)};
  request.built.plan.kernels = {launch};
  request.built.plan.workspace_bytes = kWorkspaceBytes;
  return request;
}

Problem make_problem(const std::string& shape, const std::string& layout) {
  const auto problem = parse_shape(shape)
                           .and_then([&](const Problem& parsed) { return with_layout(parsed, layout); })
                           .and_then([](const Problem& parsed) { return with_default_strides(parsed); });
  EXPECT_TRUE(problem) << problem.error().text();
  return *problem;
}

std::unique_ptr<Measurer> open_measurer(std::string& why) {
  auto measurer = Measurer::open("0");
  if (measurer) return std::move(*measurer);
  why = "needs a GPU: " + measurer.error().text();
  EXPECT_EQ(measurer.error().kind, ErrorKind::kEnvironment) << why;
  return nullptr;
}

}  // namespace pgtune::gpu
