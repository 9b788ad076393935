// SPDX-License-Identifier: MIT
// Turns a template's JSON text into a TemplateDefinition with its source.
#include "tuner/template/template_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tuner/template/template_source.hpp"
#include "tuner/util/hash_text.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::space {
namespace {

constexpr std::int64_t kSchema = 1;

std::vector<ElementType> read_outputs(const JsonCursor& root, const std::vector<Dtype>& dtypes) {
  std::vector<ElementType> out;
  for (const JsonCursor& element : root.optional_elements("outputs", kMaxEntries)) {
    auto type = parse_output_type(element.string());
    if (!type) {
      element.problem(std::move(type.error()));
      continue;
    }
    const bool possible = std::any_of(dtypes.begin(), dtypes.end(), [&](Dtype dtype) {
      const auto& types = output_types(dtype);
      return std::find(types.begin(), types.end(), *type) != types.end();
    });
    if (!possible) element.problem(fmt::format("none of the dtypes has {} output", to_string(*type)));
    if (std::find(out.begin(), out.end(), *type) != out.end()) {
      element.problem(fmt::format("the output type '{}' appears twice", to_string(*type)));
    }
    out.push_back(*type);
  }
  return out;
}

void read_epilogues(const JsonCursor& root, TemplateDefinition& out) {
  for (const JsonCursor& element : root.optional_elements("epilogues", kMaxEntries)) {
    const std::string word = element.string();
    const auto epilogue = parse_epilogue(word);
    // One word an entry: each may be combined with the others.
    if (!epilogue || !epilogue->any() || (epilogue->bias && epilogue->activation != Activation::kNone)) {
      element.problem(fmt::format("'{}' is no epilogue; there are bias, relu, gelu and silu", word));
      continue;
    }
    const auto known = std::find(out.activations.begin(), out.activations.end(), epilogue->activation);
    if (epilogue->bias ? out.fuses_bias : known != out.activations.end()) {
      element.problem(fmt::format("the epilogue '{}' appears twice", word));
    }
    if (epilogue->bias) {
      out.fuses_bias = true;
    } else {
      out.activations.push_back(epilogue->activation);
    }
  }
}

CostModel read_cost(const JsonCursor& cursor, KnownNames& names) {
  cursor.expect_fields({"steps", "clocks"});
  std::vector<NamedExpression> steps =
      read_named_expressions(cursor, "steps", NameKind::kValue, Reach::kProblem, names);
  return {std::move(steps), names.read(cursor.required("clocks"), Reach::kProblem)};
}

/// A word's text, with expressions in braces: "{SPLIT_K} parts".
SumOrder::Word read_word(const JsonCursor& cursor, const KnownNames& names) {
  cursor.expect_fields({"when", "word"});
  SumOrder::Word out;
  if (const auto when = cursor.optional("when")) out.when = names.read(*when, Reach::kProblem);
  const JsonCursor field = cursor.required("word");
  const std::string text = field.string();
  std::size_t from = 0;
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', from)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) {
      field.problem("there is no '}' for the last '{'");
      break;
    }
    out.texts.push_back(text.substr(from, open - from));
    out.numbers.push_back(names.read(field, text.substr(open + 1, close - open - 1), Reach::kProblem));
    from = close + 1;
  }
  out.texts.push_back(text.substr(from));
  return out;
}

SumOrder read_sum_order(const JsonCursor& cursor, const KnownNames& names) {
  cursor.expect_fields({"when", "words"});
  SumOrder out;
  if (const auto when = cursor.optional("when")) out.when = names.read(*when, Reach::kProblem);
  for (const JsonCursor& element : cursor.required("words").elements(1, kMaxEntries))
    out.words.push_back(read_word(element, names));
  return out;
}

/// The template must state the expected operation; otherwise the rest of it makes no sense.
std::string read_operation(const JsonCursor& root, const OperationInterface* wanted) {
  const auto field = root.optional("operation");
  const std::string operation = field ? field->string() : std::string(kGemmName);
  const std::string_view expected = wanted == nullptr ? kGemmName : std::string_view(wanted->name);
  if (operation != expected)
    (field ? *field : root)
        .problem(fmt::format("the template computes the operation '{}', and '{}' is asked for{}", operation, expected,
                             wanted == nullptr ? "; name its operation with --operation" : ""));
  return operation;
}

/// The dtypes of the operation that the template supports; all if it names none.
std::vector<Dtype> read_dtypes_of(const JsonCursor& root, const OperationInterface& operation) {
  const auto field = root.optional("dtypes");
  if (!field) return operation.dtypes;
  std::vector<Dtype> out = read_dtypes(field->elements(1, kMaxEntries));
  for (const Dtype dtype : out) {
    if (std::find(operation.dtypes.begin(), operation.dtypes.end(), dtype) == operation.dtypes.end())
      field->problem(fmt::format("the operation '{}' has no dtype '{}'", operation.name, to_string(dtype)));
  }
  return out;
}

