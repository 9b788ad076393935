// SPDX-License-Identifier: MIT
// Turns an operation and sizes into plain numbers.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tuner/operation/dimensions.hpp"
#include "tuner/operation/error_rules.hpp"
#include "tuner/operation/operation_reader.hpp"

namespace pgtune::operation {
namespace {

constexpr std::uint64_t kLargestAlignment = 256;
constexpr double kWholeInFloat32 = 0x1p24;  ///< whole numbers pass through it on the device

std::string name_for_messages(const OperationDefinition& definition) {
  return fmt::format("the operation '{}'", definition.name);
}

/// Evaluates expressions and keeps the first error, with its field.
class ProblemBuilder {
 public:
  ProblemBuilder(const OperationDefinition& definition, std::vector<NamedValue> sizes, const ProblemChoices& choices)
      : definition_(definition),
        dtype_(choices.dtype),
        output_(choices.output.value_or(output_types(choices.dtype.value_or(Dtype::kF32)).front())) {
    out_.name = definition.name;
    out_.content_hash = definition.content_hash;
    out_.sizes = std::move(sizes);
    out_.scalars = definition.scalars;
    for (NamedScalar& scalar : out_.scalars) {
      for (const NamedScalar& other : choices.scalars) {
        if (other.name == scalar.name) scalar.value = other.value;
      }
    }
    out_.null_test = definition.null_test;
    out_.source = definition.source;
    out_.baselines = definition.baselines;
    out_.unit = definition.unit;
    out_.has_dtypes = !definition.dtypes.empty();
  }

  Result<OperationProblem> build() {
    if (dtype_) names_.set_dtype(*dtype_, output_);
    for (const NamedValue& size : out_.sizes) add_value(size.name, size.value);
    for (const NamedExpression& entry : definition_.derived)
      add_value(entry.name, number(entry.expression, fmt::format("derived value '{}'", entry.name)));
    for (const Rule& rule : definition_.require) {
      if (number(rule.expression, "require") == 0 && !error_)
        refuse(fmt::format("the operation '{}' refuses {}: {}", definition_.name, out_.sizes_text(), rule.reason));
    }
    for (const BufferSpec& buffer : definition_.buffers) add_buffer(buffer);
    if (dtype_) {
      add_value("DTYPE", names_.value("DTYPE").value_or(0));
      add_value("ELEM_BYTES", names_.value("ELEM_BYTES").value_or(0));
      if (definition_.of_products) add_value("OUT_BYTES", names_.value("OUT_BYTES").value_or(0));
    }
    for (std::size_t i = 0; i < definition_.buffers.size(); ++i) {
      const auto& kernel = definition_.buffers[i].kernel;
      if (kernel) out_.buffers[i].kernel = launch(*kernel);
    }
    for (const ReferenceKernelSpec& kernel : definition_.reference) out_.reference.push_back(launch(kernel));
    for (const CaseSpec& spec : definition_.cases) add_case(spec);
    add_work();
    if (error_) return tl::unexpected<Error>(std::move(*error_));
    return std::move(out_);
  }

 private:
  void refuse(std::string message) {
    if (!error_) error_ = Error{ErrorKind::kUsage, std::move(message), {}};
  }

  std::int64_t number(const Expression& expression, const std::string& field) {
    if (error_) return 0;
    auto value = expression.evaluate(names_);
    if (value) return *value;
    return kept<std::int64_t>(fail(std::move(value.error()), field));
  }

  void add_value(const std::string& name, std::int64_t value) {
    names_.set(name, value);
    out_.values.push_back({name, value});
  }

  std::vector<std::int64_t> numbers(const std::vector<Expression>& expressions, const std::string& field) {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < expressions.size(); ++i)
      out.push_back(number(expressions[i], fmt::format("{}[{}]", field, i)));
    return out;
  }

  /// Strides of packed elements; the last dimension is contiguous.
  std::vector<std::int64_t> packed(const OperationBuffer& buffer) {
    std::vector<std::int64_t> strides(buffer.extents.size(), 1);
    for (std::size_t i = strides.size(); i-- > 1;) {
      if (__builtin_mul_overflow(strides[i], buffer.extents[i], &strides[i - 1]))
        refuse(fmt::format("buffer {}: its sizes overflow; give smaller ones", buffer.name));
    }
    return strides;
  }

