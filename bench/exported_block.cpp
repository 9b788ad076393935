// SPDX-License-Identifier: MIT
// Twenty GEMMs of a transformer, exported kernels beside cuBLASLt: five layers of Llama 3 8B's joint QKV, output, joint
// gate and up, and down projections in bf16, weights as frameworks store them, for 16, 512 and 4096 tokens. What no
// exported kernel serves is cuBLASLt's on both sides. cuBLASLt runs its first choice with 32 MiB of workspace, as
// PyTorch calls it. Needs best_gemm.hpp, CUDA and cuBLASLt alone:
//   nvcc -std=c++17 -O2 -I FOLDER bench/exported_block.cpp -lcublasLt -o exported_block
// A table at the end; well under 20 s.
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "best_gemm.hpp"

namespace {

constexpr int kLayers = 5, kRounds = 15;
constexpr double kSample_s = 0.03;
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

void must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}
void must(cublasStatus_t code, const char* what) {
  if (code == CUBLAS_STATUS_SUCCESS) return;
  std::printf("%s: cuBLAS status %d\n", what, static_cast<int>(code));
  std::exit(1);
}

/// Device memory of bf16 numbers between 0.5 and 1 in size, of either sign, never freed.
void* random_matrix(std::int64_t elements) {
  std::vector<std::uint16_t> host(static_cast<std::size_t>(std::min<std::int64_t>(elements, 1 << 20)));
  static std::uint32_t state = 1;
  for (std::uint16_t& value : host) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<std::uint16_t>(0x3f00 | (state >> 25) | (state >> 9 & 0x8000));
  }
  char* out = nullptr;
  const auto bytes = static_cast<std::size_t>(2 * elements);
  must(cudaMalloc(reinterpret_cast<void**>(&out), bytes), "allocating");
  for (std::size_t at = 0; at < bytes; at += 2 * host.size())
    must(cudaMemcpy(out + at, host.data(), std::min(bytes - at, 2 * host.size()), cudaMemcpyHostToDevice), "filling");
  return out;
}

/// One product by cuBLASLt's first choice, chosen once.
class Library {
 public:
  Library(cublasLtHandle_t handle, std::int64_t m, std::int64_t n, std::int64_t k) : handle_(handle) {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    must(cublasLtMatmulDescInit(&description_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing");
    must(cublasLtMatmulDescSetAttribute(&description_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
         "describing");
    const auto extent = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    must(cublasLtMatrixLayoutInit(&b_, CUDA_R_16BF, extent(k), extent(n), k), "describing");
    must(cublasLtMatrixLayoutInit(&a_, CUDA_R_16BF, extent(k), extent(m), k), "describing");
    must(cublasLtMatrixLayoutInit(&d_, CUDA_R_16BF, extent(n), extent(m), n), "describing");
    cublasLtMatmulPreferenceOpaque_t preference;
    must(cublasLtMatmulPreferenceInit(&preference), "choosing");
    must(cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspaceBytes,
                                              sizeof kWorkspaceBytes),
         "choosing");
    int count = 0;
    must(cublasLtMatmulAlgoGetHeuristic(handle_, &description_, &b_, &a_, &d_, &d_, &preference, 1, &found_, &count),
         "choosing");
    if (count == 0) must(CUBLAS_STATUS_NOT_SUPPORTED, "choosing");
  }

  void launch(const best_gemm::Operands& o, void* workspace, cudaStream_t stream) const {
    must(cublasLtMatmul(handle_, &description_, &o.alpha, o.b, &b_, o.a, &a_, &o.beta, o.d, &d_, o.d, &d_, &found_.algo,
                        workspace, kWorkspaceBytes, stream),
         "cublasLtMatmul");
  }

 private:
  cublasLtHandle_t handle_;
  // cuBLASLt takes pointers to what it does not change.
  mutable cublasLtMatmulDescOpaque_t description_{};
  mutable cublasLtMatrixLayoutOpaque_t a_{}, b_{}, d_{};
  cublasLtMatmulHeuristicResult_t found_{};
};

best_gemm::Status by_library(const best_gemm::Problem&, const best_gemm::Operands& o, void* workspace, std::size_t,
                             CUstream stream, void* library) {
  static_cast<const Library*>(library)->launch(o, workspace, stream);
  return best_gemm::Status::ok;
}

struct Product {
  best_gemm::Operands operands;
  Library library;
  best_gemm::Gemm gemm;
};

/// Keeps the products where they are: fallbacks point to them.
std::vector<Product*> products_of(cublasLtHandle_t handle, std::int64_t tokens, const std::vector<void*>& weights,
                                  void* input, void* output, std::size_t& workspace_bytes) {
  constexpr std::int64_t kExtents[4][2] = {{6144, 4096}, {4096, 4096}, {28672, 4096}, {4096, 14336}};  // N, K
  std::vector<Product*> out;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::int64_t n = kExtents[i % 4][0], k = kExtents[i % 4][1];
    auto* const product = new Product{{}, Library(handle, tokens, n, k), {}};
    product->operands.a = input, product->operands.b = weights[i], product->operands.d = output;
    best_gemm::Policy policy;
    policy.fallback = by_library;
    policy.user = &product->library;
    policy.fallback_workspace_bytes = kWorkspaceBytes;
    const best_gemm::Problem problem{best_gemm::Type::bf16, best_gemm::Layout::nt, tokens, n, k};
    const best_gemm::Status status = best_gemm::Gemm::select(problem, product->operands, 0, policy, product->gemm);
    if (status != best_gemm::Status::ok) {
      std::printf("selecting: %s\n", best_gemm::text(status));
      std::exit(1);
    }
    workspace_bytes = std::max(workspace_bytes, product->gemm.workspace_bytes());
    out.push_back(product);
  }
  return out;
}

template <typename Once>
double seconds_of(const Once& once, cudaStream_t stream, int times) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) {
    must(cudaEventCreate(&begin), "creating an event");
    must(cudaEventCreate(&end), "creating an event");
  }
  once();
  must(cudaEventRecord(begin, stream), "timing");
  for (int i = 0; i < times; ++i) once();
  must(cudaEventRecord(end, stream), "timing");
  must(cudaEventSynchronize(end), "timing");
  float ms = 0;
  must(cudaEventElapsedTime(&ms, begin, end), "timing");
  return 1e-3 * static_cast<double>(ms) / times;
}

