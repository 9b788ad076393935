// SPDX-License-Identifier: MIT
// Templates on disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_folder.hpp"
#include "tests/template/sample_template.hpp"

namespace pgtune::space {
namespace {

using ::testing::HasSubstr;

class TemplateFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "configs");
    std::filesystem::create_directories(folder_ / "templates/device");
    write("configs/sample.json", testing::sample_json().dump());
    write("templates/sample.cu", "#include \"device/x.cuh\"\n");
    write("templates/device/x.cuh", "// on disk\n");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] Result<TemplateDefinition> load() const {
    return load_template(folder_ / "configs/sample.json", testing::reader({{"device/x.cuh", "// shipped\n"}}));
  }

  const support::ScratchFolder folder_;
};

TEST_F(TemplateFiles, LoadsRelativeToTheJson) {
  const auto loaded = load();
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->source->headers.at(0), (SourceFile{"device/x.cuh", "// on disk\n"}));
}

TEST_F(TemplateFiles, LoadsRelativeToTheWorkingDirectory) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / "configs");
  const auto loaded = load_template("sample.json", {});
  std::filesystem::current_path(before);
  EXPECT_TRUE(loaded) << loaded.error().text();
}

TEST_F(TemplateFiles, FallsBackToShippedHeaders) {
  std::filesystem::remove(folder_ / "templates/device/x.cuh");
  const auto loaded = load();
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->source->headers.at(0).contents, "// shipped\n");
}

TEST_F(TemplateFiles, MissingFilesAreNamed) {
  std::filesystem::remove(folder_ / "templates/sample.cu");
  EXPECT_THAT(load().error().text(), HasSubstr("source: there is no file '"));
  const auto loaded = load_template(folder_ / "configs/none.json", {});
  EXPECT_THAT(loaded.error().text(), HasSubstr("configs/none.json'"));
  EXPECT_EQ(loaded.error().kind, ErrorKind::kUsage);
}

TEST_F(TemplateFiles, OnlyRegularFilesAreRead) {
  EXPECT_THAT(load_template(folder_ / "configs", {}).error().text(), HasSubstr("is not a regular file"));
  EXPECT_THAT(load_template("/dev/zero", {}).error().text(), HasSubstr("is not a regular file"));
}

TEST_F(TemplateFiles, EmptyFilesAreSyntaxErrors) {
  write("configs/sample.json", "");
  EXPECT_THAT(load().error().text(), HasSubstr("sample.json:1:1: "));
}

}  // namespace
}  // namespace pgtune::space
