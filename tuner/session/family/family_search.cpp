// SPDX-License-Identifier: MIT
#include "tuner/session/family/family_search.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "tuner/session/family/classes.hpp"
#include "tuner/session/family/cover.hpp"
#include "tuner/session/family/kernel_choice.hpp"
#include "tuner/session/family/measurements.hpp"
#include "tuner/session/family/pool.hpp"
#include "tuner/session/rounds/round_order.hpp"
#include "tuner/session/rounds/round_plan.hpp"
#include "tuner/session/search_session.hpp"
#include "tuner/util/quiet_thread.hpp"

namespace pgtune::session {
namespace {

constexpr double kPoolReach = 0.10;   ///< a variant that is this near the best of an anchor is a candidate everywhere
constexpr double kClassReach = 0.08;  ///< what is predicted to be this near the best of a class is tried there

StoreKey key_of(const FamilyRequest& request, const space::TemplateSet& templates, const DeviceInfo& device,
                const SessionOptions& options) {
  return {request.problem, templates, device, options.conditions, SessionKind::kFamily};
}

/// What the probe's rounds measure of a search's ranking: the winner, and the one behind it if that is near.
std::vector<Variant> nearly_best(const std::vector<RankedVariant>& ranking) {
  std::vector<Variant> out{ranking.front().variant};
  const RankedVariant* second = nullptr;
  for (std::size_t i = 1; i < ranking.size(); ++i) {
    if (second == nullptr || ranking[i].time_s < second->time_s) second = &ranking[i];
  }
  if (second != nullptr && second->time_s <= (1 + kConfirmReach) * ranking.front().time_s)
    out.push_back(second->variant);
  return out;
}

/// The rung that is nearest to `m`, by their ratio. Precondition: there is one.
std::int64_t nearest(const std::vector<std::int64_t>& rungs, std::int64_t m) {
  const auto distance = [m](std::int64_t rung) {
    return static_cast<double>(std::max(m, rung)) / static_cast<double>(std::min(m, rung));
  };
  return *std::min_element(rungs.begin(), rungs.end(),
                           [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
}

class FamilySearch {
 public:
  FamilySearch(const FamilyRequest& request, const space::TemplateSet& templates, device::Device& device, Store& store,
               const SessionOptions& options, const std::atomic<bool>& stop, const ProgressCallback& progress,
               const Clock& clock)
      : request_(request),
        templates_(templates),
        device_(device),
        store_(store),
        options_(options),
        stop_(stop),
        progress_([this, &progress](const Progress& of_part) {
          if (!progress) return;
          Progress whole = of_part;
          whole.part = part_;
          progress(whole);
        }),
        clock_(clock),
        family_(family_of(request, options)),
        measurements_(family_, templates, device, store, options, stop, progress_, clock),
        pool_(family_, templates, device.info()),
        admits_(admitted(request, templates, device.info())) {}

  ~FamilySearch() {
    abandoned_ = true;
    if (expecting_.joinable()) expecting_.join();
  }
  FamilySearch(const FamilySearch&) = delete;
  FamilySearch& operator=(const FamilySearch&) = delete;

  Result<FamilyResult> run() {
    FamilyResult out;
    // Both take as long, the one on the cores, the other on the GPU.
    const auto task = std::make_shared<std::packaged_task<Result<ExpectedClasses>()>>([this] {
      return expect_classes(request_, templates_, device_.info(), options_, kPromising,
                            [this] { return stop_ || abandoned_; });
    });
    expecting_ = start_without_signals([task] {
      // This thread's, and so of those that it starts: measuring and building come first. Beside other programs that
      // use every core, a lower one would hardly get any time.
      static_cast<void>(::setpriority(PRIO_PROCESS, 0, 5));
      (*task)();
    });
    TRY(explore_anchors());
    auto expectation = task->get_future();
    if (expectation.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      part_ = "classes";
      Progress expecting;
      expecting.phase = Progress::Phase::kExpectation;
      expecting.problem = family_.at(family_.last_m());
      progress_(expecting);
    }
    TRY_ASSIGN(auto expected, expectation.get());
    TRY(add_promising(std::move(expected)));
    out.classes = tops_.size();
    TRY(screen_classes());
    if (!stop_) TRY(choose());
    // What was chosen while it stopped may rest on expected times.
    if (!stop_) {
      TRY_ASSIGN(const bool compared, compare_rows());
      if (compared) {
        TRY_ASSIGN(out.family, probed());
      }
    }
    out.interrupted = stop_;
    return out;
  }

 private:
  /// Many variants at few M; what is fast at one of them may become a kernel.
  Result<void> explore_anchors() {
    const std::vector<std::int64_t> all = anchors(family_.first_m, family_.last_m());
    for (const std::int64_t m : all) {
      if (stop_) return {};
      part_ = fmt::format("anchor {} of {}", used_.size() + 1, all.size());
      // Above one that meets the power cap all do.
      TRY_ASSIGN(auto measured, measurements_.explore(m, kExplored, admits_, !pool_.is_capped(m)));
      used_.insert(m);
      const auto cycles = [](const Tried& one) { return one.time_s * std::max(one.clock_hz, 1.0); };
      double best = std::numeric_limits<double>::infinity();
      for (const Tried& one : measured.tried) best = std::min(best, cycles(one));
      std::erase_if(measured.tried, [&](const Tried& one) { return cycles(one) > (1 + kPoolReach) * best; });
      pool_.take(m, measured);
    }
    return {};
  }

  /// What is expected to be fastest in each class joins the candidates, and is built.
  Result<void> add_promising(ExpectedClasses expected) {
    tops_ = std::move(expected.tops);
    if (stop_) return {};
    std::vector<std::pair<std::int64_t, Variant>> wanted;
    for (std::size_t i = 0; i < tops_.size(); ++i) {
      for (const Variant& variant : expected.promising[i]) {
        const std::size_t known = pool_.size();
        promising_[tops_[i]].push_back(pool_.add(variant));
        if (pool_.size() > known) wanted.emplace_back(tops_[i], variant);
      }
    }
    TRY_ASSIGN(const auto built, measurements_.build(wanted));
    for (std::size_t i = 0; i < wanted.size() && !stop_; ++i) {
      if (!built[i]) pool_.drop(wanted[i].second);
    }
    return {};
  }

  /// What is worth trying at the last M of a class: what is predicted to be near the best, from where it was measured,
  /// and the model's choice.
  std::vector<Variant> worth_trying(std::int64_t m) {
    std::vector<std::pair<double, std::size_t>> predicted;
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (!pool_.may_serve(i, m) || !pool_.is_expected(i, m)) continue;
      if (const auto time_s = pool_.time_s(i, m)) predicted.emplace_back(*time_s, i);
    }
    std::sort(predicted.begin(), predicted.end());
    std::vector<Variant> out;
    for (const auto& [time_s, i] : predicted) {
      if (out.size() == kTriedOfClass || time_s > (1 + kClassReach) * predicted.front().first) break;
      out.push_back(pool_.variant(i));
    }
    for (const std::size_t i : promising_[m]) {
      if (pool_.may_serve(i, m) && std::find(out.begin(), out.end(), pool_.variant(i)) == out.end())
        out.push_back(pool_.variant(i));
    }
    return out;
  }

  Result<void> screen_classes() {
    std::size_t number = 0;
    for (const std::int64_t m : tops_) {
      if (stop_) return {};
      part_ = fmt::format("class {} of {}", ++number, tops_.size());
      const std::vector<Variant> variants = worth_trying(m);
      if (variants.empty()) continue;
      TRY_ASSIGN(const auto measured, measurements_.screen(m, variants));
      used_.insert(m);
      pool_.take(m, measured);
    }
    return {};
  }

  /// Kernels and intervals. Where an expected time decided, it is measured, and kernels are chosen again. Where that
  /// takes too long, such times count as longer in the end.
  Result<void> choose() {
    constexpr int kMostMeasured = 5;
    KernelChoice choice(request_, templates_, device_.info(), family_, tops_, pool_);
    for (int measured = 0;; ++measured) {
      TRY_ASSIGN(const auto chosen, choice.choose(measured == kMostMeasured));
      if (measured < kMostMeasured && !stop_) {
        TRY_ASSIGN(const bool any, measure_chosen(chosen.rows, chosen.intervals));
        if (any) continue;
      }
      if (request_.one_order) family_.sum_order = chosen.order;
      take(chosen.rows, chosen.intervals);
      return {};
    }
  }

  using VariantsAtM = std::map<std::int64_t, std::vector<Variant>>;

  /// Times the kernels in all classes of their intervals, where they were not, and spares in the last one. At the power
  /// cap cycles are not all: kernels of whose kind none was settled beside such a class get a settled sample, at the
  /// nearest rung of a ladder, or at that class if they cannot serve there, or failed. False: there was nothing to do.
  Result<bool> measure_chosen(const Pool::Rows& rows, const std::vector<CoverInterval>& intervals) {
    const auto ladder = settled_ladder(tops_, [this](std::int64_t m) { return pool_.is_capped(m); });
    VariantsAtM timed, settled;
    const auto time = [&](std::size_t index, std::int64_t m) {
      if (!pool_.measured(index).cycles.contains(m) && tried_.emplace(index, m).second)
        timed[m].push_back(pool_.variant(index));
    };
    std::map<std::string, std::set<std::int64_t>> planned;  // M by kind
    const auto settle = [&](std::size_t index, std::int64_t m) {
      if (!pool_.is_capped(m) || pool_.is_settled(index, m)) return;
      const std::string& kind = pool_.kind(index, m);
      for (const std::int64_t at : {nearest(ladder, m), m}) {
        std::set<std::int64_t>& own = planned[kind];
        if (std::any_of(own.begin(), own.end(), [m](std::int64_t there) { return are_beside(there, m); })) return;
        if (!pool_.may_serve(index, at) || !settled_.emplace(kind, at).second) continue;
        own.insert(at);
        settled[at].push_back(pool_.variant(index));
        return;
      }
    };
    std::size_t first_class = 0;
    for (const CoverInterval& interval : intervals) {
      const std::size_t index = rows.variants[interval.kernel];
      for (std::size_t i = interval.last_class + 1; i-- > first_class;) {
        time(index, tops_[i]);
        settle(index, tops_[i]);
      }
      first_class = interval.last_class + 1;
      if (interval.spare) time(rows.variants[*interval.spare], tops_[interval.last_class]);
    }
    const std::size_t number = timed.size() + settled.size();
    TRY(measure_at(timed, 0, number, &FamilyMeasurements::screen));
    TRY(measure_at(settled, timed.size(), number, &FamilyMeasurements::settle));
    return number > 0;
  }

  /// The variants at each M, after `done` of `number` steps.
  Result<void> measure_at(const VariantsAtM& wanted, std::size_t done, std::size_t number,
                          Result<MeasuredM> (FamilyMeasurements::*measure)(std::int64_t, const std::vector<Variant>&)) {
    for (const auto& [m, variants] : wanted) {
      if (stop_) return {};
      part_ = fmt::format("expected time {} of {}", ++done, number);
      TRY_ASSIGN(const auto measured, (measurements_.*measure)(m, variants));
      used_.insert(m);
      pool_.take(m, measured);
    }
    return {};
  }

  void take(const Pool::Rows& rows, const std::vector<CoverInterval>& intervals) {
    std::map<std::size_t, int> kernels;  // by row
    const auto kernel_of = [&](std::size_t row) {
      const auto [entry, is_new] = kernels.try_emplace(row, static_cast<int>(family_.kernels.size()));
      if (is_new) {
        const Variant& variant = pool_.variant(rows.variants[row]);
        family_.kernels.push_back({variant, templates_.of(variant).content_hash});
      }
      return entry->second;
    };
    for (const CoverInterval& interval : intervals) {
      FamilyInterval& out = family_.intervals.emplace_back();
      out.last_m = tops_[interval.last_class];
      out.kernel = kernel_of(interval.kernel);
      if (interval.spare) out.spare = kernel_of(*interval.spare);
      out.time_s = *rows.times[interval.kernel][interval.last_class];
      const auto& cycles = pool_.measured(rows.variants[interval.kernel]).cycles;
      if (cycles.contains(out.last_m)) out.basis = FamilyBasis::kMeasured;
    }
  }

  /// Where one order is asked for: whether each row has the same bits at every M. Not of a batch.
  Result<bool> compare_rows() {
    if (!request_.one_order || family_.problem.batch > 1) return true;
    part_ = "comparing rows";
    const auto at = draw_compared(family_, options_.seed);
    TRY_ASSIGN(const bool compared, measurements_.compare_rows(at));
    if (compared) family_.compared_m = std::ssize(at);
    return compared;
  }

  /// The family with its probes, which is stored, unless it was interrupted with fewer than one that is stored has.
  Result<std::optional<Family>> probed() {
    const StoreKey key = key_of(request_, templates_, device_.info(), options_);
    const auto own = store_.family(key, request_.first_m, request_.one_order, Boards::kThisOne);
    TRY(measure_probes(options_.force ? std::nullopt : own));
    const auto newest = store_.family(key, request_.first_m, request_.one_order, Boards::kOfClass);
    if (stop_ && newest && newest->probes.size() > family_.probes.size()) return std::nullopt;
    if (family_ != own) store_.save_family(key, family_, options_.seed, options_.command_line);
    return family_;
  }

  const FamilyKernel& kernel_at(const Family& family, std::int64_t m) const {
    return family.kernels[static_cast<std::size_t>(family.interval_of(m).kernel)];
  }

  /// Plain searches of M that took no part, and rounds of their winners beside the family's kernels. Probes of a stored
  /// family are taken over where the same kernel serves. They are measured in the order in which they were drawn: where
  /// that ends early, no part of the range has been preferred.
  Result<void> measure_probes(const std::optional<Family>& stored) {
    const std::vector<std::int64_t> used(used_.begin(), used_.end());
    // Other M for other weights, so that the families of a model cover more.
    const std::uint64_t seed =
        order_seed(options_.seed, fmt::format("probes of {}x{}", family_.problem.n, family_.problem.k));
    const auto drawn = draw_probes(family_.first_m, family_.last_m(), request_.probes, used, seed);
    std::size_t number = 0;
    for (const std::int64_t m : drawn) {
      if (stop_) break;
      part_ = fmt::format("probe {} of {}", ++number, drawn.size());
      if (stored && kernel_at(*stored, m) == kernel_at(family_, m)) {
        const auto known = std::find_if(stored->probes.begin(), stored->probes.end(),
                                        [m](const FamilyProbe& probe) { return probe.m == m; });
        if (known != stored->probes.end()) {
          family_.probes.push_back(*known);
          continue;
        }
      }
      SessionOptions plain = of_probe(options_);
      plain.sampling = pool_.sampling(m);
      TRY_ASSIGN(const auto searched,
                 run_search(family_.at(m), templates_, device_, store_, plain, stop_, progress_, clock_));
      if (stop_ || !searched.answer) continue;
      ProbeRequest request{.m = m,
                           .family = kernel_at(family_, m).variant,
                           .searched = nearly_best(searched.answer->ranking),
                           .settled = searched.answer->sampling == Sampling::kSettled};
      if (!searched.from_store) request.prepared = searched.baseline;
      TRY_ASSIGN(auto probe, measurements_.probe(request));
      if (probe) family_.probes.push_back(std::move(*probe));
    }
    std::sort(family_.probes.begin(), family_.probes.end(),
              [](const FamilyProbe& a, const FamilyProbe& b) { return a.m < b.m; });
    return {};
  }

  const FamilyRequest& request_;
  const space::TemplateSet& templates_;
  device::Device& device_;
  Store& store_;
  const SessionOptions& options_;
  const std::atomic<bool>& stop_;
  std::string part_;  ///< Progress::part
  const ProgressCallback progress_;
  const Clock& clock_;
  Family family_;
  FamilyMeasurements measurements_;
  Pool pool_;
  VariantFilter admits_;
  std::vector<std::int64_t> tops_;                              ///< the last M of each class
  std::map<std::int64_t, std::vector<std::size_t>> promising_;  ///< by class: into the pool
  std::set<std::pair<std::size_t, std::int64_t>> tried_;        ///< of the pool, at M: what measure_chosen() timed
  std::set<std::pair<std::string, std::int64_t>> settled_;      ///< kinds, at M: what it settled
  std::set<std::int64_t> used_;                                 ///< M that were measured to choose kernels
  std::thread expecting_;
  std::atomic<bool> abandoned_ = false;  ///< the search ended, and what that thread finds is not used
};

}  // namespace

std::optional<Family> stored_family(Store& store, const FamilyRequest& request, const space::TemplateSet& templates,
                                    const DeviceInfo& device, const SessionOptions& options) {
  if (options.force || options.retry_failed) return std::nullopt;
  const StoreKey key = key_of(request, templates, device, options);
  return own_first(options.this_board, [&](Boards boards) {
    auto family = store.family(key, request.first_m, request.one_order, boards);
    const bool enough = family && family->kernels.size() <= request.kernels && family->probes.size() >= request.probes;
    return enough ? std::move(family) : std::nullopt;
  });
}

Result<FamilyResult> run_family_search(const FamilyRequest& request, const space::TemplateSet& templates,
                                       device::Device& device, Store& store, const SessionOptions& options,
                                       const std::atomic<bool>& stop, const ProgressCallback& progress,
                                       const Clock& clock) {
  const double start_s = clock.now_s();
  FamilyResult out;
  if (auto family = stored_family(store, request, templates, device.info(), options)) {
    out.family = std::move(family);
    out.from_store = true;
  } else {
    FamilySearch search(request, templates, device, store, options, stop, progress, clock);
    TRY_ASSIGN(out, search.run());
  }
  out.elapsed_s = clock.now_s() - start_s;
  return out;
}

}  // namespace pgtune::session
