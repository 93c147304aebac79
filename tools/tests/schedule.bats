#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Files of steps: morphctl reports their errors before it asks any kernel.

load common

setup() {
	file=$BATS_TEST_TMPDIR/steps.yaml
}

refused() {
	printf '%s\n' "$2" >"$file"
	expect "${3:-2}" morphctl schedule load train "$file"
	[[ -z $output ]]
	holds "$stderr" "$1"
}

pair='circuits: [{src-rank: 0, dst-rank: 1}, {src-rank: 1, dst-rank: 0}]'

@test "errors in the file are named" {
	refused "must be a mapping with the keys 'circuits' and 'steps'" '[1]'
	refused "unknown key 'circles'" 'circles: []'
	refused "requires a list 'circuits'" 'steps: [{circuits: []}]'
	refused "requires a list 'steps'" "$pair"
	refused "'loop' must be true or false" $'loop: 1\n'"$pair"
	refused "'generation' must be a number" $'generation: -1\n'"$pair"
	refused "'profile-checksum' must be a number" $'profile-checksum: x\n'"$pair"
}

@test "wrong circuits are named with the reason" {
	refused "circuit 0: must be a mapping" 'circuits: [5]'
	refused "circuit 0: requires 'src-rank' and 'dst-rank'" 'circuits: [{src-rank: 0}]'
	refused "circuit 0: 'dst-rank' must be a number" 'circuits: [{src-rank: 0, dst-rank: one}]'
	refused "circuit 1: a circuit from rank 2 to itself" \
		'circuits: [{src-rank: 0, dst-rank: 1}, {src-rank: 2, dst-rank: 2}]' 10
	refused "circuit 0: unknown key 'colour'" 'circuits: [{src-rank: 0, dst-rank: 1, colour: 3}]'
	refused "circuit 0: a plane must be a number below" 'circuits: [{src-rank: 0, dst-rank: 1, src-plane: 65535}]' 10
	refused "circuit 0: 'guides' must be a list of numbers" 'circuits: [{src-rank: 0, dst-rank: 1, guides: [[1]]}]'
	refused "circuit 0: 'guides' must be a list of numbers" 'circuits: [{src-rank: 0, dst-rank: 1, guides: 7}]'
	refused "circuit 0: 'guide' is now 'guides'" 'circuits: [{src-rank: 0, dst-rank: 1, guide: [7]}]'
	refused "circuit 0: 'lanes' is now 'lane-mask'" 'circuits: [{src-rank: 0, dst-rank: 1, lanes: 1}]'
	refused "circuit 0: 'lane-mask' must be a number" 'circuits: [{src-rank: 0, dst-rank: 1, lane-mask: -1}]'
}

@test "wrong steps are named with the reason" {
	refused "step 0: no circuit 2: there are 2" "$pair"$'\nsteps: [{circuits: [2]}]' 10
	refused "step 1: step 1 lists circuit 0 twice" "$pair"$'\nsteps: [{circuits: [0]}, {circuits: [0, 0]}]' 10
	refused "step 0: 'begin' must be call, barrier or time" "$pair"$'\nsteps: [{circuits: [0], begin: soon}]'
	refused "step 0: morph_step_opts.after_ns is only valid with" "$pair"$'\nsteps: [{circuits: [0], after-ns: 5}]' 10
	refused "step 0: 'deadline-ns' must be a number" "$pair"$'\nsteps: [{circuits: [0], deadline-ns: x}]'
	refused "step 0: unknown key 'circuit'" "$pair"$'\nsteps: [{circuit: [0]}]'
	refused "step 0: must be a mapping" "$pair"$'\nsteps: [0]'
}

@test "a missing file, and a valid file without a driver" {
	expect 3 morphctl schedule load train "$BATS_TEST_TMPDIR/none.yaml"
	holds "$stderr" "none.yaml"
	refused 'no netlink family "morph"' "$pair"$'\nsteps: [{circuits: [0], begin: time, after-ns: 5}, {circuits: []}]' 3
	printf '%s\n' "$pair"$'\nsteps: [{circuits: [1]}]' >"$file"
	run_split morphctl schedule load train - <"$file"
	[[ $status == 3 ]]
}

@test "numbers on the command line" {
	expect 2 morphctl schedule show train x
	holds "$stderr" "'x'"
	expect 2 morphctl schedule start train 1 --step x
	holds "$stderr" "--step must be an integer from 0 to 4294967294"
	expect 2 morphctl schedule go train 1 --position x
	holds "$stderr" "--position must be a number"
	expect 2 morphctl schedule jump train 1 x
	holds "$stderr" "the step must be an integer from 0 to 4294967294, not 'x'"
	# The library takes 4294967295, MORPH_ANY, for the next step.
	expect 2 morphctl schedule jump train 1 4294967295
	holds "$stderr" "the step must be an integer from 0 to 4294967294, not '4294967295'"
	expect 2 morphctl schedule jump train 1 2 --position x
	holds "$stderr" "--position must be a number"
	expect 2 morphctl schedule arrive train 1 x 1
	holds "$stderr" "the rank must be an integer from 0 to 4294967294, not 'x'"
	expect 2 morphctl schedule arrive train 1 0 x
	holds "$stderr" "the position must be an integer, not 'x'"
	expect 2 morphctl schedule wait train x 1
	holds "$stderr" "the schedule must be an integer from 0 to 4294967294, not 'x'"
	expect 2 morphctl schedule wait train 1 x
	holds "$stderr" "the position must be an integer, not 'x'"
	for act in "jump train 1 2" "arrive train 1 0 1" "wait train 1 18446744073709551615"; do
		expect 3 morphctl schedule $act
	done
	expect 2 morphctl schedule list train --fields nonsense
	holds "$stderr" "nonsense"
}
