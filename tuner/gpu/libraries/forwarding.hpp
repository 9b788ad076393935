// SPDX-License-Identifier: MIT
// Functions of libraries that are opened at run time.
#pragma once

#include <dlfcn.h>

namespace pgtune::gpu {

/// The library's function of that name, with the type of the declared one; null where the library is not there or lacks
/// it. Kept in a static by the caller, a forward costs one load and one branch.
template <auto kDeclared>
decltype(kDeclared) function_of(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<decltype(kDeclared)>(::dlsym(library, name));
}

}  // namespace pgtune::gpu
