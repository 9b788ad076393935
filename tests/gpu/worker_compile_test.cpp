// SPDX-License-Identifier: MIT
// The real pgtune-worker in its compile role: protocol, outcomes, wrong input, its life and death. Needs no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/test_folder.hpp"
#include "tests/gpu/worker_process.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::gpu {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json build_body(const std::string& source) {
  protocol::BuildRequest request;
  request.id = 40;
  request.variant = {"copy", {{"BM", std::int64_t{64}}}};
  request.source = std::make_shared<TemplateSource>(TemplateSource{"copy.cu", source, {}});
  request.defines = {{"BM", "64"}};
  request.architecture = "sm_90a";
  return request;
}

const char* const kCopy =
    "extern \"C\" __global__ void copy(float* a, float* b) { a[threadIdx.x] = b[threadIdx.x * BM]; }";

class CompileWorker : public testing::Test {
 protected:
  [[nodiscard]] protocol::Reply ask(const std::string& op, const json& body = json::object()) {
    const protocol::Request request{++id_, op, body};
    EXPECT_TRUE(worker_.send(protocol::encode(request) + "\n"));
    const auto line = worker_.read_line();
    if (!line) {
      ADD_FAILURE() << "the worker ended: " << worker_.read_errors();
      return {id_, json(), false};
    }
    auto reply = protocol::decode_reply(*line);
    EXPECT_TRUE(reply) << *line;
    EXPECT_EQ(reply->id, id_);
    return *reply;
  }

  const TestFolder folder_;
  WorkerProcess worker_{{"--role", "compile", "--cache-dir", folder_.path().string()}};
  protocol::RequestId id_ = 0;
};

TEST_F(CompileWorker, GreetsAndEndsWithItsInput) {
  const auto reply = ask("hello");
  ASSERT_TRUE(reply.body);
  const auto hello = reply.body->get<protocol::Hello>();
  EXPECT_EQ(hello.protocol, protocol::kProtocolVersion);
  EXPECT_EQ(hello.role, "compile");
  EXPECT_THAT(hello.nvrtc_version, testing::MatchesRegex("[0-9]+\\.[0-9]+"));
  EXPECT_FALSE(hello.device);
  worker_.close_input();
  EXPECT_EQ(worker_.wait(), 0);
  EXPECT_EQ(worker_.read_errors(), "");
}

TEST_F(CompileWorker, BuildsThenFindsTheBuild) {
  ASSERT_TRUE(ask("hello").body);
  const auto reply = ask("build", build_body(kCopy));
  ASSERT_TRUE(reply.body) << reply.body.error().text();
  const auto done = reply.body->get<protocol::BuildDone>();
  EXPECT_EQ(done.id, 40);
  EXPECT_EQ(done.outcome.kind, OutcomeKind::kOk);
  EXPECT_TRUE(std::filesystem::exists(done.build.cubin_path));
  EXPECT_GT(done.build.registers, 0);

  const auto again = ask("build", build_body(kCopy)).body->get<protocol::BuildDone>();
  EXPECT_TRUE(again.build.cached);
  EXPECT_EQ(again.build.cubin_hash, done.build.cubin_hash);
}

TEST_F(CompileWorker, FailedVariantIsAnOutcomeAndTheWorkerGoesOn) {
  ASSERT_TRUE(ask("hello").body);
  const auto failed = ask("build", build_body("nonsense;")).body->get<protocol::BuildDone>();
  EXPECT_EQ(failed.outcome.kind, OutcomeKind::kCompileFailed);
  EXPECT_THAT(failed.outcome.reason, HasSubstr("copy.cu(1): error"));
  EXPECT_EQ(ask("build", build_body(kCopy)).body->get<protocol::BuildDone>().outcome.kind, OutcomeKind::kOk);
}

TEST_F(CompileWorker, RefusesAnythingBeforeHello) {
  const auto reply = ask("build", build_body(kCopy));
  ASSERT_FALSE(reply.body);
  EXPECT_THAT(reply.body.error().message, HasSubstr("before 'hello'"));
  EXPECT_TRUE(ask("hello").body);
}

TEST_F(CompileWorker, AnswersRequestsItCannotHandleWithAnError) {
  ASSERT_TRUE(ask("hello").body);
  EXPECT_THAT(ask("trial").body.error().message, HasSubstr("no operation 'trial'"));
  EXPECT_THAT(ask("build", {{"id", 1}}).body.error().message, HasSubstr("malformed 'build' request"));
  EXPECT_TRUE(ask("build", build_body(kCopy)).body);
}

