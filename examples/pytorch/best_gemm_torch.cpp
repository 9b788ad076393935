// SPDX-License-Identifier: MIT
// Exported kernels in PyTorch: the operator best_gemm::mm, and aten::mm and addmm by the same kernels while they are
// enabled. best_gemm_torch.py compiles it with the package of `pgtune export header --library best_gemm`.
#include <ATen/Context.h>
#include <ATen/cuda/EmptyTensor.h>
#include <ATen/ops/addmm_cuda_dispatch.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mm_cuda_dispatch.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "best_gemm.hpp"

namespace {

using at::Scalar;
using at::Tensor;
using best_gemm::Match;
using best_gemm::Status;

/// A product's kernel on one device.
struct Plan {
  best_gemm::Gemm gemm;
  bool faster;  ///< than cuBLASLt, where that was measured
};

/// What a plan depends on: the problem's numbers, and its words and the device in one.
using Key = std::array<std::int64_t, 6>;
struct Hash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t mixed = 0;
    for (const std::int64_t word : key) mixed = (mixed ^ static_cast<std::uint64_t>(word)) * 0x9E3779B97F4A7C15U;
    return mixed ^ mixed >> 32U;
  }
};

bool is_faster(const best_gemm::Problem& p, Match match) {
  if (match == Match::family) return true;
  int count = 0;
  const best_gemm::Entry* const entries = best_gemm::entries(&count);
  for (int i = 0; i < count; ++i) {
    const best_gemm::Problem& q = entries[i].problem;
    const bool plain = q.batch == 1 && !entries[i].adds_c && q.epilogue.activation == best_gemm::Activation::none;
    if (plain && q.m == p.m && q.n == p.n && q.k == p.k && q.type == p.type && q.layout == p.layout &&
        q.epilogue.bias == p.epilogue.bias && entries[i].ratio_low > 1)
      return true;
  }
  return false;
}

/// Null: no kernel was tuned for it. Loads the kernels where the device has none yet.
std::unique_ptr<Plan> make_plan(const best_gemm::Problem& problem, int device) {
  best_gemm::Policy policy;
  policy.worst = Match::family;
  auto plan = std::make_unique<Plan>();
  // Without operands, as if they were aligned to 256 bytes: run() says where they are not.
  Status status = best_gemm::Gemm::select(problem, {}, device, policy, plan->gemm);
  if (status == Status::not_prepared && best_gemm::Gemm::prepare(device) == Status::ok)
    status = best_gemm::Gemm::select(problem, {}, device, policy, plan->gemm);
  if (status != Status::ok) return nullptr;
  plan->faster = is_faster(problem, plan->gemm.choice().match);
  return plan;
}

const Plan* plan_of(const best_gemm::Problem& p, int device) {
  thread_local std::unordered_map<Key, std::unique_ptr<Plan>, Hash> plans;
  const std::int64_t words = static_cast<std::int64_t>(p.type) << 24 | static_cast<std::int64_t>(p.layout) << 16 |
                             static_cast<std::int64_t>(p.epilogue.bias) << 8 | device;
  const auto [place, is_new] = plans.try_emplace({p.m, p.n, p.k, p.lda, p.ldb, words});
  if (is_new) place->second = make_plan(p, device);
  return place->second.get();
}

std::optional<best_gemm::Type> type_of(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16:
      return best_gemm::Type::bf16;
    case at::kHalf:
      return best_gemm::Type::f16;
    case at::kFloat:
      return at::globalContext().float32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL) ==
                     at::Float32Precision::TF32
                 ? best_gemm::Type::tf32
                 : best_gemm::Type::f32;
    default:
      return std::nullopt;
  }
}

