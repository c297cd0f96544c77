#!/usr/bin/env python3
"""Tests tools/tidy.py: a small clean tree has no finding, and each fault put into it is found, with its line.

The outline of C++ functions is tested on the shapes that this repository uses.
"""

import tempfile
import unittest
from pathlib import Path

import cpp_outline
import tidy

HEADER = "// A thing, and why.\n#pragma once\n"
CLEAN = {
    "src/README.md": "Layers.\n",
    "src/cache/README.md": "Caches. Nothing of models.\n",
    "src/cache/pool.h": HEADER + '#include "plan/sizes.h"\n#include "ekvi/cache.h"\n',
    "src/cache/pool_test.cc": '// Goal. Method.\n#include "cache/pool.h"\n#include <gtest/gtest.h>\nTEST(A, B) {}\n',
    "src/cache/refuse.cc": 'void F() {\n  throw Error(ErrorCode::kIo, f(a, b), "", "less");\n}\n',
    "src/cache/refuse_test.cc": '// Goal.\nconst Error kIt(ErrorCode::kIo, "a");\n',
    "include/ekvi/cache.h": HEADER + '#include <cstdint>\n#include "ekvi/dtype.h"\n',
    "examples/README.md": "Examples.\n",
    "examples/attention.cc": "int main() {}\n",
    "README.md": "A [link](src/README.md) and\n```cpp\nint main() {}\n```\n",
}


def nested(depth):
    return "void F() {\n" + "if (a) {\n" * depth + "}\n" * depth + "}\n"


FAULTS = [  # path, text, what the finding says
    ("src/cache/a.cc", '#include "model/weights.h"\n', "src/cache/a.cc:1: includes model/weights.h; cache may include"),
    ("src/engine/a.cc", '#include "kernels/kernels.h"\n', "engine may include"),
    ("src/cli/a.cc", '#include "base/check.h"\n', "cli may include cli and the public headers"),
    ("src/cache/a.cc", '#include "pool.h"\n', "write the path from src/"),
    ("src/cache/a.cc", "#include <immintrin.h>\n", "vector instructions live in src/kernels"),
    ("src/cache/a.h", HEADER + "#include <nlohmann/json.hpp>\n", "a heavy header stays out of headers"),
    ("include/ekvi/a.h", HEADER + "#include <fmt/format.h>\n", "a public header includes the standard library only"),
    ("include/ekvi/a.h", HEADER + '#include "base/check.h"\n', "a public header includes ekvi/"),
    ("include/ekvi/a.h", HEADER + "void F(int a, bool b);\n", "include/ekvi/a.h:3: a bool parameter"),
    ("include/ekvi/a.h", HEADER + "int a;\n" * 300, "302 lines, limit 300 for a public header"),
    ("src/cache/a.h", "int a;\n", "no #pragma once"),
    ("src/cache/a.h", "#pragma once\n", "no opening comment"),
    ("src/cache/a_test.cc", "int a;\n", "no opening comment"),
    ("src/cache/a.cc", "int a;\n" * 501, "501 lines, limit 500 for a source"),
    ("src/cache/a_test.cc", "// Goal.\n" * 801, "801 lines, limit 800 for a test"),
    ("src/cache/a.cc", "void F() {\n" + "a();\n" * 59 + "}\n", "F has 61 lines, limit 60"),
    ("src/kernels/a.cc", "void F() {\n" + "a();\n" * 89 + "}\n", "F has 91 lines, limit 90"),
    ("src/cache/a.cc", "void F(int a, int b, int c, int d, int e, int f, int g) {}\n", "F has 7 parameters, limit 6"),
    ("src/cache/a.cc", nested(5), "F nests 5 deep, limit 4"),
    ("src/cache/a.cc", "int takeBlock() { return 1; }\n", "function takeBlock; use"),
    ("src/cache/a.cc", "struct block_table {\n};\n", "type block_table; use TypeName"),
    ("src/cache/a.h", HEADER + "#define LIMIT 3\n", "macro LIMIT; use a constant"),
    ("src/cache/BlockPool.cc", "int a;\n", "file name BlockPool.cc; use lower_snake_case"),
    ("src/cache/a.cc", 'void F() {\n  throw Error(ErrorCode::kIo, f(a, b), "x, y");\n}\n', "a.cc:2: an Error without"),
    ("src/cli/a.cc", "Error E() {\n  return Error(\n    ErrorCode::kIo, {a, b, c});\n}\n", "a.cc:2: an Error without"),
    ("src/attend/a.cc", "float f = std::exp(x);\n", "std::exp differs between machines"),
    ("src/attend/a.cc", "#pragma omp parallel\n", "has no fixed order"),
    ("src/cache/a.cc", "int a;\tint b;\n", "a tab"),
    ("src/cache/a.cc", "int a; \n", "blanks at the end"),
    ("src/cache/a.cc", "// " + "x" * 118 + "\n", "121 columns, limit 120"),
    ("src/cache/a.cc", "int a;", "no line end"),
    ("src/cache/a.cc", "// TO" + "DO later\n", "do it now"),
    ("src/cache/a.cc", "// see issue " + "12\n", "say what it was about"),
    ("docs/a.md", "in /t" + "mp/x\n", "name a path below the repository"),
    ("docs/a.md", "at py" + "pi.org\n", "name the package"),
    ("docs/a.md", "see [this](nowhere.md)\n", "docs/a.md:1: link to nowhere.md"),
    ("src/plan/a.cc", "int a;\n", "src/plan/README.md:1: missing"),
    ("src/cache/README.md", "line\n" * 16, "16 lines, limit 15"),
    ("examples/attention.cc", "int main() { return 0; }\n", "its block of examples/attention.cc differs"),
    ("examples/attention.cc", "int main() {}\n" * 41, "41 lines, limit 40"),
    ("tools/a.py", "def f():\n" + "    g()\n" * 60, "f has 61 lines, limit 60"),
]


