// SPDX-License-Identifier: MIT
#include "ladder/program/ladder_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "pgtune_ladders.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"
#include "tuner/util/json_depth.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr int kLadderSchema = 1;
constexpr const char* kGemmLadder = "sgemm";
constexpr std::size_t kMaxRungs = 256;

/// An error in the file; parse_ladder() catches it.
struct LadderProblem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect_fields(const json& object, const std::string& what, const std::set<std::string>& known) {
  if (!object.is_object()) throw LadderProblem(fmt::format("{} is no object", what));
  for (const auto& [field, value] : object.items()) {
    if (known.count(field) == 0)
      throw LadderProblem(fmt::format("{} has an unknown field '{}'; known: {}", what, field, fmt::join(known, ", ")));
  }
}

std::string text_of(const json& object, const std::string& what, const char* field) {
  const auto value = object.find(field);
  if (value == object.end()) throw LadderProblem(fmt::format("{} has no '{}'", what, field));
  if (!value->is_string() || value->get_ref<const std::string&>().empty())
    throw LadderProblem(fmt::format("{}: '{}' must be a text", what, field));
  return value->get<std::string>();
}

LadderRung rung_of(const json& object, std::size_t index) {
  std::string what = fmt::format("rungs[{}]", index);
  expect_fields(object, what, {"name", "change", "lesson", "template", "variant", "stored_best"});
  LadderRung rung;
  rung.name = text_of(object, what, "name");
  what += fmt::format(" ({})", rung.name);
  rung.change = text_of(object, what, "change");
  rung.lesson = text_of(object, what, "lesson");
  if (object.contains("stored_best")) {
    if (object.at("stored_best") != true || object.contains("template") || object.contains("variant"))
      throw LadderProblem(fmt::format("{}: 'stored_best' is true or absent, and stands alone", what));
    return rung;
  }
  rung.template_selector = text_of(object, what, "template");
  if (object.contains("variant")) rung.variant = text_of(object, what, "variant");
  return rung;
}

Ladder ladder_of(const json& document) {
  expect_fields(document, "the ladder", {"schema", "name", "description", "operation", "dtype", "rungs"});
  if (document.value("schema", json()) != kLadderSchema)
    throw LadderProblem(fmt::format("'schema' must be {}", kLadderSchema));
  Ladder ladder;
  ladder.name = text_of(document, "the ladder", "name");
  ladder.description = text_of(document, "the ladder", "description");
  ladder.operation = document.contains("operation") ? text_of(document, "the ladder", "operation") : kGemmName;
  if (ladder.operation == kGemmName || document.contains("dtype")) {
    const auto dtype = parse_dtype(text_of(document, "the ladder", "dtype"));
    if (!dtype) throw LadderProblem(dtype.error().text());
    ladder.dtype = *dtype;
  }
  const json rungs = document.value("rungs", json());
  if (!rungs.is_array() || rungs.empty() || rungs.size() > kMaxRungs)
    throw LadderProblem(fmt::format("'rungs' must be a list of 1 to {}", kMaxRungs));
  std::set<std::string> names;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    ladder.rungs.push_back(rung_of(rungs[i], i));
    if (!names.insert(ladder.rungs.back().name).second)
      throw LadderProblem(fmt::format("rungs[{}]: there is a rung '{}' already", i, ladder.rungs.back().name));
  }
  return ladder;
}

}  // namespace

Result<Ladder> parse_ladder(std::string_view text, const std::string& origin) {
  if (json_too_deep(text)) return fail(ErrorKind::kUsage, fmt::format("{}: nests too deep to be a ladder", origin));
  try {
    return ladder_of(json::parse(text));
  } catch (const LadderProblem& problem) {
    return fail(ErrorKind::kUsage, fmt::format("{}: {}", origin, problem.what()));
  } catch (const json::exception& problem) {
    return fail(ErrorKind::kUsage, fmt::format("{}: {}", origin, problem.what()));
  }
}

namespace {

namespace fs = std::filesystem;

/// The ladder, and the base folder of its templates' relative paths.
std::pair<Ladder, fs::path> load_ladder(const std::string& selector) {
  if (!Catalogue::is_path(selector)) return {value_or_throw(parse_ladder(built_in_ladder(selector), selector)), {}};
  std::ifstream file(selector);
  std::ostringstream text;
  std::error_code error;
  if (!fs::is_regular_file(selector, error) || !(text << file.rdbuf()))
    throw CommandError(ErrorKind::kUsage, fmt::format("cannot read the ladder '{}'. Give a JSON file.", selector));
  return {value_or_throw(parse_ladder(text.str(), selector)), fs::path(selector).parent_path()};
}

/// If a rung names a template by path: that path, relative to the current folder.
std::string seen_from_here(const std::string& template_selector, const fs::path& folder) {
  return Catalogue::is_path(template_selector) ? (folder / template_selector).string() : template_selector;
}

void add(std::vector<space::TemplateDefinition>& definitions, space::TemplateDefinition definition) {
  const auto same = std::find_if(definitions.begin(), definitions.end(),
                                 [&](const auto& known) { return known.name == definition.name; });
  if (same == definitions.end()) {
    definitions.push_back(std::move(definition));
  } else if (same->content_hash != definition.content_hash) {
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("two templates of this ladder are called '{}'. Rename one.", definition.name));
  }
}

