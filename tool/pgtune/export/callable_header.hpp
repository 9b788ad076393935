// SPDX-License-Identifier: MIT
// `pgtune export header`: kernels, and the code that chooses and launches them, as one C++17 header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/family.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/sampling.hpp"
#include "tuner/model/source.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::tool {

/// The input of cuLibraryLoadData(): a cubin, or a fatbin that contains one.
struct KernelImage {
  std::string bytes;
  std::size_t template_number = 0;  ///< the template of its kernels
  DeviceInfo device = {};           ///< a device of the architecture that it was compiled for
  std::vector<Define> defines = {};
  std::vector<LoweredName> lowered = {};  ///< BuildInfo's
};

/// A variant as it was compiled for a problem.
struct ExportedVariant {
  std::size_t template_number = 0, image = 0;
  Variant variant;
  Problem problem;                  ///< a problem that it was compiled for: its kind (export_sources.hpp) counts
  std::vector<std::int64_t> built;  ///< built_values()
  BuildInfo build = {};             ///< the worker's own, in the cubin cache
  std::optional<std::string> sum_order = {};  ///< space::sum_order(), where the template says one
};

struct ExportedEntry {
  Problem problem;
  std::size_t variant = 0, device_class = 0;
  double time_s = 0, tflops = 0, ratio = 0, ratio_low = 0, ratio_high = 0;
  std::optional<double> guessed_loss = {};  ///< not measured: times and ratios are 0, and this is the median
  std::string origin;  ///< for display: board, driver, date, template version, and remarks on the figures
  /// How the samples of `time_s` were taken, and the board's UUID; only if measured.
  Sampling sampling = Sampling::kShort;
  std::string board = {};
};

/// A stored family, with numbers of variants.
struct ExportedFamily {
  struct Interval {
    std::int64_t last_m = 0;
    std::size_t variant = 0;
    std::optional<std::size_t> spare = {};
  };
  Family family;
  std::size_t device_class = 0;
  std::vector<Interval> intervals;
  std::string origin;
};

/// The loss of using a neighbour's variant, from trials of the problems themselves.
struct MeasuredLoss {
  Dtype dtype = Dtype::kF32;
  bool chosen = false;  ///< neighbours up to this radius are used; chosen for at most one per dtype and operation
  double radius = 0;    ///< in doublings
  int held_out = 0, measured = 0;
  /// Over all held-out problems. If a problem's search had not tried the neighbour's variant, its loss counts as larger
  /// than all others. Nothing if the quantile falls among those, which never happens for the chosen radius.
  std::optional<double> median, p90;
  std::string operation = std::string(kGemmName);
};

struct CallableHeader {
  std::string name_space, file_name;
  std::string pgtune_version, nvrtc_version;
  bool jit = false;      ///< sources, compiled by NVRTC at run time, instead of machine code
  int least_driver = 0;  ///< as cuDriverGetVersion() counts: 13000
  std::vector<space::TemplateDefinition> templates;
  std::vector<operation::OperationDefinition> operations;  ///< of the other problems than GEMMs, by name
  std::vector<DeviceInfo> device_classes;
  std::vector<KernelImage> images;
  std::vector<ExportedVariant> variants;
  std::vector<ExportedEntry> entries;         ///< GEMMs first
  std::vector<ExportedFamily> families = {};  ///< those of one order last
  std::vector<MeasuredLoss> losses;           ///< of each dtype and operation of the entries, for several radii
};

/// The header's text. The same content gives the same text. Preconditions: why_no_namespace() of `name_space` is empty;
/// there is at least one entry or family.
[[nodiscard]] std::string write_callable_header(const CallableHeader& content);

/// The files that a program compiles: the header, and the source with its kernels if they are separate.
struct ExportedText {
  std::string header, source;
};
/// The same in two files: programs include the header, and compile once the source, which has the kernels' machine code
/// and includes the header as content.file_name.
[[nodiscard]] ExportedText write_split_header(const CallableHeader& content);

/// The maximum of each over the export's templates and operations.
struct CallableSizes {
  std::size_t kernels = 1, maps = 1, arguments = 1, symbols = 1, buffers = 1, scalars = 1;
};
[[nodiscard]] CallableSizes callable_sizes(const CallableHeader& content);

}  // namespace pgtune::tool
