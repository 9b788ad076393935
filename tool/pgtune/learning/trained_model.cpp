// SPDX-License-Identifier: MIT
#include "tool/pgtune/learning/trained_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "db/database.hpp"
#include "db/queries/queries.hpp"
#include "pgtune_fitted.hpp"
#include "pgtune_recordings.hpp"
#include "pgtune_unbiased.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/learning/learned_expectation.hpp"
#include "tool/pgtune/learning/settled_clocks.hpp"
#include "tool/pgtune/recording/recordings.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/session/expected_times.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/util/hash_text.hpp"
#include "tuner/util/own_files.hpp"
#include "tuner/util/quiet_thread.hpp"

namespace pgtune::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 64 << 20;
constexpr std::size_t kKept = 8;  ///< models in the cache
/// Goes up whenever the same tables give another model.
constexpr int kModelVersion = 3;

using Sessions = std::vector<db::SessionRow>;  ///< newest first
using Model = std::shared_ptr<const search::Predictor>;

/// The training data in sessions of one database, with tables numbered from 0. Throws CommandError, db::Error.
using Learn = std::vector<search::Experience> (*)(const db::Database& database, const Sessions& sessions,
                                                  const KnownTemplates& templates);

struct Kind {
  const char* name;  ///< begins its files' names
  Learn learn;
  search::Validation validation = search::Validation::kHoldout;
};

std::vector<search::Experience> learn_times(const db::Database& database, const Sessions& sessions,
                                            const KnownTemplates& templates) {
  std::vector<search::Experience> known;
  std::size_t first = 0;
  for (const RecordedTable& table : recorded_tables(database, templates, sessions)) {
    for (search::Experience& own : experiences(table, templates, first)) known.push_back(std::move(own));
    ++first;
  }
  return known;
}

std::vector<search::Experience> learn_clocks(const db::Database& database, const Sessions& sessions,
                                             const KnownTemplates& templates) {
  std::vector<search::Experience> known;
  std::size_t first = 0;
  for (const SettledRace& race : settled_races(database, templates, sessions)) {
    for (search::Experience& own : clock_experiences(race, templates, first)) known.push_back(std::move(own));
    ++first;
  }
  return known;
}

/// The user's database, if any, with the sessions for training.
struct OwnSearches {
  std::optional<db::Database> database;
  Sessions sessions;
};

OwnSearches all_searches(const fs::path& path) {
  OwnSearches own;
  if (db::is_absent(path)) return own;
  own.database = db::Database::open(path, db::OpenMode::kReadOnly);
  own.sessions = db::list_sessions(*own.database);
  std::erase_if(own.sessions, [](const db::SessionRow& row) { return row.recorded || row.kind != "search"; });
  return own;
}

/// Names a model's file by everything it is made of: the recordings, the unbiased tables, the templates that these or
/// the searches of the user's database may be of, whose JSON gives the features, and those searches.
std::string file_of(const Kind& kind, const KnownTemplates& templates, const Sessions& own) {
  std::string parts = fmt::format("{} {}\n", kind.name, kModelVersion);
  static const std::string recordings = [] {
    std::string hashes;
    for (const auto& files : {embedded::pgtune_recordings(), embedded::pgtune_unbiased()}) {
      for (const embedded::File& file : files) hashes += hash_text({file.contents.data(), file.contents.size()}) + '\n';
    }
    return hashes;
  }();
  parts += recordings;
  for (const auto& [name, definition] : templates.all()) {
    if (!own.empty() || !templates.is_new(name))
      parts += fmt::format("{} {} {}\n", name, definition.content_hash, definition.preset_hash);
  }
  std::vector<std::string> sessions;
  for (const db::SessionRow& row : own) sessions.push_back(row.uid + ' ' + row.finished_at);
  std::sort(sessions.begin(), sessions.end());
  for (const std::string& session : sessions) parts += session + '\n';
  return fmt::format("{}-{}.model", kind.name, hash_text(parts));
}

Model fit(const Kind& kind, const KnownTemplates& templates, const OwnSearches& searches) {
  std::vector<db::Database> shipped;
  if (has_built_in_recording()) shipped = open_recordings("");
  for (db::Database& tables : open_unbiased_tables()) shipped.push_back(std::move(tables));
  // One thread uses a connection; training data is in the order of the databases.
  std::vector<std::future<std::vector<search::Experience>>> parts;
  for (const db::Database& database : shipped) {
    parts.push_back(std::async(std::launch::async, [&kind, &templates, &database] {
      return kind.learn(database, db::list_sessions(database), templates);
    }));
  }
  std::vector<search::Experience> own;
  if (searches.database) own = kind.learn(*searches.database, searches.sessions, templates);
  std::vector<search::Experience> known;
  const auto add = [&](std::vector<search::Experience>&& learnt) {
    const std::size_t first = known.empty() ? 0 : known.back().table + 1;
    for (search::Experience& experience : learnt) {
      experience.table += first;
      known.push_back(std::move(experience));
    }
  };
  for (auto& part : parts) add(part.get());
  add(std::move(own));
  if (known.empty()) return nullptr;
  return std::make_shared<const search::Predictor>(
      search::PredictorTrainer(known).fit_all(kModelSeed, kind.validation));
}

