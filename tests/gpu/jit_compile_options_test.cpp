// SPDX-License-Identifier: MIT
// What reaches NVRTC's command line.
#include "tuner/gpu/jit/builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pgtune::gpu {
namespace {

using testing::Contains;
using testing::HasSubstr;

protocol::BuildRequest defining(const std::string& name, const std::string& value) {
  protocol::BuildRequest request;
  request.architecture = "sm_90a";
  request.defines = {{name, value}};
  return request;
}

TEST(CompileOptions, MacrosAreIntegersAndLabels) {
  for (const auto& [name, value] :
       {std::pair{"BM", "128"}, {"OFFSET", "-5"}, {"COPY", "LABEL_cp_async"}, {"_x9", "a"}}) {
    const auto options = compile_options(defining(name, value), {});
    ASSERT_TRUE(options) << name;
    EXPECT_THAT(*options, Contains(std::string("-D") + name + "=" + value));
  }
}

TEST(CompileOptions, NothingElseIsAMacro) {
  for (const auto& [name, value] : {std::pair{"BM", ""},
                                    {"BM", "1 -I/etc"},
                                    {"BM", "-"},
                                    {"BM", "--include-path=/"},
                                    {"BM", "1;int x"},
                                    {"BM", "\"x\""},
                                    {"BM", "a b"},
                                    {"BM", "1\n"},
                                    {"BM", "0x10"},
                                    {"", "1"},
                                    {"9x", "1"},
                                    {"F(x)", "1"},
                                    {"A B", "1"},
                                    {"A=1 -o", "1"},
                                    {"-include", "x"},
                                    {"A\n", "1"}}) {
    const auto options = compile_options(defining(name, value), {});
    ASSERT_FALSE(options) << name << "=" << value;
    EXPECT_EQ(options.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(options.error().message, HasSubstr("a name as an integer or a label"));
  }
}

TEST(CompileOptions, TheArchitectureIsOne) {
  for (const char* good : {"sm_80", "sm_90a", "sm_100f", "sm_9999"}) {
    auto request = defining("A", "1");
    request.architecture = good;
    EXPECT_TRUE(compile_options(request, {})) << good;
  }
  for (const char* bad :
       {"", "sm_", "compute_90", "sm_90 -I/", "sm_90,sm_80", "90a", "sm_a", "@file", "sm_90\n", "sm_123456"}) {
    auto request = defining("A", "1");
    request.architecture = bad;
    EXPECT_FALSE(compile_options(request, {})) << bad;
  }
}

TEST(CompileOptions, IncludeFoldersAreTheToolkitsAlone) {
  Toolkit toolkit;
  toolkit.include_folders = {"/toolkit/include"};
  const auto options = compile_options(defining("A", "1"), toolkit);
  ASSERT_TRUE(options);
  EXPECT_THAT(*options, Contains("-I/toolkit/include"));
  EXPECT_EQ(options->size(), 6U);
}

}  // namespace
}  // namespace pgtune::gpu
