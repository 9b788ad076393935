// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/operation_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "tool/pgtune/export/callable_tables.hpp"
#include "tool/pgtune/export/cpp_names.hpp"
#include "tool/pgtune/export/cuda_words.hpp"
#include "tool/pgtune/export/kinds.hpp"

namespace pgtune::tool {
namespace {

using operation::BufferSpec;
using operation::OperationDefinition;
using space::Expression;

const OperationDefinition& definition_of(const CallableHeader& content, const Problem& problem) {
  return *std::find_if(content.operations.begin(), content.operations.end(),
                       [&](const OperationDefinition& known) { return known.name == problem.operation->name; });
}

std::string fact(const Expression& expression) {
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

std::string facts(const std::vector<Expression>& expressions) { return "{" + joined(expressions, fact) + "}"; }

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

std::string buffer_code(const BufferSpec& buffer, std::size_t number) {
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
    out += fmt::format("  f.v_{} = {};\n", entry.name, fact(entry.expression));
  for (const space::Rule& rule : definition.require)
    out += fmt::format("  if (refuses(why, x, {},\n              {}))\n    return false;\n", fact(rule.expression),
                       cpp_string(rule.reason));
  for (std::size_t i = 0; i < definition.buffers.size(); ++i) out += buffer_code(definition.buffers[i], i);
  return out + "  return true;\n}\n";
}

/// In brackets, as somebody would declare it: "[M, N]", or "[H, W], strides [PITCH, 1]".
std::string shape_comment(const BufferSpec& buffer) {
  const auto texts = [](const std::vector<Expression>& expressions) {
    return joined(expressions, [](const Expression& expression) { return expression.text(); });
  };
  std::string out = fmt::format("[{}]", texts(buffer.extents));
  if (!buffer.strides.empty()) out += fmt::format(", strides [{}]", texts(buffer.strides));
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

std::string operands_struct(const OperationDefinition& definition, const OperationProblem& problem) {
  std::string out = "  struct Operands {\n";
  for (std::size_t i = 0; i < definition.buffers.size(); ++i) {
    const BufferSpec& spec = definition.buffers[i];
    out += fmt::format("    {}{}* {} = nullptr;  ///< {}: {}\n", spec.role == BufferRole::kIn ? "const " : "",
                       traits(problem.buffers[i].type).cpp_name, cpp_member(spec.name), to_string(spec.role),
                       cpp_comment(shape_comment(spec)));
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
    if (!same_kind(entry.problem, kind)) continue;
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

/// What taking a neighbour's variant cost, as comments and as the neighbourhood that is used.
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
  out += sizes_struct(definition) + operands_struct(definition, problem);
  out += fmt::format(
      "  static constexpr int kKind = {}, kSizeCount = {}, kBufferCount = {}, kScalarCount = {}, kTunedCount = "
      "kTunedCount_{};\n",
      number, definition.dimensions.size(), definition.buffers.size(), definition.scalars.size(), name);
  out += fmt::format("  static constexpr BufferRow kBuffers[] = {{{}}};\n",
                     joined(problem.buffers, [](const OperationBuffer& buffer) {
                       return fmt::format("{{{}, {}, {}}}", element_bytes(buffer.type),
                                          cuda_tensor_type(traits(buffer.type).tensor_type), buffer.alignment);
                     }));
  out += fmt::format("  static const TunedSizes* tuned() noexcept {{ return kTuned_{}; }}\n", name);
  out += "  static bool describe(Facts& f, const Int* sizes, const char*& why) noexcept {\n";
  if (problem.has_dtypes)
    out += fmt::format("    f.v_DTYPE = {}, f.v_ELEM_BYTES = {};\n", space::label_value(to_string(kind.dtype)),
                       element_bytes(kind.dtype));
  out += fmt::format("    return describe_{}(f, sizes, kBuffers, why);\n  }}\n", definition.name);
  return out + neighbourhood(content, kind) + "};\n";
}

}  // namespace

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
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].operation)
      out += tuned_tables(content, kinds[i], kind_name(kinds[i])) + kind_struct(content, kinds[i], i);
  }
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