/// Removes old files, and keeps the newest few.
void prune(const fs::path& folder) {
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".model") files.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  std::sort(files.begin(), files.end(), std::greater<>());
  for (std::size_t i = kKept; i < files.size(); ++i) fs::remove(files[i].second, ignored);
}

fs::path models_folder(Context& context) { return context.paths().cache / "models"; }

Model model_of(std::string_view bytes) {
  auto known = search::Predictor::from_bytes(bytes);
  return known ? std::make_shared<const search::Predictor>(std::move(*known)) : nullptr;
}

/// One of those that pgtune ships fitted (scripts/fit-models) whose file's name begins so; null where it ships none.
Model shipped(std::string_view name) {
  for (const embedded::File& file : embedded::pgtune_fitted()) {
    if (file.path.starts_with(name)) return model_of({file.contents.data(), file.contents.size()});
  }
  return nullptr;
}

/// Null where it has to be fitted.
Model load(Context& context, const std::string& file) {
  if (Model known = shipped(file)) return known;
  const auto bytes = read_own_file(models_folder(context) / file, kMostBytes);
  return bytes ? model_of(*bytes) : nullptr;
}

Model fit_and_keep(const Kind& kind, Context& context, const KnownTemplates& templates, const OwnSearches& searches) {
  const fs::path folder = models_folder(context);
  Model fitted = fit(kind, templates, searches);
  if (fitted && make_private_folder(folder)) {
    const fs::path file = folder / file_of(kind, templates, searches.sessions);
    if (const auto written = write_file_atomically(file, fitted->bytes()); !written)
      context.terminal().detail("the model is not kept: " + written.error().text());
    prune(folder);
  }
  return fitted;
}

/// The catalogue's, and `own`.
KnownTemplates known_templates(Context& context, const OwnTemplates& own) {
  KnownTemplates out(context.catalogue());
  for (const space::TemplateSet& set : own) {
    for (const space::TemplateDefinition& definition : set.definitions()) out.add(definition);
  }
  return out;
}

constexpr Kind kTimes{"times", learn_times}, kClocks{"clocks", learn_clocks};
constexpr Kind kValidatedTimes{"validated", learn_times, search::Validation::kFiveFold};

/// Of a number of searches that count: 0, 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on.
constexpr int kBits = 2;

std::size_t rounded_down(std::size_t count) {
  const int dropped = std::max(0, static_cast<int>(std::bit_width(count)) - kBits);
  return count >> dropped << dropped;
}

bool ends_before(const db::SessionRow& a, const db::SessionRow& b) {
  return std::tie(a.finished_at, a.uid) < std::tie(b.finished_at, b.uid);
}

/// The models of one kind for one command whose searches wait for no fit.
class Models {
 public:
  Models(Context& context, const Kind& kind, fs::path database, OwnTemplates templates)
      : context_(context), kind_(kind), path_(std::move(database)), own_(std::move(templates)) {}

  /// Fits that have begun are not broken off.
  ~Models() {
    if (unfinished_ > 0) context_.terminal().note("Learning from the searches so far, for the next one.");
    for (std::thread& thread : fits_) thread.join();
  }
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  /// Of the searches that `choose` takes. Where it is not fitted yet, one of fewer, or of the recordings alone, and it
  /// is fitted meanwhile; only in a build that ships no fitted model this may wait. Null: there is nothing to learn
  /// from.
  Model of(const std::function<Sessions(Sessions)>& choose) {
    const std::lock_guard lock(mutex_);
    if (!templates_) templates_.emplace(known_templates(context_, own_));
    OwnSearches searches = all_searches(path_);
    searches.sessions = choose(std::move(searches.sessions));
    const std::string file = file_of(kind_, *templates_, searches.sessions);
    if (const auto known = models_.find(file); known != models_.end()) return known->second;
    if (Model ready = load(context_, file)) return models_[file] = std::move(ready);
    Model instead = of_fewer(searches.sessions);
    if (!instead) return models_[file] = fit_and_keep(kind_, context_, *templates_, searches);
    if (begun_.insert(file).second) begin_fit(std::move(searches));
    return instead;
  }

