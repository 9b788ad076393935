// SPDX-License-Identifier: MIT
// A cublasLt of major version MAJOR ("12"), as fake_cublas.cpp.
#include <cstring>

#include "preload/tests/programs/cublas.hpp"

namespace {
const char* called = "none";
int get(const void* desc, int attribute, void* value, std::size_t bytes, std::size_t* written) {
  std::memcpy(value, &static_cast<const FakeLtDescriptor*>(desc)->values[attribute], bytes);
  *written = bytes;
  return 0;
}
}  // namespace

extern "C" {
const char* fake_cublaslt_called() { return called; }
int cublasLtMatmulDescGetAttribute(const void* desc, int attribute, void* value, std::size_t bytes,
                                   std::size_t* written) {
  return get(desc, attribute, value, bytes, written);
}
int cublasLtMatrixLayoutGetAttribute(const void* desc, int attribute, void* value, std::size_t bytes,
                                     std::size_t* written) {
  return get(desc, attribute, value, bytes, written);
}
int cublasLtMatmul(void*, const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                   const void*, const void*, void*, const void*, const void*, void*, std::size_t, void*) {
  called = MAJOR " cublasLtMatmul";
  return 0;
}
}
