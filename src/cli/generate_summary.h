// What a generation did, in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cli/report.h"
#include "ekvi/session.h"

namespace ekvi::cli {

// "end", "stop", "length", "cancelled".
std::string_view FinishName(FinishReason reason);

// The time that 95 of 100 tokens took at most: the nearest-rank percentile; 0 of none.
int64_t Percentile95(std::span<const int64_t> nanoseconds);

// Tokens the model computed: prompt and new ones once each with a cache (`reuse`), all of them again for each new one
// without. The last new token is chosen and never computed.
int64_t ComputedTokens(const GenerateStats& stats, bool reuse);

// "7 prompt tokens (0 cached) 38 ms | first token 41 ms | 64 tokens, 192 tok/s, p95 5.6 ms | KV 71 tokens, 1.76 MiB in
// 3 blocks". Without a cache the last part is the price: "no cache: 2,400 tokens computed instead of 70". What ended it
// early follows: "interrupted", "the context is full" (fewer than max_tokens fitted), or `cut` where max_tokens did.
struct SummaryRequest {
  const GenerateResult& result;
  bool reuse = true;
  int64_t max_tokens = 0;
  std::string cut = {};
};
std::string SummaryLine(const SummaryRequest& request);

// The same for --json, with the text and its tokens.
Json GenerationJson(const GenerateResult& result, bool reuse);

}  // namespace ekvi::cli
