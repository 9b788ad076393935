// SPDX-License-Identifier: MIT
// The C interface, on top of the C++ one.
#include "pgtune_export.h"

#include <new>
#include <type_traits>

#include "pgtune_export.hpp"

namespace exported = pgtune_namespace;

namespace {

/// Larger than any status or word.
constexpr std::int32_t kWordEnd = 256;

static_assert(pgtune_export_status_not_compiled == static_cast<int>(exported::Status::not_compiled) &&
                  pgtune_export_match_none == static_cast<int>(exported::Match::none),
              "the same words");

constexpr pgtune_export_policy kDefault = PGTUNE_EXPORT_POLICY;
static_assert(kDefault.largest_loss == exported::Limits{}.largest_loss, "both have one default");

int number(exported::Status status) noexcept { return static_cast<int>(status); }

bool is_word(std::int32_t word) noexcept { return word >= 0 && word < kWordEnd; }

/// Whether the policy has known words; null is the default.
bool read_policy(const pgtune_export_policy* policy, exported::Limits& wanted) noexcept {
  if (policy == nullptr) return true;
  if (!is_word(policy->worst)) return false;
  wanted.worst = static_cast<exported::Match>(policy->worst);
  wanted.pinned = policy->pinned;
  wanted.largest_loss = policy->largest_loss;
  wanted.batch_invariant = policy->batch_invariant != 0;
  return true;
}

pgtune_export_choice choice_of(const exported::Choice& choice) noexcept {
  return {static_cast<std::int32_t>(choice.match), choice.variant, choice.expected_loss, choice.why};
}

/* PGTUNE_GEMMS { */
static_assert(std::is_trivially_copyable<exported::Gemm>::value, "C copies it");
static_assert(sizeof(exported::Gemm) <= sizeof(pgtune_export_gemm::words) &&
                  alignof(exported::Gemm) <= alignof(pgtune_export_gemm),
              "a gemm of C holds one of C++");
static_assert(pgtune_export_layout_tt == static_cast<int>(exported::Layout::tt), "the same words");

const exported::Gemm& of(const pgtune_export_gemm* gemm) noexcept {
  return *reinterpret_cast<const exported::Gemm*>(gemm->words);
}

pgtune_export_problem problem_of(const exported::Problem& p) noexcept {
  return {static_cast<std::int32_t>(p.type),
          static_cast<std::int32_t>(p.layout),
          p.m,
          p.n,
          p.k,
          p.batch,
          p.lda,
          p.ldb,
          p.ldc,
          p.stride_a,
          p.stride_b,
          p.stride_c,
          static_cast<std::int32_t>(p.out),
          p.epilogue.bias ? 1 : 0,
          static_cast<std::int32_t>(p.epilogue.activation)};
}

exported::Operands operands_of(const pgtune_export_operands& o) noexcept {
  return {o.a, o.b, o.c, o.bias, o.d, o.alpha, o.beta};
}
/* PGTUNE_GEMMS } */

/* PGTUNE_OPERATIONS { */
template <typename Call>
const Call& of(const pgtune_export_call& call) noexcept {
  return *reinterpret_cast<const Call*>(call.words);
}

/// What an operation's calls are in C++.
struct Kind {
  const char* name;
  int size_count;
  exported::Status (*select)(const std::int64_t*, void* const*, int, const exported::Limits&, pgtune_export_call&);
  exported::Status (*run)(const pgtune_export_call&, void* const*, const float*, void*, std::size_t, CUstream);
  std::size_t (*workspace_bytes)(const pgtune_export_call&);
  exported::Choice (*choice)(const pgtune_export_call&);
  const exported::TunedSizes* (*tuned)(int*);
};

template <typename Call>
Kind kind(const char* name) noexcept {
  static_assert(std::is_trivially_copyable<Call>::value, "C copies it");
  static_assert(sizeof(Call) <= sizeof(pgtune_export_call::words) && alignof(Call) <= alignof(pgtune_export_call),
                "a call of C holds one of C++");
  return {name,
          Call::kSizeCount,
          [](const std::int64_t* sizes, void* const* buffers, int device, const exported::Limits& policy,
             pgtune_export_call& out) {
            return (new (out.words) Call)->select_listed(sizes, Call::listed(buffers, nullptr), device, policy);
          },
          [](const pgtune_export_call& call, void* const* buffers, const float* scalars, void* workspace,
             std::size_t bytes, CUstream stream) {
            return of<Call>(call).run_listed(Call::listed(buffers, scalars), workspace, bytes, stream);
          },
          [](const pgtune_export_call& call) { return of<Call>(call).workspace_bytes(); },
          [](const pgtune_export_call& call) { return of<Call>(call).choice(); },
          Call::tuned};
}

const Kind* kind_of(int operation) noexcept {
  static const Kind kKinds[] = {
#define PGTUNE_OPERATION(name) kind<exported::name>(#name),
  /* PGTUNE_OPERATION_CALLS */
#undef PGTUNE_OPERATION
  };
  constexpr int kCount = static_cast<int>(sizeof kKinds / sizeof kKinds[0]);
  return operation >= 0 && operation < kCount ? &kKinds[operation] : nullptr;
}

/// The operation that a call was selected of; null: none.
const Kind* kind_of(const pgtune_export_call* call) noexcept {
  constexpr std::uint64_t kMost = 1U << 16;
  return call != nullptr && call->selected <= kMost ? kind_of(static_cast<int>(call->selected) - 1) : nullptr;
}
/* PGTUNE_OPERATIONS } */

}  // namespace

