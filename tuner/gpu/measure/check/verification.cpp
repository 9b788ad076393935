// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/fault_text.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"
#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

/// A launch over a D that holds the result after so many over a poisoned one.
constexpr std::int64_t kHeldEvery = 10;
/// Launches, half of them over a D that holds the result, by which a difference of times is confirmed.
constexpr std::size_t kConfirmingLaunches = 128;
/// Of data. A float64 reference takes as long as a thousand launches, and there may be a thousand copies.
constexpr std::size_t kDataSets = 4;

/// Of the median, for values that are about normal but for outliers.
double standard_error(std::vector<double> values, double median) {
  constexpr double kDeviationOfMad = 1.4826, kErrorOfMedian = 1.2533;
  const auto count = static_cast<double>(values.size());
  for (double& value : values) value = std::abs(value - median);
  return kDeviationOfMad * kErrorOfMedian * middle_of(values) / std::sqrt(count);
}

/// The host's time between the events would count as the kernel's time, the more so the shorter the work before them
/// is: overwriting D takes less time than rewriting it. So the stream is held for longer than enqueueing a launch of a
/// few kernels takes, and longer again if that was not enough.
constexpr std::chrono::microseconds kFirstHold{50}, kLongestHold{2000};

}  // namespace

double saved_share(std::vector<double> poisoned_s, std::vector<double> held_s) {
  constexpr double kLeastShare = 0.05, kLeast_s = 1e-6, kErrors = 4;
  if (poisoned_s.empty() || held_s.empty()) return 0;
  const double poisoned = middle_of(poisoned_s), held = middle_of(held_s), saved_s = poisoned - held;
  const double noise_s = std::hypot(standard_error(poisoned_s, poisoned), standard_error(held_s, held));
  if (saved_s < std::max({kLeastShare * poisoned, kLeast_s, kErrors * noise_s})) return 0;
  return saved_s / poisoned;
}

Verification::Verification(LaunchesToVerify& launches, const protocol::VerifyRequest& request)
    : launches_(&launches),
      request_(&request),
      sets_(std::min(kDataSets, launches.copies())),
      poisons_(launches.copies(), kPoison),
      last_(launches.copies(), 0) {
  report_.copies = static_cast<std::int64_t>(copies());
}

CudaResult<protocol::VerifyReport> Verification::run() {
  const auto examined = examine();
  if (!examined && examined.error().sticky) return tl::unexpected(examined.error());
  TRY(launches_->restore());
  if (!examined) return tl::unexpected(examined.error());
  report_.launches = poisoned_;
  report_.poisoned_s = middle_of(poisoned_s_);
  report_.held_s = middle_of(held_s_);
  return report_;
}

CudaResult<> Verification::examine() {
  if (auto ok = launches_->fill(request_->data_seed, sets_); !ok) return ok;
  for (const auto step : {&Verification::judge_first_launches, &Verification::launch_in_turn,
                          &Verification::launch_set_by_set, &Verification::launch_as_timed,
                          &Verification::look_after_guards, &Verification::compare_times, &Verification::judge_cases}) {
    if (auto ok = (this->*step)(); !ok || failed()) return ok;
  }
  return {};
}

std::int64_t Verification::left() const { return request_->launches + static_cast<std::int64_t>(copies()) - poisoned_; }

CudaResult<> Verification::judge_first_launches() {
  // In turn, so that each launch has other data than the one before.
  for (std::size_t copy = 0; copy < copies(); ++copy) {
    if (auto ok = launch(copy, D::kPoisoned); !ok) return ok;
  }
  // Not timed with the others, which are compared with these.
  poisoned_s_.clear();
  constexpr const char* kWhen = "with other data";
  for (std::size_t set = 0; set < sets_; ++set) {
    if (auto ok = refer(set).and_then([&] { return look(set, kWhen); }); !ok || failed()) return ok;
    TRY_ASSIGN(const auto expected, sum(set));
    expected_.push_back(expected);
    if (auto ok = judge_set(set, kWhen); !ok || failed()) return ok;
  }
  return {};
}

