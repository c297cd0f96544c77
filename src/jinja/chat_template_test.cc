// Goal: the public class keeps its contract: errors say where, rendering is the same from many threads, and public
// models' templates give the reference's text. Method: small templates, and every case of the shared templates.
#include "ekvi/chat_template.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "ekvi/error.h"
#include "jinja/jinja_testing.h"
#include "shared_path.h"

namespace ekvi {
namespace {

using jinja::testing::Render;

Error ErrorOf(std::string_view source, std::string_view variables = "{}") {
  try {
    Render(source, variables);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << source << " does not fail";
  return {ErrorCode::kIo, "none"};
}

TEST(ChatTemplate, Defaults_AreForWhatTheInputLeavesOut) {
  const ChatTemplate chat = ChatTemplate::Parse("{{ bos_token }}{{ eos_token }}", "test");
  const TemplateOptions options{.strftime_now = {}, .defaults = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}};
  EXPECT_EQ(chat.Render("{}", options), "<s></s>");
  EXPECT_EQ(chat.Render(R"({"eos_token": "own"})", options), "<s>own");
  EXPECT_EQ(chat.Render(R"({"eos_token": null})", options), "<s>None");
}

TEST(ChatTemplate, ErrorsNameTemplateAndLine) {
  EXPECT_EQ(ErrorOf("a\n\n{{ x.y }}").summary(), "test, line 3: 'x' is undefined");
  EXPECT_EQ(ErrorOf("\n{% if x %}\n").summary(), "test, line 2: unexpected end of template, 'endif' is missing");
  EXPECT_EQ(ErrorOf("\n\n\n{% nope %}").summary(), "test, line 4: unknown tag 'nope'");
  EXPECT_EQ(ErrorOf("{{ m['a'].b }}", R"({"m": {}})").summary(), "test, line 1: 'dict object' has no attribute 'a'");
  EXPECT_EQ(ErrorOf("{% macro m() %}\n{{ 1/0 }}{% endmacro %}\n{{ m() }}").summary(), "test, line 2: division by zero");
  EXPECT_EQ(ErrorOf("{{ 'a'|nope }}").summary(), "test, line 1: No filter named 'nope'.");
  EXPECT_EQ(ErrorOf("{{ l.append(1) }}", R"({"l": []})").summary(),
            "test, line 1: access to attribute 'append' of 'list' object is unsafe.");
  EXPECT_EQ(ErrorOf("{% include 'x' %}").code(), ErrorCode::kUnsupported);
  EXPECT_EQ(ErrorOf("{{ x").code(), ErrorCode::kCorrupt);
}

TEST(ChatTemplate, RaiseExceptionGivesTheTemplatesMessage) {
  const Error error = ErrorOf("a\n{{ raise_exception('Roles must alternate: ' ~ x) }}", R"({"x": "user"})");
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.summary(), "Roles must alternate: user");
  EXPECT_EQ(error.numbers(), "raised by the chat template test, line 2");
  EXPECT_EQ(ErrorOf("{{ raise_exception('') }}").summary(), "the chat template refuses the conversation");
}

TEST(ChatTemplate, InputIsAJsonObject) {
  for (const char* input : {"", "[]", "1", "nope", "{", R"({"a": 1e999})", R"({"a": "\ud800"})", "{\"a\": \"\xFF\"}"}) {
    EXPECT_EQ(ErrorOf("a", input).code(), ErrorCode::kInvalidArgument) << input;
  }
  EXPECT_EQ(ErrorOf("a", R"({"a": 123456789012345678901234567890})").code(), ErrorCode::kUnsupported);
  EXPECT_EQ(Render("{{ a }}", R"({"b": 1, "a": 1, "a": 2})"), "2");
  EXPECT_EQ(Render("{{ a }}", R"({"a": {"z": 1, "b": [true, null, 1.0, 1e3, "x"], "a": {}}})"),
            "{'z': 1, 'b': [True, None, 1.0, 1000.0, 'x'], 'a': {}}");
}

TEST(ChatTemplate, SourceIsUtf8) {
  EXPECT_EQ(ErrorOf("a\xFF").code(), ErrorCode::kCorrupt);
  EXPECT_EQ(Render("é☃😀{{ 'é'|length }}", "{}"), "é☃😀1");
}

TEST(ChatTemplate, RendersFromManyThreads) {
  const ChatTemplate chat = ChatTemplate::Parse(
      "{% macro m(x) %}<{{ x }}>{% endmacro %}{% set n = namespace(i=0) %}{% for x in l %}{% set n.i = n.i + x %}"
      "{{ m(n.i) }}{{ 'const'|upper ~ [1, 'a'] }}{% endfor %}",
      "test");
  const std::string expected = chat.Render(R"({"l": [1, 2, 3]})");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(chat.Render(R"({"l": [1, 2, 3]})"), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ChatTemplate, TimeIsAParameter) {
  const ChatTemplate chat = ChatTemplate::Parse("{{ strftime_now('%d %b %Y') }}", "test");
  EXPECT_EQ(
      chat.Render("{}", {.strftime_now = [](std::string_view format) { return "<" + std::string(format) + ">"; }}),
      "<%d %b %Y>");
  EXPECT_EQ(chat.Render("{}").size(), 11u);
}

TEST(FormatLocalTime, IsStrftimeInEnglish) {
  std::tm parts{.tm_sec = 5, .tm_min = 4, .tm_hour = 15, .tm_mday = 2, .tm_mon = 0, .tm_year = 126, .tm_isdst = -1};
  const auto time = std::chrono::system_clock::from_time_t(std::mktime(&parts)) + std::chrono::microseconds(1234);
  EXPECT_EQ(FormatLocalTime("%Y-%m-%d %H:%M:%S", time), "2026-01-02 15:04:05");
  EXPECT_EQ(FormatLocalTime("%A, %d %B %y, %I %p, day %j", time), "Friday, 02 January 26, 03 PM, day 002");
  EXPECT_EQ(FormatLocalTime("%f|%z|%Z|%%|%%f", time), "001234|||%|%f");
  EXPECT_EQ(FormatLocalTime("", time), "");
  EXPECT_THROW(FormatLocalTime("%99999d", time), Error);
  EXPECT_THROW(FormatLocalTime(std::string_view("%Y\0%m", 5), time), Error);  // as Python does
}

TEST(ChatTemplate, NulInATimesFormat_FailsAsInPython) {
  EXPECT_THROW(jinja::testing::Render(R"({{ strftime_now("%Y\x00") }})"), Error);
}

std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void ExpectCase(const ChatTemplate& chat, const nlohmann::ordered_json& example) {
  try {
    const std::string text = chat.Render(example["input"].dump(),
                                         {.strftime_now = [](std::string_view) { return std::string("26 Jul 2026"); }});
    EXPECT_TRUE(example.contains("expected")) << "gives " << text;
    if (example.contains("expected")) {
      EXPECT_EQ(text, example["expected"].get<std::string>());
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.summary(), example.value("error", "no error")) << error.what();
  }
}

TEST(ChatTemplate, PublicTemplatesGiveTheReferencesText) {
  const auto folder = testing::SharedPath("templates");
  EKVI_SKIP_WITHOUT(folder);
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    const ChatTemplate chat = ChatTemplate::Parse(ReadWhole(entry.path()), entry.path().filename().string());
    const auto cases =
        nlohmann::ordered_json::parse(ReadWhole(std::filesystem::path(entry.path()).replace_extension("json")));
    for (const auto& example : cases["cases"]) {
      SCOPED_TRACE(chat.name() + ": " + example["name"].get<std::string>());
      ExpectCase(chat, example);
      ++count;
    }
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace ekvi
