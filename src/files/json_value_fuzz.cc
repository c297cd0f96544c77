// What must hold: any text is refused, or is a tree within the limits that, written and read again, is the same tree.
#include <fmt/format.h>

#include <cmath>

#include "base/utf8.h"
#include "files/json_value.h"
#include "fuzzing.h"

namespace ekvi::fuzzing {
namespace {

using files::JsonKind, files::JsonLimits, files::JsonMember, files::JsonValue;

constexpr JsonLimits kLimits{.bytes = 1 << 16, .depth = 8, .values = 1000};

std::string Quoted(std::string_view text) {
  EKVI_CHECK(base::IsUtf8(text));
  std::string quoted = "\"";
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
    quoted += plain ? std::string(1, c) : fmt::format("\\u{:04x}", static_cast<int>(c));
  }
  return quoted + "\"";
}

std::string Written(const JsonValue& value, int depth, size_t& values) {
  EKVI_CHECK_OP(<=, depth, kLimits.depth + 1);
  ++values;
  std::string text;
  switch (value.kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return value.boolean ? "true" : "false";
    case JsonKind::kInteger:
      EKVI_CHECK(value.number == static_cast<double>(value.integer));
      return std::to_string(value.integer);
    case JsonKind::kNumber:
      EKVI_CHECK(std::isfinite(value.number));
      return fmt::format("{:.17e}", value.number);
    case JsonKind::kString:
      return Quoted(value.string);
    case JsonKind::kArray:
      for (const JsonValue& item : value.items) text += (text.empty() ? "" : ",") + Written(item, depth + 1, values);
      return "[" + text + "]";
    case JsonKind::kObject:
      for (const JsonMember& member : value.members) {
        EKVI_CHECK(value.Find(member.key) == &member.value);
        text += (text.empty() ? "" : ",") + Quoted(member.key) + ":" + Written(member.value, depth + 1, values);
      }
  }
  return "{" + text + "}";
}

std::string ReadAndWritten(std::string_view text) {
  const JsonValue value = files::ParseJson(text, "input", kLimits);
  EKVI_CHECK(base::IsUtf8(value.ShortText()));
  size_t values = 0;
  std::string written = Written(value, 0, values);
  EKVI_CHECK_OP(<=, values, kLimits.values);
  return written;
}

}  // namespace

void TryInput(std::string_view input) {
  const std::string written = ReadAndWritten(input);
  MustWork([&] { EKVI_CHECK(ReadAndWritten(written) == written); });
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = SharedFiles("models/tiny", "config.json", 4096);
  seeds.insert(seeds.end(), {R"({"a":[1,-2.5e3,"\ud83e\udd99\n",true,false,null,{"b":{}}],"é":0})",
                             "[9223372036854775807,-9223372036854775808,18446744073709551616,1e400,-0,0.1]",
                             "[[[[[[[[[1]]]]]]]]]", R"({"a":1,"a":2})"});
  return seeds;
}

}  // namespace ekvi::fuzzing
