// SPDX-License-Identifier: MIT
#include "tool/pgtune/ladder/ladder_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

/// The ladder, and the folder that its templates' paths are relative to.
std::pair<Ladder, fs::path> load_ladder(const Catalogue& catalogue, const std::string& selector) {
  if (!Catalogue::is_path(selector)) return {value_or_throw(parse_ladder(catalogue.ladder(selector), selector)), {}};
  std::ifstream file(selector);
  std::ostringstream text;
  std::error_code error;
  if (!fs::is_regular_file(selector, error) || !(text << file.rdbuf()))
    throw CommandError(ErrorKind::kUsage, fmt::format("cannot read the ladder '{}'. Give a JSON file.", selector));
  return {value_or_throw(parse_ladder(text.str(), selector)), fs::path(selector).parent_path()};
}

/// Where a rung names a template by path, the path seen from here.
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

/// The fastest answer of any search that may have been made: over all templates, or over one of them.
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

LadderPlan plan_ladder(const Context& context, const std::string& selector, const Problem& problem,
                       const LoadedOperation* operation, const DeviceInfo& device, const FindBest& find_best) {
  const auto [ladder, folder] = load_ladder(context.catalogue(), selector);
  if (const std::string own = operation == nullptr ? "" : operation->definition.name; ladder.operation != own) {
    const auto named = [](const std::string& name) { return name.empty() ? "GEMM" : fmt::format("'{}'", name); };
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
