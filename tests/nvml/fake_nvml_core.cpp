// SPDX-License-Identifier: MIT
// A stand-in for libnvidia-ml.so.1 that knows one GPU, GPU-known: the functions every driver has.
#include <cstring>

#include "tests/nvml/fake_nvml_call.hpp"

extern "C" {

int nvmlInit_v2() {
  return pgtune::gpu::test::answer("nvmlInit_v2", [] { return 0; });
}
int nvmlShutdown() { return 0; }

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::strncpy(version, "580.159.04", length);
  return 0;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  static int gpu;
  *device = &gpu;
  return std::strcmp(uuid, "GPU-known") == 0 ? 0 : 6;  // 6: not found
}
}
