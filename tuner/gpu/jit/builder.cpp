// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "tuner/gpu/jit/cubin_kernels.hpp"
#include "tuner/gpu/jit/nvrtc.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::gpu {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return is_number(text);
}

/// "sm_90", "sm_90a", "sm_100f".
bool is_architecture(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return is_number(text) && text.size() <= 4;
}

template <typename Visit>
void for_each_line(std::string_view log, const Visit& visit) {
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    visit(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
  }
}

/// The number before `unit` in a line such as "Used 64 registers, 512 bytes smem"; 0 if the line lacks it.
template <typename Number>
Number number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  Number value = 0;
  std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

std::string_view text_between(std::string_view line, std::string_view before, char after) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + before.size());
  return line.substr(0, line.find(after));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string shortened(std::string_view text) {
  if (text.size() <= kMaxReasonBytes) return std::string(text);
  constexpr std::string_view kEllipsis = "...";
  std::size_t end = kMaxReasonBytes - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // not inside a UTF-8 character
  return std::string(text.substr(0, end)).append(kEllipsis);
}

/// "x.cu(3): error: ...", "x.cu(3): error #20: ...", "catastrophic error: ...", "ptxas ...; error   : ...",
/// "ptxas fatal   : ..."; not "2 errors detected in ...".
bool is_error_line(std::string_view line) {
  for (const std::string_view word : {"error", "fatal"}) {
    for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
      const bool word_starts = at > 0 && line[at - 1] == ' ';
      std::string_view rest = line.substr(at + word.size());
      if (rest.substr(0, 2) == " #") rest = rest.substr(std::min(rest.find(':'), rest.size()));
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      if (word_starts && !rest.empty() && rest.front() == ':') return true;
    }
  }
  return false;
}

BuildInfo summarize(const std::vector<KernelResources>& kernels) {
  BuildInfo build;
  for (const KernelResources& kernel : kernels) {
    build.registers = std::max(build.registers, kernel.registers);
    build.static_smem_bytes = std::max(build.static_smem_bytes, kernel.static_smem_bytes);
    build.local_bytes = std::max(build.local_bytes, kernel.stack_bytes);
    build.spill_bytes = std::max(build.spill_bytes, kernel.spill_bytes);
  }
  return build;
}

/// The build of a module alone. Its text includes the header.
protocol::BuildRequest request_of(const KernelModule& module, const protocol::BuildRequest& whole) {
  protocol::BuildRequest out{whole.id, whole.variant, nullptr, module.defines, whole.architecture};
  out.source = std::make_shared<const TemplateSource>(
      TemplateSource{module.symbol + ".cu", fmt::format("#include \"{}\"\n", module.header), whole.source->headers});
  for (const KernelCall& call : whole.calls) {
    if (call.symbol == module.symbol) out.calls.push_back(call);
  }
  return out;
}

/// The build of all that is in none of its modules.
protocol::BuildRequest without_modules(protocol::BuildRequest request) {
  for (const KernelModule& module : request.modules)
    std::erase_if(request.calls, [&](const KernelCall& call) { return call.symbol == module.symbol; });
  request.modules.clear();
  request.defines.push_back({kSeparateModules, "1"});
  return request;
}

void add_module(BuildInfo& build, BuildInfo module) {
  build.registers = std::max(build.registers, module.registers);
  build.static_smem_bytes = std::max(build.static_smem_bytes, module.static_smem_bytes);
  build.local_bytes = std::max(build.local_bytes, module.local_bytes);
  build.spill_bytes = std::max(build.spill_bytes, module.spill_bytes);
  if (!module.cached) build.compile_s += module.compile_s;
  build.modules.push_back({std::move(module.cubin_path), std::move(module.cubin_hash)});
}

/// An error that every variant would have, so it must not count against this one.
std::optional<Error> installation_error(const Compilation& compilation, const Toolkit& toolkit,
                                        const std::string& architecture) {
  const std::string detail = find_first_error(compilation.log).value_or(nvrtcGetErrorString(compilation.status));
  if (compilation.status == NVRTC_ERROR_INVALID_OPTION) {
    return Error{
        ErrorKind::kEnvironment,
        fmt::format("NVRTC {} refuses its options for architecture '{}' ({}); a GPU newer than the toolkit needs a "
                    "newer CUDA Toolkit",
                    toolkit.nvrtc_version, architecture, detail),
        {}};
  }
  if (compilation.status == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) {
    return Error{
        ErrorKind::kEnvironment,
        fmt::format("NVRTC {} cannot load its built-in library ({}); libnvrtc-builtins.so of the same version must "
                    "lie beside libnvrtc.so",
                    toolkit.nvrtc_version, detail),
        {}};
  }
  return std::nullopt;
}

