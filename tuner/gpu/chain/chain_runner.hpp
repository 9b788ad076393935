// SPDX-License-Identifier: MIT
// The chain role's half of pgtune-worker: one GPU, one current chain; checks it and times it beside its steps alone.
#pragma once

#include <memory>
#include <string>

#include "tuner/model/records.hpp"
#include "tuner/protocol/chain_messages.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

class ChainRunner {
 public:
  /// `gpu`: ordinal, UUID or the unique beginning of one. Errors as Measurer::open(). Must be the process's first use
  /// of CUDA.
  [[nodiscard]] static Result<std::unique_ptr<ChainRunner>> open(const std::string& gpu);
  ~ChainRunner();

  [[nodiscard]] const DeviceInfo& info() const;
  /// A sticky CUDA error came: the process is of no more use.
  [[nodiscard]] bool context_lost() const;

  /// Frees the old chain and makes the request's current. Errors as CurrentChain::create().
  [[nodiscard]] Result<protocol::ChainPrepared> prepare(const protocol::ChainPrepare& request);

  // The rest wants a prepared chain; without one, or with a request that is malformed, errors are kInternal.

  /// What becomes of the chain is the report's outcome.
  [[nodiscard]] Result<protocol::ChainCheck> check(const protocol::ChainCheckAsked& request);
  /// A contender that fails has its outcome.
  [[nodiscard]] Result<protocol::RoundReport> round(const protocol::ChainRound& request);

 private:
  struct State;
  explicit ChainRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pgtune::gpu
