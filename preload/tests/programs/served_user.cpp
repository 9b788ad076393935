// SPDX-License-Identifier: MIT
// A program whose GEMM is tuned: HOW M N K LAYOUT TYPE. It prints which function of the fake cuBLAS it reached, and how
// many launches the fake driver saw.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "preload/tests/programs/cublas.hpp"
#include "tests/exported/fake_cuda.hpp"

namespace {

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

struct Call {
  int m, n, k;  ///< row-major
  bool trans_a, trans_b;
  int type;
  float alpha = 1, beta = 0;
  int beta_of_integers = 1;
  int algorithm = 99;
  void *a = at(0x10000000), *b = at(0x20000000), *d = at(0x40000000);
};

int gemm(void* handle, const Call& c) {
  constexpr int kF32 = 0, kI8 = 3, kI32 = 10, kSum32 = 68, kSumI32 = 72;
  const int lda = c.trans_a ? c.m : c.k, ldb = c.trans_b ? c.k : c.n;
  void *const a = c.a, *const b = c.b, *const d = c.d;
  if (c.type == kF32)
    return cublasSgemm_v2(handle, c.trans_b, c.trans_a, c.n, c.m, c.k, &c.alpha, b, ldb, a, lda, &c.beta, d, c.n);
  if (c.type == kI8) {
    const int alpha = 1;
    return cublasGemmEx(handle, c.trans_b, c.trans_a, c.n, c.m, c.k, &alpha, b, kI8, ldb, a, kI8, lda,
                        &c.beta_of_integers, d, kI32, c.n, kSumI32, 99);
  }
  return cublasGemmEx(handle, c.trans_b, c.trans_a, c.n, c.m, c.k, &c.alpha, b, c.type, ldb, a, c.type, lda, &c.beta, d,
                      c.type, c.n, kSum32, c.algorithm);
}

int lt(void* handle, const Call& c, int fill_mode) {
  const auto word = [](int value) { return static_cast<std::uint64_t>(value); };
  const auto layout = [&](int rows, int cols) {
    return FakeLtDescriptor{{word(c.type), 0, word(rows), word(cols), word(rows), 1}};
  };
  const FakeLtDescriptor desc{{68, 0, 0, c.trans_b, c.trans_a, 0, word(fill_mode), 1}};
  const FakeLtDescriptor a = c.trans_b ? layout(c.k, c.n) : layout(c.n, c.k),
                         b = c.trans_a ? layout(c.m, c.k) : layout(c.k, c.m), d = layout(c.n, c.m);
  return cublasLtMatmul(handle, &desc, &c.alpha, at(0x20000000), &a, at(0x10000000), &b, &c.beta, at(0x40000000), &d,
                        at(0x40000000), &d, nullptr, at(0x60000000), std::size_t{1} << 34, fake_stream(0, false));
}

int print(int status) {
  std::printf("%d %s, %s, %d launches%s%s\n", status, fake_cublas_called(), fake_cublaslt_called(),
              fake_cuda()->launches.load(), fake_cuda()->capture_broken ? ", capture broken" : "",
              fake_cuda()->pooled != 0 ? ", memory kept" : "");
  return std::fflush(stdout);
}

}  // namespace

int main(int, char** arguments) {
  const std::string how = arguments[1], layout = arguments[5];
  Call call{std::atoi(arguments[2]), std::atoi(arguments[3]), std::atoi(arguments[4]),
            layout[0] == 't',        layout[1] == 't',        std::atoi(arguments[6])};
  CUcontext context = nullptr;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  void* handle = nullptr;
  cublasCreate_v2(&handle);
  const bool in_other_context = how.find("other_context") != std::string::npos;
  cublasSetStream_v2(handle, fake_stream(0, in_other_context));
  cublasSetWorkspace_v2(handle, at(0x60000000), std::size_t{1} << 34);
  if (how.find("no_workspace") == 0) cublasSetStream_v2(handle, fake_stream(0, in_other_context));
  if (how == "late_context") cublasSetStream_v2(handle, nullptr);
  if (how == "alpha") call.alpha = 0.5F;
  if (how == "overflowing") call.beta_of_integers = (1 << 24) + 1;  // no float
  if (how == "refused") call.algorithm = 1000;                      // cuBLAS has none of this number
  if (how == "misaligned") call.a = at(0x10000008);
  // The fake driver computes nothing: a result that is checked keeps the NaN that it began with, as this one does.
  const auto elements = [&](int rows, int columns) { return std::size_t(rows) * std::size_t(columns) * 4; };
  if (how == "right" || how == "wrong" || how == "refused") {
    call.a = std::calloc(elements(call.m, call.k), 1), call.b = std::calloc(elements(call.k, call.n), 1);
    call.d = std::malloc(elements(call.m, call.n));
    std::memset(call.d, how == "right" ? 0xFF : 0, elements(call.m, call.n));
  }
  if (how == "no_workspace_no_memory") fake_cuda()->pool_bytes = 0;
  if (how == "capture" || how == "no_workspace_captured") fake_cuda()->capturing = true;
  if (how == "unprepared") fake_cuda()->load_result = 1;
  if (how.find("failing") == 0) fake_cuda()->launch_result = 700;
  if (how == "failing_in_place" || how == "adding") call.beta = 0.5F;
  if (how == "failing_in_place" || how == "failing_once") return print(gemm(handle, call));
  if (how == "exit") return 7;
  constexpr int kLower = 0, kFull = 2;
  int status = 0;
  for (int i = 0; i < 3; ++i) {
    if (how == "late_context") cuCtxSetCurrent(i == 0 ? nullptr : context);  // as cuBLAS's first call does
    status = how == "lt" ? lt(handle, call, kFull) : how == "lower" ? lt(handle, call, kLower) : gemm(handle, call);
  }
  if (how == "fork") {
    if (fork() == 0) {
      gemm(handle, call);
      print(0);
      _exit(0);
    }
    wait(nullptr);
  }
  return print(status);
}
