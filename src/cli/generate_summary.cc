#include "cli/generate_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/format.h"

namespace ekvi::cli {
namespace {

std::string TokensText(const GenerateStats& stats) {
  std::string text = CountOf(stats.new_tokens, "token");
  if (stats.new_tokens > 1 && stats.decode_ns > 0) {
    const double seconds = static_cast<double>(stats.decode_ns) * 1e-9;
    text += fmt::format(", {} tok/s", Rate(static_cast<double>(stats.new_tokens - 1) / seconds));
  }
  if (!stats.token_ns.empty()) text += fmt::format(", p95 {}", Duration(Percentile95(stats.token_ns)));
  return text;
}

std::string CacheText(const GenerateStats& stats, bool reuse) {
  if (!reuse) {
    return fmt::format("no cache: {} computed instead of {}", CountOf(ComputedTokens(stats, false), "token"),
                       Count(ComputedTokens(stats, true)));
  }
  const std::string text = fmt::format("KV {}, {}", CountOf(stats.kv_tokens, "token"), Bytes(stats.kv_bytes));
  return stats.kv_blocks == 0 ? text : fmt::format("{} in {}", text, CountOf(stats.kv_blocks, "block"));
}

std::string EndText(const GenerateResult& result, int64_t max_tokens) {
  if (result.finish == FinishReason::kCancelled) return " | interrupted";
  const bool early = result.finish == FinishReason::kLength && result.stats.new_tokens < max_tokens;
  return early ? " | the context is full" : "";
}

}  // namespace

std::string_view FinishName(FinishReason reason) {
  switch (reason) {
    case FinishReason::kEnd:
      return "end";
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "";
}

int64_t Percentile95(std::span<const int64_t> nanoseconds) {
  if (nanoseconds.empty()) return 0;
  std::vector<int64_t> sorted(nanoseconds.begin(), nanoseconds.end());
  const size_t rank = (sorted.size() * 95 + 99) / 100 - 1;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(rank), sorted.end());
  return sorted[rank];
}

int64_t ComputedTokens(const GenerateStats& stats, bool reuse) {
  const int64_t steps = std::max<int64_t>(stats.new_tokens, 1);
  if (reuse) return stats.prompt_tokens - stats.cached_tokens + steps - 1;
  return steps * stats.prompt_tokens + steps * (steps - 1) / 2;
}

std::string SummaryLine(const SummaryRequest& request) {
  const GenerateStats& stats = request.result.stats;
  std::string line = fmt::format("{} ({} cached) {}", CountOf(stats.prompt_tokens, "prompt token"),
                                 Count(stats.cached_tokens), Duration(stats.prompt_ns));
  if (stats.new_tokens > 0) line += fmt::format(" | first token {}", Duration(stats.first_token_ns));
  return fmt::format("{} | {} | {}{}", line, TokensText(stats), CacheText(stats, request.reuse),
                     EndText(request.result, request.max_tokens));
}

}  // namespace ekvi::cli
