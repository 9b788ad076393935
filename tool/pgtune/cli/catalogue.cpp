// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "pgtune_templates.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/template/variant_text.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

/// Searches use the templates of the first; those of the others must be named.
constexpr std::array kTemplateFolders{"configs", "configs/teaching"};
constexpr const char *kOperationFolder = "operations", *kOperationTemplateFolder = "configs/operations";

std::optional<std::string> embedded_text(const fs::path& path) {
  const std::string wanted = path.lexically_normal().generic_string();
  for (const embedded::File& file : embedded::pgtune_templates()) {
    if (file.path == wanted) return std::string(file.contents);
  }
  return std::nullopt;
}

/// Files that a built-in definition in `folder` names: relative to its JSON, else to templates/.
Result<std::string> read_embedded(const fs::path& folder, const std::string& relative_path) {
  for (const fs::path& base : {folder, fs::path("templates")}) {
    if (auto text = embedded_text(base / relative_path)) return *std::move(text);
  }
  return fail(ErrorKind::kUsage, fmt::format("no file '{}' among the built-in templates", relative_path));
}

Result<std::string> read_shipped_header(const std::string& name) {
  if (auto text = embedded_text(fs::path("templates") / name)) return *std::move(text);
  return fail(ErrorKind::kUsage, fmt::format("no file '{}' beside the template or among the built-in ones", name));
}

/// Text linked into pgtune never changes, so it is parsed once in a process, by the first thread that needs it.
template <typename T>
class ParsedOnce {
 public:
  /// A copy of the entry `name`, which `parse` makes if it is missing.
  template <typename Parse>
  T get(const std::string& name, const Parse& parse) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (const auto found = kept_.find(name); found != kept_.end()) return found->second;
    }
    T made = parse();
    const std::lock_guard<std::mutex> lock(mutex_);
    return kept_.emplace(name, std::move(made)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, T> kept_;
};

ParsedOnce<space::TemplateDefinition>& built_in_templates() {
  static ParsedOnce<space::TemplateDefinition> templates;
  return templates;
}

ParsedOnce<LoadedOperation>& built_in_operations() {
  static ParsedOnce<LoadedOperation> operations;
  return operations;
}

/// Ends with '.' unless it already ends as a question.
std::string sentence_end(const std::string& text) { return text.ends_with('?') ? text : text + '.'; }

