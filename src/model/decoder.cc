// The pass reads like the formula in config.h. Tokens of all rows lie side by side, [tokens, width], so that a product
// sees one matrix whatever the step mixes; only storing keys and values, and attention, know rows. What concerns a
// token alone is shared among threads in ranges of tokens.
//
// Queries and attention's outputs have the widest layer's stride in every layer, since a step is planned once for all.
#include "model/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/fault.h"
#include "base/fpenv.h"
#include "ekvi/error.h"
#include "model/rope.h"

namespace ekvi::model {
namespace {

constexpr int64_t kTokensPerTask = 8;
// Rows of logits computed at a time where they are wanted in another type: the scratch stays small, and 64 rows already
// use each weight often enough.
constexpr int64_t kHeadBlock = 64;
// Values from which on rows are stored by several threads: some ten microseconds of work.
constexpr int64_t kStoreInParallel = int64_t{1} << 15;

template <typename T>
CacheLayout CheckedLayout(const DecoderConfig& config, const DecoderSettings& settings) {
  constexpr bool kDouble = sizeof(T) == sizeof(double);
  for (const DType dtype : {settings.dtype_k, settings.dtype_v}) {
    if ((dtype == DType::kF64) == kDouble) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} arithmetic cannot use a {} cache", kDouble ? "f64" : "f32", DTypeName(dtype)), "",
                kDouble ? "f64 needs an f64 cache" : "f32 uses f32, f16 and bf16 caches");
  }
  return LayoutOf(config, settings.dtype_k, settings.dtype_v);
}

template <typename T>
std::vector<AttentionLayer> AttentionLayers(const DecoderWeights<T>& weights) {
  std::vector<AttentionLayer> layers;
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    layers.push_back(AttentionOf(weights.config.layers[i].attention, weights.layers[i].sink_logits));
  }
  return layers;
}

template <typename T>
void Grow(std::vector<T>& buffer, int64_t size) {
  if (static_cast<int64_t>(buffer.size()) < size) buffer.resize(size);
}

template <typename T>
const T* DataOrNull(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

// rows[rows, width] normalised into out (may be the same).
template <typename T>
kernels::Norm<T> NormCall(const NormConfig& norm, const NormWeights<T>& weights, int64_t rows, int64_t width) {
  return {.kind = norm.kind,
          .x = nullptr,
          .x_stride = width,
          .out = nullptr,
          .out_stride = width,
          .rows = rows,
          .width = width,
          .weight = DataOrNull(weights.weight),
          .bias = DataOrNull(weights.bias),
          .epsilon = static_cast<T>(norm.epsilon)};
}

template <typename T>
void RunNorm(const kernels::Table<T>& kernels, kernels::Norm<T> call, const T* x, T* out) {
  call.x = x;
  call.out = out;
  kernels.norm(call);
}

}  // namespace

template <typename T>
Decoder<T>::Decoder(std::shared_ptr<const DecoderWeights<T>> weights, const DecoderSettings& settings)
    : weights_(std::move(weights)),
      layout_(CheckedLayout<T>(weights_->config, settings)),
      pool_(settings.threads > 0 ? settings.threads : base::GrantedThreads()),
      workshop_(kernels::ParseTarget(settings.target), &pool_),
      attention_(layout_, AttentionLayers(*weights_), workshop_.target, pool_),
      feed_forward_(weights_->config, workshop_) {
  const base::ScopedFpEnv environment;
  FindRotations(settings.context > 0 ? settings.context : config().context);
  for (const LayerConfig& layer : config().layers) {
    q_stride_ = std::max(q_stride_, layer.attention.q_width());
    out_stride_ = std::max(out_stride_, layer.attention.out_width());
    kv_width_k_ = std::max(kv_width_k_, layer.attention.k_width());
    kv_width_v_ = std::max(kv_width_v_, layer.attention.v_width());
  }
}

template <typename T>
void Decoder<T>::FindRotations(int64_t context) {
  for (const LayerConfig& layer : config().layers) {
    if (!layer.attention.rope) {
      rotation_of_.push_back(-1);
      continue;
    }
    const RopeConfig rope = RopeForContext(*layer.attention.rope, context);
    const auto same =
        std::find_if(rotations_.begin(), rotations_.end(), [&](const Rotation& r) { return r.rope == rope; });
    rotation_of_.push_back(static_cast<int>(same - rotations_.begin()));
    if (same == rotations_.end()) rotations_.push_back({rope, RopeFrequencies(rope), {}, {}});
  }
}

