// SPDX-License-Identifier: MIT
// A library of kernels for the preload library: compiled with an export of the namespace pgtune_served.
#include "table.hpp"

#include <new>
#include <type_traits>

#include "pgtune_served.hpp"

namespace {

namespace exported = pgtune_served;
using exported::Status;

static_assert(std::is_trivially_copyable<exported::Gemm>::value, "it is kept as bytes");
constexpr exported::Type kTypes[] = {exported::Type::f32,  exported::Type::tf32,  exported::Type::f16,
                                     exported::Type::bf16, exported::Type::e4m3,  exported::Type::e5m2,
                                     exported::Type::int8, exported::Type::tf32x3};
constexpr exported::Activation kActivations[] = {exported::Activation::none, exported::Activation::relu,
                                                 exported::Activation::gelu};

int word(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return kPgtuneOk;
    case Status::misaligned:
      return kPgtuneMisaligned;
    case Status::workspace_too_small:
      return kPgtuneWorkspace;
    case Status::not_prepared:
      return kPgtuneOtherContext;
    case Status::no_driver:
    case Status::driver_too_old:
    case Status::wrong_device:
      return kPgtuneOtherDevice;
    case Status::cuda_error:
      return kPgtuneFailed;
    default:
      return kPgtuneNoKernel;
  }
}

const exported::Gemm& of(const void* gemm) noexcept { return *static_cast<const exported::Gemm*>(gemm); }

/// Whether a search of this very problem found no kernel that is faster than cuBLASLt.
bool is_slower(exported::Problem problem, const exported::Operands& operands, int device) noexcept {
  namespace detail = exported::detail;
  if (!detail::complete(problem, operands)) return false;
  const detail::GemmQuery query(problem, operands);
  for (const exported::Entry& entry : query) {
    if (entry.device_class == detail::state.devices[device].device_class && query.is_alike(entry) &&
        query.is_same(entry))
      return entry.ratio_low <= 1;
  }
  return false;
}

int select(const PgtuneProblem* p, int device, void* gemm) noexcept {
  exported::Problem problem{kTypes[p->arithmetic], static_cast<exported::Layout>(p->layout), p->m, p->n, p->k};
  problem.batch = p->batch;
  problem.lda = p->lda, problem.ldb = p->ldb, problem.ldc = p->ldc;
  if (p->float32_out != 0) problem.out = exported::Element::f32;
  problem.epilogue = {p->bias != 0, kActivations[p->activation]};
  exported::Operands operands;  // null: as if aligned to 256 bytes, so that the choice does not depend on a call
  operands.beta = p->adds_c != 0 ? 1.0F : 0.0F;
  exported::Policy policy;
  policy.worst = exported::Match::family;
  policy.largest_loss = 1e9;  // whatever a family loses to single searches: only parts that beat cuBLASLt are here
  const Status status = exported::Gemm::select(problem, operands, device, policy, *new (gemm) exported::Gemm);
  return status == Status::ok && is_slower(problem, operands, device) ? kPgtuneNoKernel : word(status);
}

int run(const void* gemm, const PgtuneOperands* o, void* workspace, std::size_t bytes, void* stream) noexcept {
  return word(
      of(gemm).run({o->a, o->b, o->c, o->bias, o->d, 1, o->beta}, workspace, bytes, static_cast<CUstream>(stream)));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const PgtuneKernels pgtune_kernels_v1;
const PgtuneKernels pgtune_kernels_v1 = {
    sizeof(PgtuneProblem),
    sizeof(exported::Gemm),
    [](int device) { return word(exported::prepare(device)); },
    select,
    [](const void* gemm) { return of(gemm).workspace_bytes(); },
    [](const void* gemm) { return of(gemm).choice().match == exported::Match::family ? 1 : 0; },
    run,
    [] { return exported::last_cuda_error(); },
};
