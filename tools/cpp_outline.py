"""The functions of a C++ source as far as tools/tidy.py needs them, read without a compiler.

Method: comments, literals and preprocessor lines are blanked (positions stay); then every opening brace is classed by
the text before it: a scope (namespace, class), a function, a block inside a function, or an initialiser. What the
classes cannot tell (macros that open braces) is not used in this repository.
"""

import re
from dataclasses import dataclass

_LEXEME = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?\*/"           # comments
    r"|R\"(?P<tag>\w*)\(.*?\)(?P=tag)\""     # raw strings
    r"|\"(?:\\.|[^\"\\\n])*\""               # strings
    r"|\b\d(?:'?[\w.])*"                     # numbers, whose ' is no quote
    r"|'(?:\\.|[^'\\\n])*'",                 # characters
    re.S)
_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]|__attribute__\s*\(\(.*?\)\)|alignas\s*\([^)]*\)")
_AFTER_PARAMETERS = r"\)\s*(?:const|noexcept(?:\s*\([^)]*\))?|override|final|mutable|&&?|->[^;{}=]*|\s)*$"
_FUNCTION = re.compile(_AFTER_PARAMETERS + r"|\)\s*:(?!:)[^;]*\}\s*$|\brequires\b[^;]*$")
_BLOCK = re.compile(_AFTER_PARAMETERS + r"|\b(?:else|do|try)$|^$|\]$|(?:\bcase\b.*|\bdefault\s*):$", re.S)
_SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b")
_CONTROL = re.compile(r"^(?:if|for|while|switch|catch|else|do|try)\b")
_NAME = re.compile(r"(operator\s*[^\s\w]+|operator\s+[\w:<>]+|~?\w+)\s*$")


@dataclass
class Function:
    name: str        # the last part: "Commit" of "Append::Commit"
    line: int        # where its declaration begins
    lines: int       # up to the closing brace
    parameters: int
    depth: int       # blocks within blocks


@dataclass
class _Brace:
    kind: str        # scope, function, block, initialiser
    head: int        # where the text before it begins
    parentheses: int
    function: Function | None = None


def blank(text: str) -> str:
    """The text with comments and literals replaced by spaces, line for line."""
    def replace(match):
        lexeme = match.group(0)
        return lexeme if lexeme[0].isdigit() else re.sub(r"[^\n]", " ", lexeme)
    return _LEXEME.sub(replace, text)


def arguments(code: str, at: int) -> int:
    """How many arguments stand in the parentheses that open at `at` of `code`, as blank() returns it."""
    depth, count = 0, 1
    for match in re.finditer(r"[][(){},]", code[at:]):
        symbol = match.group(0)
        depth += (symbol in "([{") - (symbol in ")]}")
        count += symbol == "," and depth == 1
        if depth == 0:
            break
    return count


def functions(code: str) -> list[Function]:
    """The functions with bodies in `code`, as blank() returns it."""
    code = _PREPROCESSOR.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), code)
    found, stack, head, parentheses = [], [], 0, 0
    for match in re.finditer(r"[{}();]", code):
        symbol, at = match.group(0), match.start()
        if symbol in "()":
            parentheses += 1 if symbol == "(" else -1
        elif symbol == ";":
            head = head if parentheses else at + 1
        elif symbol == "{":
            stack.append(_open(code, head, at, stack, parentheses))
            head, parentheses = at + 1, 0
        elif stack:
            brace = stack.pop()
            inside_expression = brace.kind == "initialiser" or brace.parentheses
            head, parentheses = (brace.head if inside_expression else at + 1), brace.parentheses
            if brace.kind == "function":
                brace.function.lines = code.count("\n", 0, at) + 2 - brace.function.line
                found.append(brace.function)
    return found


def _open(code, head, at, stack, parentheses) -> _Brace:
    text = _ATTRIBUTE.sub("", code[head:at]).strip()
    enclosing = next((i for i, brace in enumerate(stack) if brace.kind == "function"), None)
    if enclosing is not None:
        kind = _kind_inside(text, stack[-1].kind)
        if kind == "block":
            depth = 1 + sum(brace.kind == "block" for brace in stack[enclosing:])
            stack[enclosing].function.depth = max(stack[enclosing].function.depth, depth)
        return _Brace(kind, head, parentheses)
    if _FUNCTION.search(text) and not _CONTROL.match(text):
        line = code.count("\n", 0, head + len(code[head:at]) - len(code[head:at].lstrip())) + 1
        return _Brace("function", head, parentheses, _function(text, line))
    return _Brace("scope" if _SCOPE.search(text) else "initialiser", head, parentheses)


def _kind_inside(text, parent_kind) -> str:
    if text == "" and parent_kind == "initialiser":
        return "initialiser"
    if _BLOCK.search(text):
        return "block"
    return "scope" if re.match(r"(?:struct|class|union|enum)\b", text) else "initialiser"


def _function(text, line) -> Function:
    text = re.sub(r"^(?:template\s*<[^()]*?>\s*(?=[\w:~\[]))+", "", text)
    start = text.find("(")
    if re.search(r"operator\s*$", text[:start]):  # operator()
        start = text.find("(", start + 1)
    name = _NAME.search(text[:start])
    return Function(name.group(1) if name else "", line, 0, _parameter_count(text, start), 0)


def _parameter_count(text, start) -> int:
    depth, count, empty = 0, 1, True
    for character in text[start + 1:]:
        if character == ")" and depth == 0:
            break
        depth += (character in "([{<") - (character in ")]}>")
        count += character == "," and depth == 0
        empty = empty and character.isspace()
    return 0 if empty else count
