// SPDX-License-Identifier: MIT
// pgtune slurm: the script it writes, run here task by task without Slurm; scripts/test-slurm runs it on a cluster.
#include <sys/wait.h>

#include <cstdlib>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

class SlurmTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write("shapes.txt", "256x256x256\n512x512x512 nt batch 2  # a comment\n128x128x128\n");
    // No cluster, also where Slurm is installed; sbatch keeps what it is given.
    std::filesystem::create_directories(path("bin"));
    for (const char* program : {"scontrol", "sacct", "squeue"}) stand_in(program, "exit 1");
    stand_in("sbatch",
             "echo \"$@\" >>'" + path("submitted") + "'; cat >>'" + path("merge.sh") + "'; echo '12;cluster'");
  }

  Finished slurm(const std::vector<std::string>& more = {}) {
    return pgtune({"slurm", "--shapes", path("shapes.txt"), "--template", path("tiny.json"), "--gpus", "2", "--folder",
                   path("all of it"), "-o", path("job.sh")},
                  more);
  }

  void stand_in(const std::string& program, const std::string& script) const {
    write("bin/" + program, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(path("bin/" + program), std::filesystem::perms::owner_all);
  }

  /// `bash job.sh WHAT` with more of an environment; what it says of either kind is in `said`.
  int job(const std::string& what, const std::string& environment = {}) const {
    std::string command = "env -i";
    for (const auto& [name, value] : launch_.environment) command += " '" + name + "=" + value + "'";
    command += " 'PATH=" + path("bin") + ":/usr/bin:/bin' ";
    command += environment + " bash '" + path("job.sh") + "' " + what + " >'" + path("said") + "' 2>&1 </dev/null";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int task(int number, const std::string& environment = {}) const {
    return job("task", "SLURM_ARRAY_JOB_ID=7 SLURM_CPUS_PER_TASK=1 SLURMD_NODENAME=node" + std::to_string(number) +
                           " SLURM_ARRAY_TASK_ID=" + std::to_string(number) + " " + environment);
  }
  [[nodiscard]] std::string said() const { return read("said"); }
};

TEST_F(SlurmTest, ADryRunNeedsNoScript) {
  const std::vector<std::string> words{"slurm",  "--shapes", path("shapes.txt"), "--template", path("tiny.json"),
                                       "--gpus", "2"};
  const Finished planned = pgtune(words, {"--dry-run"});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.err, AllOf(HasSubstr(" in 2 tasks"), Not(HasSubstr("would write"))));
  EXPECT_THAT(planned.out, AllOf(HasSubstr("task 0: about "), HasSubstr("\ntask 1: about "),
                                 HasSubstr("\n  256x256x256 f32 nn\n"), HasSubstr("\n  512x512x512 f32 nt batch 2\n")));
  const Finished written = pgtune(words);
  EXPECT_EQ(written.exit_code, 2);
  EXPECT_THAT(written.err, HasSubstr("--output is required"));
}

