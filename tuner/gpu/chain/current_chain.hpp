// SPDX-License-Identifier: MIT
// Everything that lives as long as one chain is current.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/chain/chain_memory.hpp"
#include "tuner/gpu/chain/chain_snapshots.hpp"
#include "tuner/gpu/chain/loaded_chain.hpp"
#include "tuner/gpu/chain/step_alone.hpp"
#include "tuner/gpu/chain/timed_series.hpp"
#include "tuner/protocol/chain_messages.hpp"

namespace pgtune::gpu {

class CurrentChain {
 public:
  /// Copies of the chain's buffers, whose inputs have the data that the operations of the steps which read them first
  /// say, and each step alone. Errors: usage where it does not fit or cannot be executed, or an operation is rejected
  /// by its null test; internal where CUDA fails. `context` must outlive the result.
  [[nodiscard]] static Result<std::unique_ptr<CurrentChain>> create(const MeasureContext& context,
                                                                    const protocol::ChainPrepare& request);

  [[nodiscard]] protocol::ChainPrepared prepared() const;

  /// Each step's variant alone, as a search checks it; then the chain over poisoned results, launched one by one and
  /// as a graph, several times, each step's result being judged by the inputs that the chain gave it. What is wrong is
  /// the report's outcome, a failure of CUDA the result's.
  [[nodiscard]] CudaResult<protocol::ChainCheck> check(bool overlapping);

  /// Ready to be timed; valid as long as this. Precondition: a step that there is.
  [[nodiscard]] CudaResult<TimedSeries*> series(const protocol::ChainContender& contender);

  [[nodiscard]] const Chain& chain() const { return chain_; }

 private:
  CurrentChain(const MeasureContext& context, const protocol::ChainPrepare& request)
      : context_(&context), chain_(request.chain), kernels_(request.kernels), conditions_(request.conditions) {}
  [[nodiscard]] Result<void> allocate();
  [[nodiscard]] CudaResult<> fill();
  /// Enqueues the data of those buffers that `wanted` says and no step writes anew, as the steps' operations say that
  /// use them first.
  [[nodiscard]] CudaResult<> fill_buffers(const std::vector<bool>& wanted);
  [[nodiscard]] CudaResult<LoadedChain*> loaded(bool overlapping);
  /// What `enqueue` launches, over poison, judged on the first and the last copy; false where that says a fault.
  template <typename Enqueue>
  [[nodiscard]] CudaResult<bool> judge_turn(LoadedChain& loaded, const Enqueue& enqueue, protocol::ChainCheck& report);
  [[nodiscard]] CudaResult<bool> judge_copy(std::size_t copy, protocol::ChainCheck& report);
  [[nodiscard]] CudaResult<bool> check_steps_alone(bool overlapping, protocol::ChainCheck& report);
  /// One launch of the chain on each copy, with what is changed in place kept for judging.
  [[nodiscard]] CudaResult<> enqueue_turn(LoadedChain& loaded) const;
  /// Whether the report goes on; else it says the fault of that step.
  bool note(std::size_t step, const CheckReport& found, const std::string& fault, protocol::ChainCheck& report) const;

  const MeasureContext* context_;
  Chain chain_;
  std::vector<protocol::ChainKernel> kernels_;
  Conditions conditions_;
  std::unique_ptr<ChainMemory> memory_;
  std::unique_ptr<ChainSnapshots> snapshots_;
  std::vector<std::unique_ptr<StepAlone>> steps_;
  std::array<std::unique_ptr<LoadedChain>, 2> loaded_;  ///< without overlap, with it
  std::array<std::unique_ptr<TimedSeries>, 2> series_;  ///< after what they use: released first
};

}  // namespace pgtune::gpu
