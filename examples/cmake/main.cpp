// SPDX-License-Identifier: MIT
// One product of matrices of ones by an exported kernel: gemm_example [M N K], in bf16, B stored transposed. Without
// extents it is the first such problem that was tuned.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "best_gemm.hpp"

namespace {

constexpr std::uint16_t kOne = 0x3f80;  // in bf16

/// CUDA's own calls, for which an example has no better answer.
void must(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: CUDA error %d\n", what, static_cast<int>(code));
  std::exit(1);
}

CUdeviceptr allocate(std::size_t bytes) {
  CUdeviceptr out = 0;
  must(cuMemAlloc(&out, bytes > 0 ? bytes : 1), "allocating");
  return out;
}

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }

bool find_problem(best_gemm::Problem& problem) {
  int count = 0;
  const best_gemm::Entry* const entries = best_gemm::entries(&count);
  for (int i = 0; i < count; ++i) {
    problem = entries[i].problem;
    if (problem.type == best_gemm::Type::bf16 && problem.layout == best_gemm::Layout::nt && problem.batch == 1 &&
        problem.out == best_gemm::Element::bf16 && !problem.epilogue.bias && !entries[i].adds_c)
      return true;
  }
  return false;
}

int fail(best_gemm::Status status) {
  std::fprintf(stderr, "%s\n", best_gemm::text(status));
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  best_gemm::Problem problem{best_gemm::Type::bf16, best_gemm::Layout::nt, 0, 0, 0};
  if (count == 4) {
    problem.m = std::atoll(arguments[1]), problem.n = std::atoll(arguments[2]), problem.k = std::atoll(arguments[3]);
  } else if (!find_problem(problem)) {
    std::fprintf(stderr, "no such problem was tuned; give M N K\n");
    return 1;
  }

  must(cuInit(0), "starting CUDA");
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  must(cuDeviceGet(&device, 0), "the device");
  must(cuDevicePrimaryCtxRetain(&context, device), "the context");
  must(cuCtxSetCurrent(context), "the context");
  must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "a stream");

  best_gemm::Status status = best_gemm::Gemm::prepare(0);  // loads the kernels: once, at the start
  if (status != best_gemm::Status::ok) return fail(status);

  const auto elements = [](std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(rows * columns);
  };
  const CUdeviceptr a = allocate(2 * elements(problem.m, problem.k)), b = allocate(2 * elements(problem.n, problem.k)),
                    d = allocate(2 * elements(problem.m, problem.n));
  must(cuMemsetD16(a, kOne, elements(problem.m, problem.k)), "filling A");
  must(cuMemsetD16(b, kOne, elements(problem.n, problem.k)), "filling B");
  best_gemm::Operands operands;
  operands.a = pointer(a), operands.b = pointer(b), operands.d = pointer(d);

  best_gemm::Gemm gemm;  // for this shape and alignment; to be kept
  status = best_gemm::Gemm::select(problem, operands, 0, {}, gemm);
  if (status != best_gemm::Status::ok) return fail(status);
  const CUdeviceptr workspace = allocate(gemm.workspace_bytes());
  status = gemm.run(operands, pointer(workspace), gemm.workspace_bytes(), stream);
  if (status != best_gemm::Status::ok) return fail(status);
  must(cuStreamSynchronize(stream), "running");

  std::uint16_t last = 0;
  must(cuMemcpyDtoH(&last, d + 2 * (elements(problem.m, problem.n) - 1), sizeof last), "reading D");
  const std::uint32_t bits = std::uint32_t{last} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  std::printf("%lldx%lldx%lld: %s; the last element is %g, and K %lld\n", static_cast<long long>(problem.m),
              static_cast<long long>(problem.n), static_cast<long long>(problem.k), gemm.choice().why,
              static_cast<double>(value), static_cast<long long>(problem.k));
  for (const CUdeviceptr memory : {a, b, d, workspace}) must(cuMemFree(memory), "freeing");
  must(cuStreamDestroy(stream), "the stream");
  return 0;
}