TEST_F(SlurmTest, WritesWhatWasAskedFor) {
  const Finished written = slurm({"--time",
                                  "02:00:00",
                                  "--partition",
                                  "gpu",
                                  "--account",
                                  "me",
                                  "--gpu-type",
                                  "h200",
                                  "--sbatch=--constraint=a&b",
                                  "--cpus",
                                  "4",
                                  "--sbatch=--mail-type=END",
                                  "--sbatch=--exclusive",
                                  "--variants",
                                  "5",
                                  "--power",
                                  "--lda",
                                  "1024",
                                  "--jobs",
                                  "3",
                                  "--merge-partition",
                                  "cpu",
                                  "-v"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.err, AllOf(HasSubstr("3 problems in 2 tasks"), HasSubstr("bash " + path("job.sh"))));
  const std::string script = read("job.sh");
  for (const char* line :
       {"#!/bin/bash\n", "\n#SBATCH --array=0-1%2\n", "\n#SBATCH --gres=gpu:h200:1\n", "\n#SBATCH --cpus-per-task=4\n",
        "\n#SBATCH --time=02:00:00\n", "\n#SBATCH --partition=gpu\n", "\n#SBATCH --account=me\n",
        "\n#SBATCH --constraint=\"a&b\"\n", "\n#SBATCH --mail-type=END\n", "\n#SBATCH --exclusive\n",
        "\njobs='--jobs=3'\n", "\nmerge_options=('--partition=cpu' '--account=me')", "\n256x256x256 f32 nn lda 1024\n",
        "\n512x512x512 f32 nt batch 2 lda 1024\n"})
    EXPECT_THAT(script, HasSubstr(line));
  EXPECT_THAT(script, HasSubstr("#SBATCH --output=\"" + path("all of it") + "/logs/task-%a.log\"\n"));
  EXPECT_THAT(script, HasSubstr("options=('--device=0' '--lda=1024' '--template=" + path("tiny.json") +
                                "' '--variants=5' '--power')"));
  EXPECT_EQ(std::system(("bash -n '" + path("job.sh") + "'").c_str()), 0);
}

TEST_F(SlurmTest, MoreTasksWhereTheTimeIsShort) {
  const Finished planned = slurm({"--time", "00:00:45", "--dry-run", "--json", "--budget", "20s"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const auto plan = nlohmann::json::parse(planned.out);
  EXPECT_EQ(plan["tasks"].size(), 3U);
  EXPECT_EQ(plan["gpus"], 2);
  EXPECT_THAT(plan["tasks"][0]["expected_s"].get<double>(), ::testing::DoubleNear(24, 1));
  EXPECT_FALSE(std::filesystem::exists(path("job.sh")));
  EXPECT_FALSE(std::filesystem::exists(path("all of it")));
  EXPECT_THAT(slurm({"--time", "00:00:30", "--budget", "20s"}).err, HasSubstr("may be too short"));
}

TEST_F(SlurmTest, RefusesWhatCannotWork) {
  const auto expect = [](const Finished& result, int code, const std::string& words) {
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(words));
  };
  expect(slurm({"--time", "2h"}), 2, "--time '2h' is no time of Slurm's. Give minutes");
  expect(slurm({"--cpus", "0"}), 2, "--cpus '0'");
  expect(slurm({"--budget", "soon"}), 2, "soon");
  expect(slurm({"--total", "10m"}), 2, "unknown option '--total'");
  expect(slurm({"--partition", "a\"b"}), 2, "--partition");
  for (const char* device : {"h200", "auto", "all", "1"})
    expect(slurm({"--device", device}), 2, "a task has one GPU, number 0. Give --device 0, recording");
  expect(slurm({"--device", "recordings"}), 2, "unknown device 'recordings'");
  expect(slurm({"--sbatch", "mail"}), 2, "no option of sbatch");
  expect(slurm({"--db", "x.db"}), 2, "unknown option '--db' of 'pgtune slurm'");
  expect(slurm({"--force"}), 2, "unknown option '--force'");
  expect(pgtune({"slurm", "--shapes", path("shapes.txt"), "-o", path("job.sh")}), 2, "--gpus is required");
  expect(pgtune({"slurm", "--gpus", "2", "-o", path("job.sh")}), 2, "no shape given");
  expect(pgtune({"slurm", "--shape", "64x64x64", "--gpus", "2", "--folder", path("50%"), "-o", path("job.sh")}), 2,
         "characters that sbatch reads");
  expect(pgtune({"slurm", "--shape", "64x64x64", "--gpus", "2", "-o", path("job")}), 2, "both script and folder");
  expect(pgtune({"slurm", "--shape", "64x64x64", "--gpus", "2", "-o", path("shapes.txt")}), 2, "no script of pgtune's");
  EXPECT_THAT(read("shapes.txt"), HasSubstr("256x256x256"));
  expect(
      pgtune({"slurm", "--shape", "64x64x64", "--gpus", "2", "--folder", path("shapes.txt/x"), "-o", path("job.sh")}),
      3, "that all nodes share");
  EXPECT_FALSE(std::filesystem::exists(path("job.sh")));
}

TEST_F(SlurmTest, TasksAreMergedAndFailuresAreSeen) {
  ASSERT_EQ(slurm().exit_code, 0);
  EXPECT_EQ(job("merge"), 5);
  EXPECT_THAT(said(), AllOf(HasSubstr("not started"), HasSubstr("no task has left a database")));

  ASSERT_EQ(task(0), 0) << said();
  EXPECT_EQ(task(1, "PGTUNE_WORKER=/nonexistent"), 3) << said();
  EXPECT_EQ(job("merge"), 5);
  EXPECT_THAT(said(), AllOf(HasSubstr("   0         2  done\n"),
                            HasSubstr("   1         1  failed with exit code 3 on node1: logs/task-1.log\n"),
                            HasSubstr("1 of 2 tasks are done"), HasSubstr("\n256x256x256 ")));

  ASSERT_EQ(task(1), 0) << said();
  EXPECT_EQ(job("merge"), 0) << said();
  EXPECT_THAT(said(), HasSubstr("All 2 tasks are done."));
  const Finished report = pgtune({"report", "--csv", "--db", path("all of it/merged.db")});
  ASSERT_EQ(report.exit_code, 0) << report.err;
  EXPECT_EQ(std::count(report.out.begin(), report.out.end(), '\n'), 4);
  EXPECT_THAT(read("all of it/report.txt"), HasSubstr("\n256x256x256 "));

  // A finished task is not run again, unless the request changes; then its measurements are reused.
  const int trials = requests("trial");
  EXPECT_EQ(task(0), 0);
  EXPECT_THAT(said(), HasSubstr("task 0 was done before, by job 7_0 on node0"));
  ASSERT_EQ(slurm({"--grid", "full"}).exit_code, 0);
  EXPECT_EQ(job("status"), 5);
  EXPECT_THAT(said(), HasSubstr("0 of 2 tasks are done"));
  EXPECT_EQ(requests("trial"), trials);
}

TEST_F(SlurmTest, CommandsThatItPrintsCanBeTyped) {
  const std::string script = path("a $HOME;b.sh"), quoted = "bash '" + script + "'";
  const Finished written = pgtune({"slurm", "--shape", "64x64x64", "--gpus", "1", "-o", script});
  ASSERT_EQ(written.exit_code, 0);
  EXPECT_THAT(written.err, HasSubstr(quoted + "\n"));
  EXPECT_THAT(read("a $HOME;b.sh"), AllOf(HasSubstr("-o '" + script + "'\n"), HasSubstr(quoted + "\n")));
  std::filesystem::copy_file(script, path("job.sh"));
  ASSERT_EQ(job(""), 0) << said();
  EXPECT_THAT(said(), HasSubstr("a\\ \\$HOME\\;b.sh status\n"));
}

TEST_F(SlurmTest, AMergedFileInUseIsNotReplaced) {
  ASSERT_EQ(slurm().exit_code, 0);
  ASSERT_EQ(task(0), 0) << said();
  write("all of it/merged.db", "in use");
  write("all of it/merged.db-wal", "a log");
  EXPECT_EQ(job("merge"), 4);
  EXPECT_THAT(said(), HasSubstr("is being written to"));
  EXPECT_EQ(read("all of it/merged.db"), "in use");
}

TEST_F(SlurmTest, AnEmptyDatabaseOfAKilledTaskIsLeftOut) {
  ASSERT_EQ(slurm().exit_code, 0);
  ASSERT_EQ(task(0), 0) << said();
  write("all of it/task-1.db", "");
  EXPECT_EQ(job("merge"), 5);
  EXPECT_THAT(said(), AllOf(HasSubstr("1 of 2 tasks are done"), HasSubstr("merged: ")));
}

TEST_F(SlurmTest, SubmitsWhatIsNotDoneAndTheMergeAfterIt) {
  ASSERT_EQ(slurm({"--partition", "gpu"}).exit_code, 0);
  ASSERT_EQ(task(0), 0) << said();
  ASSERT_EQ(job(""), 0) << said();
  EXPECT_THAT(said(), HasSubstr("submitted job 12, tasks 1, and job 12"));
  EXPECT_THAT(read("submitted"), AllOf(HasSubstr("--parsable --array=1%2 " + path("job.sh") + " task\n"),
                                       HasSubstr("--dependency=afterany:12 "), HasSubstr(" --partition=gpu\n")));
  EXPECT_THAT(read("merge.sh"), AllOf(HasSubstr("#!/bin/bash\nset -- merge\n"), Not(HasSubstr("\n#SBATCH"))));
  ASSERT_EQ(task(1), 0) << said();
  std::filesystem::remove(path("submitted"));
  ASSERT_EQ(job(""), 0) << said();
  EXPECT_THAT(said(), HasSubstr("all 2 tasks are done; job 12 merges them"));
  EXPECT_THAT(read("submitted"), Not(HasSubstr("--array")));
}

}  // namespace
}  // namespace pgtune::tool::test
