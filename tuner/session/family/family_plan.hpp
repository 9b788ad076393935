// SPDX-License-Identifier: MIT
// What the search of a family will measure, and how long that takes, as expected before it is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tuner/model/family.hpp"
#include "tuner/session/session.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

inline constexpr std::int64_t kExplored = 24;  ///< variants tried at an anchor
/// Tried in a class: kinds of launch that the model expects to be fastest, and variants by their times at other M.
inline constexpr std::size_t kPromising = 8, kTriedOfClass = 5;
/// Seconds of each probe's plain search, where the user limits nothing: enough for some forty variants, after which
/// searches on tables lose 0.0 % in the median, and 2.3 in the 90th percentile where the model knows nothing of the
/// type (docs/results/strategies.csv).
inline constexpr double kProbeSearch_s = 7;

struct FamilyRequest {
  Problem problem;  ///< the one with the largest M; leading dimensions do not depend on M
  std::int64_t first_m = 1;
  std::size_t kernels = 32;  ///< at most
  std::size_t probes = 8;
  /// All kernels add the products of an element in one order: that of one accumulator, by a name that begins with
  /// "plain" or "exact".
  bool one_order = false;

  /// "1..8192x4096x14336 bf16 nt".
  [[nodiscard]] std::string title() const { return std::to_string(first_m) + ".." + problem.title(); }
};

/// Which variants of a problem may become kernels; empty: all.
using VariantFilter = std::function<bool(const Variant& variant, const Problem& problem)>;

/// Expected wall time: of finding the kernels, and of the probes.
struct ExpectedFamily {
  double kernels_s = 0, probes_s = 0;
};
[[nodiscard]] ExpectedFamily expected_family(const FamilyRequest& request, const SessionOptions& options,
                                             std::size_t compile_workers);

/// As many of the request's probes as the range has M for beside those of class_grid(), which are measured anyway.
[[nodiscard]] std::size_t possible_probes(const FamilyRequest& request);

/// The family of a request, without kernels.
[[nodiscard]] Family family_of(const FamilyRequest& request, const SessionOptions& options);

/// Of a probe's plain search. That of a stored answer is taken; another only chooses, because the probe's own rounds
/// measure what it chose.
[[nodiscard]] SessionOptions of_probe(const SessionOptions& options);

/// Whether one accumulator takes all products in turn, in whatever kernel: what every M can have.
[[nodiscard]] bool is_plain(const std::string& sum_order);

/// What the request admits as kernels.
[[nodiscard]] VariantFilter admitted(const FamilyRequest& request, const space::TemplateSet& templates,
                                     const DeviceInfo& device);

/// The admitted variants that are expected to be the fastest for one problem, without measuring it: by the predictor,
/// and where the power cap is expected to be met by the options' settled clocks; or without a predictor the cheapest of
/// each template that has costs. Errors: an expression of a template that fails.
[[nodiscard]] Result<std::vector<Variant>> promising(const space::TemplateSet& templates, const Problem& problem,
                                                     const DeviceInfo& device, const SessionOptions& options,
                                                     const VariantFilter& admits, std::size_t most);

/// The kind of a variant's launch: its template, kernel, number of threads, cluster and bytes of shared memory.
/// Variants of one kind differ mostly in the order of their tiles. Errors: a launch that cannot be planned.
[[nodiscard]] Result<std::string> kind_of(const space::TemplateSet& templates, const Variant& variant,
                                          const Problem& problem, const DeviceInfo& device);

/// What is promising(), but of each template the best one of up to `most` kinds. Errors: also those of kind_of().
[[nodiscard]] Result<std::vector<Variant>> promising_kinds(const space::TemplateSet& templates, const Problem& problem,
                                                           const DeviceInfo& device, const SessionOptions& options,
                                                           const VariantFilter& admits, std::size_t most);

struct ExpectedClasses {
  std::vector<std::int64_t> tops;               ///< the last M of each class, ascending
  std::vector<std::vector<Variant>> promising;  ///< beside tops
};
/// Classes by the costs of what is promising in those of the grid, and up to 16 rows by its builds; and for each
/// class's last M promising_kinds(). Once `ended` returns true, from any thread, the rest stays empty.
[[nodiscard]] Result<ExpectedClasses> expect_classes(const FamilyRequest& request, const space::TemplateSet& templates,
                                                     const DeviceInfo& device, const SessionOptions& options,
                                                     std::size_t most, const std::function<bool()>& ended);

}  // namespace pgtune::session
