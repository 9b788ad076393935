// SPDX-License-Identifier: MIT
// A program that calls cuBLAS as its first argument says, and prints which library it reached.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "preload/tests/programs/cublas.hpp"
#include "preload/tests/programs/fake_events.hpp"

namespace {

const float kOne = 1, kZero = 0;
constexpr int kF32 = 0, kF16 = 2, kBf16 = 14, kSum32 = 68;

void* new_handle() {
  void* handle = nullptr;
  cublasCreate_v2(&handle);
  return handle;
}

/// Column-major 64x32 += 64x16 * 16x32: for pgtune 32x64x16.
void sgemm(void* handle, int times) {
  for (int i = 0; i < times; ++i)
    cublasSgemm_v2(handle, 0, 0, 64, 32, 16, &kOne, nullptr, 64, nullptr, 16, &kZero, nullptr, 64);
}

/// Column-major 32xROWS, for pgtune ROWSx32x128.
void gemm_ex(void* handle, int rows, int algo = 99) {
  cublasGemmEx(handle, 1, 0, 32, rows, 128, &kOne, nullptr, kBf16, 128, nullptr, kBf16, 128, &kZero, nullptr, kBf16, 32,
               kSum32, algo);
}

struct LtCall {
  FakeLtDescriptor desc, a, b, d;
};

/// y = x w' + bias of torch's linear: `rows` of 256 from 128.
LtCall linear(std::uint64_t rows) {
  const auto layout = [](std::uint64_t height, std::uint64_t width, std::uint64_t ld) {
    return FakeLtDescriptor{{kF16, 0, height, width, ld, 1}};
  };
  return {{{kSum32, kF32, 0, 1, 0, 0, 2, 2 + 4, 4096,
            0,      0,    0, 0, 0, 0, 0, 0,     0,
            0,      0,    0, 0, 0, 0, 0, 0,     static_cast<std::uint32_t>(-1)}},
          layout(128, 256, 128),
          layout(128, rows, 136),
          layout(256, rows, 256)};
}

void lt(void* handle, const LtCall& call) {
  cublasLtMatmul(handle, &call.desc, &kOne, nullptr, &call.a, nullptr, &call.b, &kZero, nullptr, &call.d, nullptr,
                 &call.d, nullptr, nullptr, 0, nullptr);
}

/// Calls of 1, 2, 3 and more rows, each with one attribute that few programs set.
void lt_attributes(void* handle) {
  std::uint64_t rows = 0;
  const auto with = [&](FakeLtDescriptor LtCall::*of, const std::vector<int>& attributes) {
    for (const int attribute : attributes) {
      LtCall call = linear(++rows);
      (call.*of).values[attribute] = 1;
      lt(handle, call);
    }
  };
  const std::vector<int> order_and_batch_mode{1, 8};
  with(&LtCall::a, order_and_batch_mode);
  with(&LtCall::b, order_and_batch_mode);
  with(&LtCall::d, order_and_batch_mode);
  with(&LtCall::desc, {17, 18, 19, 20, 36});    // scales
  with(&LtCall::desc, {5, 6, 10, 11, 21, 38});  // C transposed, a triangle of D, and other outputs
  with(&LtCall::desc, {2, 15});                 // scalars on the device, a number of multiprocessors
}

void threads(void* handle) {
  std::vector<std::thread> all;
  for (int t = 0; t < 16; ++t) {
    all.emplace_back([handle, t] {
      for (int i = 0; i < 1000; ++i) gemm_ex(handle, 8 + (i + t) % 50);
    });
  }
  for (std::thread& thread : all) thread.join();
}

/// A child that goes on without exec(), and one by a shell.
void children(void* handle, const char* self) {
  sgemm(handle, 1);
  const pid_t child = fork();
  if (child == 0) {
    sgemm(handle, 10);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  if (std::system((std::string(self) + " sgemm >/dev/null").c_str()) != 0) std::abort();
  sgemm(handle, 1);
}

/// Handles that libraries get by hand are those of the libraries: not recorded, and right.
void by_dlsym(void* handle) {
  void* const library = dlopen("libcublas.so.13", RTLD_LAZY);
  const auto call = reinterpret_cast<decltype(&cublasSgemm_v2)>(dlsym(library, "cublasSgemm_v2"));
  call(handle, 0, 0, 64, 32, 16, &kOne, nullptr, 64, nullptr, 16, &kZero, nullptr, 64);
}

}  // namespace

extern "C" int use_cublas(const char* what, const char* self);
int use_cublas(const char* what, const char* self) {
  const std::string how = what;
  void* const handle = new_handle();
  if (how == "sgemm") sgemm(handle, 10);
  if (how == "lt") lt(handle, linear(8));
  if (how == "lt_attributes") lt_attributes(handle);
  if (how == "nested") gemm_ex(handle, 64);
  if (how == "threads") threads(handle);
  if (how == "children") children(handle, self);
  if (how == "dlsym") by_dlsym(handle);
  if (how == "many") {
    for (int rows = 1; rows <= 80'000; ++rows) gemm_ex(handle, rows);
  }
  if (how == "times") {  // calls 2, 4 and 8 are timed; the last two are part of a graph
    sgemm(handle, 10);
    fake_capture(true);
    sgemm(handle, 2);
    fake_capture(false);
  }
  if (how == "refused") {
    for (const bool captured : {false, true}) {
      fake_capture(captured);
      for (const int algo : {99, -1, -1}) gemm_ex(handle, 8, algo);
      gemm_ex(handle, 16, -1);
    }
    fake_capture(false);
  }
  if (how == "graphs") {
    sgemm(handle, 2);
    void* executable = nullptr;
    for (const int calls : {1, 3, 0}) {  // the last two take the place of the one before
      fake_capture(true);
      sgemm(handle, calls);
      fake_capture(false);
      cudaGraphInstantiateWithFlags(&executable, fake_graph(), 0);
      for (int i = 0; i < 2; ++i) cudaGraphLaunch(executable, nullptr);
      fake_capture(true);
      gemm_ex(handle, 8);  // in a graph that is never launched
      fake_capture(false);
      if (calls == 3) cudaGraphDestroy(fake_graph());
    }
  }
  if (how == "modes") {
    cublasSetMathMode(handle, 3);
    sgemm(handle, 1);
    cublasSetPointerMode_v2(handle, 1);
    sgemm(handle, 1);
    cublasDgemm_v2_64(handle, 0, 1, 64, 32, 16, nullptr, nullptr, 64, nullptr, 32, nullptr, nullptr, 64);
  }
  if (how == "exit") {
    sgemm(handle, 1);
    std::exit(7);
  }
  if (how == "kill") {
    sgemm(handle, 3);
    raise(SIGKILL);
  }
  std::printf("%s, %s\n", fake_cublas_called(), fake_cublaslt_called());
  cublasDestroy_v2(handle);
  return 0;
}
