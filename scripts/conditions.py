# SPDX-License-Identifier: GPL-2.0-only
"""Read C as far as it takes to say which lines decide something, and by what words.

A compiler counts as a branch whatever it jumps over, a macro's inside too. Here a branch is a
decision that the source spells out: a statement with if, while, for, switch, for_each, ?:, && or
||. An assertion (WARN_ON and the like) is none: its other way is a bug.
"""

import re

# What must keep its length, but says nothing: comments, strings, characters, directives with their
# continuations.
SILENT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*""",
                    re.DOTALL | re.MULTILINE)
DECISION = re.compile(r"\b(if|while|for|switch|\w*for_each\w*)\s*\(|\?|&&|\|\|")
ASSERTION = re.compile(r"\bWARN(_ON)?(_ONCE)?\s*\(")
HEAD = re.compile(r"(?:else\s+)?\b(?:if|while|for|switch|\w*for_each\w*)\s*\(")
LABEL = re.compile(r"case\b[^:]*:|\w+\s*:(?!:)")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def statements(text):
    """Yield (first line, last line, words) of what ends with a semicolon or a brace, outside of
    parentheses."""
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
        """The label, or the else, by which the statement of this line is reached, or None."""
        words = self.words.get(line, "")
        label = LABEL.match(words)
        if label:
            return label.group().rstrip(": ")
        return "else" if re.match(r"else\b(?! if)", words) else None

    def decision(self, line):
        """The decision that the statement of this line makes, or None."""
        words = self.words.get(line, "")
        head = HEAD.search(words)
        if head:
            return to_closing_parenthesis(words[head.start():], head.end() - 1 - head.start())
        return words if DECISION.search(words) else None
