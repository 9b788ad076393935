// SPDX-License-Identifier: MIT
// In which versions of its templates a recording is replayed.
#include "tool/pgtune/replay/recorded_versions.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "db/queries/queries.hpp"
#include "tests/tool/store_fixture.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tool/pgtune/measuring/store_rows.hpp"
#include "tool/pgtune/replay/recording_loader.hpp"

namespace pgtune::tool {
namespace {

using space::TemplateId;
using space::TemplateSet;
using test::store_key;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A template with something to choose: tiles of 16 and 32.
space::TemplateDefinition tiled(const std::string& content_hash, const std::string& name = "tiny") {
  space::TemplateDefinition definition = test::tiny(content_hash, name);
  definition.dtypes = {Dtype::kF32};
  definition.parameters = {{"BM", {std::int64_t{16}, std::int64_t{32}}, std::int64_t{16}, ""}};
  return definition;
}

Variant tile_of(const std::string& name, std::int64_t tile) { return {name, {{"BM", tile}}}; }

class RecordedVersionsTest : public ::testing::Test {
 protected:
  RecordedVersionsTest() { add_database(); }
  void add_database() { databases_.push_back(db::Database::open_memory()); }
  /// A finished search in the newest database in which all of these were right.
  void record(const TemplateSet& templates, const std::vector<Variant>& right) {
    DatabaseStore store(databases_.back());
    session::StoreKey key = store_key();
    key.templates = templates;
    store.begin(key, session::SessionKind::kSearch, 1, "pgtune search");
    store.save_baseline({"cuBLASLt 13", {{0, "first", 0, 2, 0}}, 0, 0, 1, 0});
    for (const Variant& variant : right) store.save_trial(variant, test::build("a"), test::good_trial(1));
    store.finish(std::nullopt);
  }
  TemplateSet versions(const TemplateSet& templates) {
    return recorded_versions(databases_, templates, store_key().problem);
  }
  device::Recording load(const TemplateSet& templates) {
    return load_recording(databases_, templates, store_key().problem);
  }
  /// Name and recorded hash of what is replayed in another version.
  static std::vector<std::pair<std::string, std::string>> others(const TemplateSet& templates) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const space::OtherVersion& other : templates.other_versions())
      out.emplace_back(other.name, other.measured_hash);
    return out;
  }
  void expect_refused(const TemplateSet& templates) {
    EXPECT_THAT(others(versions(templates)), IsEmpty());
    try {
      static_cast<void>(load(versions(templates)));
      FAIL() << "nothing of it can be replayed";
    } catch (const CommandError& error) {
      EXPECT_THAT(error.what(), HasSubstr("was made with another version of template 'tiny' than this build's"));
    }
  }

  std::vector<db::Database> databases_;
};

TEST_F(RecordedVersionsTest, ThisBuildsAreLeftAsTheyAre) {
  record(tiled("new"), {test::variant(16)});
  EXPECT_THAT(others(versions(tiled("new"))), IsEmpty());
  EXPECT_EQ(versions(tiled("new")).id(), (TemplateId{"tiny", "new"}));
}

TEST_F(RecordedVersionsTest, AnotherVersionIsReplayedUnderItsOwnHash) {
  record(tiled("old"), {test::variant(16)});
  const TemplateSet found = versions(tiled("new"));
  EXPECT_THAT(others(found), ElementsAre(Pair("tiny", "old")));
  EXPECT_EQ(found.id(), (TemplateId{"tiny", "old"}));
  EXPECT_TRUE(load(found).problems.at(0).variants.contains(test::variant(16).id()));
}

TEST_F(RecordedVersionsTest, ThisBuildsArePreferredToANewerSearchAndToAnEarlierRecording) {
  record(tiled("new"), {test::variant(16)});
  record(tiled("old"), {test::variant(32)});
  EXPECT_THAT(others(versions(tiled("new"))), IsEmpty());
  databases_.clear();
  add_database();
  record(tiled("old"), {test::variant(32)});
  add_database();
  record(tiled("new"), {test::variant(16)});
  EXPECT_THAT(others(versions(tiled("new"))), IsEmpty());
  EXPECT_TRUE(load(versions(tiled("new"))).problems.at(0).variants.contains(test::variant(16).id()));
}

