#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check that each report of a checker is a literal of a test, with numbers in it.

texts.py SOURCE... -- TEST...
"""

import pathlib
import re
import sys

LITERALS = r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*'


def joined(literals):
    return ''.join(part[1:-1] for part in re.findall(r'"(?:[^"\\]|\\.)*"', literals))


def reports(source):
    for call in re.finditer(r'\bck_wrong\(([^;]*?)(' + LITERALS + ')', source):
        if '"' not in call[1]:
            yield joined(call[2])


def main(arguments):
    between = arguments.index('--')
    sources = [pathlib.Path(name).read_text() for name in arguments[:between]]
    tests = [pathlib.Path(name).read_text() for name in arguments[between + 1:]]
    said = {joined(literals) for test in tests for literals in re.findall(LITERALS, test)}
    calls = sum(len(re.findall(r'\bck_wrong\(', source)) for source in sources)
    found = [report for source in sources for report in reports(source)]
    missing = []

    # The pattern must find each call.
    if not found or len(found) != calls:
        sys.exit(f'texts.py: {calls} reports, of which {len(found)} are read')
    for report in sorted(set(found)):
        pattern = r'\d+'.join(re.escape(part) for part in re.split(r'%(?:u|llu)', report))
        if not any(re.fullmatch(pattern, text) for text in said):
            missing.append(report)
    for report in missing:
        print(f'no test asserts: {report}', file=sys.stderr)
    if missing:
        sys.exit(1)
    print(f'{len(set(found))} reports, each asserted')


main(sys.argv[1:])
