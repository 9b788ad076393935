// SPDX-License-Identifier: MIT
// A CUDA driver without a GPU: what an exported header calls, recorded. Built as libcuda.so.1.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

struct FakeCuda {
  // What it pretends to be.
  int version = 13000, devices = 2, arch = 90, sm_count = 132;
  std::string name = "NVIDIA H200";
  std::size_t memory_bytes = 150'121'545'728;
  int init_result = 0, load_result = 0, launch_result = 0, encode_result = 0;  ///< CUresult
  /// A global capture is under way in the calling thread: what loads or creates fails and breaks it.
  bool capturing = false, capture_broken = false;
  std::size_t pool_bytes = std::size_t{1} << 34;  ///< that one allocation can have
  std::string missing;                            ///< a kernel that no library has
  std::size_t image_bytes = 0;
  /// Kinds of each kernel's arguments by its name: p pointer, m tensor map, i int32, l int64, f float.
  std::map<std::string, std::string> signatures;

  // What was called.
  std::atomic<int> loads{0}, kernels_loaded{0}, encodes{0}, replacements{0}, launches{0}, memsets{0}, pooled{0};
  void* memset_stream = nullptr;  ///< of the last one
  std::mutex mutex;
  std::vector<std::string> log;     ///< of launches and memsets
  std::vector<std::string> images;  ///< the first image_bytes of each that was loaded
};

extern "C" FakeCuda* fake_cuda();
/// A stream of the device's primary context; of another context of it where `own` is set.
extern "C" void* fake_stream(int device, bool own);
/// Makes a further context of the device, and makes it current.
extern "C" void fake_new_context(int device);
