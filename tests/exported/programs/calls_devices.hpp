// SPDX-License-Identifier: MIT
// Scenarios of calls.cpp: streams, captures, drivers and devices.
#pragma once

#include <cstring>

#include "tests/exported/programs/calls_common.hpp"

inline void streams() {
  CHECK(Gemm::prepare(0) == Status::ok);
  const Gemm gemm = selected(entry(0));
  const Operands o = operands_of(entry(0));
  CHECK(gemm.run(o, workspace, kPlenty, stream(1)) == Status::not_prepared);
  CHECK(Gemm::prepare(1) == Status::ok);
  CHECK(gemm.run(o, workspace, kPlenty, stream(1)) == Status::wrong_device);
  CHECK(gemm.run(o, workspace, kPlenty, stream(0, true)) == Status::not_prepared);
  CHECK(gemm.run(o, workspace, kPlenty, nullptr) == Status::not_prepared);  // no context is current
  CHECK(fake().launches == 0);
  CHECK(gemm.run(o, workspace, kPlenty, stream()) == Status::ok);
}

/// A device loads its kernels in at most kMaxContexts contexts.
inline void contexts() {
  const auto enter = reinterpret_cast<void (*)(int)>(dlsym(fake_library(), "fake_new_context"));
  for (int i = 0; i < detail::kMaxContexts; ++i) {
    enter(0);
    CHECK(Gemm::prepare(0) == Status::ok && Gemm::prepare(0) == Status::ok);
  }
  enter(0);
  CHECK(Gemm::prepare(0) == Status::not_supported);
  enter(1);
  CHECK(Gemm::prepare(1) == Status::ok);
}

inline void capture() {
  fake().capturing = true;
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_prepared);
  CHECK(!fake().capture_broken);
  CHECK(Gemm::prepare(0) == Status::ok);  // not to be relied on, but harmless
  CHECK(!fake().capture_broken);
  const Entry& e = entry_with_flags();
  gemm = selected(e);
  CHECK(gemm.run(operands_of(e), workspace, kPlenty, stream()) == Status::ok);
  CHECK(gemm.run(operands_of(e), workspace, kPlenty, stream(1)) == Status::not_prepared);
  CHECK(!fake().capture_broken);
}

inline void no_driver() {
  fake().init_result = CUDA_ERROR_NO_DEVICE;
  CHECK(Gemm::prepare(0) == Status::no_driver);
  fake().init_result = 0;
  CHECK(Gemm::prepare(0) == Status::ok);  // what failed can be tried again
}

inline void old_driver() {
  fake().version = build().least_driver - 10;
  CHECK(Gemm::prepare(0) == Status::driver_too_old);
  fake().version = build().least_driver;
  fake().load_result = CUDA_ERROR_INVALID_IMAGE;
  CHECK(Gemm::prepare(0) == Status::driver_too_old);
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_prepared);
}

inline void wrong_device() {
  fake().arch = 80;
  CHECK(Gemm::prepare(0) == Status::wrong_device);
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_prepared);
}

inline void other_device() {
  fake().sm_count = 114;
  fake().name = "NVIDIA H100 PCIe";
  CHECK(Gemm::prepare(0) == Status::ok);
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_supported);
  Policy policy;
  policy.worst = Match::other_device;
  int served = 0, count = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    if (Gemm::select(all[i].problem, operands_of(all[i]), 0, policy, gemm) != Status::ok) continue;
    ++served;
    CHECK(gemm.choice().match == Match::other_device && gemm.choice().expected_loss < 0);
  }
  CHECK(served > count / 2);
}

/// The same chip with other memory is another class.
inline void other_memory() {
  fake().memory_bytes = std::size_t{80} << 30;
  CHECK(Gemm::prepare(0) == Status::ok);
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_supported);
  CHECK(std::strstr(gemm.choice().why, "class of device") != nullptr);
}
