// SPDX-License-Identifier: MIT
#include "tuner/device/compile_service.hpp"

#include <sys/eventfd.h>

#include <cstdint>
#include <deque>
#include <utility>

#include "tuner/util/quiet_thread.hpp"

namespace pgtune::device {
namespace {

FileDescriptor make_event() { return FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void raise_event(const FileDescriptor& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event.get(), &one, sizeof one);
}

void clear_event(const FileDescriptor& event) {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(event.get(), &count, sizeof count);
}

}  // namespace

struct CompileService::Mailbox {
  std::mutex mutex;
  std::deque<protocol::BuildRequest> waiting;
  std::vector<protocol::Event> done;
  std::optional<Error> error;
  FileDescriptor filled = make_event();  ///< something in `done`, or the error
};

CompileService::CompileService(CompilePool::Options options)
    : pool_(std::move(options)), workers_(pool_.workers()), wake_(std::make_shared<FileDescriptor>(make_event())) {
  // Block signals here: one delivered to this thread would not interrupt the measuring threads' waits.
  thread_ = start_without_signals([this] { serve(); });
}

CompileService::~CompileService() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  raise_event(*wake_);
  thread_.join();
}

std::unique_ptr<CompileService::Client> CompileService::client() {
  auto mailbox = std::make_shared<Mailbox>();
  const std::lock_guard lock(mutex_);
  mailbox->error = error_;
  mailboxes_.push_back(mailbox);
  return std::unique_ptr<Client>(new Client(std::move(mailbox), wake_, pool_.slots()));
}

void CompileService::serve() {
  for (;;) {
    clear_event(*wake_);
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
    }
    hand_out();
    std::vector<protocol::Event> events;
    auto polled = pool_.poll(events);
    const bool any = !events.empty();
    deliver(std::move(events));
    if (!polled) return end(polled.error());
    if (any) continue;  // room for more builds
    std::vector<pollfd> fds{{wake_->get(), POLLIN, 0}};
    pool_.add_poll_fds(fds);
    static_cast<void>(wait_ready(fds, pool_.deadline().value_or(SteadyClock::time_point::max())));
  }
}

void CompileService::hand_out() {
  while (in_pool_.size() < pool_.slots()) {
    const auto mailbox = next_waiting();
    if (mailbox == nullptr) return;
    std::unique_lock lock(mailbox->mutex);
    if (mailbox->waiting.empty()) continue;  // the client was destroyed
    protocol::BuildRequest request = std::move(mailbox->waiting.front());
    mailbox->waiting.pop_front();
    lock.unlock();
    in_pool_.emplace(++last_id_, Owner{mailbox, request.id});
    request.id = last_id_;
    pool_.submit(std::move(request));
  }
}

/// The next mailbox in turn with a build waiting. Mailboxes of destroyed clients are dropped.
std::shared_ptr<CompileService::Mailbox> CompileService::next_waiting() {
  const std::lock_guard lock(mutex_);
  std::erase_if(mailboxes_, [](const auto& mailbox) { return mailbox.expired(); });
  for (std::size_t i = 0; i < mailboxes_.size(); ++i) {
    turn_ = (turn_ + 1) % mailboxes_.size();
    const auto mailbox = mailboxes_[turn_].lock();
    if (mailbox == nullptr) continue;
    const std::lock_guard inside(mailbox->mutex);
    if (!mailbox->waiting.empty()) return mailbox;
  }
  return nullptr;
}

void CompileService::deliver(std::vector<protocol::Event> events) {
  for (protocol::Event& event : events) {
    auto& done = std::get<protocol::BuildDone>(event);
    const Owner owner = std::move(in_pool_.extract(done.id).mapped());
    done.id = owner.id;
    const std::lock_guard lock(owner.mailbox->mutex);
    owner.mailbox->done.push_back(std::move(event));
    raise_event(owner.mailbox->filled);
  }
}

void CompileService::end(const Error& error) {
  const std::lock_guard lock(mutex_);
  error_ = error;
  for (const auto& weak : mailboxes_) {
    const auto mailbox = weak.lock();
    if (mailbox == nullptr) continue;
    const std::lock_guard inside(mailbox->mutex);
    mailbox->error = error;
    raise_event(mailbox->filled);
  }
}

CompileService::Client::Client(std::shared_ptr<Mailbox> mailbox, std::shared_ptr<FileDescriptor> wake,
                               std::size_t slots)
    : mailbox_(std::move(mailbox)), wake_(std::move(wake)), slots_(slots) {}

CompileService::Client::~Client() {
  const std::lock_guard lock(mailbox_->mutex);
  mailbox_->waiting.clear();
}

void CompileService::Client::submit(protocol::BuildRequest request) {
  {
    const std::lock_guard lock(mailbox_->mutex);
    mailbox_->waiting.push_back(std::move(request));
  }
  raise_event(*wake_);
}

Result<void> CompileService::Client::poll(std::vector<protocol::Event>& events) {
  const std::lock_guard lock(mailbox_->mutex);
  clear_event(mailbox_->filled);
  for (protocol::Event& event : mailbox_->done) events.push_back(std::move(event));
  mailbox_->done.clear();
  if (mailbox_->error) return tl::unexpected<Error>(*mailbox_->error);
  return {};
}

void CompileService::Client::add_poll_fds(std::vector<pollfd>& fds) const {
  fds.push_back({mailbox_->filled.get(), POLLIN, 0});
}

}  // namespace pgtune::device
