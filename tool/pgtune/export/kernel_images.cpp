// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/kernel_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "tool/pgtune/cli/scratch_folder.hpp"
#include "tool/pgtune/cli/toolkit_program.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::tool {
namespace {

Result<std::string> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}", path.string()));
  return std::move(bytes).str();
}

}  // namespace

std::optional<std::filesystem::path> find_fatbinary() {
  auto program = find_toolkit_program({"fatbinary", "tool that compresses kernels", "PGTUNE_FATBINARY"});
  return program ? std::optional(std::move(*program)) : std::nullopt;
}

Result<std::string> kernel_image(const std::string& cubin_path, const DeviceInfo& device,
                                 const std::optional<std::filesystem::path>& fatbinary) {
  if (!fatbinary) return read_bytes(cubin_path);
  const ScratchFolder folder;
  const std::filesystem::path out = folder.path() / "kernel.fatbin";
  // "sm_90a" is "90a" to it.
  const std::string target = device.architecture.substr(device.architecture.find('_') + 1);
  auto child =
      ChildProcess::start({fatbinary->string(), "-64", "--create=" + out.string(), "--compress-mode=size",
                           "--compress-all", fmt::format("--image3=kind=elf,sm={},file={}", target, cubin_path)},
                          1 << 16);
  if (!child) return tl::unexpected<Error>(std::move(child.error()));
  while (!(*child)->ended()) {
    std::vector<pollfd> fds;
    (*child)->add_poll_fds(fds);
    (void)wait_ready(fds, SteadyClock::now() + std::chrono::seconds(10));
    (*child)->pump();
  }
  const std::string end = (*child)->death_reason();
  if (!std::filesystem::exists(out))
    return fail(ErrorKind::kEnvironment, fmt::format("{}: {}", fatbinary->string(), end));
  return read_bytes(out);
}

int least_driver(const std::string& nvrtc_version, bool compressed) {
  int major = 0;
  std::from_chars(nvrtc_version.data(), nvrtc_version.data() + nvrtc_version.size(), major);
  return std::max(1000 * major, compressed ? 12040 : 12000);
}

}  // namespace pgtune::tool
