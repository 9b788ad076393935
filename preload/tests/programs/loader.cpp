// SPDX-License-Identifier: MIT
// Loads what calls cuBLAS as Python loads its modules: for itself alone.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
  void* const module = dlopen(PGTUNE_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return std::puts(dlerror());
  return reinterpret_cast<int (*)(const char*, const char*)>(dlsym(module, "use_cublas"))(arguments[1], arguments[0]);
}
