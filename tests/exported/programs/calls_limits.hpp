// SPDX-License-Identifier: MIT
// Scenarios of calls.cpp: what the driver would refuse, and products that are none.
#pragma once

#include <initializer_list>

#include "tests/exported/programs/calls_common.hpp"

/// CUDA's limits of a launch, each at its last value and behind it.
inline void launch_limits() {
  using detail::Int;
  detail::DeviceFacts hopper{}, ampere{};
  hopper.v_ARCH = 90, ampere.v_ARCH = 89;
  hopper.v_SMEM_LIMIT = ampere.v_SMEM_LIMIT = 1000;
  const auto kernel = [](void (*change)(detail::KernelPlan&)) {
    static detail::Plan plan;
    plan.kernel_count = 0;
    detail::KernelPlan& out = detail::add_kernel(plan, 0);
    change(out);
    return out;
  };
  using Change = void (*)(detail::KernelPlan&);
  for (const Change change : std::initializer_list<Change>{
           [](auto&) {}, [](auto& k) { k.grid[0] = 2147483647; }, [](auto& k) { k.grid[1] = 65535; },
           [](auto& k) { k.grid[2] = 65535; }, [](auto& k) { k.block[0] = 1024; }, [](auto& k) { k.block[1] = 1024; },
           [](auto& k) { k.block[2] = 64; }, [](auto& k) { k.block[0] = k.block[1] = 32; },
           [](auto& k) { k.smem_bytes = 1000; }})
    CHECK(detail::launchable(kernel(change), hopper) && detail::launchable(kernel(change), ampere));
  for (const Change change : std::initializer_list<Change>{
           [](auto& k) { k.grid[0] = 0; }, [](auto& k) { k.grid[1] = 0; }, [](auto& k) { k.grid[2] = 0; },
           [](auto& k) { k.grid[0] = 2147483648; }, [](auto& k) { k.grid[1] = 65536; },
           [](auto& k) { k.grid[2] = 65536; }, [](auto& k) { k.block[0] = 1025; }, [](auto& k) { k.block[1] = 1025; },
           [](auto& k) { k.block[2] = 65; }, [](auto& k) { k.block[0] = 0; }, [](auto& k) { k.cluster[0] = 0; },
           [](auto& k) { k.block[0] = k.block[1] = 16, k.block[2] = 5; }, [](auto& k) { k.smem_bytes = -1; },
           [](auto& k) { k.smem_bytes = 1001; }, [](auto& k) { k.grid[0] = 9, k.cluster[0] = 2; },
           [](auto& k) { k.grid[2] = 3, k.cluster[2] = 2; }, [](auto& k) { k.grid[1] = k.cluster[1] = 9; },
           [](auto& k) { k.grid[0] = k.grid[1] = k.cluster[0] = k.cluster[1] = 3; }})
    CHECK(!detail::launchable(kernel(change), hopper));
  for (const Change change : std::initializer_list<Change>{
           [](auto& k) { k.grid[0] = k.cluster[0] = 2; }, [](auto& k) { k.overlaps = true; },
           [](auto& k) { k.grid[0] = k.cluster[0] = 8; }, [](auto& k) { k.grid[1] = k.cluster[1] = 8; },
           [](auto& k) { k.grid[2] = k.cluster[2] = 8; }})
    CHECK(detail::launchable(kernel(change), hopper) && !detail::launchable(kernel(change), ampere));
}

