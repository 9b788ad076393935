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

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("problem", self.problem);
    visit("built", self.built);
    visit("guessed", self.guessed);
  }
};

struct PipelinePrepare {
  pipeline::StreamedProblem streamed;
  Problem block;  ///< the product of so many of its rows as are checked in one piece (pipeline/checked_rows.hpp)
  std::int64_t pinned_limit_bytes = 0;
  Conditions conditions;             ///< of these the operands' data and seed
  std::vector<ChunkKernel> kernels;  ///< chunks of other problems are cuBLASLt's

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("streamed", self.streamed);
    visit("block", self.block);
    visit("pinned_limit_bytes", self.pinned_limit_bytes);
    visit("conditions", self.conditions);
    visit("kernels", self.kernels);
  }
};

struct ChunkTimesAsked {
  pipeline::Cut cut = pipeline::Cut::kM;
  std::vector<std::int64_t> extents;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("cut", self.cut);
    visit("extents", self.extents);
  }
};

struct ChunkTimesReport {
  std::vector<pipeline::ChunkTime> times;  ///< without extents that do not fit the GPU

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("times", self.times);
  }
};

/// The kernel of chunks of one extent at the clock that it can hold.
struct SettledKernelAsked {
  pipeline::Cut cut = pipeline::Cut::kM;
  std::int64_t extent = 0;
  double sample_s = 0, settle_s = 0;  ///< length of the sample and of its least lead-in

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("cut", self.cut);
    visit("extent", self.extent);
    visit("sample_s", self.sample_s);
    visit("settle_s", self.settle_s);
  }
};

struct PipelineTrial {
  pipeline::Candidate candidate;
  int samples = 3;
  double sample_s = 0;  ///< at least so long each, and at least one run

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("candidate", self.candidate);
    visit("samples", self.samples);
    visit("sample_s", self.sample_s);
  }
};

/// When each operation of one run began and ended.
struct PipelineTraceAsked {
  pipeline::Candidate candidate;
  bool records = true;  ///< CUPTI's, where the worker can have them; else events alone

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("candidate", self.candidate);
    visit("records", self.records);
  }
};

struct PipelineRound {
  std::vector<pipeline::Candidate> candidates;
  std::vector<int> order;  ///< permutation of indices into candidates
  int round = 0;
  Stage stage = Stage::kFinal;
  double sample_s = 0;
  double settle_s = 0;  ///< least lead-in of settled samples; 0: short ones

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("candidates", self.candidates);
    visit("order", self.order);
    visit("round", self.round);
    visit("stage", self.stage);
    visit("sample_s", self.sample_s);
    visit("settle_s", self.settle_s);
  }
};

/// samples[i] and outcomes[i] belong to candidate i; no sample where it failed.
struct PipelineRoundReport {
  std::vector<std::optional<pipeline::RunSample>> samples;
  std::vector<Outcome> outcomes;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("samples", self.samples);
    visit("outcomes", self.outcomes);
  }
};

}  // namespace pgtune::protocol
