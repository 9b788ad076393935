// SPDX-License-Identifier: MIT
#include "tuner/device/measure_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pgtune::device {
namespace {

/// A killed worker can hang in the driver for some seconds; after that its memory is not waited for.
constexpr std::chrono::seconds kEndPatience{5};
/// No descriptor signals a process's end at the right time: its pipes close before its GPU memory is free.
constexpr std::chrono::milliseconds kEndPoll{2};

}  // namespace

Result<DeviceInfo> MeasureWorker::start() {
  TRY(spawn());
  while (!client_->hello()) {
    if (auto event = client_->poll()) return tl::unexpected<Error>(std::get<WorkerFailure>(*event).error);
    if (!client_->hello()) wait_for_worker();
  }
  uuid_ = client_->hello()->device->uuid;
  return *client_->hello()->device;
}

Result<nlohmann::json> MeasureWorker::prepare(nlohmann::json problem, const std::string& may_hang,
                                              std::chrono::milliseconds more) {
  problem_.reset();
  prepare_timeout_ = options_.prepare_timeout + more;
  TRY_ASSIGN(auto answer, call("prepare", problem, prepare_timeout_));
  if (!answer.body) {
    const Outcome& outcome = answer.body.error();
    const bool told = outcome.kind == OutcomeKind::kTimeout && !may_hang.empty();
    return fail(ErrorKind::kEnvironment, told ? fmt::format("{}: {}", outcome.reason, may_hang) : outcome.reason);
  }
  problem_ = std::move(problem);
  if (answer.body->contains("opaque")) (*problem_)["known"] = *answer.body;
  prepared_ = client_ != nullptr;
  return std::move(*answer.body);
}

std::optional<protocol::PrepareRequest> MeasureWorker::prepared() const {
  if (!problem_) return std::nullopt;
  const auto request = protocol::decode_body<protocol::PrepareRequest>(*problem_, "prepared problem");
  return request ? std::optional(*request) : std::nullopt;
}

void MeasureWorker::submit(std::string op, nlohmann::json body, std::chrono::milliseconds timeout) {
  request_ = Request{std::move(op), std::move(body), timeout};
}

Result<MeasureWorker::Answer> MeasureWorker::call(std::string op, nlohmann::json body,
                                                  std::chrono::milliseconds timeout) {
  submit(std::move(op), std::move(body), timeout);
  for (;;) {
    TRY_ASSIGN(auto answer, poll());
    if (answer) return std::move(*answer);
    wait_for_worker();
  }
}

void MeasureWorker::wait_for_worker() const {
  std::vector<pollfd> fds;
  add_poll_fds(fds);
  // A signal only causes another poll; every wait ends with the worker's deadline.
  static_cast<void>(wait_ready(fds, deadline().value_or(SteadyClock::now())));
}

Result<std::optional<MeasureWorker::Answer>> MeasureWorker::poll() {
  for (;;) {
    if (client_) {
      if (auto event = client_->poll()) {
        auto answer = std::visit([&](auto& content) { return handle(std::move(content)); }, *event);
        if (!answer || *answer) return answer;
      }
    }
    if (!request_ || step_ != Step::kIdle) return std::nullopt;
    TRY(send_next());
    if (ending_) return std::nullopt;
  }
}

Result<void> MeasureWorker::spawn() {
  std::vector<std::string> arguments{"--gpu", options_.gpu};
  if (!options_.cache_dir.empty()) arguments.insert(arguments.end(), {"--cache-dir", options_.cache_dir});
  TRY_ASSIGN(auto client,
             WorkerClient::start({options_.worker_path, options_.role, std::move(arguments), options_.hello_timeout}));
  client_ = std::move(client);
  return {};
}

/// Starts a worker if none runs, and sends it the problem before the request. Leaves the step idle while there is
/// something to wait for.
Result<void> MeasureWorker::send_next() {
  if (!client_) {
    if (start_alone_ && !old_worker_gone()) return {};
    if (auto spawned = spawn(); !spawned) return count_failed_start(std::move(spawned.error()));
  }
  // A context needs little memory, but a problem may need what the old worker still holds.
  if (!old_worker_gone()) return {};
  if (problem_ && !prepared_) {
    client_->request("prepare", *problem_, prepare_timeout_);
    step_ = Step::kPreparing;
  } else {
    client_->request(request_->op, request_->body, request_->timeout);
    step_ = Step::kRequest;
  }
  return {};
}

