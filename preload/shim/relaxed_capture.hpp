// SPDX-License-Identifier: MIT
#pragma once

#include "preload/shim/real.hpp"

namespace pgtune::preload {

/// Where any thread of the process captures a graph in global mode, events, allocations and the loading of kernels are
/// forbidden, and break its capture; but not to a thread in relaxed mode, as the caller's is in the object's lifetime.
class RelaxedCapture {
 public:
  RelaxedCapture() { swap(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { swap(); }

 private:
  void swap() {
    static constinit RealFunction exchange_mode("libcuda.so.1", "cuThreadExchangeStreamCaptureMode");
    if (auto* const exchange = exchange_mode.get<int(int*)>()) exchange(&mode_);
  }
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
};

}  // namespace pgtune::preload
