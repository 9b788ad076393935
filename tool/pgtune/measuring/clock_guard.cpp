// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/clock_guard.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tuner/device/worker_client.hpp"
#include "tuner/protocol/codec.hpp"
#include "tuner/util/child_process.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxGuardAnswerBytes = 1U << 20U;
/// Starting NVML takes seconds on machines with many GPUs whose driver does not stay loaded.
constexpr std::chrono::seconds kGuardPatience{30};

std::vector<std::string> guard_command(const std::string& worker_path, const std::string& uuid) {
  return {worker_path, "--role", "guard", "--gpu", uuid};
}

const std::string kGuard = "the guard of the GPU's clocks";

/// The child's next reply, which may be its own error. Errors: the child broke, and its actions are unknown.
Result<protocol::Reply> next_reply(ChildProcess& child) {
  return wait_for_line(child, kGuard, kGuardPatience).and_then(protocol::decode_reply);
}

/// Restores the clocks with a second guard process.
Result<void> restore(const std::string& worker_path, const std::string& uuid) {
  std::vector<std::string> command = guard_command(worker_path, uuid);
  command.emplace_back("--restore");
  TRY_ASSIGN(auto child, ChildProcess::start(command, kMaxGuardAnswerBytes));
  return next_reply(*child).and_then([](const protocol::Reply& reply) { return reply.body.map([](const json&) {}); });
}

/// Restores the clocks after a broken guard, and adds the outcome to the cause.
Error cleaned_up(Error cause, const std::string& worker_path, const std::string& uuid) {
  const Result<void> restored = restore(worker_path, uuid);
  cause.message += restored ? "; the clocks were restored by another one"
                            : fmt::format(
                                  ", and restoring the clocks failed too ({}). They may still be locked: run "
                                  "'sudo nvidia-smi -i {} -rgc'",
                                  restored.error().text(), uuid);
  return cause;
}

std::string note_of(const json& answer) {
  if (answer.value("verified", false)) return {};
  const int locked_mhz = answer.at("locked_mhz").get<int>();
  const json& seen = answer.at("sm_mhz");
  return fmt::format("the SM clock is locked at {} MHz but {}; the measured clock of each sample will tell", locked_mhz,
                     seen.is_null() ? std::string("NVML does not show it")
                                    : fmt::format("reads {} MHz without load", seen.get<int>()));
}

}  // namespace

struct ClockGuard::Guard {
  std::string worker_path, uuid;
  std::unique_ptr<ChildProcess> child;  ///< null once released
  double locked_hz = 0;
  std::string note;

  Result<void> release() {
    if (child == nullptr) return {};
    const std::unique_ptr<ChildProcess> ending = std::move(child);
    ending->pump();
    // A guard that ends before its input was ended from outside; if possible it has sent its last message.
    const bool early = ending->ended();
    ending->close_input();
    const Result<protocol::Reply> reply = next_reply(*ending);
    if (!reply) return tl::unexpected(cleaned_up(reply.error(), worker_path, uuid));
    static_cast<void>(ending->death_reason());  // reaps it
    if (!reply->body) return tl::unexpected(reply->body.error());
    if (early)
      return fail(ErrorKind::kEnvironment,
                  kGuard + " was ended by a signal. It gave the clocks back, but before the measuring was over");
    return {};
  }
};

ClockGuard::ClockGuard(std::unique_ptr<Guard> guard) : guard_(std::move(guard)) {}
ClockGuard::ClockGuard(ClockGuard&&) noexcept = default;

ClockGuard& ClockGuard::operator=(ClockGuard&& other) noexcept {
  if (this != &other) {
    if (guard_ != nullptr) static_cast<void>(guard_->release());
    guard_ = std::move(other.guard_);
  }
  return *this;
}

ClockGuard::~ClockGuard() {
  if (guard_ != nullptr) static_cast<void>(guard_->release());
}

Result<ClockGuard> ClockGuard::lock(const std::string& worker_path, const std::string& uuid, std::optional<int> mhz) {
  TRY(device::check_worker_program(worker_path));
  std::vector<std::string> command = guard_command(worker_path, uuid);
  if (mhz) command.insert(command.end(), {"--lock-mhz", std::to_string(*mhz)});
  TRY_ASSIGN(auto child, ChildProcess::start(command, kMaxGuardAnswerBytes));
  const Result<protocol::Reply> reply = next_reply(*child);
  if (!reply) {
    child->kill();
    return tl::unexpected(cleaned_up(reply.error(), worker_path, uuid));
  }
  if (!reply->body) return tl::unexpected(reply->body.error());
  auto guard = std::make_unique<Guard>(Guard{worker_path, uuid, std::move(child), 0, {}});
  try {
    guard->locked_hz = reply->body->at("locked_mhz").get<int>() * 1e6;
    guard->note = note_of(*reply->body);
  } catch (const json::exception& error) {
    static_cast<void>(guard->release());
    return fail(ErrorKind::kEnvironment,
                fmt::format("{} gave an answer that is not understood: {}", kGuard, error.what()));
  }
  return ClockGuard(std::move(guard));
}

bool ClockGuard::holds() const {
  if (guard_->child == nullptr) return false;
  guard_->child->pump();
  return !guard_->child->ended();
}

double ClockGuard::locked_hz() const { return guard_->locked_hz; }
const std::string& ClockGuard::note() const { return guard_->note; }
Result<void> ClockGuard::release() { return guard_->release(); }

}  // namespace pgtune::tool
