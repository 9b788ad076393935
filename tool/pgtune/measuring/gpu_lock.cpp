// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/gpu_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kForEverybody = 0666;

/// Opens at least for reading, which is enough for a lock; -1 and errno on failure.
int open_existing(const fs::path& path) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int fd = ::open(path.c_str(), O_RDWR | kFlags);
  return fd >= 0 || errno != EACCES ? fd : ::open(path.c_str(), O_RDONLY | kFlags);
}

/// Never uses O_CREAT on an existing file: in a sticky folder the kernel refuses that for other users' files
/// (fs.protected_regular).
FileDescriptor open_or_make(const fs::path& path) {
  constexpr int kAttempts = 10;  // other processes create and remove it too
  for (int i = 0; i < kAttempts; ++i) {
    const int existing = open_existing(path);
    if (existing >= 0 || errno != ENOENT) return FileDescriptor(existing);
    const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kForEverybody);
    if (made >= 0) {
      ::fchmod(made, kForEverybody);  // for any umask
      return FileDescriptor(made);
    }
    if (errno != EEXIST) return {};
  }
  return {};
}

std::optional<pid_t> written_pid(const FileDescriptor& file) {
  std::array<char, 16> text{};
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
  pid_t pid = 0;
  if (count <= 0 || std::from_chars(text.data(), text.data() + count, pid).ec != std::errc() || pid <= 0)
    return std::nullopt;
  return pid;
}

/// Failing to write the holder's name does not prevent the lock.
void write_pid(const FileDescriptor& file, const std::string& text) {
  [[maybe_unused]] const int cut = ::ftruncate(file.get(), 0);
  [[maybe_unused]] const auto written = ::pwrite(file.get(), text.data(), text.size(), 0);
}

/// A cleaner of temporary files may have removed it since it was opened; then locking it has no effect.
bool is_still_there(const FileDescriptor& file, const fs::path& path) {
  struct stat opened {
  }, there{};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

}  // namespace

Result<std::variant<GpuLock, GpuLock::Holder>> GpuLock::take(const fs::path& folder, const std::string& uuid) {
  const fs::path path = folder / fmt::format("pgtune-{}.lock", uuid);
  for (;;) {
    FileDescriptor file = open_or_make(path);
    if (!file.is_open())
      return fail(
          ErrorKind::kEnvironment,
          fmt::format("cannot open '{}', by which processes of pgtune keep off each other's GPU: {}. Remove it, "
                      "or name another folder with PGTUNE_LOCK_DIR",
                      path.string(), std::generic_category().message(errno)));
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return std::variant<GpuLock, Holder>(Holder{written_pid(file)});
      return fail(ErrorKind::kEnvironment,
                  fmt::format("cannot lock '{}': {}. Name a folder on a local disk with PGTUNE_LOCK_DIR", path.string(),
                              std::generic_category().message(errno)));
    }
    if (!is_still_there(file, path)) continue;
    write_pid(file, fmt::format("{}\n", ::getpid()));
    return std::variant<GpuLock, Holder>(GpuLock(std::move(file)));
  }
}

GpuLock::~GpuLock() {
  if (file_.is_open()) write_pid(file_, {});
}

namespace {

constexpr std::chrono::milliseconds kLookAtLock{200};

std::string holder_text(const GpuLock::Holder& holder) {
  return holder.pid ? fmt::format("another pgtune (process {})", *holder.pid) : std::string("another pgtune");
}

}  // namespace

std::optional<GpuLock> lock_gpu(Context& context, const std::string& uuid, const std::string& name, bool wait,
                                const std::function<bool()>& give_up) {
  for (bool told = false;;) {
    auto taken = value_or_throw(GpuLock::take(context.paths().locks, uuid));
    if (auto* const lock = std::get_if<GpuLock>(&taken)) return std::move(*lock);
    const std::string who = holder_text(std::get<GpuLock::Holder>(taken));
    if (!wait)
      throw CommandError(ErrorKind::kEnvironment,
                         fmt::format("{} is measuring on {}, and two at once spoil each other's times. Run this with "
                                     "--wait, or choose another GPU with --device.",
                                     who, name));
    if (!std::exchange(told, true))
      context.terminal().note(fmt::format("{} is busy: waiting for {} to end", name, who));
    if (give_up()) return std::nullopt;
    std::this_thread::sleep_for(kLookAtLock);
  }
}

}  // namespace pgtune::tool
