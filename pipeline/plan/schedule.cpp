// SPDX-License-Identifier: MIT
#include "pipeline/plan/schedule.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace pgtune::pipeline {
namespace {

constexpr EnumNames<Step, 3> kSteps{
    {{Step::kCopyIn, "copy_in"}, {Step::kCompute, "compute"}, {Step::kCopyOut, "copy_out"}}};

class Builder {
 public:
  Builder(const StreamedProblem& streamed, const Candidate& candidate) : streamed_(streamed), candidate_(candidate) {
    schedule_.chunks = chunks_of(streamed.problem, candidate.cut, candidate.chunk);
    const bool lanes = candidate.use == StreamUse::kLanes;
    schedule_.streams = lanes ? 3 : candidate.use == StreamUse::kOneCopyLane ? 2 : candidate.streams;
    copies_in_.resize(schedule_.chunks.size());
    compute_.resize(schedule_.chunks.size(), -1);
    copies_out_.resize(schedule_.chunks.size(), -1);
  }

  Schedule build() {
    if (copies()) {
      for (const Matrix matrix : {Matrix::kA, Matrix::kB}) {
        if (streamed_.streams(matrix) && !divides(candidate_.cut, matrix)) whole_in(matrix);
      }
    }
    const int count = static_cast<int>(schedule_.chunks.size());
    const int group = candidate_.group();
    for (int first = 0; first < count; first += group) {
      const int end = std::min(first + group, count);
      for (int chunk = first; chunk < end; ++chunk) copy_in(chunk);
      for (int chunk = first; chunk < end; ++chunk) compute(chunk);
      for (int chunk = first; chunk < end; ++chunk) copy_out(chunk);
    }
    if (copies() && streamed_.d && !divides(candidate_.cut, Matrix::kD)) whole_out();
    if (candidate_.submission == Submission::kBatched) merge();
    return std::move(schedule_);
  }

 private:
  [[nodiscard]] bool copies() const { return candidate_.memory != HostMemory::kMapped; }

  [[nodiscard]] int stream_of(Step step, int chunk) const {
    switch (candidate_.use) {
      case StreamUse::kLanes:
        return static_cast<int>(step);
      case StreamUse::kOneCopyLane:
        return step == Step::kCompute ? 1 : 0;
      case StreamUse::kDefaultStream:
        if (step == Step::kCompute) return kLegacyStream;
        break;
      case StreamUse::kPerChunk:
        break;
    }
    return chunk == kNoChunk ? 0 : chunk % candidate_.streams;
  }

  int add(Operation operation) {
    operation.stream = stream_of(operation.step, operation.chunk);
    schedule_.operations.push_back(std::move(operation));
    return static_cast<int>(schedule_.operations.size()) - 1;
  }

  /// The chunk whose buffer this one takes over; nothing where it has a fresh one.
  [[nodiscard]] std::optional<std::size_t> before(int chunk) const {
    if (chunk < candidate_.buffers) return std::nullopt;
    return static_cast<std::size_t>(chunk - candidate_.buffers);
  }

  Operation copy(Step step, Matrix matrix, int chunk) const {
    Operation operation;
    operation.step = step;
    operation.matrix = matrix;
    operation.chunk = chunk;
    operation.region = chunk == kNoChunk ? whole(streamed_, matrix)
                                         : region_of(streamed_, matrix, candidate_.cut,
                                                     schedule_.chunks[static_cast<std::size_t>(chunk)]);
    operation.bytes = bytes_of(streamed_, matrix, operation.region);
    operation.slot = chunk == kNoChunk ? 0 : chunk % candidate_.buffers;
    return operation;
  }

  void whole_in(Matrix matrix) { wholes_.push_back(add(copy(Step::kCopyIn, matrix, kNoChunk))); }

  void whole_out() {
    Operation operation = copy(Step::kCopyOut, Matrix::kD, kNoChunk);
    operation.needs.push_back(compute_.back());
    // It follows the last kernel in its stream, where there is one for each chunk.
    schedule_.operations.push_back(std::move(operation));
    Operation& added = schedule_.operations.back();
    added.stream = stream_of(Step::kCopyOut, static_cast<int>(schedule_.chunks.size()) - 1);
  }

  void copy_in(int chunk) {
    for (const Matrix matrix : {Matrix::kA, Matrix::kB}) {
      if (!has_buffers(streamed_, matrix, candidate_)) continue;
      Operation operation = copy(Step::kCopyIn, matrix, chunk);
      if (const auto old = before(chunk)) operation.needs.push_back(compute_[*old]);
      copies_in_[static_cast<std::size_t>(chunk)].push_back(add(std::move(operation)));
    }
  }

