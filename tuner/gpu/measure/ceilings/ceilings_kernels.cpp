// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/ceilings/ceilings_kernels.hpp"

#include <limits>

#include "pgtune_ceiling_kernels.hpp"
#include "tuner/gpu/jit/own_kernels.hpp"
#include "tuner/gpu/launch/launch_config.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::array kCeilingSymbols{"ceiling_fill", "ceiling_copy", "ceiling_l2", "ceiling_smem", "ceiling_ffma"};
constexpr std::uint64_t kNeverASum = std::numeric_limits<std::uint64_t>::max();  // the sum has 32 bits
constexpr std::uint64_t kNowhere = 0;                                            // where the sums would go

}  // namespace

Result<std::string> compile_ceiling_kernels(const std::string& architecture) {
  return compile_own_kernels(embedded::pgtune_ceiling_kernels(), architecture);
}

CudaResult<std::unique_ptr<CeilingKernels>> CeilingKernels::load(const Driver& driver, const std::string& cubin,
                                                                 const CeilingsPlan& plan) {
  auto module = Module::load(driver, cubin);
  if (!module) return tl::unexpected(module.error());
  std::unique_ptr<CeilingKernels> kernels(new CeilingKernels(driver, std::move(*module), plan));
  static_assert(kCeilingSymbols.size() == kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    auto function = kernels->module_.function(kCeilingSymbols[i]);
    if (!function) return tl::unexpected(function.error());
    kernels->functions_[i] = *function;
  }
  return kernels;
}

template <typename... Arguments>
CudaResult<> CeilingKernels::launch(Kernel kernel, std::int64_t ctas, std::int64_t threads, cudaStream_t stream,
                                    Arguments... arguments) const {
  std::array<void*, sizeof...(arguments)> pointers{&arguments...};
  const CUlaunchConfig config = launch_config({ctas}, {threads}, stream);
  return check(driver_->launch_kernel(&config, functions_[kernel], pointers.data(), nullptr),
               std::string("launching pgtune's ") + kCeilingSymbols[kernel]);
}

CudaResult<> CeilingKernels::fill(const DeviceSpan& span, cudaStream_t stream) const {
  return launch(kFill, plan_.resident_ctas, kCeilingThreads, stream, span.address,
                static_cast<std::uint64_t>(span.bytes / 4));
}

CudaResult<> CeilingKernels::copy(std::uint64_t from, std::uint64_t to, cudaStream_t stream) const {
  return launch(kCopy, plan_.copy_ctas, kCopyThreads, stream, from, to);
}

CudaResult<> CeilingKernels::read_l2(std::uint64_t region, cudaStream_t stream) const {
  return launch(kL2, plan_.resident_ctas, kCeilingThreads, stream, region, static_cast<std::uint32_t>(plan_.l2_pieces),
                static_cast<std::uint32_t>(plan_.l2_steps), kNeverASum, kNowhere);
}

CudaResult<> CeilingKernels::read_smem(cudaStream_t stream) const {
  return launch(kSmem, plan_.resident_ctas, kCeilingThreads, stream, static_cast<std::uint32_t>(plan_.smem_iterations),
                kNeverASum, kNowhere);
}

CudaResult<> CeilingKernels::ffma(cudaStream_t stream) const {
  return launch(kFfma, plan_.resident_ctas, kCeilingThreads, stream, static_cast<std::uint32_t>(plan_.iterations),
                std::numeric_limits<float>::quiet_NaN(), kNowhere);
}

}  // namespace pgtune::gpu
