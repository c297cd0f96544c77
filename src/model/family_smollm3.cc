// SmolLM3: a Llama some of whose layers do not rotate. config.json names them; GGUF files leave out each fourth.
#include "model/families.h"
#include "model/gguf_keys.h"
#include "model/hub_keys.h"

namespace ekvi::model {
namespace {

constexpr int64_t kInterval = 4;

void MoreFromGguf(const GgufKeys&, Settings& settings) {
  for (int64_t i = kInterval - 1; i < settings.layers; i += kInterval) settings.ropes[i].reset();
}

void MoreFromHub(const HubKeys& keys, Settings& settings) {
  const std::optional<std::vector<int64_t>> rotates = keys.CountPerLayer("no_rope_layers", {0, 1}, settings.layers);
  const int64_t interval = keys.Count("no_rope_layer_interval", kPositive, kInterval);
  for (int64_t i = 0; i < settings.layers; ++i) {
    if (!(rotates ? (*rotates)[i] != 0 : (i + 1) % interval != 0)) settings.ropes[i].reset();
  }
  if (keys.Has("layer_types") || !keys.Flag("use_sliding_window", false)) return;
  const int64_t window = keys.Count("sliding_window", kPositive, 0);
  for (int64_t i = 0; i < settings.layers; ++i) settings.windows[i] = settings.ropes[i] ? 0 : window;
}

}  // namespace

constinit const Family kSmolLm3 = {
    .gguf = {.architecture = "smollm3", .pairs = true, .more = MoreFromGguf},
    .hub = {.model_type = "smollm3",
            .kv_heads = 4,
            .tied = true,
            .attention_bias = {"attention_bias"},
            .mlp_bias = {"mlp_bias"},
            .windows = HubWindows::kLayerTypes,
            .theta = 2e6,
            .more = MoreFromHub},
};

}  // namespace ekvi::model
