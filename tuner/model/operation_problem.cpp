// SPDX-License-Identifier: MIT
#include "tuner/model/operation_problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "tuner/util/identifier.hpp"

namespace pgtune {
namespace {

constexpr EnumNames<BufferRole, 4> kRoles{{{BufferRole::kIn, "in"},
                                           {BufferRole::kOut, "out"},
                                           {BufferRole::kInOut, "inout"},
                                           {BufferRole::kScratch, "scratch"}}};
constexpr EnumNames<FillKind, 8> kFills{{{FillKind::kData, "data"},
                                         {FillKind::kNormal, "normal"},
                                         {FillKind::kUniform, "uniform"},
                                         {FillKind::kConstant, "constant"},
                                         {FillKind::kIntegers, "integers"},
                                         {FillKind::kKernel, "kernel"},
                                         {FillKind::kLinked, "linked"},
                                         {FillKind::kPointers, "pointers"}}};
constexpr EnumNames<ReferenceArgumentKind, 8> kReferenceArguments{{{ReferenceArgumentKind::kBuffer, "buffer"},
                                                                   {ReferenceArgumentKind::kValue, "value"},
                                                                   {ReferenceArgumentKind::kScale, "scale"},
                                                                   {ReferenceArgumentKind::kInt64, "int64"},
                                                                   {ReferenceArgumentKind::kFloat32, "float32"},
                                                                   {ReferenceArgumentKind::kFloat64, "float64"},
                                                                   {ReferenceArgumentKind::kSeed, "seed"},
                                                                   {ReferenceArgumentKind::kResult, "result"}}};

constexpr EnumNames<CountKind, 5> kCounts{{{CountKind::kSum, "sum"},
                                           {CountKind::kAbove, "above"},
                                           {CountKind::kNonzero, "nonzero"},
                                           {CountKind::kIncreases, "increases"},
                                           {CountKind::kMax, "max"}}};

constexpr std::size_t kMaxPasses = 16, kMaxCases = 16, kMaxArguments = 64, kMaxNames = 1024;
constexpr std::size_t kMaxSource = std::size_t{1} << 20;
constexpr std::int64_t kMaxAlignment = 256;
/// No buffer of a problem that fits a GPU comes near it, and sums of sixteen of them stay inside 64 bits.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;

tl::unexpected<Error> refused(std::string message) { return fail(ErrorKind::kUsage, std::move(message)); }

/// Dimensions from the largest stride to the smallest.
std::vector<std::size_t> outermost_first(const OperationBuffer& buffer) {
  std::vector<std::size_t> order(buffer.extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffer.strides[a] > buffer.strides[b]; });
  return order;
}

Result<void> check_buffer(const OperationBuffer& buffer) {
  if (!is_identifier(buffer.name)) return refused(fmt::format("'{}' cannot be a buffer's name", buffer.name));
  const std::size_t rank = buffer.extents.size();
  if (rank < 1 || rank > kMaxBufferRank || buffer.strides.size() != rank)
    return refused(fmt::format("buffer {}: 1 to {} extents, and a stride for each", buffer.name, kMaxBufferRank));
  std::int64_t last = 0, count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t extent = buffer.extents[i], stride = buffer.strides[i];
    if (extent < 1 || stride < 1)
      return refused(fmt::format("buffer {}: dimension {} has {} elements at a stride of {}; both must be at least 1",
                                 buffer.name, i, extent, stride));
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(extent - 1, stride, &reach) || __builtin_add_overflow(last, reach, &last) ||
        __builtin_mul_overflow(count, extent, &count) || last >= kMaxElements || count > kMaxElements)
      return refused(fmt::format("buffer {}: its sizes overflow; give smaller ones", buffer.name));
  }
  // Each index has a place of its own where every dimension steps over all that the smaller strides reach.
  const auto order = outermost_first(buffer);
  std::int64_t inner = 1;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    if (buffer.extents[*at] == 1) continue;
    if (buffer.strides[*at] < inner)
      return refused(
          fmt::format("buffer {}: elements share memory: dimension {} has stride {}, and the ones inside "
                      "it reach over {} elements",
                      buffer.name, *at, buffer.strides[*at], inner));
    inner = (buffer.extents[*at] - 1) * buffer.strides[*at] + inner;
  }
  if (buffer.room < 0 || buffer.room > kMaxElements)
    return refused(fmt::format("buffer {}: there is no room of {} elements", buffer.name, buffer.room));
  if (buffer.stream && (*buffer.stream < 0 || *buffer.stream >= kFillStreams))
    return refused(fmt::format("buffer {}: streams of data have the numbers 0 to {}, not {}", buffer.name,
                               kFillStreams - 1, *buffer.stream));
  if (buffer.absent && (buffer.is_output() || buffer.pointers))
    return refused(fmt::format("buffer {}: only inputs of elements may be absent", buffer.name));
  if (buffer.alignment < 1 || buffer.alignment > kMaxAlignment ||
      !std::has_single_bit(static_cast<std::uint64_t>(buffer.alignment)))
    return refused(fmt::format("buffer {}: an alignment is a power of two up to {}, not {}", buffer.name, kMaxAlignment,
                               buffer.alignment));
  if ((buffer.fill == FillKind::kKernel) != buffer.kernel.has_value())
    return refused(fmt::format("buffer {}: a kernel is what fills it by \"kernel\"", buffer.name));
  if ((buffer.fill == FillKind::kPointers) != buffer.pointers.has_value())
    return refused(fmt::format("buffer {}: addresses are what fills it by \"pointers\"", buffer.name));
  for (const double number :
       {buffer.first, buffer.second, buffer.error.per_scale, buffer.error.per_result, buffer.error.absolute}) {
    if (!std::isfinite(number)) return refused(fmt::format("buffer {}: a number is not finite", buffer.name));
  }
  if (buffer.error.per_scale < 0 || buffer.error.per_result < 0 || buffer.error.absolute < 0)
    return refused(fmt::format("buffer {}: no error is negative", buffer.name));
  return {};
}

