// A family of models, as data: what its layers are made of, and how its GGUF files and its Hugging Face folders say the
// rest. The forward pass knows only what comes out (config.h, weight_source.h).
//
// A new family is one short file like family_gemma.cc and one line in family.cc (docs/models.md has the ten steps).
// What all families share is read by gguf_model.h and hub_model.h: sizes, rope and its scaling, windows, experts,
// names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/kernels.h"
#include "model/config.h"
#include "model/rope.h"
#include "model/weight_source.h"

namespace ekvi::model {

class GgufKeys;
class HubKeys;

struct FamilyModel {
  DecoderConfig config;
  WeightNames names;
};

// What a model's file says of it, the same for every kind of file. Vectors have one entry a layer.
struct Settings {
  int64_t layers = 0, vocabulary = 0, width = 0, context = 0, learned_positions = 0;
  std::vector<int64_t> q_heads, kv_heads, ffn;  // ffn: of one expert in a mixture
  int64_t head_dim_k = 0, head_dim_v = 0;
  double epsilon = 0;
  kernels::Activation activation = kernels::Activation::kSilu;
  double limit = 0, alpha = 0;  // of the activation
  std::vector<std::optional<RopeConfig>> ropes;
  std::vector<int64_t> windows;        // 0: none
  std::vector<ExpertsConfig> experts;  // count 0: a dense layer
  std::vector<BiasConfig> biases;
  std::vector<double> score_scales;      // 0: 1 / sqrt(head size)
  double score_cap = 0, logits_cap = 0;  // 0: none
  Residual residual = Residual::kSequential;
  bool tied = false;
};

// How a family's GGUF files are to be read, where they differ from most.
struct GgufRules {
  std::string_view architecture;                                // general.architecture
  kernels::Activation activation = kernels::Activation::kSilu;  // the files do not say
  bool pairs = false;      // rows of attn_q and attn_k are stored for rotary pairs (2i, 2i + 1)
  int64_t full_every = 0;  // of each so many layers the last has no window; 0: all have it. A key may say else
  YarnRamp ramp = YarnRamp::kWhole;
  std::string_view ffn_norm = "ffn_norm", attention_out_norm = {}, ffn_out_norm = {};  // tensors, without ".weight"
  void (*more)(const GgufKeys& keys, Settings& settings) = nullptr;                    // what no other family has
};

// Where config.json says that layers have windows. All take the key sliding_window.
enum class HubWindows {
  kNone,        // the family has none
  kAll,         // every layer
  kSwitched,    // every layer, where use_sliding_window is true
  kLayerTypes,  // layers that layer_types calls sliding_attention
  kQwen,        // the same, where use_sliding_window is true; without layer_types, those from max_window_layers on
};

// A switch for biases: a key of config.json, or always the same where the key is empty.
struct HubBias {
  std::string_view key = {};
  bool otherwise = false;  // where the key is missing
};

// How q, k and v lie in one tensor: all q, all k, all v; or head by head, each q, k, v.
enum class FusedQkv { kNone, kBlocks, kHeads };

// Names of tensors, without ".weight" and ".bias". Empty: the family has none. "{}" in `layer` and `expert` is a
// number.
struct HubNames {
  std::string_view prefix = "model.";  // of all but the head; may be missing in the files
  std::string_view embedding = "embed_tokens", positions = {}, final_norm = "norm", head = "lm_head";
  std::string_view layer = "layers.{}.";
  std::string_view attention_norm = "input_layernorm", attention_out_norm = {};
  std::string_view ffn_norm = "post_attention_layernorm", ffn_out_norm = {};
  FusedQkv fused = FusedQkv::kNone;
  std::string_view q = "self_attn.q_proj", k = "self_attn.k_proj", v = "self_attn.v_proj", qkv = {};
  std::string_view o = "self_attn.o_proj", q_norm = "self_attn.q_norm", k_norm = "self_attn.k_norm";
  std::string_view gate = "mlp.gate_proj", up = "mlp.up_proj", down = "mlp.down_proj", gate_up = {};
  std::string_view router = "mlp.gate", experts = "mlp.experts.";
  std::string_view expert_gate = "gate_proj", expert_up = "up_proj", expert_down = "down_proj";
  bool interleaved_experts = false;  // gate_up_proj [expert, inputs, gate and up in turn], down_proj likewise
  std::string_view sinks = {};
  MatrixStorage storage = MatrixStorage::kOutputRows;
};

// How a family's config.json is to be read, where it differs from most. Defaults are those of the reference.
struct HubRules {
  std::string_view model_type;
  std::string_view width = "hidden_size", layers = "num_hidden_layers", heads = "num_attention_heads";
  std::string_view context = "max_position_embeddings", ffn = "intermediate_size", activation = "hidden_act";
  std::string_view epsilon = "rms_norm_eps";
  std::string_view activation_otherwise = "silu";
  double epsilon_otherwise = 1e-6;
  int64_t ffn_widths = 0;              // where the key is missing, so many times the width; 0: it is required
  int64_t head_dim = 0, kv_heads = 0;  // where the key is missing; 0: width / heads, as many as query heads
  bool tied = false;                   // where tie_word_embeddings is missing
  HubBias attention_bias = {}, mlp_bias = {};
  bool output_bias = true;  // attention_bias holds for the output too
  HubWindows windows = HubWindows::kNone;
  int64_t full_every = 0;                // where layer_types is missing, as in GgufRules; 0: none has
  std::string_view full_every_key = {};  // or what it says
  int64_t window = 0;                    // where sliding_window is missing; 0: none
  std::string_view rope_theta = "rope_theta", rope_share = {};  // keys; no share: the whole head rotates
  double theta = 10000, share = 1;                              // where they are missing
  std::string_view local_theta = {};  // key: windowed layers rotate by it, without scaling; empty: as the others
  double local_theta_otherwise = 10000;
  bool mixture = false;              // layers have experts
  std::string_view expert_ffn = {};  // key of an expert's width; empty: the same as `ffn`
  bool renormalised = true;          // where norm_topk_prob is missing
  double norm_shift = 0;             // added to the weights of norms
  HubNames names = {};
  void (*more)(const HubKeys& keys, Settings& settings) = nullptr;
};

// Which norms a layer has, and of what: x before a block, or the block's output.
enum class NormPlaces { kBefore, kAfter, kBoth };

struct Family {
  kernels::NormKind norm = kernels::NormKind::kRms;  // kLayer: with a bias
  NormPlaces norms = NormPlaces::kBefore;
  std::optional<QkNormSpan> qk_norm = {};
  bool rotary = true;
  bool gate = true;
  bool learned_positions = false;
  bool root_scaled_embedding = false;  // × sqrt(width)
  bool sink_logits = false;
  RouterWeights router = RouterWeights::kSoftmaxOfChosen;
  bool router_bias = false;
  GgufRules gguf = {};
  HubRules hub = {};
};

// The configuration that a family and what its file says make together.
DecoderConfig ConfigOf(const Family& family, const Settings& settings);

std::span<const Family* const> Families();

}  // namespace ekvi::model
