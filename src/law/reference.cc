#include "law/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "base/sha256.h"

namespace ekvi::law {
namespace {

std::vector<int32_t> DrawTokens(int64_t count, int vocabulary, uint64_t seed) {
  std::vector<int32_t> tokens;
  base::Random random(seed);
  for (int64_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>(random.Below(static_cast<uint64_t>(vocabulary))));
  return tokens;
}

}  // namespace

void LogitsBlock::Resize(int64_t positions) {
  positions_ = positions;
  if (bytes_.size() < static_cast<size_t>(positions) * RowBytes())
    bytes_.resize(static_cast<size_t>(positions) * RowBytes());
}

LogitsOut LogitsBlock::out(int64_t position) {
  std::byte* const to = bytes_.data() + static_cast<size_t>(position) * RowBytes();
  if (f64_) return {.f64 = reinterpret_cast<double*>(to)};
  return {.f32 = reinterpret_cast<float*>(to)};
}

std::span<const std::byte> LogitsBlock::row(int64_t position) const {
  return {bytes_.data() + static_cast<size_t>(position) * RowBytes(), RowBytes()};
}

double LogitsBlock::at(int64_t position, int column) const {
  const std::byte* from = row(position).data();
  if (f64_) return reinterpret_cast<const double*>(from)[column];
  return reinterpret_cast<const float*>(from)[column];
}

std::string LogitsDifference(const LogitsBlock& got, int64_t index, const LogitsBlock& want, int64_t position) {
  const std::span<const std::byte> a = got.row(index), b = want.row(position);
  if (std::memcmp(a.data(), b.data(), a.size()) == 0) return "";
  const size_t size = got.f64() ? 8 : 4;
  int column = 0;
  while (std::memcmp(a.data() + column * size, b.data() + column * size, size) == 0) ++column;
  return fmt::format("position {}: logit {} is {}, reference {}", position, column, got.at(index, column),
                     want.at(position, column));
}

namespace {

// "K of layer 1, head 0, dimension 3 is 0.5, reference 0.25", or empty.
std::string ValueDifference(std::span<const double> got, std::span<const double> want, const std::string& what) {
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(double)) == 0) continue;
    return fmt::format("{}, dimension {} is {}, reference {}", what, i, got[i], want[i]);
  }
  return "";
}

}  // namespace

std::string CacheDifference(const KvCache& got, int row, const KvCache& want, int64_t length) {
  if (got.length(row) != length) return fmt::format("the cache row holds {} tokens, not {}", got.length(row), length);
  std::vector<double> k, v, want_k, want_v;
  for (int layer = 0; layer < static_cast<int>(want.layout().layers.size()); ++layer) {
    const LayerShape& shape = want.layout().layers[layer];
    for (auto* values : {&k, &want_k}) values->resize(static_cast<size_t>(shape.head_dim_k));
    for (auto* values : {&v, &want_v}) values->resize(static_cast<size_t>(shape.head_dim_v));
    for (int64_t pos = 0; pos < length; ++pos) {
      for (int head = 0; head < shape.kv_heads; ++head) {
        got.Read(layer, row, pos, head, k, v);
        want.Read(layer, 0, pos, head, want_k, want_v);
        const std::string place = fmt::format("of layer {}, head {}", layer, head);
        std::string difference = ValueDifference(k, want_k, "K " + place);
        if (difference.empty()) difference = ValueDifference(v, want_v, "V " + place);
        if (!difference.empty()) return fmt::format("position {}: {}", pos, difference);
      }
    }
  }
  return "";
}

Reference::Reference(const Subject& subject, int64_t count, uint64_t seed, const ReferenceSetup& setup)
    : seed_(seed), logits_(subject.f64, 1) {
  const std::unique_ptr<engine::StepModel> model = subject.make(setup.crew);
  tokens_ = DrawTokens(count, model->vocabulary(), seed);
  cache_ = MakeCache(subject.layout, setup.storage, 1, count);
  logits_ = LogitsBlock(subject.f64, model->vocabulary());
  logits_.Resize(count);
  for (int64_t from = 0; from < count;) {
    const int64_t tokens = std::min(setup.chunk, count - from);
    const StepRow row{.row = 0, .tokens = std::span(tokens_).subspan(from, tokens), .logits_count = tokens};
    model->Step(*cache_, {&row, 1}, logits_.out(from));
    from += tokens;
  }
}

std::string Reference::Sha256() const { return base::Sha256(logits_.bytes()); }

}  // namespace ekvi::law
