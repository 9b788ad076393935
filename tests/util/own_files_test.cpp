// SPDX-License-Identifier: MIT
#include "tuner/util/own_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "tests/support/scratch_folder.hpp"

namespace pgtune {
namespace {

namespace fs = std::filesystem;

class OwnFiles : public ::testing::Test {
 protected:
  [[nodiscard]] std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }
  const support::ScratchFolder folder_;
};

TEST_F(OwnFiles, AreWrittenWholeOrNotAtAll) {
  const fs::path file = folder_ / "file", taken = folder_ / "taken";
  ASSERT_TRUE(write_file_atomically(file, "first"));
  ASSERT_TRUE(write_file_atomically(file, "second"));
  EXPECT_EQ(read_file(file), "second");
  EXPECT_EQ(entries(), 1);
  fs::create_directory(taken);
  EXPECT_FALSE(write_file_atomically(taken, "text"));
  EXPECT_FALSE(write_file_atomically(folder_ / "nowhere" / "file", "text"));
  EXPECT_EQ(entries(), 2) << "no temporary file stays";
}

TEST_F(OwnFiles, ThatCannotBeWrittenWholeAreAnError) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{4, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto fits = write_file_atomically(folder_ / "fits", "1234");
  const auto does_not = write_file_atomically(folder_ / "file", "12345");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_TRUE(fits);
  ASSERT_FALSE(does_not);
  EXPECT_NE(does_not.error().message.find("File too large"), std::string::npos) << does_not.error().message;
  EXPECT_EQ(entries(), 1) << "no part of it stays";
}

TEST_F(OwnFiles, AreReadUpToALimit) {
  std::ofstream(folder_ / "file") << "12345";
  EXPECT_EQ(read_own_file(folder_ / "file", 5), "12345");
  EXPECT_EQ(read_own_file(folder_ / "file", 4), std::nullopt);
  EXPECT_EQ(read_own_file(folder_.path(), 5000), std::nullopt);
  EXPECT_EQ(read_own_file(folder_ / "gone", 5), std::nullopt);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_own_file(folder_ / "pipe", 5), std::nullopt);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown((folder_ / "file").c_str(), 12345, 12345), 0);
    EXPECT_EQ(read_own_file(folder_ / "file", 5), std::nullopt) << "another user's";
  }
  EXPECT_EQ(read_file(folder_ / "file", 5), "12345");
  EXPECT_EQ(read_file(folder_ / "file", 4), std::nullopt);
  EXPECT_EQ(read_file(folder_.path()), std::nullopt);
  EXPECT_EQ(read_file("/dev/zero", 100'000), std::nullopt);
  fs::create_symlink("file", folder_ / "link");
  EXPECT_EQ(read_own_file(folder_ / "link", 5), std::nullopt);
}

TEST_F(OwnFiles, LieInFoldersThatOthersCannotWriteTo) {
  const fs::path folder = folder_ / "a" / "b";
  ASSERT_TRUE(make_private_folder(folder));
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(make_private_folder(folder)) << "it is there";
  fs::create_directory_symlink(folder, folder_ / "link");
  EXPECT_FALSE(make_private_folder(folder_ / "link"));
  std::ofstream(folder_ / "file").flush();
  EXPECT_FALSE(make_private_folder(folder_ / "file"));
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder, fs::perms::owner_all | others);
    EXPECT_FALSE(make_private_folder(folder));
  }
}

}  // namespace
}  // namespace pgtune
