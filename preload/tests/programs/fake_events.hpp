// SPDX-License-Identifier: MIT
// What the preload library needs of the CUDA driver to time calls (fake_events.cpp), and graphs (fake_cudart.cpp).
#pragma once

extern "C" {
void fake_capture(bool capturing);
/// The graph of every capture: the driver uses addresses again.
void* fake_graph();
int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags);
int cudaGraphDestroy(void* graph);
int cudaGraphLaunch(void* executable, void* stream);
}
