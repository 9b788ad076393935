// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/recorded_tables.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "db/queries/queries.hpp"
#include "tests/tool/store_fixture.hpp"
#include "tool/pgtune/measuring/database_store.hpp"
#include "tuner/space/enumerate.hpp"

namespace pgtune::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(RecordedTables, OfATemplateThatIsNotAtHandHoldTheNewestTrialsOfAllSessions) {
  db::Database database = db::Database::open_memory();
  DatabaseStore store(database);
  const auto searched = [&](std::vector<std::pair<std::int64_t, double>> trials) {
    store.begin(test::store_key(), 1, "pgtune search");
    for (const auto& [tile, time_s] : trials)
      store.save_trial(test::variant(tile), test::build(std::to_string(tile)), test::good_trial(time_s));
    store.finish(std::nullopt);
  };
  searched({{16, 1.5}, {32, 2.0}});
  searched({{16, 1.0}, {64, 3.0}});
  const auto tables = recorded_tables(database, KnownTemplates(Catalogue()));
  ASSERT_THAT(tables, SizeIs(1));
  const RecordedTable& table = tables.front();
  EXPECT_EQ(table.problem, test::store_key().problem);
  EXPECT_THAT(table.templates, ElementsAre("tiny"));
  ASSERT_THAT(table.table.variants, SizeIs(3));
  EXPECT_EQ(table.table.variants.front(), test::variant(16));
  const double half_s = table.table.observations[0].time_s;
  EXPECT_DOUBLE_EQ(table.table.observations[1].time_s / half_s, 2);
  EXPECT_DOUBLE_EQ(table.table.observations[2].time_s / half_s, 3);
  EXPECT_EQ(table.table.best_s(), half_s);
}

TEST(KnownTemplates, NewIsOneWhoseNameNoneThatShipsHas) {
  const Catalogue catalogue;
  KnownTemplates templates{catalogue};
  space::TemplateDefinition definition = catalogue.load("sgemm_simt");
  definition.content_hash = "another";
  templates.add(definition);
  EXPECT_FALSE(templates.is_new("sgemm_simt"));
  EXPECT_EQ(templates.find("sgemm_simt")->content_hash, "another");
  definition.name = "mine";
  templates.add(definition);
  EXPECT_TRUE(templates.is_new("mine"));
}

TEST(RecordedTables, SayWhatIsInPresets) {
  const KnownTemplates templates{Catalogue()};
  const db::Database database =
      db::Database::open(PGTUNE_SOURCE_DIR "/recordings/unbiased/h200-sgemm.db.zst", db::OpenMode::kReadOnly);
  const auto tables = recorded_tables(database, templates);
  ASSERT_FALSE(tables.empty());
  for (const RecordedTable& table : tables) {
    const std::vector<bool> held = in_preset(table, templates);
    ASSERT_THAT(held, SizeIs(table.table.variants.size()));
    const auto count = std::count(held.begin(), held.end(), true);
    EXPECT_GT(count, 0) << table.title();
    EXPECT_LT(count, static_cast<std::ptrdiff_t>(held.size())) << table.title() << " was drawn from the whole grid";
    for (std::size_t i = 0; i < held.size(); ++i) {
      const Variant& variant = table.table.variants[i];
      if (i % 50 != 0) continue;  // each enumerates a preset
      const auto legal = space::legal_variants(*templates.find(variant.template_name), table.problem, table.device);
      ASSERT_TRUE(legal);
      const bool listed = std::find(legal->variants.begin(), legal->variants.end(), variant) != legal->variants.end();
      EXPECT_EQ(held[i], listed) << variant.id();
    }
  }
}

TEST(RecordedTables, OfTheShippedTemplatesHavePresentNamesCostsAndSeeds) {
  const db::Database database =
      db::Database::open(PGTUNE_SOURCE_DIR "/recordings/h200-f32.db.zst", db::OpenMode::kReadOnly);
  const auto tables = recorded_tables(database, KnownTemplates(Catalogue()));
  ASSERT_THAT(tables, SizeIs(40));
  std::size_t first = 0;
  for (const RecordedTable& table : tables) {
    const auto& rows = table.table;
    EXPECT_EQ(table.templates.size(), rows.template_sizes.size());
    EXPECT_EQ(std::accumulate(rows.template_sizes.begin(), rows.template_sizes.end(), std::size_t{0}),
              rows.variants.size());
    EXPECT_THAT(rows.costs, SizeIs(rows.variants.size()));
    EXPECT_THAT(rows.observations, SizeIs(rows.variants.size()));
    first += rows.tried_first.size();
    for (std::size_t i = 0; i < rows.variants.size(); ++i)
      EXPECT_TRUE(rows.costs[i].has_value()) << rows.variants[i].id();
  }
  EXPECT_GT(first, tables.size());
}

TEST(RecordedTables, HaveNoCostWhereATemplateHasNone) {
  const db::Database database =
      db::Database::open(PGTUNE_SOURCE_DIR "/recordings/h100-skinny.db.zst", db::OpenMode::kReadOnly);
  const auto tables = recorded_tables(database, KnownTemplates(Catalogue()));
  ASSERT_THAT(tables, SizeIs(28));
  for (const RecordedTable& table : tables) {
    const auto& rows = table.table;
    for (std::size_t i = 0; i < rows.variants.size(); ++i) {
      const std::string& name = rows.variants[i].template_name;
      EXPECT_EQ(rows.costs[i].has_value(), name != "gemm_skinny" && name != "gemm_mma") << rows.variants[i].id();
    }
  }
}

}  // namespace
}  // namespace pgtune::tool