template <typename T>
void Decoder<T>::Step(KvCache& cache, std::span<const StepRow> rows, const LogitsOut& out) {
  const base::ScopedFpEnv environment;
  CheckStep(config(), layout_, cache, rows, out);
  LayOut(cache, rows);
  if (tokens_ == 0) return;
  int64_t logits_rows = 0;
  for (const StepRow& row : rows) logits_rows += row.logits_count;
  Reserve(logits_rows, out);
  Append append = cache.BeginAppend(counts_);
  attention_.Plan(append, q_offset_, out_offset_);
  Embed();
  ComputeAngles();
  for (int i = 0; i < static_cast<int>(config().layers.size()); ++i) Layer(i, rows, append);
  Head(rows, out);
  append.Commit();
}

template <typename T>
void Decoder<T>::LayOut(const KvCache& cache, std::span<const StepRow> rows) {
  for (std::vector<int64_t>* of_row : {&counts_, &q_offset_, &out_offset_}) of_row->assign(cache.rows(), 0);
  first_.clear();
  ids_.clear();
  positions_.clear();
  for (const StepRow& row : rows) {
    const auto first = static_cast<int64_t>(ids_.size());
    const int64_t past = cache.length(row.row);
    const int64_t shift = past > 0 && base::Injected(base::Fault::kPositionOffByOne) ? 1 : 0;
    first_.push_back(first);
    counts_[row.row] = static_cast<int64_t>(row.tokens.size());
    q_offset_[row.row] = first * q_stride_;
    out_offset_[row.row] = first * out_stride_;
    ids_.insert(ids_.end(), row.tokens.begin(), row.tokens.end());
    for (int64_t i = 0; i < counts_[row.row]; ++i) positions_.push_back(past + i + shift);
  }
  tokens_ = static_cast<int64_t>(ids_.size());
}

template <typename T>
void Decoder<T>::Reserve(int64_t logits_rows, const LogitsOut& out) {
  for (std::vector<T>* buffer : {&x_, &h_, &y_, &z_}) Grow(*buffer, tokens_ * config().width);
  Grow(q_, tokens_ * q_stride_);
  Grow(k_, tokens_ * kv_width_k_);
  Grow(v_, tokens_ * kv_width_v_);
  Grow(attended_, tokens_ * out_stride_);
  feed_forward_.Reserve(tokens_);
  for (Rotation& rotation : rotations_) {
    const auto pairs = static_cast<int64_t>(rotation.frequencies.size());
    Grow(rotation.cos, tokens_ * pairs);
    Grow(rotation.sin, tokens_ * pairs);
  }
  Grow(last_, logits_rows * config().width);
  if (weights_->int8()) {
    workshop_.Reserve(std::max(tokens_, logits_rows), std::max({config().width, out_stride_, feed_forward_.width()}));
  }
  const bool direct = sizeof(T) == sizeof(float) ? out.f32 != nullptr : out.f64 != nullptr;
  if (!direct) Grow(logits_, std::min(logits_rows, kHeadBlock) * config().vocabulary);
}

// work(first, count) for ranges of tokens that cover the step.
template <typename T>
template <typename Work>
void Decoder<T>::ForTokens(const Work& work) {
  pool_.ForEach((tokens_ + kTokensPerTask - 1) / kTokensPerTask, [&](int64_t task, int) {
    const int64_t first = task * kTokensPerTask;
    work(first, std::min(kTokensPerTask, tokens_ - first));
  });
}

template <typename T>
void Decoder<T>::Embed() {
  const int64_t width = config().width, table_rows = config().learned_positions;
  ForTokens([&](int64_t first, int64_t count) {
    for (int64_t t = first; t < first + count; ++t) {
      T* const x = &x_[t * width];
      weights_->embedding.Read(ids_[t], x);
      if (config().embedding_scale != 1) workshop_.kernels->scale(x, static_cast<T>(config().embedding_scale), width);
      if (table_rows == 0) continue;
      weights_->positions.Read(std::min(positions_[t], table_rows - 1), &h_[t * width]);
      workshop_.kernels->add_scaled(x, &h_[t * width], T(1), width);
    }
  });
  // Looking up a row maps 64 KiB of the file and more: a long text would bring in the table, which the head has packed.
  constexpr int64_t kRowsKept = 32;
  rows_mapped_ += tokens_;
  if (rows_mapped_ < kRowsKept) return;
  weights_->embedding.LetGo();
  rows_mapped_ = 0;
}

template <typename T>
void Decoder<T>::ComputeAngles() {
  for (Rotation& rotation : rotations_) {
    const auto pairs = static_cast<int64_t>(rotation.frequencies.size());
    ForTokens([&](int64_t first, int64_t count) {
      for (int64_t t = first; t < first + count; ++t) {
        RopeAngles<T>(rotation.frequencies, rotation.rope.attention_factor, positions_[t], &rotation.cos[t * pairs],
                      &rotation.sin[t * pairs]);
      }
    });
  }
}

