#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Plans for a slice, where the kernel refuses what was planned: answered from a recording that tests/record-all makes, of which the
# refusals are made here.

load common

EBUSY=16 ESTALE=116 ELEMENT=4 GUIDE=5

setup() {
	recording=$BATS_TEST_DIRNAME/recordings/plan/load
	arguments=(plan all-reduce --algorithm ring --slice steps --load -j --profile "$TOP/build/profiles/server8.bin")
	[[ -s ${arguments[-1]} ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
}

# refused ERRNO PART INDEX TIMES [last]: plan and load, where the kernel refuses so often
refused() {
	python3 -B "$BATS_TEST_DIRNAME/refuse.py" "$@" <"$recording.jsonl" >"$BATS_TEST_TMPDIR/refused.jsonl"
	MORPHCTL_REPLAY=$BATS_TEST_TMPDIR/refused.jsonl run_split morphctl "${arguments[@]}"
}

# A guide that the ways of the recording do not run through, and one that they do.
guides() {
	MORPHCTL_REPLAY=$recording.jsonl morphctl "${arguments[@]}" --to-steps "$BATS_TEST_TMPDIR/steps.json" >/dev/null
	used=$(jq '.circuits[0].guide[1]' "$BATS_TEST_TMPDIR/steps.json")
	beside=$(jq '[.circuits[].guide[]] | max + 1' "$BATS_TEST_TMPDIR/steps.json")
}

@test "what stands in the way is gone round, and what is loaded then is told" {
	guides
	refused $EBUSY $GUIDE "$beside" 1
	[[ $status == 0 && $output == "$(<"$recording.out")" ]]
	refused $EBUSY $GUIDE "$beside" 31
	[[ $status == 0 && $(jq .loaded.id <<<"$output") == 1 ]]
	# Ways that ran through it are others then, which the recording does not have.
	refused $EBUSY $GUIDE "$used" 1
	holds "$stderr" "refused.jsonl, line "
	[[ $status == 134 ]]
}

@test "after so many detours, or without any, what is busy is said" {
	guides
	refused $EBUSY $GUIDE "$beside" 32 last
	[[ $status == 6 && -z $output && -n $stderr ]]
	# No detour leads round what is not told.
	refused $EBUSY 0 0 1 last
	[[ $status == 6 && -z $output ]]
	refused $EBUSY $ELEMENT 4294967295 1 last
	[[ $status == 6 && -z $output ]]
}

@test "if ranks have other accelerators by then nothing is loaded" {
	refused $ESTALE 0 0 1 last
	[[ $status == 6 && -z $output ]]
	holds "$stderr" "changed"
}
