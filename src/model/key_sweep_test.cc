// Goal: whatever number stands in a model's files, the model is refused as a broken or unsupported file, by name, or it
// computes finite logits; it is never blamed on the caller. Method: every key of the shared small models, and keys that
// they leave out, each with a table of values that no model has; then a few tokens. The first two models that have a
// key (or lack it) try all values; each further one tries two or three, in turn others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "ekvi/error.h"
#include "files/gguf.h"
#include "files/gguf_test_builder.h"
#include "files/json_value.h"
#include "model/decoder_testing.h"
#include "model/family_testing.h"
#include "model/model_loader.h"
#include "model/rope.h"
#include "shared_path.h"
#include "temporary_folder.h"

namespace ekvi::model::testing {
namespace {

namespace fs = std::filesystem;
using ekvi::testing::ContentOf;
using ekvi::testing::SharedPath;
using ekvi::testing::TemporaryFolder;
using files::GgufBytes;
using files::JsonKind;
using files::JsonMember;
using files::JsonValue;

struct Tally {
  int refused = 0, worked = 0;
};

void ExpectFiniteLogits(const LoadedModel& model) {
  Decoder<float> decoder(model.f32, OwnSettings<float>());
  const DecoderConfig& config = decoder.config();
  const int64_t count = std::min<int64_t>(6, config.context);
  ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = 8});
  for (const float logit :
       FeedRow<float>(decoder, cache, 0, RandomTokens(static_cast<int>(count), config.vocabulary, 1)))
    ASSERT_TRUE(std::isfinite(logit));
  for (const LayerConfig& layer : config.layers) {
    if (!layer.attention.rope) continue;
    std::vector<double> cosines(layer.attention.rope->dims / 2), sines = cosines;
    for (const int64_t context : {int64_t{1}, config.context}) {  // of LongRoPE's tables both
      const RopeConfig rope = RopeForContext(*layer.attention.rope, context);
      RopeAngles<double>(RopeFrequencies(rope), rope.attention_factor, config.context, cosines.data(), sines.data());
      for (const double cosine : cosines) ASSERT_TRUE(std::isfinite(cosine)) << "at the last position";
    }
  }
}

// The message must name a key, or the tensor that does not fit the new number, and say what to try.
template <typename Load>
void Try(const Load& load, Tally& tally) {
  try {
    ExpectFiniteLogits(load());
    ++tally.worked;
  } catch (const Error& error) {
    ++tally.refused;
    const std::string text = error.what();
    const bool file = error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported;
    EXPECT_TRUE(file) << static_cast<int>(error.code()) << " " << text;
    EXPECT_TRUE(text.find("key '") != std::string::npos || text.find("tensor") != std::string::npos ||
                text.find("JSON") != std::string::npos)
        << text;
    EXPECT_FALSE(error.hint().empty()) << text;
  }
}

// ---- config.json

std::string Written(const JsonValue& value) {
  if (value.kind == JsonKind::kNumber) return fmt::format("{}", value.number);
  if (value.kind == JsonKind::kString) return value.integer == 1 ? value.string : "\"" + value.string + "\"";
  std::string text;
  for (const JsonValue& item : value.items) text += (text.empty() ? "" : ", ") + Written(item);
  for (const JsonMember& member : value.members)
    text += (text.empty() ? "\"" : ", \"") + member.key + "\": " + Written(member.value);
  if (value.kind == JsonKind::kArray) return "[" + text + "]";
  if (value.kind == JsonKind::kObject) return "{" + text + "}";
  return value.ShortText();
}

// Stands for text of the file as it is.
JsonValue Raw(std::string text) { return {.kind = JsonKind::kString, .integer = 1, .string = std::move(text)}; }

// Keys that some family reads, where the file need not have them.
constexpr const char* kMoreKeys[] = {"head_dim",
                                     "num_key_value_heads",
                                     "rms_norm_eps",
                                     "rope_theta",
                                     "sliding_window",
                                     "rope_local_base_freq",
                                     "query_pre_attn_scalar",
                                     "attn_logit_softcapping",
                                     "max_window_layers",
                                     "final_logit_softcapping",
                                     "swiglu_limit",
                                     "swiglu_alpha",
                                     "rotary_emb_base",
                                     "rotary_pct",
                                     "partial_rotary_factor",
                                     "original_max_position_embeddings",
                                     "num_experts_per_tok",
                                     "decoder_sparse_step",
                                     "no_rope_layer_interval",
                                     "sliding_window_pattern",
                                     "n_inner",
                                     "rope_scaling",
                                     "rope_parameters"};
