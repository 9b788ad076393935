// SPDX-License-Identifier: MIT
// `pgtune space`: the size of a template's space for a problem, and the points that each rule removes.
#include "tuner/space/enumerate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/measuring/checked_build.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/count_text.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

struct KindWords {
  const char *json, *table;
};

KindWords words_of(space::Removal::Kind kind) {
  switch (kind) {
    case space::Removal::Kind::kConstraint:
      return {"constraint", "template"};
    case space::Removal::Kind::kPolicy:
      return {"policy", "policy"};
    case space::Removal::Kind::kLegality:
      return {"legality", "problem"};
    case space::Removal::Kind::kLaunch:
      return {"launch", "launch"};
    case space::Removal::Kind::kPreset:
      break;
  }
  return {"preset", "preset"};
}

json space_json(const space::TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device,
                const space::Enumeration& enumeration, bool list) {
  json removals = json::array();
  for (const space::Removal& removal : enumeration.removals)
    removals.push_back({{"rule", removal.rule},
                        {"reason", removal.reason},
                        {"kind", words_of(removal.kind).json},
                        {"removed", removal.removed}});
  json parameters = json::array();
  for (const space::Parameter& parameter : definition.parameters)
    parameters.push_back(
        {{"name", parameter.name}, {"values", parameter.values.size()}, {"description", parameter.description}});
  json out = {{"schema", kJsonSchema},
              {"template", definition.name},
              {"problem", problem},
              {"device", device.name},
              {"architecture", device.architecture},
              {"parameters", std::move(parameters)},
              {"space", enumeration.space},
              {"after_constraints", enumeration.after_constraints},
              {"valid", enumeration.legal},
              {"searched", enumeration.variants.size()},
              {"removals", std::move(removals)}};
  if (list) {
    out["variants"] = json::array();
    for (const Variant& variant : enumeration.variants) out["variants"].push_back(parameters_to_json(variant));
  }
  return out;
}

std::string parameter_table(const space::TemplateDefinition& definition) {
  TextTable table({{"parameter"}, {"values", Align::kLeft, Wrap::kWords}, {"default"}});
  for (const space::Parameter& parameter : definition.parameters) {
    std::string values;
    for (const ParameterValue& value : parameter.values) values += (values.empty() ? "" : ", ") + to_string(value);
    table.add_row({parameter.name, values, to_string(parameter.default_value)});
  }
  return table.text();
}

/// The rules that removed points, and the number of rules that did not.
std::string removal_text(const space::Enumeration& enumeration) {
  TextTable table({{"removed", Align::kRight}, {"by"}, {"because", Align::kLeft, Wrap::kWords}});
  int idle = 0;
  for (const space::Removal& removal : enumeration.removals) {
    if (removal.removed == 0) {
      ++idle;
    } else {
      table.add_row({count_text(removal.removed), words_of(removal.kind).table, removal.reason});
    }
  }
  std::string text = table.empty() ? "" : table.text();
  if (idle > 0)
    text += fmt::format("{} {}rule{} removed nothing\n", idle, table.empty() ? "" : "more ", idle == 1 ? "" : "s");
  return text;
}

using Spaces = std::vector<std::pair<const space::TemplateDefinition*, space::Enumeration>>;

/// Of each template how many variants a search would try.
std::string summary_text(const Spaces& spaces) {
  TextTable table({{"template"}, {"points", Align::kRight}, {"valid", Align::kRight}, {"to try", Align::kRight}});
  for (const auto& [definition, enumeration] : spaces)
    table.add_row({definition->name, count_text(enumeration.space), count_text(enumeration.legal),
                   count_text(static_cast<std::int64_t>(enumeration.variants.size()))});
  return '\n' + table.text();
}

class SpaceCommand final : public Command {
 public:
  std::string name() const override { return "space"; }
  std::string description() const override { return "Show a template's space, before and after its rules"; }
  std::string examples() const override {
    return "pgtune space --shape 4096x4096x4096\n"
           "pgtune space --shape 1000x1000x1000 --device sm_80 --list | head\n"
           "pgtune space --operation softmax --size M=4096,N=8192 --device sm_90a";
  }

