// SPDX-License-Identifier: MIT
// The measure worker of one GPU. One that dies, hangs or loses its CUDA context is replaced, and the problem is
// prepared again before the next request. The new worker starts while the old one still releases its memory, and takes
// the baseline from the first worker's report. A request whose worker was killed from outside is repeated.
#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/device/worker_client.hpp"

namespace pgtune::device {

class MeasureWorker {
 public:
  struct Options {
    std::string worker_path;
    std::string gpu;  ///< ordinal or UUID
    std::chrono::milliseconds hello_timeout{60'000};
    std::chrono::milliseconds prepare_timeout{120'000};
    std::string role = "measure";  ///< or a room's; prepared and replaced in the same way
    std::string cache_dir = {};    ///< where cubins of references go; empty: nowhere
  };

  struct Answer {
    /// The reply's body, or the outcome of the variant that ended the worker (kCrashed or kTimeout).
    tl::expected<nlohmann::json, Outcome> body;
    bool context_lost = false;  ///< also true if the worker died
  };

  explicit MeasureWorker(Options options) : options_(std::move(options)) {}

  /// Starts the first worker and waits for its hello; the error has the worker's own reason.
  [[nodiscard]] Result<DeviceInfo> start();
  /// Prepares a problem and waits for it. The problem stays current for all later workers. Errors: (usage) the problem
  /// itself cannot be prepared, whether or not the worker kept its context; else (environment). `may_hang`, if not
  /// empty, names the part of the problem that may not end; the error of a worker that did not reply in time includes
  /// it. `more`: beyond the options' time.
  [[nodiscard]] Result<nlohmann::json> prepare(nlohmann::json problem, const std::string& may_hang = {},
                                               std::chrono::milliseconds more = {});

  /// The problem last prepared, with the baseline that the first worker found.
  [[nodiscard]] std::optional<protocol::PrepareRequest> prepared() const;

  /// Queues the one request that may be in flight; poll() returns the reply.
  void submit(std::string op, nlohmann::json body, std::chrono::milliseconds timeout);
  /// Does what can be done without waiting. The error (environment) ends the session: no worker can be started or
  /// prepared any more, or one says that it cannot work here.
  [[nodiscard]] Result<std::optional<Answer>> poll();
  /// Submits, then polls until the reply arrives.
  [[nodiscard]] Result<Answer> call(std::string op, nlohmann::json body, std::chrono::milliseconds timeout);

  /// The processes that hold a context on the GPU: the worker, and its predecessor until that has ended.
  [[nodiscard]] std::vector<int> pids() const;

  void add_poll_fds(std::vector<pollfd>& fds) const;
  /// When poll() must be called even if nothing arrives.
  [[nodiscard]] std::optional<SteadyClock::time_point> deadline() const;

 private:
  struct Request {
    std::string op;
    nlohmann::json body;
    std::chrono::milliseconds timeout{};
    int kills = 0;          ///< workers killed from outside during this request
    int failed_starts = 0;  ///< workers that did not start or prepare the problem
  };
  enum class Step { kIdle, kPreparing, kRequest };  ///< what the current worker is doing

  [[nodiscard]] Result<void> spawn();
  [[nodiscard]] Result<void> send_next();
  [[nodiscard]] Result<std::optional<Answer>> handle(protocol::Reply reply);
  [[nodiscard]] Result<std::optional<Answer>> handle(WorkerFailure failure);
  [[nodiscard]] Result<void> count_failed_start(Error error);
  [[nodiscard]] Answer finish(tl::expected<nlohmann::json, Outcome> body, bool context_lost);
  void drop_worker();  ///< precondition: there is one
  [[nodiscard]] bool old_worker_gone();
  void wait_for_worker() const;

  Options options_;
  std::string uuid_;                             ///< of the first worker's GPU; the later ones must have the same
  std::optional<nlohmann::json> problem_;        ///< as last prepared
  std::chrono::milliseconds prepare_timeout_{};  ///< of it
  std::unique_ptr<WorkerClient> client_;
  std::unique_ptr<WorkerClient> ending_;  ///< killed, and may still hold GPU memory
  SteadyClock::time_point ending_until_;  ///< when waiting for that stops
  bool start_alone_ = false;              ///< only once ending_ is gone
  bool prepared_ = false;                 ///< problem_ is current in client_
  Step step_ = Step::kIdle;
  std::optional<Request> request_;
};

}  // namespace pgtune::device
