// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/operand_copy_kernels.hpp"

#include <map>
#include <mutex>

#include "pgtune_operand_copy_kernels.hpp"
#include "tuner/gpu/jit/own_kernels.hpp"
#include "tuner/gpu/launch/launch_config.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::array kCopySymbols{"lay_out_operands", "copy_rows"};

static_assert(sizeof(LineCopy) == 72 && sizeof(RowCopy) == 72 && sizeof(OperandCopies) == 296,
              "what NVRTC makes of copy_plans.hpp");

}  // namespace

Result<std::string> OperandCopyKernels::compile(const std::string& architecture) {
  static std::mutex mutex;
  static std::map<std::string, std::string> cubins;
  const std::scoped_lock lock(mutex);
  if (const auto found = cubins.find(architecture); found != cubins.end()) return found->second;
  auto cubin = compile_own_kernels(embedded::pgtune_operand_copy_kernels(), architecture);
  if (cubin) cubins.emplace(architecture, *cubin);
  return cubin;
}

Result<std::unique_ptr<OperandCopyKernels>> OperandCopyKernels::load(const Driver& driver,
                                                                     const std::string& architecture) {
  const auto cubin = compile(architecture);
  if (!cubin) return tl::unexpected(cubin.error());
  auto module = Module::load(driver, *cubin);
  if (!module) return tl::unexpected(to_error(module.error()));
  std::unique_ptr<OperandCopyKernels> kernels(new OperandCopyKernels(driver, std::move(*module)));
  static_assert(kCopySymbols.size() == kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    auto function = kernels->module_.function(kCopySymbols[i]);
    if (!function) return tl::unexpected(to_error(function.error()));
    kernels->functions_[i] = *function;
  }
  return kernels;
}

template <typename... Arguments>
CudaResult<> OperandCopyKernels::launch(Kernel kernel, std::int64_t ctas, cudaStream_t stream,
                                        Arguments... arguments) const {
  std::array<void*, sizeof...(arguments)> pointers{&arguments...};
  const CUlaunchConfig config = launch_config({ctas}, {kRowCopyThreads}, stream);
  return check(driver_->launch_kernel(&config, functions_[kernel], pointers.data(), nullptr),
               std::string("launching the baseline's ") + kCopySymbols[kernel]);
}

CudaResult<> OperandCopyKernels::lay_out(const OperandCopies& copies, std::int64_t batch, cudaStream_t stream) const {
  return launch(kLayOutOperands, std::int64_t{ctas_of(copies)} * batch, stream, copies);
}

CudaResult<> OperandCopyKernels::copy_rows(const RowCopy& copy, std::int64_t batch, cudaStream_t stream) const {
  return launch(kCopyRows, std::int64_t{copy.pieces} * batch, stream, copy);
}

}  // namespace pgtune::gpu
