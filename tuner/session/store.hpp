// SPDX-License-Identifier: MIT
// Where a search keeps what it learns. The tool implements this on the SQLite database; tests use an in-memory fake.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/variant.hpp"

namespace pgtune::session {

/// Identifies results that may be compared and reused: same problem, template content, device uuid and driver branch.
struct StoreKey {
  Problem problem;
  std::string template_name;
  std::string template_hash;  ///< content hash over source, headers and JSON
  DeviceInfo device;
  std::string source;  ///< "gpu" or "replay"
};

struct StoredTrial {
  TrialReport report;
  BuildInfo build;
};

/// A variant's blocks in the final, paired by Block::round with the references' blocks.
struct FinalBlocks {
  std::optional<Variant> variant;  ///< empty: a reference algorithm
  int reference_algorithm = -1;
  std::vector<Block> blocks;
};

/// The answer of a finished session: the lowest median of the final, or a variant within 0.3 % of it that cannot be
/// told apart from it and has fewer shared-memory bytes, then fewer registers, then the lower key.
struct BestRecord {
  Variant variant;
  BuildInfo build;
  double time_s = 0;  ///< median per launch over the final's blocks
  double tflops = 0;
  double ratio_to_reference = 0;         ///< reference best time / own time, median over rounds; > 1 is faster
  double ratio_low = 0, ratio_high = 0;  ///< 95 % interval; from screening alone: range over the winner's blocks
  double reference_first_s = 0, reference_best_s = 0;  ///< medians over the final's blocks
  std::vector<std::string> ties;                       ///< keys of variants not told apart from the winner
};

struct CountsRecord {
  std::int64_t space = 0, valid = 0, compiled = 0, measured = 0;
  std::map<OutcomeKind, std::int64_t> failed;
};

/// A finalist as shown in the table of the best.
struct RankedVariant {
  Variant variant;
  BuildInfo build;
  double time_s = 0, tflops = 0, spread = 0;  ///< spread: MAD * 1.4826 / median over blocks
  double ratio_to_reference = 0, ratio_low = 0, ratio_high = 0;
};

/// A finished session as stored, enough to answer the same question again without measuring.
struct StoredAnswer {
  BestRecord best;
  std::vector<RankedVariant> ranking;  ///< the winner, then the others by median
  ReferenceReport reference;
  CountsRecord counts;
  bool complete =
      false;  ///< every proposed variant was tried and the final ran; false: ended early (budget, interrupt)
  bool from_final = false;  ///< times come from a whole final; false: interrupted before or during it
  std::string finished_at;  ///< UTC, ISO 8601
};

class Store {
 public:
  virtual ~Store() = default;

  /// The last finished session for this key, if any.
  [[nodiscard]] virtual std::optional<StoredAnswer> answer(const StoreKey& key) = 0;
  /// Trials already known for this key, by variant key: a resumed search does not repeat them.
  [[nodiscard]] virtual std::map<std::string, StoredTrial> trials(const StoreKey& key) = 0;

  /// Opens a session; the later calls belong to it.
  virtual void begin(const StoreKey& key, std::uint64_t seed, const std::string& command_line) = 0;
  virtual void save_reference(const ReferenceReport& reference) = 0;
  /// One transaction: outcome, build and blocks of one variant.
  virtual void save_trial(const Variant& variant, const BuildInfo& build, const TrialReport& report) = 0;
  /// One transaction: the blocks of every finalist and reference. A second final of the session replaces the first.
  virtual void save_final(const std::vector<FinalBlocks>& final_blocks) = 0;
  /// Marks the session finished with its answer (absent: nothing valid).
  virtual void finish(const std::optional<StoredAnswer>& answer) = 0;
};

}  // namespace pgtune::session