CudaResult<> Verification::launch_in_turn() {
  std::size_t copy = 0;
  const auto next = [&](D d, const char* when) {
    return launch(copy, d).and_then([&] { return judge_if_different(copy, when); }).map([&] {
      copy = (copy + 1) % copies();
    });
  };
  while (left() > 0 && !set_by_set()) {
    if (auto ok = next(D::kPoisoned, "in one of many launches"); !ok || failed()) return ok;
    if (left() % kHeldEvery != 0 || set_by_set()) continue;
    if (auto ok = next(D::kHeld, "in a launch over an earlier result"); !ok || failed()) return ok;
  }
  return {};
}

/// The remaining launches, one set after the other, because turns would need another reference each time.
CudaResult<> Verification::launch_set_by_set() {
  if (!set_by_set()) return {};
  const auto count = static_cast<std::int64_t>(copies());
  const std::int64_t each = (std::max<std::int64_t>(left(), 0) + count - 1) / count;
  for (std::size_t set = 0; set < sets_; ++set) {
    if (auto ok = refer(set); !ok) return ok;
    for (std::size_t copy = set; copy < copies(); copy += sets_) {
      for (std::int64_t i = 0; i < each; ++i) {
        auto ok =
            launch(copy, D::kPoisoned).and_then([&] { return look_if_different(copy, "in one of many launches"); });
        if (!ok || failed()) return ok;
        if (i % kHeldEvery != 0) continue;
        ok = launch(copy, D::kHeld).and_then([&] {
          return look_if_different(copy, "in a launch over an earlier result");
        });
        if (!ok || failed()) return ok;
      }
    }
  }
  return {};
}

CudaResult<> Verification::launch_as_timed() {
  constexpr std::int64_t kTurns = 2;
  for (std::size_t copy = 0; copy < copies(); ++copy) {
    if (auto ok = poison(copy); !ok) return ok;
  }
  if (auto ok = launches_->launch_as_timed(kTurns); !ok) return ok;
  for (std::size_t set = 0; set < sets_; ++set) {
    if (!sets_are_judged_alike_) {
      if (auto ok = refer(set); !ok) return ok;
    }
    if (auto ok = judge_set(set, "launched as it was timed"); !ok || failed()) return ok;
  }
  return {};
}

CudaResult<> Verification::look_after_guards() {
  for (std::size_t copy = 0; copy < copies(); ++copy) {
    TRY_ASSIGN(const auto fault, launches_->guard_fault(copy));
    if (fault.empty()) continue;
    report_.outcome = {OutcomeKind::kWrongResult, fmt::format("verified after the final: {}", fault)};
    return {};
  }
  return {};
}

CudaResult<> Verification::compare_times() {
  if (saved_share(poisoned_s_, held_s_) <= 0) return {};
  std::vector<double> poisoned_s = std::exchange(poisoned_s_, {}), held_s = std::exchange(held_s_, {});
  for (std::size_t i = 0; i < kConfirmingLaunches; ++i) {  // no copy twice in a row, where caches would hold it
    if (auto ok = launch(i % copies(), i % 2 == 0 ? D::kPoisoned : D::kHeld); !ok) return ok;
  }
  const double share = saved_share(poisoned_s_, held_s_);
  if (share <= 0) return {};
  report_.outcome = {
      OutcomeKind::kWrongResult,
      fmt::format(
          "verified after the final: a launch takes {:.3g} us where D was overwritten before it and {:.3g} us "
          "where D still holds its result, so times of launches in a row are not those of the work ({:.0f} % less)",
          middle_of(poisoned_s_) * 1e6, middle_of(held_s_) * 1e6, 100 * share)};
  return {};
}

CudaResult<> Verification::judge_cases() {
  constexpr std::size_t kCopy = 0;
  const std::vector<std::string> cases = launches_->cases();
  // Only times of the usual data are reported.
  const std::vector<double> usual_s = poisoned_s_;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string when = fmt::format("in the case '{}'", cases[i]);
    referred_.reset();
    auto ok = launches_->fill_case(i, kCopy).and_then([&] { return launch(kCopy, D::kPoisoned); }).and_then([&] {
      return launches_->refer_to(kCopy);
    });
    if (!ok) return ok;
    if (ok = look(kCopy, when.c_str()); !ok || failed()) return ok;
  }
  poisoned_s_ = usual_s;
  return {};
}

