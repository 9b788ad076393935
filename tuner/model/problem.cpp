// SPDX-License-Identifier: MIT
#include "tuner/model/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tuner/util/identifier.hpp"

namespace pgtune {
namespace {

constexpr std::string_view kShapeRemedy = "give M, N and K as MxNxK, for example 4096x4096x4096";

std::optional<std::int64_t> checked_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return product;
}

std::vector<std::string_view> split_shape(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find_first_of("xX", begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

Result<std::int64_t> parse_extent(std::string_view part, char name, std::string_view shape) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (status == std::errc::result_out_of_range)
    return fail(ErrorKind::kUsage,
                fmt::format("shape '{}': {} = {} does not fit 64 bits; {}", shape, name, part, kShapeRemedy));
  if (part.empty() || status != std::errc() || end != part.data() + part.size())
    return fail(ErrorKind::kUsage, fmt::format("shape '{}': {} is '{}', which is not a whole number; {}", shape, name,
                                               part, kShapeRemedy));
  if (value < 1)
    return fail(ErrorKind::kUsage, fmt::format("shape '{}': {} is {}, but every extent must be at least 1; {}", shape,
                                               name, value, kShapeRemedy));
  return value;
}

/// What one operand needs: its leading dimension is long enough and its size in bytes fits 64 bits for all batches.
std::optional<std::string> operand_problem(std::string_view name, std::int64_t rows, std::int64_t columns,
                                           std::int64_t leading, std::int64_t bytes, const Problem& problem) {
  if (leading < columns)
    return fmt::format("ld{} is {}, but a row of {} has {} elements; give --ld{} at least {}", name, leading, name,
                       columns, name, columns);
  if (!checked_product({rows, leading, problem.batch, bytes}))
    return fmt::format(
        "matrix {} of {} x {} elements in {} batches is larger than 64 bits can count; give a smaller problem", name,
        rows, leading, problem.batch);
  return std::nullopt;
}

/// What has to hold so that all of a product of integers is exact in its accumulator, for any operands and what pgtune
/// adds to it. Scalars so small are exact in float32 as well.
std::optional<std::string> integer_problem(const Problem& problem) {
  if (problem.epilogue.any())
    return fmt::format(
        "{} problems have {} results, which nothing is fused with (cuBLASLt has no epilogue for them, and "
        "activations want real numbers); leave out the epilogue {}",
        to_string(problem.dtype), to_string(problem.type_of_c()), to_string(problem.epilogue));
  for (const auto& [name, value] : {std::pair{"alpha", problem.alpha}, std::pair{"beta", problem.beta}}) {
    if (value != std::trunc(value))
      return fmt::format("{0} is {1}, but {3} problems are computed in whole numbers; give --{0} {2}", name, value,
                         std::round(value) + 0.0, to_string(problem.dtype));  // no -0
  }
  const DtypeTraits& dtype = traits(problem.dtype);
  const auto range = [](ElementType type) { return static_cast<double>(traits(type).data_range); };
  const double room = traits(dtype.accumulator).largest - std::abs(problem.beta) * range(problem.type_of_c());
  const double largest_product = range(dtype.a) * range(dtype.b);
  const double longest = std::floor(room / (std::max(std::abs(problem.alpha), 1.0) * largest_product));
  if (longest < 1)
    return fmt::format(
        "alpha {} and beta {} are too large for {} problems: a result may not fit in its {}; give smaller ones",
        problem.alpha, problem.beta, dtype.name, to_string(problem.type_of_c()));
  if (static_cast<double>(problem.k) > longest)
    return fmt::format(
        "K is {}, but sums of more than {} {} products may not fit in the {} they are made in{}; give a smaller K, and "
        "add the parts up in a wider type",
        problem.k, longest, dtype.name, to_string(dtype.accumulator),
        problem.alpha != 1 || problem.beta != 0
            ? fmt::format(" (with alpha {} and beta {})", problem.alpha, problem.beta)
            : "");
  return std::nullopt;
}

/// Of the scalars of real numbers, which kernels are given as float32: with them results as large as pgtune's data may
/// give have to be numbers of the output's type. Data that are too large without them are not their fault.
std::optional<std::string> scalar_problem(const Problem& problem) {
  for (const auto& [name, value] : {std::pair{"alpha", problem.alpha}, std::pair{"beta", problem.beta}}) {
    if (const auto why = why_not_in(ElementType::kFloat32, value))
      return fmt::format("{} is used as float32: {}; give another --{}", name, *why, name);
  }
  constexpr double kDeviations = 4;
  const double largest = traits(problem.type_of_c()).largest;
  const double sum = kDeviations * std::sqrt(static_cast<double>(problem.k));
  for (const auto& [name, value, without] :
       {std::tuple{"alpha", problem.alpha, sum}, std::tuple{"beta", problem.beta, kDeviations}}) {
    if (without <= largest && std::abs(value) * without > largest)
      return fmt::format(
          "{0} is {1}: results with K {2} would be beyond {3}, whose numbers end at {4}; give a smaller "
          "--{0}",
          name, value, problem.k, to_string(problem.type_of_c()), largest);
  }
  return std::nullopt;
}

std::string unwritable_output(const Problem& problem) {
  std::vector<std::string_view> words;
  for (const ElementType type : output_types(problem.dtype)) words.push_back(to_string(type));
  return fmt::format("{} problems have no {} output; C and D can be {}", to_string(problem.dtype),
                     to_string(problem.type_of_c()), fmt::join(words, " or "));
}

/// The operation's name and its version; GEMM has no version beside those of its templates.
std::pair<std::string_view, std::string_view> operation_of(const Problem& problem) {
  if (problem.is_gemm()) return {kGemmName, {}};
  return {problem.operation->name, problem.operation->content_hash};
}

/// Every buffer starts on at least this boundary; ALIGN_* says nothing about larger ones.
constexpr std::uint64_t kBufferAlignmentBytes = 256;

std::int64_t bytes_ab(const Problem& problem) { return element_bytes(problem.dtype); }
std::int64_t bytes_c(const Problem& problem) { return element_bytes(problem.type_of_c()); }

/// The largest power of two up to 256 that divides the byte address of every row of every matrix of the batch.
std::int64_t row_alignment(const Problem& problem, std::int64_t element, std::int64_t leading_dimension,
                           std::int64_t stride) {
  // Wrap-around keeps the low bits, which are all that counts here.
  const auto bytes = static_cast<std::uint64_t>(element);
  std::uint64_t alignment = std::gcd(kBufferAlignmentBytes, static_cast<std::uint64_t>(leading_dimension) * bytes);
  if (problem.batch > 1) alignment = std::gcd(alignment, static_cast<std::uint64_t>(stride) * bytes);
  return static_cast<std::int64_t>(alignment);
}

std::vector<ProblemFact> gemm_facts(const Problem& p) {
  return {{"M", p.m},
          {"N", p.n},
          {"K", p.k},
          {"BATCH", p.batch},
          {"LDA", p.lda},
          {"LDB", p.ldb},
          {"LDC", p.ldc},
          {"STRIDE_A", p.stride_a()},
          {"STRIDE_B", p.stride_b()},
          {"STRIDE_C", p.stride_c()},
          {"TRANS_A", p.trans_a ? 1 : 0},
          {"TRANS_B", p.trans_b ? 1 : 0},
          {"ALIGN_A", row_alignment(p, bytes_ab(p), p.lda, p.stride_a())},
          {"ALIGN_B", row_alignment(p, bytes_ab(p), p.ldb, p.stride_b())},
          {"ALIGN_C", row_alignment(p, bytes_c(p), p.ldc, p.stride_c())},
          {"ALPHA_IS_ONE", p.alpha == 1 ? 1 : 0},
          {"BETA_IS_ZERO", p.beta == 0 ? 1 : 0},
          {"HAS_BIAS", p.epilogue.bias ? 1 : 0},
          {"ACTIVATION", label_value(to_string(p.epilogue.activation))},
          {"CHAINED", p.chained ? 1 : 0},
          {"ELEM_BYTES", bytes_ab(p)},
          {"OUT_BYTES", bytes_c(p)},
          {"DTYPE", label_value(to_string(p.dtype))}};
}

}  // namespace

bool operator==(const Problem& a, const Problem& b) {
  const auto members = [](const Problem& p) {
    return std::tie(p.m, p.n, p.k, p.batch, p.dtype, p.output, p.trans_a, p.trans_b, p.lda, p.ldb, p.ldc, p.alpha,
                    p.beta, p.epilogue, p.chained);
  };
  return members(a) == members(b) && (a.is_gemm() ? b.is_gemm() : a.operation == b.operation);
}

std::string Problem::operation_name() const { return std::string(operation_of(*this).first); }

std::vector<NamedValue> Problem::sizes() const {
  if (!is_gemm()) return operation->sizes;
  return {{"M", m}, {"N", n}, {"K", k}, {"BATCH", batch}};
}

std::vector<ProblemFact> Problem::facts() const {
  if (is_gemm()) return gemm_facts(*this);
  std::vector<ProblemFact> out;
  out.reserve(operation->values.size());
  for (const NamedValue& entry : operation->values) out.push_back({entry.name, entry.value});
  return out;
}

ElementType Problem::type_of(Operand operand) const {
  if (operation) return operation->buffers.at(buffer_of_operand(operand).value()).type;
  return operand == Operand::kA ? type_of_a(dtype) : operand == Operand::kB ? type_of_b(dtype) : type_of_c();
}

bool Problem::has_own_reference() const { return !is_gemm(); }

std::string_view Problem::data_word() const { return is_gemm() ? "operands" : "buffers"; }

std::string Problem::what_to_lessen() const {
  if (is_gemm()) return "a smaller shape or batch";
  std::vector<std::string_view> names;
  for (const NamedValue& size : operation->sizes) names.push_back(size.name);
  return fmt::format("smaller sizes ({})", fmt::join(names, ", "));
}

double Problem::scalar(std::string_view name) const {
  if (operation) return operation->find_scalar(name).value_or(0);
  return name == "alpha" ? alpha : name == "beta" ? beta : 0;
}

bool Problem::has_dtype() const { return !operation || operation->has_dtypes; }

std::string Problem::kind() const {
  if (!has_dtype()) return operation_name();
  return is_gemm() ? std::string(to_string(dtype)) : fmt::format("{} {}", operation_name(), to_string(dtype));
}

KindOrder Problem::kind_order() const { return {!is_gemm(), operation_name(), dtype}; }

bool Problem::is_of_kind(const Problem& other) const {
  return operation_of(*this) == operation_of(other) && dtype == other.dtype && type_of_c() == other.type_of_c() &&
         epilogue == other.epilogue;
}

std::int64_t Problem::operand_bytes() const {
  if (operation) return operation->buffer_bytes();
  const std::int64_t matrices_c = beta != 0 ? 2 : 1;
  return ((stride_a() + stride_b()) * element_bytes(dtype) + matrices_c * stride_c() * element_bytes(type_of_c())) *
             batch +
         bias_bytes();
}

double Problem::flops() const {
  if (operation) return operation->launch_flops();
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batch);
}