template <typename T>
void Decoder<T>::Layer(int index, std::span<const StepRow> rows, Append& append) {
  const LayerConfig& layer = config().layers[index];
  const LayerWeights<T>& weights = weights_->layers[index];
  AttentionBlock(index, rows, append);  // y = attention(norm(x))
  if (layer.residual == Residual::kSequential) {
    AddOutput(layer.attention_out_norm, weights.attention_out_norm, y_, layer.residual_scale);
    FeedForwardBlock(index);  // z = ffn(norm(x))
  } else {
    FeedForwardBlock(index);
    AddOutput(layer.attention_out_norm, weights.attention_out_norm, y_, layer.residual_scale);
  }
  AddOutput(layer.ffn_out_norm, weights.ffn_out_norm, z_, layer.residual_scale);
}

template <typename T>
void Decoder<T>::AttentionBlock(int index, std::span<const StepRow> rows, Append& append) {
  const AttentionConfig& a = config().layers[index].attention;
  Project(index);             // q [tokens, q_heads, head_dim_k], k [tokens, kv_heads, head_dim_k], v
  NormaliseAndRotate(index);  // q and k by head
  Store(index, rows, append);
  attention_.Run(index, HeadArray<const T>{q_.data(), q_stride_, a.head_dim_k},
                 HeadArray<T>{attended_.data(), out_stride_, a.head_dim_v});  // attended [tokens, q_heads, head_dim_v]
  RunAlone<T>({&weights_->layers[index].o, attended_.data(), out_stride_, y_.data(), config().width}, tokens_,
              workshop_);
}

template <typename T>
void Decoder<T>::Project(int index) {
  const LayerConfig& layer = config().layers[index];
  const LayerWeights<T>& weights = weights_->layers[index];
  const AttentionConfig& a = layer.attention;
  const int64_t width = config().width;
  const T* h = Normalised(layer.attention_norm, weights.attention_norm);  // [tokens, width]
  const LinearRun<T> runs[] = {{&weights.q, h, width, q_.data(), q_stride_},
                               {&weights.k, h, width, k_.data(), a.k_width()},
                               {&weights.v, h, width, v_.data(), a.v_width()}};
  RunTogether<T>(runs, tokens_, workshop_);
}

template <typename T>
void Decoder<T>::NormaliseAndRotate(int index) {
  const AttentionConfig& a = config().layers[index].attention;
  if (!a.q_norm && !a.k_norm && !a.rope) return;
  ForTokens([&](int64_t first, int64_t count) {
    for (int64_t t = first; t < first + count; ++t) {
      NormaliseHeads(index, t);
      if (a.rope) RotateHeads(index, t);
    }
  });
}

template <typename T>
void Decoder<T>::NormaliseHeads(int index, int64_t token) {
  const AttentionConfig& a = config().layers[index].attention;
  const LayerWeights<T>& weights = weights_->layers[index];
  const bool all = a.qk_norm_span == QkNormSpan::kAllHeads;
  const auto normalise = [&](const std::optional<NormConfig>& norm, const NormWeights<T>& w, T* heads, int64_t count) {
    if (!norm) return;
    const int64_t rows = all ? 1 : count;
    RunNorm(*workshop_.kernels, NormCall(*norm, w, rows, count * a.head_dim_k / rows), heads, heads);
  };
  normalise(a.q_norm, weights.q_norm, &q_[token * q_stride_], a.q_heads);
  normalise(a.k_norm, weights.k_norm, &k_[token * a.k_width()], a.kv_heads);
}

template <typename T>
void Decoder<T>::RotateHeads(int index, int64_t token) {
  const AttentionConfig& a = config().layers[index].attention;
  const Rotation& rotation = rotations_[rotation_of_[index]];
  const auto pairs = static_cast<int64_t>(rotation.frequencies.size());
  kernels::Rotate<T> call{.x = &q_[token * q_stride_],
                          .head_stride = a.head_dim_k,
                          .heads = a.q_heads,
                          .dims = rotation.rope.dims,
                          .cos = &rotation.cos[token * pairs],
                          .sin = &rotation.sin[token * pairs]};
  workshop_.kernels->rotate(call);
  call.x = &k_[token * a.k_width()];
  call.heads = a.kv_heads;
  workshop_.kernels->rotate(call);
}

