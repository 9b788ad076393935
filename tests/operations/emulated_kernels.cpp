// SPDX-License-Identifier: MIT
#include "tests/operations/emulated_kernels.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <regex>
#include <sstream>

namespace pgtune::testing {
namespace {

namespace fs = std::filesystem;
using Launch = void (*)(void**, const unsigned*, const unsigned*, unsigned);

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

EmulatedKernels::EmulatedKernels(const TemplateSource& source, const std::vector<Define>& defines,
                                 const std::vector<std::string>& symbols) {
  std::string name = (fs::path(::testing::TempDir()) / "pgtune_emulated_XXXXXX").string();
  folder_ = ::mkdtemp(name.data());
  for (const SourceFile& header : source.headers) write(folder_ / "headers" / header.name, header.contents);
  std::string text = "#include \"emulated_gpu.hpp\"\n" +
                     std::regex_replace(source.contents, std::regex("extern __shared__[^;]* (\\w+)\\[\\];"),
                                        "unsigned char* const $1 = Block::own_shared();");
  for (const std::string& symbol : symbols)
    text += fmt::format(
        "\nextern \"C\" void launch_{0}(void** arguments, const unsigned* grid, const unsigned* block, "
        "unsigned cluster) {{\n"
        "  launch({0}, arguments, grid, block, cluster);\n}}\n",
        symbol);
  write(folder_ / "kernels.cpp", text);
  // What stands in for a header of templates comes first; the check's own headers are "kernels/...".
  std::string command = fmt::format(
      "{} -std=c++17 -O1 -w -shared -fPIC -I{} -I{}/tests/operations/emulation -I{}/headers "
      "-I{}/tuner/gpu/measure/check",
      PGTUNE_HOST_COMPILER, PGTUNE_EMULATED_GPU, PGTUNE_SOURCE_DIR, folder_.string(), PGTUNE_SOURCE_DIR);
  command += fmt::format(" -I{}/tuner/gpu/measure/check/kernels", PGTUNE_SOURCE_DIR);
  for (const Define& define : defines) command += fmt::format(" -D{}={}", define.name, define.value);
  command += fmt::format(" {0}/kernels.cpp -o {0}/kernels.so 2>{0}/log", folder_.string());
  if (std::system(command.c_str()) != 0) {  // NOLINT(concurrency-mt-unsafe)
    ADD_FAILURE() << source.name << " does not compile for the host:\n" << text_of(folder_ / "log");
    return;
  }
  library_ = ::dlopen((folder_ / "kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) ADD_FAILURE() << ::dlerror();
}

EmulatedKernels::~EmulatedKernels() {
  if (library_ != nullptr) ::dlclose(library_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void EmulatedKernels::launch(const std::string& symbol, const Dim3& grid, const Dim3& block,
                             std::vector<void*> arguments, std::int64_t cluster) const {
  const auto run = reinterpret_cast<Launch>(::dlsym(library_, ("launch_" + symbol).c_str()));
  ASSERT_NE(run, nullptr) << symbol;
  const auto sizes = [](const Dim3& dim) {
    return std::vector<unsigned>{static_cast<unsigned>(dim.x), static_cast<unsigned>(dim.y),
                                 static_cast<unsigned>(dim.z)};
  };
  run(arguments.data(), sizes(grid).data(), sizes(block).data(), static_cast<unsigned>(cluster));
}

}  // namespace pgtune::testing
