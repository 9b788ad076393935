// SPDX-License-Identifier: MIT
// `pgtune inspect`: the compiler's results for one variant: registers, shared memory, spills, occupancy, instructions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/counters/sass.hpp"
#include "tool/pgtune/measuring/checked_build.hpp"
#include "tool/pgtune/measuring/measuring_run.hpp"
#include "tool/pgtune/report/counters_view.hpp"
#include "tuner/model/json.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/session/pipeline/builds.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// Everything known about one variant after it was built.
struct Inspection {
  Problem problem;
  DeviceInfo device;
  Variant variant;
  LaunchPlan plan;
  BuildInfo build;
  std::int64_t smem_bytes = 0;  ///< static + dynamic, of the main kernel
  Occupancy occupancy;
  std::optional<SassCounts> sass;
  std::string sass_problem;  ///< why there are no counts
  std::string sass_text;
  std::optional<CounterReport> counters;  ///< nothing if not requested
};

/// Instructions that show how data moves, how wide accesses are, and whether registers spilled.
constexpr std::array kEvidence{
    std::pair{"FFMA", "multiply-adds"},       std::pair{"LDGSTS", "asynchronous copies, global to shared (cp.async)"},
    std::pair{"LDG", "global loads"},         std::pair{"LDS", "shared loads"},
    std::pair{"STS", "shared stores"},        std::pair{"STG", "global stores"},
    std::pair{"UTMALDG", "TMA loads"},        std::pair{"BAR", "CTA barriers"},
    std::pair{"LDL", "local loads (spills)"}, std::pair{"STL", "local stores (spills)"}};

std::string widths(const SassCounts& counts, std::string_view name) {
  std::string text;
  for (const auto& [opcode, count] : counts.by_opcode) {
    const bool modified = opcode.starts_with(name) && opcode.size() > name.size() && opcode[name.size()] == '.';
    if (opcode != name && !modified) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, opcode);
  }
  return text;
}

json inspection_json(const Inspection& inspection) {
  json out = {{"schema", kJsonSchema},
              {"problem", inspection.problem},
              {"architecture", inspection.device.architecture},
              {"template", inspection.variant.template_name},
              {"parameters", parameters_to_json(inspection.variant)},
              {"registers", inspection.build.registers},
              {"smem_bytes", inspection.smem_bytes},
              {"local_bytes", inspection.build.local_bytes},
              {"spill_bytes", inspection.build.spill_bytes},
              {"compile_s", inspection.build.compile_s},
              {"cubin", inspection.build.cubin_path},
              {"threads", main_kernel(inspection.plan).block.count()},
              {"occupancy",
               {{"ctas_per_sm", inspection.occupancy.ctas_per_sm},
                {"warps_per_sm", inspection.occupancy.warps_per_sm},
                {"fraction", inspection.occupancy.fraction},
                {"limiter", inspection.occupancy.limiter}}}};
  if (inspection.sass) {
    out["instructions"] = {{"total", inspection.sass->total}, {"by_opcode", inspection.sass->by_opcode}};
  } else {
    out["instructions"] = nullptr;
    out["instructions_missing"] = inspection.sass_problem;
  }
  if (inspection.counters) out["counters"] = counters_json(*inspection.counters);
  return out;
}

class InspectCommand final : public Command {
 public:
  std::string name() const override { return "inspect"; }
  std::string description() const override { return "Show what the compiler made of one variant"; }
  std::string examples() const override {
    return "pgtune inspect --device sm_90a\n"
           "pgtune inspect --variant STAGES=3,COPY=cp_async --device sm_80 --sass\n"
           "pgtune inspect --shape 4096x4096x4096 --variant STAGES=3 --counters";
  }

  void add_options(CommandLine& app) override {
    problems_.add_to(app);
    app.add_option("--variant", variant_, "Parameters over the template's defaults, such as BM=64,STAGES=3")
        .option_text("NAME=VALUE,...");
    add_template_option(app, template_);
    add_device_or_architecture_option(app, device_);
    compile_.add_to(app, kProblemGroup);
    app.add_flag("--counters", counters_,
                 "Read hardware counters of the variant and of cuBLASLt with the toolkit's profiler (ncu)");
    app.add_flag("--sass", sass_, "Also print the machine code").group(kOutputGroup);
    add_json_option(app, json_);
    app.show_first({"--variant", "--template", "--device", "--counters", "--shape", "--dtype", "--layout", "--epilogue",
                    "--operation", "--size", "--sass", "--json"});
  }

