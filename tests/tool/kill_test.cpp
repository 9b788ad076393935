// SPDX-License-Identifier: MIT
// SIGKILL of pgtune, or of one of its workers, at random points of a search, and the search resumed: the database is
// sound, nothing that was stored is measured again, and the end is that of a search nobody disturbed. PGTUNE_KILLS sets
// how many kills (of each kind where there are several); docs/explanation/reliability.md says how to run many.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "db/queries/queries.hpp"
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

int kills(int usual) {
  const char* const text = std::getenv("PGTUNE_KILLS");
  return text == nullptr ? usual : std::max(1, std::atoi(text));
}

/// Children of a process right now, of any of its threads.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code ended;
  for (std::filesystem::directory_iterator task("/proc/" + std::to_string(parent) + "/task", ended), end;
       !ended && task != end; task.increment(ended)) {
    std::ifstream file(task->path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

class KillTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    // Orphans become children of this process, where their end can be waited for.
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  }
  void TearDown() override {
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    CliTest::TearDown();
  }

  /// The results that must not depend on kills during the search.
  static json result_of(const Finished& finished) {
    const json object = json::parse(finished.out);
    json counts = object.at("counts");
    return {{"best", object.at("best").at("parameters")}, {"complete", object.at("complete")}, {"counts", counts}};
  }
  void start_anew() const {
    std::filesystem::remove_all(path(".local"));
    std::filesystem::remove(path("requests.log"));
  }
  /// Runs the search undisturbed and keeps how long it takes and what it finds.
  void measure(std::vector<std::string> arguments) {
    arguments_ = std::move(arguments);
    const auto start = Clock::now();
    const Finished finished = pgtune(arguments_);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    took_ = Clock::now() - start;
    expected_ = result_of(finished);
    trials_ = requests("trial");
  }
  Clock::duration random_moment() {
    return std::chrono::duration_cast<Clock::duration>(took_ * std::uniform_real_distribution(0.0, 1.0)(random_));
  }

  /// No child of the killed process goes on: they end within seconds, or this test does not.
  static void expect_no_orphans() {
    const auto until = Clock::now() + std::chrono::seconds(20);
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) >= 0) {
      if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ASSERT_LT(Clock::now(), until) << "an orphan goes on";
    }
  }
  /// Variants with a stored trial. The file may not be there yet, or be without a schema.
  [[nodiscard]] std::set<std::string> stored() const {
    std::set<std::string> keys;
    if (!std::filesystem::exists(database())) return keys;
    auto file = db::Database::open(database(), db::OpenMode::kReadWriteCreate);
    EXPECT_TRUE(file.check().empty()) << file.check().front();
    for (const db::SessionRow& session : db::list_sessions(file)) {
      for (const auto& [key, trial] :
           db::find_trials(file, {session.device_class, session.problem_key, session.template_name,
                                  session.template_hash, session.recorded, session.conditions_key}))
        keys.insert(key);
    }
    return keys;
  }
  [[nodiscard]] std::vector<std::string> tried() const {
    std::vector<std::string> keys;
    std::istringstream lines(read("requests.log"));
    std::string pid, role, operation, key;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      words >> pid >> role >> operation;
      std::getline(words >> std::ws, key);
      if (operation == "trial") keys.push_back(key);
    }
    return keys;
  }

  /// Kills pgtune at a random moment, then searches again to the end.
  void kill_pgtune_and_resume(bool with_requests) {
    start_anew();
    launch_.arguments = arguments_;
    {
      Process process(launch_);
      std::this_thread::sleep_for(random_moment());
      process.signal(SIGKILL);
      killed_ += process.wait().exit_code == 128 + SIGKILL ? 1 : 0;
    }
    expect_no_orphans();
    const std::set<std::string> before = stored();
    const std::size_t tried_before = tried().size();
    const Finished resumed = pgtune(arguments_);
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(result_of(resumed), expected_);
    EXPECT_EQ(stored().size(), static_cast<std::size_t>(expected_.at("counts").at("valid").get<int>()));
    if (!with_requests) return;
    const auto all = tried();
    for (std::size_t i = tried_before; i < all.size(); ++i) EXPECT_EQ(before.count(all[i]), 0U) << all[i];
    EXPECT_LE(static_cast<int>(all.size()), trials_ + 1) << "more than the one in flight was repeated";
  }

  /// Calls `once` until so many have been killed. How long a search takes depends on what else the machine does: some
  /// end by themselves before their moment comes, and that is no failure.
  template <typename Once>
  void until_killed(int count, const Once& once) {
    int tries = 0;
    for (; killed_ < count && tries < 4 * count && !HasFailure(); ++tries) once();
    EXPECT_GT(killed_, 0) << "the moments lie after the end of the search";
    std::printf("killed %d of %d\n", killed_, tries);
  }

  std::mt19937 random_{20};
  std::vector<std::string> arguments_;
  json expected_;
  Clock::duration took_{};
  int trials_ = 0, killed_ = 0;
};

