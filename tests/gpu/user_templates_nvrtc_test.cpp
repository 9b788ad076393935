// SPDX-License-Identifier: MIT
// Templates as users write them, from disk through NVRTC: what they include. Needs no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/gpu/template_cases.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/builder.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::gpu {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class UsersTemplate : public testing::Test {
 protected:
  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((folder_.path() / name).parent_path());
    ASSERT_TRUE(write_file_atomically(folder_.path() / name, text)) << name;
  }

  /// What is wrong with the template k.json, whose source is `source`; empty where it builds.
  [[nodiscard]] std::string fate(const std::string& source, const std::string& more = "",
                                 const std::vector<fs::path>& include_folders = {}) const {
    write("mine/k.cu", source);
    write("mine/k.json", R"({"schema": 1, "name": "k", "source": "k.cu", "dtypes": ["f32"], )" + more + R"(
                            "parameters": [{"name": "T0", "values": [32, 64], "default": 32}],
                            "kernels": [{"symbol": "k", "grid": ["1"], "block": ["T0"], "arguments": [{"pointer": "D"}]}]})");
    const auto definition =
        space::load_template(folder_.path() / "mine/k.json", shipped_header, nullptr, include_folders);
    if (!definition) return definition.error().text();
    protocol::BuildRequest request;
    request.variant = definition->default_variant();
    request.source = definition->source;
    request.architecture = "sm_90a";
    const Problem problem = problem_of("64x64x64", "nn");
    const DeviceInfo device = architecture_info(request.architecture).value();
    request.defines = space::make_defines(*definition, request.variant, problem, device).value();
    request.calls = kernel_calls(space::make_launch_plan(*definition, request.variant, problem, device).value());
    const auto done = builder_.build(request);
    return done ? done->outcome.reason : done.error().text();
  }

  const TestFolder folder_;
  const Builder builder_{shared_cubins(folder_), find_toolkit().value()};
};

TEST_F(UsersTemplate, StandardHeadersAreStoodInFor) {
  EXPECT_EQ(fate("#include <stdint.h>\n#include <cstdint>\n#include <math.h>\n#include <cmath>\n#include <float.h>\n"
                 "#include <limits.h>\n#include <stddef.h>\n#include <string.h>\n#include <stdlib.h>\n"
                 "#include <assert.h>\n#include <stdio.h>\n#include <array>\n#include <bit>\n#include <complex>\n"
                 "#include <concepts>\n#include <functional>\n#include <initializer_list>\n#include <iterator>\n"
                 "#include <limits>\n#include <numbers>\n#include <numeric>\n#include <optional>\n#include <ratio>\n"
                 "#include <tuple>\n#include <type_traits>\n#include <utility>\n"
                 "struct Pair { float a, b; };\n"
                 "extern \"C\" __global__ void k(float* d) {\n"
                 "  static_assert(std::is_same_v<uint32_t, std::uint32_t> && sizeof(int64_t) == 8, \"\");\n"
                 "  static_assert(INT_MAX == std::numeric_limits<int>::max(), \"\");\n"
                 "  std::array<float, 2> pair{INFINITY, FLT_MAX};\n"
                 "  assert(M_PI > 3 && offsetof(Pair, b) == 4);\n"
                 "  d[threadIdx.x] = std::sqrt(pair[1]) + pair[0] + static_cast<float>(DBL_EPSILON) + NAN;\n"
                 "}\n"),
            "");
}

TEST_F(UsersTemplate, EachStandardHeaderStandsAlone) {
  for (const char* name :
       {"stdint.h", "math.h",  "float.h", "limits.h", "stddef.h", "string.h", "stdlib.h",   "assert.h",
        "stdio.h",  "cassert", "cfloat",  "climits",  "cmath",    "cstddef",  "cstdint",    "cstdio",
        "cstdlib",  "cstring", "array",   "bit",      "complex",  "concepts", "functional", "initializer_list",
        "iterator", "limits",  "numbers", "numeric",  "optional", "ratio",    "tuple",      "type_traits",
        "utility"})
    EXPECT_EQ(fate(std::string("#include <") + name + ">\nextern \"C\" __global__ void k(float* d) { *d = 1; }\n"), "")
        << name;
}