 private:
  /// The model there is of the most of these searches; null where there is none.
  [[nodiscard]] Model of_fewer(Sessions sessions) const {
    std::sort(sessions.begin(), sessions.end(), ends_before);
    while (!sessions.empty()) {
      sessions.resize(rounded_down(sessions.size() - 1));
      if (Model ready = load(context_, file_of(kind_, *templates_, sessions))) return ready;
    }
    return shipped(kind_.name);
  }

  void begin_fit(OwnSearches searches) {
    ++unfinished_;
    fits_.push_back(start_without_signals([this, own = std::make_shared<OwnSearches>(std::move(searches))] {
      try {
        (void)fit_and_keep(kind_, context_, *templates_, *own);
      } catch (const std::exception& error) {
        context_.terminal().detail(fmt::format("nothing was learnt: {}", error.what()));
      }
      --unfinished_;
    }));
  }

  Context& context_;
  Kind kind_;
  fs::path path_;
  OwnTemplates own_;
  std::mutex mutex_;
  std::optional<KnownTemplates> templates_;  ///< once a model is asked for: a stored answer needs none
  std::map<std::string, Model> models_;
  std::set<std::string> begun_;
  std::atomic<int> unfinished_ = 0;
  std::vector<std::thread> fits_;
};

}  // namespace

ModelSource trained_model(Context& context, const fs::path& database, OwnTemplates templates,
                          search::Validation validation) {
  const Kind& kind = validation == search::Validation::kFiveFold ? kValidatedTimes : kTimes;
  return [kind, &context, database, own = std::move(templates), known = Model()]() mutable {
    if (known) return known;
    const KnownTemplates all = known_templates(context, own);
    const OwnSearches searches = all_searches(database);
    known = load(context, file_of(kind, all, searches.sessions));
    if (!known) known = fit_and_keep(kind, context, all, searches);
    return known;
  };
}

ModelSource trained_settled_clocks(Context& context, const fs::path& database, OwnTemplates templates) {
  return [models = std::make_shared<Models>(context, kClocks, database, std::move(templates))] {
    return models->of([](Sessions all) { return searched_before(std::move(all), "", ""); });
  };
}

session::PredictorSource trained_model_before(Context& context, const fs::path& database, OwnTemplates templates) {
  return [models = std::make_shared<Models>(context, kTimes, database, std::move(templates))](
             const Problem& problem, const DeviceInfo& device) {
    return models->of(
        [&](Sessions all) { return searched_before(std::move(all), problem.key(), device_class(device).text()); });
  };
}

std::optional<Guess> guess_variant(const search::Predictor& model, const space::TemplateSet& templates,
                                   const Problem& problem, const DeviceInfo& device) {
  const auto variants = value_or_throw(space::legal_variants(templates, problem, device)).variants;
  if (variants.empty()) return std::nullopt;
  const auto expected = value_or_throw(session::expected_times(model, templates, problem, device, variants));
  const auto least = std::min_element(expected.log_times.begin(), expected.log_times.end());
  const Variant& chosen = variants[static_cast<std::size_t>(least - expected.log_times.begin())];
  const DeviceClass of = device_class(device);
  const bool is_present = !device.uuid.empty();  // else an architecture's usual GPU, without name and power limit
  const bool seen =
      is_present
          ? model.has_seen(of.hardware())
          : model.has_seen_part(fmt::format(", sm_{}{}, {} SMs, ", of.compute_major, of.compute_minor, of.sm_count));
  return Guess{chosen, model.loss_near(kind_of_times(problem), shape_of(problem)), seen,
               model.has_seen_template(chosen.template_name), variants.size()};
}

std::string loss_text(const search::Predictor::Loss& loss) {
  return fmt::format("{:.1f} % slower than the best (median), {:.1f} % or more in one of ten", 100 * loss.median,
                     100 * loss.p90);
}

std::vector<db::SessionRow> searched_before(std::vector<db::SessionRow> searches, const std::string& problem_key,
                                            const std::string& device_class) {
  std::string first;  // start of the problem's first search
  for (const db::SessionRow& row : searches) {
    if (row.problem_key != problem_key || row.device_class != device_class) continue;
    if (first.empty() || row.started_at < first) first = row.started_at;
  }
  std::erase_if(searches, [&](const db::SessionRow& row) {
    return row.finished_at.empty() || (!first.empty() && row.finished_at > first);
  });
  const std::size_t count = rounded_down(searches.size());
  if (count == searches.size()) return searches;
  std::vector<db::SessionRow> by_end = searches;
  std::sort(by_end.begin(), by_end.end(), ends_before);
  std::erase_if(searches, [&](const db::SessionRow& row) { return !ends_before(row, by_end[count]); });
  return searches;
}

}  // namespace pgtune::tool
