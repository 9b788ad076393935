// SPDX-License-Identifier: MIT
// The worker's doctor role, on whatever machine this is: a GPU may be missing, an answer may not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

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
