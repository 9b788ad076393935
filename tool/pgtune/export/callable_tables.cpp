// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/callable_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "tool/pgtune/export/cpp_names.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tool/pgtune/export/template_code.hpp"
#include "tuner/expression/expression.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/util/hash_text.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::tool {
namespace {

constexpr std::size_t kWordBytes = 4, kWordDigits = 5, kWordsOfALine = 23;

std::size_t word_count(const std::string& bytes) { return (bytes.size() + kWordBytes - 1) / kWordBytes; }

/// A literal of base 85 that exported/static_images.hpp decodes: 1.25 characters a byte, which compilers read much
/// faster than numbers. Little-endian, as every host that CUDA runs on.
std::string image_text(const std::string& bytes) {
  std::string out = "\"";
  out.reserve(bytes.size() * 4 / 3);
  for (std::size_t i = 0; i < word_count(bytes); ++i) {
    if (i > 0 && i % kWordsOfALine == 0) out += "\"\n\"";
    const std::size_t at = i * kWordBytes;
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(kWordBytes, bytes.size() - at));
    std::array<char, kWordDigits> digits{};
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, word /= 85) {
      auto c = static_cast<char>('#' + word % 85);
      if (c >= '?') ++c;
      if (c >= '\\') ++c;
      *digit = c;
    }
    out.append(digits.data(), digits.size());
  }
  return out + '"';
}

std::int64_t number_of(const ParameterValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  return label_value(std::get<std::string>(value));
}

std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
  // C++ has no arrays without elements.
  return fmt::format("inline constexpr Int {}[] = {{{}}};\n", name,
                     values.empty() ? "0" : fmt::format("{}", fmt::join(values, ", ")));
}

std::string element_word(const Problem& problem) { return fmt::format("Element::{}", to_string(problem.type_of_c())); }
std::string epilogue_words(const Epilogue& epilogue) {
  return fmt::format("{{{}, Activation::{}}}", epilogue.bias, to_string(epilogue.activation));
}

std::string image_tables(const CallableHeader& content) {
  std::string out, rows;
  const auto add_symbols = [&](const std::string& name, const std::vector<std::string>& symbols) {
    out += fmt::format("inline constexpr const char* {}[] = {{\"{}\"}};\n", name, fmt::join(symbols, "\", \""));
  };
  for (std::size_t i = 0; i < content.templates.size(); ++i)
    add_symbols(fmt::format("kSymbols{}", i), kernel_symbols(content.templates[i]));
  for (std::size_t i = 0; i < content.images.size(); ++i) {
    const KernelImage& image = content.images[i];
    const std::vector<std::string> names = kernel_symbols(content.templates[image.template_number]);
    std::string symbols = fmt::format("kSymbols{}", image.template_number);
    if (!image.lowered.empty()) {
      std::vector<std::string> own;
      for (const std::string& name : names) own.push_back(symbol_of(image.lowered, name));
      add_symbols(symbols = fmt::format("kOwnSymbols{}", i), own);
    }
    // "sm_90a": architecture-specific code runs on no other.
    const bool only = !image.device.architecture.empty() && image.device.architecture.back() == 'a';
    const std::string text = content.jit ? "nullptr, 0" : fmt::format("kImage{}, {}", i, word_count(image.bytes));
    rows += fmt::format("    {{{}, {}, {}, {}, {}}},\n", text, symbols, names.size(), image.device.arch_number(), only);
  }
  return out + fmt::format("inline constexpr Image kImages[] = {{\n{}}};\n", rows);
}