extern "C" {

int pgtune_export_prepare(int device) { return number(PGTUNE_PREPARE); }

/* PGTUNE_GEMMS { */
int pgtune_export_select(const pgtune_export_problem* problem, const pgtune_export_operands* operands, int device,
                         const pgtune_export_policy* policy, pgtune_export_gemm* out) {
  if (out == nullptr) return pgtune_export_status_invalid_argument;
  exported::Gemm& gemm = *new (out->words) exported::Gemm;
  out->selected = 0;
  if (problem == nullptr || operands == nullptr) return pgtune_export_status_invalid_argument;
  const pgtune_export_problem& from = *problem;
  if (!is_word(from.type) || !is_word(from.layout) || !is_word(from.out) || !is_word(from.activation))
    return pgtune_export_status_invalid_argument;
  exported::Problem p{static_cast<exported::Type>(from.type), static_cast<exported::Layout>(from.layout), from.m,
                      from.n, from.k};
  p.batch = from.batch == 0 ? 1 : from.batch;
  p.lda = from.lda, p.ldb = from.ldb, p.ldc = from.ldc;
  p.stride_a = from.stride_a, p.stride_b = from.stride_b, p.stride_c = from.stride_c;
  p.out = static_cast<exported::Element>(from.out);
  p.epilogue.bias = from.bias != 0;
  p.epilogue.activation = static_cast<exported::Activation>(from.activation);
  exported::Policy wanted;
  if (!read_policy(policy, wanted)) return pgtune_export_status_invalid_argument;
  const exported::Status status = exported::Gemm::select(p, operands_of(*operands), device, wanted, gemm);
  out->selected = 1;
  return number(status);
}

int pgtune_export_run(const pgtune_export_gemm* gemm, const pgtune_export_operands* operands, void* workspace,
                      size_t workspace_bytes, struct CUstream_st* stream) {
  if (gemm == nullptr || operands == nullptr) return pgtune_export_status_invalid_argument;
  if (gemm->selected != 1) return pgtune_export_status_not_supported;
  return number(of(gemm).run(operands_of(*operands), workspace, workspace_bytes, stream));
}

size_t pgtune_export_workspace_bytes(const pgtune_export_gemm* gemm) {
  return gemm != nullptr && gemm->selected == 1 ? of(gemm).workspace_bytes() : 0;
}

pgtune_export_choice pgtune_export_choice_of(const pgtune_export_gemm* gemm) {
  return choice_of(gemm != nullptr && gemm->selected == 1 ? of(gemm).choice() : exported::Choice{});
}

int pgtune_export_entry_count(void) {
  int count = 0;
  exported::entries(&count);
  return count;
}

int pgtune_export_get_entry(int number, pgtune_export_entry* out) {
  int count = 0;
  const exported::Entry* const all = exported::entries(&count);
  if (out == nullptr || number < 0 || number >= count) return pgtune_export_status_invalid_argument;
  const exported::Entry& e = all[number];
  *out = {problem_of(e.problem),
          e.adds_c ? 1 : 0,
          e.variant,
          e.device_class,
          e.time_s,
          e.tflops,
          e.ratio,
          e.ratio_low,
          e.ratio_high,
          e.guessed ? e.guessed_loss : -1};
  return pgtune_export_status_ok;
}

int pgtune_export_family_count(void) {
  int count = 0;
  exported::families(&count);
  return count;
}

int pgtune_export_get_family(int number, pgtune_export_family* out) {
  int count = 0;
  const exported::Family* const all = exported::families(&count);
  if (out == nullptr || number < 0 || number >= count) return pgtune_export_status_invalid_argument;
  const exported::Family& f = all[number];
  *out = {problem_of(f.problem), f.first_m,      f.adds_c ? 1 : 0, f.device_class, f.probes,
          f.median_loss,         f.largest_loss, f.sum_order};
  return pgtune_export_status_ok;
}

/* PGTUNE_GEMMS } */

/* PGTUNE_OPERATIONS { */
const char* pgtune_export_operation_name(int operation) {
  const Kind* const chosen = kind_of(operation);
  return chosen != nullptr ? chosen->name : nullptr;
}

int pgtune_export_select_operation(int operation, const int64_t* sizes, void* const* buffers, int device,
                                   const pgtune_export_policy* policy, pgtune_export_call* out) {
  if (out == nullptr) return pgtune_export_status_invalid_argument;
  out->selected = 0;
  const Kind* const chosen = kind_of(operation);
  exported::Limits wanted;
  if (chosen == nullptr || sizes == nullptr || !read_policy(policy, wanted))
    return pgtune_export_status_invalid_argument;
  const exported::Status status = chosen->select(sizes, buffers, device, wanted, *out);
  out->selected = static_cast<std::uint64_t>(operation) + 1;
  return number(status);
}

int pgtune_export_run_operation(const pgtune_export_call* call, void* const* buffers, const float* scalars,
                                void* workspace, size_t workspace_bytes, struct CUstream_st* stream) {
  if (call == nullptr || buffers == nullptr) return pgtune_export_status_invalid_argument;
  const Kind* const chosen = kind_of(call);
  if (chosen == nullptr) return pgtune_export_status_not_supported;
  return number(chosen->run(*call, buffers, scalars, workspace, workspace_bytes, stream));
}

size_t pgtune_export_call_workspace_bytes(const pgtune_export_call* call) {
  const Kind* const chosen = kind_of(call);
  return chosen != nullptr ? chosen->workspace_bytes(*call) : 0;
}

pgtune_export_choice pgtune_export_call_choice(const pgtune_export_call* call) {
  const Kind* const chosen = kind_of(call);
  return choice_of(chosen != nullptr ? chosen->choice(*call) : exported::Choice{});
}

int pgtune_export_tuned_count(int operation) {
  int count = 0;
  if (const Kind* const chosen = kind_of(operation)) chosen->tuned(&count);
  return count;
}

int pgtune_export_get_tuned(int operation, int number, int64_t* sizes, pgtune_export_tuned* out) {
  const Kind* const chosen = kind_of(operation);
  if (sizes == nullptr || out == nullptr || number < 0 || number >= pgtune_export_tuned_count(operation))
    return pgtune_export_status_invalid_argument;
  int count = 0;
  const exported::TunedSizes& e = chosen->tuned(&count)[number];
  for (int i = 0; i < chosen->size_count; ++i) sizes[i] = e.sizes[i];
  *out = {e.variant, e.device_class, e.time_s, e.speed, e.ratio, e.ratio_low, e.ratio_high};
  return pgtune_export_status_ok;
}
/* PGTUNE_OPERATIONS } */

const char* pgtune_export_text(int status) { return exported::text(static_cast<exported::Status>(status)); }

int pgtune_export_last_cuda_error(void) { return exported::last_cuda_error(); }

const char* pgtune_export_content_hash(void) { return exported::build().content_hash; }

}  // extern "C"
