// Goal: models and the plain twin for the decoder's tests. Method: no blocking, no cache, float64, the standard
// library's functions, so that nothing is shared with the code under test but the configuration.
#include "model/decoder_testing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "numeric/convert.h"

namespace ekvi::model::testing {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

std::vector<double> RandomValues(base::Random& random, int64_t count, double scale, double mean = 0) {
  std::vector<double> values(count);
  for (double& value : values) value = mean + scale * random.Normal();
  return values;
}

// Adds tensors under the names it hands out.
class ModelBuilder {
 public:
  ModelBuilder(TestModel& model, uint64_t seed, DType dtype) : model_(model), random_(seed), dtype_(dtype) {}

  void Build() {
    const DecoderConfig& c = model_.config;
    model_.names.embedding = Matrix("embedding", c.vocabulary, c.width);
    if (c.learned_positions > 0) model_.names.positions = Matrix("positions", c.learned_positions, c.width);
    for (size_t i = 0; i < c.layers.size(); ++i) Layer(c.layers[i], "layers." + std::to_string(i) + ".");
    model_.names.final_norm = Norm("final_norm", c.final_norm, c.width);
    if (!c.tied_head) model_.names.head = Matrix("head", c.vocabulary, c.width);
    if (c.head_bias) model_.names.head_bias = Vector("head_bias", c.vocabulary, 0);
  }

 private:
  TensorRef Matrix(const std::string& name, int64_t rows, int64_t columns) {
    model_.source->Add(name, {rows, columns}, RandomValues(random_, rows * columns, 1 / std::sqrt(columns)), dtype_);
    return {.tensor = name};
  }
  TensorRef Vector(const std::string& name, int64_t size, double mean) {
    model_.source->Add(name, {size}, RandomValues(random_, size, 0.2, mean), dtype_);
    return {.tensor = name};
  }
  TensorRef Bias(bool wanted, const std::string& name, int64_t size) {
    return wanted ? Vector(name, size, 0) : TensorRef();
  }
  NormNames Norm(const std::string& name, const std::optional<NormConfig>& norm, int64_t width) {
    NormNames names;
    if (norm && norm->weight) names.weight = Vector(name, width, 1);
    if (norm && norm->bias) names.bias = Vector(name + "_bias", width, 0);
    return names;
  }

  void Layer(const LayerConfig& layer, const std::string& at) {
    const AttentionConfig& a = layer.attention;
    const int64_t width = model_.config.width;
    const bool all = a.qk_norm_span == QkNormSpan::kAllHeads;
    LayerNames n;
    n.attention_norm = Norm(at + "attention_norm", layer.attention_norm, width);
    n.attention_out_norm = Norm(at + "attention_out_norm", layer.attention_out_norm, width);
    n.ffn_norm = Norm(at + "ffn_norm", layer.ffn_norm, width);
    n.ffn_out_norm = Norm(at + "ffn_out_norm", layer.ffn_out_norm, width);
    n.q_norm = Norm(at + "q_norm", a.q_norm, all ? a.q_width() : a.head_dim_k);
    n.k_norm = Norm(at + "k_norm", a.k_norm, all ? a.k_width() : a.head_dim_k);
    n.q = Matrix(at + "q", a.q_width(), width), n.q_bias = Bias(layer.biases.q, at + "q_bias", a.q_width());
    n.k = Matrix(at + "k", a.k_width(), width), n.k_bias = Bias(layer.biases.k, at + "k_bias", a.k_width());
    n.v = Matrix(at + "v", a.v_width(), width), n.v_bias = Bias(layer.biases.v, at + "v_bias", a.v_width());
    n.o = Matrix(at + "o", width, a.out_width()), n.o_bias = Bias(layer.biases.o, at + "o_bias", width);
    if (layer.ffn.kind == FeedForwardKind::kDense)
      n.ffn = FeedForward(layer, at);
    else
      Experts(layer, at, n);
    if (a.sink_logits) n.sink_logits = Vector(at + "sink_logits", a.q_heads, 0);
    model_.names.layers.push_back(n);
  }

