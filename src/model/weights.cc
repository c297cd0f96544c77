#include "model/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "ekvi/error.h"
#include "model/first_place.h"
#include "numeric/block_format.h"

namespace ekvi::model {
namespace {

std::string ShapeText(std::span<const int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

template <typename T>
int64_t FirstNotFinite(std::span<const T> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) return static_cast<int64_t>(i);
  }
  return -1;
}

template <typename T>
class Loader {
 public:
  Loader(const DecoderConfig& config, const WeightNames& names, const TensorSource& source, base::ThreadPool& pool,
         BlockArithmetic arithmetic)
      : config_(config), names_(names), source_(source), pool_(pool), arithmetic_(arithmetic) {}

  std::shared_ptr<const DecoderWeights<T>> Load() const {
    EKVI_CHECK_OP(==, names_.layers.size(), config_.layers.size());
    auto weights = std::make_shared<DecoderWeights<T>>();
    weights->config = config_;
    weights->embedding = Table(names_.embedding, config_.vocabulary);
    if (config_.learned_positions > 0) weights->positions = Table(names_.positions, config_.learned_positions);
    for (size_t i = 0; i < config_.layers.size(); ++i)
      weights->layers.push_back(Layer(config_.layers[i], names_.layers[i]));
    weights->final_norm = Norm(config_.final_norm, names_.final_norm, config_.width);
    const TensorRef& head = config_.tied_head ? names_.embedding : names_.head;
    weights->head = Matrix(head, config_.head_bias ? &names_.head_bias : nullptr, config_.vocabulary, config_.width);
    return weights;
  }

 private:
  StoredTensor Require(const TensorRef& ref, const std::vector<int64_t>& shape) const {
    std::optional<StoredTensor> tensor = source_.Find(ref.tensor);
    if (!tensor) {
      throw Error(ErrorCode::kCorrupt, fmt::format("{}: tensor {} is missing", source_.file(), ref.tensor),
                  fmt::format("wanted in shape {}", ShapeText(shape)), "the file may be incomplete: fetch it again");
    }
    if (tensor->shape != shape) {
      throw Error(
          ErrorCode::kCorrupt, fmt::format("{}: tensor {} has the wrong shape", source_.file(), ref.tensor),
          fmt::format("it is {}, {} is wanted (slowest axis first)", ShapeText(tensor->shape), ShapeText(shape)),
          "the metadata and the tensors of the file do not belong together");
    }
    return *tensor;
  }

  Error NotFinite(std::string_view tensor, std::string where) const {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{}: tensor {} holds a value that is not finite", source_.file(), tensor),
                 std::move(where), "such a model cannot give finite logits: fetch or convert it again");
  }

  RowTable<T> Table(const TensorRef& ref, int64_t rows) const {
    const StoredTensor tensor = Require(ref, {rows, config_.width});
    RowTable<T> table(tensor, source_.owner());
    const std::optional<int64_t> bad = FirstBadPlace(tensor, table);
    if (!bad) return table;
    throw NotFinite(tensor.name, fmt::format("row {}, column {} of {} × {}", *bad / table.width(), *bad % table.width(),
                                             rows, table.width()));
  }

  // Threads share the rows, whose pages are let go again: only those that are looked up later come back.
  std::optional<int64_t> FirstBadPlace(const StoredTensor& tensor, const RowTable<T>& table) const {
    constexpr int64_t kValuesPerTask = int64_t{1} << 18;
    const int64_t width = table.width(), rows_per_task = std::max<int64_t>(1, kValuesPerTask / width);
    const size_t row_bytes = numeric::FormatBytes(tensor.format, static_cast<size_t>(width));
    FirstPlace first;
    pool_.ForEach((table.rows() + rows_per_task - 1) / rows_per_task, [&](int64_t task, int) {
      const int64_t begin = task * rows_per_task, end = std::min(table.rows(), begin + rows_per_task);
      if (const auto bad = table.FirstNotFinite(begin, end)) first.Note(*bad);
      if (tensor.mapped != nullptr) tensor.mapped->Release(tensor.bytes.first(end * row_bytes));
    });
    if (tensor.mapped != nullptr) tensor.mapped->Release(tensor.bytes);
    return first.place();
  }