Result<std::optional<MeasureWorker::Answer>> MeasureWorker::handle(protocol::Reply reply) {
  if (const std::string& uuid = client_->hello()->device->uuid; uuid != uuid_)
    return fail(ErrorKind::kEnvironment, fmt::format("GPU {} was {} and is now {}", options_.gpu, uuid_, uuid));
  const bool preparing = std::exchange(step_, Step::kIdle) == Step::kPreparing;
  if (preparing) {
    if (reply.body && !reply.context_lost) {
      prepared_ = true;
      return std::nullopt;
    }
    drop_worker();
    Error error = reply.body ? Error{ErrorKind::kEnvironment, "the CUDA context was lost", {}} : reply.body.error();
    TRY(count_failed_start(std::move(error)));
    return std::nullopt;
  }
  if (reply.body) return finish(std::move(*reply.body), reply.context_lost);
  Error& error = reply.body.error();
  const bool prepares = request_->op == "prepare";
  // With a healthy context no variant is to blame: for "prepare" the problem is, else the machine. A problem may also
  // cost the context.
  if (reply.context_lost ? prepares && error.kind == ErrorKind::kUsage
                         : prepares || error.kind != ErrorKind::kInternal) {
    request_.reset();
    if (reply.context_lost) drop_worker();
    return tl::unexpected<Error>(std::move(error));
  }
  return finish(tl::unexpected<Outcome>({OutcomeKind::kCrashed, options_.role + " worker: " + error.text()}),
                reply.context_lost);
}

Result<std::optional<MeasureWorker::Answer>> MeasureWorker::handle(WorkerFailure failure) {
  const Step step = std::exchange(step_, Step::kIdle);
  if (failure.kind == WorkerFailure::Kind::kStart || step == Step::kPreparing) {
    // On a GPU in exclusive mode no worker can start before the old one has ended: this attempt was too early.
    const bool beside = ending_ != nullptr;
    drop_worker();
    if (beside && !std::exchange(start_alone_, true)) return std::nullopt;
    TRY(count_failed_start(std::move(failure.error)));
    return std::nullopt;
  }
  if (step == Step::kIdle) {  // died between requests: replaced when it is needed
    drop_worker();
    return std::nullopt;
  }
  if (failure.from_outside && ++request_->kills < kKillLimit) {
    drop_worker();
    return std::nullopt;
  }
  const bool timed_out = failure.kind == WorkerFailure::Kind::kTimedOut;
  return finish(
      tl::unexpected<Outcome>({timed_out ? OutcomeKind::kTimeout : OutcomeKind::kCrashed, failure.error.text()}), true);
}

MeasureWorker::Answer MeasureWorker::finish(tl::expected<nlohmann::json, Outcome> body, bool context_lost) {
  request_.reset();
  if (context_lost) drop_worker();
  return {std::move(body), context_lost};
}

void MeasureWorker::drop_worker() {
  prepared_ = false;
  client_->kill();
  ending_ = std::move(client_);
  ending_until_ = SteadyClock::now() + kEndPatience;
}

bool MeasureWorker::old_worker_gone() {
  if (ending_ && (ending_->gone() || SteadyClock::now() >= ending_until_)) ending_.reset();
  if (!ending_) start_alone_ = false;
  return !ending_;
}

Result<void> MeasureWorker::count_failed_start(Error error) {
  if (++request_->failed_starts < kFailedStartLimit) return {};
  error.kind = ErrorKind::kEnvironment;
  return fail(std::move(error), fmt::format("{} {} workers in a row failed", kFailedStartLimit, options_.role));
}

std::vector<int> MeasureWorker::pids() const {
  std::vector<int> pids;
  for (const WorkerClient* const client : {client_.get(), ending_.get()}) {
    if (client != nullptr) pids.push_back(client->pid());
  }
  return pids;
}

void MeasureWorker::add_poll_fds(std::vector<pollfd>& fds) const {
  if (client_) client_->add_poll_fds(fds);
}

std::optional<SteadyClock::time_point> MeasureWorker::deadline() const {
  std::optional<SteadyClock::time_point> first = client_ ? client_->deadline() : std::nullopt;
  if (ending_ && request_) {
    const auto look = SteadyClock::now() + kEndPoll;
    first = first ? std::min(*first, look) : look;
  }
  return first;
}

}  // namespace pgtune::device
