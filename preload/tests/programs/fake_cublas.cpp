// SPDX-License-Identifier: MIT
// A cuBLAS of major version MAJOR ("12") that computes nothing and remembers what was called.
#include "preload/tests/programs/cublas.hpp"

namespace {
struct Handle {
  void* stream = nullptr;
  int pointer_mode = 0, math_mode = 0;
};
const char* called = "none";
Handle& of(void* handle) { return *static_cast<Handle*>(handle); }
int note(const char* what) {
  called = what;
  return 0;
}
}  // namespace

extern "C" {
const char* fake_cublas_called() { return called; }
int cublasCreate_v2(void** handle) {
  *handle = new Handle;
  return 0;
}
int cublasDestroy_v2(void* handle) {
  delete static_cast<Handle*>(handle);
  return 0;
}
int cublasSetStream_v2(void* handle, void* stream) {
  of(handle).stream = stream;
  return 0;
}
int cublasGetStream_v2(void* handle, void** stream) {
  *stream = of(handle).stream;
  return 0;
}
int cublasSetWorkspace_v2(void*, void*, std::size_t) { return 0; }
int cublasSetPointerMode_v2(void* handle, int mode) {
  of(handle).pointer_mode = mode;
  return 0;
}
int cublasGetPointerMode_v2(void* handle, int* mode) {
  *mode = of(handle).pointer_mode;
  return 0;
}
int cublasSetMathMode(void* handle, int mode) {
  of(handle).math_mode = mode;
  return 0;
}
int cublasGetMathMode(void* handle, int* mode) {
  *mode = of(handle).math_mode;
  return 0;
}
int cublasGetSmCountTarget(void*, int* count) {
  *count = 0;
  return 0;
}
int cublasSgemm_v2(void*, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*, void*,
                   int) {
  return note(MAJOR " cublasSgemm_v2");
}
int cublasDgemm_v2_64(void*, int, int, std::int64_t, std::int64_t, std::int64_t, const void*, const void*, std::int64_t,
                      const void*, std::int64_t, const void*, void*, std::int64_t) {
  return note(MAJOR " cublasDgemm_v2_64");
}
/// As NVIDIA's does, by its own library's other half.
int cublasGemmEx(void* handle, int, int, int m, int n, int k, const void* alpha, const void* a, int type_a, int lda,
                 const void* b, int type_b, int ldb, const void* beta, void* c, int type_c, int ldc, int compute,
                 int algo) {
  constexpr int kUsual = 99, kNotSupported = 15;
  if (algo != kUsual) return kNotSupported;
  const auto layout = [](int type, int rows, int cols, int ld) {
    FakeLtDescriptor out{};
    out.values[0] = static_cast<std::uint64_t>(type);
    out.values[2] = static_cast<std::uint64_t>(rows);
    out.values[3] = static_cast<std::uint64_t>(cols);
    out.values[4] = static_cast<std::uint64_t>(ld);
    out.values[5] = 1;
    return out;
  };
  FakeLtDescriptor desc{};
  desc.values[0] = static_cast<std::uint64_t>(compute);
  desc.values[7] = 1;
  const FakeLtDescriptor la = layout(type_a, m, k, lda), lb = layout(type_b, k, n, ldb), lc = layout(type_c, m, n, ldc);
  note(MAJOR " cublasGemmEx");
  return cublasLtMatmul(handle, &desc, alpha, a, &la, b, &lb, beta, c, &lc, c, &lc, nullptr, nullptr, 0, nullptr);
}
int cublasGemmStridedBatchedEx(void*, int, int, int, int, int, const void*, const void*, int, int, long long,
                               const void*, int, int, long long, const void*, void*, int, int, long long, int, int,
                               int) {
  return note(MAJOR " cublasGemmStridedBatchedEx");
}
}
