// A JSON file as a tree, for configuration: read strictly, with limits on size, depth and number of values.
//
// Strict: RFC 8259 in UTF-8 and nothing more (no comments, no trailing commas, no NaN), no key twice in an object. The
// reader does not recurse, and what it allocates is bounded by the limits whatever the file says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ekvi::files {

enum class JsonKind { kNull, kBool, kInteger, kNumber, kString, kArray, kObject };

// "null", "bool", "integer", "number", "string", "array", "object".
std::string_view JsonKindName(JsonKind kind);

struct JsonMember;

struct JsonValue {
  JsonKind kind = JsonKind::kNull;
  bool boolean = false;
  int64_t integer = 0;              // of kInteger: written without fraction and exponent, and fits
  double number = 0;                // of kInteger and kNumber
  std::string string;               // of kString
  std::vector<JsonValue> items;     // of kArray
  std::vector<JsonMember> members;  // of kObject, in the order of the file

  // nullptr where this is no object or has no such key.
  const JsonValue* Find(std::string_view key) const;
  // For messages: "8", "'silu'", "[3 items]", "{2 keys}".
  std::string ShortText() const;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

struct JsonLimits {
  size_t bytes = size_t{4} << 20;
  int depth = 32;
  size_t values = size_t{1} << 16;  // about 130 bytes each
};

// `file` names it in errors. Errors: kCorrupt with line and column where the text is no JSON or a key stands twice,
// kUnsupported, naming the limit, past a limit.
JsonValue ParseJson(std::string_view text, std::string_view file, const JsonLimits& limits = {});
// The same for a file; also kNotFound, kIo.
JsonValue ReadJson(const std::filesystem::path& path, const JsonLimits& limits = {});

}  // namespace ekvi::files
