#include "model/decoder_step.h"

#include <fmt/format.h>

#include <string>

#include "ekvi/error.h"

namespace ekvi::model {
namespace {

[[noreturn]] void Refuse(std::string what, std::string numbers = "", std::string hint = "") {
  throw Error(ErrorCode::kInvalidArgument, std::move(what), std::move(numbers), std::move(hint));
}

std::string LayerText(const LayerShape& shape) {
  return fmt::format("{} heads of {}/{}", shape.kv_heads, shape.head_dim_k, shape.head_dim_v);
}

// "2 layers, f32/f32, layer 0: 4 heads of 8/8", the layer being the one to look at.
std::string LayoutText(const CacheLayout& layout, size_t layer) {
  std::string text =
      fmt::format("{} layers, {}/{}", layout.layers.size(), DTypeName(layout.dtype_k), DTypeName(layout.dtype_v));
  if (layer < layout.layers.size()) text += fmt::format(", layer {}: {}", layer, LayerText(layout.layers[layer]));
  return text;
}

void CheckLayout(const CacheLayout& wanted, const CacheLayout& given) {
  if (wanted == given) return;
  size_t layer = 0;
  while (layer < wanted.layers.size() && layer < given.layers.size() && wanted.layers[layer] == given.layers[layer])
    ++layer;
  Refuse("the cache has another layout than this model's",
         fmt::format("cache: {}; model: {}", LayoutText(given, layer), LayoutText(wanted, layer)));
}

void CheckTokens(const StepRow& row, int vocabulary) {
  for (size_t i = 0; i < row.tokens.size(); ++i) {
    if (row.tokens[i] >= 0 && row.tokens[i] < vocabulary) continue;
    Refuse(fmt::format("token {} is outside the vocabulary", row.tokens[i]),
           fmt::format("row {}, index {}; ids are 0 … {}", row.row, i, vocabulary - 1));
  }
}

void CheckContext(const StepRow& row, int64_t past, int64_t context) {
  const auto count = static_cast<int64_t>(row.tokens.size());
  if (count <= context - past) return;
  throw Error(
      ErrorCode::kCapacity, fmt::format("row {} would pass the model's context", row.row),
      fmt::format("{} tokens in the cache + {} new = {}, the context is {}", past, count, past + count, context),
      "shorten the text, or use a model with a longer context");
}

void CheckRow(const DecoderConfig& config, const KvCache& cache, const StepRow& row) {
  if (row.row < 0 || row.row >= cache.rows()) {
    Refuse(fmt::format("row {} is outside the cache", row.row), fmt::format("it has {} rows", cache.rows()));
  }
  const auto count = static_cast<int64_t>(row.tokens.size());
  if (row.logits_count < 0 || row.logits_count > count) {
    Refuse(fmt::format("row {} wants logits of {} tokens", row.row, row.logits_count),
           fmt::format("it has {} in this step", count));
  }
  CheckTokens(row, config.vocabulary);
  CheckContext(row, cache.length(row.row), config.context);
}

}  // namespace

void CheckStep(const DecoderConfig& config, const CacheLayout& layout, const KvCache& cache,
               std::span<const StepRow> rows, const LogitsOut& out) {
  CheckLayout(layout, cache.layout());
  int64_t logits = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    CheckRow(config, cache, rows[i]);
    for (size_t j = 0; j < i; ++j) {
      if (rows[j].row == rows[i].row) Refuse(fmt::format("row {} is named twice in a step", rows[i].row));
    }
    logits += rows[i].logits_count;
  }
  const int places = (out.f32 != nullptr) + (out.f64 != nullptr);
  if (logits > 0 && places != 1)
    Refuse(fmt::format("{} rows of logits are wanted, but {} places are given", logits, places));
}

}  // namespace ekvi::model
