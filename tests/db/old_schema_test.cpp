// SPDX-License-Identifier: MIT
// A genuine file of schema 1 (tests/db/data): migrated it keeps every row and answers as before; for reading only, it
// is migrated in memory and the file stays as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

namespace fs = std::filesystem;
using testing::contents;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScratchFolder;
using testing::TestSession;

const fs::path kSchema1 = PGTUNE_SOURCE_DIR "/tests/db/data/schema1.db";
constexpr const char* kConditions = "sustained rotated uniform:20231107 observed";
constexpr const char* kWinner =
    "BM=64,BN=64,TM=8,TN=4,BK=16,STAGES=3,COPY=cp_async,VEC=1,CACHE=ca,SMEM_LAYOUT=pad,LANES_M=4,FRAG=2,SPREAD=4,"
    "ORDER=rows,RASTER=8";

ResultKey key_of(Source source) {
  return {"NVIDIA H200, sm_90, 132 SMs, 140 GiB, 700 W, driver 580",
          "f32 nn 127x129x131 b1 ld131,129,129 a1 b0",
          "sgemm_simt",
          "ee51162eadad9a184e632ecd92b44cea",
          source,
          kConditions,
          "GPU-770f1196-7717-9f80-ebed-29835fa1d4f0"};
}

struct Sums {
  double time_s = 0;
  std::int64_t launches = 0;
  std::size_t samples = 0;
  void add(const std::vector<Sample>& rows) {
    for (const auto& row : rows) {
      time_s += row.time_s;
      launches += row.launches;
      ++samples;
    }
  }
};

/// Everything the file holds, by numbers taken from it with schema 1.
void expect_all_rows(const Database& database) {
  EXPECT_EQ(database.schema_version(), kSchemaVersion);
  EXPECT_THAT(database.check(), IsEmpty());
  const auto counted = totals(database);
  EXPECT_EQ(testing::filled_tables(database), (std::map<std::string, std::int64_t>{{"best", 1},
                                                                                   {"samples", 55},
                                                                                   {"builds", 40},
                                                                                   {"conditions", 1},
                                                                                   {"contenders", 10},
                                                                                   {"devices", 1},
                                                                                   {"environments", 1},
                                                                                   {"outcomes", 7},
                                                                                   {"problems", 1},
                                                                                   {"baseline_reports", 1},
                                                                                   {"round_samples", 120},
                                                                                   {"sessions", 2},
                                                                                   {"stages", 2},
                                                                                   {"templates", 1},
                                                                                   {"trials", 41},
                                                                                   {"variants", 40}}));
  EXPECT_EQ(counted.outcomes, (std::map<std::string, std::int64_t>{{"compile_failed", 1}, {"invalid", 5}, {"ok", 35}}));

  const auto sessions = list_sessions(database);
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].id, 8);
  EXPECT_EQ(sessions[0].source, Source::kReplay);
  EXPECT_EQ(sessions[0].finished_at, "");
  EXPECT_EQ(sessions[1].id, 7);
  EXPECT_EQ(sessions[1].started_at, "2026-11-21T11:32:02Z");
  EXPECT_EQ(sessions[1].finished_at, "2026-11-21T11:32:09Z");
  EXPECT_EQ(sessions[1].seed, 1U);
  EXPECT_THAT(sessions[1].command_line, HasSubstr("--shapes configs/shapes/recording.txt"));
  for (const auto& session : sessions) {
    EXPECT_EQ(session.conditions_key, kConditions);
    EXPECT_EQ(session.kind, "search");
  }

  const auto trials = find_trials(database, key_of(Source::kGpu));
  ASSERT_EQ(trials.size(), 40U);
  Sums screening;
  for (const auto& [key, trial] : trials) {
    EXPECT_TRUE(trial.build.has_value()) << key;
    screening.add(trial.report.samples);
  }
  EXPECT_DOUBLE_EQ(screening.time_s, 0.1844649599194526);
  EXPECT_EQ(screening.launches, 18957);
  const auto replayed = find_trials(database, key_of(Source::kReplay));
  ASSERT_EQ(replayed.size(), 1U);
  EXPECT_FALSE(replayed.begin()->second.build.has_value());
  EXPECT_EQ(replayed.begin()->second.report.outcome.reason, "line 3: expected a ';'");

  Sums finals, baselines;
  for (const auto& row : session_rounds(database, 7)) {
    ASSERT_EQ(row.samples.size(), 12U);
    EXPECT_EQ(row.samples.front().stage, Stage::kFinal);
    EXPECT_EQ(row.samples.front().round, 1);
    EXPECT_EQ(row.samples.front().temperature_c, std::nullopt);
    (variant_of(row.contender) != nullptr ? finals : baselines).add(row.samples);
  }
  EXPECT_EQ(finals.samples, 96U);
  EXPECT_NEAR(finals.time_s, 2.0214071941375735, 1e-12);
  EXPECT_EQ(finals.launches, 242688);
  EXPECT_EQ(baselines.samples, 24U);
  EXPECT_NEAR(baselines.time_s, 0.4960834846496582, 1e-12);
  EXPECT_EQ(baselines.launches, 75264);
  EXPECT_EQ(find_baseline(database, 7).value().library.substr(0, 8), "cuBLASLt");
}

