// SPDX-License-Identifier: MIT
#include "tool/pgtune/chain/chain_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/measuring/stored_variant.hpp"

namespace pgtune::tool {
namespace {

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

/// Whether the database tells what overlaps the launch before it from the same problem by itself.
bool has_search_of_its_own(const Chain& chain, std::size_t step) {
  return chain.overlapping_problem(step).key() != chain.steps[step].problem.key();
}

class Finder {
 public:
  Finder(Context& context, db::Database& database, const ChainFile& file, const Chain& chain, const DeviceInfo& device,
         const Conditions& conditions)
      : context_(context), store_(database), file_(file), chain_(chain), device_(device), conditions_(conditions) {}

  ChainKernels run() {
    std::vector<Planned> planned;
    for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
      auto step = plan_step(i);
      if (step) planned.push_back(std::move(*step));
    }
    if (out_.missing.empty()) build(planned);
    return std::move(out_);
  }

 private:
  struct Planned {
    PlannedVariant alone;
    std::optional<PlannedVariant> overlapping;
  };

  std::optional<Planned> plan_step(std::size_t step) {
    const Problem& problem = chain_.steps[step].problem;
    const space::TemplateSet templates = file_.templates_of(step, problem);
    const auto variant = best_stored(store_, templates, problem, device_, conditions_);
    if (!variant) {
      add_once(out_.missing, file_.search_command(step, problem));
      return std::nullopt;
    }
    Planned planned{plan_variant(templates, *variant, problem, device_), std::nullopt};
    if (chain_.steps[step].overlaps) planned.overlapping = plan_overlap(step, *variant);
    return planned;
  }

  std::optional<PlannedVariant> plan_overlap(std::size_t step, const Variant& alone) {
    const Problem problem = chain_.overlapping_problem(step);
    const space::TemplateSet templates = file_.templates_of(step, problem);
    const auto own = has_search_of_its_own(chain_, step) ? best_stored(store_, templates, problem, device_, conditions_)
                                                         : std::nullopt;
    PlannedVariant planned = plan_variant(templates, own.value_or(alone), problem, device_);
    if (!planned.plan.kernels.empty() && planned.plan.kernels.front().overlaps_previous) return planned;
    const std::string& name = chain_.steps[step].name;
    if (has_search_of_its_own(chain_, step) && !own) {
      out_.notes.push_back(
          fmt::format("step '{}' does not overlap the launch before: nothing is stored of it in a "
                      "chain; '{}' finds a variant that may",
                      name, file_.search_command(step, problem)));
    } else {
      out_.notes.push_back(
          fmt::format("step '{}' does not overlap the launch before: its best variant, of {}, starts "
                      "after it",
                      name, planned.variant.template_name));
    }
    return std::nullopt;
  }

  void build(const std::vector<Planned>& planned) {
    std::vector<PlannedVariant> wanted;
    for (const Planned& step : planned) {
      wanted.push_back(step.alone);
      if (step.overlapping) wanted.push_back(*step.overlapping);
    }
    const std::vector<BuildResult> builds = build_planned(context_, wanted);
    for (std::size_t i = 0; i < builds.size(); ++i) {
      if (builds[i].outcome.kind == OutcomeKind::kOk) continue;
      throw CommandError(ErrorKind::kEnvironment,
                         fmt::format("the best variant of {} does not build any more: {}. Search it again with --force",
                                     wanted[i].problem.title(), builds[i].outcome.reason));
    }
    auto built = builds.begin();
    for (const Planned& step : planned) {
      protocol::ChainKernel kernel{(built++)->built, std::nullopt};
      if (step.overlapping) kernel.overlapping = (built++)->built;
      out_.kernels.push_back(std::move(kernel));
    }
  }

  Context& context_;
  DatabaseStore store_;
  const ChainFile& file_;
  const Chain& chain_;
  const DeviceInfo& device_;
  const Conditions& conditions_;
  ChainKernels out_;
};

}  // namespace

ChainKernels find_chain_kernels(Context& context, db::Database& database, const ChainFile& file, const Chain& chain,
                                const DeviceInfo& device, const Conditions& conditions) {
  return Finder(context, database, file, chain, device, conditions).run();
}

std::vector<std::string> chain_searches(const ChainFile& file, const Chain& chain) {
  std::vector<std::string> searches;
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    add_once(searches, file.search_command(i, chain.steps[i].problem));
    if (has_search_of_its_own(chain, i)) add_once(searches, file.search_command(i, chain.overlapping_problem(i)));
  }
  return searches;
}

}  // namespace pgtune::tool
