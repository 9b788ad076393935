// SPDX-License-Identifier: MIT
// What pgtune asks of a worker in the pipeline role, and what it answers:
//
//   op       request body      reply body
//   prepare  PipelinePrepare   pipeline::Prepared
//   rates    {}                pipeline::CopyRates
//   kernels  ChunkTimesAsked   ChunkTimesReport
//   settled  SettledKernelAsked  pipeline::SettledKernel
//   trial    PipelineTrial     pipeline::TrialResult
//   round    PipelineRound     PipelineRoundReport
//   steps    PipelineTrial     pipeline::StepTimes
//   trace    PipelineTraceAsked  pipeline::Timeline
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/plan/machine.hpp"
#include "pipeline/plan/records.hpp"
#include "pipeline/plan/streamed_problem.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::protocol {

/// A built variant for chunks of exactly this problem.
struct ChunkKernel {
  Problem problem;
  BuiltVariant built;
  bool guessed = false;  ///< by the model: taken where it is faster than the library's. Else a search found it

  PGTUNE_FIELDS(problem, built, guessed)
};

struct PipelinePrepare {
  pipeline::StreamedProblem streamed;
  Problem block;  ///< the product of so many of its rows as are checked in one piece (pipeline/checked_rows.hpp)
  std::int64_t pinned_limit_bytes = 0;
  Conditions conditions;             ///< of these the operands' data and seed
  std::vector<ChunkKernel> kernels;  ///< chunks of other problems are cuBLASLt's

  PGTUNE_FIELDS(streamed, block, pinned_limit_bytes, conditions, kernels)
};

struct ChunkTimesAsked {
  pipeline::Cut cut = pipeline::Cut::kM;
  std::vector<std::int64_t> extents;

  PGTUNE_FIELDS(cut, extents)
};

struct ChunkTimesReport {
  std::vector<pipeline::ChunkTime> times;  ///< without extents that do not fit the GPU

  PGTUNE_FIELDS(times)
};

/// The kernel of chunks of one extent at the clock that it can hold.
struct SettledKernelAsked {
  pipeline::Cut cut = pipeline::Cut::kM;
  std::int64_t extent = 0;
  double sample_s = 0, settle_s = 0;  ///< length of the sample and of its least lead-in

  PGTUNE_FIELDS(cut, extent, sample_s, settle_s)
};

struct PipelineTrial {
  pipeline::Candidate candidate;
  int samples = 3;
  double sample_s = 0;  ///< at least so long each, and at least one run

  PGTUNE_FIELDS(candidate, samples, sample_s)
};

/// When each operation of one run began and ended.
struct PipelineTraceAsked {
  pipeline::Candidate candidate;
  bool records = true;  ///< CUPTI's, where the worker can have them; else events alone

  PGTUNE_FIELDS(candidate, records)
};

struct PipelineRound {
  std::vector<pipeline::Candidate> candidates;
  std::vector<int> order;  ///< permutation of indices into candidates
  int round = 0;
  Stage stage = Stage::kFinal;
  double sample_s = 0;
  double settle_s = 0;  ///< least lead-in of settled samples; 0: short ones

  PGTUNE_FIELDS(candidates, order, round, stage, sample_s, settle_s)
};

/// samples[i] and outcomes[i] belong to candidate i; no sample where it failed.
struct PipelineRoundReport {
  std::vector<std::optional<pipeline::RunSample>> samples;
  std::vector<Outcome> outcomes;

  PGTUNE_FIELDS(samples, outcomes)
};

}  // namespace pgtune::protocol
