#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check morphctl's headings: headings.py HEADINGS [KEY...]

HEADINGS is output/headings.def. Every key of morphctl's JSON (scripts/json_schema.py), each column
of a table and each KEY has a heading. The keys are sorted, and each heading belongs to a key. The
script prints each violation; the exit status is 1 then.
"""

import pathlib
import re
import sys

TOOLS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOOLS / "scripts"))

from json_schema import Sources  # pylint: disable=wrong-import-position

HEADING = re.compile(r'^HEADING\("([^"]+)", "([^"]+)", [A-Z]+\)$', re.M)
# Lists of columns have a comma. A comma at the begin or end joins lists.
COLUMNS = re.compile(r'"(,?[a-z][a-z0-9-]*(?:,[a-z0-9-]+)*,?)"')
# Keys for people only, which join other keys.
JOINED = re.compile(r'^\t\{ "([a-z-]+)", (?:NULL|")', re.M)
# Files with lists of other words: what users may write in a file or an option.
OTHER_LISTS = {"apply_read.c", "bandwidth_file.c", "options.c", "read.c", "steps.c", "trace.c", "traffic_file.c"}


def columns(path):
    """Keys in the lists of columns of a source file."""
    for match in COLUMNS.finditer(path.read_text(encoding="utf-8")):
        if "," in match[1]:
            yield from filter(None, match[1].split(","))


def main(path, *more):
    """Print what is wrong with the headings."""
    headings = [match[1] for match in HEADING.finditer(pathlib.Path(path).read_text(encoding="utf-8"))]
    keys = {key for _, pairs, _ in Sources().objects.values() for key, _ in pairs} | set(more)
    for source in sorted((TOOLS / "morphctl").glob("*/*.c")):
        if source.name not in OTHER_LISTS:
            keys.update(columns(source))
    keys.update(JOINED.findall((TOOLS / "morphctl/output/people.c").read_text(encoding="utf-8")))
    problems = [f"no heading for '{key}'" for key in sorted(keys - set(headings))]
    problems += [f"heading of no key: '{key}'" for key in headings if key not in keys]
    problems += [f"'{after}' must stand before '{before}'"
                 for before, after in zip(headings, headings[1:]) if after <= before]
    print("\n".join(problems), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
