// SPDX-License-Identifier: MIT
// An operation's problem in host memory: what the worker's check does with one on a GPU, by the same kernels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/operations/emulated_kernels.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::testing {

class EmulatedProblem {
 public:
  /// Of the data of the stream 0.
  static constexpr std::uint64_t kSeed = 42;

  /// Compiles the operation's reference and the kernels that fill its buffers.
  explicit EmulatedProblem(Problem problem);

  [[nodiscard]] bool usable() const { return kernels_->usable(); }
  [[nodiscard]] const OperationProblem& operation() const { return *problem_.operation; }

  /// All inputs, as the operation says.
  void fill();
  /// The same with what `fill_case` fills otherwise.
  void fill(const FillCase& fill_case);
  /// What a packed buffer of int32 holds, by its name.
  [[nodiscard]] std::vector<std::int32_t> integers(std::string_view buffer) const;
  /// The check's checksum of an array of pointers, by its name, and the array itself.
  [[nodiscard]] std::uint64_t pointer_sum(std::string_view name) const;
  [[nodiscard]] std::uint64_t* words(std::string_view name);
  /// Where a buffer of that index begins.
  [[nodiscard]] std::uint64_t address(std::size_t buffer) const;
  /// Zeroes a sixteenth of an input.
  void cut(std::size_t input);
  /// Runs the reference, for inout buffers that hold their data.
  void refer();
  /// What it wrote: right values and their scales, of all outputs, packed.
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] const std::vector<float>& scales() const { return scales_; }
  /// Elements that no kernel of the reference wrote.
  [[nodiscard]] std::uint64_t unwritten() const;

  /// All buffers but inputs; inout buffers get their data anew.
  void poison();
  /// Puts the reference, rounded and shifted, or zeros into the outputs; into the buffer `only` alone where it is
  /// given, and the reference as it is into the others.
  void store(std::int64_t shift, bool zero, std::optional<std::size_t> only = std::nullopt);
  /// Compiles the variant's kernels, unless it has done so before, and launches them as its plan says.
  void run(const space::TemplateDefinition& definition, const Variant& variant, const DeviceInfo& device);
  /// The outputs with the reference, or by their residuals. Of these, no buffer is changed in place.
  [[nodiscard]] gpu::Comparison compare();
  /// Behind the buffers nothing was written.
  [[nodiscard]] bool guards_hold() const;

 private:
  void fill(std::size_t index, FillKind how, double first, double second);
  void fill_pointers(std::size_t index);
  void restore_inouts();
  void launch(const ReferenceLaunch& launch);
  [[nodiscard]] std::uint64_t bits_of(const ReferenceArgument& argument, bool judges_result);
  template <typename Visit>
  void for_outputs(const Visit& visit);

  Problem problem_;
  std::unique_ptr<EmulatedKernels> kernels_;
  std::map<std::string, std::unique_ptr<EmulatedKernels>> variants_;  ///< by their keys
  std::vector<std::vector<std::uint32_t>> memory_;                    ///< of each buffer, with a guard behind it
  std::vector<double> values_;                                        ///< all outputs, packed
  std::vector<float> scales_;
  std::vector<double> residuals_;  ///< beside the values, of outputs that these judge
  std::vector<float> residual_scales_;
};

}  // namespace pgtune::testing
