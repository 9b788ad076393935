// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/baseline_operands.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "pgtune_operand_copy_kernels.hpp"
#include "tuner/gpu/baseline/cublaslt_matmul.hpp"
#include "tuner/gpu/jit/nvrtc.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::array kCopySymbols{"lay_out_operands", "copy_rows"};

static_assert(sizeof(LineCopy) == 72 && sizeof(RowCopy) == 72 && sizeof(OperandCopies) == 296,
              "what NVRTC makes of copy_plans.hpp");

constexpr std::int64_t kRowAlignment = 16;  // bytes, and elements of the only affected types

std::int64_t round_up_to(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Whether an operand is stored in a form that cuBLASLt accepts.
bool usable_as_is(bool along_k, std::int64_t ld) { return along_k && ld % kRowAlignment == 0; }

/// Bytes between rows of C and D.
std::int64_t row_bytes(const Problem& problem) { return problem.ldc * element_bytes(problem.type_of_c()); }

bool whole_multiples(const Problem& problem, std::int64_t of) {
  return problem.m % of == 0 && problem.n % of == 0 && problem.k % of == 0 && row_bytes(problem) % of == 0;
}

/// Additional bytes for one operand set, rounded up to the alignment of buffers; 0 if the problem's own operand serves.
struct OwnBytes {
  std::int64_t a = 0, b = 0, c = 0, d = 0, bias = 0;

  [[nodiscard]] std::int64_t total() const { return a + b + c + d + bias; }
};

OwnBytes own_bytes(const Problem& problem, const Problem& solved) {
  const auto bytes = [](std::int64_t exact) { return round_up_to(exact, kBufferAlignment); };
  const bool other_m = solved.m != problem.m, other_n = solved.n != problem.n, other_k = solved.k != problem.k;
  OwnBytes own;
  if (other_m || other_k || solved.trans_a != problem.trans_a || solved.lda != problem.lda)
    own.a = bytes(solved.stride_a() * solved.batch * element_bytes(solved.dtype));
  if (other_n || other_k || solved.trans_b != problem.trans_b || solved.ldb != problem.ldb)
    own.b = bytes(solved.stride_b() * solved.batch * element_bytes(solved.dtype));
  if (other_m || other_n || solved.ldc != problem.ldc) {
    own.d = bytes(solved.m * solved.batch * row_bytes(solved));
    if (problem.beta != 0) own.c = own.d;
  }
  if (other_n) own.bias = bytes(solved.bias_bytes());
  return own;
}

/// Copies rows of C or D between the two problems' layouts.
RowCopy copy_of_c(const Problem& problem, std::uint64_t from_address, const Problem& from, std::uint64_t to_address,
                  const Problem& to) {
  return planned(RowCopy{.from = from_address,
                         .to = to_address,
                         .rows = problem.m,
                         .row_bytes = problem.n * element_bytes(problem.type_of_c()),
                         .stride_from = row_bytes(from),
                         .stride_to = row_bytes(to),
                         .batch_from = from.m * row_bytes(from),
                         .batch_to = to.m * row_bytes(to)});
}

}  // namespace

Result<std::string> OperandCopyKernels::compile(const std::string& architecture) {
  static std::mutex mutex;
  static std::map<std::string, std::string> cubins;
  const std::scoped_lock lock(mutex);
  if (const auto found = cubins.find(architecture); found != cubins.end()) return found->second;
  auto cubin = compile_own_kernels(embedded::pgtune_operand_copy_kernels(), architecture);
  if (cubin) cubins.emplace(architecture, *cubin);
  return cubin;
}

Result<std::unique_ptr<OperandCopyKernels>> OperandCopyKernels::load(const Driver& driver,
                                                                     const std::string& architecture) {
  TRY_ASSIGN(const auto cubin, compile(architecture));
  auto kernels = KernelTable<kCount>::load(driver, cubin, kCopySymbols, "the baseline's");
  if (!kernels) return tl::unexpected(to_error(kernels.error()));
  return std::unique_ptr<OperandCopyKernels>(new OperandCopyKernels(std::move(*kernels)));
}

