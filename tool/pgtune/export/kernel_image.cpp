// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/kernel_image.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "tool/pgtune/cli/output_file.hpp"
#include "tool/pgtune/cli/toolkit_program.hpp"
#include "tuner/util/child_process.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

Result<std::string> read_bytes(const std::filesystem::path& path) {
  auto bytes = read_file(path);
  if (!bytes) return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}", path.string()));
  return std::move(*bytes);
}

}  // namespace

std::optional<std::filesystem::path> find_fatbinary() {
  auto program = find_toolkit_program({"fatbinary", "tool that compresses kernels", "PGTUNE_FATBINARY"});
  return program ? std::optional(std::move(*program)) : std::nullopt;
}

Result<std::string> kernel_image(const std::string& cubin_path, const DeviceInfo& device,
                                 const std::optional<std::filesystem::path>& fatbinary) {
  if (!fatbinary) return read_bytes(cubin_path);
  TRY_ASSIGN(const auto folder, ScratchFolder::make());
  const std::filesystem::path out = folder.path() / "kernel.fatbin";
  // "sm_90a" is "90a" to it.
  const std::string target = device.architecture.substr(device.architecture.find('_') + 1);
  TRY_ASSIGN(auto child,
             ChildProcess::start({fatbinary->string(), "-64", "--create=" + out.string(), "--compress-mode=size",
                                  "--compress-all", fmt::format("--image3=kind=elf,sm={},file={}", target, cubin_path)},
                                 1 << 16));
  const std::string end = run_to_end(*child, SteadyClock::now() + std::chrono::minutes(1));
  if (!child->succeeded()) return fail(ErrorKind::kEnvironment, fmt::format("{}: {}", fatbinary->string(), end));
  return read_bytes(out);
}

}  // namespace pgtune::tool
