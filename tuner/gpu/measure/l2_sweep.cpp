// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/l2_sweep.hpp"

#include <algorithm>
#include <utility>

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kSumBytes = sizeof(std::uint64_t);

}  // namespace

CudaResult<L2Sweep> L2Sweep::create(const HelperKernels& kernels, std::int64_t l2_bytes) {
  // Twice, as replacement is not in the strict order of use, and each half of some GPUs' L2 keeps lines of the other's.
  auto memory = DeviceBuffer::allocate(2 * std::max<std::int64_t>(l2_bytes, kSumBytes) + kSumBytes);
  if (!memory) return tl::unexpected(memory.error());
  if (auto ok = check(cudaMemset(memory->data(), 0, static_cast<std::size_t>(memory->bytes())), "filling memory"); !ok)
    return tl::unexpected(ok.error());
  return L2Sweep(kernels, std::move(*memory));
}

CudaResult<> L2Sweep::run(cudaStream_t stream) const {
  const std::int64_t bytes = memory_.bytes() - kSumBytes;
  return kernels_->checksum({memory_.address(), bytes}, memory_.address() + static_cast<std::uint64_t>(bytes), stream);
}

}  // namespace pgtune::gpu
