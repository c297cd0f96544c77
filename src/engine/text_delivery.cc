#include "engine/text_delivery.h"

namespace ekvi::engine {

TextDelivery::TextDelivery(const TextSource& source, std::span<const std::string> stops, const OnText& on_text)
    : source_(&source), on_text_(&on_text), matcher_(stops) {}

void TextDelivery::Deliver(size_t from) {
  if (*on_text_ && text_.size() > from) (*on_text_)(std::string_view(text_).substr(from));
}

bool TextDelivery::Push(int32_t token) {
  if (!source_->push) return false;
  const size_t delivered = text_.size();
  const bool stopped = matcher_.Push(source_->push(token), &text_);
  Deliver(delivered);
  return stopped;
}

bool TextDelivery::Finish() {
  const size_t delivered = text_.size();
  if (source_->finish) matcher_.Push(source_->finish(), &text_);
  matcher_.Finish(&text_);
  Deliver(delivered);
  return matcher_.stopped();
}

}  // namespace ekvi::engine
