// SPDX-License-Identifier: MIT
// Reads an operation's reference, and the kernels of the reference and of fills.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/operation/error_rules.hpp"
#include "tuner/operation/operation_reader.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::operation {
namespace {

using space::KnownNames;
using space::Reach;

constexpr std::size_t kMaxKernels = 16, kMaxArguments = 64;

/// The index of the named buffer or output.
std::size_t buffer_named(const JsonCursor& cursor, const OperationDefinition& definition, bool is_output) {
  const auto may_be = [&](const BufferSpec& buffer) { return !is_output || buffer.is_output(); };
  return buffer_at(cursor, definition, may_be).value_or(0);
}

ReferenceArgumentSpec read_argument(const JsonCursor& cursor, const KnownNames& names,
                                    const OperationDefinition& definition, bool is_fill) {
  using Kind = ReferenceArgumentKind;
  cursor.expect_fields({"buffer", "value", "scale", "result", "int64", "float32", "rounding", "seed"});
  ReferenceArgumentSpec out;
  if (!cursor.value().is_object() || cursor.value().size() != 1) {
    cursor.problem("an argument has exactly one of buffer, value, scale, result, int64, float32, rounding and seed");
    return out;
  }
  if (const auto buffer = cursor.optional("buffer")) {
    out.kind = Kind::kBuffer;
    out.buffer = buffer_named(*buffer, definition, false);
  } else if (const auto int64 = cursor.optional("int64")) {
    out.kind = Kind::kInt64;
    out.expression = names.read(*int64, Reach::kProblem);
  } else if (const auto float32 = cursor.optional("float32")) {
    out.kind = Kind::kFloat32;
    std::vector<std::string_view> words;
    for (const NamedScalar& scalar : definition.scalars) words.push_back(scalar.name);
    out.scalar = float32->choice(words);
  } else if (const auto rounding = cursor.optional("rounding")) {
    out.kind = Kind::kFloat64;
    out.buffer = buffer_named(*rounding, definition, true);
    if (is_fill || definition.buffers[out.buffer].error.rule != ErrorRule::kSum)
      rounding->problem("it is a reference's, of an output whose error is a sum's");
  } else if (const auto seed = cursor.optional("seed")) {
    out.kind = Kind::kSeed;
    if (!is_fill) seed->problem("a reference has no seed: equal inputs have equal results");
    if (seed->value() != true) seed->problem("it is given as true");
  }
  for (const Kind kind : {Kind::kValue, Kind::kScale, Kind::kResult}) {
    const auto output = cursor.optional(to_string(kind));
    if (!output) continue;
    out.kind = kind;
    if (is_fill) output->problem("only the reference writes right values and their scales, and judges results");
    out.buffer = buffer_named(*output, definition, true);
    if (kind == Kind::kResult && definition.buffers[out.buffer].error.rule != ErrorRule::kResidual)
      output->problem("it is of an output whose error is a residual");
  }
  return out;
}

/// A kernel that takes a result may write only residuals and their scales, and no other kernel may write those scales.
void check_outputs_of(const ReferenceKernelSpec& kernel, const JsonCursor& cursor,
                      const OperationDefinition& definition) {
  for (std::size_t i = 0; i < definition.buffers.size(); ++i) {
    const BufferSpec& buffer = definition.buffers[i];
    const bool of_residual = buffer.error.rule == ErrorRule::kResidual;
    const bool scale = kernel.names(ReferenceArgumentKind::kScale, i);
    if (kernel.judges_result() && !of_residual && (scale || kernel.names(ReferenceArgumentKind::kValue, i)))
      cursor.problem(fmt::format("it is given a result, and what is right in '{}' cannot depend on that", buffer.name));
    if (!kernel.judges_result() && of_residual && scale)
      cursor.problem(fmt::format(
          "the scale of a residual is written by the kernel that is given {{\"result\": \"{}\"}}", buffer.name));
  }
}

}  // namespace

bool ReferenceKernelSpec::names(ReferenceArgumentKind kind, std::size_t buffer) const {
  return std::any_of(arguments.begin(), arguments.end(), [&](const ReferenceArgumentSpec& argument) {
    return argument.kind == kind && argument.buffer == buffer;
  });
}

bool ReferenceKernelSpec::judges_result() const {
  return std::any_of(arguments.begin(), arguments.end(), [](const ReferenceArgumentSpec& argument) {
    return argument.kind == ReferenceArgumentKind::kResult;
  });
}

std::optional<std::size_t> place_of(const OperationDefinition& definition, std::string_view name) {
  const auto found = std::find_if(definition.buffers.begin(), definition.buffers.end(),
                                  [&](const BufferSpec& buffer) { return buffer.name == name; });
  if (found == definition.buffers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - definition.buffers.begin());
}

ReferenceKernelSpec read_kernel(const JsonCursor& cursor, const KnownNames& names,
                                const OperationDefinition& definition, bool is_fill) {
  cursor.expect_fields({"symbol", "grid", "block", "arguments"});
  ReferenceKernelSpec out;
  const JsonCursor symbol = cursor.required("symbol");
  out.symbol = symbol.string();
  if (!is_identifier(out.symbol)) symbol.problem(fmt::format("'{}' cannot be a kernel's name", out.symbol));
  out.grid = read_expressions(cursor.required("grid"), names, 1, 3);
  out.block = read_expressions(cursor.required("block"), names, 1, 3);
  for (const JsonCursor& element : cursor.required("arguments").elements(0, kMaxArguments))
    out.arguments.push_back(read_argument(element, names, definition, is_fill));
  return out;
}

void read_reference(const JsonCursor& root, const KnownNames& names, OperationDefinition& definition) {
  const JsonCursor cursor = root.required("reference");
  cursor.expect_fields({"source", "kernels"});
  static_cast<void>(cursor.required("source").string());
  for (const JsonCursor& element : cursor.required("kernels").elements(1, kMaxKernels)) {
    definition.reference.push_back(read_kernel(element, names, definition, false));
    check_outputs_of(definition.reference.back(), element, definition);
  }
  for (std::size_t i = 0; i < definition.buffers.size(); ++i) {
    const BufferSpec& buffer = definition.buffers[i];
    if (!buffer.is_output()) continue;
    const bool of_residual = buffer.error.rule == ErrorRule::kResidual;
    const auto written = [&](ReferenceArgumentKind kind, bool by_judge) {
      return std::any_of(definition.reference.begin(), definition.reference.end(), [&](const auto& kernel) {
        return kernel.judges_result() == by_judge && kernel.names(kind, i);
      });
    };
    if (!written(ReferenceArgumentKind::kValue, false))
      cursor.problem(fmt::format("no kernel is given {{\"value\": \"{}\"}}{}, so nobody says what is right there",
                                 buffer.name, of_residual ? " without a result" : ""));
    if (of_residual && !written(ReferenceArgumentKind::kValue, true))
      cursor.problem(fmt::format(
          "no kernel is given {{\"result\": \"{0}\"}} and {{\"value\": \"{0}\"}}, so nobody writes residuals of '{0}'",
          buffer.name));
    if (needs_scale(buffer.error) && !written(ReferenceArgumentKind::kScale, of_residual))
      cursor.problem(fmt::format("the error of '{0}' is in units of a scale: give a kernel {{\"scale\": \"{0}\"}}{1}",
                                 buffer.name, of_residual ? " beside the result" : ""));
  }
}

}  // namespace pgtune::operation
