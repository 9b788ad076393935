// SPDX-License-Identifier: MIT
// The best stored variant of each step of a chain, built.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/chain/chain_file.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tuner/protocol/chain_messages.hpp"

namespace pgtune::tool {

struct ChainKernels {
  std::vector<protocol::ChainKernel> kernels;  ///< one a step; of no use where something is missing
  std::vector<std::string> missing;            ///< searches without which steps have no variant, each once
  std::vector<std::string> notes;              ///< steps that might overlap and cannot, with why
};

/// What `database` has for GPUs like `device` under `conditions`, built for it. Throws CommandError where a template is
/// missing, or a stored variant cannot be planned or built.
[[nodiscard]] ChainKernels find_chain_kernels(Context& context, db::Database& database, const ChainFile& file,
                                              const Chain& chain, const DeviceInfo& device,
                                              const Conditions& conditions);

/// The searches that find variants for all steps, each once: those of overlapping GEMMs, too, which are problems of
/// their own.
[[nodiscard]] std::vector<std::string> chain_searches(const ChainFile& file, const Chain& chain);

}  // namespace pgtune::tool
