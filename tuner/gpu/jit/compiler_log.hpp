// SPDX-License-Identifier: MIT
// What NVRTC's program log says: resources per kernel from ptxas, hazards that make a variant worthless, first error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/source.hpp"

namespace pgtune::gpu {

struct KernelResources {
  std::string symbol;
  int registers = 0;             ///< per thread
  std::int64_t stack_bytes = 0;  ///< local-memory frame per thread
  std::int64_t spill_bytes = 0;  ///< stores + loads per thread
  std::int64_t static_smem_bytes = 0;
};

/// Kernels in the log's order. Needs ptxas' -v output.
[[nodiscard]] std::vector<KernelResources> parse_resources(std::string_view log);

/// ptxas' own words where it serialised wgmma (any of C7509-C7516, C7518, C7520: three to five times slower) or ignored
/// setmaxnreg (the variant would not have the registers its parameters say): such a build must not be timed.
[[nodiscard]] std::optional<std::string> find_hazard(std::string_view log);

/// The log's first error with file and line, in at most kMaxReasonBytes; nothing where the log holds no error line.
[[nodiscard]] std::optional<std::string> find_first_error(std::string_view log);

/// Where the error says that a macro LABEL_<label> is undefined: that no parameter has this label, with the place and
/// the labels that `defines` has, in at most kMaxReasonBytes. Nothing where the error is about something else.
[[nodiscard]] std::optional<std::string> explain_undefined_label(std::string_view error,
                                                                 const std::vector<Define>& defines);

inline constexpr std::size_t kMaxReasonBytes = 300;

}  // namespace pgtune::gpu
