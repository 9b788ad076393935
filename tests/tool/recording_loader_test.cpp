// SPDX-License-Identifier: MIT
// Which of several recordings answers for a problem, and what is said where none does.
#include "tool/pgtune/recording_loader.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "tests/tool/store_fixture.hpp"
#include "tool/pgtune/command_error.hpp"
#include "tool/pgtune/database_store.hpp"

namespace pgtune::tool {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Problem shaped(const char* shape) { return with_default_strides(*parse_shape(shape)).value(); }

/// A recording of one finished search, on a GPU of its own.
db::Database recording_of(const char* shape, const std::string& gpu) {
  db::Database database = db::Database::open_memory();
  DatabaseStore store(database);
  session::StoreKey key = test::store_key();
  key.problem = shaped(shape);
  key.device.uuid = gpu;
  store.begin(key, session::SessionKind::kSearch, 1, "pgtune search");
  store.save_reference({"cuBLASLt 13", {{0, "first", 0, 2, 0}}, 0, 0, 1, 0});
  store.save_trial(test::variant(16), test::build("16"), test::good_trial(1.5));
  store.finish(std::nullopt);
  return database;
}

class RecordingsTest : public ::testing::Test {
 protected:
  static std::vector<db::Database> two() {
    std::vector<db::Database> recordings;
    recordings.push_back(recording_of("512x512x512", "GPU-1111"));
    recordings.push_back(recording_of("256x256x256", "GPU-2222"));
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

TEST_F(RecordingsTest, WhereNoneDoesAllTheyHoldIsNamed) {
  try {
    static_cast<void>(load_recording(recordings_, test::tiny(), shaped("64x64x64")));
    FAIL() << "64x64x64 is in neither";
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("does not hold 64x64x64"), HasSubstr("512x512x512 f32 nn"),
                                    HasSubstr("256x256x256 f32 nn")));
  }
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
  EXPECT_THAT(recorded_problems(recordings_.front(), test::tiny("decaf")), ElementsAre("512x512x512 f32 nn"));
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
