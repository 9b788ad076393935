// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/ceilings/ceilings.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "tuner/gpu/measure/ceilings/ceilings_kernels.hpp"
#include "tuner/gpu/measure/ceilings/tensor_ceilings.hpp"
#include "tuner/gpu/measure/screening.hpp"

namespace pgtune::gpu {
namespace {

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
  const auto probe = calibrate(series, timer);
  if (!probe) return tl::unexpected(probe.error());
  const auto launches = [&](double time_s) { return launches_for(time_s, probe->per_launch_s(), 1, series.granule()); };
  Best best;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto sample = timer.time(series, launches(kSample_s), i == 0 ? launches(warm_up_s) : 0);
    if (!sample) return tl::unexpected(sample.error());
    best.launches_per_s = std::max(best.launches_per_s, 1 / sample->per_launch_s());
    best.sm_clock_hz += sample->sm_clock_hz / kRepetitions;
  }
  return best;
}

CudaResult<Ceilings> measure(const CeilingsPlan& plan, const CeilingKernels& kernels, SampleTimer& timer,
                             cudaStream_t stream) {
  auto memory = DeviceBuffer::allocate(2 * plan.copy_bytes);
  if (!memory) return tl::unexpected(memory.error());
  const std::uint64_t from = memory->address(), to = from + static_cast<std::uint64_t>(plan.copy_bytes);
  if (auto ok = kernels.fill({from, memory->bytes()}, stream); !ok) return tl::unexpected(ok.error());

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
  const auto cubin = compile_tensor_ceilings(device.architecture);
  if (!cubin) return tl::unexpected(cubin.error());
  const auto kernels = TensorCeilingKernels::load(driver, *cubin, device);
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

Result<Ceilings> measure_ceilings(const DeviceInfo& device, const Driver& driver, SampleTimer& timer,
                                  cudaStream_t stream) {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (auto ok = check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory"); !ok) {
    return tl::unexpected(to_error(ok.error()));
  }
  const auto plan = plan_ceilings(device, static_cast<std::int64_t>(free_bytes));
  if (!plan) return tl::unexpected(plan.error());
  const auto cubin = compile_ceiling_kernels(device.architecture);
  if (!cubin) return tl::unexpected(cubin.error());
  const auto kernels = CeilingKernels::load(driver, *cubin, *plan);
  if (!kernels) return tl::unexpected(to_error(kernels.error()));
  auto ceilings = measure(*plan, **kernels, timer, stream);
  if (!ceilings) return tl::unexpected(to_error(ceilings.error()));
  if (auto ok = measure_tensor_cores(device, driver, timer, stream, *ceilings); !ok) return tl::unexpected(ok.error());
  return *ceilings;
}

}  // namespace pgtune::gpu