  template <typename V>
  std::vector<V> Vector(const TensorRef& ref, int64_t size) const {
    const int64_t stored = ref.stored > 0 ? ref.stored : size;
    const StoredTensor tensor = Require(ref, Stacked(ref, {stored}));
    std::vector<V> all(stored), picked(size);
    numeric::Decode(tensor.format, SliceOf(ref, tensor, stored), all.data(), all.size());
    // A small tensor's page maps what lies around it, other tensors' megabytes among them.
    if (tensor.mapped != nullptr) tensor.mapped->Release(tensor.mapped->bytes());
    if (const int64_t bad = FirstNotFinite<V>(all); bad >= 0)
      throw NotFinite(tensor.name, fmt::format("value {} of {}", ref.slice * stored + bad, tensor.values()));
    for (int64_t i = 0; i < size; ++i)
      picked[i] = all[ref.order.empty() ? ref.first + i * ref.step : ref.order[i]] + static_cast<V>(ref.shift);
    return picked;
  }

  static std::vector<int64_t> Stacked(const TensorRef& ref, std::vector<int64_t> shape) {
    if (ref.slices > 0) shape.insert(shape.begin(), ref.slices);
    return shape;
  }

  // Where the slice begins; `values` is what one holds.
  static const std::byte* SliceOf(const TensorRef& ref, const StoredTensor& tensor, int64_t values) {
    return tensor.bytes.data() + ref.slice * numeric::FormatBytes(tensor.format, static_cast<size_t>(values));
  }

  Linear<T> Matrix(const TensorRef& ref, const TensorRef* bias, int64_t outputs, int64_t inputs) const {
    const int64_t stored = ref.stored > 0 ? ref.stored : outputs;
    const bool output_rows = ref.storage == MatrixStorage::kOutputRows;
    const StoredTensor tensor = Require(
        ref, Stacked(ref, output_rows ? std::vector<int64_t>{stored, inputs} : std::vector<int64_t>{inputs, stored}));
    std::vector<int32_t> steps(ref.step == 1 ? 0 : outputs);
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<int32_t>(ref.first + i * ref.step);
    const std::string file = source_.file();
    const MatrixView view{.name = tensor.name,
                          .file = file,
                          .format = tensor.format,
                          .data = SliceOf(ref, tensor, stored * inputs),
                          .stored_outputs = stored,
                          .outputs = outputs,
                          .inputs = inputs,
                          .storage = ref.storage,
                          .first_output = ref.first,
                          .output_order = ref.step == 1 ? ref.order : steps,
                          .mapped = tensor.mapped};
    return Linear<T>(view, bias != nullptr ? Vector<T>(*bias, outputs) : std::vector<T>(), pool_, arithmetic_, &arena_);
  }

  NormWeights<T> Norm(const std::optional<NormConfig>& norm, const NormNames& names, int64_t width) const {
    NormWeights<T> weights;
    if (norm && norm->weight) weights.weight = Vector<T>(names.weight, width);
    if (norm && norm->bias) weights.bias = Vector<T>(names.bias, width);
    return weights;
  }

  static const TensorRef* Bias(bool wanted, const TensorRef& ref) { return wanted ? &ref : nullptr; }

  LayerWeights<T> Layer(const LayerConfig& layer, const LayerNames& names) const {
    const AttentionConfig& a = layer.attention;
    const BiasConfig& biases = layer.biases;
    const int64_t width = config_.width;
    const bool all_heads = a.qk_norm_span == QkNormSpan::kAllHeads;
    LayerWeights<T> w;
    w.attention_norm = Norm(layer.attention_norm, names.attention_norm, width);
    w.attention_out_norm = Norm(layer.attention_out_norm, names.attention_out_norm, width);
    w.ffn_norm = Norm(layer.ffn_norm, names.ffn_norm, width);
    w.ffn_out_norm = Norm(layer.ffn_out_norm, names.ffn_out_norm, width);
    w.q_norm = Norm(a.q_norm, names.q_norm, all_heads ? a.q_width() : a.head_dim_k);
    w.k_norm = Norm(a.k_norm, names.k_norm, all_heads ? a.k_width() : a.head_dim_k);
    w.q = Matrix(names.q, Bias(biases.q, names.q_bias), a.q_width(), width);
    w.k = Matrix(names.k, Bias(biases.k, names.k_bias), a.k_width(), width);
    w.v = Matrix(names.v, Bias(biases.v, names.v_bias), a.v_width(), width);
    w.o = Matrix(names.o, Bias(biases.o, names.o_bias), width, a.out_width());
    if (a.sink_logits) w.sink_logits = Vector<double>(names.sink_logits, a.q_heads);
    if (layer.ffn.kind == FeedForwardKind::kDense)
      w.ffn = FeedForward(layer, names.ffn);
    else
      Experts(layer, names, w);
    return w;
  }

