#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The line that a search of more than two seconds shows on the terminal. No kernel is necessary.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# With this number of ranks, a plan takes minutes. 'timeout' ends it.
endless=(schedule plan all-to-all --ranks 2048 --bytes 1M)

# on_terminal ARGUMENTS...: run with a terminal as standard error; $output is what it shows.
on_terminal() {
	run_split "$BATS_TEST_DIRNAME/terminal.py" "$@"
}

@test "a search shows its seconds from two seconds on" {
	on_terminal timeout 4 "$MORPHCTL" "${endless[@]}"
	[[ $status == 124 && $output =~ ^$'\rplanning the schedule: '[23]$' s\e[K\r' ]]
}

@test "the end of a search erases the line" {
	on_terminal "$MORPHCTL" schedule plan all-to-all --ranks 384 --bytes 1M
	[[ $status == 0 ]]
	# A fast machine needs less than two seconds.
	[[ -z $output || $output == $'\rplanning the schedule: '*$'\r\e[K' ]]
}

@test "JSON, other files than terminals and short searches show no line" {
	"$BATS_TEST_DIRNAME/terminal.py" timeout 4 "$MORPHCTL" "${endless[@]}" --json >json &
	timeout 4 "$MORPHCTL" "${endless[@]}" >out 2>file || true
	wait $! || true
	[[ ! -s json && ! -s file ]]
	on_terminal "$MORPHCTL" matchings find --mesh-size 3x3 --ports even:8
	[[ $status == 0 && -z $output ]]
}
