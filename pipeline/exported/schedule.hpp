// SPDX-License-Identifier: MIT
// A plan as the list of copies and kernels that the host issues.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "pipeline/exported/types.hpp"

namespace pgtune_pipeline {
namespace detail {

constexpr Matrix kMatrices[] = {Matrix::a, Matrix::b, Matrix::d};
constexpr int kLegacyStream = -1, kWhole = -1;

/// Part of a matrix as it is stored.
struct Region {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;
};

enum class Kind { copy_in, kernel, copy_out };

struct Step {
  Kind kind = Kind::kernel;
  Matrix matrix = Matrix::a;  ///< of a copy
  Region region;
  int chunk = kWhole;  ///< kWhole: a copy of an operand that the cut does not divide
  int slot = 0;
  int stream = 0;
  bool merged = false;       ///< a copy in one call with the step before
  std::vector<int> needs;    ///< steps, by index; of a call's copies the first has all, and others need its last
  std::vector<int> awaited;  ///< those that an event has to carry: the last of each other stream
};

inline bool streams(const Plan& plan, Matrix matrix) {
  return matrix == Matrix::a ? plan.streams_a : matrix == Matrix::b ? plan.streams_b : plan.streams_d;
}
inline bool divides(Cut cut, Matrix matrix) {
  return matrix == Matrix::a ? cut != Cut::n : matrix == Matrix::b ? cut != Cut::m : cut != Cut::k;
}
inline std::int64_t rows(const Plan& plan, Matrix matrix) {
  return matrix == Matrix::a   ? (plan.transposed_a ? plan.k : plan.m)
         : matrix == Matrix::b ? (plan.transposed_b ? plan.n : plan.k)
                               : plan.m;
}
inline std::int64_t columns(const Plan& plan, Matrix matrix) {
  return matrix == Matrix::a   ? (plan.transposed_a ? plan.m : plan.k)
         : matrix == Matrix::b ? (plan.transposed_b ? plan.k : plan.n)
                               : plan.n;
}
inline int element_bytes(const Plan& plan, Matrix matrix) {
  return matrix == Matrix::a ? plan.bytes_a : matrix == Matrix::b ? plan.bytes_b : plan.bytes_d;
}
inline std::int64_t extent(const Plan& plan) {
  return plan.cut == Cut::m ? plan.m : plan.cut == Cut::n ? plan.n : plan.k;
}
/// Whether chunks of the matrix have packed buffers of their own on the device.
inline bool has_buffers(const Plan& plan, Matrix matrix) {
  return streams(plan, matrix) && divides(plan.cut, matrix) && plan.memory != Memory::mapped;
}

inline Region region(const Plan& plan, Matrix matrix, std::int64_t first, std::int64_t count) {
  Region out{0, 0, rows(plan, matrix), columns(plan, matrix)};
  if (!divides(plan.cut, matrix)) return out;
  const bool transposed = matrix == Matrix::a ? plan.transposed_a : matrix == Matrix::b && plan.transposed_b;
  const bool of_rows = matrix == Matrix::b ? plan.cut == Cut::k : plan.cut == Cut::m;
  (of_rows != transposed ? out.row : out.column) = first;
  (of_rows != transposed ? out.rows : out.columns) = count;
  return out;
}

/// Whether a chunk's part of the matrix is one piece of memory.
inline bool has_whole_rows(const Plan& plan, Matrix matrix) {
  return region(plan, matrix, 0, 1).columns == columns(plan, matrix) && columns(plan, matrix) > 0;
}

/// Beside the legacy default stream.
inline int streams_of(const Plan& plan) {
  return plan.use == StreamUse::lanes ? 3 : plan.use == StreamUse::one_copy_lane ? 2 : plan.streams;
}

/// Chunks that are issued step by step: a lane's groups are half of the buffers, so that two have room.
inline int group_of(const Plan& plan) {
  if (!plan.breadth_first) return 1;
  return plan.use == StreamUse::lanes ? plan.buffers / 2 : plan.streams;
}

class Schedule {
 public:
  explicit Schedule(const Plan& plan)
      : plan_(plan), count_(static_cast<int>((extent(plan) + plan.chunk - 1) / plan.chunk)) {
    kernels_.assign(static_cast<std::size_t>(count_), -1);
    copies_out_.assign(static_cast<std::size_t>(count_), -1);
    const bool copies = plan.memory != Memory::mapped;
    std::vector<int> wholes;
    for (const Matrix matrix : {Matrix::a, Matrix::b}) {
      if (copies && streams(plan, matrix) && !divides(plan.cut, matrix))
        wholes.push_back(add(copy(Kind::copy_in, matrix, kWhole), kWhole));
    }
    const int group = group_of(plan);
    for (int first = 0; first < count_; first += group) {
      const int end = std::min(first + group, count_);
      std::vector<std::vector<int>> needs;
      for (int chunk = first; chunk < end; ++chunk) needs.push_back(copy_in(chunk));
      for (int chunk = first; chunk < end; ++chunk)
        kernel(chunk, needs[static_cast<std::size_t>(chunk - first)], wholes);
      for (int chunk = first; chunk < end; ++chunk) copy_out(chunk);
    }
    if (copies && plan.streams_d && !divides(plan.cut, Matrix::d)) {
      Step step = copy(Kind::copy_out, Matrix::d, kWhole);
      step.needs.push_back(kernels_.back());
      add(std::move(step), count_ - 1);
    }
    if (plan.submission == Submission::batched) merge();
    for (Step& step : steps) find_awaited(step);
  }