Result<void> check_launch(const ReferenceLaunch& launch, const OperationProblem& problem, bool is_fill) {
  if (!is_identifier(launch.symbol)) return refused(fmt::format("'{}' cannot be a kernel's name", launch.symbol));
  const auto inside = [](std::int64_t value, std::int64_t most) { return value >= 1 && value <= most; };
  constexpr std::int64_t kGridX = (std::int64_t{1} << 31) - 1, kGridY = 65535, kThreads = 1024, kThreadsZ = 64;
  if (!inside(launch.grid.x, kGridX) || !inside(launch.grid.y, kGridY) || !inside(launch.grid.z, kGridY) ||
      !inside(launch.block.x, kThreads) || !inside(launch.block.y, kThreads) || !inside(launch.block.z, kThreadsZ) ||
      launch.block.count() > kThreads)
    return refused(fmt::format("kernel {}: a grid of {}x{}x{} blocks of {}x{}x{} threads cannot be launched",
                               launch.symbol, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x,
                               launch.block.y, launch.block.z));
  if (launch.arguments.size() > kMaxArguments)
    return refused(fmt::format("kernel {}: more than {} arguments", launch.symbol, kMaxArguments));
  for (const ReferenceArgument& argument : launch.arguments) {
    if (!std::isfinite(argument.real))
      return refused(fmt::format("kernel {}: an argument is not finite", launch.symbol));
    const bool of_output = argument.kind == ReferenceArgumentKind::kValue ||
                           argument.kind == ReferenceArgumentKind::kScale ||
                           argument.kind == ReferenceArgumentKind::kResult;
    if (!of_output && argument.kind != ReferenceArgumentKind::kBuffer) continue;
    const auto index = static_cast<std::size_t>(argument.integer);
    if (argument.integer < 0 || index >= problem.buffers.size() ||
        (of_output && (is_fill || !problem.buffers[index].is_output())) ||
        (of_output && launch.judges_result() && !problem.buffers[index].error.of_residual))
      return refused(fmt::format("kernel {}: an argument names no buffer that it could be", launch.symbol));
  }
  return {};
}

Result<void> check_case(const FillCase& fill_case, const OperationProblem& problem) {
  if (fill_case.fills.size() > kMaxBuffers) return refused(fmt::format("case '{}': too many fills", fill_case.name));
  for (const CaseFill& fill : fill_case.fills) {
    if (fill.buffer < 0 || fill.buffer >= static_cast<std::int64_t>(problem.buffers.size()) ||
        !problem.buffers[static_cast<std::size_t>(fill.buffer)].is_left_alone())
      return refused(fmt::format("case '{}': only buffers with the role in that are there are filled", fill_case.name));
    if (problem.buffers[static_cast<std::size_t>(fill.buffer)].pointers)
      return refused(fmt::format("case '{}': the pointers {} are the same for all data", fill_case.name,
                                 problem.buffers[static_cast<std::size_t>(fill.buffer)].name));
    if (fill.fill == FillKind::kLinked || fill.fill == FillKind::kPointers ||
        (fill.fill == FillKind::kKernel) != fill.kernel.has_value() || !std::isfinite(fill.first) ||
        !std::isfinite(fill.second))
      return refused(fmt::format("case '{}': that is no fill of buffer {}", fill_case.name,
                                 problem.buffers[static_cast<std::size_t>(fill.buffer)].name));
    if (fill.kernel) {
      if (auto ok = check_launch(*fill.kernel, problem, true); !ok) return ok;
    }
  }
  return {};
}