TEST_F(RecordedVersionsTest, OfOthersTheNewestOfTheFirstRecordingIsTaken) {
  record(tiled("older"), {test::variant(16)});
  record(tiled("old"), {test::variant(16)});
  add_database();
  record(tiled("elsewhere"), {test::variant(16)});
  EXPECT_THAT(others(versions(tiled("new"))), ElementsAre(Pair("tiny", "old")));
}

TEST_F(RecordedVersionsTest, WhereOneOfTwoChangedBothAreReplayedAsRecorded) {
  const std::vector<Variant> right{test::variant(16), tile_of("wide", 32)};
  record(TemplateSet({tiled("same"), tiled("old", "wide")}), right);
  const TemplateSet both({tiled("same"), tiled("new", "wide")});
  EXPECT_THROW(static_cast<void>(load(both)), CommandError) << "half of what was compared is no answer";
  const TemplateSet found = versions(both);
  EXPECT_THAT(others(found), ElementsAre(Pair("wide", "old")));
  EXPECT_THAT(found.ids(), ElementsAre(TemplateId{"tiny", "same"}, TemplateId{"wide", "old"}));
  EXPECT_EQ(load(found).problems.at(0).variants.size(), 2U);
}

TEST_F(RecordedVersionsTest, OnlyWhatWasTriedOfTheTemplatesAskedForCounts) {
  record(TemplateSet({tiled("same"), tiled("old", "wide")}), {test::variant(16), tile_of("wide", 32)});
  EXPECT_THAT(others(versions(tiled("same"))), IsEmpty()) << "the other template was not asked for";
  const TemplateSet more({tiled("same"), tiled("new", "narrow")});
  EXPECT_THAT(others(versions(more)), IsEmpty()) << "it was not tried";
}

TEST_F(RecordedVersionsTest, ASearchOfWhichNothingIsLegalHereIsPassedOver) {
  record(tiled("older"), {test::variant(16)});
  record(tiled("old"), {test::variant(64)});
  EXPECT_THAT(others(versions(tiled("new"))), ElementsAre(Pair("tiny", "older")));
}

TEST_F(RecordedVersionsTest, OtherParametersAreRefused) {
  record(tiled("old"), {test::variant(16)});
  space::TemplateDefinition more = tiled("new");
  more.parameters.push_back({"BN", {std::int64_t{16}}, std::int64_t{16}, ""});
  expect_refused(more);
  space::TemplateDefinition renamed = tiled("new");
  renamed.parameters.front().name = "TILE";
  expect_refused(renamed);
}

TEST_F(RecordedVersionsTest, OtherRulesAreRefused) {
  record(tiled("old"), {test::variant(16)});
  space::TemplateDefinition stricter = tiled("new");
  stricter.dtypes = {Dtype::kBf16};
  expect_refused(stricter);
}

TEST_F(RecordedVersionsTest, AVersionOfWhichNothingWasRightIsRefused) {
  DatabaseStore store(databases_.back());
  session::StoreKey key = store_key();
  key.templates = tiled("old");
  store.begin(key, session::SessionKind::kSearch, 1, "pgtune search");
  TrialReport wrong;
  wrong.outcome = {OutcomeKind::kWrongResult, "element 0 is off"};
  store.save_trial(test::variant(16), test::build("a"), wrong);
  store.finish(std::nullopt);
  expect_refused(tiled("new"));
}

TEST_F(RecordedVersionsTest, ASearchOfTwoVersionsOfATemplateIsRefused) {
  record(tiled("old"), {test::variant(16)});
  const db::RowId session = db::list_sessions(databases_.back()).front().id;
  db::save_trial(databases_.back(), session,
                 trial_row(test::variant(32), tiled("odd"), test::build("b"), test::good_trial(1)));
  expect_refused(tiled("new"));
}

}  // namespace
}  // namespace pgtune::tool