  void add_options(CommandLine& app) override {
    problems_.add_to(app);
    add_template_option(app, template_);
    grid_.add_to(app, "preset");
    add_device_or_architecture_option(app, device_);
    app.add_flag(
        "--check", check_,
        "Also compile a variant of each template and the operation's reference, and compare their kernels with "
        "what they will be passed");
    compile_.add_to(app, kProblemGroup);
    app.add_flag("--list", list_, "Also print the variants of that grid, one a line").group(kOutputGroup);
    add_json_option(app, json_);
    app.show_first({"--template", "--grid", "--device", "--check", "--shape", "--shapes", "--dtype", "--layout",
                    "--epilogue", "--operation", "--size", "--list", "--json"});
  }

  ExitCode run(Context& context) override {
    const std::vector<Problem> problems = problems_.problems();
    const DeviceInfo device = device_or_architecture(context, device_);
    ResultDocument results(context.terminal(), json_, problems.size());
    bool any_valid = false;
    for (const Problem& problem : problems) {
      if (check_) check_reference(context, problem, device, compile_.read());
      const space::TemplateSet templates =
          grid_.of(problems_.templates_for(context.catalogue(), template_, problem), false);
      std::vector<std::string> empty;  // which is no error if another template has variants
      Spaces spaces;
      for (const space::TemplateDefinition& definition : templates.definitions()) {
        spaces.emplace_back(&definition, value_or_throw(space::enumerate(definition, problem, device)));
        const space::Enumeration& enumeration = spaces.back().second;
        if (check_ && !enumeration.variants.empty()) {
          const Variant& variant = first_of(definition, enumeration);
          static_cast<void>(build_checked(context, definition, variant, problem, device, compile_.read()));
          context.terminal().note(
              fmt::format("{}: {} builds, and its kernels take what they are passed", definition.name, variant.key()));
        }
        if (enumeration.variants.empty()) empty.push_back(definition.name);
      }
      const auto has_variants = [](const auto& space) { return !space.second.variants.empty(); };
      if (!json_) std::stable_partition(spaces.begin(), spaces.end(), has_variants);
      for (const auto& space : spaces)
        results.add([&] { return text(*space.first, problem, device, space.second); },
                    [&] { return space_json(*space.first, problem, device, space.second, list_); });
      if (!json_ && spaces.size() > 1) context.terminal().print(summary_text(spaces));
      const bool none_valid = empty.size() == templates.definitions().size();
      any_valid = any_valid || !none_valid;
      const bool left_by_presets =
          std::any_of(spaces.begin(), spaces.end(), [](const auto& space) { return space.second.legal > 0; });
      if (none_valid)
        context.terminal().error(
            fmt::format("no variant of {} is {} for {} on {}; {}", fmt::join(empty, ", "),
                        left_by_presets ? "worth trying by its presets" : "valid", problem.title(), device.name,
                        left_by_presets ? "--grid full has those that are valid"
                                        : "change what the rules that removed the last points ask for"));
    }
    results.finish();
    return any_valid ? ExitCode::kDone : ExitCode::kNothingValid;
  }

 private:
  /// The default where a search may try it.
  static const Variant& first_of(const space::TemplateDefinition& definition, const space::Enumeration& enumeration) {
    const auto& variants = enumeration.variants;
    const auto found = std::find(variants.begin(), variants.end(), definition.default_variant());
    return found == variants.end() ? variants.front() : *found;
  }

  [[nodiscard]] std::string text(const space::TemplateDefinition& definition, const Problem& problem,
                                 const DeviceInfo& device, const space::Enumeration& enumeration) const {
    std::string out = text_lines(fmt::format("{} for {} on {}", definition.name, problem.title(), device.name)) + '\n';
    out += parameter_table(definition);
    out += fmt::format(
        "\n{} points, {} after the template's rules,\n{} valid for this problem{}\n\n", count_text(enumeration.space),
        count_text(enumeration.after_constraints), count_text(enumeration.legal),
        !definition.limits_to_preset() ? "" : fmt::format(", {} of them in the preset", enumeration.variants.size()));
    out += removal_text(enumeration);
    if (!list_) return out;
    out += "\n";
    for (const Variant& variant : enumeration.variants) out += fmt::format("{}\n", variant.key());
    return out;
  }

  ProblemOptions problems_;
  GridOption grid_;
  CompileArguments compile_;
  std::string template_, device_ = "auto";
  bool check_ = false, list_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_space_command() { return std::make_unique<SpaceCommand>(); }

}  // namespace pgtune::tool
