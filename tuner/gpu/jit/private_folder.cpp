// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/private_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> refuse(const fs::path& folder, const std::string& cause) {
  return fail(ErrorKind::kEnvironment, fmt::format("cannot use the cubin cache '{}': {}", folder.string(), cause));
}

std::string text_of(int code) { return std::generic_category().message(code); }

/// mkdir -p, with every folder it creates private to the user.
Result<void> create_folders(const fs::path& folder) {
  fs::path so_far;
  for (const fs::path& part : folder) {
    so_far /= part;
    if (::mkdir(so_far.c_str(), S_IRWXU) == 0 || errno == EEXIST || errno == EISDIR) continue;
    // A parent that exists may forbid creation (EACCES, EROFS) and still lead to a folder we may use.
    const int code = errno;
    std::error_code ignored;
    if (!fs::is_directory(so_far, ignored)) return refuse(so_far, text_of(code));
  }
  return {};
}

}  // namespace

Result<void> make_private_folder(const fs::path& folder) {
  if (auto created = create_folders(folder); !created) return created;
  const OpenFile opened(folder, O_RDONLY | O_DIRECTORY);
  // A link looks like "Not a directory" or "Too many levels of symbolic links", which explains nothing.
  std::error_code ignored;
  if (opened.fd() < 0) {
    const int code = errno;
    return refuse(folder, fs::is_symlink(folder, ignored) ? "it is a symbolic link" : text_of(code));
  }
  struct stat status {};
  if (::fstat(opened.fd(), &status) != 0) return refuse(folder, text_of(errno));
  if (status.st_uid != ::geteuid()) return refuse(folder, "it belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse(folder, "other users can write to it. Look at what is in it, then remove it or `chmod go-w` it");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return refuse(folder, text_of(errno));
  return {};
}

std::optional<std::string> read_own_file(const fs::path& path, std::size_t max_bytes) {
  const OpenFile opened(path, O_RDONLY | O_NONBLOCK);  // a pipe in a file's place must not hold up the open
  struct stat status {};
  if (opened.fd() < 0 || ::fstat(opened.fd(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return std::nullopt;
  if (static_cast<std::size_t>(status.st_size) > max_bytes) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(opened.fd(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace pgtune::gpu
