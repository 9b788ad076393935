// SPDX-License-Identifier: MIT
#include "db/sqlite/sqlite_error.hpp"

#include <sqlite3.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "db/database.hpp"

namespace pgtune::db {
namespace {

std::string detail(sqlite3* handle, int extended_code) {
  std::string text = sqlite3_errmsg(handle);
  if (const int system_error = sqlite3_system_errno(handle); system_error != 0) {
    text += std::string(", ") + std::strerror(system_error);
  }
  return text + ", SQLite error " + std::to_string(extended_code);
}

bool is_disk_full(sqlite3* handle, int primary_code) {
  const int system_error = sqlite3_system_errno(handle);
  // Growing the shared-memory file of the write-ahead log reports a full disk as an input/output error.
  return primary_code == SQLITE_FULL ||
         (primary_code == SQLITE_IOERR && (system_error == ENOSPC || system_error == EDQUOT));
}

/// Where a failed COMMIT is concerned, SQLite may not know the system's error any more.
bool hit_file_size_limit(sqlite3* handle, int extended_code) {
  const int system_error = sqlite3_system_errno(handle);
  rlimit limit{};
  return extended_code == SQLITE_IOERR_WRITE &&
         (system_error == EFBIG ||
          (system_error == 0 && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY));
}

/// SQLite reports failing to make a journal as an input/output error or as "unable to open".
bool lacks_descriptors(sqlite3* handle, int primary_code) {
  const int system_error = sqlite3_system_errno(handle);
  return (primary_code == SQLITE_CANTOPEN || primary_code == SQLITE_IOERR) &&
         (system_error == EMFILE || system_error == ENFILE);
}

std::string explain(sqlite3* handle, const std::string& origin, int extended_code) {
  const int primary_code = extended_code & 0xff;
  const std::string because = " (" + detail(handle, extended_code) + ")";
  if (is_disk_full(handle, primary_code)) {
    return "the disk is full, cannot write to database " + origin +
           ". Everything saved before is kept: free some space and run the same command again" + because;
  }
  if (hit_file_size_limit(handle, extended_code)) {
    return "database " + origin +
           " may not grow (limit on the size of files). Everything saved before is kept: raise the limit (ulimit -f) "
           "and"
           " run the same command again" +
           because;
  }
  if (lacks_descriptors(handle, primary_code)) {
    return "this process has no file descriptors left for database " + origin +
           ". Everything saved before is kept: raise the limit (ulimit -n) or use fewer --jobs, and run the same "
           "command"
           " again" +
           because;
  }
  switch (primary_code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "database " + origin +
             " stayed locked by another process. Wait for that process or stop it, then run the same command again" +
             because;
    case SQLITE_READONLY:
      return "database " + origin +
             " cannot be written. Make the file and its folder writable or use another with --db" + because;
    case SQLITE_NOTADB:
      return origin + " is not a pgtune database. Name another file with --db" + because;
    case SQLITE_CORRUPT:
      return "database " + origin + " is damaged. Restore it from a copy, or move it aside and search again" + because;
    case SQLITE_TOOBIG:
      return "database " + origin +
             " holds a text or row that is larger than any pgtune writes. Restore it from a copy, or name another with"
             " --db" +
             because;
    case SQLITE_NOMEM:
      return "out of memory for database " + origin +
             ". Everything saved before is kept: free some memory and run the same command again" + because;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "cannot open database " + origin +
             ". Check the permissions of the file and its folder or use another with --db" + because;
    case SQLITE_IOERR:
      return "cannot read or write database " + origin +
             ". Check the disk; where it is a network share, keep the database on a local disk with --db" + because;
    default:
      return "database " + origin + " failed" + because;
  }
}

}  // namespace

void throw_sqlite_error(sqlite3* handle, const std::string& origin) {
  const int extended_code = sqlite3_extended_errcode(handle);
  throw Error(explain(handle, origin, extended_code), extended_code);
}

}  // namespace pgtune::db