  FeedForwardNames FeedForward(const LayerConfig& layer, const std::string& at) {
    const int64_t width = model_.config.width, ffn = layer.ffn.width;
    FeedForwardNames n;
    if (layer.ffn.gate)
      n.gate = Matrix(at + "gate", ffn, width), n.gate_bias = Bias(layer.biases.gate, at + "gate_bias", ffn);
    n.up = Matrix(at + "up", ffn, width), n.up_bias = Bias(layer.biases.up, at + "up_bias", ffn);
    n.down = Matrix(at + "down", width, ffn), n.down_bias = Bias(layer.biases.down, at + "down_bias", width);
    return n;
  }
  void Experts(const LayerConfig& layer, const std::string& at, LayerNames& n) {
    const ExpertsConfig& experts = layer.ffn.experts;
    n.router = Matrix(at + "router", experts.count, model_.config.width);
    n.router_bias = Bias(experts.router_bias, at + "router_bias", experts.count);
    for (int i = 0; i < experts.count; ++i)
      n.experts.push_back(FeedForward(layer, at + "experts." + std::to_string(i) + "."));
  }

  TestModel& model_;
  base::Random random_;
  DType dtype_;
};

double Activate(kernels::Activation kind, double x) {
  switch (kind) {
    case kernels::Activation::kSilu:
      return x / (1 + std::exp(-x));
    case kernels::Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case kernels::Activation::kGeluErf:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case kernels::Activation::kRelu:
      return std::max(x, 0.0);
    case kernels::Activation::kClampedSwiglu:
      break;
  }
  return 0;
}

double Gated(const FeedForwardConfig& ffn, double gate, double up) {
  if (ffn.activation != kernels::Activation::kClampedSwiglu) return Activate(ffn.activation, gate) * up;
  const double g = std::min(gate, ffn.limit), u = std::clamp(up, -ffn.limit, ffn.limit);
  return g / (1 + std::exp(-ffn.alpha * g)) * (u + 1);
}

class Reference {
 public:
  explicit Reference(const TestModel& model) : config_(model.config), names_(model.names), source_(*model.source) {}

  ReferencePass Forward(const std::vector<int32_t>& tokens) const {
    Rows x = Embedded(tokens);
    for (size_t i = 0; i < config_.layers.size(); ++i) Layer(config_.layers[i], names_.layers[i], x);
    ReferencePass pass;
    for (const Row& row : x) {
      pass.hidden.insert(pass.hidden.end(), row.begin(), row.end());
      const Row normalised = Norm(config_.final_norm, names_.final_norm, row);
      Row logits = Product(config_.tied_head ? names_.embedding : names_.head, names_.head_bias, normalised);
      for (double& logit : logits) {
        logit *= config_.logits_scale;
        if (config_.logits_soft_cap > 0) logit = config_.logits_soft_cap * std::tanh(logit / config_.logits_soft_cap);
      }
      pass.logits.insert(pass.logits.end(), logits.begin(), logits.end());
    }
    return pass;
  }

 private:
  Rows Embedded(const std::vector<int32_t>& tokens) const {
    const Row table = source_.Values(names_.embedding.tensor);
    const int64_t width = config_.width;
    Rows x;
    for (size_t t = 0; t < tokens.size(); ++t) {
      Row row(table.begin() + tokens[t] * width, table.begin() + (tokens[t] + 1) * width);
      for (double& value : row) value *= config_.embedding_scale;
      if (config_.learned_positions > 0) {
        const Row positions = source_.Values(names_.positions.tensor);
        for (int64_t i = 0; i < width; ++i) row[i] += positions[t * width + i];
      }
      x.push_back(std::move(row));
    }
    return x;
  }

  Row Product(const TensorRef& matrix, const TensorRef& bias, const Row& x) const {
    const Row weights = source_.Values(matrix.tensor);
    Row out = bias.tensor.empty() ? Row(weights.size() / x.size(), 0) : source_.Values(bias.tensor);
    for (size_t n = 0; n < out.size(); ++n) {
      for (size_t k = 0; k < x.size(); ++k) out[n] += weights[n * x.size() + k] * x[k];
    }
    return out;
  }

  Row Norm(const std::optional<NormConfig>& norm, const NormNames& names, Row x) const {
    if (!norm) return x;
    double mean = 0, square = 0;
    if (norm->kind == kernels::NormKind::kLayer) {
      for (double value : x) mean += value / x.size();
    }
    for (double value : x) square += (value - mean) * (value - mean) / x.size();
    const Row weight = norm->weight ? source_.Values(names.weight.tensor) : Row(x.size(), 1);
    const Row bias = norm->bias ? source_.Values(names.bias.tensor) : Row(x.size(), 0);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = (x[i] - mean) / std::sqrt(square + norm->epsilon) * weight[i] + bias[i];
    return x;
  }

