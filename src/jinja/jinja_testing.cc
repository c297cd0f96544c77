#include "jinja/jinja_testing.h"

#include <gtest/gtest.h>

#include "ekvi/chat_template.h"
#include "ekvi/error.h"

namespace ekvi::jinja::testing {
namespace {

void ExpectFailure(std::string_view source) {
  try {
    const std::string text = Render(source);
    ADD_FAILURE() << source << " gives " << text;
  } catch (const Error& error) {
    const bool blames = error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported ||
                        error.code() == ErrorCode::kInvalidArgument;
    EXPECT_TRUE(blames) << source << ": " << error.what();
  }
}

std::string Printed(std::string_view expression) { return "{{ " + std::string(expression) + " }}"; }

void ExpectOne(const std::string& source, std::string_view expected) {
  try {
    EXPECT_EQ(Render(source), expected) << source;
  } catch (const Error& error) {
    ADD_FAILURE() << source << ": " << error.what();
  }
}

}  // namespace

std::string_view Variables() {
  return R"json({
  "n": null,
  "t": true,
  "f": false,
  "i": 7,
  "j": -3,
  "z": 0,
  "x": 2.5,
  "y": -0.1,
  "s": "Hello, World",
  "e": "",
  "u": "héllo ☃ 日本 ß",
  "l": [3, 1, 2],
  "ls": ["b", "A", "c", "a"],
  "le": [],
  "d": {"b": 1, "a": "x", "C": null, "items": 5},
  "ld": [{"role": "user", "content": "hi", "n": 2},
         {"role": "assistant", "content": "Yo", "n": 1}, {"role": "user", "content": "<b>", "n": 3}],
  "nest": {"a": {"b": [1, {"c": "deep"}]}},
  "ws": "  a b  c \n",
  "multi": "one\ntwo\n\nthree\r\nfour",
  "bs": "back\\slash \"q\" 's'",
  "big": 9007199254740993,
  "fl": [1.0, 2.5, 1e+16, 1e-05, 1e+22, 123456789.123, 0.1, 0.3333333333333333],
  "tup": [[1, "a"], [2, "b"]]
})json";
}

std::string Render(std::string_view source, std::string_view variables) {
  return ChatTemplate::Parse(source, "test").Render(variables, {.strftime_now = [](std::string_view) {
                                                      return std::string("26 Jul 2026");
                                                    }});
}

void ExpectAll(std::initializer_list<Pair> cases) {
  for (const Pair& each : cases) {
    ExpectOne(Printed(each.source), each.expected);
    EXPECT_NO_THROW(Render("{{ [" + std::string(each.source) + "] }}")) << each.source;
  }
}

void ExpectAllTemplates(std::initializer_list<Pair> cases) {
  for (const Pair& each : cases) ExpectOne(std::string(each.source), each.expected);
}

void ExpectFailures(std::initializer_list<std::string_view> expressions) {
  for (const std::string_view expression : expressions) ExpectFailure(Printed(expression));
}

void ExpectFailingTemplates(std::initializer_list<std::string_view> templates) {
  for (const std::string_view source : templates) ExpectFailure(source);
}

}  // namespace ekvi::jinja::testing
