#include "cli/generate_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
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

std::string EndText(const SummaryRequest& request) {
  const GenerateResult& result = request.result;
  if (result.finish == FinishReason::kCancelled) return " | interrupted";
  if (result.finish != FinishReason::kLength) return "";
  if (result.stats.new_tokens < request.max_tokens) return " | the context is full";
  return request.cut.empty() ? "" : " | " + request.cut;
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
  return fmt::format("{} | {} | {}{}", line, TokensText(stats), CacheText(stats, request.reuse), EndText(request));
}

Json GenerationJson(const GenerateResult& result, bool reuse) {
  const GenerateStats& stats = result.stats;
  return {{"text", result.text},
          {"tokens", result.tokens},
          {"finish", FinishName(result.finish)},
          {"prompt_tokens", stats.prompt_tokens},
          {"cached_tokens", stats.cached_tokens},
          {"new_tokens", stats.new_tokens},
          {"computed_tokens", ComputedTokens(stats, reuse)},
          {"prompt_ns", stats.prompt_ns},
          {"first_token_ns", stats.first_token_ns},
          {"decode_ns", stats.decode_ns},
          {"token_p95_ns", Percentile95(stats.token_ns)},
          {"kv_tokens", stats.kv_tokens},
          {"kv_bytes", stats.kv_bytes},
          {"kv_blocks", stats.kv_blocks}};
}

}  // namespace ekvi::cli