/// The standard header of an identifier that the error says is undefined, of those that nvcc includes unasked.
std::string_view missing_header(std::string_view error) {
  const std::string_view name = text_between(error, "identifier \"", '"');
  if (error.find("is undefined") == std::string_view::npos) return {};
  if (name == "INFINITY" || name == "NAN" || name.starts_with("M_") || name.starts_with("HUGE_VAL")) return "math.h";
  if (name.starts_with("FLT_") || name.starts_with("DBL_")) return "float.h";
  if (name == "INT_MAX" || name == "INT_MIN" || name == "UINT_MAX" || name == "CHAR_BIT") return "limits.h";
  const bool integer = (name.starts_with("int") || name.starts_with("uint")) && name.ends_with("_t");
  return integer ? "stdint.h" : std::string_view();
}

std::string failure_reason(const Compilation& compilation, const std::vector<Define>& defines) {
  if (std::optional<std::string> error = find_first_error(compilation.log)) {
    // Macros also apply to NVRTC's own headers, so a parameter named like one of their identifiers breaks them.
    if (error->find("__nv_nvrtc_builtin_header.h") != std::string::npos)
      return *error + " (a parameter or define has the name of an identifier in CUDA's headers: rename it)";
    if (const std::string_view header = missing_header(*error); !header.empty())
      return fmt::format("{} (#include <{}>)", *error, header);
    if (error->find("cannot open source file") != std::string::npos)
      return *error +
             " (neither below the source's folder, nor the toolkit's, nor a standard header that device code has)";
    return explain_undefined_label(*error, defines).value_or(*error);
  }
  return fmt::format("NVRTC failed without an error line in its log: {}", nvrtcGetErrorString(compilation.status));
}

protocol::BuildDone compile_failed(protocol::RequestId id, std::string reason) {
  return {.id = id, .outcome = {OutcomeKind::kCompileFailed, std::move(reason)}, .build = {}};
}

/// Names that are no symbols: kernels have to be instantiated for them.
std::vector<std::string> name_expressions(const std::vector<KernelCall>& calls) {
  std::vector<std::string> out;
  for (const KernelCall& call : calls) {
    if (!is_identifier(call.symbol) && std::find(out.begin(), out.end(), call.symbol) == out.end())
      out.push_back(call.symbol);
  }
  return out;
}

/// A cubin whose kernels are not what will be launched is a failed build.
protocol::BuildDone finished(const protocol::BuildRequest& request, std::string_view cubin, BuildInfo build) {
  if (std::optional<std::string> reason = why_not_callable(cubin, request.calls, build))
    return compile_failed(request.id, shortened(*reason));
  return {.id = request.id, .outcome = {}, .build = std::move(build)};
}

}  // namespace

Result<std::vector<std::string>> compile_options(const protocol::BuildRequest& request, const Toolkit& toolkit) {
  if (!is_architecture(request.architecture))
    return fail(ErrorKind::kUsage,
                fmt::format("'{}' is no architecture to compile for; sm_90a is one", request.architecture));
  std::vector<std::string> out{
      "--gpu-architecture=" + request.architecture,
      "-std=c++17",
      "-default-device",
      "--ptxas-options=-v",
  };
  for (const std::filesystem::path& folder : toolkit.include_folders) out.push_back("-I" + folder.string());
  for (const Define& define : request.defines) {
    if (!is_identifier(define.name) || !(is_integer(define.value) || is_identifier(define.value)))
      return fail(ErrorKind::kUsage,
                  fmt::format("a template may define a name as an integer or a label, not '{}' as '{}'", define.name,
                              define.value));
    out.push_back(fmt::format("-D{}={}", define.name, define.value));
  }
  return out;
}

std::vector<KernelResources> parse_resources(std::string_view log) {
  std::vector<KernelResources> kernels;
  for_each_line(log, [&](std::string_view line) {
    if (const std::string_view symbol = text_between(line, "Compiling entry function '", '\''); !symbol.empty())
      kernels.push_back({.symbol = std::string(symbol)});
    if (kernels.empty()) return;
    KernelResources& kernel = kernels.back();
    // Device functions that are not inlined report their own lines inside their kernel's: the largest counts.
    kernel.registers = std::max(kernel.registers, number_before<int>(line, " registers"));
    kernel.stack_bytes = std::max({kernel.stack_bytes, number_before<std::int64_t>(line, " bytes stack frame"),
                                   number_before<std::int64_t>(line, " bytes cumulative stack size")});
    kernel.spill_bytes = std::max(kernel.spill_bytes, number_before<std::int64_t>(line, " bytes spill stores") +
                                                          number_before<std::int64_t>(line, " bytes spill loads"));
    kernel.static_smem_bytes = std::max(kernel.static_smem_bytes, number_before<std::int64_t>(line, " bytes smem"));
  });
  return kernels;
}

