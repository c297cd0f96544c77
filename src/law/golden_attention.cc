#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "base/random.h"
#include "ekvi/attention.h"
#include "ekvi/cache.h"
#include "ekvi/error.h"
#include "law/golden.h"

namespace ekvi::law {
namespace {

// Sizes of a file are below this, so that products of three of them fit 63 bits.
constexpr int64_t kCountMax = 1 << 20;
constexpr int64_t kHeadsMax = 4096;

// Numbers in the file's metadata.
class Metadata {
 public:
  explicit Metadata(const files::SafetensorsFile& file) : file_(file) {}

  int64_t Count(std::string_view key, std::optional<int64_t> otherwise = {}) const {
    return Number<int64_t>(key, otherwise);
  }
  double Real(std::string_view key, std::optional<double> otherwise = {}) const {
    return Number<double>(key, otherwise);
  }

 private:
  template <typename T>
  T Number(std::string_view key, std::optional<T> otherwise) const {
    const std::optional<std::string_view> text = file_.Metadata(key);
    if (!text && otherwise) return *otherwise;
    T value{};
    if (text) {
      const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
      if (error == std::errc() && end == text->data() + text->size() && value >= 0 && value < T(kCountMax))
        return value;
    }
    throw Error(ErrorCode::kCorrupt, fmt::format("{}: metadata '{}' is no number in range", file_.name(), key),
                fmt::format("it is '{}'", text.value_or("missing")), "make the file again");
  }
  const files::SafetensorsFile& file_;
};

// One step of the file: arrays [batch, heads, tokens, head_dim].
struct Step {
  std::vector<double> q, k, v, out;
  std::vector<int64_t> counts;  // [batch]
  int64_t tokens = 0;           // slots a row has
};

struct Case {
  int64_t batch = 0, max_len = 0;
  int64_t capacity = 0;  // tokens a cache row needs to have room for
  LayerShape shape;
  AttentionLayer layer;
  std::vector<Step> steps;
};

Step ReadStep(const files::SafetensorsFile& file, const Case& c, int64_t index) {
  const auto name = [&](const char* part) { return fmt::format("{}.{}", index, part); };
  Step step{.q = file.ReadF64(name("q")),
            .k = file.ReadF64(name("k")),
            .v = file.ReadF64(name("v")),
            .out = file.ReadF64(name("out")),
            .counts = file.ReadI64(name("n_new"))};
  const auto& q_shape = file.Shape(name("q"));
  const uint64_t tokens = q_shape.size() == 4 ? q_shape[2] : 0;
  const auto check = [&](const char* part, const std::vector<uint64_t>& want) {
    if (file.Shape(name(part)) == want) return;
    throw Error(ErrorCode::kCorrupt, fmt::format("{}: tensor '{}' has the wrong shape", file.name(), name(part)),
                fmt::format("[{}], wanted [{}]", fmt::join(file.Shape(name(part)), ", "), fmt::join(want, ", ")),
                "make the file again");
  };
  const auto batch = static_cast<uint64_t>(c.batch), q_heads = static_cast<uint64_t>(c.layer.q_heads);
  const auto kv_heads = static_cast<uint64_t>(c.shape.kv_heads);
  const auto dk = static_cast<uint64_t>(c.shape.head_dim_k), dv = static_cast<uint64_t>(c.shape.head_dim_v);
  check("q", {batch, q_heads, tokens, dk});
  check("k", {batch, kv_heads, tokens, dk});
  check("v", {batch, kv_heads, tokens, dv});
  check("out", {batch, q_heads, tokens, dv});
  check("n_new", {batch});
  step.tokens = static_cast<int64_t>(tokens);
  for (const int64_t count : step.counts) {
    if (0 <= count && count <= step.tokens) continue;
    throw Error(ErrorCode::kCorrupt, fmt::format("{}: '{}' is out of range", file.name(), name("n_new")),
                fmt::format("{} new tokens of {}", count, step.tokens), "make the file again");
  }
  return step;
}

// Tokens of all steps and rows together: no row can hold more, whatever max_len says.
int64_t TokensOf(const Case& c) {
  int64_t tokens = 0;
  for (const Step& step : c.steps) tokens += std::accumulate(step.counts.begin(), step.counts.end(), int64_t{0});
  return tokens;
}

Case ReadCase(const files::SafetensorsFile& file) {
  const Metadata metadata(file);
  Case c{.batch = metadata.Count("batch"), .max_len = metadata.Count("max_len")};
  const int64_t head_dim = metadata.Count("head_dim"), kv_heads = metadata.Count("kv_heads");
  const int64_t q_heads = kv_heads * metadata.Count("group");
  if (q_heads < 1 || q_heads > kHeadsMax) {
    throw Error(ErrorCode::kCorrupt, fmt::format("{}: the number of query heads is out of range", file.name()),
                fmt::format("kv_heads × group = {}, 1 … {}", q_heads, kHeadsMax), "make the file again");
  }
  c.shape = {static_cast<int>(kv_heads), static_cast<int>(head_dim),
             static_cast<int>(metadata.Count("head_dim_v", head_dim))};
  c.layer = {.q_heads = static_cast<int>(q_heads),
             .scale = metadata.Real("scale", 0.0),
             .window = metadata.Count("window", 0),
             .sink_tokens = metadata.Count("sink_tokens", 0),
             .soft_cap = metadata.Real("soft_cap", 0.0)};
  if (file.Find("alibi_slopes") != nullptr) c.layer.alibi_slopes = file.ReadF64("alibi_slopes");
  if (file.Find("sink_logits") != nullptr) c.layer.sink_logits = file.ReadF64("sink_logits");
  const int64_t steps = metadata.Count("steps");
  if (steps < 1 || file.Find(fmt::format("{}.q", steps)) != nullptr) {
    throw Error(ErrorCode::kCorrupt, fmt::format("{}: metadata 'steps' does not fit the tensors", file.name()),
                fmt::format("steps = {}", steps), "make the file again");
  }
  for (int64_t i = 0; i < steps; ++i) c.steps.push_back(ReadStep(file, c, i));
  c.capacity = std::min(c.max_len, TokensOf(c));
  return c;
}

// How a step's tokens are cut: at most `most` a row at once, drawn at random below that when `random`.
struct Cutting {
  int64_t most = std::numeric_limits<int64_t>::max();
  bool random = false;
};

class Replayer {
 public:
  Replayer(const Case& c, std::unique_ptr<KvCache> cache, const AttentionSettings& settings)
      : c_(c), cache_(std::move(cache)), attention_(cache_->layout(), {c.layer}, settings) {}

