#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check that exported functions are declared, documented and in the map, and no others.

exports.py LIBRARY.so LIBRARY.a MAP HEADER

The headers that morph.h and plan.h include count, too.
"""

import os
import re
import subprocess
import sys


def symbols(path, *options):
    out = subprocess.run(['nm', *options, path], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in out.splitlines() if len(line.split()) == 3]


def exported(path):
    return {name.split('@')[0] for _, kind, name in symbols(path, '-D', '--defined-only')
            if kind in 'TDRB'}


def declared(include):
    """Declarations of headers: name to (result, parameters); and their comments."""
    calls, documented = {}, {}
    paths = [include]
    if os.path.basename(include) in ('morph.h', 'plan.h'):
        with open(include, encoding='utf-8') as stream:
            paths += [os.path.join(os.path.dirname(include), name)
                      for name in re.findall(r'^#include <morph/(\w+\.h)>', stream.read(), re.M) if name != 'morph.h']
    for path in paths:
        with open(path, encoding='utf-8') as stream:
            source = stream.read()
        code = re.sub(r'/\*.*?\*/', '', source, flags=re.S)
        for result, name, words in re.findall(
                r'^([a-z][\w \n*]*?)\b(morph_\w+)\s*\(([^()]*)\)(?:\s*__attribute__\(\(.*?\)\))?;', code, re.M):
            parameters = [re.search(r'(\w+)(\[.*\])?$', word.strip()).group(1)
                          for word in words.split(',') if word.strip() not in ('void', '...')]
            calls[name] = (result.strip(), parameters)
        for name, comment in re.findall(r'/\*\*\n \* (morph_\w+)\(\) - (.*?)\*/', source, re.S):
            documented[name] = comment
    return calls, documented


def complain(what, names):
    for name in sorted(names):
        print(f'{name}: {what}')
    return bool(names)


def main():
    library, archive, map_path, include = sys.argv[1:]
    calls, documented = declared(include)
    exports = exported(library)
    with open(map_path, encoding='utf-8') as stream:
        mapped = set(re.findall(r'^\t(morph_\w+);$', stream.read(), re.M))
    bad = complain('exported, but no header declares it', exports - set(calls))
    bad |= complain('declared, but not exported', set(calls) - exports)
    bad |= complain('in the map, but not exported', mapped - exports)
    bad |= complain('declared, but not documented', set(calls) - set(documented))
    bad |= complain('documented, but not declared', set(documented) - set(calls))
    for name, (result, parameters) in calls.items():
        comment = documented.get(name, '')
        bad |= complain('is not documented',
                        {f'{name}({p})' for p in parameters if f'@{p}:' not in comment})
        if result != 'void' and 'Return:' not in comment:
            bad |= complain('what it returns is not documented', {name})
    strangers = {name for _, kind, name in symbols(archive, '--defined-only')
                 if kind in 'TDRBC' and not re.match(r'(morph|lm|optics)_', name)}
    bad |= complain('the static library takes this name from programs', strangers)
    if not calls or not exports:
        sys.exit('nothing was found: the test itself is broken')
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