/// Whether the matrix lies by rows or by columns (transposed), and how far from one to the next.
bool is_matrix(const Tensor& x, bool& transposed, std::int64_t& leading) {
  const std::int64_t rows = x.size(0), columns = x.size(1);
  if (x.stride(1) == 1 && (rows == 1 || x.stride(0) >= columns)) {
    transposed = false;
    leading = rows == 1 ? columns : x.stride(0);
  } else if (x.stride(0) == 1 && (columns == 1 || x.stride(1) >= rows)) {
    transposed = true;
    leading = columns == 1 ? rows : x.stride(1);
  } else {
    return false;
  }
  return true;
}

/// Of a product that a kernel may compute: null where none does. `bias`: of n elements, or null.
const Plan* find(const Tensor& a, const Tensor& b, const Tensor* bias) {
  if (a.dim() != 2 || b.dim() != 2 || !a.is_cuda() || a.device() != b.device() || a.scalar_type() != b.scalar_type() ||
      a.size(1) != b.size(0) || a.numel() == 0 || b.numel() == 0)
    return nullptr;
  const auto type = type_of(a.scalar_type());
  best_gemm::Problem problem{};
  bool trans_a = false, trans_b = false;
  if (!type || !is_matrix(a, trans_a, problem.lda) || !is_matrix(b, trans_b, problem.ldb)) return nullptr;
  problem.type = *type;
  problem.layout = static_cast<best_gemm::Layout>(2 * trans_a + trans_b);
  problem.m = a.size(0), problem.n = b.size(1), problem.k = a.size(1);
  problem.epilogue.bias = bias != nullptr;
  return plan_of(problem, a.device().index());
}

/// D = A B + bias, where nothing forbids; D is allocated if it is undefined. False: nothing was launched.
bool run(const Plan* plan, const Tensor& a, const Tensor& b, const Tensor* bias, Tensor& d) {
  if (plan == nullptr) return false;
  const std::int64_t m = a.size(0), n = b.size(1);
  const c10::cuda::CUDAGuard guard(a.device());
  if (!d.defined()) {
    d = at::detail::empty_cuda({m, n}, a.scalar_type(), a.device(), std::nullopt);
  } else if (d.scalar_type() != a.scalar_type() || d.device() != a.device() || d.dim() != 2 || d.size(0) != m ||
             d.size(1) != n || !d.is_contiguous() || d.is_alias_of(a) || d.is_alias_of(b) ||
             (bias != nullptr && d.is_alias_of(*bias))) {
    return false;
  }
  best_gemm::Operands operands{a.const_data_ptr(), b.const_data_ptr(), nullptr, nullptr, d.mutable_data_ptr()};
  if (bias != nullptr) operands.bias = bias->const_data_ptr();
  // Freed at the return, and given to no other stream before this one is through with it.
  c10::DataPtr workspace;
  const std::size_t bytes = plan->gemm.workspace_bytes();
  if (bytes > 0) workspace = c10::cuda::CUDACachingAllocator::get()->allocate(bytes);
  const Status status =
      plan->gemm.run(operands, workspace.get(), bytes, c10::cuda::getCurrentCUDAStream(a.device().index()).stream());
  TORCH_CHECK(status != Status::cuda_error, "best_gemm: CUDA error ", best_gemm::last_cuda_error());
  return status == Status::ok;
}

const Plan* faster(const Plan* plan) { return plan != nullptr && plan->faster ? plan : nullptr; }

/// The bias of addmm: one of n elements, perhaps as a matrix whose rows are all the same.
bool is_bias(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  return a.dim() == 2 && b.dim() == 2 && alpha.equal(1) && beta.equal(1) && self.scalar_type() == a.scalar_type() &&
         self.device() == a.device() && self.dim() >= 1 && self.dim() <= 2 && self.size(-1) == b.size(1) &&
         self.stride(-1) == 1 &&
         (self.dim() == 1 || self.size(0) == 1 || (self.size(0) == a.size(0) && self.stride(0) == 0));
}

// In the place of PyTorch's own kernels, below autograd and autocast.