/// TMA's limits of a map, likewise.
inline void map_limits() {
  using detail::Int;
  detail::DeviceFacts hopper{}, ampere{};
  hopper.v_ARCH = 90, ampere.v_ARCH = 89;
  const auto encodable = [&](void (*change)(detail::MapPlan&)) {
    detail::MapPlan map{};
    map.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, map.swizzle = CU_TENSOR_MAP_SWIZZLE_128B, map.rank = 2;
    map.dims[0] = map.dims[1] = 64, map.box[0] = map.box[1] = 64, map.strides_bytes[0] = 128;
    change(map);
    CHECK(!detail::encodable(map, ampere));
    return detail::encodable(map, hopper);
  };
  using Change = void (*)(detail::MapPlan&);
  for (const Change change : std::initializer_list<Change>{
           [](auto&) {}, [](auto& m) { m.dims[1] = Int{1} << 32; }, [](auto& m) { m.box[1] = 256; },
           [](auto& m) { m.dims[0] = m.box[1] = 1; }, [](auto& m) { m.strides_bytes[0] = 16; },
           [](auto& m) { m.strides_bytes[0] = (Int{1} << 40) - 16; }, [](auto& m) { m.strides_bytes[1] = 7; },
           [](auto& m) { m.box[0] = 16, m.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; },
           [](auto& m) { m.box[0] = 32, m.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; },
           [](auto& m) { m.box[0] = 256, m.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE; },
           [](auto& m) { m.box[0] = 128, m.type = CU_TENSOR_MAP_DATA_TYPE_UINT8; },
           [](auto& m) { m.box[0] = 32, m.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32; }})
    CHECK(encodable(change));
  for (const Change change : std::initializer_list<Change>{
           [](auto& m) { m.dims[0] = 0; }, [](auto& m) { m.dims[1] = (Int{1} << 32) + 1; },
           [](auto& m) { m.box[1] = 0; }, [](auto& m) { m.box[1] = 257; }, [](auto& m) { m.strides_bytes[0] = 0; },
           [](auto& m) { m.strides_bytes[0] = Int{1} << 40; }, [](auto& m) { m.strides_bytes[0] = 120; },
           [](auto& m) { m.box[0] = 4, m.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE; }, [](auto& m) { m.box[0] = 72; },
           [](auto& m) { m.box[0] = 24, m.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; },
           [](auto& m) { m.box[0] = 40, m.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; },
           [](auto& m) { m.box[0] = 136, m.type = CU_TENSOR_MAP_DATA_TYPE_UINT8; },
           [](auto& m) { m.box[0] = 36, m.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32; }})
    CHECK(!encodable(change));
  bool x = false;
  for (const Int bytes : {0, 32, 64, 128}) detail::swizzle(x, bytes);
  for (const Int bytes : {0, 64, 128, 256}) detail::promotion(x, bytes);
  CHECK(!x);
  for (const Int bytes : {16, 256, -32}) CHECK((x = false, detail::swizzle(x, bytes), x));
  for (const Int bytes : {32, 512, -64}) CHECK((x = false, detail::promotion(x, bytes), x));
}

