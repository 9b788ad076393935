// SPDX-License-Identifier: MIT
// One worker process and its conversation: hello, then one request at a time, each with a deadline.
#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuner/protocol/codec.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::device {

/// The end of a worker, with its cause in `error`: "compile worker killed by signal 11 (SIGSEGV)".
struct WorkerFailure {
  enum class Kind {
    kStart,     ///< never said hello, or not one that pgtune understands
    kDied,      ///< died, or broke the protocol and was killed
    kTimedOut,  ///< passed its deadline and was killed
  };
  Kind kind = Kind::kDied;
  Error error;
  bool from_outside = false;  ///< kDied: killed from outside, so its request is not to blame
};

/// After this many consecutive workers without a hello the command ends: the cause is the machine, not a variant.
inline constexpr int kFailedStartLimit = 3;
/// After this many killed workers the request itself is taken for the cause.
inline constexpr int kKillLimit = 3;

using WorkerEvent = std::variant<protocol::Reply, WorkerFailure>;

/// Error (environment, with the remedy) if there is no program at `path`.
[[nodiscard]] Result<void> check_worker_program(const std::string& path);

class WorkerClient {
 public:
  struct Options {
    std::string path;                    ///< of pgtune-worker
    std::string role;                    ///< "compile", "measure", "consumer" or a room's
    std::vector<std::string> arguments;  ///< after "--role ROLE"
    std::chrono::milliseconds hello_timeout{};
  };

  /// Starts the process and sends hello without waiting for the reply.
  [[nodiscard]] static Result<std::unique_ptr<WorkerClient>> start(const Options& options);

  /// The worker's hello; empty until it arrives.
  [[nodiscard]] const std::optional<protocol::Hello>& hello() const { return hello_; }

  /// Sends a request, or keeps it until the worker's hello arrives; `timeout` counts from sending. One request at a
  /// time: send the next after poll() has returned this one's reply.
  void request(std::string op, nlohmann::json body, std::chrono::milliseconds timeout);

  /// Does what can be done without waiting. Returns the reply to the request, or the worker's end; after a failure the
  /// client cannot be used again.
  [[nodiscard]] std::optional<WorkerEvent> poll();
  [[nodiscard]] int pid() const { return child_->pid(); }
  void add_poll_fds(std::vector<pollfd>& fds) const { child_->add_poll_fds(fds); }
  /// Kills the worker without waiting for its end, which gone() reports. No other call is allowed afterwards.
  void kill() { child_->kill(); }
  [[nodiscard]] bool gone() { return child_->gone(); }
  /// When poll() must be called even if nothing arrives.
  [[nodiscard]] std::optional<SteadyClock::time_point> deadline() const { return deadline_; }

 private:
  struct Pending {
    std::string op;
    nlohmann::json body;
    std::chrono::milliseconds timeout{};
  };

  WorkerClient(const Options& options, std::unique_ptr<ChildProcess> child);

  void send(Pending pending);
  [[nodiscard]] std::optional<WorkerEvent> take(const std::string& line);
  [[nodiscard]] std::optional<WorkerEvent> greet(const protocol::Reply& reply);
  [[nodiscard]] WorkerFailure failure(WorkerFailure::Kind kind, const std::string& what);
  [[nodiscard]] WorkerFailure misbehaved(const std::string& what);

  std::string path_, role_;
  std::unique_ptr<ChildProcess> child_;
  std::optional<protocol::Hello> hello_;
  std::optional<Pending> pending_;  ///< waits for hello
  protocol::RequestId last_id_ = 0;
  bool awaiting_ = false;  ///< the reply to last_id_
  std::chrono::milliseconds timeout_{};
  std::optional<SteadyClock::time_point> deadline_;
};

}  // namespace pgtune::device
