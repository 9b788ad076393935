// SPDX-License-Identifier: MIT
// The validation suites are only measured: nothing that pgtune ships was chosen by, fitted to or recorded on their
// problems. project.validation_suites_are_as_drawn proves that nobody chose the problems either.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <tuple>

#include "db/database.hpp"
#include "db/sqlite/statement.hpp"
#include "tool/pgtune/cli/options/shape_list.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;
using Extents = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
using Weight = std::pair<std::int64_t, std::int64_t>;  ///< N and K

const fs::path kFamilies = fs::path(PGTUNE_SOURCE_DIR) / "configs/shapes/validation/families.txt";

std::vector<fs::path> files_in(const char* folder, std::string_view extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(PGTUNE_SOURCE_DIR) / folder))
    if (entry.path().extension() == extension && entry.path() != kFamilies) files.push_back(entry.path());
  return files;
}

std::vector<Extents> extents_in(const fs::path& file) {
  std::vector<Extents> found;
  for (const ListedShape& shape : parse_shape_list(read_shape_list(file.string()), file.string()))
    found.emplace_back(shape.problem.m, shape.problem.n, shape.problem.k);
  return found;
}

std::set<Extents> validation_extents() {
  std::set<Extents> all;
  for (const fs::path& file : files_in("configs/shapes/validation", ".txt"))
    for (const Extents& extents : extents_in(file)) all.insert(extents);
  return all;
}

std::set<Weight> weights_in(const fs::path& file) {
  std::set<Weight> all;
  for (const auto& [m, n, k] : extents_in(file)) all.emplace(n, k);
  return all;
}

/// All texts of a JSON value, however deep.
void collect_texts(const nlohmann::json& value, std::vector<std::string>& texts) {
  if (value.is_string()) texts.push_back(value.get<std::string>());
  if (value.is_structured())
    for (const nlohmann::json& part : value) collect_texts(part, texts);
}

/// An extent of the problem compared with a number that is no mere corner case such as one row.
const std::regex kNamedExtent(R"(\b(M|N|K|BATCH|ROWS|COLUMNS|LD[ABC])\s*==\s*\d\d|\b\d\d+\s*==\s*(M|N|K|BATCH)\b)");

TEST(ValidationSuites, HaveFortyProblemsForEachGroupOfDtypes) {
  const auto files = files_in("configs/shapes/validation", ".txt");
  EXPECT_EQ(files.size(), 4U);
  for (const fs::path& file : files) {
    const auto shapes = extents_in(file);
    EXPECT_GE(shapes.size(), 40U) << file;
    EXPECT_EQ(std::set<Extents>(shapes.begin(), shapes.end()).size(), shapes.size()) << file << " names one twice";
  }
}

TEST(ValidationSuites, ShareNoProblemWithATuningSuite) {
  const std::set<Extents> validation = validation_extents();
  for (const fs::path& file : files_in("configs/shapes", ".txt"))
    for (const auto& [m, n, k] : extents_in(file))
      EXPECT_FALSE(validation.contains({m, n, k})) << file << " has " << fmt::format("{}x{}x{}", m, n, k);
}

TEST(ValidationFamilies, AreEightRangesOfWeightsThatNoOtherListHas) {
  const auto families = parse_shape_list(read_shape_list(kFamilies.string()), kFamilies.string());
  EXPECT_EQ(families.size(), 8U);
  for (const ListedShape& family : families) {
    EXPECT_EQ(family.first_m, 1);
    EXPECT_EQ(family.problem.m, 8192);
    EXPECT_TRUE(family.dtype && family.layout);
  }
  const std::set<Weight> own = weights_in(kFamilies);
  EXPECT_EQ(own.size(), families.size());
  for (const char* folder : {"configs/shapes", "configs/shapes/validation"}) {
    for (const fs::path& file : files_in(folder, ".txt")) {
      for (const Weight& weight : weights_in(file))
        EXPECT_FALSE(own.contains(weight)) << file << " has " << weight.first << 'x' << weight.second;
    }
  }
}

TEST(ValidationSuites, AreInNoRecordingFromWhichModelsLearn) {
  const std::set<Extents> validation = validation_extents();
  const std::set<Weight> families = weights_in(kFamilies);
  std::vector<fs::path> recordings = files_in("recordings", ".zst");
  if (fs::exists(PGTUNE_SOURCE_DIR "/recordings/unbiased"))
    for (const fs::path& file : files_in("recordings/unbiased", ".zst")) recordings.push_back(file);
  for (const fs::path& file : recordings) {
    const db::Database database = db::Database::open(file, db::OpenMode::kReadOnly);
    db::Statement problems(database, "SELECT problem_json FROM problems");
    std::size_t seen = 0;
    while (problems.step()) {
      std::string text;
      problems >> text;
      const auto problem = nlohmann::json::parse(text);
      const Extents extents{problem.at("m"), problem.at("n"), problem.at("k")};
      EXPECT_FALSE(validation.contains(extents)) << file << " has " << text;
      EXPECT_FALSE(families.contains({problem.at("n"), problem.at("k")})) << file << " has " << text;
      ++seen;
    }
    EXPECT_GT(seen, 0U) << file;
  }
}

TEST(ValidationSuites, AreNamedByNoPresetOrCostOfATemplate) {
  EXPECT_TRUE(std::regex_search("M == 384 && N > 8", kNamedExtent));
  EXPECT_FALSE(std::regex_search("BM == 128 && M == 1", kNamedExtent));
  std::size_t read = 0;
  for (const fs::path& file : files_in("configs", ".json")) {
    const auto document = nlohmann::json::parse(read_file(file).value());
    std::vector<std::string> texts;
    for (const char* field : {"preset", "cost"})
      if (document.contains(field)) collect_texts(document.at(field), texts);
    read += texts.size();
    for (const std::string& text : texts) {
      EXPECT_FALSE(std::regex_search(text, kNamedExtent)) << file << ": " << text;
      for (const auto& [m, n, k] : validation_extents())
        EXPECT_EQ(text.find(fmt::format("{}x{}x{}", m, n, k)), std::string::npos) << file << ": " << text;
      for (const auto& [n, k] : weights_in(kFamilies))
        EXPECT_EQ(text.find(fmt::format("{}x{}", n, k)), std::string::npos) << file << ": " << text;
    }
  }
  EXPECT_GT(read, 100U);
}

/// A variant that the template's author chose for a problem helps on that problem alone.
TEST(ShippedTemplates, HaveNoSeeds) {
  std::size_t templates = 0;
  for (const char* folder : {"configs", "configs/operations", "configs/teaching"}) {
    for (const fs::path& file : files_in(folder, ".json")) {
      EXPECT_FALSE(nlohmann::json::parse(read_file(file).value()).contains("seeds")) << file;
      ++templates;
    }
  }
  EXPECT_GT(templates, 15U);
}

}  // namespace
}  // namespace pgtune::tool
