// SPDX-License-Identifier: MIT
#include "tuner/device/worker_client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace pgtune::device {
namespace {

double in_seconds(std::chrono::milliseconds duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Result<void> check_worker_program(const std::string& path) {
  if (!path.empty() && ::access(path.c_str(), X_OK) == 0) return {};
  return fail(ErrorKind::kEnvironment,
              fmt::format("there is no worker program at '{}'. Build pgtune where CMake finds a CUDA Toolkit (12.8 or "
                          "newer), or set PGTUNE_WORKER to a pgtune-worker",
                          path));
}

Result<std::unique_ptr<WorkerClient>> WorkerClient::start(const Options& options) {
  TRY(check_worker_program(options.path));
  std::vector<std::string> command{options.path, "--role", options.role};
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  TRY_ASSIGN(auto child, ChildProcess::start(command, protocol::kMaxLineBytes));
  return std::unique_ptr<WorkerClient>(new WorkerClient(options, std::move(child)));
}

WorkerClient::WorkerClient(const Options& options, std::unique_ptr<ChildProcess> child)
    : path_(options.path), role_(options.role), child_(std::move(child)) {
  send({"hello", {{"protocol", protocol::kProtocolVersion}}, options.hello_timeout});
}

void WorkerClient::request(std::string op, nlohmann::json body, std::chrono::milliseconds timeout) {
  Pending pending{std::move(op), std::move(body), timeout};
  if (hello_) {
    send(std::move(pending));
  } else {
    pending_ = std::move(pending);
  }
}

void WorkerClient::send(Pending pending) {
  timeout_ = pending.timeout;
  deadline_ = SteadyClock::now() + timeout_;
  awaiting_ = true;
  child_->send(protocol::encode(protocol::Request{++last_id_, std::move(pending.op), std::move(pending.body)}) + "\n");
}

std::optional<WorkerEvent> WorkerClient::poll() {
  child_->pump();
  while (auto line = child_->next_line()) {
    if (auto event = take(*line)) return event;
  }
  if (child_->overflowed())
    return misbehaved(fmt::format("sent a line longer than {} MiB", protocol::kMaxLineBytes >> 20U));
  if (child_->ended()) {
    WorkerFailure died = failure(WorkerFailure::Kind::kDied, child_->death_reason());
    died.from_outside = child_->killed_from_outside();
    return died;
  }
  if (deadline_ && SteadyClock::now() >= *deadline_) {
    child_->kill();
    return failure(WorkerFailure::Kind::kTimedOut, fmt::format("gave no answer within {:g} s", in_seconds(timeout_)));
  }
  return std::nullopt;
}

std::optional<WorkerEvent> WorkerClient::take(const std::string& line) {
  auto reply = protocol::decode_reply(line);
  if (!reply) return misbehaved("sent a " + reply.error().text());
  if (!awaiting_ || reply->id != last_id_)
    return misbehaved(fmt::format("answered {}, which was not asked", reply->id));
  awaiting_ = false;
  deadline_.reset();
  if (!hello_) return greet(*reply);
  return std::move(*reply);
}

/// The version comes first: another version's hello may have other fields.
std::optional<WorkerEvent> WorkerClient::greet(const protocol::Reply& reply) {
  if (!reply.body) return WorkerFailure{WorkerFailure::Kind::kStart, reply.body.error(), false};
  const auto version = reply.body->find("protocol");
  if (version == reply.body->end() || *version != protocol::kProtocolVersion) {
    return misbehaved(fmt::format(
        "speaks protocol {}, this pgtune speaks {}: they are from different builds. Use the pgtune-worker that was "
        "built with this pgtune (is PGTUNE_WORKER set?)",
        version == reply.body->end() ? "of no version" : version->dump(), protocol::kProtocolVersion));
  }
  auto hello = protocol::decode_body<protocol::Hello>(*reply.body, "hello");
  if (!hello) return misbehaved("sent a " + hello.error().text());
  if (hello->role != role_) return misbehaved(fmt::format("says it is a {} worker", hello->role));
  if (role_ != "compile" && role_ != "consumer" && !hello->device) return misbehaved("does not say which GPU it has");
  hello_ = std::move(*hello);
  if (pending_) send(*std::exchange(pending_, std::nullopt));
  return std::nullopt;
}

WorkerFailure WorkerClient::failure(WorkerFailure::Kind kind, const std::string& what) {
  deadline_.reset();
  if (hello_) return {kind, {ErrorKind::kEnvironment, fmt::format("{} worker {}", role_, what), {}}, false};
  return {WorkerFailure::Kind::kStart,
          {ErrorKind::kEnvironment, fmt::format("{} worker {} could not start: {}", role_, path_, what), {}},
          false};
}

WorkerFailure WorkerClient::misbehaved(const std::string& what) {
  child_->kill();
  return failure(WorkerFailure::Kind::kDied, what);
}

}  // namespace pgtune::device
