// SPDX-License-Identifier: MIT
// pgtune chain: operations that follow one another on shared buffers, as one graph.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tool/pgtune/chain/chain_file.hpp"
#include "tool/pgtune/chain/chain_kernels.hpp"
#include "tool/pgtune/chain/chain_outcome.hpp"
#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/number_options.hpp"
#include "tool/pgtune/cli/terminal/phase_line.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/gpu_wait.hpp"
#include "tool/pgtune/measuring/signals.hpp"
#include "tuner/device/worker_chain_device.hpp"

namespace pgtune::tool {
namespace {

/// Making buffers, references and null tests of all steps; a check judges every step ten times.
constexpr std::chrono::minutes kRequestTimeout{5};

class ChainCommand final : public Command {
 public:
  std::string name() const override { return "chain"; }
  std::string description() const override {
    return "Measure operations that follow one another as one graph, with and without overlap";
  }
  std::string examples() const override {
    return "pgtune chain examples/chains/mlp.json --size T=16,H=4096,F=11008 --dry-run\n"
           "pgtune chain examples/chains/mlp.json --size T=16,H=4096,F=11008\n"
           "pgtune chain mine.json --size ROWS=4096 --dtype f16 --rounds 48 --json";
  }

  void add_options(CommandLine& app) override {
    const char* group = "Chain";
    app.add_option("FILE", file_, "The chain's JSON (docs/chains.md)").option_text("FILE").required();
    app.add_option("--size", sizes_, "Sizes of the chain's dimensions; repeatable")
        .option_text("N=1024,...")
        .one_value_each()
        .group(group);
    app.add_option("--dtype", dtype_, "One of the chain's dtypes (default: its first)")
        .option_text("TYPE")
        .group(group);
    app.add_option("--rounds", rounds_,
                   "Rounds, each with a sample of the chain and of each step alone (default: 24, at the power cap 8)")
        .option_text("N")
        .group(group);
    app.add_option("--seed", seed_, "Order in the rounds, together with the time (default: 1)")
        .option_text("N")
        .group(group);
    add_device_option(app, device_).group(group);
    app.add_flag("--wait", wait_, "Wait for a GPU on which another pgtune measures, instead of ending there")
        .group(group);
    add_database_option(app, database_).group(group);
    app.add_flag("--dry-run", dry_run_, "Say what the chain is and which searches it needs, and stop").group(group);
    add_json_option(app, json_);
    app.add_flag("-q,--quiet", quiet_, "Results only").group(kOutputGroup);
  }

  ExitCode run(Context& context) override {
    if (quiet_) context.terminal().set_verbosity(Verbosity::kQuiet);
    session::ChainOptions options;
    if (!rounds_.empty()) options.rounds = parse_rounds(rounds_);
    if (!rounds_.empty() && options.rounds < session::kLeastChainRounds)
      throw CommandError(ErrorKind::kUsage, fmt::format("--rounds {} are too few for an interval. Give at least {}.",
                                                        rounds_, session::kLeastChainRounds));
    options.seed = static_cast<std::uint64_t>(parse_count("--seed", seed_, 0));
    const ChainFile file(context.catalogue(), file_);
    const Chain chain = make(file);
    ResultDocument results(context.terminal(), json_, 1);
    const ExitCode code = dry_run_ ? plan(file, chain, results) : measure(context, file, chain, options, results);
    results.finish();
    return code;
  }

 private:
  [[nodiscard]] Chain make(const ChainFile& file) const {
    std::vector<NamedValue> sizes;
    for (const std::string& text : sizes_) {
      const auto more = value_or_throw(operation::parse_sizes(text));
      sizes.insert(sizes.end(), more.begin(), more.end());
    }
    std::optional<Dtype> dtype;
    if (!dtype_.empty()) dtype = value_or_throw(parse_dtype(dtype_));
    return file.make(sizes, dtype);
  }

  static ExitCode plan(const ChainFile& file, const Chain& chain, ResultDocument& results) {
    const std::vector<std::string> searches = chain_searches(file, chain);
    results.add([&] { return chain_plan_text(chain, searches); }, [&] { return chain_plan_json(chain, searches); });
    return ExitCode::kDone;
  }

  ExitCode measure(Context& context, const ChainFile& file, const Chain& chain, const session::ChainOptions& options,
                   ResultDocument& results) const {
    Terminal& terminal = context.terminal();
    const DeviceChoice choice = choose_device(context, device_);
    if (choice.source != Source::kGpu) {
      for (const std::string& note : choice.notes) terminal.detail(note);
      throw CommandError(ErrorKind::kEnvironment,
                         "there is no GPU to run a chain on, and recordings hold none. --dry-run says what it is.");
    }
    db::Database database = context.open_database(database_, db::OpenMode::kReadOnly);
    ChainKernels found = find_chain_kernels(context, database, file, chain, choice.info, options.conditions);
    if (!found.missing.empty()) {
      terminal.error(fmt::format("nothing is stored for some steps on GPUs of this class, {}. Search first:\n  {}",
                                 chain.title(), fmt::join(found.missing, "\n  ")));
      return ExitCode::kNothingValid;
    }
    const StopSignals signals;
    const auto lock = lock_gpu(context, choice.info.uuid, fmt::format("GPU {}", choice.ordinal), wait_,
                               [&] { return signals.exit_code().has_value(); });
    if (!lock) return signals.exit_code().value_or(ExitCode::kInterrupted);
    auto device = value_or_throw(device::WorkerChainDevice::open({.worker_path = context.paths().worker.string(),
                                                                  .gpu = choice.info.uuid,
                                                                  .request_timeout = kRequestTimeout,
                                                                  .prepare_timeout = kRequestTimeout}));
    ChainOutcome outcome{chain, choice.info, choice.description, std::move(found.kernels), std::move(found.notes), {}};
    outcome.result = run_on(terminal, outcome, *device, options, signals);
    results.add([&] { return chain_text(outcome); }, [&] { return chain_json(outcome); });
    if (outcome.result.interrupted) return signals.exit_code().value_or(ExitCode::kInterrupted);
    return outcome.result.outcome.kind == OutcomeKind::kOk ? ExitCode::kDone : ExitCode::kNothingValid;
  }

  static session::ChainResult run_on(Terminal& terminal, const ChainOutcome& outcome, device::ChainDevice& device,
                                     const session::ChainOptions& options, const StopSignals& signals) {
    PhaseLine line(terminal);
    const auto show = [&](const session::ChainProgress& progress) {
      line.update(static_cast<int>(progress.phase), fmt::format("{}: {}", outcome.chain.name, phase_text(progress)));
    };
    return value_or_throw(session::run_chain(outcome.chain, outcome.kernels, device, options, signals.flag(), show));
  }

  static std::string phase_text(const session::ChainProgress& progress) {
    using Phase = session::ChainProgress::Phase;
    switch (progress.phase) {
      case Phase::kPrepare:
        return "making buffers and the float64 references";
      case Phase::kCheck:
        return "checking each step alone and in the chain";
      case Phase::kSteady:
        return "looking whether it meets the power cap";
      case Phase::kRounds:
        break;
    }
    return fmt::format("round {} of {}", progress.done + 1, progress.total);
  }

  std::string file_, dtype_, rounds_, seed_ = "1", device_ = "auto", database_;
  std::vector<std::string> sizes_;
  bool wait_ = false, dry_run_ = false, json_ = false, quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_chain_command() { return std::make_unique<ChainCommand>(); }

}  // namespace pgtune::tool