Result<void> check_count(const OperationCount& count, const OperationProblem& problem) {
  if (!is_identifier(count.name)) return refused(fmt::format("'{}' cannot be a count's name", count.name));
  if (count.buffer < 0 || count.buffer >= static_cast<std::int64_t>(problem.buffers.size()))
    return refused(fmt::format("count {}: there is no such buffer", count.name));
  const OperationBuffer& buffer = problem.buffers[static_cast<std::size_t>(count.buffer)];
  if (!buffer.is_left_alone() || buffer.pointers || !traits(buffer.type).is_integer())
    return refused(fmt::format("count {}: {} is no input of whole numbers", count.name, buffer.name));
  if (count.kind == CountKind::kIncreases && buffer.extents.size() != 1)
    return refused(fmt::format("count {}: {} has several dimensions, so that no element follows another", count.name,
                               buffer.name));
  for (const double number : {count.flops, count.bytes, count.expected, count.best_known()}) {
    if (!std::isfinite(number)) return refused(fmt::format("count {}: a number is not finite", count.name));
  }
  if (counts_elements(count.kind) && (count.expected < 0 || count.expected > static_cast<double>(buffer.elements())))
    return refused(fmt::format("count {}: {} are expected, but {} has {} elements", count.name, count.expected,
                               buffer.name, buffer.elements()));
  return {};
}

/// ", with ROWS 640 and GROUPS 32".
std::string counts_text(const OperationProblem& problem) {
  std::vector<std::string> texts;
  for (const OperationCount& count : problem.counts)
    texts.push_back(fmt::format("{} {}", count.name, count.best_known()));
  return texts.empty() ? "" : fmt::format(", with {}", fmt::join(texts, " and "));
}

}  // namespace

EnumTable<BufferRole> enum_table(BufferRole /*value*/) { return kRoles; }
EnumTable<FillKind> enum_table(FillKind /*value*/) { return kFills; }
EnumTable<ReferenceArgumentKind> enum_table(ReferenceArgumentKind /*value*/) { return kReferenceArguments; }
EnumTable<CountKind> enum_table(CountKind /*value*/) { return kCounts; }

bool ReferenceLaunch::judges_result() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const ReferenceArgument& argument) { return argument.kind == ReferenceArgumentKind::kResult; });
}

std::int64_t OperationBuffer::elements() const {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t OperationBuffer::stored_elements() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) last += (extents[i] - 1) * strides[i];
  return std::max(last + 1, room);
}

std::string OperationBuffer::type_text() const {
  return fmt::format("{}{}", pointers ? "pointers to " : "", to_string(type));
}

std::optional<double> OperationProblem::find_scalar(std::string_view scalar) const {
  const auto found = std::find_if(scalars.begin(), scalars.end(), [&](const auto& s) { return s.name == scalar; });
  return found == scalars.end() ? std::nullopt : std::optional(found->value);
}

std::string OperationProblem::sizes_text() const {
  std::vector<std::string> texts;
  for (const NamedValue& size : sizes) texts.push_back(fmt::format("{}={}", size.name, size.value));
  return fmt::format("{}", fmt::join(texts, ","));
}

bool OperationProblem::has_inout() const {
  return std::any_of(buffers.begin(), buffers.end(), [](const auto& b) { return b.role == BufferRole::kInOut; });
}

bool OperationProblem::has_residuals() const {
  return std::any_of(buffers.begin(), buffers.end(),
                     [](const auto& b) { return b.is_output() && b.error.of_residual; });
}

std::int64_t OperationProblem::buffer_bytes() const {
  return std::accumulate(buffers.begin(), buffers.end(), std::int64_t{0},
                         [](std::int64_t sum, const OperationBuffer& buffer) { return sum + buffer.bytes(); });
}

const GemmBaseline* OperationProblem::gemm_baseline() const { return find_gemm_baseline(baselines); }

const OperationBuffer* OperationProblem::only_output() const {
  const auto is_output = [](const OperationBuffer& buffer) { return buffer.is_output(); };
  if (std::count_if(buffers.begin(), buffers.end(), is_output) != 1) return nullptr;
  return &*std::find_if(buffers.begin(), buffers.end(), is_output);
}

OperationProblem OperationProblem::with_lesser_result() const {
  OperationProblem out = *this;
  out.reference = lesser->reference;
  auto error = lesser->errors.begin();
  for (OperationBuffer& buffer : out.buffers) {
    if (buffer.is_output()) buffer.error = *error++;
  }
  out.lesser.reset();
  return out;
}

double OperationProblem::launch_flops() const {
  return std::accumulate(counts.begin(), counts.end(), flops,
                         [](double sum, const auto& count) { return sum + count.flops * count.best_known(); });
}

double OperationProblem::launch_bytes() const {
  return std::accumulate(counts.begin(), counts.end(), bytes,
                         [](double sum, const auto& count) { return sum + count.bytes * count.best_known(); });
}