def findings(files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return tidy.findings(Path(folder))


class TidyTest(unittest.TestCase):

    def test_clean_tree_has_no_finding(self):
        self.assertEqual(findings(CLEAN), [])

    def test_each_fault_is_found(self):
        for path, text, expected in FAULTS:
            with self.subTest(expected):
                found = findings({**CLEAN, path: text})
                self.assertTrue(any(expected in line for line in found), found)
                self.assertTrue(all(path in line or "README.md" in line for line in found), found)

    def test_what_is_allowed_is_not_found(self):
        allowed = {
            "src/cache/a.cc": nested(4) + "void G(int a, int b, int c, int d, int e, int f) {}\n",
            "src/cache/a_test.cc": "// std::exp is the reference.\nfloat f = std::exp(x);\n",
            "src/cache/a-inl.h": "// Included per target.\n",
            "include/ekvi/b.h": HEADER + "struct A { bool a = true; bool b() const; };\nbool F(int a);\n",
            "build/a.cc": "int a;\t\n",
            "docs/README.md": "```\n" + "x" * 121 + "\n```\n",
        }
        self.assertEqual(findings({**CLEAN, **allowed}), [])


class OutlineTest(unittest.TestCase):

    def outline(self, text):
        found = cpp_outline.functions(cpp_outline.blank(text))
        return [(f.name, f.line, f.lines, f.parameters, f.depth) for f in found]

    def test_shapes_of_functions(self):
        for text, expected in [
            ("int F() { return 1; }", ("F", 1, 1, 0, 0)),
            ("\n\nint\nF(int a,\n  int b) {\n}\n", ("F", 3, 4, 2, 0)),
            ("namespace a { struct B { int c() const noexcept { return 1; } }; }", ("c", 1, 1, 0, 0)),
            ("A::A(int a) : a_(a), b_{1, 2}, c_(3) { F(); }", ("A", 1, 1, 1, 0)),
            ("A::~A() = default;\nA::~A() { F(); }", ("~A", 2, 1, 0, 0)),
            ("template <typename T, int n>\nauto F(std::map<T, int> a, T b = {1, 2}) -> T {\n}", ("F", 1, 3, 2, 0)),
            ("bool operator==(const A& a, const A& b) { return true; }", ("operator==", 1, 1, 2, 0)),
            ("void operator()(int a) { }", ("operator()", 1, 1, 1, 0)),
            ("constexpr int kA[] = {1, {2}};\nint F(int a) { return kA[a]; }", ("F", 2, 1, 1, 0)),
            ("TEST(A, B_C) { for (int i = 0; i < 3; ++i) { F({1, 2}); } }", ("TEST", 1, 1, 2, 1)),
            ("void F() { Run([&](int a) { if (a) { b = {1}; } }); G(); }", ("F", 1, 1, 0, 2)),
            ("void F() { switch (a) { case 1: { break; } default: { } } }", ("F", 1, 1, 0, 2)),
            ("void F() { if (a) { } else if (b) { } else { } }", ("F", 1, 1, 0, 1)),
            ("void F() { auto s = \"{{{\"; char c = '{'; int n = 1'000'000; /* { */ }  // {", ("F", 1, 1, 0, 0)),
            ("#define EKVI_X(a) \\\n  if (a) {\nvoid F() { }", ("F", 3, 1, 0, 0)),
            ("[[noreturn]] void F(const char* a) { }", ("F", 1, 1, 1, 0)),
        ]:
            with self.subTest(text):
                self.assertEqual(self.outline(text), [expected])

    def test_types_and_variables_are_no_functions(self):
        text = "enum class A : int { kB };\nstruct C : D { int e{1}; int f = 2; };\nA a{B(1)};"
        self.assertEqual(self.outline(text), [])


if __name__ == "__main__":
    unittest.main()
