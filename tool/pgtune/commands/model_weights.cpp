// SPDX-License-Identifier: MIT
#include "tool/pgtune/commands/model_weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "tuner/util/json_cursor.hpp"
#include "tuner/util/suggestion.hpp"

namespace pgtune::tool {
namespace {

enum class Attention { kGrouped, kLatent };
enum class Experts { kNone, kMixtral, kQwen, kDeepseek };

struct Architecture {
  std::string_view model_type;
  Attention attention = Attention::kGrouped;
  Experts experts = Experts::kNone;
  bool qkv_bias = false;  ///< the default of the file's attention_bias, for q, k and v alone
  bool fused = false;     ///< stored so
  /// Of a file that leaves them out: defaults of Hugging Face's transformers 4.57. 0: none.
  std::int64_t heads = 0, key_heads = 0, head_dim = 0, vocabulary = 0;
};

constexpr std::array kArchitectures{
    Architecture{"llama"},
    Architecture{.model_type = "mistral", .key_heads = 8},
    Architecture{.model_type = "qwen2", .qkv_bias = true, .key_heads = 32},
    Architecture{.model_type = "qwen3", .key_heads = 32, .head_dim = 128},
    Architecture{.model_type = "gemma", .key_heads = 16, .head_dim = 256},
    Architecture{.model_type = "gemma2", .key_heads = 4, .head_dim = 256},
    Architecture{.model_type = "gemma3_text", .heads = 8, .key_heads = 4, .head_dim = 256, .vocabulary = 262208},
    Architecture{.model_type = "phi3", .fused = true},
    Architecture{.model_type = "mixtral", .experts = Experts::kMixtral, .key_heads = 8},
    Architecture{.model_type = "qwen2_moe", .experts = Experts::kQwen, .qkv_bias = true, .key_heads = 16},
    Architecture{.model_type = "qwen3_moe", .experts = Experts::kQwen, .key_heads = 4},
    Architecture{.model_type = "deepseek_v2", .attention = Attention::kLatent, .experts = Experts::kDeepseek},
    Architecture{.model_type = "deepseek_v3", .attention = Attention::kLatent, .experts = Experts::kDeepseek},
};

constexpr std::int64_t kLargestSize = 1 << 24;
constexpr std::int64_t kMostLayers = 10'000;

/// What layers have, such as "32 layers"; `each` of them in a layer.
std::string in_layers(std::int64_t layers, std::int64_t each = 1) {
  const std::string word = layers == 1 ? "layer" : "layers";
  return each == 1 ? fmt::format("{} {}", layers, word) : fmt::format("{} x {} {}", each, layers, word);
}

class ModelReader {
 public:
  ModelReader(const JsonCursor& root, const Architecture& architecture, const WeightLayout& layout)
      : root_(root), architecture_(architecture), layout_(layout) {
    layout_.separate = layout.separate && !architecture.fused;
  }

  ModelWeights read() {
    out_.model_type = architecture_.model_type;
    out_.names_dtype = field("torch_dtype") || field("dtype");
    out_.dtype = dtype();
    out_.quantized = field("quantization_config").has_value();
    hidden_ = size("hidden_size");
    out_.layers = checked(root_.required("num_hidden_layers"), kMostLayers);
    heads_ = size_or("num_attention_heads", architecture_.heads);
    const std::int64_t heads_here = shared(heads_, "attention heads");
    if (architecture_.attention == Attention::kLatent) {
      latent_attention(heads_here);
    } else {
      grouped_attention(heads_here);
    }
    layers_of_mlp();
    add((size_or("vocab_size", architecture_.vocabulary) - 1) / layout_.gpus + 1, hidden_, false,
        "head over the vocabulary");
    return std::move(out_);
  }

 private:
  /// A field with a value; null is none.
  [[nodiscard]] std::optional<JsonCursor> field(std::string_view name) const {
    auto found = root_.optional(name);
    if (found && found->value().is_null()) found.reset();
    return found;
  }
  /// The first of the names that the file has; a problem without any.
  [[nodiscard]] std::int64_t size(std::string_view name, std::string_view other_name = {}) const {
    const auto other = other_name.empty() ? std::nullopt : field(other_name);
    return other ? checked(*other) : checked(root_.required(name));
  }
  /// Nothing where the file says null; a problem without the field, since models differ in what that means.
  [[nodiscard]] std::optional<std::int64_t> nullable_size(std::string_view name) const {
    return root_.required(name).value().is_null() ? std::nullopt : optional_size(name);
  }
  /// `otherwise`: what a file without the field means; 0: it must have it.
  [[nodiscard]] std::int64_t size_or(std::string_view name, std::int64_t otherwise) const {
    return otherwise > 0 ? optional_size(name).value_or(otherwise) : size(name);
  }
  [[nodiscard]] std::optional<std::int64_t> optional_size(std::string_view name) const {
    const auto found = field(name);
    return found ? std::optional(checked(*found)) : std::nullopt;
  }
  [[nodiscard]] static std::int64_t checked(const JsonCursor& cursor, std::int64_t most = kLargestSize) {
    const std::int64_t value = cursor.integer();
    if (value >= 1 && value <= most) return value;
    cursor.problem(fmt::format("expected a number from 1 to {}", most));
    return 1;
  }
  [[nodiscard]] bool flag(std::string_view name, bool otherwise) const {
    const auto found = field(name);
    return found && found->value().is_boolean() ? found->value().get<bool>() : otherwise;
  }

