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

static_assert(std::is_trivially_copyable<exported::Gemm>::value, "C copies it");
static_assert(sizeof(exported::Gemm) <= sizeof(pgtune_export_gemm::words) &&
                  alignof(exported::Gemm) <= alignof(pgtune_export_gemm),
              "a gemm of C holds one of C++");
static_assert(pgtune_export_status_not_compiled == static_cast<int>(exported::Status::not_compiled) &&
                  pgtune_export_match_none == static_cast<int>(exported::Match::none) &&
                  pgtune_export_layout_tt == static_cast<int>(exported::Layout::tt),
              "the same words");

int number(exported::Status status) noexcept { return static_cast<int>(status); }

bool is_word(std::int32_t word) noexcept { return word >= 0 && word < kWordEnd; }

const exported::Gemm& of(const pgtune_export_gemm* gemm) noexcept {
  return *reinterpret_cast<const exported::Gemm*>(gemm->words);
}

exported::Operands operands_of(const pgtune_export_operands& o) noexcept {
  return {o.a, o.b, o.c, o.bias, o.d, o.alpha, o.beta};
}

}  // namespace

extern "C" {

int pgtune_export_prepare(int device) { return number(exported::Gemm::prepare(device)); }

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
  if (policy != nullptr) {
    if (!is_word(policy->worst)) return pgtune_export_status_invalid_argument;
    wanted.worst = static_cast<exported::Match>(policy->worst);
    wanted.pinned = policy->pinned;
    wanted.largest_loss = policy->largest_loss;
  }
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
  const exported::Choice choice = gemm != nullptr && gemm->selected == 1 ? of(gemm).choice() : exported::Choice{};
  return {static_cast<std::int32_t>(choice.match), choice.variant, choice.expected_loss, choice.why};
}

const char* pgtune_export_text(int status) { return exported::text(static_cast<exported::Status>(status)); }

int pgtune_export_last_cuda_error(void) { return exported::last_cuda_error(); }

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
  const exported::Problem& p = e.problem;
  *out = {{static_cast<std::int32_t>(p.type), static_cast<std::int32_t>(p.layout), p.m, p.n, p.k, p.batch, p.lda, p.ldb,
           p.ldc, p.stride_a, p.stride_b, p.stride_c, static_cast<std::int32_t>(p.out), p.epilogue.bias ? 1 : 0,
           static_cast<std::int32_t>(p.epilogue.activation)},
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

const char* pgtune_export_content_hash(void) { return exported::build().content_hash; }

}  // extern "C"
