// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/ceilings/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "pgtune_ceiling_kernels.hpp"
#include "pgtune_tensor_ceiling_kernels.hpp"
#include "tuner/gpu/jit/nvrtc.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kWantedCopyBytes = 1LL << 30;
// Launches of about half a millisecond on an H200: long against their start, short enough to fill 20 ms evenly.
constexpr std::uint32_t kL2Steps = 128, kSmemIterations = 256, kFfmaIterations = 256;

std::int64_t round_down(std::int64_t bytes, std::int64_t multiple) { return bytes / multiple * multiple; }

constexpr std::array kCeilingSymbols{"ceiling_fill", "ceiling_copy", "ceiling_l2", "ceiling_smem", "ceiling_ffma"};
constexpr std::uint64_t kNeverASum = std::numeric_limits<std::uint64_t>::max();  // the sum has 32 bits
constexpr std::uint64_t kNowhere = 0;                                            // where the sums would go

// One CTA's work in an iteration, as in tensor_ceilings.cu: rows, columns, bytes of K, and repetitions.
struct Work {
  std::int64_t m, n, k_bytes, times;
  unsigned threads;
};
constexpr Work kWgmma{64, 256, 128, 2, 256};
constexpr Work kMma{16, 8, 32, 8 * 16, 512};

// Launches of about half a millisecond on an H200, as those of the other ceilings.
constexpr std::uint32_t kTensorIterations = 1024;

std::string symbol_of(Dtype dtype) { return "ceiling_" + std::string(to_string(dtype)); }

constexpr double kCeilingWarmUp_s = 0.1;  // an idle GPU's clocks need some tens of milliseconds to rise
constexpr double kTensorWarmUp_s = 0.5;   // and under tensor cores some hundred to settle at the power cap
constexpr double kSample_s = 20e-3;
constexpr int kRepetitions = 5;

/// A kernel without operands of the problem.
class CeilingLoad : public Launchable {
 public:
  using Launch = std::function<CudaResult<>(cudaStream_t)>;
  explicit CeilingLoad(Launch launch) : launch_(std::move(launch)) {}
  [[nodiscard]] CudaResult<> launch(std::size_t /*copy*/, cudaStream_t stream) override { return launch_(stream); }

 private:
  Launch launch_;
};

struct Best {
  double launches_per_s = 0;
  double sm_clock_hz = 0;  ///< mean over all samples
};

CudaResult<Best> best_of(CeilingLoad::Launch launch, SampleTimer& timer, cudaStream_t stream,
                         double warm_up_s = kCeilingWarmUp_s) {
  CeilingLoad load(std::move(launch));
  LaunchSeries series(load, {}, stream);
  TRY_ASSIGN(const auto probe, calibrate(series, timer));
  const auto launches = [&](double time_s) { return launches_for(time_s, probe.per_launch_s(), 1, series.granule()); };
  Best best;
  for (int i = 0; i < kRepetitions; ++i) {
    TRY_ASSIGN(const auto sample, timer.time(series, launches(kSample_s), i == 0 ? launches(warm_up_s) : 0));
    best.launches_per_s = std::max(best.launches_per_s, 1 / sample.per_launch_s());
    best.sm_clock_hz += sample.sm_clock_hz / kRepetitions;
  }
  return best;
}

CudaResult<Ceilings> measure(const CeilingsPlan& plan, const CeilingKernels& kernels, SampleTimer& timer,
                             cudaStream_t stream) {
  TRY_ASSIGN(auto memory, DeviceBuffer::allocate(2 * plan.copy_bytes));
  const std::uint64_t from = memory.address(), to = from + static_cast<std::uint64_t>(plan.copy_bytes);
  TRY(kernels.fill({from, memory.bytes()}, stream));

  const auto dram = best_of([&](cudaStream_t on) { return kernels.copy(from, to, on); }, timer, stream);
  if (!dram) return tl::unexpected(dram.error());
  const auto l2 = best_of([&](cudaStream_t on) { return kernels.read_l2(from, on); }, timer, stream);
  if (!l2) return tl::unexpected(l2.error());
  const auto smem = best_of([&](cudaStream_t on) { return kernels.read_smem(on); }, timer, stream);
  if (!smem) return tl::unexpected(smem.error());
  const auto ffma = best_of([&](cudaStream_t on) { return kernels.ffma(on); }, timer, stream);
  if (!ffma) return tl::unexpected(ffma.error());
  Ceilings ceilings;
  ceilings.dram_bytes_per_s = dram->launches_per_s * plan.dram_bytes();
  ceilings.l2_bytes_per_s = l2->launches_per_s * plan.l2_bytes();
  ceilings.smem_bytes_per_s = smem->launches_per_s * plan.smem_bytes();
  ceilings.flops[std::string(to_string(Dtype::kF32))] = ffma->launches_per_s * plan.flops();
  ceilings.sm_clock_hz = ffma->sm_clock_hz;
  return ceilings;
}

