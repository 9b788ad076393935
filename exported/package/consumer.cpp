// SPDX-License-Identifier: MIT
// A program's half of `pgtune export header --verify`: compiled with the header by the host's compiler into a library
// that pgtune-worker calls.
#include "pgtune_export.hpp"

namespace exported = pgtune_namespace;

namespace {

/// Pointers and scalars of a call: of GEMM A, B, C, bias, D and alpha, beta; of an operation in its order.
struct Given {
  void* const* pointers;
  const float* scalars;
};

/// Entries that are called alike: GEMM's, or those of an operation in a type. select() takes the number among these and
/// returns a status, or -1 where another kernel than the entry's was chosen.
struct Kind {
  int (*count)();
  int (*select)(int entry, int device, const Given& given, std::size_t* bytes);
  int (*run)(const Given& given, void* workspace, std::size_t bytes, CUstream stream);
};

int number(exported::Status status, const exported::Choice& choice, exported::Match match, int variant) {
  if (status != exported::Status::ok) return static_cast<int>(status);
  return choice.match == match && choice.variant == variant ? 0 : -1;
}

/* PGTUNE_GEMMS { */
exported::Gemm gemm;

exported::Operands operands_of(const Given& given) {
  return {given.pointers[0], given.pointers[1], given.pointers[2], given.pointers[3],
          given.pointers[4], given.scalars[0],  given.scalars[1]};
}

int count_gemms() {
  int count = 0;
  exported::entries(&count);
  return count;
}

int select_gemm(int entry, int device, const Given& given, std::size_t* bytes) {
  int count = 0;
  const exported::Entry& e = exported::entries(&count)[entry];
  exported::Policy policy;
  if (e.guessed) policy.largest_loss = e.guessed_loss;
  const exported::Status status = exported::Gemm::select(e.problem, operands_of(given), device, policy, gemm);
  *bytes = gemm.workspace_bytes();
  return number(status, gemm.choice(), e.guessed ? exported::Match::guess : exported::Match::exact, e.variant);
}

/// A family's kernel for m rows, under the policy that lets nothing else serve.
int select_family(int family, std::int64_t m, int device, const Given& given, std::size_t* bytes) {
  int count = 0;
  const exported::Family* const all = exported::families(&count);
  if (family < 0 || family >= count) return static_cast<int>(exported::Status::invalid_argument);
  exported::Problem problem = all[family].problem;
  problem.m = m;
  exported::Policy policy;
  policy.batch_invariant = true;
  const exported::Status status = exported::Gemm::select(problem, operands_of(given), device, policy, gemm);
  *bytes = gemm.workspace_bytes();
  return static_cast<int>(status);
}

int run_gemm(const Given& given, void* workspace, std::size_t bytes, CUstream stream) {
  return static_cast<int>(gemm.run(operands_of(given), workspace, bytes, stream));
}
/* PGTUNE_GEMMS } */

/* PGTUNE_OPERATIONS { */
template <typename Call>
struct Operations {
  static inline Call call;

  static int count() {
    int out = 0;
    Call::tuned(&out);
    return out;
  }
  static int select(int entry, int device, const Given& given, std::size_t* bytes) {
    int all = 0;
    const exported::TunedSizes& e = Call::tuned(&all)[entry];
    const exported::Status status =
        call.select_listed(e.sizes, Call::listed(given.pointers, given.scalars), device, {});
    *bytes = call.workspace_bytes();
    return number(status, call.choice(), exported::Match::exact, e.variant);
  }
  static int run(const Given& given, void* workspace, std::size_t bytes, CUstream stream) {
    return static_cast<int>(call.run_listed(Call::listed(given.pointers, given.scalars), workspace, bytes, stream));
  }
};
#define PGTUNE_OPERATION(name) \
  {Operations<exported::name>::count, Operations<exported::name>::select, Operations<exported::name>::run},
/* PGTUNE_OPERATIONS } */

const Kind kKinds[] = {
    /* PGTUNE_GEMMS { */
    {count_gemms, select_gemm, run_gemm},
    /* PGTUNE_GEMMS } */
    /* PGTUNE_OPERATION_CALLS */
};
const Kind* selected = nullptr;

}  // namespace

extern "C" {

int pgtune_consumer_prepare(int device) { return static_cast<int>(PGTUNE_PREPARE); }

/// A status, or -1 where another kernel than the entry's was chosen.
int pgtune_consumer_select(int entry, int device, void** pointers, const float* scalars, std::size_t* bytes) {
  *bytes = 0;
  for (const Kind& kind : kKinds) {
    if (entry >= 0 && entry < kind.count()) {
      selected = &kind;
      return kind.select(entry, device, {pointers, scalars}, bytes);
    }
    entry -= kind.count();
  }
  return static_cast<int>(exported::Status::invalid_argument);
}

/* PGTUNE_GEMMS { */
int pgtune_consumer_select_family(int family, std::int64_t m, int device, void** pointers, const float* scalars,
                                  std::size_t* bytes) {
  *bytes = 0;
  selected = &kKinds[0];
  return select_family(family, m, device, {pointers, scalars}, bytes);
}
/* PGTUNE_GEMMS } */

int pgtune_consumer_run(void** pointers, const float* scalars, void* workspace, std::size_t bytes, void* stream) {
  if (selected == nullptr) return static_cast<int>(exported::Status::not_supported);
  return selected->run({pointers, scalars}, workspace, bytes, static_cast<CUstream>(stream));
}

const char* pgtune_consumer_text(int status) { return exported::text(static_cast<exported::Status>(status)); }

int pgtune_consumer_last_cuda_error() { return exported::last_cuda_error(); }
}