/// The answer of the file, as schema 1 gave it.
void expect_answer(const Database& database) {
  const auto best = find_best(database, key_of(Source::kGpu));
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->session, 7);
  EXPECT_EQ(best->variant_key, kWinner);
  EXPECT_EQ(best->time_s, 7.368323816494507e-06);
  EXPECT_EQ(best->ratio, 0.8778582253613063);
  EXPECT_EQ(best->ratio_low, 0.8774166874668469);
  EXPECT_EQ(best->ratio_high, 0.8780386079215496);
  EXPECT_TRUE(best->complete);
  EXPECT_THAT(best->answer_json, HasSubstr("\"from_final\":true"));
  const auto in_answer = [&](const std::string& path) {
    return query_text(database, "SELECT json_extract(answer_json, '" + path + "') FROM best");
  };
  EXPECT_EQ(in_answer("$.best"), "") << "the winner is stored once";
  EXPECT_EQ(in_answer("$.ranking[0].baseline_best_s"), "");
  EXPECT_TRUE(in_answer("$.ties").starts_with("["));
  EXPECT_EQ(query_integer(database,
                          "SELECT json_extract(answer_json, '$.ranking[0].time_s') = time_s"
                          " AND json_extract(answer_json, '$.baseline_best_s') = baseline_best_s FROM best"),
            1)
      << "to the last digit";
  EXPECT_FALSE(find_best(database, key_of(Source::kReplay)).has_value());
  EXPECT_EQ(list_best(database, {}).size(), 1U);
}

class OldSchema : public ::testing::Test {
 protected:
  OldSchema() {
    fs::copy_file(kSchema1, path_);
    fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  }
  ScratchFolder folder_;
  fs::path path_ = folder_ / "pgtune.db";
};

TEST_F(OldSchema, OpenedForWritingIsMigratedAndKeepsEverything) {
  {
    auto database = Database::open(path_, OpenMode::kReadWriteCreate);
    EXPECT_FALSE(database.old_file().has_value());
    expect_all_rows(database);
    expect_answer(database);
    EXPECT_EQ(query_integer(database, "PRAGMA foreign_keys"), 1);
    EXPECT_EQ(query_text(database, "SELECT json_extract(conditions_json, '$.l2') FROM conditions"), "rotated");
    auto sample = TestSession();
    sample.session.conditions_key = kConditions;
    save_trial(database, sample.begin(database), testing::good_trial("A=1"));
    EXPECT_EQ(totals(database).rows.at("conditions"), 1);
    EXPECT_EQ(list_sessions(database).at(0).id, 9);
  }
  const auto reader = Database::open(path_, OpenMode::kReadOnly);
  EXPECT_FALSE(reader.old_file().has_value());
  expect_answer(reader);
}

