// SPDX-License-Identifier: MIT
// Host time and bits of cuBLAS calls, for a run without `pgtune run` and one with it:
//
//   g++ -std=c++17 -O2 preload/bench/cublas_calls.cpp -lcublas -lcublasLt -lcudart -o cublas_calls
//   ./cublas_calls; pgtune run --trace shapes.txt -- ./cublas_calls
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

constexpr int kM = 512, kN = 1024, kK = 2048;  // column-major m, n, k: for pgtune 1024x512x2048

template <typename Status>
void require(Status status, const char* what) {
  if (static_cast<int>(status) == 0) return;
  std::fprintf(stderr, "%s failed with %d\n", what, static_cast<int>(status));
  std::exit(1);
}

/// The same numbers in every run, of small integers: as bf16, or as float32.
void* numbers(std::size_t count, bool wide) {
  std::vector<std::uint32_t> words(count);
  std::vector<std::uint16_t> halves(count);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    const float value = static_cast<float>(state >> 8U) * 0x1p-24F - 0.5F;
    std::uint32_t bits = 0;
    static_assert(sizeof bits == sizeof value, "float32");
    __builtin_memcpy(&bits, &value, sizeof bits);
    words[i] = bits;
    halves[i] = static_cast<std::uint16_t>(bits >> 16U);
  }
  const std::size_t bytes = count * (wide ? 4 : 2);
  void* device = nullptr;
  require(cudaMalloc(&device, bytes), "cudaMalloc");
  require(cudaMemcpy(device, wide ? static_cast<void*>(words.data()) : halves.data(), bytes, cudaMemcpyHostToDevice),
          "cudaMemcpy");
  return device;
}

/// FNV-1a over the bytes.
std::uint64_t hash_of(const void* device, std::size_t bytes) {
  std::vector<unsigned char> host(bytes);
  require(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const unsigned char byte : host) hash = (hash ^ byte) * 0x100000001B3U;
  return hash;
}

/// Prints the median host time of a call while the queue has room, and the result's bits.
void measure(const char* name, const std::function<int()>& call, const void* result, std::size_t bytes) {
  require(call(), name);
  require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::uint64_t bits = hash_of(result, bytes);
  constexpr int kRounds = 51, kCalls = 200;
  std::vector<double> ns;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) require(call(), name);
    ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kCalls);
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  for (std::size_t i = 0; i < ns.size(); ++i) {
    for (std::size_t j = i + 1; j < ns.size(); ++j) {
      if (ns[j] < ns[i]) std::swap(ns[i], ns[j]);
    }
  }
  std::printf("%-16s %8.0f ns a call (%.0f to %.0f)   bits %016llx\n", name, ns[ns.size() / 2], ns[ns.size() / 10],
              ns[ns.size() * 9 / 10], static_cast<unsigned long long>(bits));
}

}  // namespace

int main() {
  cublasHandle_t handle = nullptr;
  cublasLtHandle_t lt = nullptr;
  require(cublasCreate(&handle), "cublasCreate");
  require(cublasLtCreate(&lt), "cublasLtCreate");
  void* workspace = nullptr;
  constexpr std::size_t kWorkspace = 32U << 20U;
  require(cudaMalloc(&workspace, kWorkspace), "cudaMalloc");
  require(cublasSetWorkspace(handle, workspace, kWorkspace), "cublasSetWorkspace");
  const float one = 1, zero = 0;
  constexpr std::size_t kResult = std::size_t{kM} * kN;

  auto* const a32 = static_cast<float*>(numbers(std::size_t{kM} * kK, true));
  auto* const b32 = static_cast<float*>(numbers(std::size_t{kN} * kK, true));
  auto* const c32 = static_cast<float*>(numbers(kResult, true));
  measure(
      "cublasSgemm",
      [&] { return cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &one, a32, kK, b32, kK, &zero, c32, kM); },
      c32, kResult * 4);

  void *const a = numbers(std::size_t{kM} * kK, false), *const b = numbers(std::size_t{kN} * kK, false),
              *const c = numbers(kResult, false), *const bias = numbers(kM, false);
  measure(
      "cublasGemmEx",
      [&] {
        return cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, kM, kN, kK, &one, a, CUDA_R_16BF, kK, b, CUDA_R_16BF, kK,
                            &zero, c, CUDA_R_16BF, kM, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
      },
      c, kResult * 2);

  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t la = nullptr, lb = nullptr, lc = nullptr;
  const cublasOperation_t transposed = CUBLAS_OP_T;
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  require(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  require(cublasLtMatrixLayoutCreate(&la, CUDA_R_16BF, kK, kM, kK), "cublasLtMatrixLayoutCreate");
  require(cublasLtMatrixLayoutCreate(&lb, CUDA_R_16BF, kK, kN, kK), "cublasLtMatrixLayoutCreate");
  require(cublasLtMatrixLayoutCreate(&lc, CUDA_R_16BF, kM, kN, kM), "cublasLtMatrixLayoutCreate");
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t chosen{};
  int found = 0;
  require(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                       sizeof kWorkspace);
  require(cublasLtMatmulAlgoGetHeuristic(lt, desc, la, lb, lc, lc, preference, 1, &chosen, &found),
          "cublasLtMatmulAlgoGetHeuristic");
  measure(
      "cublasLtMatmul",
      [&] {
        return cublasLtMatmul(lt, desc, &one, a, la, b, lb, &zero, c, lc, c, lc, &chosen.algo, workspace, kWorkspace,
                              nullptr);
      },
      c, kResult * 2);
  return 0;
}
