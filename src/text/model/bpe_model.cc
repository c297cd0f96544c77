#include "text/model/bpe_model.h"

#include "base/check.h"
#include "text/model/bpe_encoder.h"

namespace ekvi::text {

BpeModel::BpeModel(BpeOptions options, PieceTable texts, const std::vector<BpeMerge>& merges,
                   const ByteTokens& byte_tokens, int32_t size)
    : options_(std::move(options)),
      texts_(std::move(texts)),
      merges_(merges),
      byte_tokens_(byte_tokens),
      whole_(static_cast<size_t>(size)) {
  EKVI_CHECK(!options_.bytes || (options_.word_prefix.empty() && options_.word_suffix.empty()));
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    symbols_[i] = options_.bytes || i < 0x80 ? texts_.Find({&c, 1}).value_or(-1) : -1;
  }
}

std::unique_ptr<WordEncoder> BpeModel::NewEncoder(size_t text_bytes, std::vector<int32_t>& ids) const {
  return std::make_unique<BpeEncoder>(*this, text_bytes, ids);
}

}  // namespace ekvi::text