/// The fastest answer of all stored searches, over all templates or over one of them.
std::optional<StoredBest> fastest(const space::TemplateSet& all, const space::TemplateSet& usual,
                                  const FindBest& find_best) {
  std::vector<space::TemplateSet> searched{usual};
  searched.insert(searched.end(), all.definitions().begin(), all.definitions().end());
  std::optional<StoredBest> best;
  for (const space::TemplateSet& templates : searched) {
    auto found = find_best(templates);
    if (found && (!best || found->time_s < best->time_s)) best = std::move(found);
  }
  return best;
}

}  // namespace

std::string default_ladder(const LoadedOperation* operation) {
  if (operation == nullptr) return kGemmLadder;
  const std::string& name = operation->definition.name;
  std::string others;
  for (const embedded::File& file : embedded::pgtune_ladders()) {
    const std::string ladder = fs::path(file.path).stem().string();
    if (ladder == name) return name;
    if (ladder != kGemmLadder) others += " and " + ladder;
  }
  throw CommandError(
      ErrorKind::kUsage,
      fmt::format("'{}' has no ladder: GEMM{} have one. Give the path of your own with --ladder FILE.", name, others));
}

std::string_view built_in_ladder(const std::string& name) {
  std::vector<std::string> names;
  for (const embedded::File& file : embedded::pgtune_ladders()) {
    names.push_back(fs::path(file.path).stem().string());
    if (names.back() == name) return file.contents;
  }
  std::sort(names.begin(), names.end());
  std::string hint = suggestion(name, names);
  if (!hint.ends_with('?')) hint += '.';
  throw CommandError(
      ErrorKind::kUsage,
      fmt::format("unknown ladder '{}'{} Or give the path of a ladder's JSON, such as ./mine.json.", name, hint));
}

LadderPlan plan_ladder(const Context& context, const std::string& selector, const Problem& problem,
                       const LoadedOperation* operation, const DeviceInfo& device, const FindBest& find_best) {
  const auto [ladder, folder] = load_ladder(selector);
  if (const std::string own = problem.operation_name(); ladder.operation != own) {
    const auto named = [](const std::string& name) { return name == kGemmName ? "GEMM" : fmt::format("'{}'", name); };
    throw CommandError(ErrorKind::kUsage, fmt::format("the ladder '{}' is about {}, not {}. Name another --ladder.",
                                                      ladder.name, named(ladder.operation), named(own)));
  }
  if (ladder.dtype && *ladder.dtype != problem.dtype)
    throw CommandError(ErrorKind::kUsage, fmt::format("the ladder '{}' is about {}. Give --dtype {}.", ladder.name,
                                                      to_string(*ladder.dtype), to_string(*ladder.dtype)));
  const space::TemplateSet usual = context.catalogue().select("", problem, operation);
  std::vector<space::TemplateDefinition> definitions = usual.definitions();
  std::vector<std::string> names;  // of each rung's template
  for (const LadderRung& rung : ladder.rungs) {
    names.emplace_back();
    if (rung.stored_best()) continue;
    space::TemplateDefinition definition =
        context.catalogue().load(seen_from_here(rung.template_selector, folder), operation);
    names.back() = definition.name;
    add(definitions, std::move(definition));
  }
  LadderPlan plan{
      ladder.name, ladder.description, space::TemplateSet(std::move(definitions)).compared_with(usual.baselines()), {}};
  for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
    PlannedRung planned{ladder.rungs[i], {}, {}};
    if (planned.rung.stored_best()) {
      if (!find_best) {
        planned.absent = "where rungs are only built, nothing that is stored is looked up";
      } else if (auto best = fastest(plan.templates, usual, find_best)) {
        planned.variant = std::move(best->variant);
      } else {
        planned.absent = fmt::format(
            "nothing is stored for {} on this device under these conditions; run 'pgtune search {}' "
            "with the same options first",
            problem.title(), problem_options_text(problem));
      }
    } else {
      const space::TemplateDefinition& definition = plan.templates.of({names[i], {}});
      auto variant = space::parse_variant(definition, planned.rung.variant);
      if (!variant)
        throw CommandError(fail(std::move(variant.error()), fmt::format("rung '{}'", planned.rung.name)).value());
      const auto reason = value_or_throw(space::why_illegal(definition, *variant, problem, device));
      if (reason) {
        planned.absent = *reason;
      } else {
        planned.variant = std::move(*variant);
      }
    }
    plan.rungs.push_back(std::move(planned));
  }
  return plan;
}

}  // namespace pgtune::tool
