// SPDX-License-Identifier: MIT
// Turns a build request into a cubin in the cache, or a reason why there is none: NVRTC's command line, its log, and
// the build.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/gpu/jit/cubin_cache.hpp"
#include "tuner/gpu/jit/nvrtc.hpp"
#include "tuner/model/source.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

/// NVRTC's command line. Only the architecture and the macros' names and values vary; they are checked, so that no
/// template or request can add options. Errors (usage): the architecture is no "sm_90a"; a macro's name is no
/// identifier; its value is neither an integer nor an identifier (which a label is).
[[nodiscard]] Result<std::vector<std::string>> compile_options(const protocol::BuildRequest& request,
                                                               const Toolkit& toolkit);

struct KernelResources {
  std::string symbol;
  int registers = 0;             ///< per thread
  std::int64_t stack_bytes = 0;  ///< local-memory frame per thread
  std::int64_t spill_bytes = 0;  ///< stores + loads per thread
  std::int64_t static_smem_bytes = 0;
};

/// Kernels in the log's order. Needs ptxas' -v output.
[[nodiscard]] std::vector<KernelResources> parse_resources(std::string_view log);

/// ptxas's message if it serialised wgmma (any of C7509-C7516, C7518, C7520: three to five times slower) or ignored
/// setmaxnreg (the variant would lack the registers of its parameters): such a build must not be timed.
[[nodiscard]] std::optional<std::string> find_hazard(std::string_view log);

/// The log's first error with file and line, in at most kMaxReasonBytes; nothing if the log has no error line.
[[nodiscard]] std::optional<std::string> find_first_error(std::string_view log);

/// If the error is an undefined macro LABEL_<label>: a reason that no parameter has this label, with the position and
/// the labels in `defines`, in at most kMaxReasonBytes. Nothing for other errors.
[[nodiscard]] std::optional<std::string> explain_undefined_label(std::string_view error,
                                                                 const std::vector<Define>& defines);

inline constexpr std::size_t kMaxReasonBytes = 300;

class Builder {
 public:
  Builder(CubinCache cache, Toolkit toolkit);

  /// The variant's cubin and those of its separate modules, from the cache or compiled. What is wrong with the variant
  /// is an outcome (compile_failed, with the log's first error, or with the first of its kernels that cannot be called
  /// as the request says); errors are what every variant would meet: an architecture NVRTC does not know, an incomplete
  /// CUDA installation, a cache that cannot be written (environment, with the remedy).
  [[nodiscard]] Result<protocol::BuildDone> build(const protocol::BuildRequest& request) const;

  [[nodiscard]] const Toolkit& toolkit() const { return toolkit_; }

 private:
  [[nodiscard]] Result<protocol::BuildDone> build_module(const protocol::BuildRequest& request) const;
  [[nodiscard]] CubinKey key(const protocol::BuildRequest& request, const std::vector<std::string>& options) const;

  CubinCache cache_;
  Toolkit toolkit_;
};

}  // namespace pgtune::gpu
