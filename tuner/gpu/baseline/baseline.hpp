// SPDX-License-Identifier: MIT
// The opponents of variants on the current problem: one or several algorithms that are timed in the same rounds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/gpu/measure/launch_series.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"
#include "tuner/gpu/measure/measuring_gpu.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"
#include "tuner/model/records.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::gpu {

/// Loads a built variant for the current problem, bound to its operands.
using VariantLoader = std::function<CudaResult<std::unique_ptr<LoadedVariant>>(const protocol::BuiltVariant&)>;

/// The arguments of baselines. Device and buffers must outlive them.
struct BaselineParts {
  const MeasuringGpu& device;
  const OperandBuffers& buffers;
  Checker& checker;
  const std::vector<protocol::BaselineBuild>& builds;  ///< PrepareRequest's
  VariantLoader load;
};

/// Bytes of GPU memory: with each copy of the operands, and once.
struct MemoryNeed {
  std::int64_t copy = 0, once = 0;
};

class Baseline {
 public:
  Baseline(const Baseline&) = delete;
  Baseline& operator=(const Baseline&) = delete;
  virtual ~Baseline() = default;

  /// Finds its algorithms, and checks and times them like variants. Call it once, on a new baseline. Errors: (usage) it
  /// has none for this problem, (internal) none is right, CUDA fails.
  [[nodiscard]] virtual Result<void> find(const BaselineParts& parts) = 0;
  /// Replaces find(): takes another process's results for the same problem, GPU and library, in its LaunchMode. Checks
  /// the best algorithm, and runs it until the clocks have risen. Errors: the results cannot be read, CUDA fails, or
  /// that algorithm is wrong now.
  [[nodiscard]] virtual Result<void> take_over(const BaselineParts& parts, const protocol::KnownBaseline& known);

  [[nodiscard]] const BaselineReport& report() const { return report_; }
  /// The algorithms, parallel to report().algorithms, as KnownBaseline::opaque.
  [[nodiscard]] std::vector<std::string> opaque() const;
  /// The calibrated series of report().algorithms[index]; index must be valid. For a baseline from take_over(), the
  /// first call calibrates.
  [[nodiscard]] CudaResult<LaunchSeries*> series(std::size_t index, SampleTimer& timer);

  /// Stores which of an operation's baselines this is, and what is known of the others.
  void stand_beside(int place, std::vector<OtherBaseline> others);

 protected:
  Baseline(const Rotation& rotation, cudaStream_t stream) : rotation_(rotation), stream_(stream) {}

  [[nodiscard]] static tl::unexpected<Error> unreadable() {
    return fail(ErrorKind::kInternal, "the baseline to be taken over cannot be read");
  }
  /// The algorithm of a text from opaque().
  [[nodiscard]] virtual Result<std::unique_ptr<Launchable>> launchable(const BaselineParts& parts,
                                                                       const std::string& opaque) = 0;
  /// Checks the launchable if there is a checker, runs the first one until the clocks have risen, screens it like a
  /// variant, and adds it to report().algorithms. `described`: its report without time and error. Returns why it was
  /// not added, or nothing. A failure means that the context is lost.
  [[nodiscard]] CudaResult<std::string> add(std::unique_ptr<Launchable> launchable, AlgorithmReport described,
                                            std::string opaque, Checker* checker, SampleTimer& timer);
  /// The same as add(), for its only algorithm: if it is not added, that is an error (internal).
  [[nodiscard]] Result<void> add_only(std::unique_ptr<Launchable> launchable, AlgorithmReport described,
                                      std::string opaque, const BaselineParts& parts);
  using MakeLaunchable = std::function<Result<std::unique_ptr<Launchable>>(const std::string& opaque)>;
  /// Takes a known algorithm, without running it.
  [[nodiscard]] Result<void> restore(const protocol::KnownBaseline& known, const MakeLaunchable& make);
  /// Checks the best algorithm of a restored baseline, if there is a checker, and runs it until the clocks have risen.
  [[nodiscard]] CudaResult<> warm_up(Checker* checker, SampleTimer& timer);
  /// Fills the report's `best` and the fields that depend on the operands. Precondition: there is an algorithm.
  void finish(const std::string& library, std::uint64_t data_seed);

  BaselineReport report_;

 private:
  struct Algorithm {
    std::unique_ptr<Launchable> launchable;
    std::unique_ptr<LaunchSeries> series;
    std::string opaque;
    bool calibrated = false;
  };

  Rotation rotation_;
  cudaStream_t stream_;
  std::vector<Algorithm> algorithms_;  ///< parallel to report_.algorithms
};

}  // namespace pgtune::gpu