TEST_F(UsersTemplate, WhatIsMissingIsNamed) {
  const auto using_it = [](const std::string& text) {
    return "extern \"C\" __global__ void k(float* d) { *d = " + text + "; }\n";
  };
  EXPECT_THAT(fate(using_it("INFINITY")), HasSubstr("(#include <math.h>)"));
  EXPECT_THAT(fate(using_it("uint32_t(1)")), HasSubstr("(#include <stdint.h>)"));
  EXPECT_THAT(fate(using_it("FLT_MAX")), HasSubstr("(#include <float.h>)"));
  EXPECT_THAT(fate("#include <vector>\n" + using_it("1")), HasSubstr("nor a standard header that device code has"));
}

constexpr const char* kTakesTwo = "#include <lib/a.cuh>\nextern \"C\" __global__ void k(float* d) { *d = two(); }\n";

TEST_F(UsersTemplate, IncludesAreLookedForInTheFoldersItDeclares) {
  // By name below the folder, beside the header that includes, and above it.
  write("mine/vendor/lib/a.cuh", "#include <lib/b.cuh>\n#include \"detail/c.cuh\"\n");
  write("mine/vendor/lib/b.cuh", "#define TWO 2\n");
  write("mine/vendor/lib/detail/c.cuh", "#pragma once\n#include \"d.cuh\"\n#include \"../b.cuh\"\n");
  write("mine/vendor/lib/detail/d.cuh", "__device__ float two() { return TWO; }\n#include \"c.cuh\"\n");
  EXPECT_THAT(fate(kTakesTwo), HasSubstr("cannot open source file \"lib/a.cuh\""));
  EXPECT_EQ(fate(kTakesTwo, R"("include_folders": ["vendor"],)"), "");
  write("mine/lib/a.cuh", "__device__ float two() { return 2; }\n");
  EXPECT_EQ(fate(kTakesTwo, R"("include_folders": ["."],)"), "");
}

TEST_F(UsersTemplate, FoldersElsewhereAreNamedByTheUserAlone) {
  write("elsewhere/lib/a.cuh", "__device__ float two() { return 2; }\n");
  EXPECT_THAT(fate(kTakesTwo, R"("include_folders": ["../elsewhere"],)"),
              HasSubstr("'../elsewhere' is not below the folder of this JSON; name it with --include-folder"));
  fs::create_directory_symlink(folder_.path() / "elsewhere", folder_.path() / "mine" / "link");
  EXPECT_THAT(fate(kTakesTwo, R"("include_folders": ["link"],)"), HasSubstr("cannot open source file"));
  EXPECT_EQ(fate(kTakesTwo, "", {folder_.path() / "elsewhere"}), "");
  EXPECT_THAT(fate(kTakesTwo, "", {folder_.path() / "gone"}), HasSubstr("there is no folder"));
}

TEST_F(UsersTemplate, TheHashCoversWhatWasRead) {
  const auto hash = [&] {
    EXPECT_EQ(fate(kTakesTwo, R"("include_folders": ["vendor"],)"), "");
    return space::load_template(folder_.path() / "mine/k.json", shipped_header).value().content_hash;
  };
  write("mine/vendor/lib/a.cuh", "__device__ float two() { return 2; }\n");
  const std::string first = hash();
  write("mine/vendor/unread.cuh", "");
  EXPECT_EQ(hash(), first);
  write("mine/vendor/lib/a.cuh", "__device__ float two() { return 2.0f; }\n");
  EXPECT_NE(hash(), first);
}

TEST_F(UsersTemplate, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(fate("\xef\xbb\xbf"
                 "extern \"C\" __global__ void k(float* d) { *d = 1; }\n"),
            "");
}

}  // namespace
}  // namespace pgtune::gpu