  void NormHeads(const AttentionConfig& a, const std::optional<NormConfig>& norm, const NormNames& names,
                 Row& heads) const {
    const size_t span = a.qk_norm_span == QkNormSpan::kAllHeads ? heads.size() : static_cast<size_t>(a.head_dim_k);
    for (size_t first = 0; first < heads.size(); first += span) {
      const Row part = Norm(norm, names, Row(heads.begin() + first, heads.begin() + first + span));
      std::copy(part.begin(), part.end(), heads.begin() + first);
    }
  }

  static void Rotate(const RopeConfig& rope, int head_dim, int64_t position, Row& heads) {
    const int half = rope.dims / 2;
    for (size_t first = 0; first < heads.size(); first += head_dim) {
      for (int i = 0; i < half; ++i) {
        const double divisor = rope.divisors.empty() ? 1 : rope.divisors[i];
        const double angle =
            position * std::pow(rope.base, -2.0 * i / (rope.period > 0 ? rope.period : rope.dims)) / divisor;
        const double c = rope.attention_factor * std::cos(angle), s = rope.attention_factor * std::sin(angle);
        const double a = heads[first + i], b = heads[first + half + i];
        heads[first + i] = a * c - b * s;
        heads[first + half + i] = b * c + a * s;
      }
    }
  }

  // One query head of one token over all keys it sees.
  Row Attend(const AttentionConfig& a, const LayerNames& names, const Rows& k, const Rows& v, const Row& q,
             int head) const {
    const auto position = static_cast<int64_t>(k.size()) - 1;
    const int kv = head / (a.q_heads / a.kv_heads);
    const double scale = a.scale > 0 ? a.scale : 1 / std::sqrt(static_cast<double>(a.head_dim_k));
    Row scores(k.size(), -INFINITY), out(a.head_dim_v, 0);
    double most = a.sink_logits ? source_.Values(names.sink_logits.tensor)[head] : -INFINITY;
    const double sink = most;
    for (int64_t j = 0; j <= position; ++j) {
      if (a.window > 0 && j <= position - a.window && j >= a.sink_tokens) continue;
      double score = 0;
      for (int d = 0; d < a.head_dim_k; ++d) score += q[head * a.head_dim_k + d] * k[j][kv * a.head_dim_k + d];
      score *= scale;
      if (a.soft_cap > 0) score = a.soft_cap * std::tanh(score / a.soft_cap);
      if (!a.alibi_slopes.empty()) score += a.alibi_slopes[head] * static_cast<double>(j - position);
      scores[j] = score;
      most = std::max(most, score);
    }
    double sum = a.sink_logits ? std::exp(sink - most) : 0;
    for (double score : scores) sum += std::exp(score - most);
    for (int64_t j = 0; j <= position; ++j) {
      for (int d = 0; d < a.head_dim_v; ++d) out[d] += std::exp(scores[j] - most) / sum * v[j][kv * a.head_dim_v + d];
    }
    return out;
  }

  Rows AttentionBlock(const LayerConfig& layer, const LayerNames& n, const Rows& x) const {
    const AttentionConfig& a = layer.attention;
    Rows k, v, y;
    for (size_t t = 0; t < x.size(); ++t) {
      const Row h = Norm(layer.attention_norm, n.attention_norm, x[t]);
      Row q = Product(n.q, n.q_bias, h);
      k.push_back(Product(n.k, n.k_bias, h));
      v.push_back(Product(n.v, n.v_bias, h));
      NormHeads(a, a.q_norm, n.q_norm, q);
      NormHeads(a, a.k_norm, n.k_norm, k[t]);
      if (a.rope) Rotate(*a.rope, a.head_dim_k, t, q), Rotate(*a.rope, a.head_dim_k, t, k[t]);
      Row heads;
      for (int head = 0; head < a.q_heads; ++head) {
        const Row out = Attend(a, n, k, v, q, head);
        heads.insert(heads.end(), out.begin(), out.end());
      }
      y.push_back(Norm(layer.attention_out_norm, n.attention_out_norm, Product(n.o, n.o_bias, heads)));
    }
    return y;
  }

