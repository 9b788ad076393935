// SPDX-License-Identifier: MIT
#include "tuner/device/compile_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tuner/util/host_limits.hpp"

namespace pgtune::device {
namespace {

/// The compiler's memory grows from build to build; a fresh process every so often keeps the pool's bounded.
constexpr int kBuildsPerWorker = 200;

protocol::Event lost_build(const protocol::BuildRequest& build, OutcomeKind kind, std::string reason) {
  return protocol::BuildDone{build.id, {kind, std::move(reason)}, {}};
}

/// The last message of a failed allocation, from LLVM or C++.
bool died_of_memory(const std::string& text) {
  return text.find("out of memory") != std::string::npos || text.find("std::bad_alloc") != std::string::npos;
}

}  // namespace

std::size_t default_compile_jobs(std::size_t cores, std::optional<std::int64_t> available_bytes,
                                 std::int64_t worker_bytes) {
  if (available_bytes) cores = std::min(cores, static_cast<std::size_t>(*available_bytes / worker_bytes));
  return std::max<std::size_t>(cores, 1);
}

std::size_t default_compile_jobs(std::int64_t worker_bytes) {
  return default_compile_jobs(usable_cores(), available_memory_bytes(), worker_bytes);
}

CompilePool::CompilePool(Options options) : options_(std::move(options)) {
  if (options_.jobs == 0) options_.jobs = default_compile_jobs(options_.memory_limit_bytes);
  workers_.resize(options_.jobs);
}

void CompilePool::submit(protocol::BuildRequest request) { waiting_.push_back({std::move(request)}); }

Result<void> CompilePool::poll(std::vector<protocol::Event>& events) {
  for (Worker& worker : workers_) {
    if (auto collected = collect(worker, events); !collected) return collected;
  }
  return assign();
}

Result<void> CompilePool::collect(Worker& worker, std::vector<protocol::Event>& events) {
  if (!worker.client) return {};
  auto event = worker.client->poll();
  if (!event) return {};
  return std::visit([&](auto& content) { return handle(worker, std::move(content), events); }, *event);
}

Result<void> CompilePool::handle(Worker& worker, protocol::Reply reply, std::vector<protocol::Event>& events) {
  failed_starts_ = 0;
  const protocol::BuildRequest build = std::move(std::exchange(worker.build, std::nullopt)->request);
  if (++worker.builds >= kBuildsPerWorker) worker = {};
  if (!reply.body) {
    if (reply.body.error().kind == ErrorKind::kEnvironment)
      return fail(std::move(reply.body.error()), fmt::format("compiling {}", build.variant.key()));
    events.push_back(lost_build(build, OutcomeKind::kCrashed, "compile worker: " + reply.body.error().text()));
    return {};
  }
  auto done = protocol::decode_body<protocol::BuildDone>(*reply.body, "build reply");
  if (done) {
    done->id = build.id;
    events.emplace_back(std::move(*done));
  } else {
    worker = {};
    events.push_back(lost_build(build, OutcomeKind::kCrashed, "compile worker sent a " + done.error().text()));
  }
  return {};
}

Result<void> CompilePool::handle(Worker& worker, WorkerFailure failure, std::vector<protocol::Event>& events) {
  auto build = std::exchange(worker.build, std::nullopt);
  worker = {};
  if (failure.kind == WorkerFailure::Kind::kStart) {
    if (build) waiting_.push_front(std::move(*build));
    return count_failed_start(std::move(failure.error));
  }
  failed_starts_ = 0;
  if (!build) return {};  // died idle: replaced when it is needed
  if (failure.from_outside && ++build->kills < kKillLimit) {
    waiting_.push_front(std::move(*build));
    return {};
  }
  const std::string text = failure.error.text();
  if (died_of_memory(text)) {
    const std::string reason = protocol::out_of_compile_memory(options_.memory_limit_bytes, text);
    events.push_back(lost_build(build->request, OutcomeKind::kCompileFailed, reason));
    return {};
  }
  const bool timed_out = failure.kind == WorkerFailure::Kind::kTimedOut;
  events.push_back(
      lost_build(build->request, timed_out ? OutcomeKind::kTimeout : OutcomeKind::kCrashed, failure.error.text()));
  return {};
}

Result<void> CompilePool::count_failed_start(Error error) {
  if (++failed_starts_ < kFailedStartLimit) return {};
  return fail(std::move(error), fmt::format("{} compile workers in a row failed", failed_starts_));
}

CompilePool::Worker* CompilePool::free_worker() {
  Worker* unstarted = nullptr;
  for (Worker& worker : workers_) {
    if (worker.client && !worker.build) return &worker;
    if (!worker.client && unstarted == nullptr) unstarted = &worker;
  }
  return unstarted;
}

bool CompilePool::any_running() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.client != nullptr; });
}

