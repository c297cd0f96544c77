// Goal: expressions give what Jinja2 gives. Method: tables whose right side was printed by Jinja2 3.1.6,
// restricted and set up as transformers does it, for the variables of jinja_testing.cc.
#include <gtest/gtest.h>

#include "jinja/jinja_testing.h"

namespace ekvi::jinja {
namespace {

using testing::ExpectAll;
using testing::ExpectFailures;

TEST(Expressions, ReplacingAndCutting) {
  ExpectAll({
      {R"(s|replace('l','L'))", R"(HeLLo, WorLd)"},
      {R"(s|replace('l','L',1))", R"(HeLlo, World)"},
      {R"(s|replace('','-'))", R"(-H-e-l-l-o-,- -W-o-r-l-d-)"},
      {R"(s|trim)", R"(Hello, World)"},
      {R"(ws|trim)", R"(a b  c)"},
      {R"('xxaxx'|trim('x'))", R"(a)"},
      {R"(s|truncate(5))", R"(He...)"},
      {R"(s|truncate(9,true))", R"(Hello, World)"},
      {R"(('word '*60)|truncate)",
       "word word word word word word word word word word word word word word word word word"
       " word word word word word word word word word word word word word word word word wor"
       "d word word word word word word word word word word word word word word word word..."},
      {R"(('word '*60)|truncate(20,false,'~',0))", R"(word word word~)"},
      {R"(s|wordcount)", R"(2)"},
      {R"('a-b c_d 12'|wordcount)", R"(4)"},
      {R"(s|center(20))", R"(    Hello, World    )"},
      {R"(s|center(21))", R"(     Hello, World    )"},
      {R"(multi|indent)", "one\n    two\n\n    three\n    four"},
      {R"(multi|indent(2,true))", "  one\n  two\n\n  three\n  four"},
      {R"(multi|indent('> ',blank=true))", "one\n> two\n> \n> three\n> four"},
      {R"(multi|indent(width=3,first=true))", "   one\n   two\n\n   three\n   four"},
      {R"(e|indent)", R"()"},
      {R"(s|format)", R"(Hello, World)"},
      {R"('%s-%s'|format(1,'a'))", R"(1-a)"},
      {R"('%(a)s'|format(a=3))", R"(3)"},
  });
}

TEST(Expressions, Numbers) {
  ExpectAll({
      {R"('3'|int)", R"(3)"},
      {R"('3.7'|int)", R"(3)"},
      {R"('abc'|int)", R"(0)"},
      {R"('abc'|int(5))", R"(5)"},
      {R"('0x1f'|int(base=16))", R"(31)"},
      {R"('ff'|int(0,16))", R"(255)"},
      {R"(' 12 '|int)", R"(12)"},
      {R"('1_000'|int)", R"(1000)"},
      {R"(3.99|int)", R"(3)"},
      {R"(-3.99|int)", R"(-3)"},
      {R"(n|int)", R"(0)"},
      {R"(t|int)", R"(1)"},
      {R"('1e3'|int)", R"(1000)"},
      {R"(l|int)", R"(0)"},
      {R"('3.5'|float)", R"(3.5)"},
      {R"('x'|float)", R"(0.0)"},
      {R"('x'|float(1.5))", R"(1.5)"},
      {R"('1e3'|float)", R"(1000.0)"},
      {R"('inf'|float)", R"(inf)"},
      {R"('nan'|float)", R"(nan)"},
      {R"(i|float)", R"(7.0)"},
      {R"(' 3 '|float)", R"(3.0)"},
      {R"('1_0.5'|float)", R"(10.5)"},
      {R"(2.5|round)", R"(2.0)"},
      {R"(3.5|round)", R"(4.0)"},
      {R"(2.675|round(2))", R"(2.67)"},
      {R"(1234|round(-2))", R"(1200)"},
      {R"(1250|round(-2))", R"(1200)"},
      {R"(1350|round(-2))", R"(1400)"},
      {R"(2.1|round(0,'ceil'))", R"(3.0)"},
      {R"(2.9|round(0,'floor'))", R"(2.0)"},
      {R"(2.123|round(2,'ceil'))", R"(2.13)"},
      {R"(-2.5|round)", R"(-2.0)"},
      {R"(0.5|round)", R"(0.0)"},
      {R"(i|round)", R"(7)"},
      {R"(1e20|round)", R"(1e+20)"},
      {R"(j|abs)", R"(3)"},
      {R"(y|abs)", R"(0.1)"},
      {R"(t|abs)", R"(1)"},
  });
}

TEST(Expressions, Strings) {
  ExpectAll({
      {R"(i|string)", R"(7)"},
      {R"(x|string)", R"(2.5)"},
      {R"(l|string)", R"([3, 1, 2])"},
      {R"(s|string)", R"(Hello, World)"},
      {R"(n|string)", R"(None)"},
      {R"(t|string)", R"(True)"},
      {R"(d|string)", R"({'b': 1, 'a': 'x', 'C': None, 'items': 5})"},
      {R"(s|list)", "['H', 'e', 'l', 'l', 'o', ',', ' ', 'W', 'o', 'r', 'l', 'd']"},
      {R"(d|list)", R"(['b', 'a', 'C', 'items'])"},
      {R"(u|list)", "['h', 'é', 'l', 'l', 'o', ' ', '☃', ' ', '日', '本', ' ', 'ß']"},
      {R"(range(3))", R"(range(0, 3))"},
      {R"(range(3)|list)", R"([0, 1, 2])"},
      {R"(range(1,10,3)|list)", R"([1, 4, 7])"},
      {R"(range(5,0,-2)|list)", R"([5, 3, 1])"},
      {R"(range(0))", R"(range(0, 0))"},
      {R"(range(3)|length)", R"(3)"},
      {R"(range(10)[2:5])", R"(range(2, 5))"},
      {R"(range(10)[-1])", R"(9)"},
      {R"(range(3)==range(3))", R"(True)"},
      {R"(2 in range(3))", R"(True)"},
      {R"(range(1,7,2))", R"(range(1, 7, 2))"},
  });
}

TEST(Expressions, StringsFail) {
  ExpectFailures({
      R"(range(100001)|length)",
  });
}

TEST(Expressions, Json) {
  ExpectAll({
      {R"(s|tojson)", R"("Hello, World")"},
      {R"(d|tojson)", R"({"b": 1, "a": "x", "C": null, "items": 5})"},
      {R"(ld|tojson)",
       "[{\"role\": \"user\", \"content\": \"hi\", \"n\": 2}, {\"role\": \"assistant\", \"content\": \"Yo\", \""
       "n\": 1}, {\"role\": \"user\", \"content\": \"<b>\", \"n\": 3}]"},
      {R"(nest|tojson(indent=2))",
       "{\n  \"a\": {\n    \"b\": [\n      1,\n      {\n        \"c\": \"deep\"\n      }\n    ]\n  }\n}"},
      {R"(nest|tojson(indent=4))",
       "{\n    \"a\": {\n        \"b\": [\n            1,\n            {\n                \"c\": \"deep\""
       "\n            }\n        ]\n    }\n}"},
      {R"(fl|tojson)", "[1.0, 2.5, 1e+16, 1e-05, 1e+22, 123456789.123, 0.1, 0.3333333333333333]"},
      {R"(u|tojson)", R"("héllo ☃ 日本 ß")"},
      {R"(u|tojson(ensure_ascii=true))", R"("h\u00e9llo \u2603 \u65e5\u672c \u00df")"},
      {R"(bs|tojson)", R"("back\\slash \"q\" 's'")"},
      {R"(multi|tojson)", R"("one\ntwo\n\nthree\r\nfour")"},
      {R"(n|tojson)", R"(null)"},
      {R"(t|tojson)", R"(true)"},
      {R"([]|tojson(indent=2))", R"([])"},
      {R"({}|tojson(indent=2))", R"({})"},
      {R"([[],{}]|tojson(indent=1))", "[\n [],\n {}\n]"},
      {R"((1,2)|tojson)", R"([1, 2])"},
      {R"(d|tojson(sort_keys=true))", R"({"C": null, "a": "x", "b": 1, "items": 5})"},
      {R"(d|tojson(separators=(',',':')))", R"({"b":1,"a":"x","C":null,"items":5})"},
      {R"(nest|tojson(indent='--'))",
       "{\n--\"a\": {\n----\"b\": [\n------1,\n------{\n--------\"c\": \"deep\"\n------}\n----]\n--}\n}"},
      {R"({1:2,none:3,true:4,1.5:5}|tojson)", R"({"1": 4, "null": 3, "1.5": 5})"},
      {R"("😀"|tojson(ensure_ascii=true))", R"("\ud83d\ude00")"},
      {R"(1e400|tojson)", R"(Infinity)"},
      {R"({'a':1e16}|tojson)", R"({"a": 1e+16})"},
  });
}

TEST(Expressions, JsonFail) {
  ExpectFailures({
      R"(undefined_name|tojson)",
      R"(range(3)|tojson)",
  });
}

TEST(Expressions, Escaping) {
  ExpectAll({
      {R"(s|e)", R"(Hello, World)"},
      {R"('<a href="x">&\'</a>'|escape)", "&lt;a href=&#34;x&#34;&gt;&amp;&#39;&lt;/a&gt;"},
      {R"('<b>'|safe)", R"(<b>)"},
      {R"(('<b>'|safe)+'<i>')", R"(<b>&lt;i&gt;)"},
      {R"(('<b>'|e)+'<i>')", R"(&lt;b&gt;&lt;i&gt;)"},
      {R"('<b>'|e|e)", R"(&lt;b&gt;)"},
      {R"('<b>'|forceescape)", R"(&lt;b&gt;)"},
      {R"('<p>a  <b>c</b>\n d</p>'|striptags)", R"(a c d)"},
      {R"('a b/c?d=é&'|urlencode)", R"(a%20b/c%3Fd%3D%C3%A9%26)"},
      {R"({'a b':1,'c':'d/e'}|urlencode)", R"(a+b=1&c=d%2Fe)"},
      {R"(1000000|filesizeformat)", R"(1.0 MB)"},
      {R"(1|filesizeformat)", R"(1 Byte)"},
      {R"(999|filesizeformat)", R"(999 Bytes)"},
      {R"(1500|filesizeformat)", R"(1.5 kB)"},
      {R"(1500|filesizeformat(true))", R"(1.5 KiB)"},
      {R"(1e30|filesizeformat)", R"(1000000.0 YB)"},
  });
}

TEST(Expressions, Tests) {
  ExpectAll({
      {R"(s is string)", R"(True)"},
      {R"(i is number)", R"(True)"},
      {R"(x is number)", R"(True)"},
      {R"(t is number)", R"(True)"},
      {R"(t is integer)", R"(False)"},
      {R"(i is integer)", R"(True)"},
      {R"(x is float)", R"(True)"},
      {R"(t is boolean)", R"(True)"},
      {R"(n is none)", R"(True)"},
      {R"(d is mapping)", R"(True)"},
      {R"(l is sequence)", R"(True)"},
      {R"(s is sequence)", R"(True)"},
      {R"(d is sequence)", R"(True)"},
      {R"(l is iterable)", R"(True)"},
      {R"(i is iterable)", R"(False)"},
      {R"(s is iterable)", R"(True)"},
      {R"(range is callable)", R"(True)"},
      {R"(s is callable)", R"(False)"},
      {R"(3 is odd)", R"(True)"},
      {R"(4 is even)", R"(True)"},
      {R"(6 is divisibleby 3)", R"(True)"},
      {R"(6 is divisibleby(4))", R"(False)"},
      {R"('a' is lower)", R"(True)"},
      {R"('A' is upper)", R"(True)"},
      {R"('' is lower)", R"(False)"},
      {R"('1' is upper)", R"(False)"},
      {R"(i is sameas i)", R"(True)"},
      {R"(i is eq 7)", R"(True)"},
      {R"(i is ne 7)", R"(False)"},
      {R"(i is gt 5)", R"(True)"},
      {R"(i is lt 5)", R"(False)"},
      {R"(i is ge 7)", R"(True)"},
      {R"(i is le 6)", R"(False)"},
      {R"(3 is in l)", R"(True)"},
      {R"(s is in ['Hello, World'])", R"(True)"},
      {R"(n is not none)", R"(False)"},
      {R"(i is not string)", R"(True)"},
      {R"(t is true)", R"(True)"},
      {R"(1 is true)", R"(False)"},
      {R"(f is false)", R"(True)"},
      {R"(0 is false)", R"(False)"},
      {R"('upper' is filter)", R"(True)"},
      {R"('nope' is filter)", R"(False)"},
      {R"('odd' is test)", R"(True)"},
      {R"(d.items() is sequence)", R"(False)"},
      {R"(d.items() is iterable)", R"(True)"},
      {R"(l|map('upper') is iterable)", R"(True)"},
      {R"(l|map('upper') is sequence)", R"(False)"},
  });
}

TEST(Expressions, TestsOfOtherKinds) {
  ExpectAll({
      {R"(undefined_name is sequence)", R"(True)"},
      {R"(undefined_name is iterable)", R"(True)"},
      {R"(undefined_name is string)", R"(False)"},
      {R"((1,2) is sequence)", R"(True)"},
      {R"(s|e is escaped)", R"(True)"},
      {R"(n is mapping)", R"(False)"},
  });
}

}  // namespace
}  // namespace ekvi::jinja