std::string variant_tables(const CallableHeader& content) {
  const std::vector<Problem> kinds = kinds_of(content);
  std::string out, rows, names;
  for (std::size_t i = 0; i < content.variants.size(); ++i) {
    const ExportedVariant& variant = content.variants[i];
    std::vector<std::int64_t> parameters;
    for (const Assignment& parameter : variant.variant.parameters) parameters.push_back(number_of(parameter.value));
    out += integers(fmt::format("kParameters{}", i), parameters) + integers(fmt::format("kBuilt{}", i), variant.built);
    rows += fmt::format("    {{{}, {}, kParameters{}, kBuilt{}, {}}},\n", variant.template_number, variant.image, i, i,
                        kind_number(kinds, variant.problem));
    names +=
        fmt::format("    {{{}, {},\n     {}}},\n", cpp_string(variant.variant.template_name),
                    cpp_string(variant.variant.key()), variant.sum_order ? cpp_string(*variant.sum_order) : "nullptr");
  }
  return out + fmt::format(
                   "inline constexpr VariantRow kVariantRows[] = {{\n{}}};\ninline constexpr Variant kVariants[] = "
                   "{{\n{}}};\nconstexpr int kVariantCount = {};\n",
                   rows, names, content.variants.size());
}

std::string device_tables(const CallableHeader& content) {
  std::string rows, archs;
  for (const DeviceInfo& device : content.device_classes) {
    const DeviceClass shared = device_class(device);
    rows += fmt::format("    {{{}, {}, {}, {}, {}}},\n", cpp_string(device.name), cpp_string(device.architecture),
                        device.sm_count, shared.memory_gib, cpp_string(shared.hardware()));
    archs += fmt::format("{}, ", device.arch_number());
  }
  return fmt::format(
      "inline constexpr DeviceClass kDeviceClasses[] = {{\n{}}};\ninline constexpr int kClassArchs[] = {{{}}};\n"
      "constexpr int kDeviceClassCount = {};\n",
      rows, archs, content.device_classes.size());
}

std::string gemm_kind_table(const CallableHeader& content) {
  const std::vector<Problem> kinds = gemm_kinds(content);
  std::string rows;
  for (const Problem& kind : kinds)
    rows += fmt::format("    {{Type::{}, {}, {}}},\n", to_string(kind.dtype), element_word(kind),
                        epilogue_words(kind.epilogue));
  return fmt::format(
      "/// What GEMMs' variants were compiled for.\nstruct GemmKind {{\n  Type type;\n  Element out;\n  Epilogue "
      "epilogue;\n}};\ninline constexpr GemmKind kGemmKinds[] = {{\n{}}};\nconstexpr int kGemmKindCount = {};\n",
      rows, kinds.size());
}

std::string problem_row(const Problem& p) {
  return fmt::format("{{Type::{}, Layout::{}, {}, {}, {}, {}, {}, {}, {}, 0, 0, 0, {}, {}}}", to_string(p.dtype),
                     p.layout(), p.m, p.n, p.k, p.batch, p.lda, p.ldb, p.ldc, element_word(p),
                     epilogue_words(p.epilogue));
}

std::string entry_table(const CallableHeader& content) {
  std::string rows;
  const std::vector<const ExportedEntry*> entries = gemm_entries(content);
  for (const ExportedEntry* row : entries) {
    const ExportedEntry& entry = *row;
    const Problem& p = entry.problem;
    rows += fmt::format(
        "    // {}\n    {{{}, {}, {}, {},\n     {:.6g}, {:.5g}, {:.5g}, {:.5g}, {:.5g}, {}, {:.4f},\n     {}}},\n",
        cpp_comment(p.title()), problem_row(p), p.beta != 0, entry.variant, entry.device_class, entry.time_s,
        entry.tflops, entry.ratio, entry.ratio_low, entry.ratio_high, entry.guessed_loss.has_value(),
        entry.guessed_loss.value_or(0), cpp_string(entry.origin));
  }
  // C++ has no arrays without elements.
  return fmt::format("inline constexpr Entry kEntries[] = {{\n{}}};\nconstexpr int kEntryCount = {};\n",
                     rows.empty() ? "{}" : rows, entries.size());
}

