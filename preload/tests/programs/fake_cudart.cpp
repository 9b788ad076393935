// SPDX-License-Identifier: MIT
// Graphs of a CUDA runtime library, which does nothing.
#include "preload/tests/programs/fake_events.hpp"

extern "C" {
int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  *executable = static_cast<char*>(graph) + 1;
  return 0;
}
int cudaGraphDestroy(void*) { return 0; }
int cudaGraphLaunch(void*, void*) { return 0; }
}
