// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/ceilings/tensor_ceilings.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "pgtune_tensor_ceiling_kernels.hpp"
#include "tuner/gpu/jit/own_kernels.hpp"
#include "tuner/gpu/launch/launch_config.hpp"

namespace pgtune::gpu {
namespace {

// What one CTA does in an iteration, as in tensor_ceilings.cu: rows, columns, bytes of K, and how often.
struct Work {
  std::int64_t m, n, k_bytes, times;
  unsigned threads;
};
constexpr Work kWgmma{64, 256, 128, 2, 256};
constexpr Work kMma{16, 8, 32, 8 * 16, 512};

// Launches of about half a millisecond on an H200, as those of the other ceilings.
constexpr std::uint32_t kTensorIterations = 1024;

std::string symbol_of(Dtype dtype) { return "ceiling_" + std::string(to_string(dtype)); }

}  // namespace

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
  auto module = Module::load(driver, cubin);
  if (!module) return tl::unexpected(module.error());
  std::unique_ptr<TensorCeilingKernels> kernels(new TensorCeilingKernels(driver, std::move(*module), device));
  for (const Dtype dtype : tensor_ceiling_dtypes(device)) {
    auto function = kernels->module_.function(symbol_of(dtype).c_str());
    if (!function) return tl::unexpected(function.error());
    kernels->functions_[dtype] = *function;
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

}  // namespace pgtune::gpu
