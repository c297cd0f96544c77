// For fuzzers: what must hold of every tokenizer that was loaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "fuzzing.h"
#include "text/tokenizer.h"

namespace ekvi::text {

// What the stream writes is Decode's text, however the ids are given to it.
inline void CheckStream(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  const std::string text = tokenizer.Decode(ids);
  EKVI_CHECK(base::IsUtf8(text));
  const auto stream = tokenizer.NewTextStream();
  std::string streamed;
  for (const int32_t id : ids) streamed += stream->Push(id);
  EKVI_CHECK(streamed + stream->Finish() == text);
}

// Ids of texts lie in the vocabulary, a special token's name or not; texts of ids are valid.
inline void CheckTokenizer(const Tokenizer& tokenizer, std::string_view text) {
  EKVI_CHECK(base::IsUtf8(tokenizer.Description()));
  for (const std::string_view name : tokenizer.ControlNames()) EKVI_CHECK(!name.empty());
  for (const bool special : {false, true}) {
    fuzzing::Works([&] {
      const std::vector<int32_t> ids = tokenizer.Encode(text, {.begin = special, .special = special});
      for (const int32_t id : ids) EKVI_CHECK(id >= 0 && id < tokenizer.size());
      CheckStream(tokenizer, ids);
    });
  }
  std::vector<int32_t> all;
  for (int32_t id = 0; id < std::min(tokenizer.size(), 300); ++id) all.push_back(id);
  CheckStream(tokenizer, all);
}

inline constexpr std::string_view kFuzzText =
    " Once upon a time, 7 \xF0\x9F\xA6\x99s <s>\n\n\xFF A\xCC\x81 ab ba\u00E9";

}  // namespace ekvi::text