constexpr const char* kJsonValues[] = {
    "0",     "-1",  "1",     "3",    "0.5",  "1e-300", "1e300", "1e30", "4095", "9223372036854775807",
    "1e999", "NaN", "\"8\"", "null", "true", "[]",     "{}"};
constexpr const char* kRopes[] = {
    R"({"rope_type": "linear", "factor": VALUE})",
    R"({"rope_type": "yarn", "factor": VALUE})",
    R"({"rope_type": "yarn", "factor": 4, "beta_fast": VALUE})",
    R"({"rope_type": "yarn", "factor": 4, "beta_slow": VALUE})",
    R"({"rope_type": "yarn", "factor": 4, "attention_factor": VALUE})",
    R"({"rope_type": "yarn", "factor": 4, "mscale": VALUE, "mscale_all_dim": 1})",
    R"({"rope_type": "yarn", "factor": 4, "mscale": 1, "mscale_all_dim": VALUE})",
    R"({"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": VALUE})",
    R"({"rope_type": "llama3", "factor": VALUE, "low_freq_factor": 1, "high_freq_factor": 4})",
    R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": VALUE, "high_freq_factor": 4})",
    R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": VALUE})",
    R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
        "original_max_position_embeddings": VALUE})",
    R"({"rope_type": "longrope", "short_factor": [1, 1, 1, VALUE], "long_factor": [1, 1, 1, 1]})",
    R"({"rope_type": "longrope", "short_factor": [1, 1, 1, 1], "long_factor": [1, 1, VALUE, 1]})",
    R"({"rope_type": "longrope", "short_factor": [1, 1, 1, 1], "long_factor": [1, 1, 1, 1], "factor": VALUE})",
    R"({"rope_type": "longrope", "short_factor": [1, 1, 1, 1], "long_factor": [1, 1, 1, 1],
        "original_max_position_embeddings": VALUE})",
    R"({"rope_type": "longrope", "short_factor": [1, 1, 1, 1], "long_factor": [1, 1, 1, 1],
        "attention_factor": VALUE})",
    R"({"rope_type": "default", "rope_theta": VALUE})",
    R"({"rope_type": "default", "partial_rotary_factor": VALUE})"};

// Which values a model tries of each key.
class Share {
 public:
  using Keys = std::set<std::string>;

  Share(const std::string& model, const std::function<Keys(const fs::path&)>& keys_of) {
    for (const std::string& each : TinyModels()) {
      if (each == model) return;
      for (const std::string& key : keys_of(SharedPath("models/tiny") / each)) ++earlier_[key];
    }
  }
  bool Takes(const std::string& key, size_t value) const {
    static constexpr size_t kInFull = 2, kOneOf = 8;
    const auto found = earlier_.find(key);
    const size_t rank = found == earlier_.end() ? 0 : found->second;
    return rank < kInFull || (value + rank) % kOneOf == 0;
  }

 private:
  std::map<std::string, size_t> earlier_;  // models before this one that have the key
};

// A key that the file does not have.
std::string Added(const std::string& key) { return "+" + key; }

class KeySweep : public ::testing::TestWithParam<std::string> {
 protected:
  fs::path shared() const { return SharedPath("models/tiny") / GetParam(); }
};

class Folder {
 public:
  explicit Folder(const fs::path& shared) : copy_("sweep"), config_(files::ReadJson(shared / "config.json")) {
    for (const auto& entry : fs::directory_iterator(shared)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("model") && name != "model.gguf") copy_.Write(name, ContentOf(entry.path()));
    }
  }
  JsonValue& config() { return config_; }
  // With the configuration as it is now.
  void Load(std::string_view key, const std::string& what, Tally& tally) {
    SCOPED_TRACE(std::string(key) + " = " + what);
    copy_.Write("config.json", Written(config_));
    Try([&] { return LoadModel(copy_.path(), Compute::kF32); }, tally);
  }

 private:
  TemporaryFolder copy_;
  JsonValue config_;
};

// Calls `visit` with each member and item of `value`, at any depth, and its key.
void Visit(JsonValue& value, const std::string& key, const std::function<void(JsonValue&, const std::string&)>& visit) {
  for (JsonMember& member : value.members) Visit(member.value, key + "." + member.key, visit);
  if (!value.items.empty()) Visit(value.items.back(), key + "[]", visit);
  visit(value, key);
}