std::string family_table(const CallableHeader& content) {
  std::string intervals, rows;
  for (std::size_t i = 0; i < content.families.size(); ++i) {
    const ExportedFamily& exported = content.families[i];
    const Family& family = exported.family;
    // Below 0 is "not known" in the header. A family that is ahead of its probes' searches loses nothing.
    const auto loss = family.loss();
    const double median = loss ? std::max(loss->median, 0.0) : -1, largest = loss ? std::max(loss->largest, 0.0) : -1;
    std::vector<std::string> own;
    for (const ExportedFamily::Interval& interval : exported.intervals)
      own.push_back(fmt::format("{{{}, {}, {}}}", interval.last_m, interval.variant,
                                interval.spare ? static_cast<std::int64_t>(*interval.spare) : -1));
    intervals += fmt::format("inline constexpr Interval kIntervals{}[] = {{{}}};\n", i, fmt::join(own, ", "));
    rows += fmt::format("    // {}\n    {{{}, {}, {}, {}, kIntervals{}, {}, {}, {:.4f}, {:.4f},\n     {}, {}}},\n",
                        cpp_comment(family.title()), problem_row(family.problem), family.problem.beta != 0,
                        family.first_m, exported.device_class, i, own.size(), family.probes.size(), median, largest,
                        cpp_string(family.sum_order), cpp_string(exported.origin));
  }
  return fmt::format("{}inline constexpr Family kFamilies[] = {{\n{}}};\nconstexpr int kFamilyCount = {};\n", intervals,
                     rows.empty() ? "{}" : rows, content.families.size());
}

constexpr const char* kLosses =
    "// Neighbours. Each tuned problem was dispatched as if it were not there, to the cheapest of its neighbours' "
    "variants\n"
    "// by the templates' cost. Where the problem's own search had tried that variant, the loss is its time in "
    "screening\n"
    "// over that of the best variant tried there, less one; where it had not, it counts as losing more than any "
    "that had.\n";

std::string loss_table(const CallableHeader& content) {
  std::string out;
  std::map<Dtype, const MeasuredLoss*> chosen;
  for (const MeasuredLoss& loss : content.losses) {
    if (loss.operation != kGemmName) continue;
    out += fmt::format("//   {}: {}\n", to_string(loss.dtype), loss_comment(loss));
    const MeasuredLoss*& known = chosen[loss.dtype];
    if (loss.chosen) known = &loss;
  }
  std::string rows;
  for (const auto& [dtype, loss] : chosen) {
    rows += loss == nullptr ? fmt::format("    {{Type::{}, 0, 0, 0, 0, 0}},\n", to_string(dtype))
                            : fmt::format("    {{Type::{}, {}, {}, {}, {:.4f}, {:.4f}}},\n", to_string(dtype),
                                          loss->radius, loss->held_out, loss->measured, *loss->median, *loss->p90);
  }
  return out +
         fmt::format(
             "inline constexpr NeighbourLoss kNeighbourLosses[] = {{\n{}}};\nconstexpr int kNeighbourLossCount = {};\n",
             rows.empty() ? "{}" : rows, chosen.size());
}

/// A literal of any text, line by line. Question marks are escaped to avoid trigraphs.
std::string text_literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n\"\n\"";
    } else if (c == '"' || c == '\\' || c == '?') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Files {
 public:
  /// The file's number.
  std::size_t add(const std::string& name, const std::string& contents) {
    const SourceFile file{name, contents};
    const auto known = std::find(files_.begin(), files_.end(), file);
    const auto number = static_cast<std::size_t>(known - files_.begin());
    if (known == files_.end()) files_.push_back(file);
    return number;
  }
  [[nodiscard]] std::string text() const {
    std::string rows;
    for (const SourceFile& file : files_)
      rows += fmt::format("    {{{}, {}}},\n", text_literal(file.name), text_literal(file.contents));
    return fmt::format("inline constexpr JitFile kFiles[] = {{\n{}}};\n", rows);
  }

 private:
  std::vector<SourceFile> files_;
};

}  // namespace