  FeedForwardWeights<T> FeedForward(const LayerConfig& layer, const FeedForwardNames& names) const {
    const BiasConfig& biases = layer.biases;
    const int64_t width = config_.width, ffn = layer.ffn.width;
    FeedForwardWeights<T> w;
    if (layer.ffn.gate) w.gate = Matrix(names.gate, Bias(biases.gate, names.gate_bias), ffn, width);
    w.up = Matrix(names.up, Bias(biases.up, names.up_bias), ffn, width);
    w.down = Matrix(names.down, Bias(biases.down, names.down_bias), width, ffn);
    return w;
  }

  void Experts(const LayerConfig& layer, const LayerNames& names, LayerWeights<T>& w) const {
    const ExpertsConfig& experts = layer.ffn.experts;
    w.router = Matrix(names.router, Bias(experts.router_bias, names.router_bias), experts.count, config_.width);
    EKVI_CHECK(!names.experts.empty());
    const bool stacked = names.experts.front().up.slices > 0;
    for (int expert = 0; expert < experts.count; ++expert) {
      EKVI_CHECK(stacked || expert < static_cast<int>(names.experts.size()));
      w.experts.push_back(FeedForward(layer, stacked ? Slice(names.experts.front(), expert) : names.experts[expert]));
    }
  }

  static FeedForwardNames Slice(FeedForwardNames names, int64_t slice) {
    for (TensorRef* ref : {&names.gate, &names.up, &names.down, &names.gate_bias, &names.up_bias, &names.down_bias}) {
      ref->slice = slice;
    }
    return names;
  }

  const DecoderConfig& config_;
  const WeightNames& names_;
  const TensorSource& source_;
  base::ThreadPool& pool_;
  BlockArithmetic arithmetic_;
  mutable base::Arena arena_{kWeightTerms};  // SmolLM2's matrices are smaller than a huge page each
};

template <typename T>
size_t BytesOf(const FeedForwardWeights<T>& ffn) {
  return ffn.gate.bytes() + ffn.up.bytes() + ffn.down.bytes();
}

template <typename T>
size_t BytesOf(const NormWeights<T>& norm) {
  return (norm.weight.size() + norm.bias.size()) * sizeof(T);
}

}  // namespace

template <typename T>
RowTable<T>::RowTable(const StoredTensor& tensor, std::shared_ptr<const void> owner)
    : owner_(std::move(owner)),
      mapped_(tensor.mapped),
      data_(tensor.bytes.data()),
      format_(tensor.format),
      rows_(tensor.shape[0]),
      width_(tensor.shape[1]),
      row_bytes_(numeric::FormatBytes(format_, static_cast<size_t>(width_))) {}

template <typename T>
void RowTable<T>::Read(int64_t row, T* out) const noexcept {
  numeric::Decode(format_, data_ + static_cast<size_t>(row) * row_bytes_, out, static_cast<size_t>(width_));
}

template <typename T>
void RowTable<T>::LetGo() const noexcept {
  if (mapped_ != nullptr) mapped_->Release({data_, static_cast<size_t>(rows_) * row_bytes_});
}

