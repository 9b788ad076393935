// SPDX-License-Identifier: MIT
#include "tuner/util/own_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tuner/util/file_descriptor.hpp"

namespace pgtune {
namespace {

tl::unexpected<Error> cannot(std::string_view action, const std::filesystem::path& path, int code) {
  return fail(ErrorKind::kEnvironment,
              fmt::format("cannot {} '{}': {}", action, path.string(), std::generic_category().message(code)));
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

namespace fs = std::filesystem;

FileDescriptor opened_here(const fs::path& path, int flags) {
  return FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
}

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
    // An existing parent may forbid creation (EACCES, EROFS) and still contain a folder that we may use.
    const int code = errno;
    std::error_code ignored;
    if (!fs::is_directory(so_far, ignored)) return refuse(so_far, text_of(code));
  }
  return {};
}

}  // namespace

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  std::string temporary = path.string() + ".XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) return cannot("create a file beside", path, errno);

  int code = write_all(fd, bytes);
  if (code == 0 && ::fsync(fd) != 0) code = errno;
  if (::close(fd) != 0 && code == 0) code = errno;
  // The folder itself is not synced: losing the new name in a power failure costs one rebuild.
  if (code == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code == 0) return {};
  ::unlink(temporary.c_str());
  return cannot("write", path, code);
}

std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes, piece(std::size_t{1} << 16U, '\0');
  while (file && bytes.size() <= max_bytes) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    bytes.append(piece, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad() || bytes.size() > max_bytes) return std::nullopt;
  return bytes;
}

Result<void> make_private_folder(const fs::path& folder) {
  if (auto created = create_folders(folder); !created) return created;
  const auto opened = opened_here(folder, O_RDONLY | O_DIRECTORY);
  // A link looks like "Not a directory" or "Too many levels of symbolic links", which explains nothing.
  std::error_code ignored;
  if (opened.get() < 0) {
    const int code = errno;
    return refuse(folder, fs::is_symlink(folder, ignored) ? "it is a symbolic link" : text_of(code));
  }
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) return refuse(folder, text_of(errno));
  if (status.st_uid != ::geteuid()) return refuse(folder, "it belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse(folder, "other users can write to it. Look at what is in it, then remove it or `chmod go-w` it");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return refuse(folder, text_of(errno));
  return {};
}

std::optional<std::string> read_own_file(const fs::path& path, std::size_t max_bytes) {
  const auto opened = opened_here(path, O_RDONLY | O_NONBLOCK);  // a pipe instead of a file must not block the open
  struct stat status {};
  if (opened.get() < 0 || ::fstat(opened.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return std::nullopt;
  if (static_cast<std::size_t>(status.st_size) > max_bytes) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(opened.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace pgtune
