// SPDX-License-Identifier: MIT
// Chains through a worker that dies, hangs or is wrong: what becomes of them is an outcome.
#include "tuner/device/worker_chain_device.hpp"

#include <gmock/gmock.h>

#include "tests/device/fake_worker_test.hpp"
#include "tests/device/sample_chain.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::device {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class WorkerChainDeviceTest : public FakeWorkerTest {
 protected:
  [[nodiscard]] static std::unique_ptr<WorkerChainDevice> open(milliseconds timeout = milliseconds(60'000)) {
    auto device = WorkerChainDevice::open({.worker_path = worker_path(), .gpu = "0", .request_timeout = timeout});
    EXPECT_TRUE(device) << device.error().text();
    const auto prepared = (*device)->prepare({test::two_products(), {}, test::kernels_of_two_products()});
    EXPECT_TRUE(prepared) << prepared.error().text();
    return std::move(*device);
  }
  static protocol::ChainRound round_of_three() {
    protocol::ChainRound request;
    request.contenders = {{std::nullopt, false}, {std::nullopt, true}, {1, false}};
    request.order = {2, 0, 1};
    request.round = 4;
    request.sample_s = 0.02;
    return request;
  }
  [[nodiscard]] std::string operations() const {
    std::string out;
    for (const LoggedRequest& request : log()) out += request.role + "." + request.op + " ";
    return out;
  }
};

TEST_F(WorkerChainDeviceTest, ChecksAndTimesWhatWasPrepared) {
  const auto device = open();
  EXPECT_EQ(device->info().name, "Fake GPU");
  const auto check = device->check({true});
  ASSERT_TRUE(check) << check.error().text();
  EXPECT_EQ(check->outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(check->steps.size(), 2);
  EXPECT_EQ(check->programmatic_edges, 3);
  const auto report = device->round(round_of_three());
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_TRUE(report->samples[0] && report->samples[1] && report->samples[2]);
  EXPECT_EQ(report->samples[2]->position, 0);
  EXPECT_EQ(report->samples[0]->round, 4);
  EXPECT_LT(report->samples[1]->time_s, report->samples[0]->time_s);
}

TEST_F(WorkerChainDeviceTest, AWorkerThatDiesIsReplacedAndPreparedAgain) {
  set_faults("check|overlapping|segv");
  const auto device = open();
  EXPECT_EQ(device->check({false})->outcome.kind, OutcomeKind::kOk);
  const auto crashed = device->check({true});
  ASSERT_TRUE(crashed);
  EXPECT_EQ(crashed->outcome.kind, OutcomeKind::kCrashed);
  EXPECT_THAT(crashed->outcome.reason, HasSubstr("chain worker"));
  EXPECT_EQ(device->check({false})->outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(operations(), "chain.hello chain.prepare chain.check chain.check chain.hello chain.prepare chain.check ");
}

TEST_F(WorkerChainDeviceTest, OneThatHangsIsEnded) {
  set_faults("check||hang");
  const auto device = open(milliseconds(300));
  const auto check = device->check({false});
  ASSERT_TRUE(check);
  EXPECT_EQ(check->outcome.kind, OutcomeKind::kTimeout);
}

TEST_F(WorkerChainDeviceTest, ARoundThatLosesTheContextIsNobodysSample) {
  set_faults("round||context_lost");
  const auto device = open();
  const auto report = device->round(round_of_three());
  ASSERT_TRUE(report) << report.error().text();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(report->samples[i]);
    EXPECT_EQ(report->outcomes[i].kind, OutcomeKind::kCrashed);
    EXPECT_THAT(report->outcomes[i].reason, HasSubstr("illegal memory access"));
  }
}

TEST_F(WorkerChainDeviceTest, WhatCannotBePreparedIsAnError) {
  const auto device = open();
  Chain chain = test::two_products();
  chain.steps[1].buffers[0] = 77;
  const auto prepared = device->prepare({chain, {}, test::kernels_of_two_products()});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(prepared.error().text(), HasSubstr("no buffer 77"));
}

TEST_F(WorkerChainDeviceTest, AWorkerWithoutAGpuIsRefusedWithItsReason) {
  const auto device = WorkerChainDevice::open({.worker_path = worker_path(), .gpu = "7"});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(device.error().text(), HasSubstr("GPU 7"));
}

}  // namespace
}  // namespace pgtune::device
