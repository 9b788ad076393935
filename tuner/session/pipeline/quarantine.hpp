// SPDX-License-Identifier: MIT
// Known fatal trials: a build that crashed or hung once, on whatever problem, is not run again under the same driver,
// nor built again where it was the compiler that did.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/protocol/messages.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/store.hpp"

namespace pgtune::session {

/// Whether an outcome speaks against the variant for good: it crashed or hung, and the hardware is not to blame.
[[nodiscard]] bool is_fatal(const Outcome& outcome);

/// The stored trials that a search takes over: not what was only quarantined, because the reason may be gone, and with
/// `retry_failed` not what crashed or hung either. What another board found right it tries again, because times differ
/// from board to board by a few percent; not what was cut there as clearly slow, which is more than that. Nor what
/// another board's hardware failed in.
[[nodiscard]] std::map<std::string, StoredTrial> resumable(std::map<std::string, StoredTrial> trials,
                                                           bool retry_failed);
/// Variant::id() of what another board found right and this one tries again, fastest first.
[[nodiscard]] std::vector<std::string> right_elsewhere(const std::map<std::string, StoredTrial>& trials);

/// Whether a search left something to be retried: what crashed, hung or was quarantined.
[[nodiscard]] bool has_fatal_trials(const CountsRecord& counts);

class Quarantine {
 public:
  Quarantine() = default;
  explicit Quarantine(const std::vector<FatalTrial>& fatal_trials);

  /// kQuarantined with the reason where the compiler crashed or hung on the same source, macros and target.
  [[nodiscard]] std::optional<Outcome> of_build(const space::TemplateDefinition& definition, const DeviceInfo& device,
                                                const protocol::BuildRequest& request) const;
  /// kQuarantined with the reason where this very machine code crashed or hung.
  [[nodiscard]] std::optional<Outcome> of_run(const BuildInfo& build) const;
  /// Stores an outcome of this search, for variants with the same machine code.
  void note(const Problem& problem, const Variant& variant, const BuildInfo& build, const Outcome& outcome);

 private:
  std::map<std::string, Outcome> runs_;  ///< by cubin hash
  std::vector<FatalTrial> compilers_;    ///< those without a cubin
};

/// What the store knows against variants. Nothing with options.retry_failed.
[[nodiscard]] Quarantine load_quarantine(const SessionContext& context);

}  // namespace pgtune::session
