// A model: weights, tokenizer and configuration of one file, read-only once loaded and shared by any number of
// sessions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ekvi/cache_layout.h"
#include "ekvi/tokenizer.h"

namespace ekvi {

// The arithmetic. kAuto depends on the type of the weights only, never on the machine.
// kF32 and kF64 use every weight at its stored value. kInt8 multiplies weights in blocks (quantized ones) with
// activations rounded to 8 bits, exact sums of integers and a few steps in float32, and other weights as kF32; it is
// refused for a model without weights in blocks. kAuto is kInt8 where there are some, else kF32.
enum class Compute { kAuto, kF32, kF64, kInt8 };

struct ModelOptions {
  Compute compute = Compute::kAuto;
};

// What a file says of itself, for people and reports.
struct TensorInfo {
  std::string name;
  std::string type;            // as files write it: "F32", "Q4_K"
  std::vector<int64_t> shape;  // slowest axis first
  uint64_t bytes = 0;
};

struct LayerInfo {
  int q_heads = 0, kv_heads = 0, head_dim_k = 0, head_dim_v = 0;
  int64_t window = 0;                 // 0: sees everything
  int64_t feed_forward = 0;           // width, of one expert in a mixture
  int experts = 0, experts_used = 0;  // 0: not a mixture
  int rope_dims = 0;                  // numbers of a head that rotate; 0: none
  double rope_base = 0;
  bool rope_scaled = false;  // stretched: linear, llama3, YaRN, LongRoPE
  double rope_factor = 1;    // how much slower its slowest numbers turn for that (LongRoPE: in long texts); 1: not
  bool operator==(const LayerInfo&) const = default;
};

struct ModelInfo {
  std::string name;          // general.name, else the file's name
  std::string architecture;  // "llama"
  std::string weights;       // the type most weights have: "F32", "Q8_0"
  std::string compute;       // the arithmetic in force: "f32", "f64", "int8"
  std::string path;          // empty for the embedded model
  std::string tokenizer;     // "llama (512 pieces)", or "none"
  uint64_t file_bytes = 0;
  uint64_t weight_bytes = 0;  // held in memory after packing
  uint64_t peak_bytes = 0;    // the most memory the process had resident until the model was loaded; 0: unknown
  uint64_t parameters = 0;
  int64_t context = 0;  // tokens the model was made for
  // Tokens of a session that asks for no number: `context`, but for LongRoPE the length before it was stretched. A
  // session of more tokens takes the factors for long texts from its first token on, so that no result depends on what
  // comes later.
  int64_t default_context = 0;
  int vocabulary = 0;
  int width = 0, feed_forward = 0;
  std::vector<LayerInfo> layers;
  std::vector<TensorInfo> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;  // keys and values as text, arrays as "[n]"
  DType auto_cache_type = DType::kF16;  // f32 where the weights are F32, f64 in f64 arithmetic, else f16
};

class Model {
 public:
  // A GGUF file, any one of several that belong together, or a folder in the format of Hugging Face. A folder without a
  // tokenizer gives a model that takes and gives token ids alone. Errors: kNotFound, kIo, kCorrupt, kUnsupported,
  // naming file, key or tensor, offset and numbers. Memory and time before a refusal do not depend on what the file
  // claims.
  static std::shared_ptr<const Model> Load(const std::filesystem::path& path, const ModelOptions& options = {});
  // The model inside the library: a small Llama that tells stories and recalls facts from them.
  static std::shared_ptr<const Model> Embedded(const ModelOptions& options = {});
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelInfo& info() const;
  // The cache this model needs; element types as given, or info().auto_cache_type.
  CacheLayout cache_layout(std::optional<DType> k = {}, std::optional<DType> v = {}) const;

  // Between text and tokens; lives as long as the model. A folder may come without one: kUnsupported.
  const Tokenizer& tokenizer() const;
  bool has_tokenizer() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ekvi
