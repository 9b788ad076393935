// SPDX-License-Identifier: MIT
// Which candidates become kernels of a family, and which M each of them serves, by what is known of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tuner/model/family.hpp"
#include "tuner/session/family/cover.hpp"
#include "tuner/session/family/family_plan.hpp"
#include "tuner/session/family/pool.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

class KernelChoice {
 public:
  /// References must outlive it. `tops`: the last M of each class.
  KernelChoice(const FamilyRequest& request, const space::TemplateSet& templates, const DeviceInfo& device,
               const Family& family, const std::vector<std::int64_t>& tops, Pool& pool)
      : request_(request), templates_(templates), device_(device), family_(family), tops_(tops), pool_(pool) {}

  struct Chosen {
    Pool::Rows rows;
    std::vector<CoverInterval> intervals;  ///< of the rows
    std::string order;                     ///< where one was asked for: that in which all of them add
  };
  /// Of all candidates, or of those that add in one plain order, of which the one that loses least. A kernel whose
  /// legality, build or order changes inside a class does not serve that class: looked at for every M. With
  /// `doubts`, times that were not measured are multiplied by 1.25. Errors (usage): a class without a kernel, or none
  /// of one order.
  [[nodiscard]] Result<Chosen> choose(bool doubts);

 private:
  /// `rows` of one order, and their places among all.
  struct RowsOfOrder {
    std::string order;
    std::vector<std::size_t> rows;
    TimeTable times;
  };
  [[nodiscard]] static std::vector<RowsOfOrder> by_order(const Pool::Rows& rows);

  void distrust_expected(Pool::Rows& rows) const;
  [[nodiscard]] Result<void> choose_intervals(Chosen& chosen) const;
  /// Whether some kernel changes within a class that it should serve: it is taken from the table there.
  bool drop_changing(Chosen& chosen);
  bool drop_if_changing(Pool::Rows& rows, std::size_t row, std::size_t of_class);
  [[nodiscard]] bool changes(std::size_t index, const std::string& order, std::size_t of_class) const;

  const FamilyRequest& request_;
  const space::TemplateSet& templates_;
  const DeviceInfo& device_;
  const Family& family_;
  const std::vector<std::int64_t>& tops_;
  Pool& pool_;
  /// What changes() said of a candidate, its order and a class: to look at every M takes seconds.
  std::map<std::tuple<std::size_t, std::string, std::size_t>, bool> changes_;
};

}  // namespace pgtune::session