Share::Keys JsonKeys(const fs::path& model) {
  JsonValue config = files::ReadJson(model / "config.json");
  Share::Keys keys;
  for (JsonMember& member : config.members)
    Visit(member.value, member.key, [&](JsonValue&, const std::string& key) { keys.insert(key); });
  for (const char* key : kMoreKeys) {
    if (config.Find(key) == nullptr) keys.insert(Added(key));
  }
  return keys;
}

TEST_P(KeySweep, EveryNumberOfConfigJson_IsRefusedAsTheFilesOrWorks) {
  Folder folder(shared());
  Tally tally;
  const Share share(GetParam(), JsonKeys);
  const auto sweep = [&](JsonValue& value, const std::string& key) {
    const JsonValue whole = value;
    for (size_t i = 0; i < std::size(kJsonValues); ++i) {
      if (!share.Takes(key, i)) continue;
      value = Raw(kJsonValues[i]);
      folder.Load(key, kJsonValues[i], tally);
    }
    value = whole;
  };
  for (JsonMember& member : folder.config().members) Visit(member.value, member.key, sweep);
  const JsonValue whole = folder.config();
  for (size_t gone = 0; gone < whole.members.size(); ++gone) {
    folder.config().members.erase(folder.config().members.begin() + static_cast<ptrdiff_t>(gone));
    folder.Load(whole.members[gone].key, "missing", tally);
    folder.config() = whole;
  }
  for (const char* key : kMoreKeys) {
    if (whole.Find(key) != nullptr) continue;
    for (size_t i = 0; i < std::size(kJsonValues); ++i) {
      if (!share.Takes(Added(key), i)) continue;
      folder.config().members.push_back({key, Raw(kJsonValues[i])});
      folder.Load(key, kJsonValues[i], tally);
      folder.config() = whole;
    }
  }
  std::printf("%d refused, %d worked\n", tally.refused, tally.worked);
}

TEST(KeySweepOfRope, EveryNumber_IsRefusedAsTheFilesOrWorks) {
  EKVI_SKIP_WITHOUT(SharedPath("models/tiny"));
  Tally tally;
  Folder folder(SharedPath("models/tiny/llama"));
  JsonValue& config = folder.config();
  std::erase_if(config.members, [](const JsonMember& member) { return member.key.starts_with("rope"); });
  for (const char* spelling : {"rope_scaling", "rope_parameters"}) {
    for (const std::string rope : kRopes) {
      const size_t at = rope.find("VALUE"), from = rope.rfind('"', at), begin = rope.rfind('"', from - 1) + 1;
      for (const char* text : kJsonValues) {
        config.members.push_back({spelling, Raw(std::string(rope).replace(at, 5, text))});
        folder.Load(rope.substr(begin, from - begin), rope + " " + text, tally);
        config.members.pop_back();
      }
    }
  }
  std::printf("%d refused, %d worked\n", tally.refused, tally.worked);
}

// ---- GGUF

struct Entry {
  std::string key;
  uint32_t type = 0;
  std::string payload;  // as it stands in the file
};

// The file taken apart and put together again with other metadata.
class Gguf {
 public:
  explicit Gguf(const std::string& content)
      : bytes_(content), file_(files::GgufFile::Borrow(files::AsBytes(bytes_), "f")) {
    for (const files::GgufValue& value : file_.values()) entries.push_back(EntryOf(value));
  }
  std::vector<Entry> entries;

  std::string Build() const {
    files::GgufBuilder builder;
    for (const Entry& entry : entries) builder.Value(entry.key, entry.type, entry.payload);
    for (const files::GgufTensor& tensor : file_.tensors()) {
      const auto data = file_.Data(tensor);
      builder.Tensor(tensor.name, {tensor.dims.begin(), tensor.dims.begin() + tensor.dim_count}, tensor.type->id,
                     {reinterpret_cast<const char*>(data.data()), data.size()});
    }
    std::string content = builder.Build();
    content.resize((content.size() + 31) / 32 * 32, '\0');
    return content;
  }

 private:
  static Entry EntryOf(const files::GgufValue& value) {
    std::string payload(reinterpret_cast<const char*>(value.payload.data()), value.payload.size());
    if (value.type == files::GgufType::kString) payload = files::GgufString(payload);
    if (value.type == files::GgufType::kArray)
      payload = GgufBytes(static_cast<uint32_t>(value.item_type)) + GgufBytes(value.count) + payload;
    return {std::string(value.key), static_cast<uint32_t>(value.type), payload};
  }

  std::string bytes_;
  files::GgufFile file_;
};

