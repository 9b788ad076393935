// SPDX-License-Identifier: MIT
// Which of several recordings answers for a problem, and what is said where none does.
#include "tool/pgtune/report/recorded_answer.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "db/sqlite/statement.hpp"
#include "tests/tool/store_fixture.hpp"
#include "tool/pgtune/measuring/database_store.hpp"

namespace pgtune::tool {
namespace {

using session::Objective;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Problem shaped(const char* shape) { return with_default_strides(*parse_shape(shape)).value(); }

/// A finished search that found the tile of 16.
void record(db::Database& database, session::StoreKey key) {
  DatabaseStore store(database);
  store.begin(key, 1, "pgtune search");
  session::Answer answer;
  for (const space::TemplateDefinition& definition : key.templates.definitions()) {
    const Variant variant{definition.name, {{"BM", std::int64_t{16}}}};
    store.save_trial(variant, test::build(definition.name), test::good_trial(1.5));
    answer.ranking.push_back({.variant = variant, .build = {}, .time_s = 1.5});
  }
  store.finish(answer);
}

session::StoreKey key_of(const Problem& problem, const std::string& gpu = "GPU-1111",
                         const space::TemplateSet& templates = test::tiny()) {
  session::StoreKey key = test::store_key();
  key.problem = problem;
  key.device.uuid = gpu;
  key.templates = templates;
  return key;
}

/// A recording of each.
std::vector<db::Database> recordings_of(const std::vector<session::StoreKey>& keys) {
  std::vector<db::Database> recordings;
  for (const session::StoreKey& key : keys) record(recordings.emplace_back(db::Database::open_memory()), key);
  return recordings;
}

std::optional<RecordedAnswer> answer_of(const std::vector<db::Database>& recordings, const Problem& problem,
                                        const space::TemplateSet& templates = test::tiny()) {
  return recorded_answer(recordings, templates, problem, {}, Objective::kTime, "");
}

/// Name and recorded hash of each template of another version.
auto is_of(const char* name, const char* hash) {
  return AllOf(Field(&OtherVersion::name, name), Field(&OtherVersion::measured_hash, hash));
}

TEST(RecordedAnswer, IsOfTheRecordingThatHoldsTheProblem) {
  const auto recordings =
      recordings_of({key_of(shaped("512x512x512"), "GPU-1111"), key_of(shaped("256x256x256"), "GPU-2222")});
  for (const auto& [shape, gpu] : {std::pair{"512x512x512", "GPU-1111"}, std::pair{"256x256x256", "GPU-2222"}}) {
    const auto found = answer_of(recordings, shaped(shape));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->result.device.uuid, gpu);
    EXPECT_EQ(found->result.answer.best().time_s, 1.5);
    EXPECT_FALSE(found->pgtune_version.empty());
    EXPECT_THAT(found->result.other_versions, IsEmpty());
  }
  EXPECT_FALSE(answer_of(recordings, shaped("64x64x64")));
}

TEST(RecordedAnswer, IsOfThisBuildsVersionWhereThereIsOne) {
  const Problem problem = shaped("512x512x512");
  std::vector<db::Database> recordings =
      recordings_of({key_of(problem, "GPU-1111", test::tiny("old")), key_of(problem, "GPU-2222", test::tiny("new"))});
  record(recordings[0], key_of(problem, "GPU-3333", test::tiny("older")));
  const auto own = answer_of(recordings, problem, test::tiny("new"));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->result.device.uuid, "GPU-2222");
  EXPECT_THAT(own->result.other_versions, IsEmpty());
  const auto other = answer_of(recordings, problem, test::tiny("newest"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->result.device.uuid, "GPU-3333") << "the newest of the first";
  EXPECT_THAT(other->result.other_versions, ElementsAre(is_of("tiny", "older")));
  EXPECT_EQ(other->templates.id().content_hash, "older");
}

TEST(RecordedAnswer, IsTheNewestOfEquals) {
  const Problem problem = shaped("512x512x512");
  auto recordings =
      recordings_of({key_of(problem, "GPU-1111"), key_of(problem, "GPU-2222"), key_of(problem, "GPU-3333")});
  db::execute(recordings[0], "UPDATE sessions SET finished_at = '2001-01-01T00:00:00Z'");
  db::execute(recordings[2], "UPDATE sessions SET finished_at = '2002-01-01T00:00:00Z'");
  EXPECT_EQ(answer_of(recordings, problem)->result.device.uuid, "GPU-2222");
}

TEST(RecordedAnswer, IsOfTheDeviceAskedForRatherThanOfThisVersion) {
  const Problem problem = shaped("512x512x512");
  session::StoreKey old = key_of(problem, "GPU-1111", test::tiny("old")),
                    here = key_of(problem, "GPU-2222", test::tiny("new"));
  old.device.name = "NVIDIA H200";
  here.device.name = "NVIDIA H100";
  const auto recordings = recordings_of({here, old});
  for (const auto& [name, gpu] : {std::pair{"NVIDIA H200", "GPU-1111"}, std::pair{"NVIDIA H100", "GPU-2222"},
                                  std::pair{"NVIDIA B200", "GPU-2222"}}) {
    const auto found = recorded_answer(recordings, test::tiny("new"), problem, {}, Objective::kTime, name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->result.device.uuid, gpu) << name;
  }
}

TEST(RecordedAnswer, HasTheTemplatesThatWereTriedAndIsOfTheBestOnes) {
  const Problem problem = shaped("512x512x512");
  const auto recordings =
      recordings_of({key_of(problem, "GPU-1111", space::TemplateSet({test::tiny("same"), test::tiny("old", "wide")}))});
  const auto both = answer_of(
      recordings, problem, space::TemplateSet({test::tiny("same"), test::tiny("new", "wide"), test::tiny("x", "y")}));
  ASSERT_TRUE(both);
  EXPECT_THAT(both->result.other_versions, IsEmpty()) << "the best one's is this build's";
  EXPECT_EQ(both->templates.title(), "tiny, wide");
  EXPECT_TRUE(answer_of(recordings, problem, test::tiny("same")));
  EXPECT_FALSE(answer_of(recordings, problem, test::tiny("new", "wide"))) << "another one was the best";
}

TEST(RecordedAnswer, IsUnderTheConditionsAndByTheObjectiveAskedFor) {
  const Problem problem = shaped("512x512x512");
  const auto recordings = recordings_of({key_of(problem)});
  Conditions burst;
  burst.regime = Regime::kBurst;
  EXPECT_FALSE(recorded_answer(recordings, test::tiny(), problem, burst, Objective::kTime, ""));
  EXPECT_FALSE(recorded_answer(recordings, test::tiny(), problem, {}, Objective::kEnergy, ""));
  EXPECT_THAT(unrecorded_text(recordings, problem),
              HasSubstr("holds 512x512x512 f32 nn under 'sustained rotated uniform:20231107 observed' with tiny only"));
}

TEST(RecordedAnswer, OfAnotherTemplateThanItsRowIsDamage) {
  const Problem problem = shaped("512x512x512");
  const auto recordings = recordings_of({key_of(problem)});
  db::execute(recordings.front(), "DELETE FROM samples; DELETE FROM trials");
  EXPECT_TRUE(answer_of(recordings, problem)) << "what it tried is not needed";
  db::execute(recordings.front(), "UPDATE templates SET name = 'wide'");
  EXPECT_THROW(static_cast<void>(answer_of(recordings, problem, test::tiny("c0ffee", "wide"))), db::Error);
}

/// What is said of a problem that none of the recordings, one for each of `held`, has.
std::string said_of(const Problem& wanted, const std::vector<Problem>& held) {
  std::vector<session::StoreKey> keys;
  for (const Problem& problem : held) keys.push_back(key_of(problem));
  return unrecorded_text(recordings_of(keys), wanted);
}

TEST(UnrecordedProblem, TheNearestAreNamedFirst) {
  const std::vector<Problem> held{shaped("256x256x256"),    shaped("8192x8192x8192"), shaped("4000x4096x64"),
                                  shaped("1024x1024x1024"), shaped("4096x4096x4096"), shaped("4096x4096x4096"),
                                  shaped("64x64x64")};
  EXPECT_THAT(said_of(shaped("5000x5000x5000"), held),
              HasSubstr("does not hold 5000x5000x5000 f32 nn. Nearest to it, it holds: 4096x4096x4096 f32 nn, "
                        "8192x8192x8192 f32 nn, 1024x1024x1024 f32 nn, 4000x4096x64 f32 nn, 256x256x256 f32 nn and 1 "
                        "more."));
}

TEST(UnrecordedProblem, DtypeThenLayoutComeBeforeTheExtents) {
  Problem half = shaped("1000x1000x1000");
  half.dtype = Dtype::kF16;
  const Problem turned = with_default_strides(*with_layout(*parse_shape("1000x1000x1000"), "nt")).value();
  EXPECT_THAT(said_of(shaped("1000x1000x1001"), {half, turned, shaped("64x64x64")}),
              HasSubstr("it holds: 64x64x64 f32 nn, 1000x1000x1000 f32 nt, 1000x1000x1000 f16 nn."));
}

}  // namespace
}  // namespace pgtune::tool
