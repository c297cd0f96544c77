// A handler of the JSON library's events builds the tree. Open containers are a stack of pointers: a container lies in
// its parent's vector, which does not grow while it is open.
#include "files/json_value.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "files/reader_error.h"
#include "files/reader_names.h"

namespace ekvi::files {
namespace {

using Json = nlohmann::json;

// "line 3, column 7" of a byte of the text.
std::string PlaceText(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line, std::max<size_t>(before.size() - line_start, 1));
}

class TreeHandler : public nlohmann::json_sax<Json> {
 public:
  TreeHandler(std::string_view text, std::string_view file, const JsonLimits& limits)
      : text_(text), file_(file), limits_(limits) {}

  JsonValue Take() && { return std::move(root_); }

  bool null() override { return Scalar({}); }
  bool boolean(bool value) override { return Scalar({.kind = JsonKind::kBool, .boolean = value}); }
  bool number_integer(int64_t value) override {
    return Scalar({.kind = JsonKind::kInteger, .integer = value, .number = static_cast<double>(value)});
  }
  bool number_unsigned(uint64_t value) override {
    if (value <= INT64_MAX) return number_integer(static_cast<int64_t>(value));
    return Scalar({.kind = JsonKind::kNumber, .number = static_cast<double>(value)});
  }
  bool number_float(double value, const std::string&) override {
    return Scalar({.kind = JsonKind::kNumber, .number = value});
  }
  bool string(std::string& value) override { return Scalar({.kind = JsonKind::kString, .string = std::move(value)}); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(JsonKind::kObject); }
  bool start_array(size_t) override { return Open(JsonKind::kArray); }
  bool key(std::string& name) override {
    open_.back()->members.push_back({std::move(name), {}});
    return true;
  }
  bool end_object() override {
    CheckUnique(*open_.back());
    open_.pop_back();
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(size_t position, const std::string& token, const Json::exception&) override {
    throw FileError(ErrorCode::kCorrupt, file_, "not valid JSON",
                    fmt::format("{}, near {}", PlaceText(text_, position), Quote(token)), "");
  }

 private:
  JsonValue& Add(JsonValue value) {
    if (++values_ > limits_.values) Past("too many values", fmt::format("more than {}", Digits(limits_.values)));
    if (open_.empty()) return root_ = std::move(value);
    JsonValue& parent = *open_.back();
    if (parent.kind == JsonKind::kArray) return parent.items.emplace_back(std::move(value));
    return parent.members.back().value = std::move(value);
  }
  bool Scalar(JsonValue value) {
    Add(std::move(value));
    return true;
  }
  bool Open(JsonKind kind) {
    if (static_cast<int>(open_.size()) >= limits_.depth)
      Past("nested too deeply", fmt::format("more than {} levels", limits_.depth));
    open_.push_back(&Add({.kind = kind}));
    return true;
  }
  [[noreturn]] void Past(std::string_view what, std::string numbers) const {
    throw FileError(ErrorCode::kUnsupported, file_, what, std::move(numbers), "");
  }
  void CheckUnique(const JsonValue& object) const {
    std::vector<std::string_view> keys;
    keys.reserve(object.members.size());
    for (const JsonMember& member : object.members) keys.push_back(member.key);
    const auto duplicate = ReaderNames(keys).Duplicate();
    if (!duplicate) return;
    throw FileError(ErrorCode::kCorrupt, file_, fmt::format("key {} stands twice", Quote(keys[*duplicate])),
                    fmt::format("it is number {} of {} in its object", *duplicate + 1, keys.size()), "");
  }

  std::string_view text_, file_;
  JsonLimits limits_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  size_t values_ = 0;
};

}  // namespace

std::string_view JsonKindName(JsonKind kind) {
  constexpr std::string_view kNames[] = {"null", "bool", "integer", "number", "string", "array", "object"};
  return kNames[static_cast<int>(kind)];
}

const JsonValue* JsonValue::Find(std::string_view key) const {
  const auto member = std::ranges::find(members, key, &JsonMember::key);
  return member == members.end() ? nullptr : &member->value;
}

std::string JsonValue::ShortText() const {
  switch (kind) {
    case JsonKind::kBool:
      return boolean ? "true" : "false";
    case JsonKind::kInteger:
      return fmt::format("{}", integer);
    case JsonKind::kNumber:
      return fmt::format("{}", number);
    case JsonKind::kString:
      return Quote(string);
    case JsonKind::kArray:
      return fmt::format("[{} items]", items.size());
    case JsonKind::kObject:
      return fmt::format("{{{} keys}}", members.size());
    default:
      return "null";
  }
}

JsonValue ParseJson(std::string_view text, std::string_view file, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    throw FileError(ErrorCode::kUnsupported, file, "too large",
                    fmt::format("{} bytes, at most {} are read", Digits(text.size()), Digits(limits.bytes)), "");
  }
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {  // the library would end there quietly
    throw FileError(ErrorCode::kCorrupt, file, "not valid JSON", "a NUL byte at " + PlaceText(text, nul), "");
  }
  TreeHandler handler(text, file, limits);
  Json::sax_parse(text, &handler);
  return std::move(handler).Take();
}

JsonValue ReadJson(const std::filesystem::path& path, const JsonLimits& limits) {
  const base::MappedFile mapped(path);
  const auto bytes = mapped.bytes();
  return ParseJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string(), limits);
}

}  // namespace ekvi::files
