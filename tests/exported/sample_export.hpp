// SPDX-License-Identifier: MIT
// A callable header of everything the shipped recordings hold, with images that are no kernels: for host code alone.
#pragma once

#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"
#include "tool/pgtune/export/callable_header.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::tool::test {

/// The folder of the programs that call headers, and what has one run over the driver that only records.
inline const std::string kPrograms = PGTUNE_SOURCE_DIR "/tests/exported/programs/",
                         kWithFake = "LD_LIBRARY_PATH='" PGTUNE_FAKE_CUDA_FOLDER "' ";

/// Whether PATH has the program.
[[nodiscard]] bool have(const std::string& program);

/// The winners of the built-in recordings in this build's templates, an H200's first, at most `limit` (0: all), as
/// entries for an H200.
[[nodiscard]] CallableHeader sample_export(std::size_t limit = 0);

/// Two families of bf16, measured on the sample device: one without an order that is 1 % ahead of its probe's search,
/// one with it that lost 8 %, which makes it slower than cuBLASLt.
void write_families(const std::string& file, const std::string& order = "plain");
/// Adds a family of bf16 without one order, one with it, and one of gemm_mma; where there are kernels that ask for more
/// alignment, two of f32 that begin with one.
void add_families(CallableHeader& content);
/// A variant of a template as an entry for the problem, appended to `content`. Returns its number.
std::size_t add_sample_variant(CallableHeader& content, const space::TemplateDefinition& definition,
                               const Variant& variant, const Problem& problem,
                               space::Edges edges = space::Edges::kOfProblem);
void add_sample(CallableHeader& content, const space::TemplateDefinition& definition, const Variant& variant,
                const Problem& problem);

/// H200 as the fake driver says it.
[[nodiscard]] DeviceInfo sample_device();
/// What any of these headers says, and nothing callable yet.
[[nodiscard]] CallableHeader sample_header(const std::string& name_space);

/// Of compilers of C and C++: exports pass them all.
inline constexpr const char* kStrictWarnings =
    "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wshadow -Werror";

/// A folder with the header as best_gemm.hpp, gone with the object.
class ExportFolder : public support::ScratchFolder {
 public:
  explicit ExportFolder(const std::string& header) { write("best_gemm.hpp", header); }
  void write(const std::string& name, const std::string& text) const;
  /// `command` run in the folder by the shell: its exit code, and what it printed.
  int run(const std::string& command, std::string* output = nullptr) const;
  /// `<compiler> -I... <sources> -o <name>`, warnings as errors; true where it compiled.
  [[nodiscard]] bool compile(const std::string& compiler, const std::string& sources, const std::string& name) const;
};

/// An XDG_CACHE_HOME for all tests of the process, so that each kernel is compiled once: $PGTUNE_TEST_CUBINS where it
/// is set, with those of other tests and earlier runs.
[[nodiscard]] std::string shared_cache();

}  // namespace pgtune::tool::test