  ExitCode run(Context& context) override {
    const std::vector<Problem> problems = problems_.problems("4096x4096x4096");
    if (problems.size() > 1)
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("inspect looks at one problem, not {}. Give one --shape.", problems.size()));
    const Problem& problem = problems.front();
    const space::TemplateSet templates = problems_.templates_for(context.catalogue(), template_, problem);
    Inspection inspection;
    inspection.problem = problem;
    inspection.device = device_or_architecture(context, device_);
    const space::TemplateDefinition& definition = choose(templates, inspection, variant_);
    inspect(context, definition, inspection);
    note_others(context, templates, definition);
    ExitCode code = ExitCode::kDone;
    if (counters_) code = read_counters(context, templates, inspection);
    if (json_) {
      json out = inspection_json(inspection);
      if (sass_ && inspection.sass) out["sass"] = inspection.sass_text;
      context.terminal().print(fmt::format("{}\n", out.dump(2)));
    } else {
      print(context.terminal(), inspection);
      if (sass_) context.terminal().print(fmt::format("\n{}", inspection.sass_text));
    }
    if (sass_ && !inspection.sass) throw CommandError(ErrorKind::kEnvironment, inspection.sass_problem);
    return code;
  }

 private:
  /// The first template that has the parameters of --variant and legal variants in its preset; else the first with
  /// these parameters; else the one that has most of their names, or without any the default, which then reports the
  /// error.
  [[nodiscard]] static const space::TemplateDefinition& choose(const space::TemplateSet& templates,
                                                               const Inspection& inspection,
                                                               const std::string& variant) {
    const space::TemplateDefinition* first = nullptr;
    for (const space::TemplateDefinition& definition : templates.definitions()) {
      if (!space::parse_variant(definition, variant)) continue;
      if (first == nullptr) first = &definition;
      const auto searched = space::legal_variants(definition, inspection.problem, inspection.device);
      if (value_or_throw(searched).variants.empty()) continue;
      return definition;
    }
    if (first != nullptr) return *first;
    const auto known = [&](const space::TemplateDefinition& definition) {
      return std::count_if(definition.parameters.begin(), definition.parameters.end(), [&](const auto& parameter) {
        return ("," + variant).find("," + parameter.name + "=") != std::string::npos;
      });
    };
    const auto most = std::max_element(templates.definitions().begin(), templates.definitions().end(),
                                       [&](const auto& a, const auto& b) { return known(a) < known(b); });
    return known(*most) > 0 ? *most : choose(templates, inspection, "");
  }

  static void note_others(Context& context, const space::TemplateSet& templates,
                          const space::TemplateDefinition& chosen) {
    std::vector<std::string> others;
    for (const space::TemplateDefinition& definition : templates.definitions()) {
      if (definition.name != chosen.name) others.push_back("--template " + definition.name);
    }
    if (!others.empty()) context.terminal().note(fmt::format("Other templates: {}", fmt::join(others, ", ")));
  }

  /// Fills all fields except problem and device.
  void inspect(Context& context, const space::TemplateDefinition& definition, Inspection& result) const {
    result.variant = value_or_throw(space::parse_variant(definition, variant_));
    auto reason = value_or_throw(space::why_illegal(definition, result.variant, result.problem, result.device));
    if (reason && variant_.empty()) {
      auto legal = value_or_throw(space::legal_variants(definition, result.problem, result.device)).variants;
      if (!legal.empty()) {
        context.terminal().note(
            fmt::format("The default of {} is not legal here: its first legal variant.", definition.name));
        result.variant = std::move(legal.front());
        reason.reset();
      }
    }
    if (reason)
      throw CommandError(
          ErrorKind::kUsage,
          fmt::format("variant {} is not legal for {}: {}. `pgtune space --grid full --list` prints the legal ones.",
                      result.variant.key(), result.problem.title(), *reason));
    result.plan = value_or_throw(space::make_launch_plan(definition, result.variant, result.problem, result.device));
    const CompileLimits limits = compile_.read();
    result.build = build_checked(context, definition, result.variant, result.problem, result.device, limits);
    check_reference(context, result.problem, result.device, limits);
    const KernelLaunch& kernel = main_kernel(result.plan);
    result.smem_bytes = session::smem_bytes(result.build, result.plan);
    result.occupancy = occupancy(result.device, result.build.registers, result.smem_bytes, kernel.block.count());
    read_sass(result);
  }

  /// Failures go into the report, except for a GPU that another pgtune holds.
  ExitCode read_counters(Context& context, const space::TemplateSet& templates, Inspection& result) const {
    result.counters.emplace();
    if (device_.starts_with("sm_")) {
      result.counters->missing = "an architecture has none; they are read on a GPU";
      return ExitCode::kDone;
    }
    MeasuringOptions options = MeasuringArguments().read(context);
    options.clock = {};
    const DeviceChoice choice = choose_device(context, device_);
    if (!choice.is_gpu()) {
      result.counters->missing = "they are read on a GPU";
      return ExitCode::kDone;
    }
    ResultDocument nothing_else(context.terminal(), false, 1);
    return measure(context, options, {choice}, {result.problem}, nothing_else,
                   {[&](MeasuringRun& run, const Problem& problem) -> Shown {
                     const space::TemplateSet inspected(templates.of(result.variant));
                     result.counters = run.counters(problem, inspected.compared_with(templates.baselines()),
                                                    {{.variant = result.variant}, {}});
                     const auto signal = run.signals().exit_code();
                     return [signal] { return signal.value_or(ExitCode::kDone); };
                   }});
  }

  static void read_sass(Inspection& result) {
    const auto disassembler = find_disassembler();
    if (!disassembler) {
      result.sass_problem = disassembler.error().text();
      return;
    }
    auto text = disassemble(*disassembler, result.build.cubin_path);
    if (!text) {
      result.sass_problem = text.error().text();
      return;
    }
    result.sass_text = std::move(*text);
    result.sass = count_instructions(result.sass_text);
  }

  static void print(Terminal& terminal, const Inspection& inspection) {
    const KernelLaunch& kernel = main_kernel(inspection.plan);
    const Occupancy& occupancy = inspection.occupancy;
    terminal.print(fmt::format("{} for {} on {}\n", inspection.variant.template_name, inspection.problem.title(),
                               inspection.device.architecture));
    for (const std::string& line : wrap_text(inspection.variant.key(), kTextWidth - 2))
      terminal.print(fmt::format("  {}\n", line));
    terminal.print("\n");
    TextTable facts({{"fact"}, {"value", Align::kLeft, Wrap::kWords}});
    const bool several = inspection.plan.kernels.size() > 1;
    if (several)
      facts.add_row({"main kernel", fmt::format("{}, of {}", kernel.symbol, inspection.plan.kernels.size())});
    facts.add_row({"grid x threads", fmt::format("{} x {} x {} CTAs of {}", kernel.grid.x, kernel.grid.y, kernel.grid.z,
                                                 kernel.block.count())});
    facts.add_row({"registers", fmt::format("{} per thread{}", inspection.build.registers,
                                            several ? ", the most of its kernels" : "")});
    facts.add_row({"shared memory", fmt::format("{} bytes per CTA", inspection.smem_bytes)});
    facts.add_row({"local memory", fmt::format("{} bytes per thread, {} of them spill traffic",
                                               inspection.build.local_bytes, inspection.build.spill_bytes)});
    facts.add_row(
        {"occupancy", fmt::format("{} CTAs = {} warps per SM ({:.1f} %), limited by {}", occupancy.ctas_per_sm,
                                  occupancy.warps_per_sm, 100 * occupancy.fraction, occupancy.limiter)});
    facts.add_row({"compile time", fmt::format("{:.2f} s{}", inspection.build.compile_s,
                                               inspection.build.cached ? " (from the cache)" : "")});
    terminal.print(facts.text());
    if (inspection.counters) terminal.print('\n' + counters_text(*inspection.counters));
    if (!inspection.sass) {
      terminal.print("\n");
      for (const std::string& line :
           wrap_text(fmt::format("No instruction counts: {}", inspection.sass_problem), kTextWidth))
        terminal.print(fmt::format("{}\n", line));
      return;
    }
    terminal.print(fmt::format("\n{} instructions in the machine code (static counts)\n", inspection.sass->total));
    TextTable evidence({{"count", Align::kRight}, {"what"}, {"as", Align::kLeft, Wrap::kWords}});
    for (const auto& [opcode, meaning] : kEvidence) {
      const std::int64_t count = inspection.sass->of(opcode);
      evidence.add_row({std::to_string(count), meaning, count > 0 ? widths(*inspection.sass, opcode) : "-"});
    }
    terminal.print(evidence.text());
  }

  ProblemOptions problems_;
  CompileArguments compile_;
  std::string variant_, template_, device_ = "auto";
  bool sass_ = false, counters_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace pgtune::tool
