// SPDX-License-Identifier: MIT
#include "db/sqlite/file_system.hpp"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "db/database.hpp"

namespace pgtune::db {
namespace {

// statfs(2), linux/magic.h and the list of coreutils (src/stat.c); the parallel file systems from their own sources.
// Clients in user space (sshfs, virtiofs, many object stores) show as FUSE. Shared by several hosts, or (FUSE, 9P,
// shared folders of virtual machines) not known to have coherent memory maps and locks.
constexpr std::array<std::uint32_t, 24> kNetworkTypes{
    0x00006969,  // NFS
    0x0000517B,  // SMB
    0xFF534D42,  // CIFS
    0xFE534D42,  // SMB2
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS
    0x65735546,  // FUSE
    0x00C36400,  // Ceph
    0x19830326,  // BeeGFS
    0xAAD7AAEA,  // PanFS
    0x5346414F,  // AFS
    0x6B414653,  // kAFS
    0x01021997,  // 9P
    0x73757245,  // Coda
    0x7461636F,  // OCFS2
    0x01161970,  // GFS2
    0x786F4256,  // VirtualBox shared folder
    0xBACBACBC,  // VMware shared folder
    0x7C7C6673,  // Parallels shared folder
    0x20030528,  // OrangeFS
    0xBEEFDEAD,  // StorNext
    0x013111A8,  // IBRIX
    0x61636673,  // ACFS
    0x0000564C,  // NCP
};

}  // namespace

JournalPolicy journal_policy(std::uint32_t file_system_type) {
  if (std::find(kNetworkTypes.begin(), kNetworkTypes.end(), file_system_type) != kNetworkTypes.end()) {
    // The write-ahead log needs memory shared by all processes that have the file open; different hosts share none.
    return {"delete", "full"};
  }
  // With a write-ahead log, NORMAL skips the sync after each commit. A killed process loses nothing that was committed.
  // A power failure may lose the last transactions, whose trials the search then repeats, but never damages the file.
  return {"wal", "normal"};
}

JournalPolicy journal_policy(const std::filesystem::path& folder) {
  struct statfs status {};
  const bool known = ::statfs(folder.c_str(), &status) == 0;
  return journal_policy(known ? static_cast<std::uint32_t>(status.f_type) : 0);
}

void create_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error("cannot create folder " + folder.string() + " for the database: " + error.message() +
                    ". Use another place with --db",
                0);
  }
}

bool is_writable(const std::filesystem::path& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

}  // namespace pgtune::db
