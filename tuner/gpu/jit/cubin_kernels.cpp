// SPDX-License-Identifier: MIT
#include "tuner/gpu/jit/cubin_kernels.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tuner/util/count_text.hpp"

namespace pgtune::gpu {
namespace {

constexpr unsigned char kEntryFlag = 0x10;  ///< of a symbol's st_other: a kernel, and no device function
constexpr unsigned char kWithData = 4;      ///< format of an attribute whose value is a length
constexpr unsigned char kParameter = 0x17, kLargeParameter = 0x45;
constexpr std::size_t kParameterWords = 3;  ///< index, ordinal and offset, size
constexpr std::size_t kMaxParameters = 4096;

template <typename Record>
std::optional<Record> record_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data() + offset, sizeof(Record));
  return record;
}

/// The zero-terminated text there.
std::string_view text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  bytes.remove_prefix(offset);
  return bytes.substr(0, bytes.find('\0'));
}

class Elf {
 public:
  static std::optional<Elf> open(std::string_view bytes) {
    const auto header = record_at<Elf64_Ehdr>(bytes, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shentsize != sizeof(Elf64_Shdr))
      return std::nullopt;
    Elf elf(bytes);
    for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
      const auto section = record_at<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
      if (!section) return std::nullopt;
      elf.sections_.push_back(*section);
    }
    if (header->e_shstrndx >= elf.sections_.size()) return std::nullopt;
    elf.names_ = elf.contents(elf.sections_[header->e_shstrndx]);
    return elf;
  }

  [[nodiscard]] const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  [[nodiscard]] std::string_view contents(const Elf64_Shdr& section) const {
    if (section.sh_offset > bytes_.size() || bytes_.size() - section.sh_offset < section.sh_size) return {};
    return bytes_.substr(section.sh_offset, section.sh_size);
  }
  [[nodiscard]] std::string_view name(const Elf64_Shdr& section) const { return text_at(names_, section.sh_name); }
  /// Nothing where there is no such section.
  [[nodiscard]] std::string_view contents_of(std::string_view wanted) const {
    for (const Elf64_Shdr& section : sections_) {
      if (name(section) == wanted) return contents(section);
    }
    return {};
  }

 private:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_, names_;
  std::vector<Elf64_Shdr> sections_;
};

/// Of a kernel's attributes. Nothing where they are cut off, or a parameter is missing among them.
std::optional<std::vector<std::int64_t>> read_parameters(std::string_view attributes) {
  std::vector<std::int64_t> bytes;
  std::uint64_t at = 0;
  while (at < attributes.size()) {
    struct Attribute {
      unsigned char format, kind;
      std::uint16_t value;
    };
    const auto attribute = record_at<Attribute>(attributes, at);
    if (!attribute) return std::nullopt;
    at += sizeof(Attribute);
    if (attribute->format != kWithData) continue;
    if (attribute->kind == kParameter || attribute->kind == kLargeParameter) {
      std::uint32_t words[kParameterWords];
      if (attribute->value != sizeof words || attributes.size() - at < sizeof words) return std::nullopt;
      std::memcpy(words, attributes.data() + at, sizeof words);
      const std::size_t ordinal = words[1] & 0xffffU;
      if (ordinal >= kMaxParameters) return std::nullopt;
      bytes.resize(std::max(bytes.size(), ordinal + 1));
      bytes[ordinal] = attribute->kind == kParameter ? words[2] >> 18U : words[2] & 0xffffffU;
    }
    at += attribute->value;
  }
  if (std::find(bytes.begin(), bytes.end(), 0) != bytes.end()) return std::nullopt;
  return bytes;
}

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // "f" would be the mangled name of float
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? text.get() : symbol;
}

std::string why_not_there(const std::vector<CubinKernel>& kernels, const std::string& symbol) {
  std::string names;
  for (const CubinKernel& kernel : kernels) {
    const std::string name = demangled(kernel.symbol);
    if (name != kernel.symbol && name.starts_with(symbol + "("))
      return fmt::format("kernel '{}' is not extern \"C\" in the source, where it is {}", symbol, name);
    names += (names.empty() ? "" : ", ") + name;
  }
  return fmt::format("the source has no kernel '{}'; its kernels: {}", symbol, names.empty() ? "none" : names);
}

}  // namespace

std::optional<std::vector<CubinKernel>> read_cubin_kernels(std::string_view cubin) {
  const auto elf = Elf::open(cubin);
  if (!elf) return std::nullopt;
  std::vector<CubinKernel> kernels;
  for (const Elf64_Shdr& section : elf->sections()) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= elf->sections().size()) continue;
    const std::string_view symbols = elf->contents(section), names = elf->contents(elf->sections()[section.sh_link]);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      const Elf64_Sym symbol = *record_at<Elf64_Sym>(symbols, at);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || (symbol.st_other & kEntryFlag) == 0) continue;
      const std::string name(text_at(names, symbol.st_name));
      auto parameters = read_parameters(elf->contents_of(".nv.info." + name));
      if (!parameters) return std::nullopt;
      kernels.push_back({name, std::move(*parameters)});
    }
  }
  return kernels;
}

std::optional<std::string> why_not_callable(std::string_view cubin, const std::vector<KernelCall>& calls,
                                            const BuildInfo& build) {
  const auto kernels = read_cubin_kernels(cubin);
  if (!kernels) return std::nullopt;
  for (const KernelCall& call : calls) {
    const std::string& name = call.symbol;
    const auto kernel = std::find_if(kernels->begin(), kernels->end(),
                                     [&](const auto& one) { return one.symbol == build.symbol_of(name); });
    if (kernel == kernels->end()) return why_not_there(*kernels, name);
    const auto& parameters = kernel->parameter_bytes;
    if (parameters.size() != call.arguments.size())
      return fmt::format("kernel '{}' has {}, and is passed {}", name, counted(parameters.size(), "parameter"),
                         counted(call.arguments.size(), "argument"));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const PassedArgument& argument = call.arguments[i];
      if (argument.bytes == parameters[i]) continue;
      return fmt::format("kernel '{}': argument {} ({}) is {} bytes, the kernel's parameter {} has {}", name, i + 1,
                         argument.kind, argument.bytes, i + 1, parameters[i]);
    }
  }
  return std::nullopt;
}

}  // namespace pgtune::gpu
