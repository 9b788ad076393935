// SPDX-License-Identifier: MIT
#include "preload/shim/handles.hpp"

namespace pgtune::preload {
namespace {

/// A handle is used by one thread at a time, so its workspace needs no lock. Places stay with their handles.
struct Place {
  Handle handle;
  Workspace workspace;
};
constexpr int kMostHandles = 256;
Place places[kMostHandles];

Place* place_of(Handle handle, bool make) {
  for (Place& place : places) {
    Handle there = __atomic_load_n(&place.handle, __ATOMIC_ACQUIRE);
    if (there == nullptr && !make) return nullptr;
    if (there == nullptr &&
        __atomic_compare_exchange_n(&place.handle, &there, handle, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return &place;
    if (there == handle) return &place;
  }
  return nullptr;
}

}  // namespace

void set_workspace(Handle handle, Workspace workspace) {
  if (Place* const place = place_of(handle, workspace.memory != nullptr)) place->workspace = workspace;
}

Workspace workspace_of(Handle handle) {
  const Place* const place = place_of(handle, false);
  return place == nullptr ? Workspace{} : place->workspace;
}

}  // namespace pgtune::preload
