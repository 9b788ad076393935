// SPDX-License-Identifier: MIT
// Calls of exported operations, right and wrong, one scenario a process: its name is the argument.
#include <cstring>
#include <string>
#include <type_traits>

#include "best.hpp"
#include "tests/exported/programs/check.hpp"

using namespace best;

namespace {

void* const workspace = at(0x60000000);
constexpr std::size_t kPlenty = std::size_t{1} << 34;

CUstream stream(int device = 0) { return stream_of<CUstream>(device); }
template <typename T>
T* typed(unsigned long long address) {
  return static_cast<T*>(at(address));
}

const softmax_bf16::Sizes kSizes{1024, 1024};
softmax_bf16::Operands softmax_operands() {
  return {typed<__nv_bfloat16>(0x10000000), typed<__nv_bfloat16>(0x20000000)};
}

/// Buffers are typed, what launches only read is const, and scalars have the operation's values.
void types() {
  static_assert(std::is_same<decltype(softmax_f32::Operands::X), const float*>::value, "read only");
  static_assert(std::is_same<decltype(softmax_f32::Operands::Y), float*>::value, "written");
  static_assert(std::is_same<decltype(gemm_grouped_f16::Operands::offsets), const std::int32_t*>::value, "indices");
  static_assert(std::is_same<decltype(gemm_masked_bf16::Operands::rows), const std::int32_t*>::value, "indices");
  static_assert(std::is_same<decltype(gemm_block_scaled_e4m3::Operands::A), const __nv_fp8_e4m3*>::value, "dtype");
  static_assert(std::is_same<decltype(gemm_block_scaled_e4m3::Operands::D), __nv_bfloat16*>::value, "its own type");
  static_assert(std::is_trivially_copyable<softmax_bf16>::value, "a plain value");
  CHECK(rmsnorm_bf16::Operands{}.eps == 1e-5F);
  CHECK(stencil2d::Operands{}.center == 0.5F && stencil2d::Operands{}.side == 0.125F);
}

void calls() {
  CHECK(prepare(0) == Status::ok);
  softmax_bf16 call;
  CHECK(softmax_bf16::select(kSizes, softmax_operands(), 0, {}, call) == Status::ok);
  CHECK(call.choice().match == Match::exact && call.choice().expected_loss == 0);
  fake().signatures["softmax_rows"] = "ppl";
  CHECK(call.run(softmax_operands(), workspace, call.workspace_bytes(), stream()) == Status::ok);
  CHECK(fake().launches == 1 && fake().log.back().find(" 0x10000000 0x20000000 1024") != std::string::npos);
  // Selected without pointers, and called with others from a copy.
  CHECK(softmax_bf16::select(kSizes, {}, 0, {}, call) == Status::ok);
  const softmax_bf16 copy = call;
  softmax_bf16::Operands other = softmax_operands();
  other.Y = typed<__nv_bfloat16>(0x30000000);
  CHECK(copy.run(other, nullptr, 0, stream()) == Status::ok);
  CHECK(fake().log.back().find(" 0x10000000 0x30000000 1024") != std::string::npos);

  rmsnorm_bf16 norm;
  CHECK(rmsnorm_bf16::select({1024, 1024}, {}, 0, {}, norm) == Status::ok);
  rmsnorm_bf16::Operands o;
  const auto buffer = [](unsigned long long address) { return typed<__nv_bfloat16>(address); };
  o.X = buffer(0x1000000), o.R = buffer(0x2000000), o.W = buffer(0x3000000), o.H = buffer(0x4000000);
  o.Y = buffer(0x5000000), o.eps = 0.25F;
  fake().signatures["rmsnorm_rows"] = "ppppplf";
  CHECK(norm.run(o, nullptr, 0, stream()) == Status::ok);
  CHECK(fake().log.back().find(" 0x1000000 0x2000000 0x3000000 0x4000000 0x5000000 ") != std::string::npos);
  CHECK(fake().log.back().find(" 0.25f") != std::string::npos);
  fake().launch_result = CUDA_ERROR_LAUNCH_FAILED;
  CHECK(norm.run(o, nullptr, 0, stream()) == Status::cuda_error && last_cuda_error() == CUDA_ERROR_LAUNCH_FAILED);
}

/// Arrays of pointers are the caller's, and what kernels reach through them alone need not be passed.
void pointers() {
  using gemm = gemm_pointers_bf16;
  static_assert(std::is_same<decltype(gemm::Operands::As), const __nv_bfloat16* const*>::value, "into what is read");
  static_assert(std::is_same<decltype(gemm::Operands::Cs), __nv_bfloat16* const*>::value, "into what is written");
  CHECK(prepare(0) == Status::ok);
  gemm call;
  const gemm::Sizes sizes{1024, 1024, 1024, 1024, 1024};
  gemm::Operands o;
  o.As = typed<const __nv_bfloat16*>(0x1000008), o.Bs = typed<const __nv_bfloat16*>(0x2000010);
  o.Cs = typed<__nv_bfloat16*>(0x3000000);
  CHECK(gemm::select(sizes, o, 0, {}, call) == Status::ok);
  fake().signatures["gemm_pointers_tiles"] = "pppl";
  CHECK(call.run(o, nullptr, 0, stream()) == Status::ok);
  CHECK(fake().log.back().find(" 0x1000008 0x2000010 0x3000000 1024") != std::string::npos);
  o.A = typed<__nv_bfloat16>(0x4000008);  // not used, and an error all the same
  CHECK(call.run(o, nullptr, 0, stream()) == Status::misaligned);
  o.A = nullptr, o.As = typed<const __nv_bfloat16*>(0x1000004);
  CHECK(call.run(o, nullptr, 0, stream()) == Status::misaligned);
  o.As = nullptr;
  CHECK(call.run(o, nullptr, 0, stream()) == Status::invalid_argument);
  CHECK(gemm::select({65537, 8, 8, 8, 1}, {}, 0, {}, call) == Status::invalid_argument);
  CHECK(std::strstr(call.choice().why, "there are 1 to 65536 pointers As") != nullptr);
  CHECK(gemm::select({1024, 1024, 1024, 1020, 1024}, {}, 0, {}, call) == Status::invalid_argument);
}

void wrong_arguments() {
  softmax_bf16 call;
  CHECK(softmax_bf16::select(kSizes, {}, 0, {}, call) == Status::not_prepared);
  CHECK(call.run(softmax_operands(), workspace, kPlenty, stream()) == Status::not_supported);
  CHECK(prepare(-1) == Status::invalid_argument && prepare(7) == Status::invalid_argument);
  CHECK(prepare(0) == Status::ok);
  CHECK(softmax_bf16::select(kSizes, {}, -1, {}, call) == Status::invalid_argument);
  const auto select = [&](std::int64_t m, std::int64_t n) { return softmax_bf16::select({m, n}, {}, 0, {}, call); };
  CHECK(select(0, 1024) == Status::invalid_argument && select(1024, -3) == Status::invalid_argument);
  CHECK(std::strstr(call.choice().why, "at least 1") != nullptr);
  CHECK(select(std::int64_t{1} << 40, std::int64_t{1} << 40) == Status::invalid_argument);
  CHECK(std::strstr(call.choice().why, "buffer X overflow") != nullptr ||
        std::strstr(call.choice().why, "no value") != nullptr);
  CHECK(select(1000, 1024) == Status::not_supported);
  CHECK(std::strstr(call.choice().why, "not tuned for these sizes") != nullptr ||
        std::strstr(call.choice().why, "near enough") != nullptr);
  gemm_masked_f16 half;
  CHECK(gemm_masked_f16::select({8, 16, 17, 1024, 1024}, {}, 0, {}, half) == Status::invalid_argument);
  CHECK(std::strstr(half.choice().why, "no room for so many rows") != nullptr);
  gemm_masked_block_scaled_e4m3 masked;
  CHECK(gemm_masked_block_scaled_e4m3::select({8, 16, 17, 1024, 1024}, {}, 0, {}, masked) == Status::invalid_argument);
  CHECK(std::strstr(masked.choice().why, "no room for so many rows") != nullptr);

  softmax_bf16::Operands o = softmax_operands();
  o.Y = typed<__nv_bfloat16>(0x20000008);  // kernels were checked and tuned on what the operation says: 16 bytes
  CHECK(softmax_bf16::select(kSizes, o, 0, {}, call) == Status::misaligned);
  CHECK(softmax_bf16::select(kSizes, {}, 0, {}, call) == Status::ok);
  CHECK(call.run(o, workspace, kPlenty, stream()) == Status::misaligned);
  o.Y = nullptr;
  CHECK(call.run(o, workspace, kPlenty, stream()) == Status::invalid_argument);
  CHECK(call.run(softmax_operands(), workspace, kPlenty, stream(1)) == Status::not_prepared);
  CHECK(prepare(1) == Status::ok);
  CHECK(call.run(softmax_operands(), workspace, kPlenty, stream(1)) == Status::wrong_device);

  reduction sum;
  CHECK(reduction::select({1024}, {}, 0, {}, sum) == Status::ok);
  reduction::Operands given;
  given.X = typed<float>(0x1000000), given.Y = typed<float>(0x2000000);
  CHECK(sum.workspace_bytes() > 0);
  CHECK(sum.run(given, workspace, sum.workspace_bytes() - 1, stream()) == Status::workspace_too_small);
  CHECK(sum.run(given, nullptr, kPlenty, stream()) == Status::workspace_too_small);
  CHECK(fake().launches == 0 && fake().memsets == 0);
  CHECK(sum.run(given, workspace, sum.workspace_bytes(), stream()) == Status::ok);
  CHECK(fake().launches == 2);
}

/// What other sizes, other devices and pins get.
void dispatch() {
  CHECK(prepare(0) == Status::ok);
  int count = 0;
  const TunedSizes* const tuned = softmax_bf16::tuned(&count);
  CHECK(count >= 4 && tuned[0].sizes[0] == 1024 && tuned[3].sizes[1] == 1792 && tuned[0].ratio > 1);
  softmax_bf16 call;
  Limits policy;
  policy.pinned = tuned[0].variant;
  CHECK(softmax_bf16::select(kSizes, {}, 0, policy, call) == Status::ok && call.choice().match == Match::exact);
  CHECK(softmax_bf16::select({1000, 1024}, {}, 0, policy, call) == Status::ok);
  CHECK(call.choice().match == Match::neighbour && call.choice().variant == tuned[0].variant);
  CHECK(softmax_bf16::select({1000, 1023}, {}, 0, policy, call) == Status::not_supported);
  softmax_f16 other;
  CHECK(softmax_f16::select({1024, 1024}, {}, 0, policy, other) == Status::not_supported);
  int all = 0;
  CHECK(variants(&all) != nullptr && all > count);
  // Neighbours of transposes lose little here, and no other's were measured.
  transpose_bf16 near;
  CHECK(transpose_bf16::select({1100 / 8 * 8, 1024}, {}, 0, {}, near) == Status::ok);
  CHECK(near.choice().match == Match::neighbour && near.choice().expected_loss == 0.012);
  CHECK(transpose_bf16::select({16384, 1024}, {}, 0, {}, near) == Status::not_supported);
  CHECK(std::strstr(near.choice().why, "near enough") != nullptr);
}

void other_device() {
  fake().sm_count = 114;
  fake().name = "NVIDIA H100 PCIe";
  CHECK(prepare(0) == Status::ok);
  softmax_bf16 call;
  CHECK(softmax_bf16::select(kSizes, {}, 0, {}, call) == Status::not_supported);
  CHECK(std::strstr(call.choice().why, "class of device") != nullptr);
  Limits policy;
  policy.worst = Match::other_device;
  CHECK(softmax_bf16::select(kSizes, {}, 0, policy, call) == Status::ok);
  CHECK(call.choice().match == Match::other_device && call.choice().expected_loss < 0);
}

void wrong_device() {
  fake().arch = 80;
  CHECK(prepare(0) == Status::wrong_device);
}

/// What is known of a buffer's places, by its extents and strides.
void shapes() {
  const auto layout = [](std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t stride) {
    return detail::is_layout({2, {rows, columns}, {row_stride, stride}});
  };
  CHECK(layout(4, 8, 8, 1) && layout(4, 8, 9, 1) && layout(4, 8, 1, 4) && layout(1, 8, 1, 1));
  CHECK(!layout(4, 8, 7, 1) && !layout(4, 8, 1, 3) && !layout(4, 8, 1, 1));
  CHECK(!layout(0, 8, 8, 1) && !layout(4, 8, 0, 1) && !layout(4, 8, 8, 0) && !layout(4, -8, 8, 1));
  CHECK(layout(1 << 24, 1 << 24, 1 << 24, 1) && !layout(1 << 24, (1 << 24) + 1, (1 << 24) + 1, 1));
  const auto alignment = [](std::int64_t rows, std::int64_t row_stride, std::int64_t stride, std::int64_t of_pointer) {
    return detail::row_alignment({2, {rows, 64}, {row_stride, stride}}, {2, {}, of_pointer, false});
  };
  CHECK(alignment(4, 64, 1, 256) == 128 && alignment(4, 72, 1, 256) == 16 && alignment(4, 65, 1, 256) == 2);
  CHECK(alignment(4, 72, 1, 8) == 8 && alignment(4, 256, 1, 512) == 256);
  CHECK(alignment(1, 65, 1, 256) == 256);  // there is no other row
  CHECK(alignment(4, 1, 4, 256) == 8);     // columns are what is not contiguous
}

struct Scenario {
  const char* name;
  void (*run)();
};
const Scenario kScenarios[] = {{"types", types},
                               {"calls", calls},
                               {"pointers", pointers},
                               {"dispatch", dispatch},
                               {"shapes", shapes},
                               {"wrong_arguments", wrong_arguments},
                               {"other_device", other_device},
                               {"wrong_device", wrong_device}};

}  // namespace

int main(int count, char** arguments) {
  for (const Scenario& scenario : kScenarios) {
    if (count == 2 && std::strcmp(arguments[1], scenario.name) == 0) {
      scenario.run();
      return failures == 0 ? 0 : 1;
    }
  }
  std::puts("no such scenario");
  return 2;
}
