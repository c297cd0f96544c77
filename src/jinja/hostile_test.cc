// Goal: no template takes more than bounded time, memory and stack, and each says what it hit. Method: templates that
// try: endless recursion, doubling, nesting, huge ranges, widths and sources. Nothing is timed; a test that hangs fails
// by the limit of the runner.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "ekvi/chat_template.h"
#include "ekvi/error.h"
#include "jinja/jinja_testing.h"

namespace ekvi::jinja {
namespace {

using testing::Render;

std::string Repeat(std::string_view text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

void ExpectRefused(const std::string& source, ErrorCode code, std::string_view says) {
  try {
    const std::string text = Render(source);
    ADD_FAILURE() << source.substr(0, 100) << " gives " << text.size() << " bytes";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(error.summary().find(says), std::string::npos) << source.substr(0, 100) << ": " << error.what();
  }
}

TEST(HostileTemplates, EndlessRecursionEnds) {
  for (const char* source : {
           "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
           "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
           "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
           "{% macro m(f) %}{{ f(f) }}{% endmacro %}{{ m(m) }}",
           "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}",
           "{% macro m(x=m()) %}{% endmacro %}{{ m() }}",
           "{% set n = namespace() %}{% set n.n = n %}{{ n }}",
       }) {
    ExpectRefused(source, ErrorCode::kUnsupported, "nests more than");
  }
}

TEST(HostileTemplates, WorkEnds) {
  const std::string loop = "{% for x in range(100000) %}";
  ExpectRefused(loop + loop + "{% endfor %}{% endfor %}", ErrorCode::kUnsupported, "million steps");
  ExpectRefused("{% set n = namespace(l=[]) %}" + loop + "{% set n.l = n.l + [x] %}{% endfor %}",
                ErrorCode::kUnsupported, "more than");
  ExpectRefused("{% set s = 'a' * 10000000 %}" + loop + "{% set _ = s|upper %}{% endfor %}", ErrorCode::kUnsupported,
                "more than");
  ExpectRefused("{% set s = 'a' * 1000000 %}" + loop + "{{ s.strip(s) }}{% endfor %}", ErrorCode::kUnsupported,
                "million steps");
  // Whatever a function does with a text, it is charged for the text's length.
  for (const std::string_view call :
       {"s|int", "s|trim", "s|float", "d[s]", "d|attr(s)", "s.removeprefix(t)", "s == t", "s < t", "s.isdigit()",
        "strftime_now(s)", "s|wordcount", "t in [s]", "s|title"}) {
    ExpectRefused("{% set s = ' ' * 5000000 %}{% set t = ' ' * 4999999 ~ 'b' %}{% set d = {'b': 1} %}" + loop +
                      "{% set x = " + std::string(call) + " %}{% endfor %}",
                  ErrorCode::kUnsupported, "million steps");
  }
  ExpectRefused("{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
                ErrorCode::kUnsupported, "million steps");
}

TEST(HostileTemplates, MemoryIsBounded) {
  for (const char* source : {
           "{{ 'a' * 100000000000 }}",
           "{{ 'abc' * 9223372036854775807 }}",
           "{{ [0] * 100000000000 }}",
           "{{ [0, 1] * 9223372036854775807 }}",
           "{{ 'a'.center(99999999999) }}",
           "{{ 'a'.zfill(99999999999) }}",
           "{{ '\t'.expandtabs(99999999999) }}",
           "{{ '%99999999999d' % 1 }}",
           "{{ '{:99999999999}'.format(1) }}",
           "{{ 1|round(999999999999)|string ~ ('a' * 99999999)|indent(9999999999) }}",
           "{{ [1]|batch(99999999999, 0)|list }}",
           "{{ [1]|slice(99999999999)|list }}",
           "{{ [[1]]|tojson(indent=99999999999) }}",
           "{% set n = namespace(s='aaaaaaaa') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
           "{% set n = namespace(s='aaaaaaaa') %}{% for i in range(99) %}{% set n.s = n.s.replace('a', n.s) %}{% "
           "endfor %}",
           "{% set n = namespace(s=['aaaaaaaa']) %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}",
           "{% set n = namespace(s=[1]) %}{% for i in range(90) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}",
           "{% set n = namespace(s=[1], t=[1]) %}{% for i in range(90) %}{% set n.s = [n.s, n.s] %}"
           "{% set n.t = [n.t, n.t] %}{% endfor %}{{ n.s == n.t }}",
           "{% set n = namespace(s=[1]) %}{% for i in range(90) %}{% set n.s = {'a': n.s, 'b': n.s} %}{% endfor %}{{ "
           "n.s|tojson }}",
           "{% set n = namespace(s=(1,)) %}{% for i in range(90) %}{% set n.s = (n.s, n.s) %}{% endfor %}{{ {n.s: 1} "
           "}}",
           "{% set n = namespace(s={}) %}{% for i in range(100000) %}{% set n.s = dict(n.s, **{i|string: 'a' * 9999}) "
           "%}{% endfor %}",
           "{% for i in range(100000) %}{{ 'a' * 10000 }}{% endfor %}",
           "{% set s %}{% for i in range(100000) %}{{ 'a' * 10000 }}{% endfor %}{% endset %}",
       }) {
    ExpectRefused(source, ErrorCode::kUnsupported, "more than");
  }
  ExpectRefused("{{ range(999999999999)|list }}", ErrorCode::kCorrupt, "Range too big");
  ExpectRefused("{{ 9223372036854775807 + 1 }}", ErrorCode::kUnsupported, "64 bits");
  ExpectRefused("{{ 10 ** 100 }}", ErrorCode::kUnsupported, "64 bits");
}

TEST(HostileTemplates, ValuesNestToALimit) {
  const std::string begin = "{% set n = namespace(s=[1]) %}{% for i in range(100000) %}{% set n.s = ";
  for (const char* wrap :
       {"[n.s]", "(n.s,)", "{'a': n.s}", "[n.s]|map('list')", "[n.s.count]", "cycler(n.s)", "[[n.s]|batch(1)]"}) {
    ExpectRefused(begin + wrap + " %}{% endfor %}", ErrorCode::kUnsupported, "nest more than");
  }
  // Namespaces in namespaces, macros and loops that hold each other: however many, they are let go one by one.
  EXPECT_EQ(
      Render("{% set n = namespace(a=1) %}{% for i in range(100000) %}{% set n.a = namespace(b=n.a) %}{% endfor %}"),
      "");
  EXPECT_EQ(Render("{% set n = namespace() %}{% for i in range(50000) %}{% macro m() %}{{ n }}{% endmacro %}"
                   "{% set n.m = m %}{% set n.loop = loop %}{% set _ = loop.changed(loop, n) %}{% endfor %}"),
            "");
}

TEST(HostileTemplates, SourcesNestToALimit) {
  const std::pair<const char*, const char*> brackets[] = {
      {"(", ")"}, {"[", "]"}, {"{1:", "}"}, {"-", ""}, {"not ", ""}, {"a[", "]"}, {"f(", ")"}, {"'a' if x else ", ""}};
  for (const auto& [open, close] : brackets) {
    ExpectRefused("{{ " + Repeat(open, 100000) + "1" + Repeat(close, 100000) + " }}", ErrorCode::kUnsupported,
                  "more than");
  }
  for (const char* open : {"{% if x %}", "{% for x in y %}", "{% macro m() %}", "{% set x %}", "{% filter upper %}",
                           "{% call m() %}", "{% with %}", "{% generation %}", "{% block b %}"}) {
    ExpectRefused(Repeat(open, 100000), ErrorCode::kUnsupported, "more than");
  }
  for (const char* chain : {"+1", "|upper", ".a", "[0]", "()", " and 1", " or 1", " if x", "**1"}) {
    ExpectRefused("{{ x" + Repeat(chain, 100000) + " }}", ErrorCode::kUnsupported, "more than");
  }
}

TEST(HostileTemplates, LongSourcesTakeLinearTime) {
  constexpr size_t kMegabyte = size_t{1} << 20;
  EXPECT_EQ(Render(std::string(kMegabyte, 'a')).size(), kMegabyte);
}

TEST(HostileTemplates, LongRunsOfOneThingEnd) {
  constexpr size_t kCount = 50000;
  for (const char* part : {"{{ 1 }}", "{% set a = 1 %}", "{# #}", "{%- if 1 -%} {%- endif -%}",
                           "\n  {% if 1 %}\n{% endif %}", "{% raw %}{% endraw %}", " {{- '' -}} ", "{% set", "{{ 'a",
                           "{#", "{% raw %}", "}}", "%}", "\n", "\r\n", "{{ (", "{% for", "{{ 1 ~ ", "{{ '\\"}) {
    try {
      Render(Repeat(part, kCount));
    } catch (const Error& error) {
      EXPECT_NE(error.summary(), "");
    }
  }
  EXPECT_EQ(Render("{{ 1" + Repeat(" ~ 1", kCount) + " }}").size(), kCount + 1);
  EXPECT_EQ(Render("{{ [1" + Repeat(",1", kCount) + "]|length }}"), std::to_string(kCount + 1));
  EXPECT_EQ(Render("{% if 0 %}" + Repeat("{% elif 0 %}", kCount) + "{% else %}a{% endif %}"), "a");
  std::string variables;
  for (size_t i = 0; i < kCount; ++i) variables += "{% set v" + std::to_string(i) + " = 1 %}";
  EXPECT_EQ(Render(variables + "{{ v0 + v" + std::to_string(kCount - 1) + " }}"), "2");
}

TEST(HostileTemplates, SearchIsLinear) {
  const std::string set = "{% set s = 'a' * 4000000 %}{% set p = 'a' * 1000000 ~ 'b' %}";
  EXPECT_EQ(Render(set + "{{ s.find(p) }}{{ s.rfind('b' ~ p) }}{{ p in s }}{{ s.count(p) }}{{ s.split(p)|length }}"),
            "-1-1False01");
}

TEST(HostileTemplates, InputNestsToALimit) {
  const std::string deep = "{\"a\": " + Repeat("[", 100000) + Repeat("]", 100000) + "}";
  try {
    Render("{{ a }}", deep);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(error.summary().find("nests more than 200"), std::string::npos) << error.what();
  }
}

TEST(HostileTemplates, RecursionFitsASmallStack) {
  // 1,500 nested evaluations of the costliest kinds, on the 8 MiB that threads have; sanitizers take several times more
  // than a release.
  std::thread([] {
    ExpectRefused(
        "{% macro m(x) %}{% for a in [1] %}{% if a %}{{ [x, (m(x)|upper ~ 'a')]|join }}{% endif %}{% endfor %}"
        "{% endmacro %}{{ m(1) }}",
        ErrorCode::kUnsupported, "nests more than");
  }).join();
}

}  // namespace
}  // namespace ekvi::jinja
