// SPDX-License-Identifier: MIT
// Dimensions, dtypes and sizes: what an operation is instantiated with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tuner/expression/expression.hpp"
#include "tuner/model/dtype.hpp"
#include "tuner/model/operation_problem.hpp"
#include "tuner/template/known_names.hpp"
#include "tuner/util/json_cursor.hpp"

namespace pgtune::operation {

using space::Expression;

struct Dimension {
  std::string name, description;
  std::optional<Expression> fallback;  ///< of sizes that do not say it, over the dimensions before it
  std::int64_t least = 1;
};

/// Values by their names.
class Names : public space::Scope {
 public:
  void set(const std::string& name, std::int64_t value) { values_[name] = value; }
  /// The names that depend on a dtype: DTYPE and ELEM_BYTES, and OUT_BYTES for the type of results, by default the
  /// usual one.
  void set_dtype(Dtype dtype, std::optional<ElementType> output = {});
  [[nodiscard]] std::optional<std::int64_t> value(std::string_view name) const override;

 private:
  std::unordered_map<std::string, std::int64_t> values_;
};

// Readers of the fields "schema", "dtypes" and "dimensions"; problems are kept by the cursor's JsonProblems.
void check_schema(const JsonCursor& root);
/// Types that A and B agree on: such a dtype is the type of elements. `of_products`: any dtype, as the factors and
/// results of a product may have types of their own.
[[nodiscard]] std::vector<Dtype> read_dtypes(const JsonCursor& root, bool of_products = false);
/// What expressions may name where there are such dtypes.
[[nodiscard]] space::KnownNames names_with(const std::vector<Dtype>& dtypes, bool of_products = false);
[[nodiscard]] std::vector<Dimension> read_dimensions(const JsonCursor& root, space::KnownNames& names);

/// "M=4096,N=8192". Errors (usage): what is no such list.
[[nodiscard]] Result<std::vector<NamedValue>> parse_sizes(std::string_view text);

/// The sizes in the order of the dimensions, with those that have a default. `owner` is whose they are, for messages:
/// "the operation 'softmax'". Errors (usage): a dimension without a size, an unknown one, one given twice, a size below
/// its least.
[[nodiscard]] Result<std::vector<NamedValue>> complete_sizes(const std::string& owner,
                                                             const std::vector<Dimension>& dimensions,
                                                             const std::vector<NamedValue>& sizes);

/// The dtype asked for, else the first; nothing where there are none. Errors (usage): one that is none of them.
[[nodiscard]] Result<std::optional<Dtype>> choose_dtype(const std::string& owner, const std::vector<Dtype>& dtypes,
                                                        std::optional<Dtype> dtype);

}  // namespace pgtune::operation
