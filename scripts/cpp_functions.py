"""Finds the functions of a C++ file by its braces; no compiler needed, so it works on any file at any time.

The finder blanks comments, literals and preprocessor lines, then classifies each brace by the text in front
of it, its head. It looks into namespaces, classes and initializers (a lambda in a table counts as a function
named `<lambda>`), and not into functions: what is nested there belongs to them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_DIRECTIVE = re.compile(r"(?:[^\n\\]|\\.)*", re.DOTALL)
_RAW_STRING = re.compile(r'(?<!\w)(?:u8|[uUL])?R"([^()\\\s]{0,16})\(')
_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?<!\w)(?:u8|[uUL])?\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)
_ACCESS = re.compile(r"\b(?:public|private|protected)\s*$")
_TEMPLATE = re.compile(r"\btemplate\s*<")
_OPERATOR = re.compile(r"\boperator\s*(?:\(\)|\[\]|[^\s\w(]+)")
_ASSIGNMENT = re.compile(r"(?<![=!<>+\-*/%&|^])=(?!=)")
_SCOPE = re.compile(
    r"^(?:\[\[.*?\]\]\s*|inline\s+|typedef\s+)*(?:namespace|class|struct|union|enum|extern)\b", re.DOTALL
)
_CALL_NAME = re.compile(r"(~?[A-Za-z_][\w:]*(?:<[^()]*?>)?(?:::~?\w+)?)\s*\(\)")
_TEST_HEAD = re.compile(r"\b(?:TYPED_)?TEST(?:_F|_P)?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
_LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(?:<[^{}]*>\s*)?(?:\(\)[\w\s:<>,&*\->]*)?$")
_NOT_NAMES = {"alignas", "decltype", "explicit", "noexcept", "requires", "__attribute__"}


@dataclass(frozen=True)
class Function:
    """A function with its first line (from 1) and its length in lines, head and closing brace included."""

    name: str
    line: int
    length: int


def blank(text: str) -> str:
    """The text with comments and directives turned into spaces and literals into letters; lines are kept."""
    out: list[str] = []
    place = 0
    while place < len(text):
        fill = " "
        if text.startswith("//", place):
            end = text.find("\n", place)
        elif text.startswith("/*", place):
            end = text.find("*/", place + 2) + 2
            end = end if end >= 2 else -1
        elif text[place] == "#" and not text[text.rfind("\n", 0, place) + 1 : place].strip():
            directive = _DIRECTIVE.match(text, place)
            end = directive.end() if directive else -1
        elif raw := _RAW_STRING.match(text, place):
            closing = f'){raw.group(1)}"'
            end = text.find(closing, raw.end())
            end = end + len(closing) if end >= 0 else -1
            fill = "s"
        elif literal := _LITERAL.match(text, place):
            end = literal.end()
            fill = "s"
        else:
            out.append(text[place])
            place += 1
            continue
        end = len(text) if end < 0 else end
        out.append(re.sub(r"[^\n]", fill, text[place:end]))
        place = end
    return "".join(out)


def _collapse(head: str) -> str:
    """The head with round brackets emptied and template parameter lists removed: its top level."""
    kept: list[str] = []
    depth = 0
    for character in head:
        if character == ")":
            depth -= 1
        if depth <= 0:
            kept.append(character)
        if character == "(":
            depth += 1
    head = "".join(kept)
    while match := _TEMPLATE.search(head):
        depth, place = 1, match.end()
        while place < len(head) and depth:
            depth += {"<": 1, ">": -1}.get(head[place], 0)
            place += 1
        head = head[: match.start()] + head[place:]
    return _OPERATOR.sub("operator_", head).strip()


def _open_bracket(head: str) -> int:
    """The place of the last round bracket that is still open at the end of the head, or -1."""
    depth = 0
    for place in range(len(head) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(head[place], 0)
        if depth < 0:
            return place
    return -1


def _function_name(head: str, bare: str) -> str | None:
    """The name if a head without assignment is a function's, else None. Tests are named `Suite.Case`."""
    test = _TEST_HEAD.search(head)
    if test:
        return f"{test.group(1)}.{test.group(2)}"
    if _SCOPE.match(bare):
        return None
    names = [match.group(1) for match in _CALL_NAME.finditer(bare)]
    return next((name for name in names if name not in _NOT_NAMES), None)


def _initializes_member(bare: str) -> bool:
    """Whether the brace belongs to a constructor's list, `: a_(1), b_{`, rather than opening the body."""
    colon = re.search(r"\(\)\s*(?:noexcept(?:\(\))?\s*)?:(?!:)", bare)
    return colon is not None and re.search(r"[\w>]$", bare) is not None


def _closing_brace(code: str, opening: int, end: int) -> int:
    """The place of the brace that closes the one at `opening`, or `end` where there is none."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, opening, end):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return end


class _Finder:
    def __init__(self, text: str) -> None:
        self.code = blank(text)
        self.found: list[Function] = []

    def scan(self, begin: int, end: int, values: bool) -> None:
        """Scans one scope; in a scope of values (an initializer, arguments) only lambdas are functions."""
        code, head_begin, place = self.code, begin, begin
        while place < end:
            character = code[place]
            if character == ";" or (character == ":" and _ACCESS.search(code, head_begin, place)):
                head_begin = place + 1
            elif character == "{":
                closing = _closing_brace(code, place, end)
                if self.open_brace(head_begin, place, closing, values):
                    head_begin = closing + 1
                place = closing
            place += 1

    def open_brace(self, head_begin: int, place: int, closing: int, values: bool) -> bool:
        """Records or descends into one brace pair; whether the declaration ends with it."""
        head = self.code[head_begin:place]
        start = head_begin + len(head) - len(head.lstrip())
        bare = _collapse(head)
        name = None if values else _function_name(head, bare)
        inside_call = _open_bracket(head) >= 0
        if values or inside_call or _ASSIGNMENT.search(bare):
            if _LAMBDA.search(_collapse(head[_open_bracket(head) + 1 :])):
                self.add("<lambda>", max(start, self.code.rfind("[", start, place)), closing)
            else:
                self.scan(place + 1, closing, values=True)
            return False
        if name is None:
            is_scope = not bare or _SCOPE.match(bare) is not None
            self.scan(place + 1, closing, values=not is_scope)
            return is_scope
        if _initializes_member(bare):
            return False
        self.add(name, start, closing)
        return True

    def add(self, name: str, start: int, end: int) -> None:
        line = self.code.count("\n", 0, start) + 1
        self.found.append(Function(name, line, self.code.count("\n", start, end) + 1))


def find_functions(text: str) -> list[Function]:
    """All outermost functions of a C++ file, in order."""
    finder = _Finder(text)
    finder.scan(0, len(finder.code), values=False)
    return finder.found