std::vector<Entry> GgufValues(const std::string& key) {
  constexpr uint32_t kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kString = 8, kArray = 9, kU64 = 10, kF64 = 12;
  std::vector<Entry> entries = {{key, kF64, GgufBytes(1.0)},
                                {key, kBool, GgufBytes<uint8_t>(1)},
                                {key, kString, files::GgufString("8")},
                                {key, kArray, GgufBytes(kU32) + GgufBytes<uint64_t>(0)},
                                {key, kArray, GgufBytes(kI32) + GgufBytes<uint64_t>(1) + GgufBytes(-1)},
                                {key, kI32, GgufBytes(-1)},
                                {key, kU64, GgufBytes(UINT64_MAX)},
                                {key, kU64, GgufBytes<uint64_t>(INT64_MAX)}};
  for (const uint32_t value : {0u, 1u, 3u, 1025u, 1u << 24, UINT32_MAX})
    entries.push_back({key, kU32, GgufBytes(value)});
  for (const float value : {0.f, -1.f, 1.f, .5f, 1e-45f, 1e30f, 3e38f, NAN, INFINITY})
    entries.push_back({key, kF32, GgufBytes(value)});
  return entries;
}

constexpr const char* kMoreGgufKeys[] = {"attention.head_count_kv",
                                         "attention.key_length",
                                         "attention.value_length",
                                         "rope.dimension_count",
                                         "rope.freq_base",
                                         "rope.freq_base_swa",
                                         "rope.scaling.factor",
                                         "rope.scale_linear",
                                         "attention.scale",
                                         "attn_logit_softcapping",
                                         "final_logit_softcapping",
                                         "attention.sliding_window",
                                         "expert_count",
                                         "expert_used_count",
                                         "expert_gating_func",
                                         "expert_weights_scale",
                                         "expert_shared_count",
                                         "expert_feed_forward_length",
                                         "attention.sliding_window_pattern"};

// "llama."
std::string PrefixOf(const std::vector<Entry>& entries) {
  const auto found = std::ranges::find(entries, "general.architecture", &Entry::key);
  return found == entries.end() ? "" : found->payload.substr(8) + ".";
}

Share::Keys GgufKeys(const fs::path& model) {
  const Gguf file(ContentOf(model / "model.gguf"));
  const std::string prefix = PrefixOf(file.entries);
  Share::Keys keys;
  for (const Entry& entry : file.entries) {
    if (entry.key.starts_with(prefix)) keys.insert(entry.key.substr(prefix.size()));
  }
  for (const char* key : kMoreGgufKeys) {
    if (!keys.contains(key)) keys.insert(Added(key));
  }
  return keys;
}

TEST_P(KeySweep, EveryNumberOfGguf_IsRefusedAsTheFilesOrWorks) {
  Gguf file(ContentOf(shared() / "model.gguf"));
  const std::vector<Entry> whole = file.entries;
  const std::string prefix = PrefixOf(whole);
  const Share share(GetParam(), GgufKeys);
  Tally tally;
  const auto load = [&](const std::string& key, const std::string& what) {
    SCOPED_TRACE(key + " = " + what);
    const std::string content = file.Build();
    Try([&] { return LoadModelFrom(files::AsBytes(content), "f", Compute::kF32); }, tally);
    file.entries = whole;
  };
  const auto sweep = [&](const std::string& key, const std::string& shared_key, const auto& put) {
    const std::vector<Entry> values = GgufValues(key);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!share.Takes(shared_key, i)) continue;
      put(values[i]);
      load(key, std::to_string(values[i].type) + " " + ::testing::PrintToString(values[i].payload));
    }
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    if (!whole[i].key.starts_with(prefix)) continue;
    sweep(whole[i].key, whole[i].key.substr(prefix.size()), [&](const Entry& entry) { file.entries[i] = entry; });
    file.entries.erase(file.entries.begin() + static_cast<ptrdiff_t>(i));
    load(whole[i].key, "missing");
  }
  for (const std::string more : kMoreGgufKeys) {
    if (std::ranges::find(whole, prefix + more, &Entry::key) != whole.end()) continue;
    sweep(prefix + more, Added(more), [&](const Entry& entry) { file.entries.push_back(entry); });
  }
  std::printf("%d refused, %d worked\n", tally.refused, tally.worked);
  EXPECT_GT(tally.refused, 30);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KeySweep);
INSTANTIATE_TEST_SUITE_P(Tiny, KeySweep, ::testing::ValuesIn(TinyModels()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace ekvi::model::testing
