// SPDX-License-Identifier: MIT
#include "db/sqlite/file_system.hpp"

#include <gtest/gtest.h>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

TEST(JournalPolicy, NetworkFileSystemsGetARollbackJournal) {
  for (const std::uint32_t type :
       {0x6969U /* NFS */, 0x517BU /* SMB */, 0xFF534D42U /* CIFS */, 0xFE534D42U /* SMB2 */, 0x0BD00BD0U /* Lustre */,
        0x47504653U /* GPFS */, 0x65735546U /* FUSE: sshfs, virtiofs */, 0x00C36400U /* Ceph */,
        0x19830326U /* BeeGFS */, 0x5346414FU /* AFS */, 0x01021997U /* 9P */}) {
    EXPECT_EQ(journal_policy(type).mode, "delete") << std::hex << type;
    EXPECT_EQ(journal_policy(type).synchronous, "full") << std::hex << type;
  }
}

TEST(JournalPolicy, LocalFileSystemsGetAWriteAheadLog) {
  for (const std::uint32_t type : {0xEF53U /* ext4 */, 0x58465342U /* XFS */, 0x01021994U /* tmpfs */}) {
    EXPECT_EQ(journal_policy(type).mode, "wal") << std::hex << type;
    EXPECT_EQ(journal_policy(type).synchronous, "normal") << std::hex << type;
  }
}

TEST(JournalPolicy, IsAppliedOnOpening) {
  const testing::ScratchFolder folder;
  const auto policy = journal_policy(folder.path());
  const auto database = Database::open(folder / "pgtune.db", OpenMode::kReadWriteCreate);
  EXPECT_EQ(database.journal_mode(), policy.mode);
  EXPECT_EQ(query_integer(database, "PRAGMA synchronous"), policy.synchronous == "normal" ? 1 : 2);
}

}  // namespace
}  // namespace pgtune::db
