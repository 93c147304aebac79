#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Plans for a slice whose kernel refuses them. The answers are from a recording that
# tests/record-all makes; this test adds the refusals.

load common

setup_file() {
	unpack_recordings
	check_plans
}

EBUSY=16 ESTALE=116 ELEMENT=4 GUIDE=5

setup() {
	recording=$RECORDINGS/plan/load
	arguments=(plan all-reduce --algorithm ring --slice steps --load -j --profile "$TOP/build/profiles/server8.bin")
	[[ -s ${arguments[-1]} ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
}

# refused ERRNO PART INDEX TIMES [last]: plan and load, while the kernel refuses this number of
# times
refused() {
	python3 -B "$BATS_TEST_DIRNAME/refuse.py" "$@" <"$recording.jsonl" >"$BATS_TEST_TMPDIR/refused.jsonl"
	MORPHCTL_REPLAY=$BATS_TEST_TMPDIR/refused.jsonl run_split morphctl "${arguments[@]}"
}

# A guide that no path of the recording uses, and one that a path uses.
guides() {
	MORPHCTL_REPLAY=$recording.jsonl morphctl "${arguments[@]}" --to-steps "$BATS_TEST_TMPDIR/steps.json" >/dev/null
	used=$(jq '.circuits[0].guides[1]' "$BATS_TEST_TMPDIR/steps.json")
	beside=$(jq '[.circuits[].guides[]] | max + 1' "$BATS_TEST_TMPDIR/steps.json")
}

@test "paths avoid obstacles, and the loaded schedule is reported" {
	guides
	refused $EBUSY $GUIDE "$beside" 1
	[[ $status == 0 && $output == "$(<"$recording.out")" ]]
	refused $EBUSY $GUIDE "$beside" 31
	[[ $status == 0 && $(jq .loaded.id <<<"$output") == "$(jq .loaded.id "$recording.out")" ]]
	# Paths that used it change, and the recording does not contain the new ones.
	refused $EBUSY $GUIDE "$used" 1
	holds "$stderr" "refused.jsonl, line "
	[[ $status == 134 ]]
}

@test "after the last detour, or without one, the busy part is reported" {
	guides
	refused $EBUSY $GUIDE "$beside" 32 last
	[[ $status == 6 && -z $output && -n $stderr ]]
	# No detour avoids hardware that the kernel does not name.
	refused $EBUSY 0 0 1 last
	[[ $status == 6 && -z $output ]]
	refused $EBUSY $ELEMENT 4294967295 1 last
	[[ $status == 6 && -z $output ]]
}

# The slice reports three steps of its schedule, two of which were lit.
@test "measurements of the driver are the times of changes" {
	local measured=$BATS_TEST_TMPDIR/measured.jsonl list=$RECORDINGS/schedule-list-json.jsonl
	local how=(plan all-reduce --algorithm ring --slice steps --profile "$TOP/build/profiles/server8.bin" --delay measured,round=500)
	{
		sed -n '/MORPH_SCHEDULE\|"netlink"/q;p' "$recording.jsonl"
		grep MORPH_SCHEDULE_INFO "$list"
		sed -n '/"netlink"/,$p' "$recording.jsonl" | grep -v MORPH_SCHEDULE
	} > "$measured"
	MORPHCTL_REPLAY=$measured expect 0 morphctl "${how[@]}" --json
	# Of each of the four parts, the largest measured value.
	[[ $(jq -c '[.measured."steps-count", .measured."change-ns" >= 1175800 + 307480 + 304867]' <<<"$output") == '[2,true]' ]]
	[[ $(jq '.holds[0]."lit-at-ns" == .measured."change-ns"' <<<"$output") == true ]]
	MORPHCTL_REPLAY=$measured expect 0 morphctl "${how[@]}"
	holds "$output" "changes take the measured time of 2 steps of the slice: "
	# The recording of a slice without schedules.
	{
		sed -n '/MORPH_SCHEDULE\|"netlink"/q;p' "$recording.jsonl"
		grep MORPH_SCHEDULE_INFO "$list" | tail -1 | sed 's,z30.02z59,z30.01z59,'
		grep '"close"' "$recording.jsonl" | head -1
	} > "$measured"
	MORPHCTL_REPLAY=$measured run_split morphctl "${how[@]}"
	holds "$stderr" "slice 'steps' has no measured change of circuits yet"
	expect 2 morphctl schedule plan all-reduce --ranks 4 --delay measured
	holds "$stderr" "--delay measured requires --slice"
	expect 2 morphctl schedule plan all-reduce --ranks 4 --delay measured,settle=5
	holds "$stderr" "--delay gives both 'measured' and a value for settle"
}

# Steps of a loop that set 2, 4 and 1 circuits in 3, 5 and 2 us: 1 us, and 1 us for each circuit. In
# addition, 4, 2 and 1 circuits go dark.
@test "the time of a circuit depends on set circuits, not on dark ones" {
	local measured=$BATS_TEST_TMPDIR/set.jsonl list=$RECORDINGS/schedule-list-json.jsonl
	{
		sed -n '/MORPH_SCHEDULE\|"netlink"/q;p' "$recording.jsonl"
		grep MORPH_SCHEDULE_INFO "$list" | PYTHONPATH=$BATS_TEST_DIRNAME python3 -B -c '
import json, struct, sys
from refuse import unpack
for number, line in enumerate(map(json.loads, sys.stdin)):
    if number == 1:
        steps = ((2, 6, 3000), (4, 6, 5000), (4, 2, 2000))
        after = unpack(line["after"])
        after[112:352] = b"".join(struct.pack("<4I8Q", *step[:2], 0, 0, 2, 0, 2 * step[2], 0, 0, 0, 0, 0) for step in steps)
        line["after"] = after.hex()
    print(json.dumps(line, separators=(",", ":")))'
		sed -n '/"netlink"/,$p' "$recording.jsonl" | grep -v MORPH_SCHEDULE
	} > "$measured"
	MORPHCTL_REPLAY=$measured expect 0 morphctl schedule plan all-reduce --algorithm ring --slice steps --profile "$TOP/build/profiles/server8.bin" --delay measured --json
	[[ $(jq '.measured."change-ns" == 1000 + 1000 * ."ranks-count" and .measured."steps-count" == 3' <<<"$output") == true ]]
}

@test "nothing is loaded if the accelerators of ranks have changed" {
	refused $ESTALE 0 0 1 last
	[[ $status == 6 && -z $output ]]
	holds "$stderr" "changed"
}

@test "the checker accepted all plans of this file" {
	plans_were_checked choose
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked schedule.plan
}
