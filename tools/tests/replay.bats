#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Answer commands from recordings of the real module: recordings/morphctl.jsonl has one line for
# each. recordings.py describes a recording and unpacks it. tests/record NAME ARGUMENTS... makes one
# on a machine with a fabric. tests/record-all makes all of them on a machine whose only fabric is a
# fresh server8. After a change of an interface, `make -C tools record` makes them again; read the
# difference before you commit it.

load common

setup_file() {
	unpack_recordings
}

each_recording() {
	local file
	for file in "$RECORDINGS"/*.jsonl; do
		"$@" "${file%.jsonl}" || { echo "recording: ${file##*/}"; return 1; }
	done
}

replay() {
	local arguments
	mapfile -t arguments <"$1.args"
	MORPHCTL_REPLAY=$1.jsonl run_split morphctl "${arguments[@]}"
}

same_as_recorded() {
	replay "$1"
	diff -u "$1.out" <(printf '%s\n' "$output" | sed '/./,$!d') &&
		diff -u "$1.err" <(printf '%s\n' "$stderr" | sed '/./,$!d') &&
		[[ $status == "$(<"$1.status")" ]]
}

keys_in_specification() {
	grep -qxE -e '-j|--json' "$1.args" || return 0
	local arguments
	mapfile -t arguments <"$1.args"
	replay "$1"
	[[ -n $output ]] || return 0
	python3 "$BATS_TEST_DIRNAME/schema.py" \
		"$TOP/Documentation/netlink/specs/morph.yaml" "${arguments[@]:0:2}" <<<"$output"
}

@test "output, diagnostics and exit status are as recorded" {
	each_recording same_as_recorded
}

@test "JSON has the names and types of the specification, and no others" {
	each_recording keys_in_specification
}

@test "a missing recording" {
	MORPHCTL_REPLAY=$BATS_TEST_TMPDIR/none.jsonl run_split morphctl fabric list
	[[ $status == 3 ]]
	holds "$stderr" "none.jsonl"
}

@test "the check of JSON against the specification can fail" {
	check=("$BATS_TEST_DIRNAME/schema.py" "$TOP/Documentation/netlink/specs/morph.yaml" fabric)
	python3 "${check[@]}" <<<'[{"id": 0, "name": "x", "state": "ready"}]'
	run python3 "${check[@]}" <<<'[{"id": 0, "nom": "x"}]'
	[[ $status == 1 ]]
	run python3 "${check[@]}" <<<'[{"id": "0"}]'
	[[ $status == 1 ]]
	run python3 "${check[@]}" <<<'[{"state": "redy"}]'
	[[ $status == 1 ]]
}
