// SPDX-License-Identifier: MIT
// `pgtune guess`: a variant without a search, predicted from searches of other problems.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "db/database.hpp"
#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/learning/trained_model.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/recording/recordings.hpp"
#include "tool/pgtune/report/recorded_answer.hpp"
#include "tuner/model/json.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

std::string variant_text(const Variant& variant) {
  std::string out = fmt::format("  variant   {}\n", variant.template_name);
  constexpr std::size_t kIndent = 12;
  for (const std::string& line : wrap_text(variant.key(), kTextWidth - kIndent))
    out += fmt::format("{:{}}{}\n", "", kIndent, line);
  return out;
}

/// What a search of this very problem on such a device found with this build's templates; by the user's database, else
/// by the recordings.
std::optional<RecordedAnswer> measured_winner(const std::vector<db::Database>& databases,
                                              const space::TemplateSet& templates, const Problem& problem,
                                              const DeviceInfo& device) {
  auto found = recorded_answer(databases, templates, problem, {}, session::Objective::kTime, device.name);
  const bool counts = found && found->result.device.name == device.name && found->result.other_versions.empty();
  return counts ? std::move(found) : std::nullopt;
}

std::string winner_text(const Problem& problem, const RecordedAnswer& winner, const DeviceInfo& device) {
  const session::RankedVariant& best = winner.result.answer.best();
  return text_lines(fmt::format("{} on {}: measured before", problem.title(), device.name)) +
         fmt::format("{}  measured  {} ms a launch, by the search of {}\n", variant_text(best.variant),
                     milliseconds_text(best.time_s), winner.result.row.finished_at);
}

json winner_json(const Problem& problem, const RecordedAnswer& winner, const DeviceInfo& device) {
  const session::RankedVariant& best = winner.result.answer.best();
  return {{"schema", kJsonSchema},         {"problem", problem},
          {"device", device.name},         {"template", best.variant.template_name},
          {"variant", best.variant.key()}, {"parameters", parameters_to_json(best.variant)},
          {"measured_s", best.time_s},     {"measured_at", winner.result.row.finished_at},
          {"expected_loss", nullptr}};
}

/// A family's kernel for one of its problems.
struct FamilyChoice {
  db::FamilyRow row;
  Variant variant;
};

/// Of the newest family that covers the problem on such a device, with this build's templates.
std::optional<FamilyChoice> family_kernel(const std::vector<db::Database>& databases,
                                          const space::TemplateSet& templates, const Problem& problem,
                                          const DeviceInfo& device) {
  for (const db::Database& database : databases) {
    for (db::FamilyRow& row : db::list_families(database, {.problem = problem})) {
      if (row.device_name != device.name) continue;
      const FamilyInterval& interval = row.family.interval_of(problem.m);
      const FamilyKernel& kernel = row.family.kernels[static_cast<std::size_t>(interval.kernel)];
      for (const space::TemplateDefinition& definition : templates.definitions()) {
        if (definition.name != kernel.variant.template_name || definition.content_hash != kernel.template_hash)
          continue;
        const auto illegal = space::why_illegal(definition, kernel.variant, problem, device);
        if (illegal && !*illegal) return FamilyChoice{std::move(row), kernel.variant};
      }
    }
  }
  return std::nullopt;
}

std::string family_text(const Problem& problem, const FamilyChoice& choice, const DeviceInfo& device) {
  const Family& family = choice.row.family;
  std::string out = text_lines(fmt::format("{} on {}: of a family", problem.title(), device.name)) +
                    fmt::format("{}  family    {}\n", variant_text(choice.variant), family.title());
  if (const auto loss = family.loss())
    out += fmt::format("  lost      {:.1f} % in the median and {:.1f} % at most, at {} M that were measured\n",
                       100 * loss->median, 100 * loss->largest, family.probes.size());
  return out;
}

json family_json(const Problem& problem, const FamilyChoice& choice, const DeviceInfo& device) {
  const auto loss = choice.row.family.loss();
  return {{"schema", kJsonSchema},
          {"problem", problem},
          {"device", device.name},
          {"template", choice.variant.template_name},
          {"variant", choice.variant.key()},
          {"parameters", parameters_to_json(choice.variant)},
          {"family", choice.row.family.title()},
          {"expected_loss", loss ? json{{"median", loss->median}, {"largest", loss->largest}} : json(nullptr)}};
}

/// Searches with other templates do not tell what a guess of this one loses.
bool loss_is_known(const Guess& guess) { return guess.loss.tables > 0 && guess.seen_template; }