struct Compared {
  double exported_s = 0, library_s = 0, ratio = 0, low = 0, high = 0;
};

/// Samples in turn; the ratio is the library's time over the exported kernels', round by round.
template <typename Exported, typename Other>
Compared compare(const Exported& exported, const Other& library, cudaStream_t stream) {
  const double about_s = seconds_of(library, stream, 3);
  const int times = std::max(2, static_cast<int>(kSample_s / about_s));
  std::vector<double> first, second, ratios;
  for (int round = 0; round < kRounds; ++round) {
    double exported_s = 0, library_s = 0;
    if (round % 2 == 0) exported_s = seconds_of(exported, stream, times);
    library_s = seconds_of(library, stream, times);
    if (round % 2 != 0) exported_s = seconds_of(exported, stream, times);
    first.push_back(exported_s);
    second.push_back(library_s);
    ratios.push_back(library_s / exported_s);
  }
  for (auto* values : {&first, &second, &ratios}) std::sort(values->begin(), values->end());
  const std::size_t middle = kRounds / 2;
  return {first[middle], second[middle], ratios[middle], ratios.front(), ratios.back()};
}

template <typename Once>
cudaGraphExec_t graph_of(const Once& once, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capturing");
  once();
  must(cudaStreamEndCapture(stream, &graph), "capturing");
  must(cudaGraphInstantiate(&exec, graph, 0), "capturing");
  return exec;
}

void print(long long tokens, const char* how, int served, const Compared& c) {
  std::printf("%6lld  %-7s  %2d of %d  %12.1f  %12.1f  %6.3f  %.3f to %.3f\n", tokens, how, served, 4 * kLayers,
              1e6 * c.exported_s, 1e6 * c.library_s, c.ratio, c.low, c.high);
}

}  // namespace

int main() {
  must(cudaSetDevice(0), "choosing the device");
  must(cudaFree(nullptr), "starting CUDA");
  if (const best_gemm::Status status = best_gemm::Gemm::prepare(0); status != best_gemm::Status::ok) {
    std::printf("prepare: %s\n", best_gemm::text(status));
    return 77;
  }
  cublasLtHandle_t handle = nullptr;
  must(cublasLtCreate(&handle), "starting cuBLASLt");
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  std::vector<void*> weights;
  for (int layer = 0; layer < kLayers; ++layer) {
    for (const std::int64_t elements : {6144 * 4096, 4096 * 4096, 28672 * 4096, 4096 * 14336})
      weights.push_back(random_matrix(elements));
  }
  constexpr std::int64_t kMostTokens = 4096;
  void* const input = random_matrix(kMostTokens * 14336);
  void* const output = random_matrix(kMostTokens * 28672);
  std::printf("tokens  launch   exported   exported us   cuBLASLt us   ratio  lowest to highest of %d rounds\n",
              kRounds);
  for (const std::int64_t tokens : {std::int64_t{16}, std::int64_t{512}, kMostTokens}) {
    std::size_t bytes = kWorkspaceBytes;
    const std::vector<Product*> products = products_of(handle, tokens, weights, input, output, bytes);
    void* workspace = nullptr;
    must(cudaMalloc(&workspace, bytes), "allocating");
    int served = 0;
    for (const Product* product : products) served += product->gemm.choice().match != best_gemm::Match::fallback;
    const auto exported = [&] {
      for (const Product* product : products) {
        const best_gemm::Status status = product->gemm.run(product->operands, workspace, bytes, stream);
        if (status != best_gemm::Status::ok) {
          std::printf("run: %s (%d)\n", best_gemm::text(status), best_gemm::last_cuda_error());
          std::exit(1);
        }
      }
    };
    const auto library = [&] {
      for (const Product* product : products) product->library.launch(product->operands, workspace, stream);
    };
    print(tokens, "stream", served, compare(exported, library, stream));
    const cudaGraphExec_t one = graph_of(exported, stream), other = graph_of(library, stream);
    print(tokens, "graph", served,
          compare([&] { must(cudaGraphLaunch(one, stream), "replaying"); },
                  [&] { must(cudaGraphLaunch(other, stream), "replaying"); }, stream));
    must(cudaStreamSynchronize(stream), "running");
    for (Product* product : products) delete product;
    must(cudaFree(workspace), "freeing");
  }
  return 0;
}