  /// The largest power of two up to 256 that divides the byte address of everything that has index 0 in the contiguous
  /// dimension.
  static std::int64_t row_alignment(const OperationBuffer& buffer) {
    std::uint64_t alignment = std::gcd(kLargestAlignment, static_cast<std::uint64_t>(buffer.alignment));
    for (std::size_t i = 0; i < buffer.extents.size(); ++i) {
      if (buffer.extents[i] == 1 || buffer.strides[i] == 1) continue;
      alignment = std::gcd(alignment, static_cast<std::uint64_t>(buffer.strides[i]) *
                                          static_cast<std::uint64_t>(element_bytes(buffer.type)));
    }
    return static_cast<std::int64_t>(alignment);
  }

  void add_buffer(const BufferSpec& spec) {
    const std::string field = fmt::format("{} '{}'", spec.pointers ? "pointers" : "buffer", spec.name);
    OperationBuffer buffer;
    static_cast<DeclaredBuffer&>(buffer) = spec;
    buffer.type = spec.type ? *spec.type : type_of(spec.part);
    buffer.extents = spec.pointers ? std::vector{number(spec.extents[0], field + ".count")}
                                   : numbers(spec.extents, field + ".extents");
    buffer.strides = spec.strides.empty() ? packed(buffer) : numbers(spec.strides, field + ".strides");
    if (spec.when) buffer.absent = number(*spec.when, field + ".when") == 0;
    if (buffer.absent && spec.instead) buffer.instead = static_cast<std::int64_t>(*spec.instead);
    if (spec.room) buffer.room = number(*spec.room, field + ".room");
    set_fill(spec, buffer, field);
    if (spec.pointers) buffer.pointers = pointers(*spec.pointers, buffer, field);
    buffer.tolerated = buffer.is_output() && spec.error.rule == ErrorRule::kAllclose;
    if (buffer.is_output() && !error_)
      buffer.error = kept(tolerated_error(spec.error, buffer.type, error_values(field)));
    // For pointers this is the alignment of the addresses in the array, not of the array itself.
    const std::int64_t alignment = buffer.pointers ? buffer.pointers->alignment : row_alignment(buffer);
    add_value(alignment_name(spec.name), error_ ? 1 : alignment);
    out_.buffers.push_back(std::move(buffer));
  }

  [[nodiscard]] ElementType type_of(DtypePart part) const {
    const Dtype dtype = dtype_.value_or(Dtype::kF32);
    return part == DtypePart::kA ? type_of_a(dtype) : part == DtypePart::kB ? type_of_b(dtype) : output_;
  }

  /// Each pointer's offset; the problem's check tests whether it is inside the buffer.
  PointerArray pointers(const PointerSpec& spec, const OperationBuffer& array, const std::string& field) {
    PointerArray out{static_cast<std::int64_t>(spec.buffer), spec.alignment, {}};
    if (out.alignment == 0) out.alignment = element_bytes(array.type);
    const std::int64_t count = array.extents[0];
    if (count < 1 || count > kMaxPointers)
      refuse(fmt::format("{}: a count of {}; there are 1 to {} of them", field, count, kMaxPointers));
    const std::string of_offset = field + ".offset";
    std::vector<std::int64_t> elements;
    for (std::int64_t i = 0; i < count && !error_; ++i) {
      names_.set(kPointerIndex, i);
      elements.push_back(number(*spec.offset, of_offset));
    }
    out.runs = runs_of(elements);
    return out;
  }

  /// For all fills except kernels.
  void set_fill(const BufferSpec& spec, OperationBuffer& buffer, const std::string& field) {
    buffer.fill = spec.fill;
    buffer.first = spec.first;
    buffer.second = spec.second;
    if (spec.fill == FillKind::kIntegers && spec.lowest) {
      buffer.first = static_cast<double>(number(*spec.lowest, field + ".fill"));
      buffer.second = static_cast<double>(number(*spec.highest, field + ".fill"));
      check_range(buffer);
    }
    if ((spec.fill == FillKind::kNormal || spec.fill == FillKind::kUniform) && traits(buffer.type).is_integer())
      refuse(fmt::format("{} has whole numbers, which \"{}\" does not give", field, to_string(spec.fill)));
    check_fill(buffer, field);
  }

