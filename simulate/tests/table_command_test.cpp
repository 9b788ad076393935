// SPDX-License-Identifier: MIT
// `pgtune import` and `pgtune export t4|kernel_tuner` as a user calls them.
#include <filesystem>
#include <set>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

constexpr const char* kCorpus = PGTUNE_SOURCE_DIR "/simulate/tests/fuzz/corpus/foreign_table/";

class TableCommandTest : public CliTest {
 protected:
  std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(path(folder))) out.push_back(entry.path().string());
    std::sort(out.begin(), out.end());
    return out;
  }
};

TEST_F(TableCommandTest, ImportedTablesAreSimulatedAndExported) {
  const std::string db = path("tables.db"), cache = std::string(kCorpus) + "kernel_tuner.json";
  const Finished imported = pgtune({"import", "kernel_tuner", cache, "--db", db});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.err, HasSubstr("gemm on NVIDIA A100: 6 configurations of 2 parameters, 3 of them failed"));
  EXPECT_THAT(pgtune({"import", "kernel_tuner", cache, "--db", db}).err, HasSubstr("in the database already"));
  ASSERT_EQ(pgtune({"import", "t4", std::string(kCorpus) + "t4.json", "--db", db}).exit_code, 0);
  ASSERT_EQ(pgtune({"db", "merge", db, db, "-o", path("merged.db")}).exit_code, 0);
  EXPECT_EQ(pgtune({"db", "check", "--db", path("merged.db")}).exit_code, 0);

  const Finished simulated =
      pgtune({"simulate", "--from", path("merged.db"), "--strategy", "exhaustive", "--budget", "2", "--json"});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  const json tables = json::parse(simulated.out).at("problems");
  ASSERT_EQ(tables.size(), 2U) << simulated.out;
  EXPECT_EQ(tables[0].at("table"), "gemm [4096,4096]");
  EXPECT_EQ(tables[0].at("rows"), 6);
  EXPECT_EQ(tables[1].at("table"), "conv");

  const Finished exported = pgtune({"export", "t4", path("out"), "--from", path("merged.db"), "--problem", "gemm"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  ASSERT_EQ(files_in("out").size(), 1U);
  const Finished again =
      pgtune({"simulate", "--table", files_in("out").front(), "--strategy", "exhaustive", "--budget", "2", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out).at("problems")[0].at("rows"), 6);
}

TEST_F(TableCommandTest, ARecordingsProblemBecomesACacheOfKernelTuner) {
  const Finished exported = pgtune({"export", "kernel_tuner", path("out"), "--from",
                                    PGTUNE_SOURCE_DIR "/recordings/h200-f32.db.zst", "--problem", "1024x1024x1024"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  ASSERT_FALSE(files_in("out").empty());
  for (const std::string& file : files_in("out")) {
    const std::string text = text_of(file);
    EXPECT_TRUE(text.ends_with("}\n}")) << "as Kernel Tuner looks for it";
    const json cache = json::parse(text);
    EXPECT_EQ(cache.at("device_name"), "NVIDIA H200");
    EXPECT_EQ(cache.at("problem_size"), json::array({1024, 1024, 1024}));
    for (const auto& [key, row] : cache.at("cache").items()) {
      std::string expected;
      for (const json& name : cache.at("tune_params_keys")) {
        const json& value = row.at(name.get<std::string>());
        expected += (expected.empty() ? "" : ",") + (value.is_string() ? value.get<std::string>() : value.dump());
      }
      EXPECT_EQ(key, expected);
      EXPECT_TRUE(row.at("time").is_number() || row.at("time").is_string());
    }
  }
}

TEST_F(TableCommandTest, WrongFilesGiveMessages) {
  const std::string db = path("tables.db");
  const auto refused = [&](std::vector<std::string> words, const char* message) {
    const Finished result = pgtune(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  refused({"import", "t4", path("none.json"), "--db", db}, "cannot be read");
  refused({"import", "t4", std::string(kCorpus) + "kernel_tuner.json", "--db", db}, "pgtune import kernel_tuner");
  refused({"import", "t4", std::string(kCorpus) + "t4_word.json", "--db", db}, "'fine' is no invalidity");
  refused(
      {"import", "t4", std::string(kCorpus) + "t4.json", "--space", std::string(kCorpus) + "no_table.json", "--db", db},
      "is no T1 file");
  refused({"import", "--db", db}, "import");
  EXPECT_FALSE(std::filesystem::exists(db)) << "all is read before anything is kept";
  const Finished nothing = pgtune({"export", "t4", path("out"), "--problem", "no such title"});
  EXPECT_EQ(nothing.exit_code, 1) << nothing.err;
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

}  // namespace
}  // namespace pgtune::tool::test
