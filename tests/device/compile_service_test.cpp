// SPDX-License-Identifier: MIT
#include "tuner/device/compile_service.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "tests/device/fake_worker_test.hpp"

namespace pgtune::device {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

class CompileServiceTest : public FakeWorkerTest {
 protected:
  [[nodiscard]] std::unique_ptr<CompileService> service(std::size_t jobs) const {
    return std::make_unique<CompileService>(
        CompilePool::Options{.worker_path = worker_path(), .cache_dir = folder_.string(), .jobs = jobs});
  }
  /// Waits for `count` builds; their ids in order.
  static Result<std::vector<protocol::RequestId>> take(CompileService::Client& client, std::size_t count) {
    std::vector<protocol::Event> events;
    for (;;) {
      if (auto polled = client.poll(events); !polled) return tl::unexpected<Error>(polled.error());
      if (events.size() >= count) break;
      std::vector<pollfd> fds;
      client.add_poll_fds(fds);
      static_cast<void>(wait_ready(fds, SteadyClock::now() + std::chrono::seconds(30)));
    }
    std::vector<protocol::RequestId> ids;
    for (const protocol::Event& event : events) ids.push_back(std::get<protocol::BuildDone>(event).id);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  [[nodiscard]] std::vector<std::string> built() const {
    std::vector<std::string> keys;
    for (const LoggedRequest& request : log()) {
      if (request.op == "build") keys.push_back(request.key);
    }
    return keys;
  }
  [[nodiscard]] std::size_t workers() const {
    std::vector<pid_t> pids;
    for (const LoggedRequest& request : log()) {
      if (request.role == "compile" && std::find(pids.begin(), pids.end(), request.pid) == pids.end())
        pids.push_back(request.pid);
    }
    return pids.size();
  }
};

TEST_F(CompileServiceTest, DevicesInTheirThreadsShareTheWorkersAndEachGetsItsOwnBuilds) {
  const auto service = this->service(2);
  std::vector<std::thread> threads;
  std::vector<std::vector<protocol::RequestId>> taken(4);
  for (int device = 0; device < 4; ++device) {
    threads.emplace_back([&, device] {
      const auto client = service->client();
      EXPECT_EQ(client->slots(), 4U);
      for (const int id : {1, 2, 3}) client->submit(build_request(id, 100 * device + id));  // ids need not differ
      taken[static_cast<std::size_t>(device)] = take(*client, 3).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& ids : taken) EXPECT_THAT(ids, ElementsAre(1, 2, 3));
  EXPECT_EQ(built().size(), 12U);
  EXPECT_LE(workers(), 2U);
}

TEST_F(CompileServiceTest, DevicesTakeTurns) {
  set_faults("build|BM=16,|slow");  // holds the one worker while the others queue up
  const auto service = this->service(1);
  const auto first = service->client(), second = service->client();
  first->submit(build_request(1, 16));
  while (built().empty()) std::this_thread::sleep_for(milliseconds(2));
  for (const int id : {2, 3, 4, 5}) first->submit(build_request(id, 32));
  second->submit(build_request(1, 64));
  EXPECT_THAT(take(*second, 1).value(), ElementsAre(1));
  EXPECT_EQ(take(*first, 5).value().size(), 5U);
  const auto keys = built();
  const auto place = std::find(keys.begin(), keys.end(), variant(64).key()) - keys.begin();
  EXPECT_LE(place, 3) << "behind all builds of the other device";
}

TEST_F(CompileServiceTest, WhatIsWrongWithTheWorkersIsToldToEveryDevice) {
  set_faults("hello||exit3");
  const auto service = this->service(2);
  const auto first = service->client(), second = service->client();
  first->submit(build_request(1, 16));
  const auto reason = [](const Result<std::vector<protocol::RequestId>>& taken) {
    return taken ? std::string("no error") : taken.error().text();
  };
  EXPECT_THAT(reason(take(*first, 1)), HasSubstr("3 compile workers in a row failed"));
  EXPECT_THAT(reason(take(*second, 1)), HasSubstr("3 compile workers in a row failed"));
  EXPECT_THAT(reason(take(*service->client(), 1)), HasSubstr("3 compile workers in a row failed"));
}

TEST_F(CompileServiceTest, ADeviceThatIsClosedLeavesItsBuildsBehind) {
  set_faults("build|BM=16,|slow");
  const auto service = this->service(1);
  {
    const auto closed = service->client();
    for (const int id : {1, 2, 3, 4, 5}) closed->submit(build_request(id, 16));
    while (built().empty()) std::this_thread::sleep_for(milliseconds(2));
  }
  const auto client = service->client();
  client->submit(build_request(7, 32));
  EXPECT_THAT(take(*client, 1).value(), ElementsAre(7));
  EXPECT_LT(built().size(), 5U) << "what was not handed out yet is not built";
}

TEST_F(CompileServiceTest, ItsEndIsTheEndOfItsWorkers) {
  set_faults("build||hang");
  const std::size_t before = open_descriptors();
  {
    const auto service = this->service(2);
    const auto client = service->client();
    client->submit(build_request(1, 16));
    while (built().empty()) std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_EQ(open_descriptors(), before);
  for (const LoggedRequest& request : log()) EXPECT_NE(::kill(request.pid, 0), 0) << request.role;
}

TEST(CompileJobs, OneACoreAsFarAsMemoryHolds) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  EXPECT_EQ(default_compile_jobs(16, std::nullopt, 2 * kGiB), 16U);
  EXPECT_EQ(default_compile_jobs(16, 100 * kGiB, 2 * kGiB), 16U);
  EXPECT_EQ(default_compile_jobs(16, 13 * kGiB, 2 * kGiB), 6U);
  EXPECT_EQ(default_compile_jobs(16, kGiB, 2 * kGiB), 1U);
  EXPECT_EQ(default_compile_jobs(0, 100 * kGiB, 2 * kGiB), 1U) << "of an unknown number of cores";
}

}  // namespace
}  // namespace pgtune::device