TEST_F(KillTest, PgtuneOnTheFakeGpu) {
  launch_.environment["PGTUNE_FAKE"] = "build|BM=32,BN=32,|fail;trial|BM=64,BN=64,COPY=ldg|wrong";
  measure(search_arguments(path("tiny.json"), {"--json", "--jobs", "2"}));
  until_killed(kills(7), [&] { kill_pgtune_and_resume(true); });
}

TEST_F(KillTest, AnyWorkerCostsTheSearchNothing) {
  launch_.environment["PGTUNE_FAKE"] = "build||slow;trial||slow";  // workers live long enough to be found
  measure(search_arguments(path("tiny.json"), {"--json", "--jobs", "2"}));
  until_killed(kills(3), [&] {
    start_anew();
    launch_.arguments = arguments_;
    Process process(launch_);
    std::this_thread::sleep_for(random_moment());
    const auto workers = children_of(process.pid());
    const bool hit = !workers.empty();
    if (hit) {
      ::kill(workers[random_() % workers.size()], SIGKILL);
      ++killed_;
    }
    const Finished finished = process.wait();
    if (finished.exit_code == 3) {  // the first worker, before it had said which GPU it has
      EXPECT_THAT(finished.err, HasSubstr("SIGKILL"));
      EXPECT_EQ(pgtune(arguments_).exit_code, 0);
      return;
    }
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(result_of(finished), expected_);
    EXPECT_LE(static_cast<int>(tried().size()), trials_ + (hit ? 1 : 0));
    expect_no_orphans();
  });
}

TEST_F(KillTest, PgtuneOnSeveralGpus) {
  launch_.environment["PGTUNE_FAKE_GPUS"] = "4";
  write("shapes.txt", "256x256x256\n512x512x512\n256x512x256\n512x256x512\n512x512x256\n256x256x512\n");
  const auto search_all = [&] {
    launch_.arguments = {"search",   "--template", path("tiny.json"), "--shapes", path("shapes.txt"),
                         "--device", "all",        "--jobs",          "2",        "--json"};
    return run(launch_);
  };
  const auto bests = [](const Finished& finished) {
    std::vector<json> found;
    const json printed = json::parse(finished.out);
    for (const json& result : printed.at("results")) found.push_back(result.at("best").at("parameters"));
    return found;
  };
  const auto start = Clock::now();
  const Finished undisturbed = search_all();
  took_ = Clock::now() - start;
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.err;
  until_killed(kills(4), [&] {
    start_anew();
    {
      Process process(launch_);
      std::this_thread::sleep_for(random_moment());
      process.signal(SIGKILL);
      killed_ += process.wait().exit_code == 128 + SIGKILL ? 1 : 0;
    }
    expect_no_orphans();
    const std::set<std::string> before = stored();  // checks the file
    const Finished resumed = search_all();
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(bests(resumed), bests(undisturbed));
    const std::set<std::string> after = stored();
    EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  });
}

TEST_F(KillTest, WorkersThatAreJustBeingStartedDieToo) {
  measure(search_arguments(path("tiny.json"), {"--json", "--jobs", "8"}));
  until_killed(kills(8), [&] {
    launch_.arguments = arguments_;
    start_anew();
    Process process(launch_);
    // From the first worker on there are always some that have just been forked.
    const auto until = Clock::now() + std::chrono::seconds(20);
    while (children_of(process.pid()).empty() && Clock::now() < until) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 20'000));
    process.signal(SIGKILL);
    killed_ += process.wait().exit_code == 128 + SIGKILL ? 1 : 0;
    expect_no_orphans();
  });
}

}  // namespace
}  // namespace pgtune::tool::test