/// Adds the tensor cores' dtypes.
Result<void> measure_tensor_cores(const DeviceInfo& device, const Driver& driver, SampleTimer& timer,
                                  cudaStream_t stream, Ceilings& ceilings) {
  const std::vector<Dtype> dtypes = tensor_ceiling_dtypes(device);
  if (dtypes.empty()) return {};
  TRY_ASSIGN(const auto cubin, compile_tensor_ceilings(device.architecture));
  const auto kernels = TensorCeilingKernels::load(driver, cubin, device);
  if (!kernels) return tl::unexpected(to_error(kernels.error()));
  for (const Dtype dtype : dtypes) {
    const auto best =
        best_of([&](cudaStream_t on) { return (*kernels)->launch(dtype, on); }, timer, stream, kTensorWarmUp_s);
    if (!best) return tl::unexpected(to_error(best.error()));
    ceilings.flops[std::string(to_string(dtype))] = best->launches_per_s * (*kernels)->flops(dtype);
  }
  ceilings.flops[std::string(to_string(Dtype::kTf32x3))] =
      ceilings.flops.at(std::string(to_string(Dtype::kTf32))) / 3;  // three products for one
  return {};
}

}  // namespace

double CeilingsPlan::dram_bytes() const { return 2.0 * static_cast<double>(copy_bytes); }

double CeilingsPlan::l2_bytes() const { return static_cast<double>(resident_ctas * kL2Steps * kL2PieceBytes); }

double CeilingsPlan::smem_bytes() const {
  return static_cast<double>(resident_ctas * kCeilingThreads * kSmemIterations * kSmemBytesPerIteration);
}

double CeilingsPlan::flops() const {
  return 2.0 * static_cast<double>(resident_ctas * kCeilingThreads * kFfmaIterations * kFfmasPerIteration);
}

Result<CeilingsPlan> plan_ceilings(const DeviceInfo& device, std::int64_t free_bytes) {
  const std::int64_t wanted = std::max(kWantedCopyBytes, 4 * device.l2_bytes);
  const std::int64_t least = std::max(2 * device.l2_bytes, 2 * kL2PieceBytes);
  CeilingsPlan plan;
  plan.copy_bytes = round_down(std::min(wanted, free_bytes / 4), kL2PieceBytes);
  if (plan.copy_bytes < least) {
    return fail(ErrorKind::kUsage, fmt::format("measuring this GPU's bandwidth needs {} bytes of its memory and {} are "
                                               "free; free memory on the GPU or measure before a large problem",
                                               4 * least, free_bytes));
  }
  plan.l2_pieces = std::max<std::int64_t>(1, device.l2_bytes / 3 / kL2PieceBytes);
  plan.resident_ctas =
      std::max<std::int64_t>(1, device.sm_count) * std::max<std::int64_t>(1, device.threads_per_sm / kCeilingThreads);
  return plan;
}

Result<std::string> compile_ceiling_kernels(const std::string& architecture) {
  return compile_own_kernels(embedded::pgtune_ceiling_kernels(), architecture);
}

CudaResult<std::unique_ptr<CeilingKernels>> CeilingKernels::load(const Driver& driver, const std::string& cubin,
                                                                 const CeilingsPlan& plan) {
  TRY_ASSIGN(auto kernels, KernelTable<kCount>::load(driver, cubin, kCeilingSymbols, "pgtune's"));
  return std::unique_ptr<CeilingKernels>(new CeilingKernels(std::move(kernels), plan));
}

CudaResult<> CeilingKernels::fill(const DeviceSpan& span, cudaStream_t stream) const {
  return kernels_.launch(kFill, {plan_.resident_ctas}, {kCeilingThreads}, stream, span.address,
                         static_cast<std::uint64_t>(span.bytes / 4));
}