  double Run(const Cutting& cutting) {
    double worst = 0;
    for (const Step& step : c_.steps) {
      const bool refused = PassesLimit(step);
      worst = std::max(worst, refused ? Refuse(step) : Compare(step, cutting));
    }
    return worst;
  }

 private:
  bool PassesLimit(const Step& step) const {
    for (int r = 0; r < static_cast<int>(c_.batch); ++r) {
      if (cache_->length(r) + step.counts[r] > c_.max_len) return true;
    }
    return false;
  }

  // Every committed key and value, row after row.
  std::vector<double> Stored() const {
    std::vector<double> all, k(static_cast<size_t>(c_.shape.head_dim_k)), v(static_cast<size_t>(c_.shape.head_dim_v));
    for (int r = 0; r < cache_->rows(); ++r) {
      for (int64_t token = 0; token < cache_->length(r) * c_.shape.kv_heads; ++token) {
        cache_->Read(0, r, token / c_.shape.kv_heads, static_cast<int>(token % c_.shape.kv_heads), k, v);
        all.insert(all.end(), k.begin(), k.end());
        all.insert(all.end(), v.begin(), v.end());
      }
    }
    return all;
  }

  // 0 where the append is refused and leaves every length, key and value, else infinity.
  double Refuse(const Step& step) {
    const std::vector<double> before = Stored();
    try {
      Append append = cache_->BeginAppend(step.counts);
      append.Commit();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCapacity && Stored() == before) return 0;
    }
    return std::numeric_limits<double>::infinity();
  }

  double Compare(const Step& step, const Cutting& cutting) {
    out_.assign(step.out.size(), 0.0);
    std::vector<int64_t> done(static_cast<size_t>(c_.batch), 0), counts = done;
    for (bool more = true; more;) {
      more = false;
      for (size_t r = 0; r < done.size(); ++r) {
        counts[r] = std::min(step.counts[r] - done[r],
                             cutting.random ? static_cast<int64_t>(random_.Below(cutting.most + 1)) : cutting.most);
      }
      RunPart(step, done, counts);
      for (size_t r = 0; r < done.size(); ++r) more = (done[r] += counts[r]) < step.counts[r] || more;
    }
    double worst = 0;
    for (size_t i = 0; i < out_.size(); ++i) {
      const double error = std::fabs(out_[i] - step.out[i]);
      worst = error <= worst ? worst : std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
    return worst;
  }

  void RunPart(const Step& step, const std::vector<int64_t>& done, const std::vector<int64_t>& counts) {
    const int64_t dk = c_.shape.head_dim_k, dv = c_.shape.head_dim_v;
    Append append = cache_->BeginAppend(counts);
    std::vector<int64_t> q_offset, out_offset;
    for (int r = 0; r < static_cast<int>(c_.batch); ++r) {
      const int64_t kv = (r * c_.shape.kv_heads * step.tokens + done[r]),
                    q = r * c_.layer.q_heads * step.tokens + done[r];
      q_offset.push_back(q * dk);
      out_offset.push_back(q * dv);
      append.Write<double>(0, r,
                           {.k = step.k.data() + kv * dk,
                            .v = step.v.data() + kv * dv,
                            .k_token_stride = dk,
                            .k_head_stride = step.tokens * dk,
                            .v_token_stride = dv,
                            .v_head_stride = step.tokens * dv});
    }
    attention_.Plan(append, q_offset, out_offset);
    attention_.Run(0, HeadArray<const double>{step.q.data(), dk, step.tokens * dk},
                   HeadArray<double>{out_.data(), dv, step.tokens * dv});
    append.Commit();
  }

  const Case& c_;
  std::unique_ptr<KvCache> cache_;
  Attention attention_;
  std::vector<double> out_;
  base::Random random_{3};
};

}  // namespace

double ReplayAttention(const files::SafetensorsFile& file) {
  const Case c = ReadCase(file);
  const CacheLayout layout = CacheLayout::Uniform(1, c.shape, DType::kF64);
  const int rows = static_cast<int>(c.batch);
  double worst = 0;
  for (const Cutting cutting : {Cutting{}, Cutting{.most = 1}, Cutting{.most = 5, .random = true}}) {
    Replayer contiguous(c, std::make_unique<ContiguousCache>(layout, ContiguousShape{rows, c.capacity}),
                        {.threads = 1});
    worst = std::max(worst, contiguous.Run(cutting));
    for (const int block : {16, 64}) {
      const PagedShape shape{rows, c.capacity, block, rows * BlocksFor(c.capacity, block)};
      auto cache = std::make_unique<PagedCache>(layout, shape);
      cache->ShuffleFreeBlocks(11);
      Replayer paged(c, std::move(cache), {.threads = 2});
      worst = std::max(worst, paged.Run(cutting));
    }
  }
  return worst;
}

}  // namespace ekvi::law
