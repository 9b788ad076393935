// SPDX-License-Identifier: MIT
// A folder of its own for one test, removed at its end, and the cubins that tests share.
#pragma once

#include <cstdlib>

#include "tests/support/scratch_folder.hpp"
#include "tuner/gpu/jit/cubin_cache.hpp"

namespace pgtune::gpu {

using TestFolder = support::ScratchFolder;

/// The cache in $PGTUNE_TEST_CUBINS, where what other tests and earlier runs compiled is found by its content; in `own`
/// without that variable.
inline CubinCache shared_cubins(const TestFolder& own) {
  const char* const shared = std::getenv("PGTUNE_TEST_CUBINS");  // NOLINT(concurrency-mt-unsafe)
  return CubinCache::open(shared != nullptr && *shared != '\0' ? shared : own.path()).value();
}

}  // namespace pgtune::gpu
