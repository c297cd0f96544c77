#include "jinja/failure.h"

namespace ekvi::jinja {

void Fail(std::string message) { throw Failure{.code = ErrorCode::kCorrupt, .message = std::move(message)}; }

void Refuse(std::string message, std::string hint) {
  throw Failure{.code = ErrorCode::kUnsupported, .message = std::move(message), .hint = std::move(hint)};
}

}  // namespace ekvi::jinja
