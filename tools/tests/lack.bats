#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Without memory, the program reports that and ends. It must not send an incomplete request or print
# an incomplete table. A request that differs from the recorded one causes SIGABRT (see
# libmorph/client/replay.c).

load common

# with_lack NUMBER NAME: answer a recording while this allocation fails
with_lack() {
	local arguments
	mapfile -t arguments <"$recordings/$2.args"
	run_split env LD_PRELOAD="$BATS_FILE_TMPDIR/lack.so" LACK="$1" LACK_NONE="$none" \
		MORPHCTL_REPLAY="$recordings/$2.jsonl" "$MORPHCTL" "${arguments[@]}"
}

# Fail each of the command's first allocations, then every seventh one until the last.
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
	unpack_recordings
	cc -O1 -shared -fPIC -Wall -Wextra -Werror -D_GNU_SOURCE -o "$BATS_FILE_TMPDIR/lack.so" \
		"$BATS_TEST_DIRNAME/lack.c"
}

setup() {
	recordings=$RECORDINGS
	none=$BATS_TEST_TMPDIR/none
}

@test "a table without memory is an error, not a table with holes" {
	lack_each slice-show
}

# The library can work without some of its buffers. Without the buffer for a table's cells it prints
# an empty first cell and reports no error.
@test "a table without memory in libsmartcols is an error" {
	export LACK_LIBRARY=libsmartcols
	local number=1 errors=0 holes=0 whole
	with_lack 100000 slice-show
	whole=$output
	rm "$none"
	while with_lack "$number" slice-show; [[ ! -e $none ]]; do
		if [[ $status == 1 && $stderr == "morphctl: out of memory" ]]; then
			errors=$((errors + 1))
		elif [[ $status != 0 || $output != "$whole" ]]; then
			holes=$((holes + 1))
		fi
		number=$((number + 1))
	done
	echo "$((number - 1)) allocations, $errors errors, $holes tables with holes"
	[[ $errors -gt 30 && $holes -le 2 ]]
}

@test "an act without memory is an error, not another act" {
	lack_each replace
}

@test "a refusal without memory is still an error" {
	lack_each slice-create-taken
}
