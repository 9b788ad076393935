// SPDX-License-Identifier: MIT
// Scenarios of calls.cpp: the order of calls, and arguments that are right and wrong.
#pragma once

#include <initializer_list>

#include <cstring>

#include "tests/exported/programs/calls_common.hpp"

inline void unprepared() {
  Gemm gemm;
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), 0, {}, gemm) == Status::not_prepared);
  CHECK(gemm.run(operands_of(entry(0)), workspace, kPlenty, stream()) == Status::not_supported);
  CHECK(Gemm::select(entry(0).problem, operands_of(entry(0)), -1, {}, gemm) == Status::invalid_argument);
  CHECK(Gemm::prepare(-1) == Status::invalid_argument);
  CHECK(Gemm::prepare(7) == Status::invalid_argument);
  CHECK(last_cuda_error() == CUDA_ERROR_INVALID_DEVICE);
}

/// Those of sample_export.cpp.
inline void images() {
  constexpr std::size_t kBytes = 1022;
  fake().image_bytes = kBytes;
  CHECK(Gemm::prepare(0) == Status::ok);
  CHECK(fake().images.size() == detail::kImageCount);
  for (std::size_t number = 0; number < fake().images.size(); ++number) {
    bool same = true;
    for (std::size_t i = 0; i < kBytes; ++i)
      same = same && fake().images[number][i] == static_cast<char>(i / 4 * (2 * (i % 4) + 1) + number);
    CHECK(same);
  }
}

inline void prepared() {
  CHECK(Gemm::prepare(0) == Status::ok);
  const int loads = fake().loads, kernels = fake().kernels_loaded;
  CHECK(loads == detail::kImageCount);
  CHECK(kernels >= loads);
  CHECK(Gemm::prepare(0) == Status::ok);
  CHECK(fake().loads == loads && fake().kernels_loaded == kernels);
  CHECK(Gemm::prepare(1) == Status::ok);  // loaded once for the process, per context for each device
  CHECK(fake().loads == loads && fake().kernels_loaded == 2 * kernels);
  const Gemm gemm = selected(entry(0));
  CHECK(gemm.choice().match == Match::exact && gemm.choice().expected_loss == 0);
  CHECK(gemm.run(operands_of(entry(0)), workspace, kPlenty, stream()) == Status::ok);
  CHECK(fake().launches > 0);
  const Gemm copy = gemm;
  CHECK(copy.run(operands_of(entry(0)), workspace, kPlenty, stream()) == Status::ok);
  fake().launch_result = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  CHECK(gemm.run(operands_of(entry(0)), workspace, kPlenty, stream()) == Status::cuda_error);
  CHECK(last_cuda_error() == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  for (int i = 0; i <= static_cast<int>(Status::cuda_error); ++i) CHECK(std::strlen(text(static_cast<Status>(i))) > 3);
}

inline void wrong_arguments() {
  CHECK(Gemm::prepare(0) == Status::ok);
  const Entry& e = entry_with_flags();
  const Gemm gemm = selected(e);
  const Operands right = operands_of(e);
  const int launches = fake().launches;
  const auto run = [&](const Operands& o) { return gemm.run(o, workspace, kPlenty, stream()); };
  for (const void* Operands::*pointer : {&Operands::a, &Operands::b}) {
    Operands o = right;
    o.*pointer = nullptr;
    CHECK(run(o) == Status::invalid_argument);
    o.*pointer = at(0x10000008);
    CHECK(run(o) == Status::misaligned);
  }
  Operands o = right;
  o.d = nullptr;
  CHECK(run(o) == Status::invalid_argument);
  o.d = at(0x40000002);
  CHECK(run(o) == Status::misaligned);
  o = right;
  o.beta = 2;
  o.c = nullptr;
  CHECK(run(o) == Status::invalid_argument);
  o.c = at(0x30000004);
  CHECK(run(o) == Status::misaligned);
  CHECK(gemm.workspace_bytes() > 0);
  CHECK(gemm.run(right, workspace, gemm.workspace_bytes() - 1, stream()) == Status::workspace_too_small);
  CHECK(gemm.run(right, nullptr, kPlenty, stream()) == Status::workspace_too_small);
  CHECK(gemm.run(right, at(0x60000010), kPlenty, stream()) == Status::workspace_too_small);

  const auto select = [&](const Problem& p) {
    Gemm out;
    const Status status = Gemm::select(p, right, 0, {}, out);
    CHECK(status == Status::ok || out.choice().match == Match::none);
    return status;
  };
  Problem p = e.problem;
  p.m = -5;  // products() has the other ways to be none
  CHECK(select(p) == Status::invalid_argument);
  p = e.problem;
  p.m = 3, p.n = 5, p.k = 7, p.lda = p.ldb = p.ldc = 0;
  CHECK(select(p) == Status::not_supported);
  CHECK(fake().launches == launches);
}

inline void biases() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, seen = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    if (!all[i].problem.epilogue.bias) continue;
    ++seen;
    const Gemm gemm = selected(all[i]);
    Operands o = operands_of(all[i]);
    o.bias = nullptr;
    CHECK(gemm.run(o, workspace, kPlenty, stream()) == Status::invalid_argument);
    o.bias = at(0x50000002);
    CHECK(gemm.run(o, workspace, kPlenty, stream()) == Status::misaligned);
  }
  CHECK(seen > 0);
}