TEST_F(CompileWorker, EndsOnALineThatIsNoRequest) {
  ASSERT_TRUE(ask("hello").body);
  ASSERT_TRUE(worker_.send("{\"id\": 2\n"));
  EXPECT_EQ(worker_.read_line(), std::nullopt);
  EXPECT_EQ(worker_.wait(), 1);
  EXPECT_THAT(worker_.read_errors(), HasSubstr("malformed request"));
}

TEST_F(CompileWorker, EndsOnALineThatIsTooLong) {
  ASSERT_TRUE(ask("hello").body);
  // The worker may stop reading before all of it is sent.
  worker_.send(std::string(protocol::kMaxLineBytes + 2, 'x'));
  EXPECT_EQ(worker_.read_line(), std::nullopt);
  EXPECT_EQ(worker_.wait(), 1);
  EXPECT_THAT(worker_.read_errors(), HasSubstr("longer than"));
}

TEST_F(CompileWorker, DropsAnUnfinishedLastLine) {
  ASSERT_TRUE(ask("hello").body);
  ASSERT_TRUE(worker_.send("{\"id\": 2, \"op\""));
  worker_.close_input();
  EXPECT_EQ(worker_.wait(), 0);
}

TEST_F(CompileWorker, LeavesCtrlCToItsParent) {
  ASSERT_TRUE(ask("hello").body);
  ::kill(worker_.pid(), SIGINT);
  EXPECT_TRUE(ask("hello").body);
}

TEST(CompileWorkerStart, UnusableCacheFolderIsTheAnswerToHello) {
  WorkerProcess worker({"--role", "compile", "--cache-dir", "/proc/no_such_folder"});
  ASSERT_TRUE(worker.send(protocol::encode(protocol::Request{1, "hello", json::object()}) + "\n"));
  const auto line = worker.read_line();
  ASSERT_TRUE(line);
  const auto reply = protocol::decode_reply(*line);
  ASSERT_TRUE(reply);
  ASSERT_FALSE(reply->body);
  EXPECT_EQ(reply->body.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(reply->body.error().message, HasSubstr("PGTUNE_CACHE_DIR"));
  EXPECT_EQ(worker.wait(), 3);
}

TEST(WorkerOptions, WrongUseIsRefusedWithTheReason) {
  const std::array<std::pair<std::vector<std::string>, std::string>, 9> cases{{
      {{}, "--role is missing"},
      {{"--role", "tune"}, "it must be one of compile, measure, list, limits, processes, guard, doctor, consumer"},
      {{"--role", "consumer", "--gpu", "GPU-1"}, "the consumer role needs --library"},
      {{"--role", "list", "--library", "x.so"}, "and no other takes it"},
      {{"--role"}, "--role needs a value"},
      {{"--role", "compile"}, "--cache-dir"},
      {{"--role", "measure"}, "--gpu"},
      {{"--fast", "1"}, "unknown option '--fast'"},
      {{"--role", "list", "--input", "requests"}, "only the measure role takes --input"},
  }};
  for (const auto& [arguments, message] : cases) {
    WorkerProcess worker(arguments);
    EXPECT_EQ(worker.read_line(), std::nullopt);
    EXPECT_EQ(worker.wait(), 2);
    EXPECT_THAT(worker.read_errors(), HasSubstr(message));
  }
}

TEST(WorkerLife, DiesWithItsParent) {
  // This process adopts orphans while a child starts a worker and dies; the worker's input stays open here.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const TestFolder folder;
  std::array<int, 2> pid_pipe{}, input{};
  ASSERT_EQ(::pipe(pid_pipe.data()), 0);
  ASSERT_EQ(::pipe(input.data()), 0);
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    WorkerProcess worker({"--role", "compile", "--cache-dir", folder.path().string()});
    worker.send(protocol::encode(protocol::Request{1, "hello", json::object()}) + "\n");
    const bool greeted = worker.read_line().has_value();
    // The write end of the worker's input must not close with this process: end of input is another way to end.
    const pid_t holder = ::fork();
    if (holder == 0) {
      std::array<char, 1> byte{};
      ::close(input[1]);
      [[maybe_unused]] const ssize_t done = ::read(input[0], byte.data(), 1);
      ::_exit(0);
    }
    const pid_t pid = greeted ? worker.pid() : -1;
    [[maybe_unused]] const ssize_t written = ::write(pid_pipe[1], &pid, sizeof pid);
    ::kill(::getpid(), SIGKILL);
  }
  pid_t worker = -1;
  ASSERT_EQ(::read(pid_pipe[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  ASSERT_GT(worker, 0);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  int status = 0;
  ASSERT_EQ(::waitpid(worker, &status, 0), worker);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "status " << status;
  for (const int fd : {pid_pipe[0], pid_pipe[1], input[0], input[1]}) ::close(fd);
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
}

}  // namespace
}  // namespace pgtune::gpu