std::optional<std::string> find_hazard(std::string_view log) {
  constexpr std::array<std::string_view, 2> kHazards{"wgmma.mma_async instructions are serialized",
                                                     "'setmaxnreg' ignored"};
  std::optional<std::string> hazard;
  for_each_line(log, [&](std::string_view line) {
    const auto is_in_line = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
    if (!hazard && std::any_of(kHazards.begin(), kHazards.end(), is_in_line)) hazard = shortened(trimmed(line));
  });
  return hazard;
}

std::optional<std::string> find_first_error(std::string_view log) {
  std::optional<std::string> error;
  for_each_line(log, [&](std::string_view line) {
    if (!error && is_error_line(line)) error = shortened(trimmed(line));
  });
  return error;
}

std::optional<std::string> explain_undefined_label(std::string_view error, const std::vector<Define>& defines) {
  constexpr std::string_view kMacro = "LABEL_";
  const std::string_view macro = text_between(error, "identifier \"", '"');
  if (!macro.starts_with(kMacro) || error.find("is undefined") == std::string_view::npos) return std::nullopt;
  std::vector<std::string_view> labels;
  for (const Define& define : defines) {
    if (define.name.starts_with(kMacro)) labels.push_back(std::string_view(define.name).substr(kMacro.size()));
  }
  return shortened(fmt::format(
      "{}: the template's source uses {}, which none of its parameters has as a value; the labels there are: {}",
      error.substr(0, error.find(": error")), macro,
      labels.empty() ? "none" : fmt::to_string(fmt::join(labels, ", "))));
}

Builder::Builder(CubinCache cache, Toolkit toolkit) : cache_(std::move(cache)), toolkit_(std::move(toolkit)) {}

Result<protocol::BuildDone> Builder::build(const protocol::BuildRequest& request) const {
  if (request.modules.empty()) return build_module(request);
  std::vector<BuildInfo> modules;
  for (const KernelModule& module : request.modules) {
    TRY_ASSIGN(auto done, build_module(request_of(module, request)));
    if (done.outcome.kind != OutcomeKind::kOk) return done;
    modules.push_back(std::move(done.build));
  }
  TRY_ASSIGN(auto done, build_module(without_modules(request)));
  if (done.outcome.kind != OutcomeKind::kOk) return done;
  for (BuildInfo& module : modules) add_module(done.build, std::move(module));
  return done;
}

Result<protocol::BuildDone> Builder::build_module(const protocol::BuildRequest& request) const {
  const Result<std::vector<std::string>> options = compile_options(request, toolkit_);
  if (!options) return tl::unexpected(options.error());
  const CubinKey build_key = key(request, *options);
  std::string cubin;
  if (std::optional<BuildInfo> stored = cache_.find(build_key, &cubin))
    return finished(request, cubin, std::move(*stored));

  Result<NvrtcProgram> program = NvrtcProgram::create(*request.source, name_expressions(request.calls));
  if (!program) return fail(std::move(program.error()), "compiling " + request.variant.key());
  const Compilation compilation = program->compile(*options);
  if (std::optional<Error> error = installation_error(compilation, toolkit_, request.architecture))
    return tl::unexpected(std::move(*error));
  if (compilation.status != NVRTC_SUCCESS)
    return compile_failed(request.id, failure_reason(compilation, request.defines));
  if (std::optional<std::string> hazard = find_hazard(compilation.log))
    return compile_failed(request.id, std::move(*hazard));

  BuildInfo build = summarize(parse_resources(compilation.log));
  build.compile_s = compilation.time_s;
  build.lowered = compilation.lowered;
  Result<BuildInfo> stored = cache_.store(build_key, compilation.cubin, std::move(build));
  if (!stored) return tl::unexpected(std::move(stored.error()));
  return finished(request, compilation.cubin, std::move(*stored));
}

CubinKey Builder::key(const protocol::BuildRequest& request, const std::vector<std::string>& options) const {
  CubinKey out;
  out.add_text("nvrtc", toolkit_.nvrtc_identity);
  out.add_text("architecture", request.architecture);
  for (const std::string& option : options) out.add_text("option", option);
  for (const std::string& expression : name_expressions(request.calls)) out.add_text("kernel", expression);
  out.add_contents(request.source->name, request.source->contents);
  for (const SourceFile& header : request.source->headers) out.add_contents(header.name, header.contents);
  return out;
}

}  // namespace pgtune::gpu
