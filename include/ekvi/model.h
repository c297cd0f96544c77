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

namespace ekvi {

// The arithmetic. kAuto depends on the type of the weights only, never on the machine.
enum class Compute { kAuto, kF32, kF64 };

struct ModelOptions {
  Compute compute = Compute::kAuto;
};

// What a file says of itself, for people and reports.
struct TensorInfo {
  std::string name;
  DType dtype;
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
  bool operator==(const LayerInfo&) const = default;
};

struct ModelInfo {
  std::string name;          // general.name, else the file's name
  std::string architecture;  // "llama"
  std::string weights;       // the type most weights have: "F32", "Q8_0"
  std::string compute;       // the arithmetic in force: "f32", "f64"
  std::string path;          // empty for the embedded model
  std::string tokenizer;     // "llama (512 pieces)", or "none"
  uint64_t file_bytes = 0;
  uint64_t weight_bytes = 0;  // held in memory after packing
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

struct EncodeOptions {
  bool begin = true;     // put the begin token in front where the model has one and asks for it
  bool special = false;  // names of control tokens in the text become those tokens
};

// Turns tokens into text piece by piece: a character whose bytes are spread over tokens comes out whole, or as U+FFFD
// once it cannot be completed.
class TextStream {
 public:
  virtual ~TextStream() = default;
  // The text that `token` completes; may be empty. Control tokens give no text.
  virtual std::string Push(int32_t token) = 0;
  // What is left at the end: U+FFFD for a character never completed, else nothing.
  virtual std::string Finish() = 0;
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

  bool has_tokenizer() const;
  // kUnsupported without a tokenizer: Encode, Decode, NewTextStream, Piece. There are no end tokens then.
  std::vector<int32_t> Encode(std::string_view text, const EncodeOptions& options = {}) const;
  std::string Decode(std::span<const int32_t> tokens) const;
  std::unique_ptr<TextStream> NewTextStream() const;
  // The piece of a token as the vocabulary writes it, e.g. "▁Once" or "<0x0A>". kInvalidArgument outside the
  // vocabulary.
  std::string_view Piece(int32_t token) const;
  bool IsControl(int32_t token) const;
  std::optional<int32_t> begin_token() const;
  std::span<const int32_t> end_tokens() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ekvi
