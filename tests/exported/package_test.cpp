// SPDX-License-Identifier: MIT
// The CMake package of an export, and the examples that use it, against a driver that only records.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/exported/sample_export.hpp"
#include "tool/pgtune/export/callable_package.hpp"

namespace pgtune::tool::test {
namespace {

void write_files(const ExportFolder& folder, const std::vector<PackageFile>& files) {
  for (const PackageFile& file : files) {
    std::filesystem::create_directories((folder.path() / "package" / file.path).parent_path());
    folder.write("package/" + file.path, file.text);
  }
}

/// Configures, builds and runs one of the examples with the package in the folder.
std::string run_example(const ExportFolder& folder, const std::string& example, const std::string& options = "") {
  std::string output;
  EXPECT_EQ(
      folder.run(fmt::format("cmake -G Ninja -S '{}/examples/{}' -B '{}' -DCMAKE_PREFIX_PATH=$PWD/package "
                             "-DCMAKE_CXX_FLAGS='{}' -DCMAKE_C_FLAGS='{}' -DCUDA_DRIVER_LIBRARY='{}/libcuda.so.1' "
                             "-Dbest_gemm_CUDA_INCLUDE='{}' {} && cmake --build '{}'",
                             PGTUNE_SOURCE_DIR, example, example, kStrictWarnings, kStrictWarnings,
                             PGTUNE_FAKE_CUDA_FOLDER, PGTUNE_CUDA_INCLUDE, options, example),
                 &output),
      0)
      << output;
  EXPECT_EQ(folder.run(kWithFake + fmt::format("{}/gemm_example", example), &output), 0) << output;
  return output;
}

TEST(ExportedPackage, TheExamplesFindItAndRun) {
  const CallableHeader content = sample_export(3);
  ASSERT_EQ(content.entries.front().problem.dtype, Dtype::kBf16);
  const ExportFolder folder("");
  write_files(folder, write_package(content));
  EXPECT_THAT(run_example(folder, "cmake"), testing::HasSubstr("tuned for this problem on this class of device"));
  EXPECT_THAT(run_example(folder, "cmake", "-Dbest_gemm_HEADER_ONLY=ON"), testing::HasSubstr("tuned for this problem"));
  EXPECT_THAT(run_example(folder, "c", "-DBUILD_SHARED_LIBS=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden"),
              testing::HasSubstr("tuned for this problem"));
}

TEST(ExportedPackage, TheCInterfaceRefusesWhatIsWrong) {
  CallableHeader content = sample_export(3);
  add_families(content);
  const ExportFolder folder("");
  write_files(folder, write_package(content));
  std::string output;
  ASSERT_EQ(
      folder.run(fmt::format("cc -std=c99 {0} -g -fsanitize=address,undefined -Ipackage/include -c "
                             "'{1}/tests/exported/programs/interface.c' && "
                             "c++ -std=c++17 {0} -g -fsanitize=address,undefined -isystem '{2}' -Ipackage/include "
                             "package/src/best_gemm.cpp package/src/best_gemm_c.cpp interface.o "
                             "'{3}/libcuda.so.1' -o interface -pthread -ldl",
                             kStrictWarnings, PGTUNE_SOURCE_DIR, PGTUNE_CUDA_INCLUDE, PGTUNE_FAKE_CUDA_FOLDER),
                 &output),
      0)
      << output;
  EXPECT_EQ(folder.run("ASAN_OPTIONS=detect_leaks=0 " + kWithFake + "./interface", &output), 0) << output;
}

TEST(ExportedPackage, IsTheSameForTheSameContentAndNamedAfterItsNamespace) {
  CallableHeader content = sample_export(3);
  content.name_space = "my::gemm";
  content.file_name = "my_gemm.hpp";
  const std::vector<PackageFile> files = write_package(content), again = write_package(content);
  ASSERT_EQ(files.size(), again.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(files[i].text, again[i].text);
    EXPECT_THAT(files[i].path, testing::HasSubstr("my_gemm"));
    EXPECT_THAT(files[i].text, testing::Not(testing::HasSubstr("pgtune_export")));
    EXPECT_THAT(files[i].text, testing::Not(testing::HasSubstr("PGTUNE_EXPORT")));
  }
  const ExportFolder folder("");
  write_files(folder, files);
  std::string output;
  EXPECT_EQ(folder.run(fmt::format("c++ -std=c++17 {} -isystem '{}' -Ipackage/include -fsyntax-only "
                                   "package/src/my_gemm_c.cpp",
                                   kStrictWarnings, PGTUNE_CUDA_INCLUDE),
                       &output),
            0)
      << output;
}

TEST(ExportedPackage, IncludesItsHeaderWhateverThatAndItsNamespaceAreNamed) {
  CallableHeader content = sample_export(1);
  for (const auto& [name_space, file_name] :
       {std::pair("my_pgtune_export", "my_pgtune_export.hpp"), std::pair("best_gemm", "pgtune_export.hpp"),
        std::pair("my_pgtune_namespace", "PGTUNE_EXPORT.hpp")}) {
    content.name_space = name_space;
    content.file_name = file_name;
    for (const char* file : {"consumer.cpp", "interface.cpp"})
      EXPECT_THAT(package_text(content, file),
                  testing::AllOf(testing::HasSubstr(fmt::format("#include \"{}\"\n", file_name)),
                                 testing::HasSubstr(fmt::format("namespace exported = {};\n", name_space))));
  }
}

}  // namespace
}  // namespace pgtune::tool::test
