// SPDX-License-Identifier: MIT
// The device behind a chain that is measured. Implementations: WorkerChainDevice (a real GPU through a worker process)
// and a scripted one in the tests.
#pragma once

#include "tuner/model/records.hpp"
#include "tuner/protocol/chain_messages.hpp"

namespace pgtune::device {

class ChainDevice {
 public:
  virtual ~ChainDevice() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// Makes the chain current; the rest wants one. Errors: usage where it does not fit, or an operation of it is
  /// rejected by its null test.
  [[nodiscard]] virtual Result<protocol::ChainPrepared> prepare(const protocol::ChainPrepare& request) = 0;
  /// What becomes of the chain is the result's outcome, also where it takes the worker with it.
  [[nodiscard]] virtual Result<protocol::ChainCheck> check(const protocol::ChainCheckAsked& request) = 0;
  /// Contenders that fail get an outcome, the others their samples.
  [[nodiscard]] virtual Result<protocol::RoundReport> round(const protocol::ChainRound& request) = 0;
};

}  // namespace pgtune::device