std::string loss_comment(const MeasuredLoss& loss) {
  std::string out =
      fmt::format("within {} doublings {} of the tuned problems had a neighbour, and {} had tried its variant",
                  loss.radius, loss.held_out, loss.measured);
  const auto percent = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", 100 * *value) : "not known";
  };
  if (loss.measured > 0) out += fmt::format(": median {}, 90th percentile {}", percent(loss.median), percent(loss.p90));
  return out + (loss.chosen ? ". This is the radius below." : ".");
}

std::string image_arrays(const CallableHeader& content, ImageForm form) {
  // Of more than 64 KiB, which clang remarks on: kernels that nothing compressed.
  std::string out = "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n";
  for (std::size_t i = 0; i < content.images.size(); ++i)
    out += fmt::format("{} char kImage{}[] =\n{};\n", form == ImageForm::kInline ? "inline constexpr" : "const", i,
                       image_text(content.images[i].bytes));
  return out + "#pragma GCC diagnostic pop\n";
}

std::string image_declarations(const CallableHeader& content) {
  std::string out;
  for (std::size_t i = 0; i < content.images.size(); ++i) out += fmt::format("extern const char kImage{}[];\n", i);
  return out;
}

std::string jit_tables(const CallableHeader& content) {
  Files files;
  std::string arrays, rows;
  std::size_t most_headers = 1, most_options = 1;
  for (std::size_t i = 0; i < content.images.size(); ++i) {
    const KernelImage& image = content.images[i];
    const TemplateSource& source = *content.templates[image.template_number].source;
    const std::size_t main = files.add(source.name, source.contents);
    std::vector<std::size_t> headers;
    std::string hashed = source.name + source.contents;
    for (const SourceFile& header : source.headers) {
      headers.push_back(files.add(header.name, header.contents));
      hashed += header.name + header.contents;
    }
    std::vector<std::string> options;
    for (const Define& define : image.defines) {
      options.push_back(text_literal(fmt::format("-D{}={}", define.name, define.value)));
      hashed += options.back();
    }
    std::vector<std::string> expressions;
    for (const LoweredName& name : image.lowered) {
      expressions.push_back(text_literal(name.expression));
      hashed += expressions.back();
    }
    const std::size_t header_count = headers.size(), option_count = options.size(),
                      expression_count = expressions.size();
    if (headers.empty()) headers.push_back(0);
    if (options.empty()) options.emplace_back("nullptr");
    arrays += fmt::format(
        "inline constexpr int kHeaders{0}[] = {{{1}}};\ninline constexpr const char* kOptions{0}[] = {{{2}}};\n", i,
        fmt::join(headers, ", "), fmt::join(options, ", "));
    if (!expressions.empty())
      arrays +=
          fmt::format("inline constexpr const char* kExpressions{}[] = {{{}}};\n", i, fmt::join(expressions, ", "));
    rows += fmt::format("    {{{0}, kHeaders{1}, {2}, kOptions{1}, {3}, {4}, {5}, \"{6}\"}},\n", main, i, header_count,
                        option_count, expressions.empty() ? "nullptr" : fmt::format("kExpressions{}", i),
                        expression_count, hash_text(hashed));
    most_headers = std::max(most_headers, header_count);
    most_options = std::max(most_options, option_count);
  }
  return files.text() + arrays +
         fmt::format(
             "inline constexpr JitImage kJitImages[] = {{\n{}}};\nconstexpr int kMaxHeaders = {}, kMaxOptions = {};\n",
             rows, most_headers, most_options);
}

std::string tables(const CallableHeader& content, const std::string& content_hash) {
  std::string out = image_tables(content) + variant_tables(content) + device_tables(content);
  if (has_gemms(content)) out += gemm_kind_table(content) + entry_table(content) + family_table(content);
  out += kLosses;
  if (has_gemms(content)) out += loss_table(content);
  return out + fmt::format("inline constexpr Build kBuild = {{{}, {}, {}, {}}};\n", cpp_string(content.pgtune_version),
                           cpp_string(content.nvrtc_version), content.least_driver, cpp_string(content_hash));
}

}  // namespace pgtune::tool
