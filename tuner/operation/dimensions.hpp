// SPDX-License-Identifier: MIT
// Dimensions, dtypes and sizes: the arguments that instantiate an operation.
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
  std::optional<Expression> fallback;  ///< the default size, over the dimensions before it
  std::int64_t least = 1;
};

/// Values by name.
class Names : public space::Scope {
 public:
  void set(const std::string& name, std::int64_t value) { values_[name] = value; }
  /// The names that depend on a dtype: DTYPE and ELEM_BYTES, and OUT_BYTES for the type of results, by default the
  /// dtype's usual one.
  void set_dtype(Dtype dtype, std::optional<ElementType> output = {});
  [[nodiscard]] std::optional<std::int64_t> value(std::string_view name) const override;

 private:
  std::unordered_map<std::string, std::int64_t> values_;
};

/// The names that expressions may use if there are such dtypes. `of_products`: of products' factors and results.
[[nodiscard]] space::KnownNames names_with(const std::vector<Dtype>& dtypes, bool of_products = false);
/// The field "dimensions"; the cursor's JsonProblems collects problems.
[[nodiscard]] std::vector<Dimension> read_dimensions(const JsonCursor& root, space::KnownNames& names);

/// Parses "M=4096,N=8192". Errors (usage): the text is no such list.
[[nodiscard]] Result<std::vector<NamedValue>> parse_sizes(std::string_view text);

/// The sizes in the order of the dimensions, with defaults filled in. `owner` names the operation in messages: "the
/// operation 'softmax'". Errors (usage): a dimension without a size, an unknown one, one given twice, a size below its
/// least.
[[nodiscard]] Result<std::vector<NamedValue>> complete_sizes(const std::string& owner,
                                                             const std::vector<Dimension>& dimensions,
                                                             const std::vector<NamedValue>& sizes);

/// The requested dtype, else the first; nothing if there are none. Errors (usage): the requested one is none of them.
[[nodiscard]] Result<std::optional<Dtype>> choose_dtype(const std::string& owner, const std::vector<Dtype>& dtypes,
                                                        std::optional<Dtype> dtype);

}  // namespace pgtune::operation
