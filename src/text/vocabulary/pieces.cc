#include "text/vocabulary/pieces.h"

#include <algorithm>

#include "ekvi/error.h"
#include "files/reader_error.h"

namespace ekvi::text {

Pieces::Pieces(std::span<const std::string_view> texts) {
  uint64_t total = 0;
  for (const std::string_view text : texts) total += text.size();
  if (total > UINT32_MAX) {
    throw Error(ErrorCode::kUnsupported, "the vocabulary is too large",
                files::Digits(total) + " bytes of pieces, at most " + files::Digits(UINT32_MAX),
                "a vocabulary of fewer or shorter pieces");
  }
  auto bytes = std::make_shared_for_overwrite<char[]>(total);
  auto ends = std::make_shared<std::vector<uint32_t>>();
  ends->reserve(texts.size() + 1);
  ends->push_back(0);
  for (const std::string_view text : texts) {
    std::ranges::copy(text, bytes.get() + ends->back());
    ends->push_back(ends->back() + static_cast<uint32_t>(text.size()));
  }
  bytes_ = std::move(bytes);
  ends_ = std::move(ends);
}

}  // namespace ekvi::text