  [[nodiscard]] Dtype dtype() const {
    auto found = field("torch_dtype");
    if (!found) found = field("dtype");
    if (!found) return Dtype::kBf16;
    const std::string word = found->string();
    if (word == "float16") return Dtype::kF16;
    if (word == "float32") return Dtype::kF32;
    if (word != "bfloat16") found->problem(fmt::format("'{}' is not bfloat16, float16 or float32", word));
    return Dtype::kBf16;
  }

  /// One GPU's share.
  [[nodiscard]] std::int64_t shared(std::int64_t all, std::string_view what) const {
    if (all % layout_.gpus != 0)
      root_.problem(fmt::format("{} GPUs cannot share {} {} evenly", layout_.gpus, all, what));
    return std::max<std::int64_t>(all / layout_.gpus, 1);
  }

  void add(std::int64_t n, std::int64_t k, bool bias, std::string use) {
    if (std::max(n, k) > kLargestSize)
      root_.problem(fmt::format("{}x{}, {}, has a size above {}", n, k, use, kLargestSize));
    bias = bias && layout_.fused_bias;
    const auto same = std::find_if(out_.families.begin(), out_.families.end(), [&](const WeightFamily& family) {
      return family.n == n && family.k == k && family.bias == bias;
    });
    if (same == out_.families.end()) {
      out_.families.push_back({n, k, bias, {std::move(use)}});
    } else {
      same->uses.push_back(std::move(use));
    }
  }
  void add_in_all(std::int64_t n, std::int64_t k, bool bias, std::string_view what) {
    add(n, k, bias, fmt::format("{}, {}", what, in_layers(out_.layers)));
  }

  void grouped_attention(std::int64_t heads_here) {
    const std::int64_t usual = architecture_.head_dim;
    const auto head_dim = usual > 0 ? size_or("head_dim", usual) : optional_size("head_dim");
    if (!head_dim && hidden_ % heads_ != 0)
      root_.problem(fmt::format("hidden_size {} is no multiple of {} attention heads", hidden_, heads_));
    const std::int64_t of_head = head_dim.value_or(std::max<std::int64_t>(hidden_ / heads_, 1));
    const std::int64_t all =
        size_or("num_key_value_heads", architecture_.key_heads > 0 ? architecture_.key_heads : heads_);
    if (heads_ % all != 0)
      root_.problem(fmt::format("{} attention heads are no multiple of {} key and value heads", heads_, all));
    // Fewer heads than GPUs are held more than once.
    const bool repeated = all < layout_.gpus && layout_.gpus % all == 0;
    const std::int64_t keys = repeated ? 1 : shared(all, "key and value heads");
    const bool bias = flag("attention_bias", architecture_.qkv_bias);
    if (layout_.separate) {
      add_in_all(heads_here * of_head, hidden_, bias, "query projection");
      add(keys * of_head, hidden_, bias, fmt::format("key and value projection, {}", in_layers(out_.layers, 2)));
    } else {
      add_in_all((heads_here + 2 * keys) * of_head, hidden_, bias, "query, key and value projection");
    }
    add_in_all(hidden_, heads_here * of_head, bias && !architecture_.qkv_bias, "output projection");
  }

  /// Queries, and keys and values, pass through fewer dimensions.
  void latent_attention(std::int64_t heads_here) {
    const std::int64_t plain = size("qk_nope_head_dim"), turned = size("qk_rope_head_dim"), value = size("v_head_dim");
    const std::int64_t rank = size("kv_lora_rank");
    const auto query_rank = nullable_size("q_lora_rank");
    const std::int64_t query = heads_here * (plain + turned);
    if (query_rank && !layout_.separate) {
      add_in_all(*query_rank + rank + turned, hidden_, false, "query, key and value to lower rank");
    } else {
      if (query_rank) add_in_all(*query_rank, hidden_, false, "query to lower rank");
      add_in_all(rank + turned, hidden_, false, "key and value to lower rank");
    }
    add_in_all(query, query_rank.value_or(hidden_), false, "query projection");
    add_in_all(heads_here * (plain + value), rank, false, "key and value projection");
    add_in_all(hidden_, heads_here * value, false, "output projection");
  }

