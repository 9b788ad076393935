// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/consumer_library.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/cli/toolkit_program.hpp"
#include "tool/pgtune/export/callable_package.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::tool {
namespace {

constexpr std::chrono::minutes kPatience{5};
constexpr const char* kVariable = "PGTUNE_CXX";

Result<std::filesystem::path> find_compiler() {
  const auto named = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr ? std::string(value) : std::string();
  };
  const bool chosen = !named(kVariable).empty();
  if (const std::string own = named("CXX"); !chosen && own.starts_with('/')) return own;
  for (const char* name : {"c++", "g++", "clang++"}) {
    auto program = find_toolkit_program({name, "host compiler", kVariable});
    if (program || chosen) return program;
  }
  return fail(
      ErrorKind::kEnvironment,
      fmt::format("no host compiler: c++, g++ and clang++ are not on PATH; install one, or name it in {}", kVariable));
}

/// Beside the toolkit's own programs, or where the compiler looks anyway.
Result<std::filesystem::path> find_cuda_headers() {
  for (const std::filesystem::path& folder : toolkit_folders()) {
    std::error_code none;
    std::filesystem::path headers = folder.parent_path() / "include";
    if (std::filesystem::exists(headers / "cuda.h", none)) return headers;
  }
  return fail(ErrorKind::kEnvironment, "no cuda.h beside a CUDA toolkit's programs; set CUDA_HOME to a toolkit");
}

/// What the program printed, unless it ended with 0.
Result<void> run(const std::vector<std::string>& command) {
  auto child = ChildProcess::start(command, std::size_t{1} << 20);
  if (!child) return tl::unexpected<Error>(std::move(child.error()));
  const auto until = SteadyClock::now() + kPatience;
  while (!(*child)->ended() && SteadyClock::now() < until) {
    std::vector<pollfd> fds;
    (*child)->add_poll_fds(fds);
    (void)wait_ready(fds, until);
    (*child)->pump();
    while ((*child)->next_line()) {
    }
  }
  if (!(*child)->ended()) (*child)->kill();
  const std::string end = (*child)->death_reason();
  if (end == "exited with 0") return {};
  return fail(ErrorKind::kEnvironment, fmt::format("{} {}", command.front(), end));
}

}  // namespace

Result<std::filesystem::path> compile_consumer(const std::filesystem::path& folder, const CallableHeader& content,
                                               const ExportedText& text) {
  const auto compiler = find_compiler();
  if (!compiler) return compiler;
  const auto headers = find_cuda_headers();
  if (!headers) return headers;
  const std::filesystem::path library = folder / "consumer.so";
  write_output_file(folder / content.file_name, text.header);
  write_output_file(folder / "consumer.cpp", package_text(content, "consumer.cpp"));
  std::vector<std::string> command{compiler->string(),
                                   "-std=c++17",
                                   "-O1",
                                   "-fPIC",
                                   "-shared",
                                   "-isystem",
                                   headers->string(),
                                   "-I" + folder.string(),
                                   (folder / "consumer.cpp").string()};
  command.push_back(fmt::format("-DPGTUNE_CUDA_INCLUDE=\"{}\"", headers->string()));
  if (!text.source.empty()) {
    write_output_file(folder / "kernels.cpp", text.source);
    command.push_back((folder / "kernels.cpp").string());
  }
  for (const std::string& word : {std::string("-o"), library.string(), std::string("-pthread"), std::string("-ldl")})
    command.push_back(word);
  if (auto compiled = run(command); !compiled) return fail(std::move(compiled.error()), "compiling the header");
  return library;
}

}  // namespace pgtune::tool