CudaResult<> CeilingKernels::copy(std::uint64_t from, std::uint64_t to, cudaStream_t stream) const {
  return kernels_.launch(kCopy, {plan_.copy_bytes / kCopyCtaBytes}, {kCopyThreads}, stream, from, to);
}

CudaResult<> CeilingKernels::read_l2(std::uint64_t region, cudaStream_t stream) const {
  return kernels_.launch(kL2, {plan_.resident_ctas}, {kCeilingThreads}, stream, region,
                         static_cast<std::uint32_t>(plan_.l2_pieces), kL2Steps, kNeverASum, kNowhere);
}

CudaResult<> CeilingKernels::read_smem(cudaStream_t stream) const {
  return kernels_.launch(kSmem, {plan_.resident_ctas}, {kCeilingThreads}, stream, kSmemIterations, kNeverASum,
                         kNowhere);
}

CudaResult<> CeilingKernels::ffma(cudaStream_t stream) const {
  return kernels_.launch(kFfma, {plan_.resident_ctas}, {kCeilingThreads}, stream, kFfmaIterations,
                         std::numeric_limits<float>::quiet_NaN(), kNowhere);
}

std::vector<Dtype> tensor_ceiling_dtypes(const DeviceInfo& device) {
  const int capability = 10 * device.compute_major + device.compute_minor;
  std::vector<Dtype> dtypes;
  if (capability >= 80 && capability <= 90) dtypes = {Dtype::kTf32, Dtype::kF16, Dtype::kBf16, Dtype::kInt8};
  if (capability >= 89 && capability <= 90) dtypes.insert(dtypes.end(), {Dtype::kE4m3, Dtype::kE5m2});
  return dtypes;
}

Result<std::string> compile_tensor_ceilings(const std::string& architecture) {
  return compile_own_kernels(embedded::pgtune_tensor_ceiling_kernels(), architecture);
}

CudaResult<std::unique_ptr<TensorCeilingKernels>> TensorCeilingKernels::load(const Driver& driver,
                                                                             const std::string& cubin,
                                                                             const DeviceInfo& device) {
  TRY_ASSIGN(auto module, Module::load(driver, cubin));
  std::unique_ptr<TensorCeilingKernels> kernels(new TensorCeilingKernels(driver, std::move(module), device));
  for (const Dtype dtype : tensor_ceiling_dtypes(device)) {
    TRY_ASSIGN(auto function, kernels->module_.function(symbol_of(dtype).c_str()));
    kernels->functions_[dtype] = function;
  }
  return kernels;
}

CudaResult<> TensorCeilingKernels::launch(Dtype dtype, cudaStream_t stream) const {
  std::uint32_t iterations = kTensorIterations;
  float never = std::numeric_limits<float>::quiet_NaN();
  std::uint64_t nowhere = 0;
  std::array<void*, 3> arguments{&iterations, &never, &nowhere};
  const CUlaunchConfig config = launch_config({sm_count_}, {wgmma_ ? kWgmma.threads : kMma.threads}, stream);
  return check(driver_->launch_kernel(&config, functions_.at(dtype), arguments.data(), nullptr),
               "launching pgtune's " + symbol_of(dtype));
}

double TensorCeilingKernels::flops(Dtype dtype) const {
  const Work& work = wgmma_ ? kWgmma : kMma;
  return 2.0 * static_cast<double>(sm_count_ * kTensorIterations * work.times * work.m * work.n * work.k_bytes /
                                   element_bytes(dtype));
}

Result<Ceilings> measure_ceilings(const DeviceInfo& device, const Driver& driver, SampleTimer& timer,
                                  cudaStream_t stream) {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (auto ok = check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory"); !ok) {
    return tl::unexpected(to_error(ok.error()));
  }
  TRY_ASSIGN(const auto plan, plan_ceilings(device, static_cast<std::int64_t>(free_bytes)));
  TRY_ASSIGN(const auto cubin, compile_ceiling_kernels(device.architecture));
  const auto kernels = CeilingKernels::load(driver, cubin, plan);
  if (!kernels) return tl::unexpected(to_error(kernels.error()));
  auto ceilings = measure(plan, **kernels, timer, stream);
  if (!ceilings) return tl::unexpected(to_error(ceilings.error()));
  TRY(measure_tensor_cores(device, driver, timer, stream, *ceilings));
  return *ceilings;
}

}  // namespace pgtune::gpu