CudaResult<> OperandCopyKernels::lay_out(const OperandCopies& copies, std::int64_t batch, cudaStream_t stream) const {
  return kernels_.launch(kLayOutOperands, {ctas_of(copies) * batch}, {kRowCopyThreads}, stream, copies);
}

CudaResult<> OperandCopyKernels::copy_rows(const RowCopy& copy, std::int64_t batch, cudaStream_t stream) const {
  return kernels_.launch(kCopyRows, {copy.pieces * batch}, {kRowCopyThreads}, stream, copy);
}

Problem BaselineOperands::solvable(const Problem& problem) {
  Problem solvable = problem;
  if (!cublaslt_fuses(problem.epilogue.activation)) solvable.epilogue.activation = Activation::kNone;
  const CublasLtArithmetic& arithmetic = cublaslt_arithmetic(problem.dtype);
  if (!arithmetic.only_along_k) return solvable;
  solvable.trans_a = false;
  solvable.trans_b = true;
  solvable.k = round_up_to(problem.k, arithmetic.k_multiple);
  const std::int64_t own_row = round_up_to(problem.k, kRowAlignment);
  // Only the baseline's own memory has zeros beyond K.
  const bool same_k = solvable.k == problem.k;
  if (!same_k || !usable_as_is(!problem.trans_a, problem.lda)) solvable.lda = own_row;
  if (!same_k || !usable_as_is(problem.trans_b, problem.ldb)) solvable.ldb = own_row;
  return solvable;
}

std::optional<Problem> BaselineOperands::enlarged(const Problem& problem) {
  const std::int64_t multiple = cublaslt_arithmetic(problem.dtype).extent_multiple;
  if (whole_multiples(problem, multiple)) return std::nullopt;
  Problem larger = solvable(problem);
  larger.trans_a = false;
  larger.trans_b = true;
  for (std::int64_t* const extent : {&larger.m, &larger.n, &larger.k}) *extent = round_up_to(*extent, multiple);
  larger.lda = larger.ldb = larger.ldc = 0;
  const auto packed = with_default_strides(larger);
  if (!packed) return std::nullopt;
  larger = *packed;
  // Operands of unchanged size in a usable layout stay in place.
  const bool same_m = larger.m == problem.m, same_n = larger.n == problem.n, same_k = larger.k == problem.k;
  if (same_m && same_k && usable_as_is(!problem.trans_a, problem.lda)) larger.lda = problem.lda;
  if (same_n && same_k && usable_as_is(problem.trans_b, problem.ldb)) larger.ldb = problem.ldb;
  if (same_m && same_n && row_bytes(problem) % multiple == 0) larger.ldc = problem.ldc;
  return larger;
}

std::int64_t BaselineOperands::copy_bytes(const Problem& problem) {
  const std::int64_t of_its_size = own_bytes(problem, solvable(problem)).total();
  const auto larger = enlarged(problem);
  return larger ? std::max(of_its_size, own_bytes(problem, *larger).total()) : of_its_size;
}

