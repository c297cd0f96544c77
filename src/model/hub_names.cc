#include <fmt/format.h>

#include "model/hub_model.h"

namespace ekvi::model {
namespace {

// Names in the files; those of one layer by its prefix.
class Namer {
 public:
  Namer(const TensorSource& source, const Family& family, const Settings& settings)
      : source_(source), family_(family), names_(family.hub.names), s_(settings) {
    // Folders of the bare model lack the prefix.
    const std::string embedding = fmt::format("{}{}.weight", names_.prefix, names_.embedding);
    const bool bare = !source.Has(embedding) && source.Has(fmt::format("{}.weight", names_.embedding));
    if (!bare) prefix_ = names_.prefix;
  }

  WeightNames Names() const {
    WeightNames n;
    n.embedding = Ref(prefix_, names_.embedding, ".weight");
    n.positions = Ref(prefix_, names_.positions, ".weight");
    n.final_norm = Norm(prefix_, names_.final_norm);
    n.head = Head();
    for (int64_t i = 0; i < s_.layers; ++i) n.layers.push_back(Layer(i));
    return n;
  }

 private:
  static TensorRef Ref(const std::string& at, std::string_view name, std::string_view kind) {
    if (name.empty()) return {};
    return {.tensor = fmt::format("{}{}{}", at, name, kind)};
  }
  TensorRef Matrix(const std::string& at, std::string_view name) const {
    TensorRef ref = Ref(at, name, ".weight");
    ref.storage = names_.storage;
    return ref;
  }
  NormNames Norm(const std::string& at, std::string_view name) const {
    NormNames norm{Ref(at, name, ".weight"), Ref(at, name, ".bias")};
    norm.weight.shift = family_.hub.norm_shift;
    return norm;
  }

  // Newer writers may give every head the same name.
  TensorRef Head() const {
    const TensorRef own = Ref("", names_.head, ".weight"), usual = Ref("", HubNames().head, ".weight");
    return !source_.Has(own.tensor) && source_.Has(usual.tensor) ? usual : own;
  }

  LayerNames Layer(int64_t i) const {
    const std::string at = prefix_ + fmt::format(fmt::runtime(names_.layer), i);
    LayerNames n;
    n.attention_norm = Norm(at, names_.attention_norm);
    n.attention_out_norm = Norm(at, names_.attention_out_norm);
    n.ffn_norm = Norm(at, names_.ffn_norm);
    n.ffn_out_norm = Norm(at, names_.ffn_out_norm);
    n.q_norm = Norm(at, names_.q_norm);
    n.k_norm = Norm(at, names_.k_norm);
    n.o = Matrix(at, names_.o), n.o_bias = Ref(at, names_.o, ".bias");
    n.sink_logits = Ref(at, names_.sinks, "");
    if (names_.fused == FusedQkv::kNone) {
      n.q = Matrix(at, names_.q), n.q_bias = Ref(at, names_.q, ".bias");
      n.k = Matrix(at, names_.k), n.k_bias = Ref(at, names_.k, ".bias");
      n.v = Matrix(at, names_.v), n.v_bias = Ref(at, names_.v, ".bias");
    } else {
      n.q = Fused(at, ".weight", i, 0), n.q_bias = Fused(at, ".bias", i, 0);
      n.k = Fused(at, ".weight", i, 1), n.k_bias = Fused(at, ".bias", i, 1);
      n.v = Fused(at, ".weight", i, 2), n.v_bias = Fused(at, ".bias", i, 2);
    }
    if (s_.experts[i].count == 0)
      n.ffn = Dense(at, i);
    else
      Experts(at, i, n);
    return n;
  }

  // q, k or v (part 0, 1, 2) of the fused tensor.
  TensorRef Fused(const std::string& at, std::string_view kind, int64_t layer, int part) const {
    const int64_t head = s_.head_dim_k, q = s_.q_heads[layer] * head, kv = s_.kv_heads[layer] * head;
    TensorRef ref = Ref(at, names_.qkv, kind);
    ref.storage = names_.storage;
    ref.first = part == 0 ? 0 : part == 1 ? q : q + kv;
    ref.stored = q + 2 * kv;
    if (names_.fused == FusedQkv::kBlocks || !HasOutputs(ref.tensor, ref.stored)) return ref;
    ref.first = 0;
    for (int64_t row = 0; row < q; ++row)
      ref.order.push_back(static_cast<int32_t>(row / head * 3 * head + part * head + row % head));
    return ref;
  }

