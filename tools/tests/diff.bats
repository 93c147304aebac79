#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# 'morphctl diff' compares a file with the slice 'train' of a recording: 4 ranks, mode 0660, and a
# ring of 2 lanes. A request other than the recorded lists causes SIGABRT (see
# libmorph/client/replay.c).

load common

setup_file() {
	unpack_recordings
}

# differ STATUS FILE-TEXT OPTION...: $recording answers.
differ() {
	printf '%s' "$2" >"$BATS_TEST_TMPDIR/wish.yaml"
	MORPHCTL_REPLAY=$RECORDINGS/${recording:-circuit-list}.jsonl expect "$1" morphctl diff "$BATS_TEST_TMPDIR/wish.yaml" "${@:3}"
}

same='{name: train, ranks-count: 4, owner: 0, mode: 0660, failover: automatic, transit: any, ring: {lanes-count: 2}}'
other='slices:
- {name: train, ranks-count: 4, mode: 0600, circuits: [{src-rank: 0, dst-rank: 1}, {src-rank: 0, dst-rank: 2}]}
- {name: new, ranks-count: 2, ring: true}'

@test "a file that describes the present state gives one line and status 0" {
	differ 0 "slices: [$same]"
	[[ $output == "no changes" && -z $stderr ]]
	differ 0 "slices: [$same]" --json
	[[ $(jq -c . <<<"$output") == '{"changes":[]}' && -z $stderr ]]
}

@test "each change is one line, and the status is 11" {
	differ 11 "$other"
	[[ -z $stderr ]]
	diff -u - <(echo "$output") <<-'END'
		~ slice train: mode 0660 -> 0600
		~ circuit train 1: rank 0 -> rank 1, lanes 1
		- circuit train 2: rank 1 -> rank 2
		- circuit train 3: rank 2 -> rank 3
		- circuit train 4: rank 3 -> rank 0
		+ circuit train: rank 0 -> rank 2, lanes 1
		+ slice new: 2 accelerators
		+ circuit new: rank 0 -> rank 1, lanes 1
		+ circuit new: rank 1 -> rank 0, lanes 1
	END
}

@test "the JSON has the same changes in the same order" {
	differ 11 "$other" --json
	[[ -z $stderr && $(jq -r '.changes[] | .action + " " + .object' <<<"$output" | tr '\n' ',') == \
		"set slice,move circuit,remove circuit,remove circuit,remove circuit,add circuit,add slice,add circuit,add circuit," ]]
	[[ $(jq -c '.changes[0] | [."slice-name", .attribute, .from, .to]' <<<"$output") == '["train","mode","0660","0600"]' ]]
}

@test "slice diff is the same command" {
	differ 11 "$other"
	alias_output=$output
	MORPHCTL_REPLAY=$RECORDINGS/circuit-list.jsonl expect 11 morphctl slice diff "$BATS_TEST_TMPDIR/wish.yaml"
	[[ $output == "$alias_output" ]]
}

@test "the file can come from standard input" {
	MORPHCTL_REPLAY=$RECORDINGS/circuit-list.jsonl expect 0 morphctl diff - <<<"slices: [$same]"
}

@test "a state that no change can reach is an error, not a difference" {
	local recording=slice-unknown # lists of fabrics and slices only
	differ 1 'slices: [{name: train, ranks-count: 3}]'
	[[ -z $output ]]
	holds "$stderr" "morphctl: slice 'train' exists with other accelerators, which cannot be changed"
	differ 1 'slices: [{name: train, ranks-count: 4, transit: own}]' --json
	[[ -z $output ]]
	jq -e '.error == "failed" and .command == "diff"' <<<"$stderr"
}

@test "errors in the file and on the command line are those of apply" {
	differ 2 'slices: [{name: train, cout: 4}]'
	holds "$stderr" "slice 'train': unknown key 'cout'"
	expect 3 morphctl diff "$BATS_TEST_TMPDIR/none.yaml"
	expect 2 morphctl diff
	holds "$stderr" "missing argument; usage: FILE"
	expect 2 morphctl diff wish.yaml --dry-run
	holds "$stderr" "--dry-run"
}

@test "the JSON is as its schema describes it" {
	json_was_checked diff
}
