// SPDX-License-Identifier: MIT
#include "tests/operations/emulated_kernels.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

#include "tuner/template/template_source.hpp"
#include "tuner/util/hash_text.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::testing {
namespace {

namespace fs = std::filesystem;
using Launch = void (*)(void**, const unsigned*, const unsigned*, unsigned);

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// The headers that a source may include besides its own.
const std::string& emulation() {
  static const std::string all = [] {
    std::vector<fs::path> paths;
    for (const char* folder : {"/tests/operations/emulation", "/tuner/gpu/measure/check/kernels"}) {
      for (const auto& entry : fs::recursive_directory_iterator(PGTUNE_SOURCE_DIR + std::string(folder)))
        if (entry.is_regular_file()) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::string text = __VERSION__;
    for (const fs::path& path : paths) text += path.string() + '\n' + read_file(path).value();
    return text;
  }();
  return all;
}

/// Compiles kernels.cpp into kernels.so in `folder`, which has headers/ too.
bool compile(const fs::path& folder, const std::string& options, const std::string& name) {
  // What stands in for a header of templates comes first; the check's own headers are "kernels/...".
  const std::string command = fmt::format(
      "{0} {1} -I{2} -I{3}/tests/operations/emulation -I{4}/headers -I{3}/tuner/gpu/measure/check "
      "-I{3}/tuner/gpu/measure/check/kernels {4}/kernels.cpp -o {4}/kernels.so 2>{4}/log",
      PGTUNE_HOST_COMPILER, options, PGTUNE_EMULATED_GPU, PGTUNE_SOURCE_DIR, folder.string());
  if (std::system(command.c_str()) == 0) return true;  // NOLINT(concurrency-mt-unsafe)
  ADD_FAILURE() << name << " does not compile for the host:\n" << read_file(folder / "log").value_or("");
  return false;
}

}  // namespace

EmulatedKernels::EmulatedKernels(const TemplateSource& source, const std::vector<Define>& defines,
                                 const std::vector<std::string>& symbols) {
  std::string text = "#include \"emulated_gpu.hpp\"\n" +
                     std::regex_replace(source.contents, std::regex("extern __shared__[^;]* (\\w+)\\[\\];"),
                                        "unsigned char* const $1 = Block::own_shared();");
  for (const std::string& symbol : symbols)
    text += fmt::format(
        "\nextern \"C\" void launch_{0}(void** arguments, const unsigned* grid, const unsigned* block, "
        "unsigned cluster) {{\n"
        "  launch({0}, arguments, grid, block, cluster);\n}}\n",
        symbol);
  std::string options = "-std=c++17 -O1 -w -shared -fPIC";
  for (const Define& define : defines) options += fmt::format(" -D{}={}", define.name, define.value);
  // By all that it is compiled from, for the next case and the next run.
  std::string inputs = emulation() + options + '\n' + text;
  for (const SourceFile& header : source.headers) inputs += header.name + '\n' + header.contents;
  const fs::path library = fs::path(PGTUNE_EMULATED_GPU) / (hash_text(inputs) + ".so");
  if (!fs::exists(library)) {
    std::string name = PGTUNE_EMULATED_GPU "/XXXXXX";
    const fs::path folder = ::mkdtemp(name.data());
    write(folder / "kernels.cpp", text);
    for (const SourceFile& header : source.headers) write(folder / "headers" / header.name, header.contents);
    if (compile(folder, options, source.name)) fs::rename(folder / "kernels.so", library);
    fs::remove_all(folder);
    if (!fs::exists(library)) return;
  }
  library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) ADD_FAILURE() << ::dlerror();
}

EmulatedKernels::~EmulatedKernels() {
  if (library_ != nullptr) ::dlclose(library_);
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