double Problem::traffic_bytes() const {
  return operation ? operation->launch_bytes() : static_cast<double>(operand_bytes());
}

double Problem::speed(double time_s) const {
  constexpr double kGiga = 1e9, kTera = 1e12;
  if (!(time_s > 0)) return 0;
  return operation && operation->unit == kBytesUnit ? traffic_bytes() / time_s / kGiga : flops() / time_s / kTera;
}

std::string_view Problem::speed_unit() const { return operation ? std::string_view(operation->unit) : kFlopsUnit; }

std::string Problem::layout() const { return {trans_a ? 't' : 'n', trans_b ? 't' : 'n'}; }

std::string Problem::shape() const { return is_gemm() ? fmt::format("{}x{}x{}", m, n, k) : operation->sizes_text(); }

std::string Problem::key() const {
  if (!is_gemm()) return fmt::format("{} {}", title(), operation->content_hash);
  std::string text = fmt::format("{} {} {} b{} ld{},{},{} a{} b{}", to_string(dtype), layout(), shape(), batch, lda,
                                 ldb, ldc, alpha, beta);
  if (!has_usual_output()) text += fmt::format(" out {}", to_string(type_of_c()));
  if (epilogue.any()) text += fmt::format(" epilogue {}", to_string(epilogue));
  if (chained) text += " chained";
  return text;
}

