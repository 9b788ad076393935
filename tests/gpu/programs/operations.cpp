// SPDX-License-Identifier: MIT
// A program with an exported softmax and grouped GEMM: their results against float64 on the host, launched on a stream
// and from a graph. exported_operations.sh writes best.hpp, and compiles and runs this.
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "best.hpp"

namespace {

void must(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  std::printf("%s: CUDA error %d\n", what, static_cast<int>(code));
  std::exit(1);
}
void must(best::Status status, const best::Choice& choice) {
  if (status == best::Status::ok) return;
  std::printf("%s (%s, CUDA error %d)\n", best::text(status), choice.why, best::last_cuda_error());
  std::exit(1);
}

float value(std::uint16_t bf16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bf16) << 16;
  float out = 0;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}
std::uint16_t rounded(float number) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename T>
struct Memory {
  explicit Memory(std::size_t count) : bytes(std::max<std::size_t>(count, 1) * sizeof(T)) {
    must(cuMemAlloc(&address, bytes), "allocating");
    must(cuMemsetD8(address, 0xff, bytes), "poisoning");
  }
  explicit Memory(const std::vector<T>& from) : Memory(from.size()) {
    must(cuMemcpyHtoD(address, from.data(), bytes), "copying to the GPU");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { cuMemFree(address); }
  std::vector<T> read() const {
    std::vector<T> out(bytes / sizeof(T));
    must(cuMemcpyDtoH(out.data(), address, bytes), "reading results");
    return out;
  }
  template <typename Element>
  Element* as() const {
    return reinterpret_cast<Element*>(address);
  }
  std::size_t bytes;
  CUdeviceptr address = 0;
};
using Bf16 = Memory<std::uint16_t>;

std::vector<std::uint16_t> normal(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> distribution;
  std::vector<std::uint16_t> out(count);
  for (std::uint16_t& element : out) element = rounded(distribution(random));
  return out;
}

/// Selects, runs once, then from a graph over poisoned results.
template <typename Call>
std::vector<std::uint16_t> results(const typename Call::Sizes& sizes, const typename Call::Operands& operands,
                                   const Bf16& out, CUstream stream) {
  Call call;
  must(Call::select(sizes, operands, 0, {}, call), call.choice());
  if (call.choice().match != best::Match::exact) {
    std::printf("not the kernel that was tuned: %s\n", call.choice().why);
    std::exit(1);
  }
  const Memory<char> workspace(call.workspace_bytes());
  const auto run = [&] {
    must(call.run(operands, workspace.as<void>(), call.workspace_bytes(), stream), call.choice());
  };
  run();
  must(cuStreamSynchronize(stream), "running");
  const std::vector<std::uint16_t> first = out.read();
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "beginning a capture");
  run();
  must(cuStreamEndCapture(stream, &graph), "ending the capture");
  must(cuGraphInstantiateWithFlags(&executable, graph, 0), "instantiating the graph");
  must(cuMemsetD8(out.address, 0xff, out.bytes), "poisoning");
  must(cuGraphLaunch(executable, stream), "launching the graph");
  must(cuStreamSynchronize(stream), "running the graph");
  if (out.read() == first) return first;
  std::puts("the graph's results are others");
  std::exit(1);
}

/// How much an element is off, in what bf16 and float32 sums allow.
class Errors {
 public:
  void add(double got, double right, double scale) {
    const double allowed = std::ldexp(std::abs(right), -8) + std::ldexp(scale, -15) + 1e-30;
    largest_ = std::max(largest_, std::isnan(got) ? HUGE_VAL : std::abs(got - right) / allowed);
    ++count_;
  }
  bool report(const char* name) const {
    std::printf("%s: %ld elements, off by %.3f of what is allowed\n", name, count_, largest_);
    return count_ > 0 && largest_ <= 1;
  }

 private:
  long count_ = 0;
  double largest_ = 0;
};

bool softmax(CUstream stream, std::mt19937& random) {
  constexpr std::size_t kRows = 4096, kColumns = 8192;
  const std::vector<std::uint16_t> input = normal(kRows * kColumns, random);
  const Bf16 x(input), y(input.size());
  const auto got =
      results<best::softmax_bf16>({kRows, kColumns}, {x.as<const __nv_bfloat16>(), y.as<__nv_bfloat16>()}, y, stream);
  Errors errors;
  for (std::size_t row = 0; row < kRows; row += 37) {
    double sum = 0;
    for (std::size_t i = row * kColumns; i < (row + 1) * kColumns; ++i) sum += std::exp(double{value(input[i])});
    for (std::size_t i = row * kColumns; i < (row + 1) * kColumns; ++i) {
      const double right = std::exp(double{value(input[i])}) / sum;
      errors.add(value(got[i]), right, right);
    }
  }
  return errors.report("softmax");
}

bool grouped(CUstream stream, std::mt19937& random) {
  constexpr std::size_t kGroups = 8, kRows = 1000, kColumns = 1024, kLength = 1024;
  const std::vector<std::int32_t> begins{0, 130, 130, 131, 400, 655, 656, 900, 1000};  // one group is empty
  const std::vector<std::uint16_t> a = normal(kRows * kLength, random),
                                   b = normal(kGroups * kColumns * kLength, random);
  const Memory<std::int32_t> offsets(begins);
  const Bf16 left(a), right(b), d(kRows * kColumns);
  const auto got = results<best::gemm_grouped_bf16>({kGroups, kRows, kColumns, kLength},
                                                    {offsets.as<const std::int32_t>(), left.as<const __nv_bfloat16>(),
                                                     right.as<const __nv_bfloat16>(), d.as<__nv_bfloat16>()},
                                                    d, stream);
  Errors errors;
  for (std::size_t row = 0; row < kRows; ++row) {
    const auto next = std::upper_bound(begins.begin(), begins.end(), static_cast<std::int32_t>(row));
    const auto group = static_cast<std::size_t>(next - begins.begin()) - 1;
    for (std::size_t column = row % 17; column < kColumns; column += 17) {
      double sum = 0, scale = 0;
      for (std::size_t k = 0; k < kLength; ++k) {
        const double term =
            double{value(a[row * kLength + k])} * double{value(b[(group * kColumns + column) * kLength + k])};
        sum += term;
        scale += std::abs(term);
      }
      errors.add(value(got[row * kColumns + column]), sum, scale);
    }
  }
  return errors.report("grouped GEMM");
}

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  must(cuInit(0), "opening the driver");
  must(cuDeviceGet(&device, 0), "finding the GPU");
  must(cuDevicePrimaryCtxRetain(&context, device), "making a context");
  must(cuCtxSetCurrent(context), "choosing the context");
  must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "creating a stream");
  must(best::prepare(0), {});
  std::mt19937 random(7);
  const bool right = softmax(stream, random), also = grouped(stream, random);
  return right && also ? 0 : 1;
}
