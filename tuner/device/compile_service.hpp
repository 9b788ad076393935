// SPDX-License-Identifier: MIT
// One pool of compile workers for all devices of a command. It runs in its own thread, so that one device's waits do
// not delay another's builds.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tuner/device/compile_pool.hpp"
#include "tuner/util/file_descriptor.hpp"

namespace pgtune::device {

/// Thread-safe. Clients may outlive it but then receive nothing more.
class CompileService {
 public:
  class Client;

  /// Starts no worker: that happens as builds arrive. The workers end with the service.
  explicit CompileService(CompilePool::Options options);
  CompileService(const CompileService&) = delete;
  CompileService& operator=(const CompileService&) = delete;
  ~CompileService();

  /// For all devices together.
  [[nodiscard]] std::size_t workers() const { return workers_; }
  /// One device's access. Devices with waiting builds take turns.
  [[nodiscard]] std::unique_ptr<Client> client();

 private:
  struct Mailbox;
  struct Owner {
    std::shared_ptr<Mailbox> mailbox;
    protocol::RequestId id = 0;  ///< by which the device knows its build
  };

  void serve();
  void hand_out();
  [[nodiscard]] std::shared_ptr<Mailbox> next_waiting();
  void deliver(std::vector<protocol::Event> events);
  void end(const Error& error);

  CompilePool pool_;  ///< used by the service's thread only, once that runs
  std::size_t workers_;
  std::map<protocol::RequestId, Owner> in_pool_;
  protocol::RequestId last_id_ = 0;

  std::shared_ptr<FileDescriptor> wake_;  ///< an eventfd: wakes the thread
  std::mutex mutex_;                      ///< of what follows
  std::vector<std::weak_ptr<Mailbox>> mailboxes_;
  std::size_t turn_ = 0;  ///< of the mailboxes
  std::optional<Error> error_;
  bool stop_ = false;
  std::thread thread_;
};

/// Used by one thread. Builds that are in flight when it ends are dropped.
class CompileService::Client {
 public:
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Builds that may be in flight: twice the workers, so that each finds its next build waiting.
  [[nodiscard]] std::size_t slots() const { return slots_; }
  void submit(protocol::BuildRequest request);
  /// Appends finished builds to `events`; does not wait. The error (environment) is that of CompilePool::poll, for
  /// every client.
  [[nodiscard]] Result<void> poll(std::vector<protocol::Event>& events);
  void add_poll_fds(std::vector<pollfd>& fds) const;

 private:
  friend class CompileService;
  Client(std::shared_ptr<Mailbox> mailbox, std::shared_ptr<FileDescriptor> wake, std::size_t slots);

  std::shared_ptr<Mailbox> mailbox_;
  std::shared_ptr<FileDescriptor> wake_;
  std::size_t slots_;
};

}  // namespace pgtune::device
