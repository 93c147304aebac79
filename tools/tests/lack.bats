#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Without memory: the program says so and ends. It must not send a request, nor print a table, of which a part is
# missing; a request that differs from the recorded one is SIGABRT (see libmorph/src/replay.c).

load common

# with_lack NUMBER NAME: answer a recording while that allocation fails
with_lack() {
	local arguments
	mapfile -t arguments <"$recordings/$2.args"
	run_split env LD_PRELOAD="$BATS_FILE_TMPDIR/lack.so" LACK="$1" LACK_NONE="$none" \
		MORPHCTL_REPLAY="$recordings/$2.jsonl" "$MORPHCTL" "${arguments[@]}"
}

# Each allocation among the first that a command makes, then every seventh; as many as there are.
lack_each() {
	local number=1
	while with_lack "$number" "$1"; [[ ! -e $none ]]; do
		if [[ $status != 1 || $stderr != "morphctl: out of memory" ]]; then
			echo "$1, allocation $number fails: status $status, stderr: $stderr"
			return 1
		fi
		number=$((number + (number < 30 ? 1 : 7)))
	done
	[[ $number -gt 30 && $status == "$(<"$recordings/$1.status")" ]]
	rm "$none"
}

setup_file() {
	cc -O1 -shared -fPIC -Wall -Wextra -Werror -D_GNU_SOURCE -o "$BATS_FILE_TMPDIR/lack.so" \
		"$BATS_TEST_DIRNAME/lack.c"
}

setup() {
	recordings=$BATS_TEST_DIRNAME/recordings
	none=$BATS_TEST_TMPDIR/none
}

@test "a table without memory is an error, not a table with holes" {
	lack_each slice-show
}

@test "an act without memory is an error, not another act" {
	lack_each replace
}

@test "a refusal without memory is an error still" {
	lack_each slice-create-taken
}
