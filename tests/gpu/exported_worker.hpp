// SPDX-License-Identifier: MIT
// The GPU that an exported header is checked on, with the worker's own builds of its entries. Included after
// best_gemm.hpp.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tests/gpu/exported_gpu.hpp"
#include "tests/gpu/with_operation.hpp"
#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/output_file.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class ExportedDevice {
 public:
  explicit ExportedDevice(int ordinal) : ordinal_(ordinal) {
    info_ = describe_gpu(ordinal).value();
    driver_ = Driver::load().value();
    stream_ = create_stream().value();
    kernels_ = HelperKernels::load(driver_, info_.architecture, info_.sm_count).value();
    timer_ = SampleTimer::create(*kernels_, info_.sm_count, {}).value();
    if (cublasLtCreate(&cublas_) != CUBLAS_STATUS_SUCCESS) {
      fmt::print("cuBLASLt cannot be used\n");
      std::exit(1);
    }
  }

  bool prepare() {
    const auto begin = Clock::now();
    const best_gemm::Status status = best_gemm::Gemm::prepare(ordinal_);
    const double cold = seconds_since(begin);
    const auto again = Clock::now();
    best_gemm::Gemm::prepare(ordinal_);
    fmt::print("prepare: {}, {:.1f} ms for {} kernels, again {:.1f} us\n", best_gemm::text(status), 1e3 * cold,
               best_gemm::detail::kImageCount, 1e6 * seconds_since(again));
    return status == best_gemm::Status::ok;
  }

  /// The worker's builds of the first entries, side by side.
  void build(const best_gemm::Entry* entries, int count) {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
      threads.emplace_back([&] {
        for (int i = next++; i < count; i = next++) static_cast<void>(builder_.build(request_of(entries[i])));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::unique_ptr<LoadedVariant> load(const best_gemm::Entry& entry, const Problem& problem,
                                      const OperandBuffers& buffers) {
    const Tuned own = tuned(entry);
    const auto plan = space::make_launch_plan(own.definition, own.variant, problem, info_).value();
    const auto done = builder_.build(request_of(entry)).value();
    return LoadedVariant::load(driver_, *kernels_, done.build, plan, buffers.copies(), 0, stream_.get()).value();
  }

  [[nodiscard]] std::unique_ptr<OperationKernels> operation_kernels_of(const Problem& problem) const {
    return operation_kernels(driver_, *kernels_, problem, info_.architecture);
  }

  void sync() { must(cudaStreamSynchronize(stream_.get()), "running"); }

  bool launch(const best_gemm::Gemm& gemm, const best_gemm::Operands& o, void* workspace, cudaStream_t stream,
              const Problem& problem) {
    const best_gemm::Status status = gemm.run(o, workspace, gemm.workspace_bytes(), stream);
    const int code = status == best_gemm::Status::cuda_error ? best_gemm::last_cuda_error() : 0;
    expect(status == best_gemm::Status::ok, fmt::format("{}: {} ({})", problem.title(), best_gemm::text(status), code));
    return status == best_gemm::Status::ok;
  }

  [[nodiscard]] int ordinal() const { return ordinal_; }
  [[nodiscard]] cublasLtHandle_t cublas() const { return cublas_; }
  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] const HelperKernels& kernels() const { return *kernels_; }
  [[nodiscard]] SampleTimer& timer() { return *timer_; }

 private:
  struct Tuned {
    space::TemplateDefinition definition;
    Variant variant;
  };
  static Tuned tuned(const best_gemm::Entry& entry) {
    int count = 0;
    const best_gemm::Variant& named = best_gemm::variants(&count)[entry.variant];
    space::TemplateDefinition definition = tool::Catalogue().load(named.template_name);
    Variant variant = space::recorded_variant(definition, named.parameters).value();
    return {std::move(definition), std::move(variant)};
  }

  [[nodiscard]] protocol::BuildRequest request_of(const best_gemm::Entry& entry) const {
    const Tuned own = tuned(entry);
    return {1, own.variant, own.definition.source,
            space::make_defines(own.definition, own.variant, problem_of(entry), info_).value(), info_.architecture};
  }

  int ordinal_;
  cublasLtHandle_t cublas_ = nullptr;
  const tool::ScratchFolder folder_ = tool::ScratchFolder::make().value();
  const Builder builder_{CubinCache::open(folder_.path()).value(), find_toolkit().value()};
  DeviceInfo info_;
  Driver driver_;
  Stream stream_;
  std::unique_ptr<HelperKernels> kernels_;
  std::unique_ptr<SampleTimer> timer_;
};

}  // namespace pgtune::gpu