bool CompilePool::start(Worker& worker, Error& error) const {
  auto client = WorkerClient::start(
      {options_.worker_path,
       "compile",
       {"--cache-dir", options_.cache_dir, "--memory-limit", std::to_string(options_.memory_limit_bytes)},
       options_.hello_timeout});
  if (!client) {
    error = std::move(client.error());
    return false;
  }
  worker.client = std::move(*client);
  return true;
}

Result<void> CompilePool::assign() {
  while (!waiting_.empty()) {
    Worker* const worker = free_worker();
    if (worker == nullptr) return {};
    if (Error error; !worker->client && !start(*worker, error)) {
      // At a limit of processes or descriptors, the running workers are enough to go on.
      if (any_running()) return {};
      if (auto counted = count_failed_start(std::move(error)); !counted) return counted;
      continue;
    }
    worker->build = std::move(waiting_.front());
    waiting_.pop_front();
    worker->client->request("build", worker->build->request, options_.build_timeout);
  }
  return {};
}

void CompilePool::add_poll_fds(std::vector<pollfd>& fds) const {
  for (const Worker& worker : workers_) {
    if (worker.client) worker.client->add_poll_fds(fds);
  }
}

std::optional<SteadyClock::time_point> CompilePool::deadline() const {
  std::optional<SteadyClock::time_point> first;
  for (const Worker& worker : workers_) {
    const auto deadline = worker.client ? worker.client->deadline() : std::nullopt;
    if (deadline && (!first || *deadline < *first)) first = deadline;
  }
  return first;
}

Result<std::vector<protocol::BuildDone>> compile_all(CompilePool::Options options,
                                                     std::vector<protocol::BuildRequest> requests) {
  CompilePool pool(std::move(options));
  std::vector<protocol::RequestId> order;
  for (protocol::BuildRequest& request : requests) {
    order.push_back(request.id);
    pool.submit(std::move(request));
  }
  std::vector<protocol::Event> events;
  while (events.size() < order.size()) {
    TRY(pool.poll(events));
    if (events.size() == order.size()) break;
    std::vector<pollfd> fds;
    pool.add_poll_fds(fds);
    // A signal only causes another poll; every wait ends with a build's deadline.
    static_cast<void>(wait_ready(fds, pool.deadline().value_or(SteadyClock::now())));
  }
  std::vector<protocol::BuildDone> done(order.size());
  for (protocol::Event& event : events) {
    auto& build = std::get<protocol::BuildDone>(event);
    const auto place = std::find(order.begin(), order.end(), build.id) - order.begin();
    done[static_cast<std::size_t>(place)] = std::move(build);
  }
  return done;
}

Result<protocol::BuildDone> compile_one(CompilePool::Options options, protocol::BuildRequest request) {
  options.jobs = 1;
  std::vector<protocol::BuildRequest> one;
  one.push_back(std::move(request));
  auto done = compile_all(std::move(options), std::move(one));
  if (!done) return tl::unexpected<Error>(std::move(done.error()));
  return std::move(done->front());
}

}  // namespace pgtune::device
