#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Completion for bash from the command table, on standard output.

    completion.py COMMANDS.json
"""

import json
import re
import sys

HEAD = '''# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for morphctl, made from its table of commands.

# Words that can take the place of an argument with this name.
_morphctl_values() {
	local fabric=()
	[[ -n $_morphctl_fabric ]] && fabric=(--fabric "$_morphctl_fabric")
	case $1 in
	FABRIC) morphctl fabric list -n -o name 2>/dev/null ;;
	SLICE) morphctl slice list -n -o name "${fabric[@]}" 2>/dev/null ;;
	ACCELERATOR | ACCELERATORS | SPARE)
		morphctl accelerator list -n -o id "${fabric[@]}" 2>/dev/null ;;
	GUIDE) morphctl guide list -n -o id "${fabric[@]}" 2>/dev/null ;;
	ELEMENT) morphctl element list -n -o id "${fabric[@]}" 2>/dev/null ;;
	TXN) morphctl txn list -n -o id "${fabric[@]}" 2>/dev/null ;;
	KNOB) morphctl fault knobs -n -o fault 2>/dev/null ;;
	PART) echo accelerator laser receiver element guide edge ;;
	USER) compgen -u ;;
	FILE) compgen -f -- "$cur" ;;
	*'|'*) tr '|' '\\n' <<<"$1" | while read -r word; do
		if [[ $word == *[a-z]* ]]; then echo "$word"; else _morphctl_values "$word"; fi
	done ;;
	esac
}
'''

TAIL = '''
_morphctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local object='' verb='' _morphctl_fabric='' key want word i
	local positional=()
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == -f || $word == --fabric ]]; then
			_morphctl_fabric=${COMP_WORDS[++i]}
		elif [[ $word == -* ]]; then
			[[ -n ${_morphctl_argument[$object $verb $word]+set} ]] && ((i++))
		elif [[ -z $object ]]; then
			object=$word
			[[ -z ${_morphctl_verbs[$object]} ]] && verb=-
		elif [[ -z $verb ]]; then
			verb=$word
		else
			positional+=("$word")
		fi
	done
	if [[ -z $object ]]; then
		want="$_morphctl_objects help"
	elif [[ -n ${_morphctl_argument[$object $verb $prev]+set} ]]; then
		want=$(_morphctl_values "${_morphctl_argument[$object $verb $prev]}")
	elif [[ -z $verb ]]; then
		want="${_morphctl_verbs[$object]} help"
	elif [[ $cur == -* ]]; then
		want=${_morphctl_options[$object $verb]}
	else
		read -ra key <<<"${_morphctl_places[$object $verb]}"
		i=${#positional[@]}
		((i >= ${#key[@]} && ${#key[@]})) && [[ ${key[-1]} == *... ]] && i=$((${#key[@]} - 1))
		want=$(_morphctl_values "${key[i]%...}")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$want" -- "$cur")
}
complete -F _morphctl morphctl
'''


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def key(command):
    return f"{command['object']} {command['verb'] or '-'}"


def table(name, entries):
    print(f"declare -gA {name}=(")
    for place, value in entries:
        print(f"\t[{quote(place)}]={quote(value)}")
    print(")")


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        data = json.load(stream)
    commands = data["commands"]
    print(HEAD)
    names = " ".join(entry["name"] for entry in data["objects"])
    print(f"_morphctl_objects={quote(names)}")
    table("_morphctl_verbs", [
        (entry["name"], " ".join(one["verb"] for one in commands
                                 if one["object"] == entry["name"] and one["verb"]))
        for entry in data["objects"]])
    table("_morphctl_options", [
        (key(one), " ".join("--" + option["name"] for option in one["options"]))
        for one in commands])
    table("_morphctl_places", [(key(one), re.sub(r"[][]", "", one["arguments"]))
                               for one in commands])
    table("_morphctl_argument", [
        (f"{key(one)} {dashes}{name}", option["argument"])
        for one in commands for option in one["options"] if (option["argument"] or "[")[0] != "["
        for dashes, name in (("--", option["name"]), ("-", option["letter"])) if name])
    print(TAIL, end="")


if __name__ == "__main__":
    main()
