// SPDX-License-Identifier: MIT
// Compile workers: builds in, builds done out. A worker that dies or takes too long costs its build, never the pool;
// one killed from outside costs nothing: its build goes to another worker.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/device/device.hpp"
#include "tuner/device/worker_client.hpp"

namespace pgtune::device {

/// The default number of compile workers: one per core, but no more than memory holds if each takes its limit; at least
/// one. `available_bytes`: nothing where it is not known.
[[nodiscard]] std::size_t default_compile_jobs(std::size_t cores, std::optional<std::int64_t> available_bytes,
                                               std::int64_t worker_bytes);
/// For this machine now.
[[nodiscard]] std::size_t default_compile_jobs(std::int64_t worker_bytes);

class CompilePool {
 public:
  struct Options {
    std::string worker_path;
    std::string cache_dir;  ///< of cubins
    std::size_t jobs = 0;   ///< workers at most; 0: default_compile_jobs()
    std::chrono::milliseconds build_timeout{60'000};
    std::int64_t memory_limit_bytes = kDefaultCompileMemoryBytes;  ///< of one worker; more is compile_failed
    std::chrono::milliseconds hello_timeout{60'000};
  };

  /// Starts no worker: that happens as builds arrive.
  explicit CompilePool(Options options);

  [[nodiscard]] std::size_t workers() const { return workers_.size(); }
  /// Builds that may be in flight: twice the workers, so that a worker finds its next build waiting.
  [[nodiscard]] std::size_t slots() const { return 2 * workers(); }
  void submit(protocol::BuildRequest request);

  /// Does what can be done without waiting and appends finished builds to `events`. The error (environment) ends the
  /// session: workers do not start, or one says that it cannot work here.
  [[nodiscard]] Result<void> poll(std::vector<protocol::Event>& events);
  void add_poll_fds(std::vector<pollfd>& fds) const;
  /// When poll() must be called even if nothing arrives.
  [[nodiscard]] std::optional<SteadyClock::time_point> deadline() const;

 private:
  struct Build {
    protocol::BuildRequest request;
    int kills = 0;  ///< workers killed from outside during this build
  };
  struct Worker {
    std::unique_ptr<WorkerClient> client;
    std::optional<Build> build;
    int builds = 0;  ///< done by this process
  };

  [[nodiscard]] Result<void> collect(Worker& worker, std::vector<protocol::Event>& events);
  [[nodiscard]] Result<void> handle(Worker& worker, protocol::Reply reply, std::vector<protocol::Event>& events);
  [[nodiscard]] Result<void> handle(Worker& worker, WorkerFailure failure, std::vector<protocol::Event>& events);
  [[nodiscard]] Result<void> assign();
  [[nodiscard]] bool start(Worker& worker, Error& error) const;
  [[nodiscard]] bool any_running() const;
  [[nodiscard]] Result<void> count_failed_start(Error error);
  [[nodiscard]] Worker* free_worker();

  Options options_;
  std::vector<Worker> workers_;
  std::deque<Build> waiting_;
  int failed_starts_ = 0;  ///< in a row
};

/// Builds all requests, whose ids must differ, and waits; results are in the order of the requests. Errors as
/// CompilePool::poll.
[[nodiscard]] Result<std::vector<protocol::BuildDone>> compile_all(CompilePool::Options options,
                                                                   std::vector<protocol::BuildRequest> requests);

/// Builds one variant with one worker and waits for it. Errors as CompilePool::poll.
[[nodiscard]] Result<protocol::BuildDone> compile_one(CompilePool::Options options, protocol::BuildRequest request);

}  // namespace pgtune::device