std::string Problem::title() const {
  const TitleParts parts = title_parts();
  if (parts.layout.empty()) return fmt::format("{} {}", parts.kind, parts.shape);
  return fmt::format("{} {} {}{}", parts.shape, parts.kind, parts.layout, parts.further);
}

TitleParts Problem::title_parts() const {
  TitleParts parts{.kind = kind(), .shape = shape(), .layout = {}, .further = {}};
  if (!is_gemm()) return parts;
  parts.layout = layout();
  std::string& text = parts.further;
  if (!has_usual_output()) text += fmt::format(" out {}", to_string(type_of_c()));
  if (epilogue.any()) text += fmt::format(" epilogue {}", to_string(epilogue));
  if (batch != 1) text += fmt::format(" batch {}", batch);
  if (lda != columns_a() || ldb != columns_b() || ldc != n) text += fmt::format(" ld {},{},{}", lda, ldb, ldc);
  if (alpha != 1) text += fmt::format(" alpha {}", alpha);
  if (beta != 0) text += fmt::format(" beta {}", beta);
  if (chained) text += " chained";
  return parts;
}

Result<Problem> problem_of(OperationProblem operation, Dtype dtype) {
  TRY(check_operation_problem(operation));
  Problem problem{.dtype = dtype};
  problem.operation = OperationHandle(std::move(operation));
  return problem;
}