/// Rules are checked on millions of points, each by itself, so they compute the values that they use.
class ValuesOfRules {
 public:
  explicit ValuesOfRules(const std::vector<NamedExpression>& values) : values_(values) {}

  /// Problems at the rules' elements of `field`.
  void compute_in(std::vector<Rule>& rules, const JsonCursor& root, std::string_view field) {
    const std::vector<JsonCursor> elements = root.optional_elements(field, rules.size());
    for (std::size_t i = 0; i < rules.size(); ++i) {
      auto inlined = whole(rules[i].expression, values_.size());
      if (inlined) {
        rules[i].expression = std::move(*inlined);
      } else {
        elements[i].required("expr").problem(std::move(inlined.error()));
      }
    }
  }

 private:
  /// Inlines the first `before` values in `expression`.
  Result<Expression> whole(const Expression& expression, std::size_t before) {
    for (std::size_t i = 0; i < before; ++i) {
      const NamedExpression& value = values_[i];
      const std::vector<std::string>& names = expression.names();
      if (whole_.contains(value.name) || std::find(names.begin(), names.end(), value.name) == names.end()) continue;
      auto own = whole(value.expression, i);
      if (!own) return own;
      whole_.emplace(value.name, std::move(*own));
    }
    return expression.inlined(whole_);
  }

  const std::vector<NamedExpression>& values_;
  std::map<std::string, Expression> whole_;
};

TemplateDefinition read_definition(const JsonCursor& root, const OperationInterface* operation) {
  TemplateDefinition out;
  root.expect_fields({"schema",    "name",       "description", "source",      "dtypes",          "outputs",
                      "epilogues", "parameters", "derived",     "constraints", "policy",          "legality",
                      "preset",    "seeds",      "values",      "defines",     "workspace",       "tensor_maps",
                      "kernels",   "traffic",    "cost",        "operation",   "include_folders", "sum_order"});
  check_schema(root);
  const JsonCursor name = root.required("name");
  out.name = name.string();
  if (!is_identifier(out.name)) {
    name.problem(
        fmt::format("'{}' cannot be a name: use letters, digits and '_', not starting with a digit", out.name));
  }
  if (const auto description = root.optional("description")) out.description = description->string();
  out.operation = read_operation(root, operation);
  if (operation == nullptr) {
    out.dtypes = read_dtypes(root.required("dtypes").elements(1, kMaxEntries));
    out.outputs = read_outputs(root, out.dtypes);
    read_epilogues(root, out);
  } else {
    out.interface = std::make_shared<const OperationInterface>(*operation);
    out.dtypes = read_dtypes_of(root, *operation);
    for (const char* gemms_own : {"outputs", "epilogues"}) {
      if (const auto field = root.optional(gemms_own)) field->problem("only templates of GEMM have it");
    }
  }

  KnownNames names(operation);
  out.parameters = read_parameters(root, names);
  out.derived = read_named_expressions(root, "derived", NameKind::kDerived, Reach::kSpace, names);
  out.constraints = read_rules(root, "constraints", Reach::kSpace, names);
  out.values = read_named_expressions(root, "values", NameKind::kValue, Reach::kProblem, names);
  out.policy = read_rules(root, "policy", Reach::kPolicy, names);
  out.legality = read_rules(root, "legality", Reach::kProblem, names);
  out.preset = read_rules(root, "preset", Reach::kProblem, names);
  ValuesOfRules of_rules(out.values);
  of_rules.compute_in(out.legality, root, "legality");
  of_rules.compute_in(out.preset, root, "preset");
  out.seeds = read_seeds(root, out);
  out.defines = read_named_expressions(root, "defines", NameKind::kDefine, Reach::kDefines, names);
  read_launch(root, names, operation, out);
  if (const auto cost = root.optional("cost")) out.cost = read_cost(*cost, names);
  if (const auto order = root.optional("sum_order")) {
    if (operation != nullptr) order->problem("only templates of GEMM have it");
    out.sum_order = read_sum_order(*order, names);
  }
  return out;
}

/// Readers of the folders that the template declares.
std::vector<FileReader> include_folders(const JsonCursor& root, const FileReader& read_file) {
  constexpr std::size_t kMaxFolders = 16;
  std::vector<FileReader> out;
  for (const JsonCursor& element : root.optional_elements("include_folders", kMaxFolders)) {
    const std::string folder = element.string();
    if (!stays_below(folder))
      element.problem(fmt::format("'{}' is not below the folder of this JSON; name it with --include-folder", folder));
    out.push_back([folder, &read_file](const std::string& name) {
      return read_file((std::filesystem::path(folder) / name).lexically_normal().generic_string());
    });
  }
  return out;
}

