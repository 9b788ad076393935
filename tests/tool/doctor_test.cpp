// SPDX-License-Identifier: MIT
// `pgtune doctor` as a program, with workers that only say one line.
#include <regex>

#include "tests/tool/cli_fixture.hpp"
#include "tests/tool/doctor_facts.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

/// Where lines are wrapped depends on how long the paths in them are.
std::string unwrapped(const std::string& text) { return std::regex_replace(text, std::regex("\n +"), " "); }

class DoctorTest : public CliTest {
 protected:
  /// A worker that runs `script` in a shell.
  void use_worker(const std::string& script) {
    write("worker", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(path("worker"), std::filesystem::perms(0755));
    launch_.environment["PGTUNE_WORKER"] = path("worker");
  }
  void use_answer(const json& facts) {
    use_worker("echo \"$@\" >'" + path("asked") + "'; echo '" + facts.dump() + "'");
  }
};

TEST_F(DoctorTest, AMachineWithEverythingEndsWith0) {
  use_answer(good_facts());
  const Finished result = pgtune({"doctor", "--device", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(read("asked"), "--role doctor --gpu 1\n");
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("driver          ok       580.65.06, up to CUDA 13.0\n"),
                    HasSubstr("NVRTC           ok       13.0, /opt/cuda/lib64/libnvrtc.so.13 (CUDA_HOME)\n"),
                    HasSubstr("library order   ok       (PGTUNE_CUDA_HOME), CUDA_HOME, dynamic loader\n"),
                    HasSubstr("database        ok       none yet\n"), HasSubstr("file system"), HasSubstr("free space"),
                    Not(HasSubstr("missing")), Not(HasSubstr("\x1b["))));
  expect_80_columns(result.out);
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(DoctorTest, SomethingMissingEndsWith3AndHasARemedy) {
  json facts = good_facts();
  facts["cublaslt"] = {{"problem", "cannot load libcublasLt.so.13: no such file; install cuBLAS"}};
  facts["administrator"] = false;
  use_answer(facts);
  const Finished result = pgtune({"doctor"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, AllOf(HasSubstr("cuBLASLt        missing  cannot load libcublasLt.so.13: no such file\n"
                                          "  -> install cuBLAS\n"),
                                HasSubstr("lock clocks     note ")));
  EXPECT_THAT(result.err, HasSubstr("Without it a search prints recorded answers"));
  expect_80_columns(result.out);
}

TEST_F(DoctorTest, Json) {
  use_answer(good_facts());
  const json out = json::parse(pgtune({"doctor", "--json"}).out);
  EXPECT_EQ(out.at("schema"), 2);
  EXPECT_EQ(out.at("ok"), true);
  EXPECT_EQ(out.at("facts").at("gpu"), 1);
  EXPECT_EQ(out.at("checks").at(0).at("name"), "worker");
  EXPECT_EQ(out.at("checks").at(0).at("state"), "ok");
  EXPECT_FALSE(out.at("checks").at(0).contains("remedy"));
}

TEST_F(DoctorTest, NoWorkerLeavesTheFiles) {
  launch_.environment["PGTUNE_WORKER"] = path("no-worker");
  const Finished result = pgtune({"doctor"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, AllOf(HasSubstr("worker          missing  there is no worker program"),
                                HasSubstr("  -> Build pgtune where"), HasSubstr("free space")));
  expect_80_columns(result.out);
  const json out = json::parse(pgtune({"doctor", "--json"}).out);
  EXPECT_EQ(out.at("ok"), false);
  EXPECT_TRUE(out.at("facts").is_null());
  EXPECT_EQ(out.at("checks").at(0).at("state"), "missing");
}

TEST_F(DoctorTest, AWorkerThatFailsIsTold) {
  use_worker("echo 'w: error while loading shared libraries: libm.so.6: cannot open' >&2; exit 127");
  EXPECT_THAT(pgtune({"doctor"}).out, HasSubstr("libm.so.6"));
  use_worker("kill -SEGV $$");
  EXPECT_THAT(pgtune({"doctor"}).out, HasSubstr("SIGSEGV"));
  for (const char* answer : {"no JSON", "{}", "[1]"}) {
    use_worker(std::string("echo '") + answer + "'");
    const Finished result = pgtune({"doctor"});
    EXPECT_EQ(result.exit_code, 3) << answer;
    EXPECT_THAT(unwrapped(result.out), HasSubstr("not understood")) << answer;
  }
}

TEST_F(DoctorTest, AnotherDeviceIsAUsageError) {
  const Finished result = pgtune({"doctor", "--device", "recording"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--device is 'recording'. Give a GPU's number or UUID"));
}

TEST_F(DoctorTest, FilesThatNeedAttentionAreNotes) {
  use_answer(good_facts());
  write("text.db",
        "no database, but longer than the hundred bytes that a file of SQLite begins with, whatever is in it\n");
  std::filesystem::create_directories(path(".config/pgtune"));
  write(".config/pgtune/config.json", "{\"job\": 3}");
  const Finished result = pgtune({"doctor", "--db", path("text.db")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(unwrapped(result.out), AllOf(HasSubstr("configuration   note "), HasSubstr("did you mean 'jobs'?"),
                                           HasSubstr("database        note "), HasSubstr("is not a pgtune database")));
  // Without --db the configuration would be asked for the database.
  EXPECT_EQ(pgtune({"doctor"}).exit_code, 0);
}

TEST_F(DoctorTest, DatabaseThatIsThereAndItsJournal) {
  ASSERT_EQ(search().exit_code, 0);
  use_answer(good_facts());
  const Finished result = pgtune({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("journal         ok       "));
  EXPECT_THAT(result.out, Not(HasSubstr("none yet")));
}

TEST_F(DoctorTest, ADatabaseInTheCurrentFolder) {
  use_worker("echo '" + good_facts().dump() + "'");
  const std::string here = std::filesystem::current_path().string();
  EXPECT_THAT(pgtune({"doctor", "--db", "none.db"}).out,
              AllOf(HasSubstr("(" + here + "/none.db)"), HasSubstr("local (" + here + ")")));
}

TEST_F(DoctorTest, AFolderThatCannotBeWrittenTo) {
  use_worker("echo '" + good_facts().dump() + "'");
  launch_.unprivileged = true;
  EXPECT_THAT(pgtune({"doctor", "--db", "/proc/pgtune/none.db"}).out, HasSubstr("cannot be created"));
}

}  // namespace
}  // namespace pgtune::tool::test
