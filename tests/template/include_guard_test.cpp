// SPDX-License-Identifier: MIT
// What a template may make the compiler read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.hpp"
#include "tests/template/sample_template.hpp"
#include "tuner/template/template_source.hpp"

namespace pgtune::space {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::reader;

TEST(ForbiddenInclude, PlainNamesAreAllowed) {
  for (const char* text : {"", "#include \"a.cuh\"", "  #  include  \"device/a.cuh\" // near", "#include <cuda_fp16.h>",
                           "#include <cuda/std/array>", "#include \"unterminated", "# define INCLUDE include", "#",
                           "#includes \"/x\"", "#if 0", "#include \"..hidden/a..b\"", "\\", "#include \"./a.cuh\""}) {
    EXPECT_EQ(forbidden_include(text), std::nullopt) << text;
  }
}

class ForbiddenIncludes : public ::testing::TestWithParam<const char*> {};

TEST_P(ForbiddenIncludes, AreFound) {
  EXPECT_TRUE(forbidden_include(GetParam())) << GetParam();
  EXPECT_TRUE(forbidden_include(std::string("int x;\n") + GetParam() + "\nint y;")) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(All, ForbiddenIncludes,
                         ::testing::Values("#include \"/etc/passwd\"", "#include </etc/passwd>", "#include \"../x\"",
                                           "#include <a/../../x>", "#include \"a/..\"", "#include MACRO",
                                           "#include MACRO(\"x\")", "#include", "%:include \"/x\"",
                                           "# /* */ include /* */ \"/x\"", "/* */ #include \"/x\"",
                                           "#inc\\\nlude \"/x\"", "#include \\  \r\n\"/x\"",
                                           "// hidden from us, not from all \\  \n#include \"/x\"",
                                           "R\"(/*)\"; */ #include \"/x\"", "#include_next \"/x\"", "#import \"/x\"",
                                           "#embed \"/x\"", "#include \"a\\b\"", "#include /* open\n*/ \"/x\""));

TEST(TemplateSource, AForbiddenIncludeIsRefusedInSourceAndHeader) {
  const auto direct = read_template_source("x.cu", reader({{"x.cu", "#include \"../secret\"\n"}}), {});
  ASSERT_FALSE(direct);
  EXPECT_THAT(direct.error().text(), HasSubstr("x.cu has '#include \"../secret\"'"));
  const auto nested = read_template_source(
      "x.cu", reader({{"x.cu", "#include \"a.cuh\"\n"}, {"a.cuh", "#include </etc/passwd>\n"}}), {});
  ASSERT_FALSE(nested);
  EXPECT_THAT(nested.error().text(), HasSubstr("a.cuh has '#include </etc/passwd>'"));
}

TEST(TemplateSource, TheSourceIsARelativeCudaFile) {
  for (const char* path : {"/etc/passwd", "/tmp/x.cu", "x.txt", "x", ""}) {
    const auto source = read_template_source(path, reader({{path, ""}}), {});
    ASSERT_FALSE(source) << path;
    EXPECT_THAT(source.error().text(), HasSubstr(".cu file")) << path;
  }
}

class TemplateLinks : public ::testing::Test {
 protected:
  TemplateLinks() {
    fs::create_directories(folder_ / "mine" / "device");
    write("mine/t.json", testing::sample_json().dump());
    write("secret.cuh", "// secret\n");
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  Result<TemplateDefinition> load() { return load_template(folder_ / "mine" / "t.json", {}); }

  const support::ScratchFolder folder_;
};

TEST_F(TemplateLinks, AHeaderThatLinksOutOfTheFolderIsRefused) {
  fs::create_directory(folder_ / "templates");
  write("templates/sample.cu", "#include \"a.cuh\"\n");
  fs::create_symlink(folder_ / "secret.cuh", folder_ / "templates" / "a.cuh");
  const auto refused = load();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("outside the template's folder"));

  fs::remove(folder_ / "templates" / "a.cuh");
  write("templates/b.cuh", "// fine\n");
  fs::create_symlink("b.cuh", folder_ / "templates" / "a.cuh");
  EXPECT_TRUE(load()) << load().error().text();
}

TEST_F(TemplateLinks, ASourceThatLinksOutOfItsFolderIsRefused) {
  fs::create_directory(folder_ / "templates");
  fs::create_symlink(folder_ / "secret.cuh", folder_ / "templates" / "sample.cu");
  const auto refused = load();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("outside the template's folder"));
}

}  // namespace
}  // namespace pgtune::space