std::string guess_text(const Problem& problem, const Guess& guess, const DeviceInfo& device) {
  std::string out = text_lines(fmt::format("{} on {}: guessed, not measured", problem.title(), device.name));
  out += variant_text(guess.variant);
  if (loss_is_known(guess))
    out += fmt::format("  expected  {},\n            by the {} nearest searches that the model was not trained on\n",
                       loss_text(guess.loss), guess.loss.tables);
  else if (guess.seen_template)
    out += "  expected  unknown: no search tells what such a guess loses\n";
  if (!guess.seen_device || !guess.seen_template)
    out += fmt::format("  but       no search {} is in the database or\n            recordings: {}\n",
                       guess.seen_template ? "on such a GPU" : "with this template",
                       guess.seen_template ? "expect worse" : "what it may lose is unknown");
  return out;
}

json guess_json(const Problem& problem, const Guess& guess, const DeviceInfo& device) {
  return {{"schema", kJsonSchema},
          {"problem", problem},
          {"device", device.name},
          {"template", guess.variant.template_name},
          {"variant", guess.variant.key()},
          {"parameters", parameters_to_json(guess.variant)},
          {"expected_loss",
           loss_is_known(guess) ? json{{"median", guess.loss.median}, {"p90", guess.loss.p90}} : json(nullptr)},
          {"judged_by", loss_is_known(guess) ? guess.loss.tables : 0},
          {"seen_device", guess.seen_device},
          {"seen_template", guess.seen_template},
          {"variants", guess.variants}};
}

class GuessCommand final : public Command {
 public:
  std::string name() const override { return "guess"; }
  std::string description() const override { return "Name a kernel without a search, with its expected slowdown"; }
  std::string examples() const override {
    return "pgtune guess --shape 4096x4096x4096 --dtype bf16 --layout nt\n"
           "pgtune guess --shapes shapes.txt --device recording --json\n"
           "pgtune guess --operation gemm_block_scaled --size M=64,N=7168,K=2048";
  }

  void add_options(CommandLine& app) override {
    problems_.add_to(app);
    add_template_option(app, template_);
    add_device_or_architecture_option(app, device_);
    add_database_option(app, database_);
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    const std::vector<Problem> problems = problems_.sampled_problems();
    const DeviceInfo device = device_or_architecture(context, device_);
    OwnTemplates templates;  // of each problem
    for (const Problem& problem : problems)
      templates.push_back(problems_.templates_for(context.catalogue(), template_, problem));
    const std::filesystem::path path = context.database_path(database_);
    const ModelSource trained = trained_model(context, path, templates, search::Validation::kFiveFold);
    std::vector<db::Database> known;
    if (!db::is_absent(path)) known.push_back(db::Database::open(path, db::OpenMode::kReadOnly));
    if (has_built_in_recording()) {
      for (db::Database& recording : open_recordings("")) known.push_back(std::move(recording));
    }
    ResultDocument results(context.terminal(), json_, problems.size());
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const Problem& problem = problems[i];
      if (const auto winner = measured_winner(known, templates[i], problem, device)) {
        results.add([&] { return winner_text(problem, *winner, device); },
                    [&] { return winner_json(problem, *winner, device); });
        continue;
      }
      if (const auto family = family_kernel(known, templates[i], problem, device)) {
        results.add([&] { return family_text(problem, *family, device); },
                    [&] { return family_json(problem, *family, device); });
        continue;
      }
      const auto model = trained();
      if (model == nullptr) {
        context.terminal().error(
            "there is nothing to learn from: this build has no recording, and the database no search.");
        return ExitCode::kNothingValid;
      }
      auto own = guess_variant(*model, templates[i], problem, device);
      if (!own)
        throw CommandError(ErrorKind::kUsage,
                           fmt::format("no variant of {} is legal for {} on {}. 'pgtune space' says why.",
                                       templates[i].title(), problem.title(), device.name));
      if (!template_.empty()) {  // the loss is that of guesses among all templates
        const auto all = problems_.templates_for(context.catalogue(), "", problem);
        const auto free = guess_variant(*model, all, problem, device);
        if (!free || !(free->variant == own->variant)) own->loss = {};
      }
      results.add([&] { return guess_text(problem, *own, device); }, [&] { return guess_json(problem, *own, device); });
    }
    results.finish();
    return ExitCode::kDone;
  }

 private:
  ProblemOptions problems_;
  std::string template_, device_ = "auto", database_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_guess_command() { return std::make_unique<GuessCommand>(); }

}  // namespace pgtune::tool
