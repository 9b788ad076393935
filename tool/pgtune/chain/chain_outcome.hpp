// SPDX-License-Identifier: MIT
// What `pgtune chain` prints: a plan, or what was measured, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tuner/model/chain.hpp"
#include "tuner/model/records.hpp"
#include "tuner/session/chain/chain_session.hpp"

namespace pgtune::tool {

/// The steps with what they compute, the buffers that they share, and the searches that find their variants.
[[nodiscard]] std::string chain_plan_text(const Chain& chain, const std::vector<std::string>& searches);
[[nodiscard]] nlohmann::json chain_plan_json(const Chain& chain, const std::vector<std::string>& searches);

struct ChainOutcome {
  Chain chain;
  DeviceInfo device;
  std::string device_description;
  std::vector<protocol::ChainKernel> kernels;
  std::vector<std::string> notes;  ///< from before it was measured
  session::ChainResult result;
};

/// In 80 columns: the steps alone with their shares, the chain beside their sum, and what overlapping is worth.
[[nodiscard]] std::string chain_text(const ChainOutcome& outcome);
/// SI units; null for what was not measured.
[[nodiscard]] nlohmann::json chain_json(const ChainOutcome& outcome);

}  // namespace pgtune::tool
