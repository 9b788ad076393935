// SPDX-License-Identifier: MIT
// One search of the real program over all faults mixed with good variants: every outcome is the right one and the
// winner is that of the search without them; a search on another problem leaves the killers alone. Prints what came of
// each.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "db/queries/queries.hpp"
#include "tests/gpu/faults.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tests/tool/process.hpp"
#include "tuner/device/device_list.hpp"

namespace pgtune::gpu {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class FaultsSearch : public testing::Test {
 protected:
  void SetUp() override {
    const auto devices = device::list_devices(PGTUNE_WORKER_PATH);
    if (!devices) GTEST_SKIP() << "needs a GPU: " << devices.error().text();
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  /// The budget ends a search that goes wrong; whatever it has left to do is shown.
  json search(const std::string& json_path, const std::string& shape, const std::string& database) {
    tool::test::Launch launch;
    launch.environment = {
        {"HOME", folder_.path().string()}, {"PATH", "/usr/bin:/bin"}, {"PGTUNE_WORKER", PGTUNE_WORKER_PATH}};
    for (const char* const inherited : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"}) {
      if (const char* value = std::getenv(inherited)) launch.environment[inherited] = value;
    }
    launch.arguments = {
        "search", "--template", json_path, "--shape",         shape, "--device",         "0",  "--db", file(database),
        "--json", "--budget",   "60s",     "--compile-limit", "5s",  "--compile-memory", "512"};
    const tool::test::Finished finished = tool::test::run(launch);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return json::parse(finished.out, nullptr, false);
  }
  /// Newest outcome of each variant of the only template in a database.
  [[nodiscard]] std::map<std::string, db::TrialRow> trials(const std::string& database) const {
    const auto opened = db::Database::open(file(database), db::OpenMode::kReadOnly);
    EXPECT_TRUE(opened.check().empty());
    const auto sessions = db::list_sessions(opened);
    EXPECT_FALSE(sessions.empty());
    if (sessions.empty()) return {};
    const db::SessionRow& session = sessions.front();
    return db::find_trials(opened, {session.device_class, session.problem_key, session.template_name,
                                    session.template_hash, session.recorded, session.conditions_key});
  }

  const TestFolder folder_;
};

TEST_F(FaultsSearch, OverAllFaultsEndsWithTheWinnerOfTheSearchWithoutThem) {
  // The same template, in which a rule leaves only the good ones.
  json good = json::parse(std::ifstream(faulty_template_path()));
  good["constraints"].push_back({{"expr", "FAULT == 'none'"}, {"reason", "only good variants"}});
  std::ofstream(file("good.json")) << good;
  auto source = faulty_template_path();
  std::filesystem::copy_file(source.replace_extension(".cu"), file("faulty.cu"));

  const json without = search(file("good.json"), "1024x1024x1024", "good.db");
  const json with = search(faulty_template_path().string(), "1024x1024x1024", "faulty.db");
  ASSERT_TRUE(without.is_object() && with.is_object());
  EXPECT_EQ(with.at("best").at("parameters"), without.at("best").at("parameters"));
  EXPECT_EQ(with.at("complete"), true);

  const auto outcomes = trials("faulty.db");
  fmt::print("| fault | outcome | reason |\n|---|---|---|\n");
  for (const Fault& fault : kFaults) {
    const auto found = outcomes.find(faulty_variant(fault.name).key());
    ASSERT_NE(found, outcomes.end()) << fault.name;
    const Outcome& outcome = found->second.report.outcome;
    // Only the top of the final is verified.
    if (fault.shows == Shows::kVerified && outcome.kind == OutcomeKind::kOk) continue;
    fmt::print("| {} | {} | {} |\n", fault.name, to_string(outcome.kind), outcome.reason);
    EXPECT_EQ(outcome.kind, fault.kind) << fault.name << ": " << outcome.reason;
    EXPECT_THAT(outcome.reason, HasSubstr(fault.words)) << fault.name;
  }
  std::fflush(stdout);

  const json elsewhere = search(faulty_template_path().string(), "512x512x512", "faulty.db");
  ASSERT_TRUE(elsewhere.is_object());
  const auto killers = std::count_if(kFaults.begin(), kFaults.end(), [](const Fault& fault) {
    return fault.kind == OutcomeKind::kCrashed || fault.kind == OutcomeKind::kTimeout;
  });
  EXPECT_EQ(elsewhere.at("counts").at("failed").at("quarantined"), killers);
  // Memory is mapped by 2 MiB: what is written 1 MiB past a D of 4 MiB meets a guard, past one of 1 MiB nothing mapped.
  EXPECT_EQ(elsewhere.at("counts").at("failed").value("crashed", 0), 1);
  EXPECT_EQ(elsewhere.at("counts").at("failed").count("timeout"), 0U);
}

}  // namespace
}  // namespace pgtune::gpu
