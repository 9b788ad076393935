// SPDX-License-Identifier: MIT
// A program's half of `pgtune export header --verify`: compiled with the header by the host's compiler into a library
// that pgtune-worker calls.
#include "pgtune_export.hpp"

namespace exported = pgtune_namespace;

namespace {

exported::Gemm selected;

exported::Operands operands_of(void** pointers, float alpha, float beta) {
  return {pointers[0], pointers[1], pointers[2], pointers[3], pointers[4], alpha, beta};
}

}  // namespace

extern "C" {

int pgtune_consumer_prepare(int device) { return static_cast<int>(PGTUNE_PREPARE); }

/// A status, or -1 where another kernel than the entry's was chosen. Pointers: A, B, C, bias, D.
int pgtune_consumer_select(int entry, int device, void** pointers, float alpha, float beta, std::size_t* bytes) {
  int count = 0;
  const exported::Entry* const all = exported::entries(&count);
  if (entry < 0 || entry >= count) return static_cast<int>(exported::Status::invalid_argument);
  exported::Policy policy;
  if (all[entry].guessed) policy.largest_loss = all[entry].guessed_loss;
  const exported::Status status =
      exported::Gemm::select(all[entry].problem, operands_of(pointers, alpha, beta), device, policy, selected);
  *bytes = selected.workspace_bytes();
  if (status != exported::Status::ok) return static_cast<int>(status);
  const exported::Choice choice = selected.choice();
  const exported::Match match = all[entry].guessed ? exported::Match::guess : exported::Match::exact;
  return choice.match == match && choice.variant == all[entry].variant ? 0 : -1;
}

int pgtune_consumer_run(void** pointers, float alpha, float beta, void* workspace, std::size_t bytes, void* stream) {
  return static_cast<int>(
      selected.run(operands_of(pointers, alpha, beta), workspace, bytes, static_cast<CUstream>(stream)));
}

const char* pgtune_consumer_text(int status) { return exported::text(static_cast<exported::Status>(status)); }

int pgtune_consumer_last_cuda_error() { return exported::last_cuda_error(); }
}
