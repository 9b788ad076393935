// SPDX-License-Identifier: MIT
// An operation's JSON text to an OperationDefinition with its source.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tuner/operation/dimensions.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/operation/operation_reader.hpp"
#include "tuner/template/template_parser.hpp"
#include "tuner/template/template_source.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::operation {
namespace {

using space::kMaxEntries;
using space::KnownNames;
using space::NameKind;
using space::Reach;

std::vector<NamedScalar> read_scalars(const JsonCursor& root) {
  std::vector<NamedScalar> out;
  for (const JsonCursor& element : root.optional_elements("scalars", kMaxEntries)) {
    element.expect_fields({"name", "value"});
    const JsonCursor name = element.required("name");
    const JsonCursor value = element.required("value");
    NamedScalar scalar{name.string(), value.number()};
    if (const auto why = why_not_in(ElementType::kFloat32, scalar.value))
      value.problem(fmt::format("kernels are given scalars as float32: {}", *why));
    if (!is_identifier(scalar.name)) name.problem(fmt::format("'{}' cannot be a scalar's name", scalar.name));
    for (const NamedScalar& other : out) {
      if (other.name == scalar.name) name.problem(fmt::format("there are two scalars '{}'", scalar.name));
    }
    out.push_back(std::move(scalar));
  }
  return out;
}

/// Exported structs have members of these names, with '_' after those that C++ keeps for itself.
void require_distinct_members(const JsonCursor& root, const OperationDefinition& operation) {
  std::vector<std::string> names;
  for (const BufferSpec& buffer : operation.buffers) names.push_back(buffer.name);
  for (const NamedScalar& scalar : operation.scalars) names.push_back(scalar.name);
  for (const std::string& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1)
      root.problem(fmt::format("a buffer and a scalar are both named '{}'", name));
    if (std::count(names.begin(), names.end(), name + '_') > 0)
      root.problem(fmt::format("'{}' and '{}_' are too alike for an exported header", name, name));
  }
}

std::vector<std::string> read_templates(const JsonCursor& root) {
  std::vector<std::string> out;
  for (const JsonCursor& element : root.optional_elements("templates", kMaxEntries)) {
    std::string path = std::filesystem::path(element.string()).lexically_normal().generic_string();
    if (std::find(out.begin(), out.end(), path) != out.end())
      element.problem(fmt::format("the template '{}' appears twice", path));
    out.push_back(std::move(path));
  }
  return out;
}

OperationDefinition read_definition(const JsonCursor& root, std::string_view reserved) {
  OperationDefinition out;
  root.expect_fields({"schema",    "name",    "description", "dtypes",    "dimensions", "derived",   "require",
                      "scalars",   "buffers", "pointers",    "reference", "lesser",     "null_test", "cases",
                      "baselines", "counts",  "flops",       "bytes",     "unit",       "templates"});
  space::check_schema(root);
  const JsonCursor name = root.required("name");
  out.name = name.string();
  if (!is_identifier(out.name) || (out.name == kGemmName && out.name != reserved))
    name.problem(
        fmt::format("'{}' cannot be an operation's name: use letters, digits and '_', not starting with a "
                    "digit, and not gemm, which is built in",
                    out.name));
  if (const auto description = root.optional("description")) out.description = description->string();
  out.of_products = speaks_of_products(root);
  out.dtypes = space::read_dtypes(root.optional_elements("dtypes", kMaxEntries), out.of_products);
  KnownNames names = names_with(out.dtypes, out.of_products);
  out.dimensions = read_dimensions(root, names);
  announce_counts(root, names);
  out.derived = space::read_named_expressions(root, "derived", NameKind::kValue, Reach::kProblem, names);
  out.require = space::read_rules(root, "require", Reach::kProblem, names);
  out.scalars = read_scalars(root);
  read_buffers(root, names, out);
  read_pointers(root, names, out);
  require_distinct_members(root, out);
  if (out.buffers.empty()) return out;  // that is a problem by itself, and what follows names buffers
  read_reference(root, names, out);
  read_lesser(root, names, out);
  if (const auto tested = root.optional("null_test")) {
    out.null_test = tested->value() == true;
    if (!tested->value().is_boolean()) tested->problem("it is true or false");
  }
  read_cases(root, names, out);
  read_baselines(root, out);
  read_work(root, names, out);
  out.unit = root.required("unit").choice({kBytesUnit, kFlopsUnit});
  out.templates = read_templates(root);
  return out;
}

}  // namespace

Result<OperationDefinition> parse_operation(std::string_view json_text, const std::string& origin,
                                            const FileReader& read_file, std::string_view reserved) {
  TRY_ASSIGN(auto document, parse_json(json_text, origin));
  JsonProblems problems;
  const JsonCursor root(document, "", problems);
  OperationDefinition out = read_definition(root, reserved);
  std::string source_path;
  if (const auto reference = root.optional("reference"); reference && !problems.first())
    source_path = reference->required("source").string();
  if (problems.first()) return fail(*problems.first(), origin);
  // Workers have the header themselves, so only the user's text is sent.
  const FileReader workers_own = [](const std::string& name) -> Result<std::string> {
    if (name == kOperationHeader) return std::string();
    return fail(ErrorKind::kUsage, fmt::format("no header '{}'", name));
  };
  auto source = space::read_template_source(source_path, read_file, workers_own, {}, "reference.source");
  if (!source) return fail(std::move(source.error()), origin);
  std::erase_if(source->headers, [](const SourceFile& header) { return header.name == kOperationHeader; });
  // Fields that affect neither right results nor measurements.
  document.erase("description");
  document.erase("templates");
  document["reference"].erase("source");
  out.content_hash = space::hash_template(*source, document.dump());
  out.source = std::move(*source);
  return out;
}

OperationInterface OperationDefinition::interface() const {
  OperationInterface out;
  out.name = name;
  out.dtypes = dtypes;
  for (const Dimension& dimension : dimensions) out.names.push_back(dimension.name);
  for (const NamedExpression& entry : derived) out.names.push_back(entry.name);
  for (const BufferSpec& buffer : buffers) {
    out.buffers.push_back(buffer.name);
    out.names.push_back(alignment_name(buffer.name));
    if (buffer.pointers) out.pointers.push_back(buffer.name);
  }
  if (!dtypes.empty()) out.names.insert(out.names.end(), {"DTYPE", "ELEM_BYTES"});
  if (!dtypes.empty() && of_products) out.names.emplace_back("OUT_BYTES");
  for (const NamedScalar& scalar : scalars) out.scalars.push_back(scalar.name);
  return out;
}

}  // namespace pgtune::operation
