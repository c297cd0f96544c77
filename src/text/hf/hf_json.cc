#include "text/hf/hf_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "files/reader_error.h"

namespace ekvi::text {
namespace {

constexpr size_t kBytesMax = size_t{512} << 20;
constexpr size_t kDepthMax = 64;
// Objects above this are vocabularies, whose readers look for duplicates themselves.
constexpr size_t kCheckedMembers = 256;

std::string_view TypeName(simdjson::dom::element element) {
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "true or false";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

}  // namespace

JsonDocument::JsonDocument(std::string_view bytes, std::string name)
    : parser_(std::make_unique<simdjson::dom::parser>(kBytesMax)),
      file_(std::make_shared<const std::string>(std::move(name))) {
  if (bytes.size() > kBytesMax) {
    throw files::FileError(ErrorCode::kUnsupported, *file_, "too large",
                           fmt::format("{} bytes, at most {}", files::Digits(bytes.size()), files::Digits(kBytesMax)),
                           "");
  }
  auto error = parser_->allocate(bytes.size() + 1, kDepthMax);
  if (!error) error = parser_->parse(simdjson::padded_string(bytes)).get(root_);
  if (!error) return;
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error == simdjson::DEPTH_ERROR) {
    throw files::FileError(ErrorCode::kUnsupported, *file_, "nested too deep", fmt::format("over {} levels", kDepthMax),
                           "");
  }
  throw files::FileError(ErrorCode::kCorrupt, *file_, "not valid JSON",
                         fmt::format("{} ({} bytes)", simdjson::error_message(error), files::Digits(bytes.size())), "");
}

Error JsonValue::Fault(ErrorCode code, std::string_view what, std::string numbers, std::string hint) const {
  const std::string place = place_.empty() ? std::string(what) : fmt::format("{}: {}", place_, what);
  return files::FileError(code, *file_, place, std::move(numbers), std::move(hint));
}

Error JsonValue::WrongType(std::string_view wanted) const {
  return Fault(ErrorCode::kCorrupt, fmt::format("{} where {} is wanted", TypeName(element_), wanted));
}

std::string_view JsonValue::String() const {
  std::string_view value;
  if (element_.get(value)) throw WrongType("a string");
  return value;
}

bool JsonValue::Bool() const {
  bool value;
  if (element_.get(value)) throw WrongType("true or false");
  return value;
}

double JsonValue::Number() const {
  double value;
  if (element_.get(value)) throw WrongType("a number");
  return value;
}

uint64_t JsonValue::Uint(uint64_t max) const {
  uint64_t value;
  if (element_.get(value)) throw WrongType("a whole number");
  if (value > max) {
    throw Fault(ErrorCode::kCorrupt, "a number too large",
                fmt::format("{}, at most {}", files::Digits(value), files::Digits(max)));
  }
  return value;
}

simdjson::dom::array JsonValue::Array() const {
  simdjson::dom::array value;
  if (element_.get(value)) throw WrongType("an array");
  return value;
}

simdjson::dom::object JsonValue::Object() const {
  simdjson::dom::object value;
  if (element_.get(value)) throw WrongType("an object");
  if (value.size() > kCheckedMembers) return value;
  std::vector<std::string_view> keys;
  for (const auto& member : value) keys.push_back(member.key);
  std::ranges::sort(keys);
  const auto twin = std::ranges::adjacent_find(keys);
  if (twin != keys.end()) throw Fault(ErrorCode::kCorrupt, fmt::format("key {} twice", files::Quote(*twin)));
  return value;
}

std::optional<JsonValue> JsonValue::Get(std::string_view key) const {
  simdjson::dom::element element;
  if (Object().at_key(key).get(element) || element.is_null()) return std::nullopt;
  return Member(element, key);
}

JsonValue JsonValue::Require(std::string_view key) const {
  const auto member = Get(key);
  if (!member) throw Fault(ErrorCode::kCorrupt, fmt::format("key {} missing", files::Quote(key)));
  return *member;
}

bool JsonValue::Bool(std::string_view key, bool fallback) const {
  const auto member = Get(key);
  return member ? member->Bool() : fallback;
}

JsonValue JsonValue::Member(simdjson::dom::element element, std::string_view key) const {
  return JsonValue(element, place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key), file_);
}

JsonValue JsonValue::Item(simdjson::dom::element element, size_t index) const {
  return JsonValue(element, fmt::format("{}[{}]", place_, index), file_);
}

}  // namespace ekvi::text
