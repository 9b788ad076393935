// SPDX-License-Identifier: MIT
// `pgtune guess`: a variant without a search, predicted from searches of other problems.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/learning/trained_model.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

std::string guess_text(const Problem& problem, const Guess& guess, const DeviceInfo& device) {
  std::string out = fmt::format("{} on {}: guessed, not measured\n", problem.title(), device.name);
  out += fmt::format("  variant   {}\n", guess.variant.template_name);
  constexpr std::size_t kIndent = 12;
  for (const std::string& line : wrap_text(guess.variant.key(), kTextWidth - kIndent))
    out += fmt::format("{:{}}{}\n", "", kIndent, line);
  if (guess.loss.tables > 0)
    out += fmt::format("  expected  {},\n            by {} searches of problems that the model was not trained on\n",
                       loss_text(guess.loss), guess.loss.tables);
  if (!guess.seen_device || !guess.seen_template)
    out += fmt::format("  but       no search {} is in the database or\n            recordings: expect worse\n",
                       guess.seen_template ? "on such a GPU" : "with this template");
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
           guess.loss.tables > 0 ? json{{"median", guess.loss.median}, {"p90", guess.loss.p90}} : json(nullptr)},
          {"judged_by", guess.loss.tables},
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
    const std::vector<Problem> problems = problems_.problems();
    const DeviceInfo device = device_or_architecture(context, device_);
    OwnTemplates templates;  // of each problem
    for (const Problem& problem : problems)
      templates.push_back(problems_.templates_for(context.catalogue(), template_, problem));
    const auto model =
        trained_model(context, context.database_path(database_), templates, search::Validation::kFiveFold)();
    if (model == nullptr) {
      context.terminal().error(
          "there is nothing to learn from: this build has no recording, and the database no search.");
      return ExitCode::kNothingValid;
    }
    ResultDocument results(context.terminal(), json_, problems.size());
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const Problem& problem = problems[i];
      const auto own = guess_variant(*model, templates[i], problem, device);
      if (!own)
        throw CommandError(ErrorKind::kUsage,
                           fmt::format("no variant of {} is legal for {} on {}. 'pgtune space' says why.",
                                       templates[i].title(), problem.title(), device.name));
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