  std::vector<Step> steps;
  int chunks() const { return count_; }
  /// One past the last step of the call that `first` begins.
  std::size_t end_of_call(std::size_t first) const {
    std::size_t end = first + 1;
    while (end < steps.size() && steps[end].merged) ++end;
    return end;
  }

 private:
  int stream_of(Kind kind, int chunk) const {
    switch (plan_.use) {
      case StreamUse::lanes:
        return static_cast<int>(kind);
      case StreamUse::one_copy_lane:
        return kind == Kind::kernel ? 1 : 0;
      case StreamUse::default_stream:
        if (kind == Kind::kernel) return kLegacyStream;
        break;
      case StreamUse::per_chunk:
        break;
    }
    return chunk == kWhole ? 0 : chunk % plan_.streams;
  }
  int add(Step step, int chunk_of_stream) {
    step.stream = stream_of(step.kind, chunk_of_stream);
    steps.push_back(std::move(step));
    return static_cast<int>(steps.size()) - 1;
  }
  Step copy(Kind kind, Matrix matrix, int chunk) const {
    Step step;
    step.kind = kind;
    step.matrix = matrix;
    step.chunk = chunk;
    const std::int64_t first = chunk == kWhole ? 0 : chunk * plan_.chunk;
    step.region = region(plan_, matrix, first, std::min(plan_.chunk, extent(plan_) - first));
    step.slot = chunk == kWhole ? 0 : chunk % plan_.buffers;
    return step;
  }
  std::vector<int> copy_in(int chunk) {
    std::vector<int> made;
    for (const Matrix matrix : {Matrix::a, Matrix::b}) {
      if (!has_buffers(plan_, matrix)) continue;
      Step step = copy(Kind::copy_in, matrix, chunk);
      if (chunk >= plan_.buffers) step.needs.push_back(kernels_[static_cast<std::size_t>(chunk - plan_.buffers)]);
      made.push_back(add(std::move(step), chunk));
    }
    return made;
  }
  void kernel(int chunk, const std::vector<int>& copies, const std::vector<int>& wholes) {
    Step step;
    step.chunk = chunk;
    step.slot = chunk % plan_.buffers;
    step.needs = copies;
    step.needs.insert(step.needs.end(), wholes.begin(), wholes.end());
    if (chunk >= plan_.buffers) {
      // The chunk before in the same buffer has to be out of it.
      const int out = copies_out_[static_cast<std::size_t>(chunk - plan_.buffers)];
      if (out >= 0) step.needs.push_back(out);
    }
    if (plan_.cut == Cut::k && chunk > 0) step.needs.push_back(kernels_[static_cast<std::size_t>(chunk - 1)]);
    kernels_[static_cast<std::size_t>(chunk)] = add(std::move(step), chunk);
  }
  void copy_out(int chunk) {
    if (!has_buffers(plan_, Matrix::d)) return;
    Step step = copy(Kind::copy_out, Matrix::d, chunk);
    step.needs.push_back(kernels_[static_cast<std::size_t>(chunk)]);
    copies_out_[static_cast<std::size_t>(chunk)] = add(std::move(step), chunk);
  }
  bool is_piece(const Step& step) const {
    return step.kind != Kind::kernel && step.chunk != kWhole && has_whole_rows(plan_, step.matrix);
  }
  void merge() {
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const Step& before = steps[i - 1];
      steps[i].merged =
          is_piece(before) && is_piece(steps[i]) && before.kind == steps[i].kind && before.stream == steps[i].stream;
    }
    std::vector<int> last(steps.size());  // of its call
    for (std::size_t first = 0, end = 0; first < steps.size(); first = end) {
      end = end_of_call(first);
      for (std::size_t i = first; i < end; ++i) {
        last[i] = static_cast<int>(end) - 1;
        if (i == first) continue;
        steps[first].needs.insert(steps[first].needs.end(), steps[i].needs.begin(), steps[i].needs.end());
        steps[i].needs.clear();
      }
    }
    for (Step& step : steps) {
      std::set<int> needs;
      for (const int need : step.needs) needs.insert(last[static_cast<std::size_t>(need)]);
      step.needs.assign(needs.begin(), needs.end());
    }
  }
  /// The legacy default stream waits for the others and is waited for without events.
  void find_awaited(Step& step) const {
    if (step.stream == kLegacyStream) return;
    for (const int need : step.needs) {
      const int stream = steps[static_cast<std::size_t>(need)].stream;
      if (stream == step.stream || stream == kLegacyStream) continue;
      const auto known = std::find_if(step.awaited.begin(), step.awaited.end(), [&](int other) {
        return steps[static_cast<std::size_t>(other)].stream == stream;
      });
      if (known == step.awaited.end()) {
        step.awaited.push_back(need);
      } else {
        *known = std::max(*known, need);
      }
    }
  }

  const Plan& plan_;
  int count_;
  std::vector<int> kernels_, copies_out_;
};

}  // namespace detail
}  // namespace pgtune_pipeline
