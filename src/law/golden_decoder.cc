// The decoder of the reference files: one layer, layer norms without weights before both blocks, learned positions,
// GELU (tanh) without gate, no biases, the head tied to the embedding; matrices are [inputs, outputs]. Its classifier
// averages hidden states under a mask of right padding.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "ekvi/cache.h"
#include "ekvi/error.h"
#include "law/golden.h"
#include "model/decoder.h"
#include "model/pooling.h"
#include "model/weights_safetensors.h"

namespace ekvi::law {
namespace {

[[noreturn]] void Refuse(const files::SafetensorsFile& file, const std::string& what, std::string numbers) {
  throw Error(ErrorCode::kCorrupt, file.name() + ": " + what, std::move(numbers), "make the file again");
}

template <typename T>
T Number(const files::SafetensorsFile& file, std::string_view key) {
  const std::string_view text = file.Metadata(key).value_or("missing");
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0) return value;
  Refuse(file, fmt::format("metadata '{}' is no positive number", key), fmt::format("it is '{}'", text));
}

// [rows, columns] of a tensor.
std::pair<int64_t, int64_t> Sides(const files::SafetensorsFile& file, std::string_view name) {
  const std::vector<uint64_t>& shape = file.Shape(name);
  if (shape.size() == 2) return {static_cast<int64_t>(shape[0]), static_cast<int64_t>(shape[1])};
  Refuse(file, fmt::format("tensor '{}' is no matrix", name), fmt::format("it has {} axes", shape.size()));
}

model::DecoderConfig ConfigOf(const files::SafetensorsFile& file) {
  const auto [vocabulary, width] = Sides(file, "token");
  const int64_t positions = Sides(file, "position").first;
  const int heads = Number<int>(file, "heads");
  if (width % heads != 0)
    Refuse(file, "heads do not divide the width", fmt::format("{} heads, width {}", heads, width));
  const model::NormConfig norm{
      .kind = kernels::NormKind::kLayer, .epsilon = Number<double>(file, "norm_eps"), .weight = false, .bias = false};
  const int head_dim = static_cast<int>(width / heads);
  model::LayerConfig layer{.attention_norm = norm, .ffn_norm = norm};
  layer.attention = {.q_heads = heads, .kv_heads = heads, .head_dim_k = head_dim, .head_dim_v = head_dim};
  layer.ffn = {.width = Sides(file, "ff1").second, .activation = kernels::Activation::kGeluTanh, .gate = false};
  return {.vocabulary = static_cast<int>(vocabulary),
          .width = width,
          .context = positions,
          .learned_positions = positions,
          .layers = {layer},
          .final_norm = norm,
          .tied_head = true};
}

model::WeightNames NamesOf() {
  const auto matrix = [](const char* name) {
    return model::TensorRef{.tensor = name, .storage = model::MatrixStorage::kInputRows};
  };
  model::WeightNames names{.embedding = {.tensor = "token"}, .positions = {.tensor = "position"}, .layers = {}};
  names.layers.emplace_back();
  model::LayerNames& layer = names.layers.front();
  layer.q = matrix("q"), layer.k = matrix("k"), layer.v = matrix("v"), layer.o = matrix("o");
  layer.ffn.up = matrix("ff1"), layer.ffn.down = matrix("ff2");
  return names;
}

double WorstDifference(std::span<const double> got, std::span<const double> wanted) {
  double worst = got.size() == wanted.size() ? 0 : std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
    const double error = std::fabs(got[i] - wanted[i]);
    worst = error <= worst ? worst : std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
  return worst;
}

// A file's text and results. Arrays [rows, tokens, …].
struct Case {
  int64_t rows = 0, tokens = 0;
  std::vector<int32_t> ids;
  std::vector<int64_t> cuts;  // token counts after which a part ends
  std::vector<double> logits, hidden, k, v, classes;
  std::vector<uint8_t> mask;
};

Case ReadCase(const files::SafetensorsFile& file, const model::DecoderConfig& config) {
  Case c;
  std::tie(c.rows, c.tokens) = Sides(file, "tokens");
  for (const int64_t id : file.ReadI64("tokens")) {
    if (id < 0 || id >= config.vocabulary)
      Refuse(file, "a token is outside the vocabulary", fmt::format("{} of {}", id, config.vocabulary));
    c.ids.push_back(static_cast<int32_t>(id));
  }
  c.cuts = file.ReadI64("cuts");
  for (const int64_t keep : file.ReadI64("pooling_mask")) c.mask.push_back(keep != 0);
  c.logits = file.ReadF64("logits"), c.hidden = file.ReadF64("hidden"), c.classes = file.ReadF64("classes");
  c.k = file.ReadF64("k_cache"), c.v = file.ReadF64("v_cache");
  if (c.mask.size() != c.ids.size())
    Refuse(file, "the pooling mask has another size than the tokens",
           fmt::format("{} and {}", c.mask.size(), c.ids.size()));
  return c;
}

class Replayer {
 public:
  Replayer(const Case& c, std::shared_ptr<const model::DecoderWeights<double>> weights)
      : c_(c), decoder_(std::move(weights), {.threads = 2, .dtype_k = DType::kF64, .dtype_v = DType::kF64}) {}

  // Feeds tokens up to each of `ends` in turn, all rows together.
  double Run(KvCache& cache, const std::vector<int64_t>& ends) {
    logits_.assign(c_.ids.size() * decoder_.config().vocabulary, 0);
    hidden_.assign(c_.ids.size() * decoder_.config().width, 0);
    int64_t fed = 0;
    for (const int64_t end : ends) {
      Step(cache, fed, end - fed);
      fed = end;
    }
    return std::max({WorstDifference(logits_, c_.logits), WorstDifference(hidden_, c_.hidden), WorstInCache(cache)});
  }

