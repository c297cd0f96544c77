#!/usr/bin/env python3
"""What a program can check of this repository's taste: includes, sizes, names, folders, words, documents.

Prints one finding a line (path:line: what; what to do instead) and exits 1; prints nothing and exits 0 when clean.
Usage: tools/tidy.py [ROOT]. The rules are explained in CONTRIBUTING.md.
"""

import ast
import re
import sys
from pathlib import Path, PurePosixPath

import cpp_outline

LAYERS = {  # layer: the layers whose headers it may include beside its own and the public ones
    "base": [],
    "numeric": ["base"],
    "plan": ["numeric", "base"],
    "jinja": ["base"],
    "files": ["numeric", "base"],
    "text": ["files", "numeric", "base"],
    "kernels": ["numeric", "base"],
    "cache": ["plan", "numeric", "base"],
    "attend": ["kernels", "cache", "plan", "numeric", "base"],
    "model": ["text", "files", "attend", "kernels", "cache", "plan", "numeric", "base"],
    "engine": ["cache", "plan", "numeric", "base"],
    "law": ["engine", "model", "text", "files", "attend", "kernels", "cache", "plan", "numeric", "base"],
    "api": ["law", "engine", "model", "text", "jinja", "files", "attend", "kernels", "cache", "plan", "numeric",
            "base"],
    "chat": ["base"],
    "bench": ["api", "law", "engine", "model", "text", "jinja", "files", "attend", "kernels", "cache", "plan",
              "numeric", "base"],
    "cli": [],
}
TEST_HEADERS = {"fuzzing.h", "shared_folder.h", "shared_path.h", "temporary_folder.h"}  # of tests/
TEST_NAME = re.compile(r"(?:^|_)(?:test\.(?:cc|py)|testing\.(?:cc|h)|fuzz\.cc|fuzzing\.h)$")
EXACT_LAYERS = {"numeric", "kernels", "attend", "model", "engine"}  # where bits reach a result
HEAVY = re.compile(r"nlohmann/json\.|fmt/ranges|regex$|iostream$")
SIMD = re.compile(r"(?:\w*intrin|arm_neon|arm_sve)\.h$|hwy/")
SIMD_ELSEWHERE = {"fpenv", "cpu", "convert"}  # the control word, cpuid, and F16C's conversions
MAX_FILE = {"source": 500, "test": 800, "public header": 300}
MAX_COLUMNS, MAX_README, MAX_PARAMETERS, MAX_DEPTH = 120, 15, 6, 4
EXAMPLES = {"examples/attention.cc": 40, "examples/text.cc": 30}
ROOMS = ("src", "tools", "models", "docs", "examples", "tests", "bench")
TEXT = {".h", ".cc", ".py", ".sh", ".cmake", ".md", ".json", ".yml", ".in", ".toml"}
WORDS = [
    (r"\b(?:TO[D]O|FIX[M]E|X[X]X)\b", "do it now, or describe the limit and refuse what lies past it"),
    (r"(?<![\w.~>-])/(?:[w]ork|[t]mp|[h]ome|[r]oot)\b", "name a path below the repository or below EKVI_SHARED"),
    (r"(?i)\b(?:issue|pull request) #?\d+", "say what it was about"),
    (r"(?i)\b(?:[\w-]+\.)*(?:py[p]i|python[h]osted|deb[i]an|npm[j]s)\.(?:org|io)\b", "name the package, not a host"),
]
LIBM = re.compile(r"\bstd::(exp2?|expm1|log(?:2|10|1p)?|pow|sin|cos|tan|sinh|cosh|tanh|erfc?|cbrt|hypot)\s*\(")
UNORDERED = re.compile(r"\bstd::(reduce|transform_reduce|execution)\b|#\s*pragma\s+omp")


class File:
    """A text file: its path from the root, its text, and what it is."""

    def __init__(self, root: Path, path: PurePosixPath):
        self.path, self.name, self.suffix = path, path.name, path.suffix
        self.text = (root / path).read_text(encoding="utf-8", errors="replace")
        self.lines = self.text.split("\n")
        self.is_cpp = self.suffix in {".h", ".cc"}
        self.is_public = path.parts[:2] == ("include", "ekvi")
        self.is_test = bool(TEST_NAME.search(self.name)) or path.parts[0] == "tests"
        self.layer = path.parts[1] if path.parts[0] == "src" and len(path.parts) > 2 else None
        self.code = cpp_outline.blank(self.text) if self.is_cpp else ""

    def line_of(self, match) -> int:
        return match.string.count("\n", 0, match.start()) + 1