  Rows FeedForwardBlock(const LayerConfig& layer, const LayerNames& n, const Rows& x) const {
    Rows z;
    for (const Row& row : x) {
      const Row h = Norm(layer.ffn_norm, n.ffn_norm, row);
      const bool dense = layer.ffn.kind == FeedForwardKind::kDense;
      z.push_back(Norm(layer.ffn_out_norm, n.ffn_out_norm,
                       dense ? FeedForward(layer.ffn, n.ffn, h) : Mixture(layer.ffn, n, h)));
    }
    return z;
  }

  Row FeedForward(const FeedForwardConfig& ffn, const FeedForwardNames& n, const Row& h) const {
    Row up = Product(n.up, n.up_bias, h);
    const Row gate = ffn.gate ? Product(n.gate, n.gate_bias, h) : up;
    for (size_t i = 0; i < up.size(); ++i)
      up[i] = ffn.gate ? Gated(ffn, gate[i], up[i]) : Activate(ffn.activation, gate[i]);
    return Product(n.down, n.down_bias, up);
  }

  Row Mixture(const FeedForwardConfig& ffn, const LayerNames& n, const Row& h) const {
    const Row scores = Product(n.router, n.router_bias, h);
    std::vector<size_t> order(scores.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    double sum = 0;
    for (size_t rank = 0; rank < order.size(); ++rank) {
      const bool chosen = static_cast<int>(rank) < ffn.experts.used;
      if (chosen || ffn.experts.weights == RouterWeights::kSoftmaxOfAll) sum += std::exp(scores[order[rank]]);
    }
    Row z(h.size(), 0);
    for (int rank = 0; rank < ffn.experts.used; ++rank) {
      const Row part = FeedForward(ffn, n.experts[order[rank]], h);
      for (size_t i = 0; i < z.size(); ++i) z[i] += std::exp(scores[order[rank]]) / sum * part[i];
    }
    return z;
  }

  static void AddTo(Rows& x, const Rows& y, double scale) {
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t i = 0; i < x[t].size(); ++i) x[t][i] += scale * y[t][i];
    }
  }

  void Layer(const LayerConfig& layer, const LayerNames& n, Rows& x) const {
    const Rows before = x;
    AddTo(x, AttentionBlock(layer, n, x), layer.residual_scale);
    AddTo(x, FeedForwardBlock(layer, n, layer.residual == Residual::kParallel ? before : x), layer.residual_scale);
  }

  const DecoderConfig& config_;
  const WeightNames& names_;
  const MemorySource& source_;
};

template <typename A>
double Worst(std::span<const A> a, std::span<const double> b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    worst = difference <= worst ? worst : std::isnan(difference) ? INFINITY : difference;
  }
  return worst;
}

}  // namespace

void MemorySource::Add(const std::string& name, std::vector<int64_t> shape, const std::vector<double>& values,
                       DType dtype) {
  Tensor tensor{std::move(shape), dtype, std::vector<std::byte>(DTypeBytes(dtype, values.size()))};
  numeric::Narrow(dtype, values.data(), tensor.bytes.data(), values.size());
  tensors_[name] = std::move(tensor);
}

std::vector<double> MemorySource::Values(const std::string& name) const {
  const Tensor& tensor = tensors_.at(name);
  std::vector<double> values(tensor.bytes.size() / DTypeBytes(tensor.dtype, 1));
  numeric::Widen(tensor.dtype, tensor.bytes.data(), values.data(), values.size());
  return values;
}

void MemorySource::Set(const std::string& name, int64_t index, double value) {
  Tensor& tensor = tensors_.at(name);
  numeric::Narrow(tensor.dtype, &value, tensor.bytes.data() + index * DTypeBytes(tensor.dtype, 1), 1);
}

std::optional<StoredTensor> MemorySource::Find(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return std::nullopt;
  return StoredTensor{found->first, numeric::FormatOf(found->second.dtype), found->second.shape, found->second.bytes};
}

TestModel RandomModel(const DecoderConfig& config, uint64_t seed, DType dtype) {
  TestModel model{config, {}, std::make_shared<MemorySource>()};
  ModelBuilder(model, seed, dtype).Build();
  return model;
}

