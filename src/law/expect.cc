#include "law/expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ekvi/cache.h"
#include "ekvi/error.h"
#include "files/reader_error.h"
#include "law/greedy_walk.h"
#include "law/reference.h"

namespace ekvi::law {
namespace {

// Tokens a step computes at most, whatever the setup says: bounds the logits held at once.
constexpr int64_t kChunkMax = 64;

struct Expected {
  std::vector<int32_t> tokens;
  std::vector<int64_t> positions;  // rows of logits
  std::vector<int64_t> columns;    // vocabulary ids of its columns
  std::vector<double> logits;      // [positions, columns]
  std::vector<int64_t> greedy;
};

[[noreturn]] void Refuse(const files::SafetensorsFile& file, const std::string& what, const std::string& numbers) {
  throw Error(ErrorCode::kCorrupt, fmt::format("{}: {}", file.name(), what), numbers,
              "tensors wanted: tokens I64 [T], logits F64 [T, V], or positions, columns and logits [P, C]");
}

std::vector<int64_t> Indices(const files::SafetensorsFile& file, std::string_view name, int64_t count) {
  std::vector<int64_t> indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  if (file.Find(name) == nullptr) return indices;
  indices = file.ReadI64(name);
  for (const int64_t index : indices) {
    if (index < 0 || index >= count)
      Refuse(file, fmt::format("'{}' is out of range", name), fmt::format("{} of {}", index, count));
  }
  return indices;
}

// The file may be right for another model: what does not fit this one is the caller's choice.
void CheckFits(const files::SafetensorsFile& file, const Expected& e, int64_t context) {
  const auto tokens = static_cast<int64_t>(e.tokens.size());
  const int64_t walked = e.greedy.empty() ? 0 : std::min(kGreedyPrompt, tokens) + static_cast<int64_t>(e.greedy.size());
  const int64_t most = std::max(tokens, walked);
  if (most <= context) return;
  throw Error(
      ErrorCode::kInvalidArgument, fmt::format("{}: the tokens do not fit the model's context", file.name()),
      fmt::format("{} tokens{} > {}", files::Digits(static_cast<uint64_t>(most)),
                  walked > tokens ? " with the greedy ones" : "", files::Digits(static_cast<uint64_t>(context))),
      "logits of fewer tokens, or a model with a longer context");
}

Expected Read(const files::SafetensorsFile& file, int vocabulary) {
  Expected e;
  for (const int64_t token : file.ReadI64("tokens")) {
    if (token < 0 || token >= vocabulary)
      Refuse(file, "a token is outside the vocabulary", fmt::format("{} of {}", token, vocabulary));
    e.tokens.push_back(static_cast<int32_t>(token));
  }
  e.positions = Indices(file, "positions", static_cast<int64_t>(e.tokens.size()));
  e.columns = Indices(file, "columns", vocabulary);
  e.logits = file.ReadF64("logits");
  if (e.positions.empty() || e.columns.empty()) {
    Refuse(file, "there is nothing to compare",
           fmt::format("{} positions × {} columns", e.positions.size(), e.columns.size()));
  }
  if (e.logits.size() != e.positions.size() * e.columns.size()) {
    Refuse(
        file, "'logits' has the wrong size",
        fmt::format("{} values for {} positions × {} columns", e.logits.size(), e.positions.size(), e.columns.size()));
  }
  if (file.Find("greedy") != nullptr) e.greedy = file.ReadI64("greedy");
  return e;
}

// The larger, where NaN is larger than all.
double Worse(double a, double b) { return b <= a ? a : std::isnan(b) ? std::numeric_limits<double>::infinity() : b; }

void CompareRows(const Expected& e, const LogitsBlock& block, int64_t from, ExpectResult& result) {
  for (size_t p = 0; p < e.positions.size(); ++p) {
    const int64_t row = e.positions[p] - from;
    if (row < 0 || row >= block.positions()) continue;
    ++result.positions;
    for (size_t c = 0; c < e.columns.size(); ++c) {
      const double want = e.logits[p * e.columns.size() + c];
      const double got = block.at(row, static_cast<int>(e.columns[c]));
      result.max_abs_error = Worse(result.max_abs_error, std::fabs(got - want));
      result.max_abs_logit = Worse(result.max_abs_logit, std::fabs(want));
    }
  }
}

void CompareLogits(const Expected& e, const ExpectSetup& setup, ExpectResult& result) {
  const auto count = static_cast<int64_t>(e.tokens.size());
  const std::unique_ptr<KvCache> cache = setup.make_cache();
  const int64_t chunk = std::min(setup.chunk, kChunkMax);
  LogitsBlock block(setup.f64, setup.model->vocabulary());
  for (int64_t from = 0; from < count; from += chunk) {
    const auto tokens = std::span(e.tokens).subspan(from, std::min(chunk, count - from));
    const StepRow row{.row = 0, .tokens = tokens, .logits_count = static_cast<int64_t>(tokens.size())};
    block.Resize(row.logits_count);
    setup.model->Step(*cache, {&row, 1}, block.out());
    CompareRows(e, block, from, result);
  }
}

void CompareGreedy(const Expected& e, const ExpectSetup& setup, ExpectResult& result) {
  result.greedy_total = static_cast<int64_t>(e.greedy.size());
  if (e.greedy.empty()) return;
  std::vector<int32_t> tokens(e.tokens.begin(), e.tokens.begin() + std::min<int64_t>(kGreedyPrompt, e.tokens.size()));
  const std::unique_ptr<KvCache> cache = setup.make_cache();
  LogitsBlock block(setup.f64, setup.model->vocabulary());
  block.Resize(1);
  for (const int64_t want : e.greedy) {
    const StepRow row{.row = 0, .tokens = std::span(tokens).subspan(cache->length(0)), .logits_count = 1};
    setup.model->Step(*cache, {&row, 1}, block.out());
    tokens.push_back(GreedyToken(block, 0));
    result.greedy_equal += tokens.back() == want;
  }
}

}  // namespace

ExpectResult CompareExpected(const ExpectSetup& setup, const files::SafetensorsFile& file) {
  const Expected expected = Read(file, setup.model->vocabulary());
  CheckFits(file, expected, setup.model->context());
  ExpectResult result;
  CompareLogits(expected, setup, result);
  CompareGreedy(expected, setup, result);
  return result;
}

}  // namespace ekvi::law