Problem with_counts(Problem problem, const std::vector<NamedScalar>& counted) {
  if (counted.empty() || !problem.operation || problem.operation->counts.empty()) return problem;
  OperationProblem operation = *problem.operation;
  for (OperationCount& count : operation.counts) {
    const auto found =
        std::find_if(counted.begin(), counted.end(), [&](const auto& known) { return known.name == count.name; });
    if (found != counted.end()) count.value = found->value;
  }
  problem.operation = OperationHandle(std::move(operation));
  return problem;
}

Result<Problem> parse_shape(std::string_view text) {
  const std::vector<std::string_view> parts = split_shape(text);
  if (parts.size() != 3)
    return fail(ErrorKind::kUsage, fmt::format("shape '{}' has {} extent{}, not 3; {}", text, parts.size(),
                                               parts.size() == 1 ? "" : "s", kShapeRemedy));
  Problem problem;
  const std::array targets{&problem.m, &problem.n, &problem.k};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TRY_ASSIGN(auto extent, parse_extent(parts[i], "MNK"[i], text));
    *targets[i] = extent;
  }
  return problem;
}

Result<ShapeRange> parse_shape_range(std::string_view text) {
  constexpr std::string_view kTo = "..";
  const std::size_t to = text.find(kTo);
  if (to == std::string_view::npos)
    return parse_shape(text).map([](const Problem& shape) { return ShapeRange{shape}; });
  TRY_ASSIGN(const auto first, parse_extent(text.substr(0, to), 'M', text));
  TRY_ASSIGN(auto shape, parse_shape(text.substr(to + kTo.size())));
  if (first > shape.m)
    return fail(ErrorKind::kUsage,
                fmt::format("shape '{}': M goes from {} down to {}; give the smaller one first", text, first, shape.m));
  return ShapeRange{std::move(shape), first};
}

