// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/series_to_verify.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tuner/gpu/launch/event_wait.hpp"
#include "tuner/gpu/measure/check/fault_text.hpp"

namespace pgtune::gpu {
namespace {

/// What the host takes between the events would count as the kernel's time, and the shorter what runs before them is,
/// the more: writing D over takes less than rewriting it. So the stream is held for longer than a launch of a few
/// kernels takes to enqueue, and still longer where that was not enough.
constexpr std::chrono::microseconds kFirstHold{50}, kLongestHold{2000};

}  // namespace

CudaResult<std::unique_ptr<SeriesToVerify>> SeriesToVerify::create(OperandBuffers& buffers, Checker& checker,
                                                                   LaunchSeries& series, double launch_limit_s) {
  std::unique_ptr<SeriesToVerify> out(new SeriesToVerify(buffers, checker, series, launch_limit_s));
  auto start = create_event();
  if (!start) return tl::unexpected(start.error());
  auto stop = create_event();
  if (!stop) return tl::unexpected(stop.error());
  auto sums = DeviceBuffer::allocate(static_cast<std::int64_t>(out->copies() * sizeof(std::uint64_t)));
  if (!sums) return tl::unexpected(sums.error());
  out->start_ = std::move(*start);
  out->stop_ = std::move(*stop);
  out->sums_ = std::move(*sums);
  out->hold_ = kFirstHold;
  if (series.launchable().wants_persisting_l2()) out->persisting_.emplace();
  return out;
}

std::vector<std::string> SeriesToVerify::cases() const {
  std::vector<std::string> names;
  for (const FillCase& one : buffers_->operation().operation().cases) names.push_back(one.name);
  return names;
}

CudaResult<> SeriesToVerify::fill_all() {
  for (std::size_t copy = 0; copy < copies(); ++copy) {
    if (auto ok = buffers_->fill(copy, stream_); !ok) return ok;
  }
  return {};
}

CudaResult<> SeriesToVerify::fill(std::uint64_t seed, std::size_t sets) {
  buffers_->set_data({data_.distribution, seed, sets});
  return fill_all();
}

CudaResult<> SeriesToVerify::fill_case(std::size_t index, std::size_t copy) {
  return buffers_->fill_case(index, copy, stream_);
}

CudaResult<> SeriesToVerify::restore() {
  constexpr std::size_t kReferenceCopy = 0;
  buffers_->set_data(data_);
  return fill_all().and_then([&] { return checker_->refer_to(kReferenceCopy); });
}

CudaResult<> SeriesToVerify::poison(std::size_t copy, std::uint32_t pattern) {
  return buffers_->poison_results(copy, pattern, stream_);
}

CudaResult<> SeriesToVerify::rewrite(std::size_t copy) { return buffers_->rewrite_results(copy, stream_); }

CudaResult<std::optional<double>> SeriesToVerify::launch(std::size_t copy) {
  float elapsed_ms = 0;
  bool in_time = false;
  const auto begun = std::chrono::steady_clock::now();
  return buffers_->kernels()
      .hold(hold_, stream_)
      .and_then([&] { return check(cudaEventRecord(start_.get(), stream_), "verifying"); })
      .and_then([&] { return series_->launchable().launch(copy, stream_); })
      .and_then([&] { return check(cudaEventRecord(stop_.get(), stream_), "verifying"); })
      .and_then([&] {
        in_time = std::chrono::steady_clock::now() - begun < hold_;
        if (!in_time) hold_ = std::min(2 * hold_, kLongestHold);
        return wait_for(stop_.get(), launch_limit_s_, "running the kernel again");
      })
      .and_then([&] { return check(cudaEventElapsedTime(&elapsed_ms, start_.get(), stop_.get()), "verifying"); })
      .map([&] { return in_time ? std::optional(static_cast<double>(elapsed_ms) * 1e-3) : std::nullopt; });
}

CudaResult<> SeriesToVerify::launch_as_timed(std::int64_t turns) {
  const std::int64_t launches = turns * static_cast<std::int64_t>(copies());
  return series_->enqueue(launches)
      .and_then([&](std::int64_t) { return check(cudaEventRecord(stop_.get(), stream_), "verifying"); })
      .and_then([&] {
        const auto most = static_cast<double>(std::max(launches, turns * series_->granule()));
        return wait_for(stop_.get(), most * launch_limit_s_, "running the kernel back to back");
      });
}

CudaResult<std::string> SeriesToVerify::fault(std::size_t copy, std::uint32_t poison) {
  return checker_->look(series_->launchable(), copy, poison).map([&](const CheckFindings& findings) {
    return fault_text(findings, checker_->operation());
  });
}

CudaResult<std::string> SeriesToVerify::guard_fault(std::size_t copy) {
  return checker_->changed_guards(series_->launchable(), copy).map([&](std::vector<ChangedGuard> changed) {
    CheckFindings findings;
    findings.guards = std::move(changed);
    return fault_text(findings, checker_->operation());
  });
}

CudaResult<std::vector<std::uint64_t>> SeriesToVerify::sums(std::size_t first, std::size_t step) {
  std::vector<std::uint64_t> sums((copies() - first - 1) / step + 1);
  const std::size_t bytes = sums.size() * sizeof(std::uint64_t);
  auto done = check(cudaMemsetAsync(sums_.data(), 0, bytes, stream_), "verifying");
  for (std::size_t i = 0; i < sums.size() && done; ++i)
    done = checker_->enqueue_result_sum(first + i * step, sums_.address() + i * sizeof(std::uint64_t));
  return done
      .and_then([&] {
        return check(cudaMemcpyAsync(sums.data(), sums_.data(), bytes, cudaMemcpyDeviceToHost, stream_), "verifying");
      })
      .and_then([&] { return check(cudaStreamSynchronize(stream_), "verifying"); })
      .map([&] { return std::move(sums); });
}

}  // namespace pgtune::gpu
