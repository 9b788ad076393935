// SPDX-License-Identifier: MIT
// A machine that runs out of descriptors or processes: a clear error, and nothing lost.
#include <filesystem>

#include "tests/support/sanitizer_limits.hpp"
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class LimitsTest : public CliTest {
 protected:
  /// The same search without limits finds everything, whatever the limited one left behind.
  void expect_sound_and_complete() {
    launch_.descriptor_limit = launch_.process_limit = -1;
    launch_.unprivileged = false;
    launch_.environment.erase("PGTUNE_FAKE");
    if (std::filesystem::exists(database())) {
      const Finished check = pgtune({"db", "check"});
      EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
    }
    const Finished result = search({"--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(json::parse(result.out).at("counts").at("measured"), 10);
  }
};

TEST_F(LimitsTest, TooFewDescriptorsAreAnErrorWithTheCause) {
  PGTUNE_NEEDS_NO_SANITIZER;
  for (const long limit : {4L, 6L, 8L, 10L, 12L, 14L, 16L, 20L, 24L}) {
    launch_.descriptor_limit = limit;
    const Finished result = search({"--json"});
    if (result.exit_code == 0) continue;
    if (result.exit_code == 127) continue;  // too few for the loader: pgtune never began
    EXPECT_TRUE(result.exit_code == 3 || result.exit_code == 4) << limit << ": " << result.exit_code << result.err;
    EXPECT_THAT(result.err, testing::AnyOf(HasSubstr("Too many open files"), HasSubstr("open files"))) << limit;
    if (HasFailure()) break;
  }
  expect_sound_and_complete();
}

TEST_F(LimitsTest, ManyCompileWorkersMakeDoWithTheDescriptorsThereAre) {
  launch_.descriptor_limit = 28;
  const Finished result = search({"--json", "--jobs", "64"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_sound_and_complete();
}

TEST_F(LimitsTest, NoMoreProcessesIsAnErrorWithTheCause) {
  PGTUNE_NEEDS_NO_SANITIZER;
  std::filesystem::permissions(path(""), std::filesystem::perms::all);
  launch_.unprivileged = true;  // root has no such limit
  launch_.process_limit = 1;
  // Inaccessible, for any build folder.
  std::filesystem::copy_file(PGTUNE_FAKE_WORKER, path("worker"));
  launch_.environment["PGTUNE_WORKER"] = path("worker");
  const Finished result = search({"--json", "--device", "GPU-fa4efa4e"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("Resource temporarily unavailable"));
}

}  // namespace
}  // namespace pgtune::tool::test