  void add_case(const CaseSpec& spec) {
    FillCase fill_case{spec.name, {}};
    for (const auto& [index, filled] : spec.fills) {
      OperationBuffer buffer = out_.buffers[index];
      set_fill(filled, buffer, fmt::format("case '{}', buffer '{}'", spec.name, buffer.name));
      CaseFill fill{static_cast<std::int64_t>(index), buffer.fill, buffer.first, buffer.second, {}};
      if (filled.kernel) fill.kernel = launch(*filled.kernel);
      fill_case.fills.push_back(std::move(fill));
    }
    out_.cases.push_back(std::move(fill_case));
  }

  /// Flops and bytes are affine in the counts: their values without counts, and the increment for one of each.
  void add_work() {
    for (const CountSpec& spec : definition_.counts) {
      const std::string field = fmt::format("count '{}'", spec.name);
      OperationCount count{spec.name, spec.kind, static_cast<std::int64_t>(spec.buffer)};
      if (spec.bound) count.bound = number(*spec.bound, field + ".bound");
      if (spec.expected) count.expected = static_cast<double>(number(*spec.expected, field + ".expected"));
      names_.set(spec.name, 0);
      out_.counts.push_back(std::move(count));
    }
    const auto evaluated = [&](const std::optional<Expression>& expression, const char* field) {
      return static_cast<double>(number(*expression, field));
    };
    out_.flops = evaluated(definition_.flops, "flops");
    out_.bytes = evaluated(definition_.bytes, "bytes");
    for (OperationCount& count : out_.counts) {
      names_.set(count.name, 1);
      count.flops = evaluated(definition_.flops, "flops") - out_.flops;
      count.bytes = evaluated(definition_.bytes, "bytes") - out_.bytes;
      names_.set(count.name, 0);
    }
  }

  /// The numbers have to be those of the buffer's type, or every result would be infinite, or every input 0.
  void check_fill(const OperationBuffer& buffer, const std::string& field) {
    constexpr double kDeviations = 6;
    std::vector<double> numbers;
    if (buffer.fill == FillKind::kConstant) numbers = {buffer.first};
    if (buffer.fill == FillKind::kUniform) numbers = {buffer.first, buffer.second};
    if (buffer.fill == FillKind::kNormal)
      numbers = {buffer.first, buffer.second, std::abs(buffer.first) + kDeviations * std::abs(buffer.second)};
    for (const double number : numbers) {
      if (const auto why = why_not_in(buffer.type, number))
        refuse(fmt::format("{} cannot be filled by \"{}\": {}", field, to_string(buffer.fill), *why));
    }
    if (buffer.fill == FillKind::kConstant && traits(buffer.type).is_integer() &&
        std::abs(buffer.first) > kWholeInFloat32)
      refuse(fmt::format("{} cannot be filled by \"constant\": {} is beyond 2^24", field, buffer.first));
    if (buffer.fill == FillKind::kUniform && buffer.first > buffer.second)
      refuse(fmt::format("{}: no numbers lie between {} and {}", field, buffer.first, buffer.second));
    if (buffer.fill == FillKind::kNormal && buffer.second < 0)
      refuse(fmt::format("{}: a deviation of {} is negative", field, buffer.second));
  }

  void check_range(const OperationBuffer& buffer) {
    const double largest = std::min(traits(buffer.type).largest, kWholeInFloat32);
    if (buffer.first > buffer.second)
      refuse(fmt::format("buffer {}: no integers lie between {} and {}", buffer.name, buffer.first, buffer.second));
    if (std::max(std::abs(buffer.first), std::abs(buffer.second)) > largest)
      refuse(fmt::format("buffer {}: {} does not hold all integers between {} and {}", buffer.name,
                         to_string(buffer.type), buffer.first, buffer.second));
  }

  /// `buffer`: the output, for messages.
  [[nodiscard]] ErrorValues error_values(const std::string& buffer) const {
    return {names_, dtype_.value_or(Dtype::kF32), buffer};
  }

  /// Keeps the first error.
  template <class Value>
  Value kept(Result<Value> value) {
    if (value) return *std::move(value);
    if (!error_) error_ = fail(std::move(value.error()), fmt::format("operation '{}'", definition_.name)).value();
    return {};
  }

