// SPDX-License-Identifier: MIT
// The cubin cache on its own: keys, entries, damage, folders that cannot be used.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/gpu/test_folder.hpp"
#include "tuner/gpu/jit/cubin_cache.hpp"
#include "tuner/util/hash_text.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;

CubinKey key_of(std::initializer_list<std::pair<std::string, std::string>> fields) {
  CubinKey key;
  for (const auto& [name, value] : fields) key.add_text(name, value);
  return key;
}

BuildInfo sample_build() {
  BuildInfo build;
  build.registers = 128;
  build.static_smem_bytes = 4096;
  build.local_bytes = 16;
  build.spill_bytes = 8;
  build.compile_s = 0.25;
  return build;
}

void overwrite(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::size_t files_below(const fs::path& folder) {
  const fs::recursive_directory_iterator all(folder);
  return static_cast<std::size_t>(std::count_if(
      fs::begin(all), fs::end(all), [](const fs::directory_entry& entry) { return entry.is_regular_file(); }));
}

TEST(CubinKey, FieldsDoNotRunTogether) {
  EXPECT_NE(key_of({{"option", "-DA=1"}, {"option", "2"}}).hash(), key_of({{"option", "-DA=12"}}).hash());
  EXPECT_NE(key_of({{"option", "ab"}, {"option", "c"}}).hash(), key_of({{"option", "a"}, {"option", "bc"}}).hash());
  EXPECT_NE(key_of({{"a", "bc"}}).hash(), key_of({{"ab", "c"}}).hash());
}

TEST(CubinKey, OrderAndTypeOfFieldsMatter) {
  EXPECT_NE(key_of({{"option", "x"}, {"option", "y"}}).hash(), key_of({{"option", "y"}, {"option", "x"}}).hash());
  CubinKey contents;
  contents.add_contents("option", "x");
  EXPECT_NE(contents.hash(), key_of({{"option", "x"}}).hash());
}

TEST(CubinKey, SameFieldsGiveTheSameKey) {
  const std::string hash = key_of({{"option", "x"}}).hash();
  EXPECT_EQ(hash, key_of({{"option", "x"}}).hash());
  EXPECT_EQ(hash.size(), 32U);
}

TEST(CubinCache, FindsWhatWasStored) {
  const TestFolder folder;
  const auto cache = CubinCache::open(folder.path() / "new" / "cache");
  ASSERT_TRUE(cache) << cache.error().text();
  const CubinKey key = key_of({{"option", "x"}});
  EXPECT_FALSE(cache->find(key));

  const auto stored = cache->store(key,
                                   std::string("\x7f"
                                               "ELF\0cubin",
                                               10),
                                   sample_build());
  ASSERT_TRUE(stored) << stored.error().text();
  EXPECT_FALSE(stored->cached);
  EXPECT_EQ(stored->key_hash, key.hash());
  EXPECT_EQ(read_file(stored->cubin_path), std::string("\x7f"
                                                       "ELF\0cubin",
                                                       10));
  EXPECT_EQ(fs::path(stored->cubin_path).parent_path().filename(), key.hash().substr(0, 2));

  BuildInfo expected = *stored;
  expected.cached = true;
  EXPECT_EQ(cache->find(key), expected);
  EXPECT_FALSE(cache->find(key_of({{"option", "y"}})));
}

TEST(CubinCache, FoldersArePrivate) {
  const TestFolder folder;
  ASSERT_TRUE(CubinCache::open(folder.path() / "cache"));
  EXPECT_EQ(fs::status(folder.path() / "cache").permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(folder.path() / "cache" / "cubin").permissions(), fs::perms::owner_all);
}

TEST(CubinCache, EntriesSurviveMovingTheFolder) {
  const TestFolder folder;
  const CubinKey key = key_of({{"option", "x"}});
  ASSERT_TRUE(CubinCache::open(folder.path() / "old")->store(key, "cubin", sample_build()));
  fs::rename(folder.path() / "old", folder.path() / "new");
  const auto found = CubinCache::open(folder.path() / "new")->find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(read_file(found->cubin_path), "cubin");
}

TEST(CubinCache, StoringAgainReplacesTheEntry) {
  const TestFolder folder;
  const auto cache = CubinCache::open(folder.path());
  const CubinKey key = key_of({{"option", "x"}});
  ASSERT_TRUE(cache->store(key, "first", sample_build()));
  const auto second = cache->store(key, "second", sample_build());
  ASSERT_TRUE(second);
  EXPECT_EQ(cache->find(key)->cubin_hash, second->cubin_hash);
  EXPECT_EQ(files_below(folder.path()), 2U) << "a temporary file was left behind";
}

TEST(CubinCache, DescribesTheKeyBesideTheCubin) {
  const TestFolder folder;
  const auto cache = CubinCache::open(folder.path());
  CubinKey key = key_of({{"option", "-DBM=128"}});
  key.add_contents("kernel.cu", "source text");
  const auto stored = cache->store(key, "cubin", sample_build());
  const auto sidecar = nlohmann::json::parse(*read_file(fs::path(stored->cubin_path).replace_extension(".json")));
  EXPECT_EQ(sidecar.at("fields").at(1), nlohmann::json({"option", "-DBM=128"}));
  EXPECT_EQ(sidecar.at("fields").at(2).at(1), "11 bytes, xxh3 " + hash_text("source text"));
}

class DamagedEntry : public testing::Test {
 protected:
  void SetUp() override { cubin_ = cache_->store(key_, "the cubin's bytes", sample_build())->cubin_path; }

  void expect_removed_and_rebuildable() {
    EXPECT_FALSE(cache_->find(key_));
    EXPECT_EQ(files_below(folder_.path()), 0U);
    ASSERT_TRUE(cache_->store(key_, "the cubin's bytes", sample_build()));
    EXPECT_TRUE(cache_->find(key_));
  }

  const TestFolder folder_;
  const Result<CubinCache> cache_ = CubinCache::open(folder_.path());
  const CubinKey key_ = key_of({{"option", "x"}});
  fs::path cubin_;
};

TEST_F(DamagedEntry, ShortCubin) {
  overwrite(cubin_, "the cubin");
  expect_removed_and_rebuildable();
}

TEST_F(DamagedEntry, ChangedCubin) {
  overwrite(cubin_, "the cubin's bytez");
  expect_removed_and_rebuildable();
}

TEST_F(DamagedEntry, MissingCubin) {
  fs::remove(cubin_);
  expect_removed_and_rebuildable();
}

TEST_F(DamagedEntry, BrokenSidecar) {
  overwrite(fs::path(cubin_).replace_extension(".json"), "{\"schema\": 1, \"key\"");
  expect_removed_and_rebuildable();
}

TEST_F(DamagedEntry, SidecarOfAnotherKey) {
  const auto other = cache_->store(key_of({{"option", "y"}}), "the cubin's bytes", sample_build());
  fs::rename(fs::path(other->cubin_path).replace_extension(".json"), fs::path(cubin_).replace_extension(".json"));
  fs::remove(other->cubin_path);
  expect_removed_and_rebuildable();
}

TEST_F(DamagedEntry, CubinWithoutItsSidecarIsNoEntry) {
  fs::remove(fs::path(cubin_).replace_extension(".json"));
  EXPECT_FALSE(cache_->find(key_));
}

TEST(CubinCache, FolderThatCannotBeCreatedNamesCauseAndRemedy) {
  const TestFolder folder;
  overwrite(folder.path() / "file", "in the way");
  const auto cache = CubinCache::open(folder.path() / "file" / "cache");
  ASSERT_FALSE(cache);
  EXPECT_EQ(cache.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(cache.error().message.find((folder.path() / "file").string()), std::string::npos) << cache.error().message;
  EXPECT_NE(cache.error().message.find("PGTUNE_CACHE_DIR"), std::string::npos) << cache.error().message;
}

TEST(CubinCache, FileInPlaceOfTheFolderIsAnError) {
  const TestFolder folder;
  fs::create_directory(folder.path() / "cache");
  overwrite(folder.path() / "cache" / "cubin", "in the way");
  const auto cache = CubinCache::open(folder.path() / "cache");
  ASSERT_FALSE(cache);
  EXPECT_NE(cache.error().message.find("Not a directory"), std::string::npos) << cache.error().message;
}

TEST(CubinCache, FailingStoreNamesCauseAndRemedyAndLeavesNothing) {
  const TestFolder folder;
  const auto cache = CubinCache::open(folder.path());
  const CubinKey key = key_of({{"option", "x"}});
  overwrite(folder.path() / "cubin" / key.hash().substr(0, 2), "in the way");
  const auto stored = cache->store(key, "cubin", sample_build());
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(stored.error().message.find("PGTUNE_CACHE_DIR"), std::string::npos) << stored.error().message;
  EXPECT_EQ(files_below(folder.path()), 1U);
}

TEST(AtomicFile, FailedRenameRemovesTheTemporaryFile) {
  const TestFolder folder;
  fs::create_directories(folder.path() / "target" / "not_empty");
  const auto written = write_file_atomically(folder.path() / "target", "bytes");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("target"), std::string::npos);
  EXPECT_EQ(files_below(folder.path()), 0U);
}

}  // namespace
}  // namespace pgtune::gpu
