// SPDX-License-Identifier: MIT
// An operation with sizes: all that a worker needs to make its data, compute the right result and judge another one, as
// plain numbers. The parent evaluates an operation's JSON into this (tuner/operation); who executes it never learns
// which operation it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/element_type.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/model/named_value.hpp"
#include "tuner/model/operation_baseline.hpp"
#include "tuner/model/operation_count.hpp"
#include "tuner/model/pointer_array.hpp"
#include "tuner/model/source.hpp"
#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune {

/// What launches do with a buffer. kInOut is restored before every launch that is judged.
enum class BufferRole { kIn, kOut, kInOut, kScratch };
[[nodiscard]] EnumTable<BufferRole> enum_table(BufferRole value);

/// Where a buffer's values come from: the distribution that the conditions name, numbers about `first` with the
/// deviation `second`, numbers between `first` and `second`, one number, whole numbers from `first` to `second`, a
/// kernel of the operation's source, the kernel that fills another buffer and writes this one with it, or addresses.
enum class FillKind { kData, kNormal, kUniform, kConstant, kIntegers, kKernel, kLinked, kPointers };
[[nodiscard]] EnumTable<FillKind> enum_table(FillKind value);

/// What an argument of one of the operation's own kernels is.
enum class ReferenceArgumentKind {
  kBuffer,  ///< the buffer's address
  kValue,   ///< of an output: where its right values go, one double an element, packed
  kScale,   ///< of an output: the unit of its error bound, one float an element, packed; negative: not checked
  kInt64,
  kFloat32,
  kFloat64,
  kSeed,    ///< another for each operand copy and trial, as unsigned 64-bit integer
  kResult,  ///< of an output that is judged by a residual: the address of what a launch left there
};
[[nodiscard]] EnumTable<ReferenceArgumentKind> enum_table(ReferenceArgumentKind value);

struct ReferenceArgument {
  ReferenceArgumentKind kind = ReferenceArgumentKind::kInt64;
  std::int64_t integer = 0;  ///< index of the buffer, or the number
  double real = 0;           ///< of kFloat32 and kFloat64

  PGTUNE_FIELDS(kind, integer, real)
  friend bool operator==(const ReferenceArgument&, const ReferenceArgument&) = default;
};

/// A launch of a kernel of the operation's source: a pass of the reference, or a fill.
struct ReferenceLaunch {
  std::string symbol;
  Dim3 grid, block;
  std::vector<ReferenceArgument> arguments;

  PGTUNE_FIELDS(symbol, grid, block, arguments)
  friend bool operator==(const ReferenceLaunch&, const ReferenceLaunch&) = default;

  /// It says how good a result is, and is launched for each that is judged. Others say what is right for the inputs.
  [[nodiscard]] bool judges_result() const;
};

/// An element passes when |got - right| <= per_scale * scale + per_result * |right| + absolute; with `of_residual` when
/// it is finite and |residual| <= per_scale * scale + absolute, of what passes that are given the result write.
struct ToleratedError {
  double per_scale = 0, per_result = 0, absolute = 0;
  bool of_residual = false;

  PGTUNE_FIELDS(per_scale, per_result, absolute, (of_residual, kUnlessDefault))
  friend bool operator==(const ToleratedError&, const ToleratedError&) = default;
};

inline constexpr std::size_t kMaxBufferRank = 4;

/// What an operation's speed can be told in.
inline constexpr std::string_view kBytesUnit = "GB/s", kFlopsUnit = "TFLOP/s";

/// What every operation is compared with, beside or in the place of its baselines: memory copied as fast as it goes.
inline constexpr std::string_view kCopyBaseline = "copy";