std::vector<std::string> names_in(const char* folder) {
  std::vector<std::string> names;
  for (const embedded::File& file : embedded::pgtune_templates()) {
    const fs::path path(file.path);
    if (path.parent_path() == folder && path.extension() == ".json") names.push_back(path.stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool Catalogue::is_path(const std::string& selector) {
  return selector.find('/') != std::string::npos || selector.ends_with(".json");
}

std::vector<std::string> Catalogue::names() const { return names_in(kTemplateFolders.front()); }

std::vector<std::string> Catalogue::all_names() const {
  std::vector<std::string> all = names();
  for (std::string& name : names_in(kOperationTemplateFolder)) all.push_back(std::move(name));
  return all;
}

namespace {

space::TemplateDefinition load_for(const Catalogue& catalogue, const LoadedOperation& operation, const fs::path& path,
                                   bool built_in) {
  const space::OperationInterface interface = operation.definition.interface();
  if (!built_in)
    return value_or_throw(space::load_template(path, read_shipped_header, &interface, catalogue.include_folders()));
  const auto text = embedded_text(path);
  if (!text)
    throw CommandError(ErrorKind::kUsage, fmt::format("no template '{}' among the built-in ones for the operation "
                                                      "'{}'. Or give the path of a template's JSON.",
                                                      path.stem().string(), operation.definition.name));
  const fs::path folder = path.lexically_normal().parent_path();
  const std::string origin = path.lexically_normal().string();
  const auto parse = [&] {
    return value_or_throw(space::parse_template(
        *text, origin, [&](const std::string& relative) { return read_embedded(folder, relative); }, &interface));
  };
  // A user's operation may have the name of a built-in one and another interface.
  if (!operation.is_built_in) return parse();
  return built_in_templates().get(operation.definition.name + " " + origin, parse);
}

std::vector<space::TemplateDefinition> load_baselines(const Catalogue& catalogue, const LoadedOperation& operation) {
  std::vector<space::TemplateDefinition> out;
  for (const OperationBaseline& baseline : operation.definition.baselines) {
    const auto* const named = std::get_if<TemplateBaseline>(&baseline);
    if (named == nullptr) continue;
    try {
      const bool by_path = Catalogue::is_path(named->selector);
      out.push_back(
          by_path ? load_for(catalogue, operation, fs::path(operation.folder) / named->selector, operation.is_built_in)
                  : catalogue.load(named->selector, &operation));
      static_cast<void>(value_or_throw(space::parse_variant(out.back(), named->variant)));
    } catch (const CommandError& error) {
      throw CommandError(error.kind(), fmt::format("the operation '{}' is compared with the template '{}': {}",
                                                   operation.definition.name, named->selector, error.what()));
    }
    if (out.back().name == kCopyBaseline)
      throw CommandError(ErrorKind::kUsage, fmt::format("the operation '{}' is compared with a template '{}', which is "
                                                        "what memory copied is called. Rename the template.",
                                                        operation.definition.name, kCopyBaseline));
  }
  return out;
}

}  // namespace

space::TemplateDefinition Catalogue::load(const std::string& selector, const LoadedOperation* operation) const {
  if (operation != nullptr) {
    const bool by_path = is_path(selector);
    const fs::path path = by_path ? fs::path(selector) : fs::path(kOperationTemplateFolder) / (selector + ".json");
    return load_for(*this, *operation, path, !by_path);
  }
  if (is_path(selector))
    return value_or_throw(space::load_template(selector, read_shipped_header, nullptr, include_folders_));
  for (const fs::path folder : kTemplateFolders) {
    const fs::path origin = folder / (selector + ".json");
    if (const auto json = embedded_text(origin)) {
      return built_in_templates().get(origin.string(), [&] {
        return value_or_throw(space::parse_template(
            *json, origin.string(), [&](const std::string& relative) { return read_embedded(folder, relative); }));
      });
    }
  }
  for (const std::string& name : operation_names()) {
    const LoadedOperation own = this->operation(name);
    for (const fs::path path : own.definition.templates) {
      if (path.stem() == selector) return load_for(*this, own, fs::path(own.folder) / path, true);
    }
  }
  throw CommandError(ErrorKind::kUsage,
                     fmt::format("unknown template '{}'{} Or give the path of a template's JSON, such as ./mine.json.",
                                 selector, sentence_end(suggestion(selector, names()))));
}

std::vector<std::string> Catalogue::templates_of(const std::string& operation) const {
  if (operation == kGemmName) return names();
  std::vector<std::string> out;
  if (!contains(operation_names(), operation)) return out;
  for (const fs::path path : this->operation(operation).definition.templates) out.push_back(path.stem().string());
  return out;
}

std::string Catalogue::selector_of(const std::string& name, const Problem& problem) const {
  const std::vector<std::string> unasked = templates_of(problem.operation_name());
  if (unasked.empty() || contains(unasked, name)) return {};
  const bool built_in = contains(names_in(kTemplateFolders.back()), name) || contains(all_names(), name);
  return built_in ? name : std::string(kNobodysFile);
}

std::vector<std::string> Catalogue::operation_names() const { return names_in(kOperationFolder); }

LoadedOperation Catalogue::operation(const std::string& selector) const {
  if (is_path(selector))
    return {value_or_throw(operation::load_operation(selector)), fs::path(selector).parent_path().string(), false};
  const fs::path folder = kOperationFolder, origin = folder / (selector + ".json");
  if (const auto json = embedded_text(origin)) {
    const auto read = [&](const std::string& relative) { return read_embedded(folder, relative); };
    return built_in_operations().get(origin.string(), [&] {
      return LoadedOperation{value_or_throw(operation::parse_operation(*json, origin.string(), read)), folder.string(),
                             true};
    });
  }
  throw CommandError(ErrorKind::kUsage,
                     fmt::format("unknown operation '{}'{} Or give the path of an operation's JSON, such as "
                                 "./mine.json. Without --operation it is a GEMM.",
                                 selector, sentence_end(suggestion(selector, operation_names()))));
}

namespace {

/// The database knows templates by their names.
void require_distinct_names(const std::vector<space::TemplateDefinition>& templates,
                            const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < templates.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (templates[i].name == templates[j].name)
        throw CommandError(ErrorKind::kUsage, fmt::format("{} and {} are both named '{}'. Name each template "
                                                          "differently.",
                                                          paths[j], paths[i], templates[i].name));
    }
  }
}

}  // namespace

space::TemplateSet Catalogue::select(const std::string& selector, const Problem& problem,
                                     const LoadedOperation* operation) const {
  if (operation == nullptr) return select(selector, problem);
  std::vector<space::TemplateDefinition> selected;
  if (!selector.empty()) {
    selected.push_back(load(selector, operation));
  } else {
    for (const std::string& path : operation->definition.templates)
      selected.push_back(load_for(*this, *operation, fs::path(operation->folder) / path, operation->is_built_in));
    require_distinct_names(selected, operation->definition.templates);
  }
  std::erase_if(selected, [&](const auto& definition) { return !definition.computes(problem); });
  if (selected.empty())
    throw CommandError(ErrorKind::kUsage, fmt::format("no template computes {}. Name one with --template FILE.json, or "
                                                      "list it in the operation's \"templates\".",
                                                      problem.title()));
  return space::TemplateSet(std::move(selected)).compared_with(load_baselines(*this, *operation));
}

space::TemplateSet Catalogue::select(const std::string& selector, const Problem& problem) const {
  std::string types(to_string(problem.dtype));
  if (!problem.has_usual_output()) types += fmt::format(" with {} output", to_string(problem.type_of_c()));
  const std::string fused = fmt::format("the epilogue {}", to_string(problem.epilogue));
  std::vector<space::TemplateDefinition> selected;
  if (!selector.empty()) {
    selected.push_back(load(selector));
    const std::string& name = selected.back().name;
    if (!selected.back().has_types(problem))
      throw CommandError(ErrorKind::kUsage, fmt::format("template '{}' does not compute in {}. Choose another {}.",
                                                        name, types, problem.has_usual_output() ? "--dtype" : "--out"));
    if (!selected.back().computes(problem))
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("template '{}' does not fuse {}. Choose another --epilogue.", name, fused));
    return space::TemplateSet(std::move(selected));
  }
  for (const std::string& name : names()) {
    if (auto definition = load(name); definition.computes(problem)) selected.push_back(std::move(definition));
  }
  if (selected.empty())
    throw CommandError(ErrorKind::kUsage, fmt::format("no built-in template computes in {}{}. Give your own with "
                                                      "--template FILE.json.",
                                                      types, problem.epilogue.any() ? " and fuses " + fused : ""));
  return space::TemplateSet(std::move(selected));
}

}  // namespace pgtune::tool
