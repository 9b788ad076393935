// SPDX-License-Identifier: MIT
// The requests to a worker in the pipeline role, and its replies:
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
  bool guessed = false;  ///< from the model: used if it is faster than the library's; otherwise a search found it

  PGTUNE_FIELDS(problem, built, guessed)
};

struct PipelinePrepare {
  pipeline::StreamedProblem streamed;
  Problem block;  ///< the product of the rows that are checked in one piece (pipeline/plan/chunk_plan.hpp)
  std::int64_t pinned_limit_bytes = 0;
  Conditions conditions;             ///< only the operands' data and seed matter
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

/// The kernel of chunks of one extent at its sustained clock.
struct SettledKernelAsked {
  pipeline::Cut cut = pipeline::Cut::kM;
  std::int64_t extent = 0;
  double sample_s = 0, settle_s = 0;  ///< length of the sample and of its least lead-in

  PGTUNE_FIELDS(cut, extent, sample_s, settle_s)
};

struct PipelineTrial {
  pipeline::Candidate candidate;
  int samples = 3;
  double sample_s = 0;  ///< minimum duration of each, and at least one run

  PGTUNE_FIELDS(candidate, samples, sample_s)
};

/// The begin and end of each operation of one run.
struct PipelineTraceAsked {
  pipeline::Candidate candidate;
  bool records = true;  ///< CUPTI's records, if the worker has them; else events

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

/// samples[i] and outcomes[i] belong to candidate i; no sample if it failed.
struct PipelineRoundReport {
  std::vector<std::optional<pipeline::RunSample>> samples;
  std::vector<Outcome> outcomes;

  PGTUNE_FIELDS(samples, outcomes)
};

}  // namespace pgtune::protocol
