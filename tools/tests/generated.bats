#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Files generated from the table of commands: manual pages and completion.

load common

@test "there is a page for the tool and for each object, and groff has no complaint" {
	for name in morphctl $(jq -r '.objects[].name | "morphctl-" + .' \
			"$MORPHCTL_BUILD/commands.json"); do
		page=$MORPHCTL_BUILD/man/$name.8
		[[ -s $page ]]
		complaint=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
		[[ -z $complaint ]] || { echo "$name: $complaint"; return 1; }
		for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" "SEE ALSO"; do
			grep -q "^\.SH $section" "$page"
		done
	done
}

@test "every option of every command is in its page" {
	while IFS=$'\t' read -r object option; do
		grep -qF -- "\\-\\-${option//-/\\-}" "$MORPHCTL_BUILD/man/morphctl-$object.8" ||
			{ echo "$object: --$option is missing"; return 1; }
	done < <(jq -r '.commands[] | select(.["alias-of"] | not) | .object as $o | .options[] | [$o, .name] | @tsv' \
		"$MORPHCTL_BUILD/commands.json")
}

@test "the page of an alias names the command and its page" {
	while IFS=$'\t' read -r object target; do
		page=$(MANWIDTH=200 man -l -Tascii "$MORPHCTL_BUILD/man/morphctl-$object.8" | col -bx)
		holds "$page" "Alias of morphctl $target; see morphctl-${target%% *}(8)."
	done < <(jq -r '.commands[] | select(.["alias-of"]) | [.object, .["alias-of"]] | @tsv' "$MORPHCTL_BUILD/commands.json")
}

# complete_line WORD...: the completions of the last word.
complete_line() {
	# shellcheck source=/dev/null
	source "$MORPHCTL_BUILD/completion/morphctl"
	COMP_WORDS=(morphctl "$@")
	COMP_CWORD=$#
	_morphctl
	printf '%s\n' "${COMPREPLY[@]}"
}

@test "completion is clean for bash and shellcheck" {
	bash -n "$MORPHCTL_BUILD/completion/morphctl"
	shellcheck -s bash "$MORPHCTL_BUILD/completion/morphctl"
}

@test "completion offers objects, verbs, options and values" {
	[[ $(complete_line fab) == fabric ]]
	[[ $(complete_line slice cr) == create ]]
	[[ $(complete_line slice create x --cou) == --count ]]
	[[ $(complete_line slice create x --failover m) == manual ]]
	[[ $(complete_line topo --format sv) == svg ]]
	[[ $(complete_line hardware fail la) == laser ]]
	[[ $(complete_line monitor --ban) == --banner ]]
	[[ -z $(complete_line slice create x --no-such) ]]
}

@test "completion offers every verb of every object" {
	for object in $(jq -r '.commands[] | select(.verb) | .object' \
			"$MORPHCTL_BUILD/commands.json" | sort -u); do
		offered=$(complete_line "$object" "" | sort)
		wanted=$( (jq -r --arg o "$object" '.commands[] | select(.object == $o) | .verb' \
			"$MORPHCTL_BUILD/commands.json"; echo help) | sort)
		[[ $offered == "$wanted" ]] || { echo "$object: $offered"; return 1; }
	done
}

@test "completion asks the tool for existing objects" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\n[ "$1 $2" = "slice list" ] && echo "train test"\n' \
		>"$BATS_TEST_TMPDIR/bin/morphctl"
	chmod +x "$BATS_TEST_TMPDIR/bin/morphctl"
	unset -f morphctl
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	[[ $(complete_line slice show tr) == train ]]
	[[ $(complete_line slice delete train te) == test ]]
}
