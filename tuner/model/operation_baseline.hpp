// SPDX-License-Identifier: MIT
// What an operation is compared with beside memory copied: a product of a library, GEMM's own with all that it has, or
// a variant of a template.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "tuner/model/library_product.hpp"
#include "tuner/util/fields.hpp"

namespace pgtune {

/// Baselines that an operation may have.
inline constexpr std::size_t kMaxBaselines = 8;

/// A variant of a template of the operation, built and checked like those that are compared with it.
struct TemplateBaseline {
  std::string selector;  ///< the template as the operation names it: a path beside it, or a built-in name
  std::string variant;   ///< "BM=128,BN=64", over the template's defaults

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("template", self.selector);
    visit("variant", self.variant, kUnlessDefault);
  }
  friend bool operator==(const TemplateBaseline&, const TemplateBaseline&) = default;
};

/// What the problem's members m, n, k, ... describe, by cuBLASLt: any layout, batches, scalars and what it can fuse.
struct GemmBaseline {
  BaselineLibrary library = BaselineLibrary::kCublasLt;

  template <typename Self, typename Visit>
  static void visit_fields(Self& self, const Visit& visit) {
    visit("gemm", self.library);
  }
  friend bool operator==(const GemmBaseline&, const GemmBaseline&) = default;
};

/// Its JSON is a LibraryProduct's, a TemplateBaseline's or a GemmBaseline's.
using OperationBaseline = std::variant<LibraryProduct, TemplateBaseline, GemmBaseline>;
void to_json(nlohmann::json& json, const OperationBaseline& value);
void from_json(const nlohmann::json& json, OperationBaseline& value);

/// The first of them if it has this type; otherwise null.
[[nodiscard]] const GemmBaseline* find_gemm_baseline(const std::vector<OperationBaseline>& baselines);

/// Errors (usage): a product that is none of the problem's buffers, a template without a name.
[[nodiscard]] Result<void> check_baseline(const OperationBaseline& baseline, const OperationProblem& problem);

}  // namespace pgtune