/// What an operation's JSON says of a buffer for all sizes alike.
struct DeclaredBuffer {
  std::string name;
  BufferRole role = BufferRole::kIn;
  std::int64_t alignment = 256;  ///< bytes, of the buffer's start; a power of two up to 256
  FillKind fill = FillKind::kData;
  double first = 0, second = 0;        ///< of the fill
  std::optional<std::int64_t> stream;  ///< which of kFillStreams its data are drawn from; nothing: one of its own
  std::string called;                  ///< by messages; empty: its name
  std::string first_index;             ///< what messages call the first one: "batch"; empty: they have all indices
  std::string padding;                 ///< what messages call what lies between its elements

  [[nodiscard]] bool is_output() const { return role == BufferRole::kOut || role == BufferRole::kInOut; }
  [[nodiscard]] bool is_input() const { return role == BufferRole::kIn || role == BufferRole::kInOut; }

  friend bool operator==(const DeclaredBuffer&, const DeclaredBuffer&) = default;
};

struct OperationBuffer : DeclaredBuffer {
  ElementType type = ElementType::kFloat32;  ///< of pointers, what they point to
  std::vector<std::int64_t> extents;         ///< elements, 1 to kMaxBufferRank of them
  std::vector<std::int64_t> strides;         ///< elements, one an extent; no two indices meet
  std::optional<ReferenceLaunch> kernel;     ///< of kKernel
  std::optional<PointerArray> pointers;      ///< of kPointers: its elements are addresses
  ToleratedError error;                      ///< of outputs
  bool tolerated = false;  ///< of outputs: the error is what its author tolerates, and nothing derives it
  std::int64_t room = 0;   ///< elements of memory that belong to it, where that is more than they span
  /// Not there for these sizes: no memory is its own. Kernels are given the buffer `instead`, or null.
  bool absent = false;
  std::optional<std::int64_t> instead;

  /// Elements that have an index, and elements of memory from the first to the last of these, or to the end of `room`.
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::int64_t stored_elements() const;
  /// For a buffer with its own memory.
  [[nodiscard]] std::int64_t bytes() const {
    return absent ? 0 : stored_elements() * (pointers ? kPointerBytes : element_bytes(type));
  }
  [[nodiscard]] const std::string& title() const { return called.empty() ? name : called; }
  [[nodiscard]] std::string type_text() const;  ///< "bf16", "pointers to bf16"
  /// It has data that launches leave as they are.
  [[nodiscard]] bool is_left_alone() const { return role == BufferRole::kIn && !absent; }

  PGTUNE_FIELDS(name, type, role, extents, strides, alignment, fill, first, second, kernel, pointers, error,
                (tolerated, kUnlessDefault), (room, kUnlessDefault), (absent, kUnlessDefault), instead, stream,
                (called, kUnlessDefault), (first_index, kUnlessDefault), (padding, kUnlessDefault))
  friend bool operator==(const OperationBuffer&, const OperationBuffer&) = default;
};

/// Streams of random bits that buffers may share, and what lies between the seeds of neighbouring ones.
inline constexpr std::int64_t kFillStreams = 4;
inline constexpr std::uint64_t kStreamStep = 0xd1342543de82ef95ULL;

/// How a case fills an input.
struct CaseFill {
  std::int64_t buffer = 0;  ///< its index
  FillKind fill = FillKind::kData;
  double first = 0, second = 0;
  std::optional<ReferenceLaunch> kernel;  ///< of kKernel

  PGTUNE_FIELDS(buffer, fill, first, second, kernel)
  friend bool operator==(const CaseFill&, const CaseFill&) = default;
};

/// Data that finalists have to be right for beside the usual ones, and that are never timed.
struct FillCase {
  std::string name;
  std::vector<CaseFill> fills;  ///< in this order, over the usual data; of inputs that launches leave alone

  PGTUNE_FIELDS(name, fills)
  friend bool operator==(const FillCase&, const FillCase&) = default;
};

/// What a library computes where it cannot do all of an operation.
struct LesserResult {
  std::vector<ReferenceLaunch> reference;
  std::vector<ToleratedError> errors;  ///< one an output

