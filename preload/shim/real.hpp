// SPDX-License-Identifier: MIT
// Functions of the libraries that a program loaded. RTLD_NEXT does not find those of libraries loaded with RTLD_LOCAL,
// as Python's modules are; the handle of the library with that soname does.
#pragma once

namespace pgtune::preload {

class RealFunction {
 public:
  constexpr RealFunction(const char* soname, const char* name) : soname_(soname), name_(name) {}
  /// Null where the library is not loaded or lacks it, for good after some calls, as looking costs microseconds.
  template <typename Function>
  Function* get() {
    void* address = __atomic_load_n(&address_, __ATOMIC_RELAXED);
    if (address == nullptr && __atomic_load_n(&misses_, __ATOMIC_RELAXED) < kMostMisses) address = find();
    return reinterpret_cast<Function*>(address);
  }

 private:
  void* find();

  static constexpr int kMostMisses = 100;
  const char *soname_, *name_;
  void* address_ = nullptr;
  int misses_ = 0;
};

}  // namespace pgtune::preload
