// SPDX-License-Identifier: MIT
// What `pgtune doctor` makes of a worker's answer.
#include "tool/pgtune/doctor/doctor_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/tool/doctor_facts.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;
using test::good_facts;
using ::testing::AllOf;
using ::testing::HasSubstr;

Check check_of(const json& facts, const std::string& name) {
  const auto checks = gpu_checks(facts);
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const Check& check) { return check.name == name; });
  return found == checks.end() ? Check{"no check", CheckState::kMissing, "", ""} : *found;
}

TEST(DoctorGpu, AMachineWithEverything) {
  const auto checks = gpu_checks(good_facts());
  EXPECT_EQ(checks.size(), 12U);
  for (const Check& check : checks) {
    EXPECT_EQ(check.state, CheckState::kOk) << check.name;
    EXPECT_EQ(check.remedy, "") << check.name;
  }
  EXPECT_EQ(check_of(good_facts(), "driver").finding, "580.65.06, up to CUDA 13.0");
  EXPECT_EQ(check_of(good_facts(), "GPU").finding, "NVIDIA H200, sm_90a, number 1 of 2");
  EXPECT_EQ(check_of(good_facts(), "NVML").finding, "energy counter, temperature");
  EXPECT_EQ(check_of(good_facts(), "energy counter").finding, "moves every 100 ms: windows of 5.0 s or more");
  EXPECT_EQ(check_of(good_facts(), "event floor").finding, "2.1 us between two events with nothing between");
  EXPECT_EQ(check_of(good_facts(), "globaltimer").finding, "steps of 32 ns");
  EXPECT_THAT(check_of(good_facts(), "lock clocks").finding, HasSubstr("345 to 1980 MHz, 1485 by default"));
}

TEST(DoctorGpu, NoDriver) {
  json facts = good_facts();
  facts.erase("gpu");
  facts["gpus"] = json::array();
  facts["driver"] = {{"cuda", ""}, {"version", ""}};
  facts["problem"] = "no NVIDIA driver on this machine; install one";
  const Check driver = check_of(facts, "driver");
  EXPECT_EQ(driver.state, CheckState::kMissing);
  EXPECT_EQ(driver.finding, "no NVIDIA driver on this machine");
  EXPECT_EQ(driver.remedy, "install one");
  EXPECT_EQ(check_of(facts, "GPU").state, CheckState::kMissing);
  EXPECT_EQ(check_of(facts, "NVML").name, "no check");
}

TEST(DoctorGpu, ADriverThatShowsNoGpu) {
  json facts = good_facts();
  facts.erase("gpu");
  facts["problem"] = "the NVIDIA driver finds no GPU; check that nvidia-smi lists one";
  EXPECT_EQ(check_of(facts, "driver").state, CheckState::kOk);
  EXPECT_EQ(check_of(facts, "GPU").state, CheckState::kMissing);
  EXPECT_EQ(check_of(facts, "GPU").remedy, "check that nvidia-smi lists one");
}

TEST(DoctorGpu, AGpuThatIsNotThere) {
  json facts = good_facts();
  facts.erase("gpu");
  facts["gpu_problem"] = "there is no GPU 7: this machine shows 2 (0 to 1)";
  EXPECT_EQ(check_of(facts, "GPU").state, CheckState::kMissing);
  EXPECT_THAT(check_of(facts, "GPU").finding, HasSubstr("no GPU 7"));
}

TEST(DoctorGpu, LibrariesThatDoNotWorkAreMissingAndHeadersANote) {
  json facts = good_facts();
  facts["nvrtc"] = {{"version", "13.0"}, {"problem", "NVRTC does not compile: no builtins; install them"}};
  facts["cublaslt"] = {{"problem", "cannot load libcublasLt.so.13; install cuBLAS"}};
  EXPECT_EQ(check_of(facts, "NVRTC").state, CheckState::kMissing);
  EXPECT_EQ(check_of(facts, "NVRTC").remedy, "install them");
  EXPECT_EQ(check_of(facts, "cuBLASLt").state, CheckState::kMissing);
  EXPECT_EQ(check_of(facts, "CUDA headers").state, CheckState::kNote);
  EXPECT_THAT(check_of(facts, "CUDA headers").remedy, HasSubstr("CUDA_HOME"));
}

TEST(DoctorGpu, WithoutNvmlItIsOneNote) {
  json facts = good_facts();
  facts["nvml"] = {{"problem", "cannot open NVML: no such file"}};
  EXPECT_EQ(check_of(facts, "NVML").state, CheckState::kNote);
  EXPECT_THAT(check_of(facts, "NVML").remedy, HasSubstr("libnvidia-ml.so.1"));
  EXPECT_EQ(check_of(facts, "energy counter").name, "no check");
  EXPECT_EQ(check_of(facts, "event floor").state, CheckState::kOk);
}

TEST(DoctorGpu, FieldsThatAreNotSupported) {
  json facts = good_facts();
  facts["nvml"]["fields"]["energy counter"] = false;
  facts["nvml"].erase("energy_step_s");
  EXPECT_THAT(check_of(facts, "NVML").finding, HasSubstr("does not say: energy counter"));
  EXPECT_EQ(check_of(facts, "energy counter").finding, "this GPU has none");
  facts["nvml"]["fields"]["energy counter"] = true;
  EXPECT_EQ(check_of(facts, "energy counter").finding, "did not move within a second");
}

TEST(DoctorGpu, LockingWithoutBeingRoot) {
  json facts = good_facts();
  facts["administrator"] = false;
  const Check check = check_of(facts, "lock clocks");
  EXPECT_EQ(check.state, CheckState::kNote);
  EXPECT_THAT(check.remedy, HasSubstr("sudo nvidia-smi -i GPU-0b -lgc 1485,1485"));
}

TEST(DoctorGpu, OtherProcesses) {
  json facts = good_facts();
  facts["nvml"]["processes"] = {{{"pid", 4711}, {"memory_bytes", std::int64_t{3} << 30}, {"name", "python3"}},
                                {{"pid", 5}, {"memory_bytes", 0}}};
  const Check check = check_of(facts, "other processes");
  EXPECT_EQ(check.state, CheckState::kNote);
  EXPECT_EQ(check.finding, "on this GPU: 4711 (python3, 3072 MiB), 5");
}

TEST(DoctorGpu, AGpuThatCannotBeOpenedIsMissing) {
  json facts = good_facts();
  facts["timers"] = {{"problem", "opening the GPU: out of memory (cudaErrorMemoryAllocation)"}};
  EXPECT_EQ(check_of(facts, "timers").state, CheckState::kMissing);
}

TEST(DoctorGpu, AnAnswerOfAnotherKindThrows) {
  EXPECT_THROW(static_cast<void>(gpu_checks({{"devices", 1}})), json::exception);
}

TEST(DoctorGpu, WithoutAWorkerOnlyTheDriversFolderTells) {
  const Error problem{ErrorKind::kEnvironment, "there is no worker program at 'x'. Build it", {}};
  auto checks = checks_without_worker(problem, "/nonexistent/nvidia");
  ASSERT_EQ(checks.size(), 3U);
  EXPECT_EQ(checks[0].state, CheckState::kMissing);
  EXPECT_EQ(checks[0].remedy, "Build it");
  EXPECT_EQ(checks[1].state, CheckState::kMissing);
  EXPECT_THAT(checks[1].remedy, HasSubstr("prints recorded answers"));
  checks = checks_without_worker(problem, "/proc");
  EXPECT_EQ(checks[1].state, CheckState::kOk);
}

}  // namespace
}  // namespace pgtune::tool
