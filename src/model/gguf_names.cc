#include <fmt/format.h>

#include "model/gguf_model.h"
#include "model/weights_gguf.h"

namespace ekvi::model {
namespace {

// Names within one layer.
class BlockNames {
 public:
  BlockNames(const files::GgufParts& parts, const Family& family, const Settings& settings, int64_t layer)
      : parts_(parts), family_(family), s_(settings), layer_(layer), block_(BlockName(layer)) {}

  LayerNames Names() const {
    LayerNames n;
    n.attention_norm = Norm("attn_norm");
    n.ffn_norm = Norm(family_.gguf.ffn_norm);
    n.attention_out_norm = Norm(family_.gguf.attention_out_norm);
    n.ffn_out_norm = Norm(family_.gguf.ffn_out_norm);
    n.q_norm = Norm("attn_q_norm");
    n.k_norm = Norm("attn_k_norm");
    n.q = Projection("attn_q", ".weight", 0), n.q_bias = Projection("attn_q", ".bias", 0);
    n.k = Projection("attn_k", ".weight", 1), n.k_bias = Projection("attn_k", ".bias", 1);
    n.v = Projection("attn_v", ".weight", 2), n.v_bias = Projection("attn_v", ".bias", 2);
    n.o = Ref("attn_output.weight"), n.o_bias = Ref("attn_output.bias");
    n.sink_logits = Ref("attn_sinks.weight");
    n.ffn = Dense();
    n.router = Ref("ffn_gate_inp.weight"), n.router_bias = Ref("ffn_gate_inp.bias");
    if (s_.experts[layer_].count > 0) Experts(n);
    return n;
  }

 private:
  TensorRef Ref(std::string_view name) const { return {.tensor = block_ + std::string(name)}; }
  NormNames Norm(std::string_view name) const {
    if (name.empty()) return {};
    return {Ref(std::string(name) + ".weight"), Ref(std::string(name) + ".bias")};
  }

  // Rows of the tensor; 0 where there is none.
  int64_t Rows(const std::string& tensor) const {
    const files::GgufTensor* found = parts_.Find(tensor).tensor;
    return found == nullptr ? 0 : ShapeOf(*found)[0];
  }

  // q, k or v (part 0, 1, 2): a tensor of its own, or rows of attn_qkv, which is [all q, all k, all v].
  TensorRef Projection(std::string_view name, std::string_view kind, int part) const {
    const int64_t q = s_.q_heads[layer_] * s_.head_dim_k, k = s_.kv_heads[layer_] * s_.head_dim_k;
    const int64_t v = s_.kv_heads[layer_] * s_.head_dim_v;
    TensorRef ref = Ref(std::string(name) + std::string(kind));
    const std::string fused = block_ + "attn_qkv" + std::string(kind);
    if (!parts_.Has(ref.tensor) && parts_.Has(fused))
      ref = {.tensor = fused, .first = part == 0 ? 0 : part == 1 ? q : q + k, .stored = q + k + v};
    return part == 2 ? ref : InHalves(std::move(ref), part == 0 ? s_.q_heads[layer_] : s_.kv_heads[layer_]);
  }

  // Rows stored for pairs are put back into halves, also in layers that do not rotate, which are stored so too.
  TensorRef InHalves(TensorRef ref, int64_t heads) const {
    const bool whole = Rows(ref.tensor) == (ref.stored > 0 ? ref.stored : heads * s_.head_dim_k);
    if (!family_.gguf.pairs || !whole) return ref;
    ref.order = HalvesFromPairs(heads, s_.head_dim_k, RotatedDims());
    for (int32_t& row : ref.order) row += static_cast<int32_t>(ref.first);
    return ref;
  }
  int64_t RotatedDims() const {
    for (const auto& rope : s_.ropes) {
      if (rope) return rope->dims;
    }
    return s_.head_dim_k;
  }

  // Without a gate of its own, ffn_up is [gate, up].
  FeedForwardNames Dense() const {
    FeedForwardNames n{Ref("ffn_gate.weight"), Ref("ffn_up.weight"), Ref("ffn_down.weight"),
                       Ref("ffn_gate.bias"),   Ref("ffn_up.bias"),   Ref("ffn_down.bias")};
    const int64_t ffn = s_.ffn[layer_];
    if (!family_.gate || parts_.Has(n.gate.tensor) || Rows(n.up.tensor) != 2 * ffn) return n;
    n.gate = {.tensor = n.up.tensor, .stored = 2 * ffn};
    n.up.first = ffn, n.up.stored = 2 * ffn;
    n.gate_bias = {.tensor = n.up_bias.tensor, .stored = 2 * ffn};
    n.up_bias.first = ffn, n.up_bias.stored = 2 * ffn;
    return n;
  }

  // Slices of a tensor for all experts, or, as older files have it, a tensor for each.
  void Experts(LayerNames& n) const {
    if (!parts_.Has(block_ + "ffn_up.0.weight")) {
      n.experts.push_back(Expert("_exps", s_.experts[layer_].count));
      return;
    }
    for (int expert = 0; expert < s_.experts[layer_].count; ++expert) {
      n.experts.push_back(Expert(fmt::format(".{}", expert), 0));
      const FeedForwardNames& last = n.experts.back();
      if (!parts_.Has(last.gate.tensor) || !parts_.Has(last.up.tensor) || !parts_.Has(last.down.tensor)) return;
    }
  }
  FeedForwardNames Expert(const std::string& which, int64_t slices) const {
    const auto ref = [&](std::string_view part, std::string_view kind) {
      TensorRef named = Ref(fmt::format("ffn_{}{}{}", part, which, kind));
      named.slices = slices;
      return named;
    };
    return {ref("gate", ".weight"), ref("up", ".weight"), ref("down", ".weight"),
            ref("gate", ".bias"),   ref("up", ".bias"),   ref("down", ".bias")};
  }

  const files::GgufParts& parts_;
  const Family& family_;
  const Settings& s_;
  int64_t layer_;
  std::string block_;
};

}  // namespace

std::string BlockName(int64_t layer) { return fmt::format("blk.{}.", layer); }

std::vector<int32_t> HalvesFromPairs(int64_t heads, int64_t head_dim, int64_t dims) {
  std::vector<int32_t> order(heads * head_dim);
  for (int64_t row = 0; row < heads * head_dim; ++row) {
    const int64_t first = row / head_dim * head_dim, within = row % head_dim;
    const int64_t half = dims / 2;
    const int64_t stored = within >= dims ? within : within < half ? 2 * within : 2 * (within - half) + 1;
    order[row] = static_cast<int32_t>(first + stored);
  }
  return order;
}

WeightNames GgufNames(const files::GgufParts& parts, const Family& family, const Settings& settings) {
  WeightNames names;
  names.embedding.tensor = "token_embd.weight";
  names.positions.tensor = "position_embd.weight";
  names.final_norm = {{.tensor = "output_norm.weight"}, {.tensor = "output_norm.bias"}};
  names.head.tensor = "output.weight";
  for (int64_t i = 0; i < settings.layers; ++i) names.layers.push_back(BlockNames(parts, family, settings, i).Names());
  return names;
}

}  // namespace ekvi::model
