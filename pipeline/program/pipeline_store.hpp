// SPDX-License-Identifier: MIT
// Where a search for a pipeline keeps what it learns, and how it is read again.
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

/// What of a problem's space was searched, as text: what streams, the cut and memory where they were given, and
/// options.kernels_text, where cuBLASLt's kernels are not all there is. Results count for the same text.
[[nodiscard]] std::string searched_text(const pipeline::StreamedProblem& streamed,
                                        const session::PipelineOptions& options);

/// session::PipelineStore on a pgtune database; throws db::Error.
class PipelineDatabaseStore final : public session::PipelineStore {
 public:
  /// `database` must outlive the store.
  PipelineDatabaseStore(db::Database& database, const pipeline::StreamedProblem& streamed, const DeviceInfo& device,
                        const session::PipelineOptions& options);

  /// The answer of this board's newest finished search, else of another board's of its class; complete ones alone.
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

/// The newest search for the problem, whatever the GPU and the kernels; a complete one where there is one.
[[nodiscard]] std::optional<StoredPipeline> recorded_pipeline(const db::Database& database,
                                                              const pipeline::StreamedProblem& streamed,
                                                              const session::PipelineOptions& options);

}  // namespace pgtune::tool