  PGTUNE_FIELDS(reference, errors)
  friend bool operator==(const LesserResult&, const LesserResult&) = default;
};

/// The operation that is built in. The command line has its own words for its problems, and Problem its own members.
inline constexpr std::string_view kGemmName = "gemm";

struct OperationProblem {
  std::string name;
  std::string content_hash;          ///< of the operation's JSON and source
  std::vector<NamedValue> sizes;     ///< the dimensions, as declared
  std::vector<NamedValue> values;    ///< every name that templates' expressions may use, sizes among them
  std::vector<NamedScalar> scalars;  ///< for float32 arguments
  std::vector<OperationBuffer> buffers;
  TemplateSource source;  ///< of the reference and of fills; it may include "operation.cuh", which workers have
  std::vector<ReferenceLaunch> reference;
  std::optional<LesserResult> lesser;
  bool null_test = true;  ///< what no kernel computed is judged first, to see whether the bounds tell it
  std::vector<FillCase> cases;
  std::vector<OperationBaseline> baselines;  ///< the fairest first; kCopyBaseline follows of itself
  double flops = 0, bytes = 0;               ///< of one launch, beside what the counts add
  std::vector<OperationCount> counts;
  std::string unit;         ///< "GB/s" or "TFLOP/s": the unit of its speed
  bool has_dtypes = false;  ///< the problem's dtype means something

  [[nodiscard]] std::optional<double> find_scalar(std::string_view scalar) const;
  [[nodiscard]] std::string sizes_text() const;  ///< "M=4096,N=8192"
  [[nodiscard]] bool has_inout() const;
  /// Some output is judged by what the reference says of it, and not by what it says is right.
  [[nodiscard]] bool has_residuals() const;
  [[nodiscard]] std::int64_t buffer_bytes() const;
  /// The library that computes what the problem's members m, n, k, ... describe, and with which alone it is compared;
  /// null where there is none.
  [[nodiscard]] const GemmBaseline* gemm_baseline() const;
  /// Null where there are several.
  [[nodiscard]] const OperationBuffer* only_output() const;
  /// This, with what a library computes in the place of the reference. Precondition: there is such a result.
  [[nodiscard]] OperationProblem with_lesser_result() const;
  /// For one launch, including the counts: measured ones, else the expected ones.
  [[nodiscard]] double launch_flops() const;
  [[nodiscard]] double launch_bytes() const;

  PGTUNE_FIELDS(name, content_hash, sizes, values, scalars, buffers, source, reference, lesser, null_test,
                (cases, kUnlessDefault), (baselines, kUnlessDefault), flops, bytes, (counts, kUnlessDefault), unit,
                has_dtypes)
  friend bool operator==(const OperationProblem&, const OperationProblem&) = default;
};

/// Checks an untrusted problem. Errors (usage): it cannot be executed: too many buffers, an extent or stride that makes
/// a buffer overflow, elements that share memory, an argument that names no buffer, a baseline that is no product of
/// them, pointers that leave their buffer. A problem that passes may be sent to a worker.
[[nodiscard]] Result<void> check_operation_problem(const OperationProblem& problem);

/// Errors (usage): counts that make a launch's flops negative, or its bytes less than 1.
[[nodiscard]] Result<void> check_work(const OperationProblem& problem);

/// An operation's problem within a Problem, shared by its copies and compared by what it says.
class OperationHandle {
 public:
  OperationHandle() = default;
  explicit OperationHandle(OperationProblem problem)
      : problem_(std::make_shared<const OperationProblem>(std::move(problem))) {}
  explicit operator bool() const { return problem_ != nullptr; }
  const OperationProblem& operator*() const { return *problem_; }
  const OperationProblem* operator->() const { return problem_.get(); }
  friend bool operator==(const OperationHandle& a, const OperationHandle& b) {
    return a.problem_ == b.problem_ || (a && b && *a == *b);
  }

 private:
  std::shared_ptr<const OperationProblem> problem_;
};

}  // namespace pgtune