CudaResult<> Verification::poison(std::size_t copy) {
  poisons_[copy] = poison_of_launch(poisoned_);
  last_[copy] = poisoned_;
  return launches_->poison(copy, poisons_[copy]);
}

CudaResult<> Verification::launch(std::size_t copy, D d) {
  const bool poisoned = d == D::kPoisoned || launches_->has_inout();
  if (poisoned) ++poisoned_;
  return (poisoned ? poison(copy) : launches_->rewrite(copy))
      .and_then([&] { return launches_->launch(copy); })
      .map([&](std::optional<double> time_s) {
        if (time_s) (poisoned ? poisoned_s_ : held_s_).push_back(*time_s);
      });
}

CudaResult<std::uint64_t> Verification::sum(std::size_t copy) {
  return launches_->sums(copy, copies()).map([](const std::vector<std::uint64_t>& sums) { return sums.front(); });
}

CudaResult<> Verification::refer(std::size_t set) {
  if (referred_ == set) return {};
  referred_.reset();
  return launches_->refer_to(set).map([&] { referred_ = set; });
}

CudaResult<> Verification::judge_set(std::size_t set, const char* when) {
  TRY_ASSIGN(const auto found, launches_->sums(set, sets_));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected_[set]) continue;
    if (auto ok = judge_if_different(set + i * sets_, when); !ok || failed()) return ok;
  }
  return {};
}

CudaResult<> Verification::judge_if_different(std::size_t copy, const char* when) {
  TRY_ASSIGN(const auto found, sum(copy));
  if (found == expected_[set_of(copy)]) return {};
  // Data decide what is judged, and this was the sum of what is judged of the set that was referred to last.
  auto ok = refer(set_of(copy)).and_then([&] { return look_if_different(copy, when); });
  if (ok && report_.deterministic) sets_are_judged_alike_ = false;
  return ok;
}

CudaResult<> Verification::look_if_different(std::size_t copy, const char* when) {
  TRY_ASSIGN(const auto found, sum(copy));
  if (found == expected_[set_of(copy)]) return {};
  report_.deterministic = false;
  return look(copy, when);
}

CudaResult<> Verification::look(std::size_t copy, const char* when) {
  TRY_ASSIGN(const auto fault, launches_->fault(copy, poisons_[copy]));
  if (fault.empty()) return {};
  report_.outcome = {
      OutcomeKind::kWrongResult,
      fmt::format("verified after the final: {} (launch {}, operand copy {}): {}", when, last_[copy], copy, fault)};
  return {};
}

CudaResult<std::unique_ptr<SeriesToVerify>> SeriesToVerify::create(OperandBuffers& buffers, Checker& checker,
                                                                   LaunchSeries& series, double launch_limit_s) {
  std::unique_ptr<SeriesToVerify> out(new SeriesToVerify(buffers, checker, series, launch_limit_s));
  TRY_ASSIGN(auto start, create_event());
  TRY_ASSIGN(auto stop, create_event());
  TRY_ASSIGN(auto sums, DeviceBuffer::allocate(static_cast<std::int64_t>(out->copies() * sizeof(std::uint64_t))));
  out->start_ = std::move(start);
  out->stop_ = std::move(stop);
  out->sums_ = std::move(sums);
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
  buffers_->set_data(data_);
  return fill_all().and_then([&] { return checker_->refer_to(Checker::kReferenceCopy); });
}

CudaResult<> SeriesToVerify::poison(std::size_t copy, std::uint32_t pattern) {
  return buffers_->poison_results(copy, pattern, stream_);
}

CudaResult<> SeriesToVerify::rewrite(std::size_t copy) { return buffers_->rewrite_results(copy, stream_); }

CudaResult<std::optional<double>> SeriesToVerify::launch(std::size_t copy) {
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
      .and_then([&] { return seconds_between(start_.get(), stop_.get()); })
      .map([&](double time_s) { return in_time ? std::optional(time_s) : std::nullopt; });
}

CudaResult<> SeriesToVerify::launch_as_timed(std::int64_t turns) {
  const std::int64_t launches = turns * static_cast<std::int64_t>(copies());
  if (series_->restores()) series_->begin_turn();  // and ends with it
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
