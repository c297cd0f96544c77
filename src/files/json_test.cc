// Goal: configuration is read exactly or refused by key and place. Method: values of every kind, each way a text can
// break, and limits from both sides.
#include <gtest/gtest.h>

#include "files/json_object.h"
#include "files/json_value.h"
#include "files/reader_expect_error.h"

namespace ekvi::files {
namespace {

TEST(Json, ValuesOfEveryKind_ComeOutAsWritten) {
  const JsonValue json =
      ParseJson(R"({"i": -8, "big": 9223372036854775808, "n": 1e-5, "t": true, "s": "h\u00e9", "x": null, )"
                R"("a": [1, [2]], "o": {}})",
                "f");
  const JsonObject object(json, "f");
  EXPECT_EQ(object.Integer("i"), -8);
  EXPECT_EQ(object.Number("i"), -8.0);
  EXPECT_EQ(object.Number("n"), 1e-5);
  EXPECT_EQ(object.Number("big"), 9223372036854775808.0);
  EXPECT_EQ(object.Bool("t"), true);
  EXPECT_EQ(object.String("s"), "h\u00e9");
  EXPECT_FALSE(object.Has("x"));
  EXPECT_NE(json.Find("x"), nullptr);
  EXPECT_FALSE(object.Integer("missing").has_value());
  EXPECT_TRUE(object.Object("o").has_value());
  EXPECT_EQ(json.Find("a")->items[1].items[0].integer, 2);
}

TEST(Json, AnotherType_IsRefusedByKeyAndValue) {
  const JsonValue json = ParseJson(R"({"rope": {"factor": "8"}, "n": 1.5, "list": [1, "x"]})", "config.json");
  const JsonObject object(json, "config.json");
  ExpectError(ErrorCode::kCorrupt, {"config.json", "'rope.factor'", "string", "'8'"},
              [&] { object.Object("rope")->Number("factor"); });
  ExpectError(ErrorCode::kCorrupt, {"'n'", "number", "an integer", "1.5"}, [&] { object.Integer("n"); });
  ExpectError(ErrorCode::kCorrupt, {"'list'", "string", "integers"}, [&] { object.Integers("list"); });
  ExpectError(ErrorCode::kCorrupt, {"'rope'", "object", "a string"}, [&] { object.String("rope"); });
  ExpectError(ErrorCode::kCorrupt, {"config.json", "array"}, [] {
    const JsonValue list = ParseJson("[]", "config.json");
    JsonObject(list, "config.json");
  });
}

TEST(Json, TextThatBreaks_IsRefusedWithLineAndColumn) {
  const char* const broken[] = {"",
                                "{",
                                "{\"a\": }",
                                "{\"a\": 1,}",
                                "{a: 1}",
                                "[1 2]",
                                "nul",
                                "\"\xff\"",
                                "{\"a\": NaN}",
                                "[01]",
                                "[1] []",
                                "// c\n{}",
                                "\"\\ud800\"",
                                "{\"a\" 1}",
                                "\"unfinished",
                                "[1,\n2,\n,3]",
                                "{\"a\": +1}"};
  for (const char* text : broken) {
    SCOPED_TRACE(text);
    ExpectError(ErrorCode::kCorrupt, {"f.json", "not valid JSON", "line", "column"},
                [&] { ParseJson(text, "f.json"); });
  }
  ExpectError(ErrorCode::kCorrupt, {"line 3"}, [] { ParseJson("[1,\n2,\n,3]", "f.json"); });
  ExpectError(ErrorCode::kCorrupt, {"NUL"}, [] { ParseJson(std::string_view("{}\0", 3), "f.json"); });
}

TEST(Json, KeyThatStandsTwice_IsRefusedAtAnyDepth) {
  ExpectError(ErrorCode::kCorrupt, {"'a'", "twice"}, [] { ParseJson(R"({"b": [{"a": 1, "a": 2}]})", "f"); });
}

TEST(Json, Limits_HoldFromBothSides) {
  const JsonLimits limits{.bytes = 100, .depth = 3, .values = 5};
  EXPECT_NO_THROW(ParseJson("[[[1, 2]]]", "f", limits));
  ExpectError(ErrorCode::kUnsupported, {"deep", "3"}, [&] { ParseJson("[[[[]]]]", "f", limits); });
  ExpectError(ErrorCode::kUnsupported, {"values", "5"}, [&] { ParseJson("[1, 2, 3, 4, 5]", "f", limits); });
  ExpectError(ErrorCode::kUnsupported, {"too large", "101", "100"},
              [&] { ParseJson(std::string(101, ' '), "f", limits); });
  ExpectError(ErrorCode::kUnsupported, {"deep"}, [] { ParseJson(std::string(1 << 20, '['), "f"); });
}

}  // namespace
}  // namespace ekvi::files