# Rules of one file: each yields (line, message).

def lines(file):
    is_markdown, in_fence = file.suffix == ".md", False
    for number, line in enumerate(file.lines, 1):
        in_fence ^= is_markdown and line.startswith("```")
        if "\t" in line:
            yield number, "a tab; use spaces"
        if line != line.rstrip():
            yield number, "blanks at the end of the line; remove them"
        cannot_break = is_markdown and (in_fence or line.startswith("|") or "](" in line or "://" in line)
        if len(line) > MAX_COLUMNS and not cannot_break and file.suffix != ".json":
            yield number, f"{len(line)} columns, limit {MAX_COLUMNS}; break the line"
    if file.text and not file.text.endswith("\n"):
        yield len(file.lines), "no line end at the end of the file; add it"


def words(file):
    for pattern, instead in WORDS:
        for match in re.finditer(pattern, file.text):
            yield file.line_of(match), f'"{match.group(0)}" in the text; {instead}'


def file_size(file):
    if not (file.is_cpp or file.suffix in {".py", ".sh"}):
        return
    kind = "test" if file.is_test else "public header" if file.is_public else "source"
    count = file.text.count("\n")
    if count > MAX_FILE[kind]:
        yield 1, f"{count} lines, limit {MAX_FILE[kind]} for a {kind}; it holds two nouns: give each a file"


def file_name(file):
    if file.suffix in {".h", ".cc", ".py", ".sh"} and not re.fullmatch(r"[a-z][a-z0-9_]*(?:-inl)?\.\w+", file.name):
        yield 1, f"file name {file.name}; use lower_snake_case (-inl.h for vector code only)"


def header(file):
    if file.suffix == ".h" and not file.name.endswith("-inl.h") and "\n#pragma once\n" not in "\n" + file.text:
        yield 1, "no #pragma once; add it after the opening comment"
    if (file.suffix == ".h" or file.name.endswith(("_test.cc", "_fuzz.cc"))) and not file.text.startswith("//"):
        yield 1, "no opening comment; say what it is and why, in one or two sentences"


def includes(file):
    if not file.is_cpp:
        return
    for match in re.finditer(r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]", file.text, re.M):
        quote, target = match.groups()
        message = _public_include(quote, target) if file.is_public else _layer_include(file, quote, target)
        if message:
            yield file.line_of(match), f"includes {target}; {message}"


def _public_include(quote, target):
    if quote == '"':
        return None if target.startswith("ekvi/") else "a public header includes ekvi/ and the standard library only"
    is_standard = re.fullmatch(r"[a-z_0-9]+", target)
    return None if is_standard else "a public header includes the standard library only: move it into a .cc"


def _layer_include(file, quote, target):
    if SIMD.search(target) and file.layer != "kernels" and file.path.stem.removesuffix("_test") not in SIMD_ELSEWHERE:
        return "vector instructions live in src/kernels: call a kernel"
    if HEAVY.search(target) and file.suffix == ".h":
        return "a heavy header stays out of headers: include it in the .cc"
    folder = target.split("/")[0]
    if quote == "<" or file.layer is None or folder == "ekvi":
        return None
    if "/" not in target:
        return None if file.is_test and target in TEST_HEADERS else "write the path from src/: layer/file.h"
    allowed = [file.layer, *LAYERS.get(file.layer, [])]
    names = ", ".join(allowed) if file.layer != "cli" else "cli and the public headers"
    return None if folder in allowed else f"{file.layer} may include {names}: move the code, or pass it in"


def functions(file):
    if not file.is_cpp:
        return
    limit = 90 if file.layer == "kernels" else 60
    for function in cpp_outline.functions(file.code):
        yield from _size(function.name, function.line, function.lines, function.parameters, limit)
        if function.depth > MAX_DEPTH:
            message = f"{function.name} nests {function.depth} deep, limit {MAX_DEPTH}; move the inner loop out"
            yield function.line, message
        if re.match(r"[a-z]+[a-z0-9]*[A-Z]", function.name) and not function.name.startswith("operator"):
            yield function.line, f"function {function.name}; use FunctionName, or accessor_name"


def python_functions(file):
    if file.suffix != ".py":
        return
    for node in ast.walk(ast.parse(file.text)):
        if isinstance(node, ast.FunctionDef):
            count = len(node.args.args) + len(node.args.kwonlyargs)
            yield from _size(node.name, node.lineno, node.end_lineno - node.lineno + 1, count, 60)


