// Goal: expressions give what Jinja2 gives. Method: tables whose right side was printed by Jinja2 3.1.6,
// restricted and set up as transformers does it, for the variables of jinja_testing.cc.
#include <gtest/gtest.h>

#include "jinja/jinja_testing.h"

namespace ekvi::jinja {
namespace {

using testing::ExpectAll;
using testing::ExpectFailures;

TEST(Expressions, Literals) {
  ExpectAll({
      {R"(n)", R"(None)"},
      {R"(t)", R"(True)"},
      {R"(f)", R"(False)"},
      {R"(i)", R"(7)"},
      {R"(x)", R"(2.5)"},
      {R"(y)", R"(-0.1)"},
      {R"(s)", R"(Hello, World)"},
      {R"(u)", R"(héllo ☃ 日本 ß)"},
      {R"(l)", R"([3, 1, 2])"},
      {R"(ls)", R"(['b', 'A', 'c', 'a'])"},
      {R"(d)", R"({'b': 1, 'a': 'x', 'C': None, 'items': 5})"},
      {R"(ld)",
       "[{'role': 'user', 'content': 'hi', 'n': 2}, {'role': 'assistant', 'content': 'Yo', '"
       "n': 1}, {'role': 'user', 'content': '<b>', 'n': 3}]"},
      {R"(nest)", R"({'a': {'b': [1, {'c': 'deep'}]}})"},
      {R"(fl)", "[1.0, 2.5, 1e+16, 1e-05, 1e+22, 123456789.123, 0.1, 0.3333333333333333]"},
      {R"(bs)", R"(back\slash "q" 's')"},
      {R"(big)", R"(9007199254740993)"},
  });
}

TEST(Expressions, Arithmetic) {
  ExpectAll({
      {R"(-i)", R"(-7)"},
      {R"(+x)", R"(2.5)"},
      {R"(i+j)", R"(4)"},
      {R"(i-x)", R"(4.5)"},
      {R"(i*x)", R"(17.5)"},
      {R"(i/2)", R"(3.5)"},
      {R"(i//2)", R"(3)"},
      {R"(j//2)", R"(-2)"},
      {R"(i%3)", R"(1)"},
      {R"(j%3)", R"(0)"},
      {R"(-7//2)", R"(-4)"},
      {R"(-7%3)", R"(2)"},
      {R"(7%-3)", R"(-2)"},
      {R"(2**10)", R"(1024)"},
      {R"(2**-1)", R"(0.5)"},
      {R"(2.0**3)", R"(8.0)"},
      {R"(-2**2)", R"(4)"},
      {R"(i**0)", R"(1)"},
      {R"(1/3)", R"(0.3333333333333333)"},
      {R"(7.5//2)", R"(3.0)"},
      {R"(-7.5//2)", R"(-4.0)"},
      {R"(7.5%2)", R"(1.5)"},
      {R"(-7.5%2)", R"(0.5)"},
      {R"(x//0.1)", R"(24.0)"},
      {R"(1e300*1e10)", R"(inf)"},
      {R"(-(1e300*1e10))", R"(-inf)"},
      {R"(0.1+0.2)", R"(0.30000000000000004)"},
      {R"(1e16)", R"(1e+16)"},
      {R"(1e15)", R"(1000000000000000.0)"},
      {R"(123456789012345678)", R"(123456789012345678)"},
      {R"(1.0)", R"(1.0)"},
      {R"(100000.0)", R"(100000.0)"},
      {R"(1e-4)", R"(0.0001)"},
      {R"(1e-5)", R"(1e-05)"},
      {R"(1.5e300)", R"(1.5e+300)"},
  });
}

TEST(Expressions, SequenceArithmetic) {
  ExpectAll({
      {R"(t+t)", R"(2)"},
      {R"(t*3)", R"(3)"},
      {R"(i+t)", R"(8)"},
      {R"(s+s)", R"(Hello, WorldHello, World)"},
      {R"(s*2)", R"(Hello, WorldHello, World)"},
      {R"(2*s)", R"(Hello, WorldHello, World)"},
      {R"(l+l)", R"([3, 1, 2, 3, 1, 2])"},
      {R"(l*2)", R"([3, 1, 2, 3, 1, 2])"},
      {R"([1]*3)", R"([1, 1, 1])"},
      {R"((1,2)+(3,))", R"((1, 2, 3))"},
      {R"((1,))", R"((1,))"},
      {R"(())", R"(())"},
      {R"([])", R"([])"},
      {R"({})", R"({})"},
      {R"((1,2)*2)", R"((1, 2, 1, 2))"},
      {R"(s~i~x~n~t)", R"(Hello, World72.5NoneTrue)"},
      {R"('a' 'b')", R"(ab)"},
  });
}

TEST(Expressions, SequenceArithmeticFail) {
  ExpectFailures({
      R"(~1)",
  });
}

TEST(Expressions, Comparisons) {
  ExpectAll({
      {R"(i<j)", R"(False)"},
      {R"(i<=7)", R"(True)"},
      {R"(i==7.0)", R"(True)"},
      {R"(1==true)", R"(True)"},
      {R"('a'<'b')", R"(True)"},
      {R"('a'=='a')", R"(True)"},
      {R"([1,2]<[1,3])", R"(True)"},
      {R"([1]==[1.0])", R"(True)"},
      {R"((1,2)==[1,2])", R"(False)"},
      {R"(1<2<3)", R"(True)"},
      {R"(1<2>3)", R"(False)"},
      {R"(n==none)", R"(True)"},
      {R"(n==f)", R"(False)"},
      {R"(s in 'x')", R"(False)"},
      {R"('Hello' in s)", R"(True)"},
      {R"('a' in d)", R"(True)"},
      {R"('zz' in d)", R"(False)"},
      {R"(3 in l)", R"(True)"},
      {R"(3.0 in l)", R"(True)"},
      {R"(4 not in l)", R"(True)"},
      {R"(not 3 in l)", R"(False)"},
      {R"(n in [none])", R"(True)"},
      {R"({'a':1}=={'a':1.0})", R"(True)"},
      {R"({'a':1,'b':2}=={'b':2,'a':1})", R"(True)"},
  });
}

TEST(Expressions, BooleansGiveOperands) {
  ExpectAll({
      {R"(t and i)", R"(7)"},
      {R"(f and i)", R"(False)"},
      {R"(e or 'default')", R"(default)"},
      {R"(n or z or e)", R"()"},
      {R"(not e)", R"(True)"},
      {R"(not i)", R"(False)"},
      {R"(t and f or s)", R"(Hello, World)"},
      {R"((i if t else j))", R"(7)"},
      {R"((i if f))", R"()"},
      {R"(('x' if e else 'y' if f else 'z'))", R"(z)"},
  });
}

TEST(Expressions, SubscriptsAndSlices) {
  ExpectAll({
      {R"(s[0])", R"(H)"},
      {R"(s[-1])", R"(d)"},
      {R"(s[100])", R"()"},
      {R"(s[1:4])", R"(ell)"},
      {R"(s[::-1])", R"(dlroW ,olleH)"},
      {R"(s[::2])", R"(Hlo ol)"},
      {R"(s[-5:])", R"(World)"},
      {R"(s[:-3])", R"(Hello, Wo)"},
      {R"(u[1])", R"(é)"},
      {R"(u[-1])", R"(ß)"},
      {R"(u[::-1])", R"(ß 本日 ☃ olléh)"},
      {R"(u[1:5])", R"(éllo)"},
      {R"(l[0])", R"(3)"},
      {R"(l[-1])", R"(2)"},
      {R"(l[5])", R"()"},
      {R"(l[1:])", R"([1, 2])"},
      {R"(l[::-1])", R"([2, 1, 3])"},
      {R"(l[:100])", R"([3, 1, 2])"},
      {R"(l[-100:2])", R"([3, 1])"},
      {R"(l[3:1])", R"([])"},
      {R"(l[::-2])", R"([2, 3])"},
      {R"(d['b'])", R"(1)"},
      {R"(d['zz'])", R"()"},
      {R"(d.b)", R"(1)"},
      {R"(d.zz)", R"()"},
      {R"(d['items'])", R"(5)"},
      {R"(nest.a.b[1].c)", R"(deep)"},
      {R"(nest['a']['b'][0])", R"(1)"},
      {R"(ld[0].role)", R"(user)"},
      {R"(ld[-1]['content'])", R"(<b>)"},
      {R"(ld[0].zz)", R"()"},
      {R"(ld[5])", R"()"},
      {R"(l.0)", R"(3)"},
      {R"(tup[0][1])", R"(a)"},
      {R"(tup.1.0)", R"(2)"},
  });
}

TEST(Expressions, Undefined) {
  ExpectAll({
      {R"(undefined_name)", R"()"},
      {R"(undefined_name|default('q'))", R"(q)"},
      {R"(undefined_name is defined)", R"(False)"},
      {R"(undefined_name is undefined)", R"(True)"},
      {R"(undefined_name == undefined_name2)", R"(True)"},
      {R"(undefined_name|length)", R"(0)"},
      {R"(undefined_name|list)", R"([])"},
      {R"(undefined_name ~ 'x')", R"(x)"},
      {R"(not undefined_name)", R"(True)"},
      {R"(undefined_name or 5)", R"(5)"},
      {R"(undefined_name in [1])", R"(False)"},
  });
}

TEST(Expressions, UndefinedFail) {
  ExpectFailures({
      R"(undefined_name.x)",
      R"(undefined_name['x'])",
      R"(d.zz.y)",
      R"(undefined_name + 1)",
      R"(undefined_name())",
  });
}

TEST(Expressions, TextFilters) {
  ExpectAll({
      {R"(s|upper)", R"(HELLO, WORLD)"},
      {R"(s|lower)", R"(hello, world)"},
      {R"(s|title)", R"(Hello, World)"},
      {R"(u|upper)", R"(HÉLLO ☃ 日本 SS)"},
      {R"(u|title)", R"(Héllo ☃ 日本 SS)"},
      {R"(u|capitalize)", R"(Héllo ☃ 日本 ß)"},
      {R"(s|capitalize)", R"(Hello, world)"},
      {R"('hello-world foo_bar (baz) [qux]'|title)", R"(Hello-World Foo_bar (Baz) [Qux])"},
      {R"('HELLO wORLD'.title())", R"(Hello World)"},
      {R"("it's a dog's".title())", R"(It'S A Dog'S)"},
      {R"("it's a dog's"|title)", R"(It's A Dog's)"},
      {R"(s|length)", R"(12)"},
      {R"(u|length)", R"(12)"},
      {R"(l|length)", R"(3)"},
      {R"(d|length)", R"(4)"},
      {R"(s|reverse)", R"(dlroW ,olleH)"},
      {R"(l|reverse|list)", R"([2, 1, 3])"},
      {R"(u|reverse)", R"(ß 本日 ☃ olléh)"},
      {R"(s|first)", R"(H)"},
      {R"(s|last)", R"(d)"},
      {R"(u|last)", R"(ß)"},
      {R"(l|first)", R"(3)"},
      {R"(l|last)", R"(2)"},
      {R"(le|first)", R"()"},
      {R"(le|last)", R"()"},
      {R"(d|first)", R"(b)"},
      {R"(e|first)", R"()"},
  });
}

TEST(Expressions, OrderingFilters) {
  ExpectAll({
      {R"(l|sort)", R"([1, 2, 3])"},
      {R"(ls|sort)", R"(['A', 'a', 'b', 'c'])"},
      {R"(ls|sort(case_sensitive=true))", R"(['A', 'a', 'b', 'c'])"},
      {R"(ls|sort(reverse=true))", R"(['c', 'b', 'A', 'a'])"},
      {R"(ld|sort(attribute='n'))",
       "[{'role': 'assistant', 'content': 'Yo', 'n': 1}, {'role': 'user', 'content': 'hi', '"
       "n': 2}, {'role': 'user', 'content': '<b>', 'n': 3}]"},
      {R"(ld|sort(attribute='role,n'))",
       "[{'role': 'assistant', 'content': 'Yo', 'n': 1}, {'role': 'user', 'content': 'hi', '"
       "n': 2}, {'role': 'user', 'content': '<b>', 'n': 3}]"},
      {"ld|sort(attribute='n',reverse=true)|map(attribute='content')|list", R"(['<b>', 'hi', 'Yo'])"},
      {R"(l|sum)", R"(6)"},
      {R"(ld|sum(attribute='n'))", R"(6)"},
      {R"(l|sum(start=10))", R"(16)"},
      {R"(fl|sum)", R"(1.0000010000000124e+22)"},
      {R"(l|min)", R"(1)"},
      {R"(l|max)", R"(3)"},
      {R"(ls|min)", R"(A)"},
      {R"(ls|max)", R"(c)"},
      {R"(ld|max(attribute='n'))", R"({'role': 'user', 'content': '<b>', 'n': 3})"},
      {R"(le|max)", R"()"},
      {R"(le|sum)", R"(0)"},
      {R"(s|sort)", "[' ', ',', 'd', 'e', 'H', 'l', 'l', 'l', 'o', 'o', 'r', 'W']"},
      {R"(d|dictsort)", "[('a', 'x'), ('b', 1), ('C', None), ('items', 5)]"},
      {"{'b':2,'a':1,'C':0}|dictsort(case_sensitive=true)", R"([('C', 0), ('a', 1), ('b', 2)])"},
      {"{'b':2,'a':3,'C':0}|dictsort(by='value',reverse=true)", R"([('a', 3), ('b', 2), ('C', 0)])"},
      {R"({'b':2,'a':1}|dictsort(false,'value'))", R"([('a', 1), ('b', 2)])"},
  });
}

TEST(Expressions, OrderingFiltersFail) {
  ExpectFailures({
      R"(d|dictsort(by='value'))",
  });
}

TEST(Expressions, Joining) {
  ExpectAll({
      {R"(ls|join)", R"(bAca)"},
      {R"(ls|join(', '))", R"(b, A, c, a)"},
      {R"(l|join('-'))", R"(3-1-2)"},
      {R"(ld|join(',',attribute='role'))", R"(user,assistant,user)"},
      {R"(s|join('.'))", R"(H.e.l.l.o.,. .W.o.r.l.d)"},
      {R"(d|join(','))", R"(b,a,C,items)"},
      {R"([1,none,true,2.0]|join('|'))", R"(1|None|True|2.0)"},
      {R"(le|join)", R"()"},
  });
}

TEST(Expressions, Mapping) {
  ExpectAll({
      {R"(ld|map(attribute='role')|list)", R"(['user', 'assistant', 'user'])"},
      {R"(ld|map('length')|list)", R"([3, 3, 3])"},
      {R"(ls|map('upper')|list)", R"(['B', 'A', 'C', 'A'])"},
      {R"(ls|map('default','x')|list)", R"(['b', 'A', 'c', 'a'])"},
      {R"(ld|map(attribute='zz',default='D')|list)", R"(['D', 'D', 'D'])"},
      {R"(ld|map(attribute='zz')|list)", R"([Undefined, Undefined, Undefined])"},
      {R"(l|map('string')|join)", R"(312)"},
      {R"(ls|map('replace','a','X')|list)", R"(['b', 'A', 'c', 'X'])"},
  });
}

TEST(Expressions, Selecting) {
  ExpectAll({
      {R"(ld|selectattr('role','equalto','user')|list)",
       "[{'role': 'user', 'content': 'hi', 'n': 2}, {'role': 'user', 'content': '<b>', 'n': "
       "3}]"},
      {R"(ld|selectattr('role')|list)",
       "[{'role': 'user', 'content': 'hi', 'n': 2}, {'role': 'assistant', 'content': 'Yo', '"
       "n': 1}, {'role': 'user', 'content': '<b>', 'n': 3}]"},
      {R"(ld|selectattr('zz','defined')|list)", R"([])"},
      {"ld|rejectattr('role','==','user')|map(attribute='content')|join", R"(Yo)"},
      {R"(ld|selectattr('n','gt',1)|list|length)", R"(2)"},
      {R"(ld|selectattr('n','in',[1,2])|list)",
       "[{'role': 'user', 'content': 'hi', 'n': 2}, {'role': 'assistant', 'content': 'Yo', '"
       "n': 1}]"},
      {R"(l|select('odd')|list)", R"([3, 1])"},
      {R"(l|reject('odd')|list)", R"([2])"},
      {R"(l|select|list)", R"([3, 1, 2])"},
      {R"([0,1,'',none,2]|select|list)", R"([1, 2])"},
      {R"([0,1,'']|reject|list)", R"([0, ''])"},
      {R"(l|select('gt',1)|list)", R"([3, 2])"},
      {R"(l|select('divisibleby',3)|list)", R"([3])"},
      {R"(ld|selectattr('role','eq','user')|first)", R"({'role': 'user', 'content': 'hi', 'n': 2})"},
      {R"(ld|selectattr('role','eq','zz')|first)", R"()"},
  });
}

TEST(Expressions, Grouping) {
  ExpectAll({
      {R"(ld|groupby('role'))",
       "[('assistant', [{'role': 'assistant', 'content': 'Yo', 'n': 1}]), ('user', [{'role':"
       " 'user', 'content': 'hi', 'n': 2}, {'role': 'user', 'content': '<b>', 'n': 3}])]"},
      {R"(ld|groupby('role')|map('last')|list)",
       "[[{'role': 'assistant', 'content': 'Yo', 'n': 1}], [{'role': 'user', 'content': 'hi'"
       ", 'n': 2}, {'role': 'user', 'content': '<b>', 'n': 3}]]"},
      {R"(ld|groupby('zz',default='q'))",
       "[('q', [{'role': 'user', 'content': 'hi', 'n': 2}, {'role': 'assistant', 'content': "
       "'Yo', 'n': 1}, {'role': 'user', 'content': '<b>', 'n': 3}])]"},
      {R"(ls|unique|list)", R"(['b', 'A', 'c'])"},
      {R"(['a','A','b']|unique|list)", R"(['a', 'b'])"},
      {"['a','A','b']|unique(case_sensitive=true)|list", R"(['a', 'A', 'b'])"},
      {R"(ld|unique(attribute='role')|list)",
       "[{'role': 'user', 'content': 'hi', 'n': 2}, {'role': 'assistant', 'content': 'Yo', '"
       "n': 1}]"},
      {R"(l|batch(2)|list)", R"([[3, 1], [2]])"},
      {R"(l|batch(2,'x')|list)", R"([[3, 1], [2, 'x']])"},
      {R"([1,2,3,4,5,6,7]|slice(3)|list)", R"([[1, 2, 3], [4, 5], [6, 7]])"},
      {R"([1,2,3,4,5,6,7]|slice(3,'x')|list)", R"([[1, 2, 3], [4, 5, 'x'], [6, 7, 'x']])"},
  });
}

TEST(Expressions, Dicts) {
  ExpectAll({
      {R"(d|items|list)", "[('b', 1), ('a', 'x'), ('C', None), ('items', 5)]"},
      {R"(d.items())", "dict_items([('b', 1), ('a', 'x'), ('C', None), ('items', 5)])"},
      {R"(d.keys())", R"(dict_keys(['b', 'a', 'C', 'items']))"},
      {R"(d.values())", R"(dict_values([1, 'x', None, 5]))"},
      {R"(d.items()|list)", "[('b', 1), ('a', 'x'), ('C', None), ('items', 5)]"},
      {R"(d.keys()|list)", R"(['b', 'a', 'C', 'items'])"},
      {R"(d.get('b'))", R"(1)"},
      {R"(d.get('q'))", R"(None)"},
      {R"(d.get('q',5))", R"(5)"},
      {R"(d.get('C',5))", R"(None)"},
      {R"(d.copy())", R"({'b': 1, 'a': 'x', 'C': None, 'items': 5})"},
      {R"(dict(a=1,b=2))", R"({'a': 1, 'b': 2})"},
      {R"(dict(d,z=1))", "{'b': 1, 'a': 'x', 'C': None, 'items': 5, 'z': 1}"},
      {R"(d.items()|length)", R"(4)"},
      {R"(d.items()|first)", R"(('b', 1))"},
      {R"(d.keys()|join(','))", R"(b,a,C,items)"},
  });
}

}  // namespace
}  // namespace ekvi::jinja
