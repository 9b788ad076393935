// SPDX-License-Identifier: MIT
// Which of several recordings answers for a problem, and what is said where none does.
#include "tool/pgtune/replay/recording_loader.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "tests/tool/store_fixture.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/measuring/database_store.hpp"

namespace pgtune::tool {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Problem shaped(const char* shape) { return with_default_strides(*parse_shape(shape)).value(); }

/// A finished search whose one variant took `time_s`.
void record(db::Database& database, const Problem& problem, const std::string& gpu, double power_limit_w = 700,
            double time_s = 1.5) {
  DatabaseStore store(database);
  session::StoreKey key = test::store_key();
  key.problem = problem;
  key.device.uuid = gpu;
  key.device.power_limit_w = power_limit_w;
  store.begin(key, session::SessionKind::kSearch, 1, "pgtune search");
  store.save_baseline({"cuBLASLt 13", {{0, "first", 0, 2, 0}}, 0, 0, 1, 0});
  store.save_trial(test::variant(16), test::build("16"), test::good_trial(time_s));
  store.finish(std::nullopt);
}

/// A recording of one finished search, on a GPU of its own.
db::Database recording_of(const Problem& problem, const std::string& gpu) {
  db::Database database = db::Database::open_memory();
  record(database, problem, gpu);
  return database;
}

class RecordingsTest : public ::testing::Test {
 protected:
  static std::vector<db::Database> two() {
    std::vector<db::Database> recordings;
    recordings.push_back(recording_of(shaped("512x512x512"), "GPU-1111"));
    recordings.push_back(recording_of(shaped("256x256x256"), "GPU-2222"));
    return recordings;
  }
  const std::vector<db::Database> recordings_ = two();
};

TEST_F(RecordingsTest, TheOneThatHoldsTheProblemAnswersWithItsOwnGpu) {
  for (const auto& [shape, gpu] : {std::pair{"512x512x512", "GPU-1111"}, std::pair{"256x256x256", "GPU-2222"}}) {
    const device::Recording recording = load_recording(recordings_, test::tiny(), shaped(shape));
    EXPECT_EQ(recording.device.uuid, gpu);
    ASSERT_EQ(recording.problems.size(), 1U);
    EXPECT_EQ(recording.problems.front().variants.size(), 1U);
  }
}

TEST(RecordingOfSeveralBoards, EachProblemIsReplayedOnTheBoardThatMeasuredIt) {
  std::vector<db::Database> recordings;
  recordings.push_back(db::Database::open_memory());
  record(recordings[0], shaped("512x512x512"), "GPU-1111");
  record(recordings[0], shaped("256x256x256"), "GPU-2222");
  EXPECT_EQ(recorded_problems(recordings[0], test::tiny()).size(), 2U);
  for (const auto& [shape, gpu] : {std::pair{"512x512x512", "GPU-1111"}, std::pair{"256x256x256", "GPU-2222"}}) {
    EXPECT_EQ(load_recording(recordings, test::tiny(), shaped(shape)).device.uuid, gpu);
    EXPECT_EQ(recorded_device(recordings[0], test::tiny(), shaped(shape)).uuid, gpu);
  }
}

TEST(RecordingOfSeveralBoards, AProblemThatTwoMeasuredIsTheNewerOnesAlone) {
  std::vector<db::Database> recordings;
  recordings.push_back(db::Database::open_memory());
  record(recordings[0], shaped("512x512x512"), "GPU-1111", 700, 1.5);
  record(recordings[0], shaped("512x512x512"), "GPU-2222", 700, 1.6);
  record(recordings[0], shaped("256x256x256"), "GPU-1111", 700, 1.7);
  const device::Recording recording = load_recording(recordings, test::tiny(), shaped("512x512x512"));
  EXPECT_EQ(recording.device.uuid, "GPU-2222");
  ASSERT_EQ(recording.problems.size(), 1U);
  EXPECT_EQ(recording.problems.front().variants.at(test::variant(16).id()).trial.samples.front().time_s, 1.6);
}

TEST(RecordingOfSeveralBoards, OnesOfAnotherPowerLimitAreNotReplayed) {
  std::vector<db::Database> recordings;
  recordings.push_back(db::Database::open_memory());
  record(recordings[0], shaped("512x512x512"), "GPU-1111", 500);
  record(recordings[0], shaped("256x256x256"), "GPU-2222");
  EXPECT_EQ(recorded_problems(recordings[0], test::tiny()), std::vector{shaped("256x256x256")});
  EXPECT_EQ(database_holding(recordings, test::tiny(), shaped("512x512x512")), nullptr);
}

TEST_F(RecordingsTest, WhereNoneDoesAllTheyHoldIsNamed) {
  try {
    static_cast<void>(load_recording(recordings_, test::tiny(), shaped("64x64x64")));
    FAIL() << "64x64x64 is in neither";
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("does not hold 64x64x64"), HasSubstr("512x512x512 f32 nn"),
                                    HasSubstr("256x256x256 f32 nn")));
  }
}