DecoderConfig LlamaLike(int q_heads, int kv_heads, int layers) {
  const int head_dim = 8;
  DecoderConfig config{.vocabulary = 41, .width = 4 * head_dim, .context = 4096};
  config.final_norm = NormConfig{};
  LayerConfig layer;
  layer.attention_norm = layer.ffn_norm = NormConfig{};
  layer.attention = {.q_heads = q_heads, .kv_heads = kv_heads, .head_dim_k = head_dim, .head_dim_v = head_dim};
  layer.attention.rope = RopeConfig{.dims = head_dim};
  layer.ffn = {.width = 44};
  config.layers.assign(layers, layer);
  return config;
}

DecoderConfig GptLike(int layers) {
  const NormConfig norm{.kind = kernels::NormKind::kLayer, .epsilon = 1e-5, .weight = true, .bias = true};
  DecoderConfig config{.vocabulary = 37, .width = 24, .context = 64, .learned_positions = 64};
  config.final_norm = norm;
  config.tied_head = true;
  LayerConfig layer;
  layer.attention_norm = layer.ffn_norm = norm;
  layer.attention = {.q_heads = 3, .kv_heads = 3, .head_dim_k = 8, .head_dim_v = 8};
  layer.ffn = {.width = 40, .activation = kernels::Activation::kGeluTanh, .gate = false};
  layer.biases = {.q = true, .k = true, .v = true, .o = true, .up = true, .down = true};
  config.layers.assign(layers, layer);
  return config;
}

void MakeMixture(LayerConfig& layer, int count, int used, RouterWeights weights) {
  layer.ffn.kind = FeedForwardKind::kExperts;
  layer.ffn.experts = {.count = count, .used = used, .weights = weights};
}

ReferencePass ReferenceForward(const TestModel& model, const std::vector<int32_t>& tokens) {
  return Reference(model).Forward(tokens);
}

std::vector<int32_t> RandomTokens(int count, int vocabulary, uint64_t seed) {
  base::Random random(seed);
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random.Below(vocabulary));
  return tokens;
}

template <typename T>
std::vector<T> FeedRow(Decoder<T>& decoder, KvCache& cache, int row, std::span<const int32_t> tokens,
                       const std::vector<int64_t>& counts) {
  const int64_t vocabulary = decoder.config().vocabulary;
  std::vector<T> logits(tokens.size() * vocabulary);
  int64_t fed = 0;
  for (const int64_t count : counts) {
    const StepRow step[] = {{row, tokens.subspan(fed, count), count}};
    decoder.Step(cache, step, OutTo(logits.data() + fed * vocabulary));
    fed += count;
  }
  return logits;
}
template std::vector<float> FeedRow(Decoder<float>&, KvCache&, int, std::span<const int32_t>,
                                    const std::vector<int64_t>&);
template std::vector<double> FeedRow(Decoder<double>&, KvCache&, int, std::span<const int32_t>,
                                     const std::vector<int64_t>&);

template <typename T>
std::vector<int32_t> Continue(Decoder<T>& decoder, KvCache& cache, std::span<const int32_t> prompt, int count) {
  std::vector<T> logits(decoder.config().vocabulary);
  StepRow rows[] = {{0, prompt, 1}};
  std::vector<int32_t> tokens;
  int32_t next = 0;
  for (int i = 0; i < count; ++i) {
    decoder.Step(cache, rows, OutTo(logits.data()));
    next = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    tokens.push_back(next);
    rows[0].tokens = {&next, 1};
  }
  return tokens;
}
template std::vector<int32_t> Continue(Decoder<float>&, KvCache&, std::span<const int32_t>, int);
template std::vector<int32_t> Continue(Decoder<double>&, KvCache&, std::span<const int32_t>, int);

std::vector<double> StoredRow(const KvCache& cache, int row) {
  std::vector<double> all;
  for (size_t layer = 0; layer < cache.layout().layers.size(); ++layer) {
    const LayerShape& shape = cache.layout().layers[layer];
    std::vector<double> k(shape.head_dim_k), v(shape.head_dim_v);
    for (int64_t position = 0; position < cache.length(row); ++position) {
      for (int head = 0; head < shape.kv_heads; ++head) {
        cache.Read(static_cast<int>(layer), row, position, head, k, v);
        all.insert(all.end(), k.begin(), k.end());
        all.insert(all.end(), v.begin(), v.end());
      }
    }
  }
  return all;
}

double WorstDifference(std::span<const double> a, std::span<const double> b) { return Worst(a, b); }
double WorstDifference(std::span<const float> a, std::span<const double> b) { return Worst(a, b); }

}  // namespace ekvi::model::testing
