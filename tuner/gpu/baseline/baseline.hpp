// SPDX-License-Identifier: MIT
// What variants are compared with on the current problem: one or several algorithms that are timed in the same rounds.
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

/// What baselines are made of. Device and buffers must outlive them.
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

  /// Looks for its algorithms; checks and times them like variants. To be called once, on a new baseline. Errors:
  /// (usage) it has none for this problem, (internal) none is right, CUDA fails.
  [[nodiscard]] virtual Result<void> find(const BaselineParts& parts) = 0;
  /// In the place of find(): goes on with what another process found for the same problem, GPU and library, in its
  /// LaunchMode. The best algorithm is checked, and runs until the clocks have risen. Errors: what is known cannot be
  /// read, CUDA fails, or that algorithm is wrong now.
  [[nodiscard]] virtual Result<void> take_over(const BaselineParts& parts, const protocol::KnownBaseline& known);

  [[nodiscard]] const BaselineReport& report() const { return report_; }
  /// The algorithms beside report().algorithms as KnownBaseline::opaque.
  [[nodiscard]] std::vector<std::string> opaque() const;
  /// Series of report().algorithms[index], calibrated; index must be valid. Of a baseline that was taken over, that
  /// happens at the first call.
  [[nodiscard]] CudaResult<LaunchSeries*> series(std::size_t index, SampleTimer& timer);

  /// Says which of an operation's baselines this is, and what is known of the others.
  void stand_beside(int place, std::vector<OtherBaseline> others);

 protected:
  Baseline(const Rotation& rotation, cudaStream_t stream) : rotation_(rotation), stream_(stream) {}

  [[nodiscard]] static tl::unexpected<Error> unreadable() {
    return fail(ErrorKind::kInternal, "the baseline to be taken over cannot be read");
  }
  /// The algorithm that an opaque text of opaque() stands for.
  [[nodiscard]] virtual Result<std::unique_ptr<Launchable>> launchable(const BaselineParts& parts,
                                                                       const std::string& opaque) = 0;
  /// Checks the launchable where a checker is given, runs the first one until the clocks have risen, screens it like a
  /// variant, and adds it to report().algorithms. `described`: what is known of it beside time and error. Returns why
  /// it was not added, or nothing. A failure means that the context is lost.
  [[nodiscard]] CudaResult<std::string> add(std::unique_ptr<Launchable> launchable, AlgorithmReport described,
                                            std::string opaque, Checker* checker, SampleTimer& timer);
  /// As add(), for its only algorithm: that it was not added is an error (internal).
  [[nodiscard]] Result<void> add_only(std::unique_ptr<Launchable> launchable, AlgorithmReport described,
                                      std::string opaque, const BaselineParts& parts);
  using MakeLaunchable = std::function<Result<std::unique_ptr<Launchable>>(const std::string& opaque)>;
  /// Takes what is known, without running it.
  [[nodiscard]] Result<void> restore(const protocol::KnownBaseline& known, const MakeLaunchable& make);
  /// Checks the best algorithm of a restored baseline, where a checker is given, and runs it until the clocks have
  /// risen.
  [[nodiscard]] CudaResult<> warm_up(Checker* checker, SampleTimer& timer);
  /// Fills the report's `best` and what follows from the operands. Precondition: there is an algorithm.
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
  std::vector<Algorithm> algorithms_;  ///< beside report_.algorithms
};

}  // namespace pgtune::gpu
