// SPDX-License-Identifier: MIT
// `pgtune man`: the manual page, as it is installed.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tool/pgtune/cli/command.hpp"
#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/help_formatter.hpp"
#include "tool/pgtune/cli/version.hpp"

namespace pgtune::tool {
namespace {

/// Text as roff: escapes hyphens (so that copies keep them) and backslashes, and avoids lines that look like requests.
std::string roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string entry(const std::string& term, const std::string& text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(term), roff(text));
}

/// A footer: indented lines are commands and stay unchanged; the others are text.
std::string footer(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  bool verbatim = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("  ");
    if (indented != verbatim) out += indented ? ".PP\n.RS 4\n.nf\n" : ".fi\n.RE\n";
    verbatim = indented;
    out += line.empty() ? ".PP\n" : roff(indented ? line.substr(2) : line) + '\n';
  }
  return out + (verbatim ? ".fi\n.RE\n" : "");
}

std::string options_of(const CLI::App& app) {
  const HelpFormatter formatter;
  std::string out;
  for (const std::string& group : app.get_groups()) {
    const auto options = app.get_options([&](const CLI::Option* option) { return option->get_group() == group; });
    if (group.empty() || options.empty()) continue;
    out += fmt::format(".SS {}\n", roff(group));
    for (const CLI::Option* option : options) {
      const bool positional = option->get_positional();
      out += entry(formatter.make_option_name(option, positional) + formatter.make_option_opts(option),
                   formatter.make_option_desc(option));
    }
  }
  return out;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

std::string usage(const CLI::App& app, const std::string& name) {
  const std::string line = HelpFormatter().make_usage(&app, name);
  const std::string prefix = "\nUsage: ";
  return line.substr(prefix.size(), line.size() - prefix.size() - 1);
}

/// A section for the command and for each command below it.
std::string sections(const CLI::App& app, const std::string& name) {
  std::string out = fmt::format(".SH {}\n{}.\n.PP\n.B {}\n", roff(capitals(name)), roff(app.get_description()),
                                roff(usage(app, name)));
  out += options_of(app);
  if (const std::string& text = app.get_footer(); !text.empty()) out += ".PP\n" + footer(text);
  for (const CLI::App* command : commands_of(app)) out += sections(*command, name + " " + command->get_name());
  return out;
}

constexpr const char* kEnvironment = R"(.SH ENVIRONMENT
.TP
.B PGTUNE_DB
The database, where \-\-db is not given.
.TP
.B PGTUNE_CACHE_DIR
The folder of compiled kernels.
.TP
.B PGTUNE_LOCK_DIR
The folder of the locks of GPUs, where neither /run/lock nor /tmp will do.
.TP
.B PGTUNE_WORKER
The program pgtune\-worker, where it is neither beside pgtune nor in libexec.
.TP
.B PGTUNE_CUDA_HOME
A CUDA Toolkit, or a folder with NVRTC and cuBLASLt, that is looked into before any other.
.TP
.B PGTUNE_NVDISASM, PGTUNE_NCU, PGTUNE_FATBINARY, PGTUNE_CXX
The disassembler for inspect, the profiler for \-\-counters, what compresses the kernels of export header, and the compiler that it verifies the header with.
.TP
.B CXX
The absolute path of that compiler, where PGTUNE_CXX is not set.
.TP
.B TMPDIR
The folder of temporary files. Each process of pgtune run needs 16 MiB in it.
.TP
.B PGTUNE_RUN
With off, programs under pgtune run call the library unchanged.
.TP
.B CUDA_VISIBLE_DEVICES
The GPUs that CUDA shows: pgtune uses no others.
.TP
.B NVIDIA_TF32_OVERRIDE
With 0, pgtune run takes no call for tf32; with another value it serves none.
.TP
.B CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, VIRTUAL_ENV, CONDA_PREFIX
Looked into for CUDA's libraries, in the order that pgtune doctor prints.
.TP
.B XDG_DATA_HOME, XDG_CACHE_HOME, XDG_CONFIG_HOME
Where the files below are.
.TP
.B NO_COLOR
No colours.
.SH FILES
.TP
.I $XDG_DATA_HOME/pgtune/pgtune.db
The database (~/.local/share/pgtune/pgtune.db).
.TP
.I $XDG_CACHE_HOME/pgtune
Compiled kernels (~/.cache/pgtune); may be deleted.
.TP
.I $XDG_CONFIG_HOME/pgtune/config.json
Your defaults (~/.config/pgtune/config.json).
)";

/// pgtune(1) in roff, for man and mandoc: one section per command. `root` is the whole application.
std::string write_man_page(const CommandLine& root) {
  const CLI::App& app = root.app();
  std::string out = fmt::format(
      ".TH PGTUNE 1 \"\" \"pgtune {}\" \"User Commands\"\n.SH NAME\npgtune \\- autotuner for GEMM kernels on NVIDIA "
      "GPUs\n.SH SYNOPSIS\n.B {}\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      kVersion, roff(usage(app, "pgtune")), roff(app.get_description()));
  for (const CLI::App* command : commands_of(app)) out += entry(command->get_name(), command->get_description() + ".");
  out += ".SH OPTIONS\n" + options_of(app) + ".PP\n" + footer(app.get_footer());
  for (const CLI::App* command : commands_of(app)) out += sections(*command, "pgtune " + command->get_name());
  return out + kEnvironment;
}

class ManCommand final : public Command {
 public:
  std::string name() const override { return "man"; }
  std::string description() const override { return "Print the manual page, for man and mandoc"; }
  std::string examples() const override {
    return "pgtune man | man -l -\n"
           "pgtune man > ~/.local/share/man/man1/pgtune.1";
  }
  void add_options(CommandLine& app) override { root_ = app.parent(); }
  ExitCode run(Context& context) override {
    context.terminal().print(write_man_page(*root_));
    return ExitCode::kDone;
  }

 private:
  std::optional<CommandLine> root_;
};

}  // namespace

std::unique_ptr<Command> make_man_command() { return std::make_unique<ManCommand>(); }

}  // namespace pgtune::tool
