// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/operation_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "tool/pgtune/export/callable_tables.hpp"
#include "tool/pgtune/export/cpp_names.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::tool {
namespace {

using operation::BufferSpec;
using operation::OperationDefinition;
using space::Expression;

const OperationDefinition& definition_of(const CallableHeader& content, const Problem& problem) {
  return *std::find_if(content.operations.begin(), content.operations.end(),
                       [&](const OperationDefinition& known) { return known.name == problem.operation->name; });
}

std::string cpp_fact(const Expression& expression) {
  std::vector<std::string> names = expression.names();
  for (std::string& name : names) name.insert(0, "f.v_");
  return expression.cpp(names);
}

template <typename Items, typename Text>
std::string joined(const Items& items, const Text& text) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(text(item));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string facts(const std::vector<Expression>& expressions) { return "{" + joined(expressions, cpp_fact) + "}"; }

std::string facts_struct(const OperationDefinition& definition) {
  const space::OperationInterface names = definition.interface();
  std::string out = fmt::format("struct Facts_{} : DeviceFacts {{\n  Int {};\n  CUtensorMapDataType {};\n",
                                definition.name, joined(names.names, [](const auto& name) { return "v_" + name; }),
                                joined(names.buffers, [](const auto& name) { return "tensor_" + name; }));
  for (std::size_t i = 0; i < names.buffers.size(); ++i)
    out += fmt::format("  static constexpr Place place_{} = {};\n", names.buffers[i], i);
  for (std::size_t i = 0; i < names.scalars.size(); ++i)
    out += fmt::format("  static constexpr Int scalar_{} = {};\n", names.scalars[i], i);
  return out + "};\n";
}

/// The caller's own pointers: their targets are unknown, and the caller must ensure the promised alignment.
std::string pointers_code(const BufferSpec& array, std::size_t number) {
  const operation::PointerSpec& pointers = *array.pointers;
  return fmt::format(
      "  const Int n_{0} = {1};\n"
      "  if (refuses(why, x, truth(n_{0} >= 1 && n_{0} <= {2}), {3})) return false;\n"
      "  f.v_ALIGN_{0} = {4};\n"
      "  f.tensor_{0} = buffers[{5}].tensor;\n",
      array.name, cpp_fact(array.extents[0]), kMaxPointers,
      cpp_string(fmt::format("there are 1 to {} pointers {}", kMaxPointers, array.name)),
      pointers.alignment > 0 ? std::to_string(pointers.alignment) : fmt::format("buffers[{}].bytes", pointers.buffer),
      number);
}

std::string buffer_code(const BufferSpec& buffer, std::size_t number) {
  if (buffer.pointers) return pointers_code(buffer, number);
  const std::string shape = fmt::format("{{{}, {}, {}}}", buffer.extents.size(), facts(buffer.extents),
                                        buffer.strides.empty() ? "{}" : facts(buffer.strides));
  return fmt::format(
      "  const Shape s_{0} = {1};\n"
      "  if (refuses(why, x, truth(is_layout(s_{0})), {2})) return false;\n"
      "  f.v_ALIGN_{0} = row_alignment(s_{0}, buffers[{3}]);\n"
      "  f.tensor_{0} = buffers[{3}].tensor;\n",
      buffer.name, buffer.strides.empty() ? fmt::format("packed(x, {})", shape) : shape,
      cpp_string(fmt::format("the sizes of buffer {} overflow, or its elements share memory", buffer.name)), number);
}

std::string describe_function(const OperationDefinition& definition) {
  std::string out = fmt::format(
      "/// Operation {0}: derived values, rules and buffers of its JSON (content {1}).\n"
      "inline bool describe_{0}(Facts_{0}& f, const Int* sizes, const BufferRow* buffers, const char*& why) noexcept "
      "{{\n  bool x = false;\n",
      definition.name, definition.content_hash.substr(0, 12));
  for (std::size_t i = 0; i < definition.dimensions.size(); ++i)
    out += fmt::format("  f.v_{} = sizes[{}];\n", definition.dimensions[i].name, i);
  for (const space::NamedExpression& entry : definition.derived)
    out += fmt::format("  f.v_{} = {};\n", entry.name, cpp_fact(entry.expression));
  for (const space::Rule& rule : definition.require)
    out += fmt::format("  if (refuses(why, x, {},\n              {}))\n    return false;\n", cpp_fact(rule.expression),
                       cpp_string(rule.reason));
  for (std::size_t i = 0; i < definition.buffers.size(); ++i) out += buffer_code(definition.buffers[i], i);
  return out + "  return true;\n}\n";
}

/// The shape, as in a declaration: "[M, N]", or "[H, W], strides [PITCH, 1]".
std::string shape_comment(const BufferSpec& buffer) {
  const auto texts = [](const std::vector<Expression>& expressions) {
    return joined(expressions, [](const Expression& expression) { return expression.text(); });
  };
  std::string out = fmt::format("[{}]", texts(buffer.extents));
  if (!buffer.strides.empty()) out += fmt::format(", strides [{}]", texts(buffer.strides));
  if (buffer.pointers) return out;
  if (buffer.alignment != 256) out += fmt::format(", aligned to {} bytes", buffer.alignment);
  return out;
}

std::string sizes_struct(const OperationDefinition& definition) {
  std::string out = "  struct Sizes {\n";
  for (const operation::Dimension& dimension : definition.dimensions)
    out += fmt::format("    std::int64_t {};  ///< {}\n", cpp_member(dimension.name),
                       cpp_comment(dimension.description.empty() ? "of the operation" : dimension.description));
  out += "  };\n  static void list(const Sizes& sizes, Int* out) noexcept {\n";
  for (std::size_t i = 0; i < definition.dimensions.size(); ++i)
    out += fmt::format("    out[{}] = sizes.{};\n", i, cpp_member(definition.dimensions[i].name));
  return out + "  }\n";
}

/// In CUDA C++: "const float*", and for pointers "const float* const*".
std::string pointer_type(const OperationProblem& problem, const OperationBuffer& buffer) {
  const OperationBuffer& elements =
      buffer.pointers ? problem.buffers[static_cast<std::size_t>(buffer.pointers->buffer)] : buffer;
  return fmt::format("{}{}*{}", elements.role == BufferRole::kIn ? "const " : "", traits(buffer.type).cpp_name,
                     buffer.pointers ? " const*" : "");
}

/// An operand's description for callers: role and shape, and properties of pointers.
std::string operand_comment(const CallableHeader& content, const OperationDefinition& definition,
                            const OperationProblem& problem, std::size_t number) {
  const BufferSpec& spec = definition.buffers[number];
  std::string out = fmt::format("{}: {}", to_string(spec.role), shape_comment(spec));
  if (const auto& pointers = problem.buffers[number].pointers)
    out +=
        fmt::format(", in device memory; each leads where number i would into {}, offset {}, aligned to {} bytes",
                    definition.buffers[spec.pointers->buffer].name, spec.pointers->offset->text(), pointers->alignment);
  if (may_be_null(content, problem, number)) out += "; kernels reach it by pointers alone: may be null";
  return out;
}

std::string operands_struct(const CallableHeader& content, const OperationDefinition& definition,
                            const OperationProblem& problem) {
  std::string out = "  struct Operands {\n";
  for (std::size_t i = 0; i < definition.buffers.size(); ++i) {
    out += fmt::format("    {} {} = nullptr;  ///< {}\n", pointer_type(problem, problem.buffers[i]),
                       cpp_member(definition.buffers[i].name),
                       cpp_comment(operand_comment(content, definition, problem, i)));
  }
  for (const NamedScalar& scalar : definition.scalars)
    out += fmt::format("    float {} = static_cast<float>({});  ///< tuned with this value\n", cpp_member(scalar.name),
                       scalar.value);
  const std::string scalars =
      joined(definition.scalars, [](const NamedScalar& scalar) { return "o." + cpp_member(scalar.name); });
  return out +
         fmt::format(
             "  }};\n  static Bindings bind(const Operands& o) noexcept {{\n    return {{{{{}}}, {{{}}}}};\n  }}\n",
             joined(definition.buffers, [](const BufferSpec& buffer) { return "o." + cpp_member(buffer.name); }),
             scalars);
}

std::string tuned_tables(const CallableHeader& content, const Problem& kind, const std::string& name) {
  std::string rows, sizes;
  std::size_t count = 0;
  for (const ExportedEntry& entry : content.entries) {
    if (!entry.problem.is_of_kind(kind)) continue;
    sizes += fmt::format(
        "inline constexpr std::int64_t kSizes{}_{}[] = {{{}}};\n", count, name,
        joined(entry.problem.operation->sizes, [](const NamedValue& size) { return std::to_string(size.value); }));
    rows += fmt::format(
        "    // {}, speed in {}\n    {{kSizes{}_{}, {}, {}, {:.6g}, {:.5g}, {:.5g}, {:.5g}, {:.5g},\n     {}}},\n",
        cpp_comment(entry.problem.title()), entry.problem.speed_unit(), count++, name, entry.variant,
        entry.device_class, entry.time_s, entry.problem.speed(entry.time_s), entry.ratio, entry.ratio_low,
        entry.ratio_high, cpp_string(entry.origin));
  }
  return sizes +
         fmt::format("inline constexpr TunedSizes kTuned_{}[] = {{\n{}}};\nconstexpr int kTunedCount_{} = {};\n", name,
                     rows, name, count);
}

/// The loss of neighbours' variants, as comments and as the chosen neighbourhood.
std::string neighbourhood(const CallableHeader& content, const Problem& kind) {
  std::string out;
  const MeasuredLoss* chosen = nullptr;
  for (const MeasuredLoss& loss : content.losses) {
    if (loss.operation != kind.operation->name || loss.dtype != kind.dtype) continue;
    out += "  // " + loss_comment(loss) + '\n';
    if (loss.chosen) chosen = &loss;
  }
  return out + fmt::format("  static Neighbourhood neighbourhood() noexcept {{ return {{{}, {:.4f}}}; }}\n",
                           chosen == nullptr ? 0 : chosen->radius, chosen == nullptr ? 0 : *chosen->median);
}

std::string kind_struct(const CallableHeader& content, const Problem& kind, std::size_t number) {
  const OperationDefinition& definition = definition_of(content, kind);
  const OperationProblem& problem = *kind.operation;
  const std::string name = kind_name(kind);
  std::string out = fmt::format("struct Of_{0} {{\n  using Facts = Facts_{1};\n", name, definition.name);
  out += sizes_struct(definition) + operands_struct(content, definition, problem);
  out += fmt::format(
      "  static constexpr int kKind = {}, kSizeCount = {}, kBufferCount = {}, kScalarCount = {}, kTunedCount = "
      "kTunedCount_{};\n",
      number, definition.dimensions.size(), definition.buffers.size(), definition.scalars.size(), name);
  std::size_t row = 0;
  out += fmt::format("  static constexpr BufferRow kBuffers[] = {{{}}};\n",
                     joined(problem.buffers, [&](const OperationBuffer& buffer) {
                       return fmt::format("{{{}, {}, {}, {}}}",
                                          buffer.pointers ? kPointerBytes : element_bytes(buffer.type),
                                          cuda_tensor_type(traits(buffer.type).tensor_type), buffer.alignment,
                                          may_be_null(content, problem, row++));
                     }));
  out += fmt::format("  static const TunedSizes* tuned() noexcept {{ return kTuned_{}; }}\n", name);
  out += "  static bool describe(Facts& f, const Int* sizes, const char*& why) noexcept {\n";
  if (problem.has_dtypes)
    out += fmt::format("    f.v_DTYPE = {}, f.v_ELEM_BYTES = {};\n", label_value(to_string(kind.dtype)),
                       element_bytes(kind.dtype));
  if (problem.has_dtypes && definition.of_products)
    out += fmt::format("    f.v_OUT_BYTES = {};\n", element_bytes(output_types(kind.dtype).front()));
  out += fmt::format("    return describe_{}(f, sizes, kBuffers, why);\n  }}\n", definition.name);
  return out + neighbourhood(content, kind) + "};\n";
}

/// Whether a kernel takes the operand itself, or a map or window of it.
bool names_operand(const space::TemplateDefinition& definition, Operand operand) {
  const auto is_it = [&](const auto& user) { return user.operand == operand; };
  return std::any_of(definition.tensor_maps.begin(), definition.tensor_maps.end(), is_it) ||
         std::any_of(definition.kernels.begin(), definition.kernels.end(), [&](const space::KernelSpec& kernel) {
           return (kernel.l2_window && is_it(*kernel.l2_window)) ||
                  std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                              [&](const space::ArgumentSpec& argument) {
                                return argument.kind == ArgumentKind::kPointer && is_it(argument);
                              });
         });
}

}  // namespace

