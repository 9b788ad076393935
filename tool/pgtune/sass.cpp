// SPDX-License-Identifier: MIT
#include "tool/pgtune/sass.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

extern char** environ;

namespace pgtune::tool {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// "LDG.E.128.CONSTANT" -> "LDG.128": what matters for memory instructions is width and path; the rest is dropped.
std::string short_opcode(std::string_view opcode) {
  const std::vector<std::string_view> parts = split(opcode, '.');
  std::string name(parts.front());
  constexpr std::array kept{"BYPASS", "U8", "S8", "U16", "S16", "64", "128"};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (std::find(kept.begin(), kept.end(), parts[i]) != kept.end()) name.append(".").append(parts[i]);
  }
  return name;
}

/// The opcode of a line such as "        /*0010*/              @!P0 LDG.E R4, desc[UR4][R2.64] ;", or nothing.
std::string_view opcode_of(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || line.substr(begin, 2) != "/*") return {};
  const std::size_t address_end = line.find("*/", begin);
  if (address_end == std::string_view::npos) return {};
  if (line.find(';', address_end) == std::string_view::npos) return {};
  line.remove_prefix(address_end + 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size()));
  if (!line.empty() && line.front() == '@') {
    line.remove_prefix(std::min(line.find(' '), line.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  return line.substr(0, line.find_first_of(" ;"));
}

bool executable(const std::filesystem::path& path) { return access(path.c_str(), X_OK) == 0; }

}  // namespace

std::int64_t SassCounts::of(std::string_view name) const {
  std::int64_t sum = 0;
  for (const auto& [opcode, count] : by_opcode) {
    const std::string_view text = opcode;
    if (text == name || (text.starts_with(name) && text[name.size()] == '.')) sum += count;
  }
  return sum;
}

SassCounts count_instructions(std::string_view nvdisasm_text) {
  SassCounts counts;
  for (const std::string_view line : split(nvdisasm_text, '\n')) {
    const std::string_view opcode = opcode_of(line);
    // Directives of data sections, and the padding behind a kernel.
    if (opcode.empty() || opcode.front() == '.' || opcode == "NOP") continue;
    ++counts.total;
    ++counts.by_opcode[short_opcode(opcode)];
  }
  return counts;
}

Result<std::filesystem::path> find_disassembler() {
  if (const char* chosen = std::getenv("PGTUNE_NVDISASM"); chosen != nullptr && *chosen != '\0') {
    if (executable(chosen)) return chosen;
    return fail(
        ErrorKind::kEnvironment,
        fmt::format("no disassembler: PGTUNE_NVDISASM is '{}', which is no program; give nvdisasm's path, or unset "
                    "it to search for one",
                    chosen));
  }
  std::vector<std::filesystem::path> folders;
  if (const char* path = std::getenv("PATH")) {
    for (const std::string_view folder : split(path, ':')) folders.emplace_back(folder);
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) folders.push_back(std::filesystem::path(root) / "bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  folders.emplace_back(PGTUNE_TOOLKIT_BIN);
  for (const auto& folder : folders) {
    if (folder.is_absolute() && executable(folder / "nvdisasm")) return folder / "nvdisasm";
  }
  return fail(ErrorKind::kEnvironment,
              "no disassembler: nvdisasm is neither on PATH nor in a CUDA toolkit; install the toolkit's nvdisasm, or "
              "name it in PGTUNE_NVDISASM");
}

Result<std::string> disassemble(const std::filesystem::path& disassembler, const std::filesystem::path& cubin) {
  std::array<int, 2> pipe_fds{};
  if (pipe2(pipe_fds.data(), O_CLOEXEC) != 0)
    return fail(ErrorKind::kEnvironment, fmt::format("cannot open a pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDERR_FILENO);
  std::string program = disassembler.string();
  std::string argument = cubin.string();
  const std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int status = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_fds[1]);
  if (status != 0) {
    close(pipe_fds[0]);
    return fail(ErrorKind::kEnvironment, fmt::format("cannot run {}: {}", program, std::strerror(status)));
  }
  std::string text;
  std::array<char, 65536> chunk{};
  while (true) {
    const ssize_t got = read(pipe_fds[0], chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  close(pipe_fds[0]);
  int exit_status = 0;
  while (waitpid(child, &exit_status, 0) < 0 && errno == EINTR) {
  }
  if (exit_status == 0) return text;
  const std::string trimmed = text.substr(0, text.find_last_not_of('\n') + 1);
  return fail(ErrorKind::kEnvironment,
              fmt::format("{} failed: {}", program, trimmed.substr(trimmed.find_last_of('\n') + 1)));
}

}  // namespace pgtune::tool