std::string BaselineOperands::copied(const Problem& problem, const Problem& solved) {
  const OwnBytes own = own_bytes(problem, solved);
  std::string names;
  for (const auto& [name, bytes] :
       {std::pair{"A", own.a}, {"B", own.b}, {"C", own.c}, {"bias", own.bias}, {"D", own.d}}) {
    if (bytes > 0) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

CudaResult<BaselineOperands> BaselineOperands::create(const Problem& problem, const Problem& solved,
                                                      const OperandBuffers& buffers, const OperandCopyKernels* kernels,
                                                      Memory memory, cudaStream_t stream) {
  BaselineOperands operands(problem, solved, buffers, kernels);
  const std::int64_t bytes = own_bytes(problem, solved).total();
  if (bytes == 0) return operands;
  const bool of_each = memory == Memory::kOfEachSet;
  TRY_ASSIGN(auto allocated,
             DeviceBuffer::allocate(of_each ? bytes * static_cast<std::int64_t>(operands.copies_.size()) : bytes));
  operands.memory_ = std::move(allocated);
  // Copies write only existing elements, so zeroing once suffices.
  if (solved.shape() != problem.shape()) {
    TRY(buffers.kernels().fill_pattern({operands.memory_.address(), operands.memory_.bytes()}, 0, stream));
  }
  std::uint64_t next = operands.memory_.address();
  for (OperandSet& set : operands.copies_) {
    operands.plans_.push_back(operands.place(set, next));
    if (of_each) next += static_cast<std::uint64_t>(bytes);
  }
  return operands;
}

BaselineOperands::Copies BaselineOperands::place(OperandSet& set, std::uint64_t next) const {
  const Problem &from = problem_, &to = solved_;
  const OwnBytes own = own_bytes(from, to);
  const OperandSet given = set;
  const auto placed = [&](Operand operand, std::int64_t bytes) {
    if (bytes == 0) return false;
    set[operand] = {next, bytes};
    next += static_cast<std::uint64_t>(bytes);
    return true;
  };
  Copies plan;
  plan.before.depth = from.k;
  if (placed(Operand::kA, own.a)) {
    plan.before.a = planned(LineCopy{.in = given[Operand::kA].address,
                                     .out = set[Operand::kA].address,
                                     .lines = from.m,
                                     .ld_in = from.lda,
                                     .ld_out = to.lda,
                                     .stride_in = from.stride_a(),
                                     .stride_out = to.stride_a(),
                                     .along_k = from.trans_a ? 0 : 1});
  }
  if (placed(Operand::kB, own.b)) {
    plan.before.b = planned(LineCopy{.in = given[Operand::kB].address,
                                     .out = set[Operand::kB].address,
                                     .lines = from.n,
                                     .ld_in = from.ldb,
                                     .ld_out = to.ldb,
                                     .stride_in = from.stride_b(),
                                     .stride_out = to.stride_b(),
                                     .along_k = from.trans_b ? 1 : 0});
  }
  if (placed(Operand::kC, own.c))
    plan.before.c = copy_of_c(from, given[Operand::kC].address, from, set[Operand::kC].address, to);
  if (placed(Operand::kBias, own.bias)) {
    plan.before.bias = planned(RowCopy{.from = given[Operand::kBias].address,
                                       .to = set[Operand::kBias].address,
                                       .rows = 1,
                                       .row_bytes = from.bias_bytes()});
  }
  if (placed(Operand::kD, own.d)) {
    // An operand that is not read is D's buffer, as in every operand set.
    if (from.beta == 0) set[Operand::kC] = set[Operand::kD];
    if (!from.epilogue.bias) set[Operand::kBias] = set[Operand::kD];
    plan.after = copy_of_c(from, set[Operand::kD].address, to, given[Operand::kD].address, from);
  }
  return plan;
}

CudaResult<> BaselineOperands::lay_out(std::size_t copy, cudaStream_t stream) const {
  if (plans_.empty()) return {};
  const OperandCopies& before = plans_[copy].before;
  if (ctas_of(before) == 0) return {};
  return kernels_->lay_out(before, problem_.batch, stream);
}

CudaResult<> BaselineOperands::return_result(std::size_t copy, cudaStream_t stream) const {
  if (plans_.empty() || plans_[copy].after.pieces == 0) return {};
  return kernels_->copy_rows(plans_[copy].after, problem_.batch, stream);
}

CudaResult<> BaselineOperands::poison(std::size_t copy, cudaStream_t stream) const {
  if (plans_.empty() || plans_[copy].after.pieces == 0) return {};
  return buffers_->kernels().fill_pattern(copies_[copy][Operand::kD], kPoison, stream);
}

}  // namespace pgtune::gpu
