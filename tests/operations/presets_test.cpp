// SPDX-License-Identifier: MIT
// Presets of the operations' templates: they hold what has won on an H200, and something for all sizes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/operation_cases.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::testing {
namespace {

struct Loaded {
  operation::OperationDefinition operation;
  std::vector<space::TemplateDefinition> templates;
};

const Loaded& loaded(const std::string& name) {
  static std::map<std::string, Loaded> known;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const std::filesystem::path path = std::filesystem::path(PGTUNE_SOURCE_DIR) / "operations" / (name + ".json");
  Loaded& out = known[name];
  out.operation = operation::load_operation(path).value();
  for (auto& definition : gpu::templates_of(path, out.operation))
    out.templates.push_back(std::move(definition).value());
  return out;
}

/// What a search on an H200 tries of a template.
std::vector<Variant> preset(const Loaded& from, const space::TemplateDefinition& definition, const std::string& sizes) {
  const auto problem = operation::make_problem(from.operation, operation::parse_sizes(sizes).value(), std::nullopt);
  EXPECT_TRUE(problem) << problem.error().text();
  const auto list = space::legal_variants(definition, problem.value(), architecture_info("sm_90a").value());
  EXPECT_TRUE(list) << list.error().text();
  return list.value().variants;
}

// Winners of searches on GPUs. A rule that saves time elsewhere must not keep them out.
TEST(OperationPresets, HoldWhatHasWon) {
  const struct {
    const char *operation, *sizes, *variant;
    std::size_t at_most;
  } winners[] = {
      {"gemm_block_scaled", "M=4096,N=7168,K=2048", "BM=256,BN=128,STAGES=4,CLUSTER_M=2", 12},
      {"gemm_block_scaled", "M=1024,N=4096,K=7168", "BM=256,BN=128,STAGES=4,CLUSTER_N=2", 10},
      {"gemm_block_scaled", "M=64,N=4096,K=7168", "BM=64,BN=64,WARPGROUPS_M=1,CLUSTER_K=2,STAGES=13", 22},
      {"gemm_block_scaled", "M=512,N=4096,K=7168", "BM=128,BN=128,STAGES=6", 60},
      {"gemm_block_scaled", "M=4096,N=2112,K=7168", "BM=192,BN=128,WARPGROUPS_M=3,STAGES=4,EPILOGUE=tma", 50},
      {"gemm_block_scaled", "M=64,N=576,K=7168", "BM=64,BN=64,SWAP_AB=1,WARPGROUPS_M=1,CLUSTER_K=8,STAGES=13", 110},
      {"gemm_block_scaled", "M=1024,N=7168,K=16384", "BM=256,BN=112,CLUSTER_M=2,STAGES=3,EPILOGUE=tma", 60},
      {"gemm_grouped_block_scaled", "G=8,M=32768,N=7168,K=2048", "BM=256,BN=128,CLUSTER_N=2,STAGES=3,EPILOGUE=tma", 30},
      {"gemm_masked_block_scaled", "G=32,R=4096,E=192,N=4096,K=7168", "BM=256,BN=128,CLUSTER_N=2,STAGES=4", 40},
      {"gemm_masked_block_scaled", "G=32,R=4096,E=20,N=4096,K=7168",
       "BM=64,BN=32,SWAP_AB=1,WARPGROUPS_M=1,STAGES=8,CTAS_PER_SM=2,WEIGHTS_CACHE_HINT=evict_first", 10},
      {"gemm_masked", "G=32,R=4096,E=20,N=4096,K=7168",
       "BN=32,SWAP_AB=1,WARPGROUPS_M=1,STAGES=5,CTAS_PER_SM=2,WEIGHTS_CACHE_HINT=evict_first", 10},
      {"gemm_masked", "G=32,R=4096,E=192,N=4096,K=7168", "BM=64,BN=256,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=5", 50},
      {"gemm_grouped", "G=8,M=16384,N=4096,K=2048", "BM=128,BN=160,SCHEDULE=pingpong,WARPGROUPS_M=1,STAGES=6", 30},
      {"softmax", "M=4096,N=8192", "THREADS_PER_ROW=128", 10},
      {"softmax", "M=65536,N=1024", "THREADS_PER_ROW=32,ROWS_PER_CTA=2", 10},
      {"rmsnorm", "M=4096,N=8192", "THREADS_PER_ROW=256", 10},
      {"rmsnorm", "M=4096,N=4096", "THREADS_PER_ROW=128", 10},
      {"rmsnorm", "M=16,N=4096", "THREADS_PER_ROW=256", 10},
      {"transpose", "M=8192,N=8192",
       "TILE_ROWS=32,TILE_COLUMNS=128,THREADS=128,READ_BYTES=16,WRITE_BYTES=4,PAD_BYTES=4,RASTER=along_y", 100},
  };
  for (const auto& winner : winners) {
    const Loaded& from = loaded(winner.operation);
    const space::TemplateDefinition& definition = from.templates.front();
    const auto variant = space::parse_variant(definition, winner.variant);
    ASSERT_TRUE(variant) << variant.error().text();
    const std::vector<Variant> tried = preset(from, definition, winner.sizes);
    EXPECT_THAT(tried, ::testing::Contains(*variant)) << winner.operation << " " << winner.sizes;
    EXPECT_LE(tried.size(), winner.at_most) << winner.operation << " " << winner.sizes;
  }
}

// Where one template's preset is empty because another one is better, that one's is not.
TEST(OperationPresets, HaveSomethingForAllSizes) {
  std::vector<std::pair<std::string, std::string>> sizes;
  for (const int n : {1, 60, 576, 4096, 24576}) {
    for (const int rows : {1, 7, 33, 64, 200, 1024, 5000}) {
      sizes.emplace_back("gemm_block_scaled", fmt::format("M={},N={},K=2048", rows, n));
      sizes.emplace_back("gemm_grouped", fmt::format("G=16,M={},N={},K=2048", 16 * rows, n));
      sizes.emplace_back("gemm_grouped_block_scaled", fmt::format("G=4,M={},N={},K=512", 3 * rows, n));
      sizes.emplace_back("gemm_masked", fmt::format("G=16,R=8192,E={},N={},K=2048", rows, n));
      sizes.emplace_back("gemm_masked_block_scaled", fmt::format("G=16,R=8192,E={},N={},K=2048", rows, n));
      sizes.emplace_back("transpose", fmt::format("M={},N={}", rows, n));
      sizes.emplace_back("softmax", fmt::format("M={},N={}", rows, 7 * n + rows));
    }
  }
  // Those that are recorded, too.
  for (const auto& file : std::filesystem::directory_iterator(PGTUNE_SOURCE_DIR "/configs/sizes")) {
    std::ifstream lines(file.path());
    const std::size_t before = sizes.size();
    for (std::string line; std::getline(lines, line);) {
      line.erase(std::min(line.find('#'), line.size()));
      line.erase(line.find_last_not_of(' ') + 1);
      if (!line.empty()) sizes.emplace_back(file.path().stem().string(), line);
    }
    EXPECT_GT(sizes.size(), before) << file.path();
  }
  for (const auto& [name, text] : sizes) {
    std::size_t found = 0;
    const Loaded& from = loaded(name);
    for (const auto& definition : from.templates) found += preset(from, definition, text).size();
    EXPECT_GT(found, 0U) << name << " " << text;
    EXPECT_LT(found, 2000U) << name << " " << text;
  }
}

// Where there is one row, no other row's address says how wide vectors may be.
TEST(OperationPresets, VectorsDivideTheOnlyRow) {
  const struct {
    const char *operation, *sizes, *parameter;
    std::int64_t widest;
  } rows[] = {{"softmax", "M=1,N=100", "VEC_BYTES", 8},        {"rmsnorm", "M=1,N=50", "VEC_BYTES", 4},
              {"transpose", "M=1,N=100", "READ_BYTES", 8},     {"transpose", "M=1,N=100", "WRITE_BYTES", 2},
              {"transpose", "M=6,N=1", "READ_BYTES", 2},       {"transpose", "M=6,N=1", "WRITE_BYTES", 4},
              {"transpose", "M=4096,N=4096", "READ_BYTES", 16}};
  for (const auto& row : rows) {
    SCOPED_TRACE(fmt::format("{} {} {}", row.operation, row.sizes, row.parameter));
    std::int64_t widest = 0;
    const Loaded& from = loaded(row.operation);
    for (const Variant& variant : preset(from, from.templates.front(), row.sizes))
      widest = std::max(widest, std::get<std::int64_t>(*variant.find(row.parameter)));
    EXPECT_EQ(widest, row.widest);
  }
}

}  // namespace
}  // namespace pgtune::testing