bool may_be_null(const CallableHeader& content, const OperationProblem& problem, std::size_t buffer) {
  const bool pointed_into =
      std::any_of(problem.buffers.begin(), problem.buffers.end(), [&](const OperationBuffer& array) {
        return array.pointers && array.pointers->buffer == static_cast<std::int64_t>(buffer);
      });
  return pointed_into && std::none_of(content.templates.begin(), content.templates.end(), [&](const auto& definition) {
           return definition.operation == problem.name && names_operand(definition, operand_of_buffer(buffer));
         });
}

std::string element_declarations(const CallableHeader& content) {
  std::set<std::string_view> names;
  for (const Problem& kind : operation_kinds(content)) {
    for (const OperationBuffer& buffer : kind.operation->buffers) names.insert(traits(buffer.type).cpp_name);
  }
  std::string out;
  for (const std::string_view name : names) {
    if (name.starts_with("__")) out += fmt::format("struct {};\n", name);
  }
  return out.empty() ? "" : "// Of CUDA's headers cuda_fp16.h, cuda_bf16.h and cuda_fp8.h.\n" + out + '\n';
}

std::string operation_facts(const CallableHeader& content) {
  std::string out;
  for (const OperationDefinition& definition : content.operations)
    out += facts_struct(definition) + describe_function(definition) + '\n';
  return out;
}

std::string operation_tables(const CallableHeader& content) {
  const std::vector<Problem> kinds = kinds_of(content);
  std::string out;
  for (const Problem& kind : operation_kinds(content))
    out += tuned_tables(content, kind, kind_name(kind)) + kind_struct(content, kind, kind_number(kinds, kind));
  return out;
}

std::string operation_calls(const CallableHeader& content) {
  std::string out;
  for (const Problem& kind : operation_kinds(content)) {
    const std::string& description = definition_of(content, kind).description;
    if (!description.empty()) out += fmt::format("/// {}\n", cpp_comment(description));
    out += fmt::format("using {0} = Operation<detail::Of_{0}>;\n", kind_name(kind));
  }
  return out;
}

}  // namespace pgtune::tool