def _size(name, line, length, parameters, limit):
    if length > limit:
        yield line, f"{name} has {length} lines, limit {limit}; name its parts and move them out"
    if parameters > MAX_PARAMETERS:
        yield line, f"{name} has {parameters} parameters, limit {MAX_PARAMETERS}; pass a struct"


def names(file):
    for match in re.finditer(r"\b(?:class|struct|enum class|enum)\s+(\w+)\s*(?:final\s*)?[:{](?!:)", file.code):
        if not re.match(r"[A-Z][A-Za-z0-9]*$", match.group(1)):
            yield file.line_of(match), f"type {match.group(1)}; use TypeName"
    if file.suffix == ".h":
        for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", file.code, re.M):
            if not match.group(1).startswith("EKVI_"):
                yield file.line_of(match), f"macro {match.group(1)}; use a constant or a function, else EKVI_NAME"


def bool_parameters(file):
    if file.is_public:
        for match in re.finditer(r"[(,]\s*bool\s+\w+", file.code):
            yield file.line_of(match), "a bool parameter in a public header; use an enum class or two functions"


def error_parts(file):
    """ekvi::Error in three parts. FileError and its kin add what to try themselves."""
    if file.layer is None or file.is_test or not file.is_cpp:
        return
    for match in re.finditer(r"\bError\(\s*ErrorCode::", file.code):
        if cpp_outline.arguments(file.code, file.code.index("(", match.start())) < 4:
            yield file.line_of(match), "an Error without what to try; add the fourth argument (CONTRIBUTING.md, Errors)"


def exact_arithmetic(file):
    if file.layer not in EXACT_LAYERS or file.is_test or file.path.stem.endswith(("_ref", "_bench")):
        return
    for match in LIBM.finditer(file.code):
        yield file.line_of(match), f"std::{match.group(1)} differs between machines; use numeric/math-inl.h"
    for match in UNORDERED.finditer(file.code):
        yield file.line_of(match), f"{match.group(0)} has no fixed order; write the loop"


# Rules of the whole tree: each yields (path, line, message).

def readmes(root, files):
    folders = {parent for file in files for parent in file.path.parents if parent.parts and parent.parts[0] in ROOMS}
    texts = {file.path: file for file in files}
    for folder in sorted(folders):
        readme = texts.get(folder / "README.md")
        if readme is None:
            yield folder / "README.md", 1, "missing; say in a few lines what lives here and what must not"
        elif readme.text.count("\n") > MAX_README:
            yield readme.path, 1, f"{readme.text.count(chr(10))} lines, limit {MAX_README}; move the rest to docs/"


def links(root, files):
    for file in files:
        if file.suffix != ".md":
            continue
        for match in re.finditer(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", file.text):
            target = match.group(1)
            if "://" not in target and not (root / file.path.parent / target).exists():
                yield file.path, file.line_of(match), f"link to {target}, which is not there; correct it"


def examples(root, files):
    texts = {str(file.path): file.text for file in files}
    for path, limit in EXAMPLES.items():
        text = texts.get(path)
        if text is None:
            continue
        if text.count("\n") > limit:
            yield path, 1, f"{text.count(chr(10))} lines, limit {limit}; the library must make it shorter"
        if f"```cpp\n{text}```\n" not in texts.get("README.md", ""):
            yield "README.md", 1, f"its block of {path} differs from the file; copy the file into the block"


FILE_RULES = [lines, words, file_size, file_name, header, includes, functions, python_functions, names, bool_parameters,
              error_parts, exact_arithmetic]
TREE_RULES = [readmes, links, examples]


def read_tree(root: Path) -> list[File]:
    """Text files of the repository: no hidden folders (but .ci), no build outputs."""
    found, folders = [], [root]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            if path.is_dir():
                if path.name == ".ci" or not (path.name.startswith(".") or path.name in {"build", "__pycache__"}):
                    folders.append(path)
            elif path.suffix in TEXT or path.name in {"CMakeLists.txt", "dev"} or path.parent.name == ".ci":
                found.append(File(root, PurePosixPath(path.relative_to(root).as_posix())))
    return found


def findings(root: Path) -> list[str]:
    files = read_tree(root)
    found = [(str(file.path), line, message) for file in files for rule in FILE_RULES for line, message in rule(file)]
    found += [(str(path), line, message) for rule in TREE_RULES for path, line, message in rule(root, files)]
    return [f"{path}:{line}: {message}" for path, line, message in sorted(found)]


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = findings(root)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