TEST_F(OldSchema, OpenedForReadingIsMigratedInMemoryAndStaysAsItIs) {
  const auto before = contents(path_);
  auto database = Database::open(path_, OpenMode::kReadOnly);
  expect_all_rows(database);
  expect_answer(database);
  ASSERT_TRUE(database.old_file().has_value());
  EXPECT_EQ(database.old_file()->schema_version, 1);
  EXPECT_EQ(database.old_file()->journal_mode, "delete");
  EXPECT_EQ(database.origin(), path_.string());
  EXPECT_THAT(error_of([&] { static_cast<void>(TestSession().begin(database)); }).what(),
              HasSubstr("cannot be written"));
  EXPECT_EQ(contents(path_), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(OldSchema, WithAWriteAheadLogIsReadToo) {
  {
    // By hand, as opening it for writing would migrate it.
    const auto as_is = Database::open(path_, OpenMode::kReadOnlyAsIs);
    EXPECT_EQ(as_is.schema_version(), 1);
  }
  {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(18);
    file << "\x02\x02";
  }
  const auto database = Database::open(path_, OpenMode::kReadOnly);
  expect_all_rows(database);
  EXPECT_EQ(database.old_file().value().journal_mode, "wal");
}

TEST_F(OldSchema, AnImageOfItIsMigratedToo) {
  const auto image = contents(path_);
  const auto database = Database::open_image(std::as_bytes(std::span(image)), "old recording");
  expect_all_rows(database);
  expect_answer(database);
  EXPECT_EQ(database.origin(), "old recording");
  EXPECT_TRUE(database.old_file().has_value());
}

TEST_F(OldSchema, ACopyIsOfTheNewSchema) {
  Database::open(path_, OpenMode::kReadOnly).write_compact_copy(folder_ / "copy.db");
  const auto copy = Database::open(folder_ / "copy.db", OpenMode::kReadOnly);
  EXPECT_FALSE(copy.old_file().has_value());
  expect_all_rows(copy);
}

TEST_F(OldSchema, WithBrokenReferencesIsRefusedAndLeftAlone) {
  {
    // Foreign keys are a matter of the connection: the file takes it.
    const auto as_is = Database::open(path_, OpenMode::kReadOnlyAsIs);
    as_is.write_compact_copy(folder_ / "broken.db");
  }
  {
    auto writer = Database::open_memory();
    execute(writer, "ATTACH '" + (folder_ / "broken.db").string() + "' AS broken");
    execute(writer,
            "PRAGMA foreign_keys = off; DELETE FROM broken.builds WHERE id = (SELECT min(id) FROM broken.builds)");
  }
  const auto before = contents(folder_ / "broken.db");
  for (const auto mode : {OpenMode::kReadOnly, OpenMode::kReadWriteCreate}) {
    EXPECT_THAT(error_of([&] { static_cast<void>(Database::open(folder_ / "broken.db", mode)); }).what(),
                ::testing::AllOf(HasSubstr("a row of trials refers to a missing row"), HasSubstr("move it aside")));
  }
  EXPECT_EQ(contents(folder_ / "broken.db"), before);
  EXPECT_THAT(Database::open(folder_ / "broken.db", OpenMode::kReadOnlyAsIs).check(),
              ::testing::Contains("a row of trials refers to a missing row of builds"));
}

/// What migrating makes of an answer's text.
std::string migrated(const fs::path& file, const std::string& answer_json) {
  {
    auto writer = Database::open_memory();
    execute(writer, "ATTACH '" + file.string() + "' AS old; UPDATE old.best SET answer_json = '" + answer_json + "'");
  }
  return query_text(Database::open(file, OpenMode::kReadOnly), "SELECT answer_json FROM best");
}

TEST_F(OldSchema, TheWinnerOfAnAnswerBecomesTheFirstOfItsRanking) {
  EXPECT_EQ(migrated(path_, R"({"best":{"variant":"w","time_s":1.25e-05,"cycles_ratio":1.01,"ties":["t"],)"
                            R"("reference_clock_hz":1.4e9},"ranking":[{"variant":"w","spread":0.5},{"variant":"t"}]})"),
            R"({"ranking":[{"variant":"w","spread":0.5,"time_s":1.25e-05,"cycles_ratio":1.01},{"variant":"t"}],)"
            R"("ties":["t"],"baseline_clock_hz":1.4e9})");
  EXPECT_EQ(migrated(path_, R"({"best":{"variant":"w","ties":[]},"ranking":[{"variant":"t"}]})"),
            R"({"ranking":[{"spread":0,"variant":"w"},{"variant":"t"}],"ties":[]})")
      << "a winner that was not first gets a row";
  EXPECT_EQ(migrated(path_, R"({"best":{"variant":"w","ties":[]},"ranking":[]})"),
            R"({"ranking":[{"spread":0,"variant":"w"}],"ties":[]})");
}

TEST_F(OldSchema, WhatIsNoAnswerStaysAsItIs) {
  for (const char* text : {R"({"best":)", "[1]", "null", R"({"best":[],"ranking":[]})", R"({"best":{},"ranking":7})"})
    EXPECT_EQ(migrated(path_, text), text);
}

}  // namespace
}  // namespace pgtune::db