Result<Problem> with_layout(Problem problem, std::string_view layout) {
  const auto known = [](char letter) { return letter == 'n' || letter == 't'; };
  if (layout.size() != 2 || !known(layout[0]) || !known(layout[1]))
    return fail(
        ErrorKind::kUsage,
        fmt::format("unknown layout '{}'; give two letters for A and B, n (as is) or t (transposed): nn, nt, tn or tt",
                    layout));
  problem.trans_a = layout[0] == 't';
  problem.trans_b = layout[1] == 't';
  return problem;
}

Result<Problem> with_default_strides(Problem problem) {
  if (problem.m < 1 || problem.n < 1 || problem.k < 1)
    return fail(ErrorKind::kUsage,
                fmt::format("shape '{}': every extent must be at least 1; {}", problem.shape(), kShapeRemedy));
  if (problem.batch < 1)
    return fail(ErrorKind::kUsage, fmt::format("batch is {}, but must be at least 1", problem.batch));
  if (!std::isfinite(problem.alpha) || !std::isfinite(problem.beta))
    return fail(ErrorKind::kUsage, "alpha and beta must be finite numbers");
  if (!traits(problem.dtype).is_integer()) {
    if (auto trouble = scalar_problem(problem)) return fail(ErrorKind::kUsage, std::move(*trouble));
  }
  if (problem.lda == 0) problem.lda = problem.columns_a();
  if (problem.ldb == 0) problem.ldb = problem.columns_b();
  if (problem.ldc == 0) problem.ldc = problem.n;
  if (problem.has_usual_output()) problem.output.reset();
  const auto& outputs = output_types(problem.dtype);
  if (std::find(outputs.begin(), outputs.end(), problem.type_of_c()) == outputs.end())
    return fail(ErrorKind::kUsage, unwritable_output(problem));
  if (traits(problem.dtype).is_integer()) {
    if (auto trouble = integer_problem(problem)) return fail(ErrorKind::kUsage, std::move(*trouble));
  }
  const std::int64_t bytes_ab = element_bytes(problem.dtype), bytes_c = element_bytes(problem.type_of_c());
  auto trouble = operand_problem("a", problem.rows_a(), problem.columns_a(), problem.lda, bytes_ab, problem);
  if (!trouble) trouble = operand_problem("b", problem.rows_b(), problem.columns_b(), problem.ldb, bytes_ab, problem);
  if (!trouble) trouble = operand_problem("c", problem.m, problem.n, problem.ldc, bytes_c, problem);
  if (!trouble && !checked_product({2, problem.m, problem.n, problem.k, problem.batch}))
    trouble = "2*M*N*K*batch floating-point operations do not fit 64 bits; give a smaller problem";
  if (!trouble) {
    // Each operand fits; their sum (C counted twice, and a row of it as the bias) must fit as well.
    std::int64_t sum = 0;
    const auto size = [&](std::int64_t stride, std::int64_t bytes) {
      return checked_product({stride, problem.batch, bytes});
    };
    for (const auto& bytes :
         {size(problem.stride_a(), bytes_ab), size(problem.stride_b(), bytes_ab), size(problem.stride_c(), bytes_c),
          size(problem.stride_c(), bytes_c), size(problem.n, bytes_c)}) {
      if (!bytes || __builtin_add_overflow(sum, *bytes, &sum)) {
        trouble = "the operands together are larger than 64 bits can count; give a smaller problem";
        break;
      }
    }
  }
  if (trouble) return fail(ErrorKind::kUsage, fmt::format("shape '{}': {}", problem.shape(), *trouble));
  return problem;
}

}  // namespace pgtune
