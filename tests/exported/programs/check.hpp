// SPDX-License-Identifier: MIT
// The fake driver under the program, and checks that count.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/exported/fake_cuda.hpp"

inline int failures = 0;

#define CHECK(condition)                                  \
  do {                                                    \
    if (!(condition)) {                                   \
      ++failures;                                         \
      std::printf("line %d: %s\n", __LINE__, #condition); \
    }                                                     \
  } while (false)

inline void* fake_library() {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr || dlsym(library, "fake_cuda") == nullptr) {
    std::puts("the fake driver is not there");
    std::exit(2);
  }
  return library;
}
inline FakeCuda& fake() {
  static FakeCuda* const driver = reinterpret_cast<FakeCuda* (*)()>(dlsym(fake_library(), "fake_cuda"))();
  return *driver;
}
template <typename Stream>
Stream stream_of(int device, bool own = false) {
  return static_cast<Stream>(reinterpret_cast<void* (*)(int, bool)>(dlsym(fake_library(), "fake_stream"))(device, own));
}

/// A device pointer: nobody reads it.
inline void* at(unsigned long long address) { return reinterpret_cast<void*>(address); }