/// Extents, strides and scalars, each at the last value that makes a product, and behind it.
inline void products() {
  using detail::Int;
  constexpr Int kMost = 0x7fffffffffffffff;
  const auto is_one = [](void (*change)(Problem&, Operands&)) {
    Problem p;
    p.type = Type::bf16, p.layout = Layout::nn, p.m = 4, p.n = 6, p.k = 8, p.batch = 2;
    Operands o;
    change(p, o);
    return detail::complete(p, o);
  };
  using Change = void (*)(Problem&, Operands&);
  for (const Change change : std::initializer_list<Change>{
           [](auto&, auto&) {}, [](auto&p, auto&) { p.lda = 8, p.ldb = p.ldc = 6; },
           [](auto&p, auto&) { p.layout = Layout::tt, p.lda = 4, p.ldb = 8; },
           [](auto&p, auto&) { p.stride_a = 32, p.stride_b = 48, p.stride_c = 24; },
           [](auto&p, auto&) { p.batch = 1, p.m = Int{1} << 29, p.k = 1, p.n = 1, p.lda = Int{1} << 32; },
           [](auto&p, auto&) { p.stride_a = kMost / 4; }, [](auto&p, auto&o) { o.alpha = 1.5F, p.m = 1; }})
    CHECK(is_one(change));
  for (const Change change : std::initializer_list<Change>{
           [](auto&p, auto&) { p.m = 0; },
           [](auto&p, auto&) { p.n = 0; },
           [](auto&p, auto&) { p.k = 0; },
           [](auto&p, auto&) { p.batch = 0; },
           [](auto&p, auto&) { p.lda = 7; },
           [](auto&p, auto&) { p.ldb = 5; },
           [](auto&p, auto&) { p.ldc = 5; },
           [](auto&p, auto&) { p.layout = Layout::tn, p.lda = 3; },
           [](auto&p, auto&) { p.layout = Layout::nt, p.ldb = 7; },
           [](auto&p, auto&) { p.stride_a = 31; },
           [](auto&p, auto&) { p.stride_b = 47; },
           [](auto&p, auto&) { p.stride_c = 23; },
           [](auto&p, auto&) { p.type = static_cast<Type>(detail::kTypeCount); },
           [](auto&p, auto&) { p.out = static_cast<Element>(detail::kElementCount); },
           [](auto&p, auto&) { p.layout = static_cast<Layout>(4); },
           [](auto&p, auto&) { p.epilogue.activation = static_cast<Activation>(detail::kActivationCount); },
           [](auto&p, auto&) { p.lda = kMost / 8; },
           [](auto&p, auto&) { p.ldb = kMost / 16; },
           [](auto&p, auto&) { p.ldc = kMost / 8; },
           [](auto&p, auto&) { p.stride_a = kMost / 3; },
           [](auto&p, auto&) { p.stride_b = kMost / 3; },
           [](auto&p, auto&) { p.stride_c = kMost / 3; },
           [](auto&p, auto&) { p.k = INT64_MAX; },
           [](auto&p, auto&) { p.m = p.n = Int{1} << 24, p.k = Int{1} << 15; }})
    CHECK(!is_one(change));

  Problem p;
  Operands o;
  const auto fit = [&](Int k, float alpha, float beta) {
    p.k = k, o.alpha = alpha, o.beta = beta;
    return detail::integers_fit(p, o);
  };
  CHECK(fit(131071, 1, 0) && !fit(131072, 1, 0));  // 2^31 / 128^2 terms are one too many
  CHECK(fit(131071, -1, 0) && fit(131071, 0, 0) && !fit(131072, 0, 0));
  CHECK(fit(65535, 2, 0) && !fit(65536, 2, 0) && !fit(65536, -2, 0));
  CHECK(fit(131067, 1, 1) && !fit(131068, 1, 1) && !fit(131068, 1, -1));
  CHECK(!fit(1, 0.5F, 0) && !fit(1, 1, 1.5F) && fit(1, 3, 4));
  CHECK(!fit(1, 3e9F, 0) && !fit(1, 1, 3e9F) && !fit(1, 1, 32768));

  const auto alignment = [](Int address, Int leading, Int stride, Int batch) {
    return detail::alignment(address, leading, stride, batch, 2);
  };
  CHECK(alignment(0, 128, 8, 1) == 256 && alignment(0, 128, 8, 2) == 16 && alignment(0, 8, 128, 2) == 16);
  CHECK(alignment(4, 128, 128, 2) == 4 && alignment(4096, 1024, 1024, 2) == 256);

  const auto facts = [](Layout layout, float alpha, float beta, bool pointers) {
    Problem q;
    q.type = Type::bf16, q.layout = layout, q.m = 4, q.n = 6, q.k = 64;
    Operands addresses;
    addresses.a = at(0x1010), addresses.b = at(0x1020), addresses.c = at(0x1002), addresses.d = at(0x1004);
    addresses.alpha = alpha, addresses.beta = beta;
    detail::GemmFacts out{};
    CHECK(detail::complete(q, addresses));
    detail::describe(out, q, addresses, pointers);
    return out;
  };
  const detail::GemmFacts plain = facts(Layout::nn, 1, 0, true), scaled = facts(Layout::tn, 2, 1, true),
                          unknown = facts(Layout::nt, 1, 1, false);
  CHECK(plain.v_ALPHA_IS_ONE == 1 && plain.v_BETA_IS_ZERO == 1 && plain.v_TRANS_A == 0 && plain.v_TRANS_B == 0);
  CHECK(scaled.v_ALPHA_IS_ONE == 0 && scaled.v_BETA_IS_ZERO == 0 && scaled.v_TRANS_A == 1 && scaled.v_TRANS_B == 0);
  CHECK(unknown.v_TRANS_A == 0 && unknown.v_TRANS_B == 1 && facts(Layout::tt, 1, 0, true).v_TRANS_A == 1);
  CHECK(plain.v_ALIGN_A == 16 && plain.v_ALIGN_B == 4 && plain.v_ALIGN_C == 4 && scaled.v_ALIGN_C == 2);
  CHECK(unknown.v_ALIGN_A == 128 && unknown.v_ALIGN_B == 128 && unknown.v_ALIGN_C == 4);
  CHECK(detail::same_text("H200", "H200") && detail::same_text("", ""));
  for (const char* other : {"H100", "H20", "H200 NVL", ""}) {
    CHECK(!detail::same_text("H200", other) && !detail::same_text(other, "H200"));
  }
}
