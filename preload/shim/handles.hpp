// SPDX-License-Identifier: MIT
// The workspaces that a program gave to its cuBLAS handles: cuBLAS does not tell.
#pragma once

#include <cstddef>

#include "preload/shim/abi.hpp"

namespace pgtune::preload {

struct Workspace {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

void set_workspace(Handle handle, Workspace workspace);
/// Empty where none is known.
Workspace workspace_of(Handle handle);

}  // namespace pgtune::preload
