// SPDX-License-Identifier: MIT
// The worker's doctor role, on whatever machine this is: a GPU may be missing, an answer may not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/gpu/test_folder.hpp"
#include "tests/gpu/worker_process.hpp"

namespace pgtune::gpu {
namespace {

using nlohmann::json;

json doctor(const std::string& gpu) {
  WorkerProcess worker({"--role", "doctor", "--gpu", gpu});
  const auto line = worker.read_line();
  EXPECT_EQ(worker.wait(), 0);
  return line ? json::parse(*line) : json();
}

TEST(WorkerDoctor, AnswersWithWhatIsThereAndWhatIsNot) {
  const json facts = doctor("0");
  EXPECT_FALSE(facts.at("nvrtc").at("version").get<std::string>().empty());
  EXPECT_FALSE(facts.at("nvrtc").contains("problem")) << facts.at("nvrtc");
  EXPECT_TRUE(facts.at("nvrtc").contains("headers"));
  for (const char* library : {"nvrtc", "cublaslt"}) {
    EXPECT_TRUE(std::filesystem::exists(facts.at(library).at("path").get<std::string>()));
    const auto is_its_place = [&](const json& place) { return place.at("name") == facts.at(library).at("place"); };
    const json& places = facts.at("library_places");
    EXPECT_EQ(std::count_if(places.begin(), places.end(), is_its_place), 1) << facts.at(library);
  }
  EXPECT_FALSE(facts.at("cublaslt").contains("problem")) << facts.at("cublaslt");
  EXPECT_TRUE(facts.at("administrator").is_boolean());
  if (facts.at("gpus").empty()) {
    EXPECT_NE(facts.at("problem").get<std::string>(), "");
    EXPECT_FALSE(facts.contains("gpu") || facts.contains("nvml"));
  } else {
    EXPECT_EQ(facts.at("gpu"), 0);
    EXPECT_NE(facts.at("driver").at("cuda"), "");
    EXPECT_GT(facts.at("timers").at("event_floor_s"), 0);
    EXPECT_GT(facts.at("timers").at("globaltimer_step_s"), 0);
    EXPECT_TRUE(facts.at("nvml").contains("fields") || facts.at("nvml").contains("problem"));
  }
}

TEST(WorkerDoctor, TakesTheLibrariesItIsTold) {
  const json before = doctor("0");
  const TestFolder folder;
  const auto chosen = folder.path() / "a toolkit";
  std::filesystem::create_directories(chosen);
  // All of NVRTC: a lone one cannot find its companions.
  const auto from = std::filesystem::path(before.at("nvrtc").at("path").get<std::string>()).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    if (entry.path().filename().string().starts_with("libnvrtc"))
      std::filesystem::create_symlink(entry.path(), chosen / entry.path().filename());
  }
  ::setenv("PGTUNE_CUDA_HOME", chosen.c_str(), 1);
  const json facts = doctor("0");
  ::unsetenv("PGTUNE_CUDA_HOME");
  EXPECT_EQ(facts.at("nvrtc").at("place"), "PGTUNE_CUDA_HOME");
  EXPECT_FALSE(facts.at("nvrtc").contains("problem")) << facts.at("nvrtc");
  EXPECT_EQ(facts.at("cublaslt"), before.at("cublaslt"));
}

/// Many a script links with it and then leaves its folder in LD_LIBRARY_PATH.
TEST(WorkerDoctor, TheToolkitsStubIsNoDriver) {
  const auto stub = std::filesystem::path(PGTUNE_CUDA_STUBS) / "libcuda.so";
  if (!std::filesystem::exists(stub)) GTEST_SKIP() << "this toolkit has no stub";
  const TestFolder folder;
  const auto named = folder.path() / "libcuda.so.1";
  std::filesystem::create_symlink(stub, named);
  const char* const before = std::getenv("LD_LIBRARY_PATH");
  const std::string restored = before != nullptr ? before : "";
  ::setenv("LD_LIBRARY_PATH", folder.path().c_str(), 1);
  const json facts = doctor("0");
  WorkerProcess worker({"--role", "list"});
  const auto line = worker.read_line();
  ::setenv("LD_LIBRARY_PATH", restored.c_str(), 1);
  ASSERT_TRUE(line);
  EXPECT_EQ(json::parse(*line).at("problem"), facts.at("problem"));
  EXPECT_EQ(facts.at("driver").at("cuda"), "") << "a stub says a version, but drives nothing";
  const auto problem = facts.at("problem").get<std::string>();
  EXPECT_NE(problem.find(std::filesystem::canonical(stub).string()), std::string::npos) << problem;
  EXPECT_NE(problem.find("LD_LIBRARY_PATH"), std::string::npos) << problem;
  EXPECT_EQ(problem.find("nvidia-smi"), std::string::npos) << problem;
}

TEST(WorkerDoctor, SurvivesAMissingNvml) {
  ::setenv("PGTUNE_NVML_LIBRARY", "/nonexistent/libnvidia-ml.so.1", 1);
  const json facts = doctor("0");
  ::unsetenv("PGTUNE_NVML_LIBRARY");
  EXPECT_EQ(facts.at("driver").at("version"), "");
  if (facts.contains("gpu")) {
    EXPECT_TRUE(facts.at("nvml").contains("problem"));
  }
}

}  // namespace
}  // namespace pgtune::gpu
