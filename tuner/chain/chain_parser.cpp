// SPDX-License-Identifier: MIT
// A chain's JSON text to a ChainDefinition.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tuner/chain/chain_definition.hpp"
#include "tuner/operation/dimensions.hpp"
#include "tuner/template/template_files.hpp"
#include "tuner/template/template_parser.hpp"
#include "tuner/util/identifier.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::chain {
namespace {

using space::kMaxEntries;
using space::KnownNames;
using space::NameKind;
using space::Reach;

template <typename Items, typename Name>
bool has(const Items& items, const Name& is_it) {
  return std::any_of(items.begin(), items.end(), is_it);
}

std::string read_identifier(const JsonCursor& cursor, std::string_view what) {
  const std::string name = cursor.string();
  if (!is_identifier(name))
    cursor.problem(
        fmt::format("'{}' cannot be {}: use letters, digits and '_', not starting with a digit", name, what));
  return name;
}

std::vector<std::string> read_buffers(const JsonCursor& root) {
  std::vector<std::string> out;
  for (const JsonCursor& element : root.optional_elements("buffers", kMaxChainBuffers)) {
    element.expect_fields({"name", "description"});
    const JsonCursor cursor = element.required("name");
    const std::string name = read_identifier(cursor, "a buffer's name");
    if (std::find(out.begin(), out.end(), name) != out.end())
      cursor.problem(fmt::format("there are two buffers '{}'", name));
    if (const auto description = element.optional("description")) static_cast<void>(description->string());
    out.push_back(name);
  }
  return out;
}

template <typename T>
void take(const JsonCursor& cursor, Result<T> parsed, T& out) {
  if (parsed) {
    out = std::move(*parsed);
  } else {
    cursor.problem(std::move(parsed.error()));
  }
}

GemmSpec read_gemm(const JsonCursor& step) {
  GemmSpec out;
  if (const auto layout = step.optional("layout")) out.layout = layout->choice({"nn", "nt", "tn", "tt"});
  if (const auto output = step.optional("out")) {
    ElementType type{};
    take(*output, parse_output_type(output->string()), type);
    out.output = type;
  }
  if (const auto epilogue = step.optional("epilogue"))
    take(*epilogue, parse_epilogue(epilogue->string()), out.epilogue);
  if (const auto alpha = step.optional("alpha")) out.alpha = alpha->number();
  return out;
}

class StepReader {
 public:
  StepReader(const KnownNames& names, ChainDefinition& definition) : names_(names), definition_(definition) {}

  void read(const JsonCursor& cursor) {
    cursor.expect_fields(
        {"name", "operation", "size", "dtype", "layout", "out", "epilogue", "alpha", "buffers", "overlaps"});
    StepSpec step;
    const JsonCursor name = cursor.required("name");
    step.name = read_identifier(name, "a step's name");
    if (has(definition_.steps, [&](const StepSpec& other) { return other.name == step.name; }))
      name.problem(fmt::format("there are two steps '{}'", step.name));
    step.operation = cursor.required("operation").string();
    if (step.operation == kGemm) {
      step.gemm = read_gemm(cursor);
    } else {
      for (const char* const field : {"layout", "out", "epilogue", "alpha"}) {
        if (const auto own = cursor.optional(field))
          own->problem(fmt::format("\"{}\" is for \"gemm\", not for the operation '{}'", field, step.operation));
      }
    }
    if (const auto dtype = cursor.optional("dtype")) {
      Dtype chosen{};
      take(*dtype, parse_dtype(dtype->string()), chosen);
      step.dtype = chosen;
    }
    read_sizes(cursor.required("size"), step);
    if (const auto buffers = cursor.optional("buffers")) read_uses(*buffers, step);
    if (const auto overlaps = cursor.optional("overlaps")) {
      if (!overlaps->value().is_boolean()) overlaps->problem("\"overlaps\" is true or false");
      step.overlaps = overlaps->value() == true;
    }
    definition_.steps.push_back(std::move(step));
  }

 private:
  /// The members of an object, as they are written, each at its own place.
  template <typename Visit>
  static void for_members(const JsonCursor& object, std::string_view form, const Visit& visit) {
    if (!object.value().is_object()) {
      object.problem(fmt::format("must be an object such as {}", form));
      return;
    }
    for (const auto& [name, value] : object.value().items()) visit(name, object.required(name));
  }

  void read_sizes(const JsonCursor& cursor, StepSpec& step) {
    for_members(cursor, R"({"M": "TOKENS"})", [&](const std::string& name, const JsonCursor& value) {
      step.sizes.push_back({name, names_.read(value, Reach::kProblem)});
    });
  }

  void read_uses(const JsonCursor& cursor, StepSpec& step) {
    for_members(cursor, R"({"A": "hidden"})", [&](const std::string& operand, const JsonCursor& value) {
      const std::string buffer = value.string();
      if (std::find(definition_.buffers.begin(), definition_.buffers.end(), buffer) == definition_.buffers.end())
        value.problem(fmt::format("the chain has no buffer '{}'{}", buffer, suggestion(buffer, definition_.buffers)));
      step.buffers.push_back({operand, buffer});
    });
  }

  const KnownNames& names_;
  ChainDefinition& definition_;
};

void check_all_used(const JsonCursor& root, const ChainDefinition& definition) {
  for (const std::string& buffer : definition.buffers) {
    const auto uses_it = [&](const BufferUse& use) { return use.buffer == buffer; };
    if (!has(definition.steps, [&](const StepSpec& step) { return has(step.buffers, uses_it); }))
      root.required("buffers").problem(fmt::format("no step uses the buffer '{}'", buffer));
  }
}

ChainDefinition read_definition(const JsonCursor& root) {
  ChainDefinition out;
  root.expect_fields(
      {"schema", "name", "description", "dtypes", "dimensions", "derived", "require", "buffers", "steps"});
  operation::check_schema(root);
  out.name = read_identifier(root.required("name"), "a chain's name");
  if (const auto description = root.optional("description")) out.description = description->string();
  out.dtypes = operation::read_dtypes(root);
  KnownNames names = operation::names_with(out.dtypes);
  out.dimensions = operation::read_dimensions(root, names);
  out.derived = space::read_named_expressions(root, "derived", NameKind::kValue, Reach::kProblem, names);
  out.require = space::read_rules(root, "require", Reach::kProblem, names);
  out.buffers = read_buffers(root);
  StepReader steps(names, out);
  for (const JsonCursor& step : root.required("steps").elements(1, kMaxChainSteps)) steps.read(step);
  check_all_used(root, out);
  return out;
}

}  // namespace

Result<ChainDefinition> parse_chain(std::string_view json_text, const std::string& origin) {
  const auto document = parse_json(json_text, origin);
  if (!document) return tl::unexpected<Error>(document.error());
  JsonProblems problems;
  ChainDefinition out = read_definition(JsonCursor(*document, "", problems));
  if (problems.first()) return fail(*problems.first(), origin);
  return out;
}

Result<ChainDefinition> load_chain(const std::filesystem::path& json_path) {
  const auto text = space::read_text_file(json_path);
  if (!text) return fail(text.error(), "reading the chain");
  return parse_chain(*text, json_path.string());
}

}  // namespace pgtune::chain
