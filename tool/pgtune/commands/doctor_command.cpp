// SPDX-License-Identifier: MIT
// `pgtune doctor`: checks everything that a search on a GPU needs, and names remedies.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/doctor/doctor_check.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr const char* kDriverFolder = "/proc/driver/nvidia";

class DoctorCommand final : public Command {
 public:
  std::string name() const override { return "doctor"; }
  std::string description() const override {
    return "Check driver, toolkit, GPU and files, with a remedy for each problem";
  }
  std::string examples() const override {
    return "pgtune doctor\n"
           "pgtune doctor --device 1 --json";
  }

  void add_options(CommandLine& app) override {
    app.add_option("--device", device_, "The GPU to look at, by number or UUID (default: 0)")
        .option_text("ORDINAL|UUID");
    add_database_option(app, database_);
    add_json_option(app, json_);
  }

  ExitCode run(Context& context) override {
    if (!names_gpu(device_))
      throw CommandError(
          ErrorKind::kUsage,
          fmt::format("--device is '{}'. Give a GPU's number or UUID ('pgtune devices' lists them).", device_));
    json facts;
    std::vector<Check> checks = worker_checks(context, facts);
    for (Check& check : file_checks(context.paths(), database_path(context))) checks.push_back(std::move(check));
    const bool missing = std::any_of(checks.begin(), checks.end(),
                                     [](const Check& check) { return check.state == CheckState::kMissing; });
    if (json_) {
      const json out = {{"schema", kJsonSchema}, {"ok", !missing}, {"checks", checks_json(checks)}, {"facts", facts}};
      context.terminal().print(out.dump(2) + '\n');
    } else {
      context.terminal().print(checks_text(checks, context.terminal()));
    }
    if (!missing) return ExitCode::kDone;
    context.terminal().error(
        "something that a search on a GPU needs is missing. Without it a search prints recorded answers.");
    return ExitCode::kEnvironment;
  }

 private:
  /// A configuration file that cannot be used has its own line among the checks, and names no database.
  [[nodiscard]] std::filesystem::path database_path(const Context& context) const {
    try {
      return context.database_path(database_);
    } catch (const CommandError&) {
      return context.paths().database;
    }
  }

  /// `facts`: the worker's reply, null without a worker.
  [[nodiscard]] std::vector<Check> worker_checks(const Context& context, json& facts) const {
    const std::string path = context.paths().worker.string();
    auto answer = ask_worker(path, device_);
    if (!answer) return checks_without_worker(answer.error(), kDriverFolder);
    try {
      std::vector<Check> checks{{"worker", CheckState::kOk, path, ""}};
      for (Check& check : gpu_checks(*answer)) checks.push_back(std::move(check));
      facts = std::move(*answer);
      return checks;
    } catch (const json::exception& error) {
      return checks_without_worker({ErrorKind::kEnvironment,
                                    fmt::format("{} gave an answer that is not understood: {}", path, error.what()),
                                    {}},
                                   kDriverFolder);
    }
  }

  std::string device_ = "0", database_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace pgtune::tool