  void mlp(std::int64_t width, std::int64_t layers, std::int64_t each, std::string_view of) {
    const std::int64_t here = shared(width, "columns of a gated layer");
    const std::string owner = of.empty() ? "" : fmt::format(" of {}", of);
    const bool bias = flag("mlp_bias", false);
    if (layout_.separate) {
      add(here, hidden_, bias, fmt::format("gate and up projection{}, {}", owner, in_layers(layers, 2 * each)));
    } else {
      add(2 * here, hidden_, bias, fmt::format("gate and up projection{}, {}", owner, in_layers(layers, each)));
    }
    add(hidden_, here, bias, fmt::format("down projection{}, {}", owner, in_layers(layers, each)));
  }

  void experts(std::int64_t width, std::int64_t layers, std::int64_t count) {
    const std::int64_t active = size("num_experts_per_tok");
    if (active > count) root_.problem(fmt::format("a token cannot have {} of {} experts", active, count));
    mlp(width, layers, count, fmt::format("an expert, {} of {} for a token", active, count));
    add(count, hidden_, false, fmt::format("router, {}", in_layers(layers)));
  }

  /// Dense layers, then those with experts.
  void layers_of_mlp() {
    if (architecture_.experts == Experts::kMixtral)
      return experts(size("intermediate_size"), out_.layers, size("num_local_experts"));
    std::int64_t sparse = 0;
    if (architecture_.experts == Experts::kQwen) sparse = sparse_layers_of_qwen();
    if (architecture_.experts == Experts::kDeepseek) sparse = sparse_layers_of_deepseek();
    if (sparse < out_.layers) mlp(size("intermediate_size"), out_.layers - sparse, 1, "");
    if (sparse == 0) return;
    const std::int64_t width = size("moe_intermediate_size");
    experts(width, sparse, size("num_experts", "n_routed_experts"));
    if (const auto common = optional_size("shared_expert_intermediate_size"))
      mlp(*common, sparse, 1, "the shared expert");
    if (architecture_.experts != Experts::kDeepseek) return;
    if (const auto common = nullable_size("n_shared_experts")) mlp(*common * width, sparse, 1, "the shared experts");
  }

  [[nodiscard]] std::int64_t sparse_layers_of_qwen() const {
    std::set<std::int64_t> dense;
    for (const JsonCursor& layer : root_.optional_elements("mlp_only_layers", kMostLayers))
      dense.insert(layer.integer());
    const std::int64_t step = optional_size("decoder_sparse_step").value_or(1);
    std::int64_t out = 0;
    for (std::int64_t layer = 0; layer < out_.layers; ++layer)
      out += !dense.contains(layer) && (layer + 1) % step == 0 ? 1 : 0;
    return out;
  }
  [[nodiscard]] std::int64_t sparse_layers_of_deepseek() const {
    if (!field("n_routed_experts")) return 0;
    const std::int64_t begin = std::max<std::int64_t>(root_.required("first_k_dense_replace").integer(), 0);
    const std::int64_t step = optional_size("moe_layer_freq").value_or(1);
    std::int64_t out = 0;
    for (std::int64_t layer = begin; layer < out_.layers; ++layer) out += layer % step == 0 ? 1 : 0;
    return out;
  }

  const JsonCursor& root_;
  const Architecture& architecture_;
  WeightLayout layout_;
  ModelWeights out_;
  std::int64_t hidden_ = 0, heads_ = 0;
};

/// Models of several kinds of input have the text's sizes in a document of their own, and may have the types outside.
nlohmann::json of_text(const nlohmann::json& document) {
  const auto text = document.find("text_config");
  if (document.contains("hidden_size") || text == document.end() || !text->is_object()) return document;
  nlohmann::json out = *text;
  const auto inherit = [&](const char* name) {
    if (document.contains(name) && !out.contains(name)) out[name] = document[name];
  };
  if (!out.contains("dtype")) inherit("torch_dtype");
  if (!out.contains("torch_dtype")) inherit("dtype");
  inherit("quantization_config");
  return out;
}

}  // namespace

Result<ModelWeights> read_model_weights(std::string_view config, const std::string& origin,
                                        const WeightLayout& layout) {
  TRY_ASSIGN(const auto document, parse_json(config, origin));
  JsonProblems problems;
  const nlohmann::json sizes = of_text(document);
  const JsonCursor root(sizes, {}, problems);
  const std::string type = root.required("model_type").string();
  const auto* const known = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                         [&](const Architecture& entry) { return entry.model_type == type; });
  if (known == kArchitectures.end() && !problems.first()) {
    std::vector<std::string> types;
    for (const Architecture& entry : kArchitectures) types.emplace_back(entry.model_type);
    const std::string near = suggestion(type, types);
    return fail(ErrorKind::kUsage,
                fmt::format("{}: the architecture '{}' is not known{}{} Name its GEMMs with --shape or --shapes.",
                            origin, type, near, near.ends_with('?') ? "" : "."));
  }
  ModelWeights out;
  if (!problems.first()) out = ModelReader(root, *known, layout).read();
  if (problems.first()) return fail(*problems.first(), origin);
  return out;
}

}  // namespace pgtune::tool
