// SPDX-License-Identifier: MIT
// `pgtune export header --coverage`: how a header would serve the problems of a list.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

/// The problems of a file in the format of --sizes, in each dtype for which the export has kernels of their operation.
/// Throws CommandError (usage).
[[nodiscard]] std::vector<Problem> problems_of_sizes(const CallableHeader& content, const std::string& file);

/// How a program with this header would be served, for pointers aligned to 256 bytes.
struct Served {
  const char* how = "fallback";         ///< "exact", "family", "guess", "neighbour" or "fallback", which is not in the
                                        ///< header
  std::optional<std::size_t> variant;   ///< in CallableHeader::variants; nothing with a fallback
  std::optional<double> expected_loss;  ///< loss of time, 0.02 for 2 %; nothing with a fallback
  std::string tuned_for;                ///< for a neighbour, the nearest problem that it was tuned for; the family
};
/// `device_class` is an index into CallableHeader::device_classes.
[[nodiscard]] Served served(const CallableHeader& content, const Problem& problem, std::size_t device_class);

/// A table of it for each class of device.
[[nodiscard]] std::string coverage_text(const CallableHeader& content, const std::vector<Problem>& problems,
                                        const Terminal& terminal);
/// The same, with the variant's template and key: a list of device classes with their problems.
[[nodiscard]] nlohmann::json coverage_json(const CallableHeader& content, const std::vector<Problem>& problems);

}  // namespace pgtune::tool
