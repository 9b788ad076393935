// SPDX-License-Identifier: MIT
// A stand-in for libnvidia-ml.so.1 that knows one GPU, GPU-known, and an instance of it, MIG-known: the functions every
// driver has.
#include <cstring>

#include "tests/nvml/fake_nvml_call.hpp"

namespace {
int fake_gpu, fake_instance;
}

extern "C" {

int nvmlDeviceIsMigDeviceHandle(void* device, unsigned* is_instance) {
  *is_instance = device == &fake_instance ? 1 : 0;
  return 0;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* device, void** gpu) {
  if (device != &fake_instance) return 2;  // invalid argument
  *gpu = &fake_gpu;
  return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  std::strncpy(name, device == &fake_instance ? "NVIDIA H200 MIG 1g.18gb" : "NVIDIA H200", length);
  return 0;
}

int nvmlInit_v2() {
  return pgtune::gpu::test::answer("nvmlInit_v2", [] { return 0; });
}
int nvmlShutdown() { return 0; }

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::strncpy(version, "580.159.04", length);
  return 0;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  const bool instance = std::strcmp(uuid, "MIG-known") == 0;
  *device = instance ? &fake_instance : &fake_gpu;
  return instance || std::strcmp(uuid, "GPU-known") == 0 ? 0 : 6;  // 6: not found
}
}
