// SPDX-License-Identifier: MIT
// No driver, no worker, no recording; databases that cannot be used; output that cannot be written.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using EnvironmentTest = CliTest;
using DatabaseTest = CliTest;

TEST_F(EnvironmentTest, NoGpuForAnOrdinal) {
  launch_.environment["PGTUNE_FAKE"] = "list||no_devices";
  const Finished result = search({"--device", "0"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("no driver is loaded. Install one"));
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(EnvironmentTest, DriverTooOldWhenTheGpuIsOpened) {
  launch_.environment["PGTUNE_FAKE"] = "prepare||error";
  const Finished result = search();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("fake: this machine cannot do it"));
}

TEST_F(EnvironmentTest, WorkerThatIsNotThere) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished result = search({"--device", "0"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("no-worker"));
}

TEST_F(EnvironmentTest, WorkerOfAnotherVersion) {
  launch_.environment["PGTUNE_FAKE"] = "hello||wrong_version";
  const Finished result = search();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("protocol"));
}

TEST_F(EnvironmentTest, FullOutputIsReported) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  launch_.output_file = "/dev/full";
  const Finished result = search();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("cannot write to standard output"));
  EXPECT_EQ(pgtune({"--version"}).exit_code, 3);
}

TEST_F(EnvironmentTest, DryRunNeedsNeitherGpuNorWorkerNorDatabase) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished result = search({"--dry-run"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("12  points in the space"), HasSubstr("10  after the template's rules"),
                                HasSubstr("10  to build and measure")));
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(DatabaseTest, TextFile) {
  write("notes.txt", "this is not a database, but a text file that is long enough to have a header's size.\n");
  const std::string before = read("notes.txt");
  const Finished result = search({"--db", path("notes.txt")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("notes.txt"), HasSubstr("not a")));
  EXPECT_EQ(read("notes.txt"), before);
}

TEST_F(DatabaseTest, APathThatCannotBeLookedAtIsAnErrorWithItsCause) {
  std::filesystem::create_symlink("loop.db", path("loop.db"));
  for (const std::string& name : {path("loop.db"), path(std::string(300, 'd') + ".db")}) {
    for (const char* command : {"search", "show"}) {
      const Finished result =
          std::string(command) == "search" ? search({"--db", name}) : pgtune({"show", "--db", name});
      EXPECT_EQ(result.exit_code, 4) << result.err;
      EXPECT_THAT(result.err, AllOf(HasSubstr(name), Not(HasSubstr("internal error"))));
    }
    EXPECT_EQ(search({"--db", name, "--dry-run"}).exit_code, 4);
  }
}

}  // namespace
}  // namespace pgtune::tool::test