Tensor mm(const Tensor& a, const Tensor& b) {
  Tensor d;
  return run(faster(find(a, b, nullptr)), a, b, nullptr, d) ? d : at::cuda::mm(a, b);
}
Tensor& mm_out(const Tensor& a, const Tensor& b, Tensor& out) {
  return run(faster(find(a, b, nullptr)), a, b, nullptr, out) ? out : at::cuda::mm_outf(a, b, out);
}
Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  Tensor d;
  return is_bias(self, a, b, beta, alpha) && run(faster(find(a, b, &self)), a, b, &self, d)
             ? d
             : at::cuda::addmm(self, a, b, beta, alpha);
}
Tensor& addmm_out(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
                  Tensor& out) {
  return is_bias(self, a, b, beta, alpha) && run(faster(find(a, b, &self)), a, b, &self, out)
             ? out
             : at::cuda::addmm_outf(self, a, b, beta, alpha, out);
}

/// PyTorch warns that a kernel is overridden, which is meant.
struct Quiet : c10::WarningHandler {
  void process(const c10::Warning& /*warning*/) override {}
};

void enable(bool on) {
  static std::unique_ptr<torch::Library> overrides;
  overrides.reset();
  if (!on) return;
  Quiet quiet;
  const c10::WarningUtils::WarningHandlerGuard guard(&quiet);
  overrides =
      std::make_unique<torch::Library>(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__, __LINE__);
  overrides->impl("mm", mm);
  overrides->impl("mm.out", mm_out);
  overrides->impl("addmm", addmm);
  overrides->impl("addmm.out", addmm_out);
}

// The operator.

Tensor own_mm(const Tensor& a, const Tensor& b) {
  Tensor d;
  return run(find(a, b, nullptr), a, b, nullptr, d) ? d : at::cuda::mm(a, b);
}

Tensor below_autograd(const Tensor& a, const Tensor& b) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("best_gemm::mm", "").typed<Tensor(const Tensor&, const Tensor&)>();
  const at::AutoDispatchBelowADInplaceOrView guard;
  return op.call(a, b);
}

struct Product : torch::autograd::Function<Product> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& a, const Tensor& b) {
    context->save_for_backward({a, b});
    return below_autograd(a, b);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    return {differentiable(gradients[0], saved[1].t()), differentiable(saved[0].t(), gradients[0])};
  }
  static Tensor differentiable(const Tensor& a, const Tensor& b) {
    const bool asked = at::GradMode::is_enabled() && (a.requires_grad() || b.requires_grad());
    return asked ? apply(a, b) : below_autograd(a, b);
  }
};

/// M, N, K, type and layout of each tuned product of the operator's.
std::vector<std::int64_t> tuned() {
  std::vector<std::int64_t> out;
  int count = 0;
  const best_gemm::Entry* const entries = best_gemm::entries(&count);
  for (int i = 0; i < count; ++i) {
    const best_gemm::Problem& p = entries[i].problem;
    if (p.batch != 1 || entries[i].adds_c || p.epilogue.bias || p.epilogue.activation != best_gemm::Activation::none)
      continue;
    for (const auto number : {p.m, p.n, p.k, static_cast<std::int64_t>(p.type), static_cast<std::int64_t>(p.layout)})
      out.push_back(number);
  }
  return out;
}

}  // namespace

TORCH_LIBRARY(best_gemm, library) {
  library.def("mm(Tensor a, Tensor b) -> Tensor");
  library.def("enable(bool on) -> ()", enable);
  library.def("serves(Tensor a, Tensor b) -> bool",
              [](const Tensor& a, const Tensor& b) { return find(a, b, nullptr) != nullptr; });
  library.def("tuned() -> int[]", tuned);
}
TORCH_LIBRARY_IMPL(best_gemm, CUDA, library) { library.impl("mm", own_mm); }
TORCH_LIBRARY_IMPL(best_gemm, CompositeExplicitAutograd, library) {
  library.impl("mm", [](const Tensor& a, const Tensor& b) { return at::mm(a, b); });
}
TORCH_LIBRARY_IMPL(best_gemm, Autograd, library) { library.impl("mm", Product::differentiable); }
