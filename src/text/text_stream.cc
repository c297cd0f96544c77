#include "text/text_stream.h"

#include <string>

#include "base/utf8.h"

namespace ekvi::text {
namespace {

class TokenTextStream : public TextStream {
 public:
  explicit TokenTextStream(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  std::string Push(int32_t token) override {
    std::string bytes, text;
    tokenizer_.AppendBytes(token, place_, bytes);
    stream_.Push(bytes, text);
    return text;
  }

  std::string Finish() override {
    std::string text;
    stream_.Finish(text);
    return text;
  }

 private:
  const Tokenizer& tokenizer_;
  TextPlace place_;
  base::Utf8Stream stream_;
};

}  // namespace

std::unique_ptr<TextStream> NewTextStream(const Tokenizer& tokenizer, std::span<const int32_t> before) {
  auto stream = std::make_unique<TokenTextStream>(tokenizer);
  for (const int32_t token : before) stream->Push(token);
  return stream;
}

}  // namespace ekvi::text