  // An order is built only for as many rows as there are.
  bool HasOutputs(const std::string& tensor, int64_t outputs) const {
    const auto found = source_.Find(tensor);
    return found && !found->shape.empty() && found->shape[0] == outputs;
  }

  FeedForwardNames Dense(const std::string& at, int64_t layer) const {
    FeedForwardNames n{Matrix(at, names_.gate),       Matrix(at, names_.up),       Matrix(at, names_.down),
                       Ref(at, names_.gate, ".bias"), Ref(at, names_.up, ".bias"), Ref(at, names_.down, ".bias")};
    if (names_.gate_up.empty()) return n;
    n.gate = n.up = Matrix(at, names_.gate_up);
    n.gate.stored = n.up.stored = 2 * s_.ffn[layer];
    n.up.first = s_.ffn[layer];
    return n;
  }

  void Experts(const std::string& at, int64_t layer, LayerNames& n) const {
    // Newer writers may give every mixture the same names.
    const HubNames usual;
    const bool renamed =
        !source_.Has(Ref(at, names_.router, ".weight").tensor) && source_.Has(Ref(at, usual.router, ".weight").tensor);
    const std::string_view router = renamed ? usual.router : names_.router;
    n.router = Ref(at, router, ".weight"), n.router_bias = Ref(at, router, ".bias");
    const std::string experts = at + std::string(renamed ? usual.experts : names_.experts);
    if (names_.interleaved_experts || source_.Has(experts + "gate_up_proj")) {
      n.experts.push_back(Stacked(experts, layer));
      return;
    }
    for (int64_t expert = 0; expert < s_.experts[layer].count; ++expert) {
      n.experts.push_back(Apart(fmt::format("{}{}.", experts, expert)));
      const FeedForwardNames& last = n.experts.back();
      if (!source_.Has(last.gate.tensor) || !source_.Has(last.up.tensor) || !source_.Has(last.down.tensor)) return;
    }
  }

  FeedForwardNames Apart(const std::string& at) const {
    return {Ref(at, names_.expert_gate, ".weight"),
            Ref(at, names_.expert_up, ".weight"),
            Ref(at, names_.expert_down, ".weight"),
            {},
            {},
            {}};
  }

  // All experts in gate_up_proj and down_proj: [expert, gate rows then up rows, inputs], or, interleaved,
  // [expert, inputs, gate and up in turn].
  FeedForwardNames Stacked(const std::string& experts, int64_t layer) const {
    const int64_t ffn = s_.ffn[layer];
    const auto slice = [&](std::string_view name) {
      TensorRef ref{.tensor = experts + std::string(name)};
      ref.slices = s_.experts[layer].count;
      return ref;
    };
    const auto half = [&](std::string_view name, int64_t which) {
      TensorRef ref = slice(name);
      ref.stored = 2 * ffn;
      ref.first = which * ffn;
      if (!names_.interleaved_experts) return ref;
      ref.first = which, ref.step = 2;
      return ref;
    };
    FeedForwardNames n{half("gate_up_proj", 0),      half("gate_up_proj", 1),      slice("down_proj"),
                       half("gate_up_proj_bias", 0), half("gate_up_proj_bias", 1), slice("down_proj_bias")};
    if (names_.interleaved_experts) n.gate.storage = n.up.storage = n.down.storage = MatrixStorage::kInputRows;
    return n;
  }

  const TensorSource& source_;
  const Family& family_;
  const HubNames& names_;
  const Settings& s_;
  std::string prefix_;
};

}  // namespace

WeightNames HubNamesOf(const TensorSource& source, const Family& family, const Settings& settings) {
  return Namer(source, family, settings).Names();
}

}  // namespace ekvi::model