  void compute(int chunk) {
    const auto index = static_cast<std::size_t>(chunk);
    Operation operation;
    operation.step = Step::kCompute;
    operation.chunk = chunk;
    operation.slot = chunk % candidate_.buffers;
    if (!copies()) {
      operation.bytes = zero_copy_bytes_in(streamed_);
      operation.bytes_out = streamed_.bytes_out();
    }
    operation.needs = copies_in_[index];
    operation.needs.insert(operation.needs.end(), wholes_.begin(), wholes_.end());
    if (const auto old = before(chunk); old && copies_out_[*old] >= 0) operation.needs.push_back(copies_out_[*old]);
    // Chunks along K add to one D.
    if (candidate_.cut == Cut::kK && chunk > 0) operation.needs.push_back(compute_[index - 1]);
    compute_[index] = add(std::move(operation));
  }

  void copy_out(int chunk) {
    if (!has_buffers(streamed_, Matrix::kD, candidate_)) return;
    const auto index = static_cast<std::size_t>(chunk);
    Operation operation = copy(Step::kCopyOut, Matrix::kD, chunk);
    operation.needs.push_back(compute_[index]);
    copies_out_[index] = add(std::move(operation));
  }

  /// Whether it can be copied in one call with the operation before.
  [[nodiscard]] bool may_follow(const Operation& before, const Operation& operation) const {
    const auto is_piece = [&](const Operation& one) {
      return one.step != Step::kCompute && one.chunk != kNoChunk &&
             has_whole_rows(streamed_, one.matrix, candidate_.cut);
    };
    return is_piece(before) && is_piece(operation) && before.step == operation.step &&
           before.stream == operation.stream;
  }

  void merge() {
    std::vector<Operation>& operations = schedule_.operations;
    for (std::size_t i = 1; i < operations.size(); ++i)
      operations[i].merged = may_follow(operations[i - 1], operations[i]);
    std::vector<int> last(operations.size());  // of its call
    for (std::size_t first = 0, end = 0; first < operations.size(); first = end) {
      end = end_of_call(schedule_, first);
      std::vector<int>& needs = operations[first].needs;
      for (std::size_t i = first; i < end; ++i) {
        last[i] = static_cast<int>(end) - 1;
        if (i == first) continue;
        needs.insert(needs.end(), operations[i].needs.begin(), operations[i].needs.end());
        operations[i].needs.clear();
      }
    }
    for (Operation& operation : operations) {
      std::set<int> needs;
      for (const int need : operation.needs) needs.insert(last[static_cast<std::size_t>(need)]);
      operation.needs.assign(needs.begin(), needs.end());
    }
  }

  const StreamedProblem& streamed_;
  const Candidate& candidate_;
  Schedule schedule_;
  std::vector<int> wholes_;
  std::vector<std::vector<int>> copies_in_;
  std::vector<int> compute_, copies_out_;
};

}  // namespace

EnumTable<Step> enum_table(Step /*step*/) { return kSteps; }

std::int64_t zero_copy_bytes_in(const StreamedProblem& streamed) {
  const auto tiles = [](std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; };
  return (streamed.a ? streamed.bytes(Matrix::kA) * tiles(streamed.problem.n, kTileColumns) : 0) +
         (streamed.b ? streamed.bytes(Matrix::kB) * tiles(streamed.problem.m, kTileRows) : 0);
}

Schedule make_schedule(const StreamedProblem& streamed, const Candidate& candidate) {
  return Builder(streamed, candidate).build();
}

std::size_t end_of_call(const Schedule& schedule, std::size_t first) {
  std::size_t end = first + 1;
  while (end < schedule.operations.size() && schedule.operations[end].merged) ++end;
  return end;
}

std::vector<int> awaited(const Schedule& schedule, int index) {
  const Operation& operation = schedule.operations[static_cast<std::size_t>(index)];
  if (operation.stream == kLegacyStream) return {};
  std::map<int, int> last;  // by stream
  for (const int need : operation.needs) {
    const int stream = schedule.operations[static_cast<std::size_t>(need)].stream;
    if (stream == operation.stream || stream == kLegacyStream) continue;
    const auto [place, fresh] = last.emplace(stream, need);
    if (!fresh) place->second = std::max(place->second, need);
  }
  std::vector<int> out;
  for (const auto& [stream, need] : last) out.push_back(need);
  return out;
}

}  // namespace pgtune::pipeline