/// What is said of a problem that none of the recordings, one for each of `held`, has.
std::string said_of(const Problem& wanted, const std::vector<Problem>& held) {
  std::vector<db::Database> recordings;
  for (const Problem& problem : held) recordings.push_back(recording_of(problem, "GPU-1111"));
  try {
    static_cast<void>(load_recording(recordings, test::tiny(), wanted));
  } catch (const CommandError& error) {
    return error.what();
  }
  return "it is held";
}

TEST(UnrecordedProblem, TheNearestAreNamedFirst) {
  const std::vector<Problem> held{shaped("256x256x256"),    shaped("8192x8192x8192"), shaped("4000x4096x64"),
                                  shaped("1024x1024x1024"), shaped("4096x4096x4096"), shaped("4096x4096x4096"),
                                  shaped("64x64x64")};
  EXPECT_THAT(said_of(shaped("5000x5000x5000"), held),
              HasSubstr("Nearest to it, it holds: 4096x4096x4096 f32 nn, 8192x8192x8192 f32 nn, 1024x1024x1024 f32 nn, "
                        "4000x4096x64 f32 nn, 256x256x256 f32 nn and 1 more."));
}

TEST(UnrecordedProblem, DtypeThenLayoutComeBeforeTheExtents) {
  Problem half = shaped("1000x1000x1000");
  half.dtype = Dtype::kF16;
  const Problem turned = with_default_strides(*with_layout(*parse_shape("1000x1000x1000"), "nt")).value();
  EXPECT_THAT(said_of(shaped("1000x1000x1001"), {half, turned, shaped("64x64x64")}),
              HasSubstr("it holds: 64x64x64 f32 nn, 1000x1000x1000 f32 nt, 1000x1000x1000 f16 nn."));
}

TEST_F(RecordingsTest, AnotherVersionOfTheTemplateIsSaidToBeOne) {
  try {
    static_cast<void>(load_recording(recordings_, test::tiny("decaf"), shaped("512x512x512")));
    FAIL() << "made with another text";
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), HasSubstr("another version of template 'tiny'"));
  }
}

TEST_F(RecordingsTest, ProblemsOfOtherVersionsAreNamedToo) {
  EXPECT_THAT(recorded_problems(recordings_.front(), test::tiny("decaf")), ElementsAre(shaped("512x512x512")));
  try {
    static_cast<void>(load_recording(recordings_, test::tiny("decaf"), shaped("64x64x64")));
    FAIL() << "64x64x64 is in neither";
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("does not hold 64x64x64"), HasSubstr("512x512x512 f32 nn"),
                                    HasSubstr("256x256x256 f32 nn")));
  }
}

TEST_F(RecordingsTest, ATemplateTheyDoNotHoldIsNamed) {
  try {
    static_cast<void>(load_recording(recordings_, test::tiny("c0ffee", "wide"), shaped("512x512x512")));
    FAIL() << "wide is in neither";
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), HasSubstr("holds nothing of template 'wide'"));
  }
}

}  // namespace
}  // namespace pgtune::tool
