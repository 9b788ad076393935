// SPDX-License-Identifier: MIT
#include "preload/shim/real.hpp"

#include <dlfcn.h>

namespace pgtune::preload {

void* RealFunction::find() {
  // Kept open, so that the address stays good.
  void* const library = dlopen(soname_, RTLD_LAZY | RTLD_NOLOAD);
  void* const found = library == nullptr ? nullptr : dlsym(library, name_);
  if (found == nullptr) __atomic_add_fetch(&misses_, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&address_, found, __ATOMIC_RELAXED);
  return found;
}

}  // namespace pgtune::preload
