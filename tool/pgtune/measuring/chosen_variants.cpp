// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/chosen_variants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/session/pipeline/search_state.hpp"
#include "tuner/template/variant_text.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::tool {
namespace {

/// The stored result of a variant that was screened but is in no stored ranking.
session::RankedVariant screened(const Variant& variant, const session::StoredTrial& trial, const Problem& problem) {
  session::RankedVariant out;
  out.variant = variant;
  out.build = trial.build;
  out.time_s = session::median_per_launch_s(trial.report.samples);
  out.tflops = out.time_s > 0 ? problem.flops() / out.time_s * 1e-12 : 0;
  return out;
}

/// The key in a Variant::id().
std::string key_in(const std::string& id) { return id.substr(id.find('/') + 1); }

/// Parameters of the template without a value in `key`.
std::vector<std::string> lacking(const space::TemplateDefinition& definition, const std::string& key) {
  std::string parts = "," + key;
  std::erase(parts, ' ');
  std::vector<std::string> names;
  for (const space::Parameter& parameter : definition.parameters) {
    if (parts.find("," + parameter.name + "=") == std::string::npos) names.push_back(parameter.name);
  }
  return names;
}

/// The key in `word`, which may begin with the template's name, as ids and printed variants do.
std::string key_of(const std::string& word, const space::TemplateDefinition& definition) {
  const std::string& name = definition.name;
  const bool named = word.starts_with(name + "/") || word.starts_with(name + " ");
  return named ? word.substr(name.size() + 1) : word;
}

/// The variant with whole key or id `word`, its parameters in any order; nothing if there is none, or templates share
/// the key.
std::optional<Variant> named_variant(const std::string& word, const space::TemplateSet& templates) {
  std::optional<Variant> out;
  for (const space::TemplateDefinition& definition : templates.definitions()) {
    const std::string key = key_of(word, definition);
    const auto variant = space::parse_variant(definition, key);
    if (!variant || !lacking(definition, key).empty()) continue;
    if (out) return std::nullopt;
    out = *variant;
  }
  return out;
}

/// "; it lacks BN, STAGES" where `word` is part of one of a template's keys, else nothing.
std::string lacking_text(const std::string& word, const space::TemplateSet& templates) {
  for (const space::TemplateDefinition& definition : templates.definitions()) {
    const std::string key = key_of(word, definition);
    if (!space::parse_variant(definition, key)) continue;
    const std::vector<std::string> names = lacking(definition, key);
    if (!names.empty() && names.size() < definition.parameters.size())
      return fmt::format("; it lacks {}", fmt::join(names, ", "));
  }
  return "";
}

[[noreturn]] void fail_unknown(const std::string& key, const space::TemplateSet& templates,
                               const std::optional<session::Answer>& answer,
                               const std::map<std::string, session::StoredTrial>& trials) {
  std::vector<std::string> known, ranked;
  for (const auto& [id, trial] : trials) {
    if (trial.report.outcome.kind == OutcomeKind::kOk) known.push_back(key_in(id));
  }
  if (answer) {
    ranked.emplace_back(kBest);
    ranked.push_back(answer->best().variant.key());  // as an example: keys are long
  }
  // The missing parts of a partial key, or a similar key of a right variant; if none is similar, the known keys.
  std::string hint = lacking_text(key, templates);
  if (hint.empty()) hint = suggestion(key, known);
  if (hint.starts_with("; known")) hint = suggestion(key, ranked);
  throw CommandError(ErrorKind::kUsage,
                     fmt::format("no variant '{}' is stored for this shape, and it is no whole key of one{}. 'pgtune "
                                 "show --json' and 'pgtune guess' print keys.",
                                 key, hint));
}

}  // namespace

std::vector<Variant> ChosenVariants::all() const {
  std::vector<Variant> out;
  for (const session::RankedVariant& row : stored) out.push_back(row.variant);
  out.insert(out.end(), fresh.begin(), fresh.end());
  return out;
}

bool all_named(const std::vector<std::string>& wanted, const space::TemplateSet& templates) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const std::string& word) { return named_variant(word, templates).has_value(); });
}

ChosenVariants chosen_variants(const std::vector<std::string>& wanted, const space::TemplateSet& templates,
                               const std::optional<session::Answer>& stored,
                               const std::map<std::string, session::StoredTrial>& trials, const Problem& problem) {
  const std::vector<session::RankedVariant> none;
  const std::vector<session::RankedVariant>& ranking = stored ? stored->ranking : none;
  ChosenVariants chosen;
  for (const std::string& asked : wanted) {
    auto named = asked == kBest ? std::nullopt : named_variant(asked, templates);
    const std::string word = named ? named->id() : asked;
    const auto meant = [&](const std::string& id) {
      return word == kBest ? stored && id == stored->best().variant.id() : word == id || word == key_in(id);
    };
    const auto row_meant = [&](const session::RankedVariant& row) { return meant(row.variant.id()); };
    if (std::any_of(chosen.stored.begin(), chosen.stored.end(), row_meant)) continue;
    const auto ranked = std::find_if(ranking.begin(), ranking.end(), row_meant);
    if (ranked != ranking.end()) {
      chosen.stored.push_back(*ranked);
      continue;
    }
    const auto trial =
        std::find_if(trials.begin(), trials.end(), [&](const auto& entry) { return meant(entry.first); });
    if (trial != trials.end() && trial->second.report.outcome.kind == OutcomeKind::kOk) {
      const space::TemplateDefinition& definition = templates.of({trial->first.substr(0, trial->first.find('/')), {}});
      chosen.stored.push_back(
          screened(value_or_throw(space::parse_variant(definition, key_in(trial->first))), trial->second, problem));
      continue;
    }
    if (!named) fail_unknown(asked, templates, stored, trials);
    if (std::find(chosen.fresh.begin(), chosen.fresh.end(), *named) == chosen.fresh.end())
      chosen.fresh.push_back(std::move(*named));
  }
  return chosen;
}

}  // namespace pgtune::tool
