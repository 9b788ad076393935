// SPDX-License-Identifier: MIT
// The second check of a finalist, after it was timed and under the same conditions: what is right once, on one data set
// and over a fresh D, may be wrong or do less work later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tuner/gpu/launch/cuda_failure.hpp"
#include "tuner/gpu/measure/check/launches_to_verify.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

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

  /// Each step ends with an outcome in report_ where it finds a fault.
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
  bool sets_are_judged_alike_ = true;    ///< data make the same elements nobody's concern in all that were seen
  std::vector<double> poisoned_s_, held_s_;
  protocol::VerifyReport report_;
};

}  // namespace pgtune::gpu
