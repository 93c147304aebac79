#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is exported is declared, documented and in the map; and the reverse.

  exports.py LIBRARY.so LIBRARY.a MAP INCLUDE_DIR
"""

import glob
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
    calls, documented = set(), {}
    for path in glob.glob(include + '/*.h'):
        with open(path, encoding='utf-8') as stream:
            source = stream.read()
        if not path.endswith('/names.h'):
            code = re.sub(r'/\*.*?\*/', '', source, flags=re.S)
            calls |= set(re.findall(r'\b(morph_\w+)\s*\((?!\*)[^()]*\);', code))
        for name, comment in re.findall(r'/\*\*\n \* (morph_\w+)\(\) - (.*?)\*/', source, re.S):
            documented[name] = comment
    return calls, documented


def parameters(include, name):
    for path in glob.glob(include + '/*.h'):
        with open(path, encoding='utf-8') as stream:
            code = re.sub(r'/\*.*?\*/', '', stream.read(), flags=re.S)
        match = re.search(r'\b' + name + r'\s*\(([^()]*)\);', code)
        if match:
            words = [re.search(r'(\w+)(\[.*\])?$', p.strip()).group(1)
                     for p in match.group(1).split(',')]
            return [] if words == ['void'] else words
    return []


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
    bad = complain('exported, but no header declares it', exports - calls)
    bad |= complain('declared, but not exported', calls - exports)
    bad |= complain('in the map, but not exported', mapped - exports)
    bad |= complain('declared, but not documented', calls - set(documented))
    bad |= complain('documented, but not declared', set(documented) - calls)
    for name in calls & set(documented):
        missing = [p for p in parameters(include, name) if f'@{p}:' not in documented[name]]
        bad |= complain('parameter is not documented', {f'{name}({p})' for p in missing})
        code = re.search(r'\n[^\n*/]*\b' + name + r'\s*\(', '\n'.join(
            open(p, encoding='utf-8').read() for p in glob.glob(include + '/*.h')))
        if 'void ' + name not in code.group(0) and 'Return:' not in documented[name]:
            bad |= complain('what it returns is not documented', {name})
    strangers = {name for _, kind, name in symbols(archive, '--defined-only')
                 if kind in 'TDRBC' and not re.match(r'(morph|lm)_', name)}
    bad |= complain('the static library takes this name from programs', strangers)
    if not calls or not exports:
        sys.exit('nothing was found: the test itself is broken')
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
