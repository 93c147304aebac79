# SPDX-License-Identifier: GPL-2.0-only
"""Parse C far enough to find the lines that make decisions, and the words of their conditions.

A compiler counts every jump as a branch, also those inside macros. Here a branch is a decision in
the source: a statement with if, while, for, switch, for_each, ?:, && or ||. An assertion (WARN_ON
and similar) does not count, because only a bug takes its other branch.
"""

import re

# Comments, strings, characters, and directives with their continuations. Blanks of the same length
# replace them.
SILENT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*""",
                    re.DOTALL | re.MULTILINE)
DECISION = re.compile(r"\b(if|while|for|switch|\w*for_each\w*)\s*\(|\?|&&|\|\|")
ASSERTION = re.compile(r"\bWARN(_ON)?(_ONCE)?\s*\(")
HEAD = re.compile(r"(?:else\s+)?\b(?:if|while|for|switch|\w*for_each\w*)\s*\(")
LABEL = re.compile(r"case\b[^:]*:|\w+\s*:(?!:)")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def statements(text):
    """Yield (first line, last line, words) of each statement: text outside of parentheses that a
    semicolon or a brace ends."""
    line, depth, start, words = 1, 0, None, []
    for char in SILENT.sub(blank, text):
        if start is None and not char.isspace() and char not in ";{}":
            start = line
        if start is not None:
            words.append(char)
        depth += (char == "(") - (char == ")")
        if char in ";{}" and not depth:
            if start is not None:
                yield start, line, " ".join("".join(words[:-1]).split())
            start, words = None, []
        line += char == "\n"


def to_closing_parenthesis(words, start):
    depth = 0
    for end in range(start, len(words)):
        depth += (words[end] == "(") - (words[end] == ")")
        if words[end] == ")" and not depth:
            return words[:end + 1]
    return words


class Source:
    """The decisions of one file, by line."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.words = {}
        for first, last, words in statements(self.text):
            for line in range(first, last + 1):
                self.words[line] = words

    def decides(self, line):
        """Whether branches of this line count."""
        words = self.words.get(line, "")
        return bool(DECISION.search(words)) and not ASSERTION.search(words)

    def label(self, line):
        """The label or the else before the statement of this line, or None."""
        words = self.words.get(line, "")
        label = LABEL.match(words)
        if label:
            return label.group().rstrip(": ")
        return "else" if re.match(r"else\b(?! if)", words) else None

    def decision(self, line):
        """The decision in the statement of this line, or None."""
        words = self.words.get(line, "")
        head = HEAD.search(words)
        if head:
            return to_closing_parenthesis(words[head.start():], head.end() - 1 - head.start())
        return words if DECISION.search(words) else None

    def lines_of(self, function):
        """The lines of a function. The empty name stands for the whole file."""
        head = re.compile(rf"([A-Za-z_].*\b)?{re.escape(function)}\(")
        lines, inside = [], False
        for line, text in enumerate(self.text.splitlines(), 1):
            inside = inside or not function or bool(head.match(text))
            if inside:
                lines.append(line)
            inside = inside and not text.startswith("}")
        return lines
