// SPDX-License-Identifier: MIT
// The cubin cache against other users, links and other processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/cubin_cache.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::size_t kEnough = 1024;

CubinKey sample_key() {
  CubinKey key;
  key.add_text("option", "-DBM=64");
  return key;
}

std::string refusal(const fs::path& folder) {
  const auto cache = CubinCache::open(folder);
  EXPECT_TRUE(!cache && cache.error().kind == ErrorKind::kEnvironment);
  return cache ? "" : cache.error().message;
}

TEST(PrivateCache, ALinkInItsPlaceIsRefused) {
  const TestFolder folder;
  fs::create_directory(folder.path() / "elsewhere");
  fs::create_directory_symlink(folder.path() / "elsewhere", folder.path() / "link");
  EXPECT_THAT(refusal(folder.path() / "link"), HasSubstr("it is a symbolic link"));
  EXPECT_THAT(refusal(folder.path() / "link" / ""), HasSubstr("it is a symbolic link"));
  fs::create_directory(folder.path() / "cache");
  fs::create_directory_symlink(folder.path() / "elsewhere", folder.path() / "cache" / "cubin");
  EXPECT_THAT(refusal(folder.path() / "cache"), HasSubstr("it is a symbolic link"));
  EXPECT_TRUE(fs::is_empty(folder.path() / "elsewhere"));
}

TEST(PrivateCache, ALinkAboveItIsTheUsersBusiness) {
  const TestFolder folder;
  fs::create_directory(folder.path() / "scratch");
  fs::create_directory_symlink(folder.path() / "scratch", folder.path() / "home_cache");
  EXPECT_TRUE(CubinCache::open(folder.path() / "home_cache" / "pgtune"));
}

TEST(PrivateCache, AFolderOthersCanWriteToIsRefused) {
  const TestFolder folder;
  fs::create_directory(folder.path() / "cache");
  ASSERT_EQ(::chmod((folder.path() / "cache").c_str(), 0777), 0);
  EXPECT_THAT(refusal(folder.path() / "cache"), HasSubstr("other users can write to it"));
  ASSERT_EQ(::chmod((folder.path() / "cache").c_str(), 0755), 0);
  EXPECT_TRUE(CubinCache::open(folder.path() / "cache"));
}

TEST(PrivateCache, AnotherUsersFolderIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TestFolder folder;
  fs::create_directory(folder.path() / "cache");
  ASSERT_EQ(::chown((folder.path() / "cache").c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusal(folder.path() / "cache"), HasSubstr("it belongs to another user"));
}

TEST(PrivateCache, ALinkInAnEntrysPlaceIsNoEntryAndIsNotWrittenThrough) {
  const TestFolder folder;
  const auto cache = CubinCache::open(folder.path() / "cache");
  const auto stored = cache->store(sample_key(), "bytes", {});
  ASSERT_TRUE(stored);
  const fs::path outside = folder.path() / "outside";
  fs::rename(stored->cubin_path, outside);
  fs::create_symlink(outside, stored->cubin_path);
  EXPECT_FALSE(cache->find(sample_key()));
  fs::create_symlink(outside, stored->cubin_path);
  ASSERT_TRUE(cache->store(sample_key(), "other bytes", {}));
  EXPECT_EQ(read_file(outside), "bytes");
  EXPECT_TRUE(cache->find(sample_key()));
}

TEST(PrivateCache, ALinkInASubfoldersPlaceIsRefused) {
  const TestFolder folder;
  const auto cache = CubinCache::open(folder.path() / "cache");
  fs::create_directory(folder.path() / "elsewhere");
  fs::create_directory_symlink(folder.path() / "elsewhere",
                               folder.path() / "cache" / "cubin" / sample_key().hash().substr(0, 2));
  EXPECT_FALSE(cache->store(sample_key(), "bytes", {}));
  EXPECT_TRUE(fs::is_empty(folder.path() / "elsewhere"));
}

TEST(PrivateCache, EveryTruncationAndChangeIsNoticed) {
  const TestFolder folder;
  const auto cache = CubinCache::open(folder.path());
  const std::string cubin = "sixteen bytes---";
  for (std::size_t length = 0; length < cubin.size(); ++length) {
    const auto stored = cache->store(sample_key(), cubin, {});
    ASSERT_TRUE(stored && cache->find(sample_key()));
    fs::resize_file(stored->cubin_path, length);
    EXPECT_FALSE(cache->find(sample_key())) << "cut to " << length;
    ASSERT_TRUE(cache->store(sample_key(), cubin, {}));
    std::string changed = cubin;
    changed[length] = static_cast<char>(changed[length] ^ 1);
    std::ofstream(stored->cubin_path, std::ios::binary) << changed;
    EXPECT_FALSE(cache->find(sample_key())) << "changed at " << length;
  }
}

TEST(PrivateCache, HostileSidecarsAreNoEntries) {
  const TestFolder folder;
  const auto cache = CubinCache::open(folder.path());
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), std::string(100000, '['),
        std::string(R"({"schema": 1})"), std::string(R"({"schema": 1, "key": 7, "cubin_bytes": -1, "build": []})"),
        std::string("\xff\xfe\0", 3)}) {
    const auto stored = cache->store(sample_key(), "bytes", {});
    ASSERT_TRUE(stored);
    std::ofstream(fs::path(stored->cubin_path).replace_extension(".json"), std::ios::binary) << text;
    EXPECT_FALSE(cache->find(sample_key())) << text.substr(0, 40);
  }
}

TEST(PrivateCache, OwnFilesOnly) {
  const TestFolder folder;
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "12345";
  EXPECT_EQ(read_own_file(file, kEnough), "12345");
  EXPECT_EQ(read_own_file(file, 5), "12345");
  EXPECT_EQ(read_own_file(file, 4), std::nullopt);
  EXPECT_EQ(read_own_file(folder.path(), kEnough), std::nullopt);
  EXPECT_EQ(read_own_file(folder.path() / "gone", kEnough), std::nullopt);
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_own_file(folder.path() / "pipe", kEnough), std::nullopt);
}

TEST(PrivateCache, ManyProcessesStoreAndFindTheSameEntry) {
  const TestFolder folder;
  const std::string cubin(100000, 'c');
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool good = true;
      for (int round = 0; round < 20 && good; ++round) {
        const auto cache = CubinCache::open(folder.path() / "cache");
        good = cache && cache->store(sample_key(), cubin, {});
        const auto found = good ? cache->find(sample_key()) : std::nullopt;
        good = found && read_file(found->cubin_path) == cubin;
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) files += entry.is_regular_file() ? 1U : 0U;
  EXPECT_EQ(files, 2U) << "temporary files were left behind";
}

}  // namespace
}  // namespace pgtune::gpu
