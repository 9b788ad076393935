// SPDX-License-Identifier: MIT
// The second check of a finalist, after timing and under the same conditions, with the same module, workspace and
// graphs. A kernel that is right once, on one data set and over a fresh D, may be wrong or do less work later.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

/// A failure is the launchable's fault. Copies are those that timed launches rotate over.
class LaunchesToVerify {
 public:
  virtual ~LaunchesToVerify() = default;

  [[nodiscard]] virtual std::size_t copies() const = 0;
  /// Launches read buffers that they write, so each needs fresh data.
  [[nodiscard]] virtual bool has_inout() const = 0;
  /// The names of the operation's cases.
  [[nodiscard]] virtual std::vector<std::string> cases() const = 0;

  /// Fills every copy with data under `seed`: copy `i` as copy `i` % `sets`.
  [[nodiscard]] virtual CudaResult<> fill(std::uint64_t seed, std::size_t sets) = 0;
  /// Fills `copy` with the data of the case of that index.
  [[nodiscard]] virtual CudaResult<> fill_case(std::size_t index, std::size_t copy) = 0;
  /// Data of all copies, and the reference, as they were before the first fill().
  [[nodiscard]] virtual CudaResult<> restore() = 0;

  /// Overwrites D of `copy`; what launches read and write gets its data.
  [[nodiscard]] virtual CudaResult<> poison(std::size_t copy, std::uint32_t pattern) = 0;
  /// Writes D of `copy` as it is, so that caches are as after poison().
  [[nodiscard]] virtual CudaResult<> rewrite(std::size_t copy) = 0;
  /// One launch, which is waited for; returns seconds if the host enqueued it before the GPU had to wait.
  [[nodiscard]] virtual CudaResult<std::optional<double>> launch(std::size_t copy) = 0;
  /// Launches as they are timed, back to back, `turns` times over the copies, and waits for them.
  [[nodiscard]] virtual CudaResult<> launch_as_timed(std::int64_t turns) = 0;

  /// Computes the reference of what `copy` holds.
  [[nodiscard]] virtual CudaResult<> refer_to(std::size_t copy) = 0;
  /// The faults of the result in `copy`, whose D had `poison` before, by the present reference, and other changed
  /// memory; empty if there are none.
  [[nodiscard]] virtual CudaResult<std::string> fault(std::size_t copy, std::uint32_t poison) = 0;
  /// Guards of `copy` that changed; empty if none did.
  [[nodiscard]] virtual CudaResult<std::string> guard_fault(std::size_t copy) = 0;
  /// Checksums of the results in copy `first` and in every `step`-th after it, of what the present reference judges.
  [[nodiscard]] virtual CudaResult<std::vector<std::uint64_t>> sums(std::size_t first, std::size_t step) = 0;
};

/// Share of its time that a launch saves where D holds its result already; 0 where that is less than 5 %, than a
/// microsecond, or than four standard errors of the medians. Seconds of single launches over a poisoned D and over one
/// that holds the result.
[[nodiscard]] double saved_share(std::vector<double> poisoned_s, std::vector<double> held_s);

/// On other data in every operand copy. Copies share a few sets of data in turn, so that neighbours differ and no more
/// references are needed than sets:
/// 1. a launch on each copy; of each set one result is compared with its float64 reference, the others with that one;
/// 2. as many launches as asked for, over the copies in turn, each over a D poisoned just before with a value that
///    changes from launch to launch. Results are compared bit by bit (by a checksum) with the first one of the set
///    where somebody judges it. One that differs is compared with the reference; where it is right the launchable is
///    not deterministic. From there on, and where other elements are judged of each set, the copies of one set follow
///    those of the other, so that what differs needs no new reference;
/// 3. among these, launches over a D that holds the result: they must be right and no faster, see saved_share();
/// 4. launches as they are timed, back to back, two turns over the copies, whose results must be right as well;
/// 5. no guard of any copy may have changed;
/// 6. a launch with the data of each of the operation's cases.
class Verification {
 public:
  /// Of a request: launches and data_seed. `launches` must outlive the verification.
  Verification(LaunchesToVerify& launches, const protocol::VerifyRequest& request);

  /// Leaves data and reference as it found them. A failure is the launchable's fault; after one that is not sticky they
  /// are restored too.
  [[nodiscard]] CudaResult<protocol::VerifyReport> run();

 private:
  enum class D { kPoisoned, kHeld };

  /// Each step that finds a fault sets an outcome in report_.
  [[nodiscard]] CudaResult<> examine();
  [[nodiscard]] CudaResult<> judge_first_launches();
  [[nodiscard]] CudaResult<> launch_in_turn();
  [[nodiscard]] CudaResult<> launch_set_by_set();
  [[nodiscard]] CudaResult<> launch_as_timed();
  [[nodiscard]] CudaResult<> look_after_guards();
  /// Times held launches once more before it believes that they are faster.
  [[nodiscard]] CudaResult<> compare_times();
  /// Launches once with the data of each of the operation's cases, which stay in copy 0.
  [[nodiscard]] CudaResult<> judge_cases();