Result<void> check_operation_problem(const OperationProblem& problem) {
  if (!is_identifier(problem.name)) return refused(fmt::format("'{}' cannot be an operation's name", problem.name));
  if (problem.buffers.empty() || problem.buffers.size() > kMaxBuffers)
    return refused(fmt::format("an operation has 1 to {} buffers, not {}", kMaxBuffers, problem.buffers.size()));
  if (problem.sizes.size() > kMaxNames || problem.values.size() > kMaxNames || problem.scalars.size() > kMaxNames ||
      problem.source.contents.size() > kMaxSource || problem.source.headers.size() > kMaxHeaders)
    return refused("an operation's problem is too large");
  std::size_t outputs = 0;
  for (const OperationBuffer& buffer : problem.buffers) {
    if (auto ok = check_buffer(buffer); !ok) return ok;
    outputs += buffer.is_output() ? 1 : 0;
    if (buffer.instead) {
      const auto index = static_cast<std::size_t>(*buffer.instead);
      if (*buffer.instead < 0 || index >= problem.buffers.size() || problem.buffers[index].absent)
        return refused(fmt::format("buffer {}: there is no buffer in its place", buffer.name));
    }
    if (buffer.kernel) {
      if (auto ok = check_launch(*buffer.kernel, problem, true); !ok) return ok;
    }
  }
  // The buffers that they point into are sound by now.
  for (const OperationBuffer& buffer : problem.buffers) {
    if (!buffer.pointers) continue;
    if (auto ok = check_pointers(buffer, problem); !ok) return ok;
  }
  if (outputs == 0) return refused("an operation has an output: a buffer with the role out or inout");
  if (problem.reference.empty() || problem.reference.size() > kMaxPasses)
    return refused(fmt::format("a reference has 1 to {} kernels, not {}", kMaxPasses, problem.reference.size()));
  for (const ReferenceLaunch& launch : problem.reference) {
    if (auto ok = check_launch(launch, problem, false); !ok) return ok;
  }
  if (problem.lesser) {
    if (problem.lesser->reference.empty() || problem.lesser->reference.size() > kMaxPasses ||
        problem.lesser->errors.size() != outputs)
      return refused("what a library computes has a reference, and an error for each output");
    const OperationProblem lesser = problem.with_lesser_result();
    if (auto ok = check_operation_problem(lesser); !ok) return ok;
  }
  if (problem.cases.size() > kMaxCases)
    return refused(fmt::format("an operation has at most {} cases, not {}", kMaxCases, problem.cases.size()));
  for (const FillCase& fill_case : problem.cases) {
    if (auto ok = check_case(fill_case, problem); !ok) return ok;
  }
  if (problem.baselines.size() > kMaxBaselines)
    return refused(
        fmt::format("an operation has at most {} baselines, not {}", kMaxBaselines, problem.baselines.size()));
  for (const OperationBaseline& baseline : problem.baselines) {
    const auto* const product = std::get_if<LibraryProduct>(&baseline);
    const auto of_product = [&](const OperationBuffer& buffer) {
      const auto index = &buffer - problem.buffers.data();
      return buffer.absent && (index == product->a || index == product->b || index == product->scale_a ||
                               index == product->scale_b || index == product->offsets || index == product->rows);
    };
    if (product != nullptr && std::any_of(problem.buffers.begin(), problem.buffers.end(), of_product))
      return refused("a library's product needs all of its operands, and one is absent for these sizes");
    if (std::holds_alternative<GemmBaseline>(baseline) && (problem.name != kGemmName || problem.baselines.size() > 1))
      return refused("only GEMM is compared with a library's GEMM, and with that alone");
    if (auto ok = check_baseline(baseline, problem); !ok) return ok;
  }
  if (problem.counts.size() > kMaxCounts)
    return refused(fmt::format("an operation has at most {} counts, not {}", kMaxCounts, problem.counts.size()));
  for (const OperationCount& count : problem.counts) {
    if (auto ok = check_count(count, problem); !ok) return ok;
  }
  if (problem.unit != kBytesUnit && problem.unit != kFlopsUnit)
    return refused(fmt::format("a speed is told in {} or {}, not '{}'", kBytesUnit, kFlopsUnit, problem.unit));
  return check_work(problem);
}

Result<void> check_work(const OperationProblem& problem) {
  const double flops = problem.launch_flops(), bytes = problem.launch_bytes();
  if (!std::isfinite(flops) || !std::isfinite(bytes) || flops < 0 || bytes < 1)
    return refused(
        fmt::format("flops are not negative and bytes at least 1, as every launch reads or writes something; here they "
                    "are {} and {}{}",
                    flops, bytes, counts_text(problem)));
  return {};
}

}  // namespace pgtune