/// What no result depends on: how a kernel is launched that computes the same, what only programs need to know that
/// call an exported one, and in which module it is. Stored results count whatever these are.
void erase_calling_facts(nlohmann::json& document) {
  for (nlohmann::json& kernel : document.at("kernels")) {
    kernel.erase("co_resident");
    kernel.erase("module");
  }
}

/// Errors (usage): a kernel's module is in no header of the source.
Result<void> check_modules(const std::vector<KernelSpec>& kernels, const TemplateSource& source) {
  for (const KernelSpec& kernel : kernels) {
    if (!kernel.module) continue;
    const auto has_name = [&](const SourceFile& header) { return header.name == kernel.module->header; };
    if (std::none_of(source.headers.begin(), source.headers.end(), has_name))
      return fail(ErrorKind::kUsage, fmt::format("the module of kernel '{}': {} does not include \"{}\"", kernel.symbol,
                                                 source.name, kernel.module->header));
  }
  return {};
}

}  // namespace

void check_schema(const JsonCursor& root) {
  const JsonCursor schema = root.required("schema");
  if (const std::int64_t version = schema.integer(); version != kSchema)
    schema.problem(fmt::format("this pgtune reads schema {}, not {}{}", kSchema, version,
                               version > kSchema ? "; use a newer pgtune" : ""));
}

std::vector<Dtype> read_dtypes(const std::vector<JsonCursor>& elements, bool of_products) {
  std::vector<Dtype> out;
  for (const JsonCursor& element : elements) {
    auto dtype = parse_dtype(element.string());
    if (!dtype) {
      element.problem(std::move(dtype.error()));
    } else if (!of_products && to_string(type_of_a(*dtype)) != to_string(*dtype)) {
      element.problem(
          fmt::format("'{}' is no type of elements; dtypes here are those of buffers, such as f32, f16 and bf16",
                      to_string(*dtype)));
    } else if (std::find(out.begin(), out.end(), *dtype) != out.end()) {
      element.problem(fmt::format("the dtype '{}' appears twice", to_string(*dtype)));
    } else {
      out.push_back(*dtype);
    }
  }
  return out;
}

std::vector<Expression> read_expressions(const JsonCursor& cursor, const KnownNames& names, std::size_t least,
                                         std::size_t most) {
  std::vector<Expression> out;
  for (const JsonCursor& element : cursor.elements(least, most)) out.push_back(names.read(element, Reach::kProblem));
  return out;
}

Result<TemplateDefinition> parse_template_with_fallback(std::string_view json_text, const std::string& origin,
                                                        const FileReader& read_file, const FileReader& shipped_headers,
                                                        const OperationInterface* operation,
                                                        std::vector<FileReader> further_folders) {
  TRY_ASSIGN(auto document, parse_json(json_text, origin));
  JsonProblems problems;
  const JsonCursor root(document, {}, problems);
  TemplateDefinition out = read_definition(root, operation);
  const std::string source_path = root.required("source").string();
  std::vector<FileReader> folders = include_folders(root, read_file);
  if (problems.first()) return fail(*problems.first(), origin);

  for (FileReader& folder : further_folders) folders.push_back(std::move(folder));
  auto source = read_template_source(source_path, read_file, shipped_headers, folders);
  if (!source) return fail(std::move(source.error()), origin);
  if (auto checked = check_modules(out.kernels, *source); !checked) return fail(std::move(checked.error()), origin);
  if (const auto policy = document.find("policy"); policy != document.end())
    out.policy_hash = hash_text(policy->dump());
  nlohmann::json preset;
  for (const char* name : {"policy", "preset", "seeds", "cost"}) {
    if (document.contains(name)) preset[name] = std::move(document[name]);
  }
  if (!preset.empty()) out.preset_hash = hash_text(preset.dump());
  // None of these changes what is compiled.
  for (const char* name :
       {"source", "include_folders", "description", "policy", "preset", "seeds", "cost", "sum_order"})
    document.erase(name);
  erase_calling_facts(document);
  out.content_hash = hash_template(*source, document.dump());
  out.source = std::make_shared<const TemplateSource>(std::move(*source));
  return out;
}

Result<TemplateDefinition> parse_template(std::string_view json_text, const std::string& origin,
                                          const FileReader& read_file, const OperationInterface* operation) {
  return parse_template_with_fallback(json_text, origin, read_file, {}, operation);
}

}  // namespace pgtune::space
