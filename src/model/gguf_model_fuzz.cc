// What must hold: a GGUF file of any bytes is refused, or describes a model that is computed or refused by name, in
// little memory, whatever the numbers claim.
#include "files/gguf_test_builder.h"
#include "fuzzing.h"
#include "model/gguf_model.h"

namespace ekvi::fuzzing {
namespace {

constexpr int64_t kPieces = 20;

std::string Header(std::string_view architecture) {
  const auto key = [&](std::string_view name) { return std::string(architecture) + "." + std::string(name); };
  files::GgufBuilder builder;
  builder.String("general.architecture", architecture).U32(key("block_count"), 2).U32(key("context_length"), 64);
  builder.U32(key("embedding_length"), 8).U32(key("feed_forward_length"), 16).U32(key("attention.head_count"), 2);
  builder.U32(key("attention.head_count_kv"), 1).F32(key("attention.layer_norm_rms_epsilon"), 1e-5f);
  builder.F32(key("attention.layer_norm_epsilon"), 1e-5f).U32(key("rope.dimension_count"), 4);
  builder.F32(key("rope.freq_base"), 10000).String(key("rope.scaling.type"), "yarn");
  builder.F32(key("rope.scaling.factor"), 4).U32(key("attention.sliding_window"), 8).U32(key("expert_count"), 4);
  builder.U32(key("expert_used_count"), 2).U32(key("rope.scaling.original_context_length"), 16);
  return builder.Tensor("token_embd.weight", {8, kPieces}, 0, std::string(32 * kPieces, 'x')).Build();
}

}  // namespace

void TryInput(std::string_view input) {
  const auto parts = files::GgufParts::Borrow(files::AsBytes(input), "input");
  const model::FamilyModel read = model::ReadGgufModel(*parts, kPieces);
  model::Validate(read.config);
  model::LayoutOf(read.config, DType::kF16, DType::kF32);
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = SharedFiles("models/bad", ".gguf", 8192);
  for (const model::Family* family : model::Families()) seeds.push_back(Header(family->gguf.architecture));
  return seeds;
}

}  // namespace ekvi::fuzzing