  const model::Decoder<double>& decoder() const { return decoder_; }
  std::span<const double> hidden(int64_t row) const {
    const auto size = static_cast<size_t>(c_.tokens * decoder_.config().width);
    return std::span(hidden_).subspan(row * size, size);
  }

 private:
  void Step(KvCache& cache, int64_t first, int64_t count) {
    const int64_t vocabulary = decoder_.config().vocabulary, width = decoder_.config().width;
    std::vector<StepRow> rows;
    for (int64_t r = 0; r < c_.rows; ++r) {
      rows.push_back({static_cast<int>(r), std::span(c_.ids).subspan(r * c_.tokens + first, count), count});
    }
    step_logits_.resize(c_.rows * count * vocabulary);
    decoder_.Step(cache, rows, {.f64 = step_logits_.data()});
    for (int64_t r = 0; r < c_.rows; ++r) {
      const int64_t to = r * c_.tokens + first;
      std::copy_n(step_logits_.begin() + r * count * vocabulary, count * vocabulary, logits_.begin() + to * vocabulary);
      std::copy_n(decoder_.hidden().begin() + r * count * width, count * width, hidden_.begin() + to * width);
    }
  }

  // Keys and values in the order of the file: [rows, heads, tokens, head_dim].
  double WorstInCache(const KvCache& cache) const {
    const LayerShape& shape = cache.layout().layers.front();
    std::vector<double> keys, values, k(shape.head_dim_k), v(shape.head_dim_v);
    for (int row = 0; row < c_.rows; ++row) {
      for (int head = 0; head < shape.kv_heads; ++head) {
        for (int64_t t = 0; t < c_.tokens; ++t) {
          cache.Read(0, row, t, head, k, v);
          keys.insert(keys.end(), k.begin(), k.end());
          values.insert(values.end(), v.begin(), v.end());
        }
      }
    }
    return std::max(WorstDifference(keys, c_.k), WorstDifference(values, c_.v));
  }

  const Case& c_;
  model::Decoder<double> decoder_;
  std::vector<double> logits_, hidden_, step_logits_;
};

double WorstClass(const files::SafetensorsFile& file, const Case& c, const Replayer& replayer) {
  const model::SafetensorsSource source(file);
  const auto [width, labels] = Sides(file, "class_head");
  const std::optional<model::StoredTensor> head = source.Find("class_head");
  std::vector<double> bias = file.ReadF64("class_bias"), classes;
  if (labels < 1 || width != replayer.decoder().config().width || static_cast<int64_t>(bias.size()) != labels) {
    Refuse(file, "the classifier has another size than the decoder",
           fmt::format("{} × {}, {} biases", width, labels, bias.size()));
  }
  base::ThreadPool pool(1);
  const model::Classifier<double> classifier({.name = head->name,
                                              .format = head->format,
                                              .data = head->bytes.data(),
                                              .stored_outputs = labels,
                                              .outputs = labels,
                                              .inputs = width,
                                              .storage = model::MatrixStorage::kInputRows},
                                             std::move(bias), pool);
  const model::Workshop<double> workshop(kernels::ParseTarget(""), &pool);
  for (int row = 0; row < c.rows; ++row) {
    const auto mask = std::span(c.mask).subspan(row * c.tokens, c.tokens);
    const std::vector<double> of_row = classifier.Classes(replayer.hidden(row), mask, row, workshop);
    classes.insert(classes.end(), of_row.begin(), of_row.end());
  }
  return WorstDifference(classes, c.classes);
}

// The text in one piece, each token alone, and in the file's parts.
std::vector<std::vector<int64_t>> Cuttings(const files::SafetensorsFile& file, const Case& c) {
  std::vector<int64_t> each, parts = c.cuts;
  for (int64_t t = 1; t <= c.tokens; ++t) each.push_back(t);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] < (i == 0 ? 0 : parts[i - 1]) || parts[i] > c.tokens)
      Refuse(file, "cuts do not rise", fmt::format("cut {} is {} of {}", i, parts[i], c.tokens));
  }
  parts.push_back(c.tokens);
  return {{c.tokens}, each, parts};
}

}  // namespace

double ReplayDecoder(const files::SafetensorsFile& file) {
  const model::DecoderConfig config = ConfigOf(file);
  const Case c = ReadCase(file, config);
  base::ThreadPool pool(1);
  const auto weights = model::LoadWeights<double>(config, NamesOf(), model::SafetensorsSource(file), pool);
  Replayer replayer(c, weights);
  const CacheLayout& layout = replayer.decoder().layout();
  const int rows = static_cast<int>(c.rows);
  double worst = 0;
  for (const std::vector<int64_t>& ends : Cuttings(file, c)) {
    ContiguousCache contiguous(layout, {.rows = rows, .max_len = c.tokens});
    worst = std::max(worst, replayer.Run(contiguous, ends));
    PagedCache paged(
        layout, {.rows = rows, .max_len = c.tokens, .block_tokens = 16, .block_count = rows * BlocksFor(c.tokens, 16)});
    paged.ShuffleFreeBlocks(5);
    worst = std::max(worst, replayer.Run(paged, ends));
    worst = std::max(worst, WorstClass(file, c, replayer));
  }
  return worst;
}

}  // namespace ekvi::law