template <typename T>
std::optional<int64_t> RowTable<T>::FirstNotFinite(int64_t begin, int64_t end) const {
  if (numeric::IsBlocks(format_)) {
    const auto bad = numeric::FirstBadBlock(format_, data_ + static_cast<size_t>(begin) * row_bytes_,
                                            static_cast<size_t>((end - begin) * width_));
    return bad ? std::optional(begin * width_ + static_cast<int64_t>(*bad)) : std::nullopt;
  }
  std::vector<T> row(width_);
  for (int64_t r = begin; r < end; ++r) {
    Read(r, row.data());
    if (const int64_t bad = model::FirstNotFinite<T>(row); bad >= 0) return r * width_ + bad;
  }
  return std::nullopt;
}

template <typename T>
bool DecoderWeights<T>::int8() const {
  const auto any = [](const LayerWeights<T>& l) {
    const auto in_ffn = [](const FeedForwardWeights<T>& w) { return w.gate.int8() || w.up.int8() || w.down.int8(); };
    return l.q.int8() || l.k.int8() || l.v.int8() || l.o.int8() || in_ffn(l.ffn) ||
           std::any_of(l.experts.begin(), l.experts.end(), in_ffn);
  };
  return head.int8() || std::any_of(layers.begin(), layers.end(), any);
}

template <typename T>
TokenCost DecoderWeights<T>::per_token() const {
  TokenCost cost;
  const auto add = [&](const Linear<T>& linear, double times) {
    cost.operations += times * 2 * static_cast<double>(linear.outputs()) * static_cast<double>(linear.inputs());
    cost.bytes += times * static_cast<double>(linear.bytes());
  };
  const auto add_ffn = [&](const FeedForwardWeights<T>& ffn, double times) {
    for (const Linear<T>* linear : {&ffn.gate, &ffn.up, &ffn.down}) add(*linear, times);
  };
  cost.head_operations = 2 * static_cast<double>(head.outputs()) * static_cast<double>(head.inputs());
  cost.head_bytes = static_cast<double>(head.bytes());
  for (size_t i = 0; i < layers.size(); ++i) {
    const LayerWeights<T>& l = layers[i];
    for (const Linear<T>* linear : {&l.q, &l.k, &l.v, &l.o, &l.router}) add(*linear, 1);
    add_ffn(l.ffn, 1);
    const double used = static_cast<double>(config.layers[i].ffn.experts.used);
    for (const FeedForwardWeights<T>& expert : l.experts) add_ffn(expert, used / static_cast<double>(l.experts.size()));
  }
  return cost;
}

template <typename T>
size_t DecoderWeights<T>::bytes() const {
  size_t bytes = head.bytes() + BytesOf(final_norm);
  for (const LayerWeights<T>& l : layers) {
    for (const Linear<T>* linear : {&l.q, &l.k, &l.v, &l.o, &l.router}) bytes += linear->bytes();
    bytes += BytesOf(l.ffn);
    for (const FeedForwardWeights<T>& expert : l.experts) bytes += BytesOf(expert);
    for (const NormWeights<T>* norm :
         {&l.attention_norm, &l.attention_out_norm, &l.ffn_norm, &l.ffn_out_norm, &l.q_norm, &l.k_norm}) {
      bytes += BytesOf(*norm);
    }
    bytes += l.sink_logits.size() * sizeof(double);
  }
  return bytes;
}

template <typename T>
std::shared_ptr<const DecoderWeights<T>> LoadWeights(const DecoderConfig& config, const WeightNames& names,
                                                     const TensorSource& source, base::ThreadPool& pool,
                                                     BlockArithmetic arithmetic) {
  Validate(config);
  return Loader<T>(config, names, source, pool, arithmetic).Load();
}

template class RowTable<float>;
template class RowTable<double>;
template struct DecoderWeights<float>;
template struct DecoderWeights<double>;
template std::shared_ptr<const DecoderWeights<float>> LoadWeights(const DecoderConfig&, const WeightNames&,
                                                                  const TensorSource&, base::ThreadPool&,
                                                                  BlockArithmetic);
template std::shared_ptr<const DecoderWeights<double>> LoadWeights(const DecoderConfig&, const WeightNames&,
                                                                   const TensorSource&, base::ThreadPool&,
                                                                   BlockArithmetic);

}  // namespace ekvi::model
