#include "attend/attention_ref.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ekvi::attend {
namespace {

bool VisibleRef(const AttentionLayer& layer, int64_t position, int64_t key) {
  if (key > position) return false;
  return layer.window == 0 || key > position - layer.window || key < layer.sink_tokens;
}

// Scores of keys 0 … position; -inf where the query may not look.
std::vector<double> ScoresRef(const QueryRef& query) {
  const AttentionLayer& layer = *query.layer;
  const int64_t heads = query.shape.kv_heads, d = query.shape.head_dim_k;
  const int64_t kv_head = query.head / (layer.q_heads / heads);
  const double scale = layer.scale != 0 ? layer.scale : 1 / std::sqrt(static_cast<double>(d));
  std::vector<double> scores(static_cast<size_t>(query.position + 1), -std::numeric_limits<double>::infinity());
  for (int64_t key = 0; key <= query.position; ++key) {
    if (!VisibleRef(layer, query.position, key)) continue;
    double dot = 0;
    for (int64_t i = 0; i < d; ++i) dot += query.q[i] * query.k[(key * heads + kv_head) * d + i];
    double score = dot * scale;
    if (layer.soft_cap != 0) score = layer.soft_cap * std::tanh(score / layer.soft_cap);
    if (!layer.alibi_slopes.empty())
      score += layer.alibi_slopes[query.head] * static_cast<double>(key - query.position);
    scores[key] = score;
  }
  return scores;
}

}  // namespace

void AttendRef(const QueryRef& query, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  if (query.position < 0) return;
  const std::vector<double> scores = ScoresRef(query);
  const int64_t heads = query.shape.kv_heads, d = query.shape.head_dim_v;
  const int64_t kv_head = query.head / (query.layer->q_heads / heads);
  double max = *std::max_element(scores.begin(), scores.end());
  if (!query.layer->sink_logits.empty()) max = std::max(max, query.layer->sink_logits[query.head]);
  double sum = query.layer->sink_logits.empty() ? 0 : std::exp(query.layer->sink_logits[query.head] - max);
  for (int64_t key = 0; key <= query.position; ++key) {
    if (!VisibleRef(*query.layer, query.position, key)) continue;
    const double p = std::exp(scores[key] - max);
    sum += p;
    for (int64_t i = 0; i < d; ++i) out[i] += p * query.v[(key * heads + kv_head) * d + i];
  }
  for (double& x : out) x /= sum;
}

double LargestScoreRef(const QueryRef& query) {
  double largest = 0;
  for (const double score : ScoresRef(query)) {
    if (std::isfinite(score)) largest = std::max(largest, std::fabs(score));
  }
  return largest;
}

}  // namespace ekvi::attend