  /// Launches over a poisoned D still to be made, after the first of each copy.
  [[nodiscard]] std::int64_t left() const;
  /// What D of `copy` holds before its next launch, the present one by count.
  [[nodiscard]] CudaResult<> poison(std::size_t copy);
  /// One launch, whose time, if there is one, is kept.
  [[nodiscard]] CudaResult<> launch(std::size_t copy, D d);
  /// The copy's result as a checksum of what the present reference judges.
  [[nodiscard]] CudaResult<std::uint64_t> sum(std::size_t copy);
  /// Computes the reference of a set where it is not the present one.
  [[nodiscard]] CudaResult<> refer(std::size_t set);
  /// Compares the results of a set's copies with the first one. `when`, here and below, is for the outcome's reason.
  [[nodiscard]] CudaResult<> judge_set(std::size_t set, const char* when);
  /// Compares what lies in D of `copy` with the set's reference where its checksum is not the first one's.
  [[nodiscard]] CudaResult<> judge_if_different(std::size_t copy, const char* when);
  /// The same of a copy of the set that was referred to last.
  [[nodiscard]] CudaResult<> look_if_different(std::size_t copy, const char* when);
  [[nodiscard]] CudaResult<> look(std::size_t copy, const char* when);
  [[nodiscard]] bool failed() const { return report_.outcome.kind != OutcomeKind::kOk; }
  [[nodiscard]] std::size_t copies() const { return poisons_.size(); }
  /// Set `i` begins with copy `i`.
  [[nodiscard]] std::size_t set_of(std::size_t copy) const { return copy % sets_; }
  /// Whether turns over the copies would ask for another reference in each.
  [[nodiscard]] bool set_by_set() const { return !report_.deterministic || !sets_are_judged_alike_; }

  LaunchesToVerify* launches_;
  const protocol::VerifyRequest* request_;
  std::size_t sets_;
  std::int64_t poisoned_ = 0;            ///< launches so far over a poisoned D
  std::vector<std::uint32_t> poisons_;   ///< beside the copies: what D held last before a result
  std::vector<std::int64_t> last_;       ///< beside the copies: the last launch over a poisoned D
  std::vector<std::uint64_t> expected_;  ///< beside the sets: checksums of the first results
  std::optional<std::size_t> referred_;  ///< the set that the present reference is of
  bool sets_are_judged_alike_ = true;    ///< all data seen so far exclude the same elements from the check
  std::vector<double> poisoned_s_, held_s_;
  protocol::VerifyReport report_;
};

/// A timed series on the GPU, with the module, the workspace and the graphs it was timed with.
class SeriesToVerify final : public LaunchesToVerify {
 public:
  /// `series` is of a launchable on `buffers`, which `checker` checks; all must outlive the result. A launch that has
  /// not ended after `launch_limit_s` (0: no limit) fails as wait_for() says.
  [[nodiscard]] static CudaResult<std::unique_ptr<SeriesToVerify>> create(OperandBuffers& buffers, Checker& checker,
                                                                          LaunchSeries& series, double launch_limit_s);

  [[nodiscard]] std::size_t copies() const override { return buffers_->copies().size(); }
  [[nodiscard]] bool has_inout() const override { return buffers_->has_inout(); }
  [[nodiscard]] std::vector<std::string> cases() const override;
  [[nodiscard]] CudaResult<> fill(std::uint64_t seed, std::size_t sets) override;
  [[nodiscard]] CudaResult<> fill_case(std::size_t index, std::size_t copy) override;
  [[nodiscard]] CudaResult<> restore() override;
  [[nodiscard]] CudaResult<> poison(std::size_t copy, std::uint32_t pattern) override;
  [[nodiscard]] CudaResult<> rewrite(std::size_t copy) override;
  [[nodiscard]] CudaResult<std::optional<double>> launch(std::size_t copy) override;
  [[nodiscard]] CudaResult<> launch_as_timed(std::int64_t turns) override;
  [[nodiscard]] CudaResult<> refer_to(std::size_t copy) override { return checker_->refer_to(copy); }
  [[nodiscard]] CudaResult<std::string> fault(std::size_t copy, std::uint32_t poison) override;
  [[nodiscard]] CudaResult<std::string> guard_fault(std::size_t copy) override;
  [[nodiscard]] CudaResult<std::vector<std::uint64_t>> sums(std::size_t first, std::size_t step) override;

 private:
  SeriesToVerify(OperandBuffers& buffers, Checker& checker, LaunchSeries& series, double launch_limit_s)
      : buffers_(&buffers),
        checker_(&checker),
        series_(&series),
        launch_limit_s_(launch_limit_s),
        stream_(series.stream()),
        data_(buffers.data()) {}
  [[nodiscard]] CudaResult<> fill_all();

  OperandBuffers* buffers_;
  Checker* checker_;
  LaunchSeries* series_;
  double launch_limit_s_;
  cudaStream_t stream_;
  OperandBuffers::Data data_;  ///< as it was
  Event start_, stop_;
  std::chrono::microseconds hold_{};  ///< of the stream, before a launch that is timed
  DeviceBuffer sums_;                 ///< as many as copies
  std::optional<PersistingL2> persisting_;
};

}  // namespace pgtune::gpu