  ReferenceLaunch launch(const ReferenceKernelSpec& spec) {
    const std::string field = fmt::format("kernel '{}'", spec.symbol);
    ReferenceLaunch out;
    out.symbol = spec.symbol;
    const auto dimensions = [&](const std::vector<Expression>& expressions, const std::string& name) {
      std::vector<std::int64_t> values = numbers(expressions, name);
      values.resize(3, 1);
      return Dim3{values[0], values[1], values[2]};
    };
    out.grid = dimensions(spec.grid, field + ".grid");
    out.block = dimensions(spec.block, field + ".block");
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
      const ReferenceArgumentSpec& argument = spec.arguments[i];
      ReferenceArgument value{argument.kind, static_cast<std::int64_t>(argument.buffer), 0};
      if (argument.expression) value.integer = number(*argument.expression, fmt::format("{}.arguments[{}]", field, i));
      if (argument.kind == ReferenceArgumentKind::kFloat64 && !error_) {
        const BufferSpec& of = definition_.buffers[argument.buffer];
        value = {argument.kind, 0,
                 kept(error_of_early_rounding(of.error, out_.buffers[argument.buffer].type, error_values(of.name)))};
      }
      if (!argument.scalar.empty()) value.real = out_.find_scalar(argument.scalar).value_or(0);
      out.arguments.push_back(value);
    }
    return out;
  }

  const OperationDefinition& definition_;
  std::optional<Dtype> dtype_;
  ElementType output_;
  OperationProblem out_;
  Names names_;
  std::optional<Error> error_;
};

}  // namespace

namespace {

/// The operation with the sizes of its `lesser` part; nothing if a library can compute all of it.
Result<std::optional<LesserResult>> lesser_result(const OperationDefinition& definition,
                                                  const OperationProblem& problem, const ProblemChoices& choices) {
  if (!definition.lesser) return std::nullopt;
  Names names;
  for (const NamedValue& value : problem.values) names.set(value.name, value.value);
  const auto lacking = definition.lesser->when->evaluate(names);
  if (!lacking) return fail(lacking.error(), "lesser.when");
  if (*lacking == 0) return std::nullopt;
  std::vector<NamedValue> sizes = problem.sizes;
  for (const NamedExpression& other : definition.lesser->sizes) {
    const auto value = other.expression.evaluate(names);
    if (!value) return fail(value.error(), "lesser.sizes");
    for (NamedValue& size : sizes) {
      if (size.name == other.name) size.value = *value;
    }
  }
  TRY_ASSIGN(auto less, ProblemBuilder(definition, std::move(sizes), choices).build());
  LesserResult out{std::move(less.reference), {}};
  for (const OperationBuffer& buffer : less.buffers) {
    if (buffer.is_output()) out.errors.push_back(buffer.error);
  }
  return out;
}

}  // namespace

Result<OperationProblem> make_operation_problem(const OperationDefinition& definition,
                                                const std::vector<NamedValue>& sizes, const ProblemChoices& choices) {
  TRY_ASSIGN(auto complete, complete_sizes(name_for_messages(definition), definition.dimensions, sizes));
  auto problem = ProblemBuilder(definition, std::move(complete), choices).build();
  if (!problem) return problem;
  auto lesser = lesser_result(definition, *problem, choices);
  if (!lesser) return fail(std::move(lesser.error()), fmt::format("operation '{}'", definition.name));
  problem->lesser = std::move(*lesser);
  return problem;
}

Result<Problem> make_problem(const OperationDefinition& definition, const std::vector<NamedValue>& sizes,
                             std::optional<Dtype> dtype) {
  const auto chosen = choose_dtype(name_for_messages(definition), definition.dtypes, dtype);
  if (!chosen) return tl::unexpected<Error>(chosen.error());
  auto problem = make_operation_problem(definition, sizes, {*chosen, {}, {}});
  if (!problem) return tl::unexpected<Error>(std::move(problem.error()));
  auto checked = problem_of(std::move(*problem), chosen->value_or(Dtype::kF32));
  if (!checked) return fail(std::move(checked.error()), fmt::format("operation '{}'", definition.name));
  return checked;
}

}  // namespace pgtune::operation
