// SPDX-License-Identifier: MIT
// Where CUDA's libraries are looked for, and which of several is taken. Needs neither CUDA's libraries nor a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Libraries : public ::testing::Test {
 protected:
  std::vector<LibraryPlace> places(const std::string& executable = "opt/bin/pgtune-worker") const {
    const Environment environment = [this](const char* name) -> std::optional<std::string> {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt : std::optional(found->second);
    };
    return library_places(environment, path(executable), {path("built")});
  }
  static LibraryPlace place(const std::vector<LibraryPlace>& all, const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const LibraryPlace& p) { return p.name == name; });
    return found == all.end() ? LibraryPlace{"none of this name", {}} : *found;
  }
  fs::path path(const std::string& below) const { return folder_.path() / "a folder" / below; }
  fs::path make_folder(const std::string& below) const {
    fs::create_directories(path(below));
    return path(below);
  }
  /// A library `file` whose mark() is that of the program's, tests/gpu/marked_library.cpp.
  void put_library(const std::string& folder, const std::string& file, const char* which) const {
    fs::copy_file(which, make_folder(folder) / file);
  }
  static Result<OpenedLibrary> open(const std::vector<LibraryPlace>& where) {
    const auto objection = [](void* handle) -> std::string {
      return function_of<&declared_mark>(handle, "mark")() == 1 ? "" : "is too old";
    };
    return open_cuda_library({"Marked", "libmarked", "", objection}, where);
  }
  static int declared_mark() { return 0; }

  TestFolder folder_;
  std::map<std::string, std::string> environment_;
};

TEST_F(Libraries, PlacesKeepTheirOrderWhateverApplies) {
  std::vector<std::string> names;
  for (const LibraryPlace& place : places()) names.push_back(place.name);
  EXPECT_THAT(names,
              ElementsAre("PGTUNE_CUDA_HOME", "wheels beside pgtune", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH",
                          "build's toolkit", "/usr/local/cuda", "dynamic loader", "VIRTUAL_ENV", "CONDA_PREFIX"));
  for (const char* unset : {"PGTUNE_CUDA_HOME", "wheels beside pgtune", "CUDA_HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV"})
    EXPECT_THAT(place(places(), unset).folders, IsEmpty()) << unset;
  EXPECT_THAT(place(places(), "build's toolkit").folders, ElementsAre(path("built")));
}

TEST_F(Libraries, WheelsOfTheEnvironmentThatHoldsTheProgram) {
  const fs::path blas = make_folder("venv/lib/python3.11/site-packages/nvidia/cublas/lib");
  const fs::path thirteen = make_folder("venv/lib/python3.11/site-packages/nvidia/cu13/lib");
  make_folder("venv/lib/python3.11/site-packages/nvidia/empty");
  EXPECT_THAT(place(places("venv/bin/pgtune-worker"), "wheels beside pgtune").folders, ElementsAre(thirteen, blas));
  EXPECT_THAT(place(places("venv/libexec/pgtune/pgtune-worker"), "wheels beside pgtune").folders,
              ElementsAre(thirteen, blas));
  EXPECT_THAT(place(places("venv/a/b/c/pgtune-worker"), "wheels beside pgtune").folders, IsEmpty());
  environment_["VIRTUAL_ENV"] = path("venv").string();
  EXPECT_THAT(place(places(), "VIRTUAL_ENV").folders, ::testing::Contains(blas));
}

TEST_F(Libraries, RelativeFoldersAreNoPlace) {
  environment_ = {{"PGTUNE_CUDA_HOME", "."}, {"CUDA_HOME", "cuda"}, {"LD_LIBRARY_PATH", "lib::/absolute:."}};
  EXPECT_THAT(place(places(), "PGTUNE_CUDA_HOME").folders, IsEmpty());
  EXPECT_THAT(place(places(), "CUDA_HOME").folders, IsEmpty());
  EXPECT_THAT(place(places(), "LD_LIBRARY_PATH").folders, ElementsAre("/absolute"));
}

TEST_F(Libraries, TheFirstThatWillDoIsTaken) {
  put_library("old", "libmarked.so.13", PGTUNE_OLD_LIBRARY);
  put_library("twelve", "libmarked.so.12", PGTUNE_GOOD_LIBRARY);
  put_library("thirteen", "libmarked.so.13", PGTUNE_GOOD_LIBRARY);
  std::ofstream(make_folder("text") / "libmarked.so.13") << "no library";
  const LibraryPlace none{"none", {path("absent")}}, old{"old", {path("old")}}, text{"text", {path("text")}},
      twelve{"twelve", {path("twelve")}}, thirteen{"thirteen", {path("thirteen")}};

  const auto first = open({none, old, text, twelve, thirteen});
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(first->place, "twelve");
  EXPECT_EQ(first->path, fs::canonical(path("twelve/libmarked.so.12")));
  EXPECT_EQ(open({thirteen, twelve})->place, "thirteen");

  const auto refused = open({none, old, text});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(refused.error().text(),
              ::testing::AllOf(HasSubstr("old/libmarked.so.13 is too old"), HasSubstr("text/libmarked.so.13"),
                               HasSubstr("PGTUNE_CUDA_HOME")));
}

}  // namespace
}  // namespace pgtune::gpu