/// Kernels that were compiled for alpha = 1 or for no C refuse other scalars, all others take them.
inline void scalars() {
  CHECK(Gemm::prepare(0) == Status::ok);
  int count = 0, fixed = 0, free = 0, integers = 0;
  const Entry* all = entries(&count);
  for (int i = 0; i < count; ++i) {
    const Gemm gemm = selected(all[i]);
    Operands o = operands_of(all[i]);
    o.alpha = 3;
    const Status scaled = gemm.run(o, workspace, kPlenty, stream());
    CHECK(scaled == Status::ok || scaled == Status::invalid_argument);
    ++(scaled == Status::ok ? free : fixed);
    o = operands_of(all[i]);
    o.beta = all[i].adds_c ? 0.0F : 2.0F;
    CHECK(gemm.run(o, workspace, kPlenty, stream()) == scaled);
    o = operands_of(all[i]);
    o.c = nullptr;
    CHECK(gemm.run(o, workspace, kPlenty, stream()) == (all[i].adds_c ? Status::invalid_argument : Status::ok));
    o.c = at(0x30000002);
    CHECK(gemm.run(o, workspace, kPlenty, stream()) == (all[i].adds_c ? Status::misaligned : Status::ok));
    if (all[i].problem.type != Type::int8) continue;
    // Selected with a scalar that fits, it launches none that would be rounded or overflow.
    ++integers;
    static GemmCache<1> kept(0, {});
    for (const float alpha : {3.0F, 0.5F, 1e9F}) {
      o = operands_of(all[i]);
      o.alpha = 3;
      Status status = Status::no_driver;
      const Gemm* const found = kept.find(all[i].problem, o, status);
      CHECK(found != nullptr && status == Status::ok);
      o.alpha = alpha;
      const Status expected = alpha == 3 ? Status::ok : Status::invalid_argument;
      CHECK(found->run(o, workspace, kPlenty, stream()) == expected);
      CHECK((kept.find(all[i].problem, o, status) != nullptr) == (alpha == 3) && status == expected);
    }
  }
  CHECK(fixed > 0 && free > 0 && integers > 0);
}

/// Two plans launch the same if all is the same that a launch takes.
inline void launches_compared() {
  using detail::Plan;
  Plan plan{};
  plan.kernel_count = plan.map_count = 1;
  plan.kernels[0].argument_count = 1;
  plan.maps[0].rank = 2;
  using Change = void (*)(Plan&);
  for (const Change change :
       std::initializer_list<Change>{[](Plan& p) { p.kernel_count = 0; },
                                     [](Plan& p) { p.map_count = 0; },
                                     [](Plan& p) { p.workspace_bytes = 1; },
                                     [](Plan& p) { p.zeroes_workspace = true; },
                                     [](Plan& p) { p.kernels[0].symbol = 1; },
                                     [](Plan& p) { p.kernels[0].smem_bytes = 1; },
                                     [](Plan& p) { p.kernels[0].overlaps = true; },
                                     [](Plan& p) { p.kernels[0].co_resident = true; },
                                     [](Plan& p) { p.kernels[0].grid[0] = 1; },
                                     [](Plan& p) { p.kernels[0].block[1] = 1; },
                                     [](Plan& p) { p.kernels[0].cluster[2] = 1; },
                                     [](Plan& p) { p.kernels[0].arguments[0].value = 1; },
                                     [](Plan& p) { p.maps[0].type = static_cast<CUtensorMapDataType>(1); },
                                     [](Plan& p) { p.maps[0].swizzle = static_cast<CUtensorMapSwizzle>(1); },
                                     [](Plan& p) { p.maps[0].promotion = static_cast<CUtensorMapL2promotion>(1); },
                                     [](Plan& p) { p.maps[0].buffer = static_cast<decltype(p.maps[0].buffer)>(1); },
                                     [](Plan& p) { p.maps[0].rank = 1; },
                                     [](Plan& p) { p.maps[0].dims[1] = 1; },
                                     [](Plan& p) { p.maps[0].box[1] = 1; },
                                     [](Plan& p) { p.maps[0].strides_bytes[0] = 1; }}) {
    Plan other = plan;
    change(other);
    CHECK(!detail::same_launch(plan, other) && !detail::same_launch(other, plan));
  }
  Plan other = plan;
  other.cost = 5;
  other.kernels[0].arguments[1].value = other.maps[0].dims[2] = other.maps[0].strides_bytes[1] =
      1;  // beyond the counts
  CHECK(detail::same_launch(plan, other));
}
