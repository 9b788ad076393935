// SPDX-License-Identifier: MIT
#include "tuner/device/device_list.hpp"

#include <gmock/gmock.h>

#include "tests/device/fake_worker_test.hpp"

namespace pgtune::device {
namespace {

using testing::HasSubstr;

class DeviceList : public FakeWorkerTest {
 protected:
  static std::string error_text() {
    const auto devices = list_devices(worker_path());
    if (devices) return "no error";
    EXPECT_EQ(devices.error().kind, ErrorKind::kEnvironment);
    return devices.error().text();
  }
};

TEST_F(DeviceList, HasTheWorkersGpus) {
  const auto devices = list_devices(worker_path());
  ASSERT_TRUE(devices) << devices.error().text();
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().name, "Fake GPU");
  EXPECT_EQ(devices->front().sm_count, 132);
}

TEST_F(DeviceList, AGpusLimitsAreTheWorkers) {
  const auto limits = gpu_limits(worker_path(), "GPU-1");
  ASSERT_TRUE(limits) << limits.error().text();
  EXPECT_EQ(limits->power_limit_w, 700);
  EXPECT_TRUE(limits->mig_mode);
  EXPECT_THAT(gpu_limits("/nonexistent/pgtune-worker", "GPU-1").error().text(),
              HasSubstr("cannot read the GPU's limits"));
  EXPECT_THAT(gpu_processes("/nonexistent/pgtune-worker", "GPU-1").error().text(),
              HasSubstr("cannot list the processes on GPU GPU-1"));
}

TEST_F(DeviceList, LimitsWithoutBothFieldsOrOfOtherTypesAreRefused) {
  const auto worker = folder_ / "worker";
  for (const char* answer :
       {"{}", R"({"power_limit_w": 700})", R"({"mig_mode": true})", "700", "no JSON",
        R"({"power_limit_w": "700", "mig_mode": true})", R"({"power_limit_w": 700, "mig_mode": 1})"}) {
    std::ofstream(worker) << "#!/bin/sh\necho '" << answer << "'\n";
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
    const auto limits = gpu_limits(worker, "GPU-1");
    ASSERT_FALSE(limits) << answer;
    EXPECT_EQ(limits.error().text(), std::string("cannot read the limits of GPU GPU-1: ") + answer);
  }
}

TEST_F(DeviceList, PassesTheWorkersProblemOn) {
  set_faults("list||no_devices");
  EXPECT_EQ(error_text(), "fake: no driver is loaded. Install one");
}

TEST_F(DeviceList, SaysHowTheWorkerFailed) {
  set_faults("list||segv");
  EXPECT_THAT(error_text(), HasSubstr("killed by signal 11 (SIGSEGV)"));
  set_faults("list||exit3");
  EXPECT_THAT(error_text(), HasSubstr("exited with 3: fake: out of luck"));
  set_faults("list||garbage");
  EXPECT_THAT(error_text(), HasSubstr("not understood"));
  set_faults("list||huge");
  EXPECT_THAT(error_text(), HasSubstr("does not end its answer"));
}

TEST_F(DeviceList, AMissingWorkerNamesPathAndRemedy) {
  const auto devices = list_devices("/nonexistent/pgtune-worker");
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(devices.error().text(),
              AllOf(HasSubstr("/nonexistent/pgtune-worker"), HasSubstr("CUDA Toolkit"), HasSubstr("PGTUNE_WORKER")));
}

}  // namespace
}  // namespace pgtune::device
