// SPDX-License-Identifier: MIT
// From a build request to a cubin in the cache, or to the reason why there is none.
#pragma once

#include <string>
#include <vector>

#include "tuner/gpu/jit/cubin_cache.hpp"
#include "tuner/gpu/jit/toolkit.hpp"
#include "tuner/protocol/messages.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::gpu {

class Builder {
 public:
  Builder(CubinCache cache, Toolkit toolkit);

  /// The variant's cubin, from the cache or compiled. What is wrong with the variant is an outcome (compile_failed,
  /// with the log's first error); errors are what every variant would meet: an architecture NVRTC does not know, an
  /// incomplete CUDA installation, a cache that cannot be written (environment, with the remedy).
  [[nodiscard]] Result<protocol::BuildDone> build(const protocol::BuildRequest& request) const;

  [[nodiscard]] const Toolkit& toolkit() const { return toolkit_; }

 private:
  [[nodiscard]] CubinKey key(const protocol::BuildRequest& request, const std::vector<std::string>& options) const;

  CubinCache cache_;
  Toolkit toolkit_;
};

}  // namespace pgtune::gpu