template <typename T>
void Decoder<T>::Store(int index, std::span<const StepRow> rows, Append& append) {
  const AttentionConfig& a = config().layers[index].attention;
  const auto store = [&](int64_t i, int) {
    if (rows[i].tokens.empty()) return;
    append.Write<T>(index, rows[i].row,
                    {.k = &k_[first_[i] * a.k_width()],
                     .v = &v_[first_[i] * a.v_width()],
                     .k_token_stride = a.k_width(),
                     .k_head_stride = a.head_dim_k,
                     .v_token_stride = a.v_width(),
                     .v_head_stride = a.head_dim_v});
  };
  const auto row_count = static_cast<int64_t>(rows.size());
  if (tokens_ * (a.k_width() + a.v_width()) >= kStoreInParallel) return pool_.ForEach(row_count, store);
  for (int64_t i = 0; i < row_count; ++i) store(i, 0);
}

template <typename T>
void Decoder<T>::FeedForwardBlock(int index) {
  const LayerConfig& layer = config().layers[index];
  const LayerWeights<T>& weights = weights_->layers[index];
  const T* h = Normalised(layer.ffn_norm, weights.ffn_norm);  // [tokens, width]
  feed_forward_.Run(layer.ffn, weights, h, tokens_, z_.data());
}

// A block's input: norm(x) in h, or x itself where the layer has no norm there.
template <typename T>
const T* Decoder<T>::Normalised(const std::optional<NormConfig>& norm, const NormWeights<T>& weights) {
  if (!norm) return x_.data();
  const int64_t width = config().width;
  ForTokens([&](int64_t first, int64_t count) {
    RunNorm(*workshop_.kernels, NormCall(*norm, weights, count, width), &x_[first * width], &h_[first * width]);
  });
  return h_.data();
}

// x = x + scale × norm(y).
template <typename T>
void Decoder<T>::AddOutput(const std::optional<NormConfig>& norm, const NormWeights<T>& weights, std::vector<T>& y,
                           double scale) {
  const int64_t width = config().width;
  ForTokens([&](int64_t first, int64_t count) {
    T* const rows = &y[first * width];
    if (norm) RunNorm(*workshop_.kernels, NormCall(*norm, weights, count, width), rows, rows);
    workshop_.kernels->add_scaled(&x_[first * width], rows, static_cast<T>(scale), count * width);
  });
}

template <typename T>
void Decoder<T>::Head(std::span<const StepRow> rows, const LogitsOut& out) {
  const int64_t count = GatherLast(rows);
  if (count == 0) return;
  if (out.f32 != nullptr) HeadInBlocks(count, out.f32);
  if (out.f64 != nullptr) HeadInBlocks(count, out.f64);
}

// The normalised hidden states that want logits, side by side in `last_`; returns how many.
template <typename T>
int64_t Decoder<T>::GatherLast(std::span<const StepRow> rows) {
  const int64_t width = config().width;
  int64_t gathered = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t count = rows[i].logits_count;
    if (count == 0) continue;
    const T* from = &x_[(first_[i] + static_cast<int64_t>(rows[i].tokens.size()) - count) * width];
    T* const to = &last_[gathered * width];
    if (config().final_norm)
      RunNorm(*workshop_.kernels, NormCall(*config().final_norm, weights_->final_norm, count, width), from, to);
    else
      std::copy_n(from, count * width, to);
    gathered += count;
  }
  return gathered;
}

template <typename T>
template <typename Out>
void Decoder<T>::HeadInBlocks(int64_t count, Out* out) {
  if constexpr (std::is_same_v<T, Out>) {
    HeadRows(0, count, out);
  } else {
    const int64_t vocabulary = config().vocabulary;
    for (int64_t first = 0; first < count; first += kHeadBlock) {
      const int64_t rows = std::min(kHeadBlock, count - first);
      HeadRows(first, rows, logits_.data());
      std::copy_n(logits_.data(), rows * vocabulary, out + first * vocabulary);
    }
  }
}

template <typename T>
void Decoder<T>::HeadRows(int64_t first, int64_t count, T* out) {
  const int64_t width = config().width, vocabulary = config().vocabulary;
  RunAlone<T>({&weights_->head, &last_[first * width], width, out, vocabulary}, count, workshop_);
  const auto scale = static_cast<T>(config().logits_scale), cap = static_cast<T>(config().logits_soft_cap);
  if (scale == 1 && cap == 0) return;
  pool_.ForEach(count, [&](int64_t row, int) {
    if (scale != 1) workshop_.kernels->scale(out + row * vocabulary, scale, vocabulary);
    if (cap != 0) workshop_.kernels->soft_cap(out + row * vocabulary, cap, vocabulary);
  });
}

template class Decoder<float>;
template class Decoder<double>;

}  // namespace ekvi::model
