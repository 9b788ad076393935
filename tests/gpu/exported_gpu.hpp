// SPDX-License-Identifier: MIT
// What the programs that check exported headers on a GPU share. They include it after best_gemm.hpp.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::gpu {

inline int failures = 0;

inline void expect(bool condition, const std::string& what) {
  if (condition) return;
  ++failures;
  fmt::print("FAILED: {}\n", what);
}

inline void must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  fmt::print("{}: {}\n", what, cudaGetErrorString(code));
  std::exit(1);
}

template <typename Value>
void require(const CudaResult<Value>& result) {
  if (result) return;
  fmt::print("{}\n", result.error().text);
  std::exit(1);
}

inline Problem problem_of(const best_gemm::Entry& entry) {
  const best_gemm::Problem& p = entry.problem;
  Problem out;
  out.m = p.m, out.n = p.n, out.k = p.k, out.batch = p.batch;
  out.lda = p.lda, out.ldb = p.ldb, out.ldc = p.ldc;
  out.dtype = static_cast<Dtype>(p.type);
  out.output = static_cast<ElementType>(static_cast<int>(p.out) - 1);
  out.trans_a = p.layout == best_gemm::Layout::tn || p.layout == best_gemm::Layout::tt;
  out.trans_b = p.layout == best_gemm::Layout::nt || p.layout == best_gemm::Layout::tt;
  out.epilogue = {p.epilogue.bias, static_cast<Activation>(p.epilogue.activation)};
  out.beta = entry.adds_c ? 1 : 0;
  return out;
}

inline best_gemm::Operands operands_of(const OperandSet& set, const Problem& problem) {
  best_gemm::Operands o;
  o.a = device_pointer(set[Operand::kA].address), o.b = device_pointer(set[Operand::kB].address),
  o.c = device_pointer(set[Operand::kC].address);
  o.d = device_pointer(set[Operand::kD].address), o.bias = device_pointer(set[Operand::kBias].address);
  o.alpha = static_cast<float>(problem.alpha), o.beta = static_cast<float>(problem.beta);
  return o;
}

inline std::vector<char> bytes_of(const DeviceSpan& span) {
  std::vector<char> bytes(static_cast<std::size_t>(span.bytes));
  must(cudaMemcpy(bytes.data(), device_pointer(span.address), bytes.size(), cudaMemcpyDeviceToHost), "reading D");
  return bytes;
}

struct Memory {
  explicit Memory(std::size_t bytes) { must(cudaMalloc(&data, bytes > 0 ? bytes : 256), "allocating"); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { cudaFree(data); }
  void* data = nullptr;
};

/// An exported kernel, to be timed as pgtune times everything.
class ExportedLaunchable : public Launchable {
 public:
  ExportedLaunchable(const best_gemm::Gemm& gemm, std::vector<best_gemm::Operands> copies, void* workspace)
      : gemm_(gemm), copies_(std::move(copies)), workspace_(workspace) {}
  [[nodiscard]] CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    if (gemm_.run(copies_[copy], workspace_, gemm_.workspace_bytes(), stream) == best_gemm::Status::ok) return {};
    return check(cudaErrorUnknown, "an exported kernel");
  }

 private:
  best_gemm::Gemm gemm_;
  std::vector<best_gemm::Operands> copies_;
  void* workspace_;
};

}  // namespace pgtune::gpu
