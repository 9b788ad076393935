// SPDX-License-Identifier: MIT
// Stores the results of searches for pipelines, and reads them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "pipeline/program/pipeline_queries.hpp"
#include "pipeline/search/pipeline_search.hpp"

namespace pgtune::tool {

struct StoredPipeline {
  session::PipelineAnswer answer;
  DeviceInfo device;
  std::string finished_at;
  std::string searched;  ///< as it is stored
  db::RowId session = 0;
};

/// Throws db::Error for a row that cannot be read or is no pipeline of its problem; `origin` is the database's.
[[nodiscard]] StoredPipeline read_pipeline(db::RecordedPipeline row, const std::string& origin);

/// The searched part of a problem's space, as text: the streaming operands, cut and memory if given, and
/// options.kernels_text if there are kernels besides cuBLASLt's. Results are reused for equal text.
[[nodiscard]] std::string searched_text(const pipeline::StreamedProblem& streamed,
                                        const session::PipelineOptions& options);

/// session::PipelineStore on a pgtune database; throws db::Error.
class PipelineDatabaseStore final : public session::PipelineStore {
 public:
  /// `database` must outlive the store.
  PipelineDatabaseStore(db::Database& database, const pipeline::StreamedProblem& streamed, const DeviceInfo& device,
                        const session::PipelineOptions& options);

  /// The answer of this board's newest finished search, else of another board's of its class; only complete ones.
  [[nodiscard]] std::optional<StoredPipeline> answer() const;
  void begin(const std::string& command_line, std::uint64_t seed);
  void finish(const std::optional<session::PipelineAnswer>& answer);

  [[nodiscard]] std::map<std::string, pipeline::TrialResult> trials() override;
  void save_trial(const pipeline::Candidate& candidate, const pipeline::TrialResult& result) override;
  void save_round_sample(const pipeline::Candidate& candidate, const pipeline::RunSample& sample) override;

 private:
  db::Database& database_;
  pipeline::StreamedProblem streamed_;
  DeviceInfo device_;
  std::string searched_;
  Conditions conditions_;
  db::RowId session_ = 0;
};

/// The newest search for the problem, with any GPU and kernels; a complete one if there is one.
[[nodiscard]] std::optional<StoredPipeline> recorded_pipeline(const db::Database& database,
                                                              const pipeline::StreamedProblem& streamed,
                                                              const session::PipelineOptions& options);

}  // namespace pgtune::tool
