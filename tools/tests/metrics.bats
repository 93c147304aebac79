#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The metrics of 'morphctl metrics', from recordings of the driver.

load common

setup_file() {
	export TZ=UTC MORPHCTL_BOOT_TIME=1000000000
	unpack_recordings
}

# replay RECORDING ARGUMENTS...: run with the answers of the kernel in a recording.
replay() {
	MORPHCTL_REPLAY=$RECORDINGS/$1.jsonl run_split morphctl "${@:2}"
}

# has LINE: whether the output has exactly this line.
has() {
	grep -qxF -- "$1" <<<"$output" || { echo "no line '$1' in: $output"; return 1; }
}

@test "each fabric, slice and kind of part has its series" {
	replay status metrics
	[[ $status == 0 && -z $stderr ]]
	has "morph_up 1"
	has 'morph_fabric_ready{fabric="sim0"} 1'
	has 'morph_accelerators_failed{fabric="sim0"} 3'
	has 'morph_unhealthy_parts{fabric="sim0",part="accelerator"} 3'
	has 'morph_unhealthy_parts{fabric="sim0",part="laser"} 0'
	has 'morph_slice_state{fabric="sim0",slice="9",name="unlucky",state="degraded"} 1'
	has 'morph_slice_state{fabric="sim0",slice="9",name="unlucky",state="ok"} 0'
	has 'morph_slice_unprotected_ranks{fabric="sim0",slice="9",name="unlucky"} 4'
	has 'morph_slice_unprotected_ranks{fabric="sim0",slice="10",name="pair"} 0'
	has 'morph_failovers_failed_total{fabric="sim0"} 1'
	has "morph_slices_hidden 0"
	[[ $output =~ 'morph_last_failover_seconds{fabric="sim0",phase="detect"} 0.'[0-9]+ ]]
}

@test "the metrics are OpenMetrics: families are whole, and the end is marked" {
	replay status metrics
	[[ $(tail -n 1 <<<"$output") == "# EOF" ]]
	# Each sample belongs to the family before it, and no family comes twice.
	awk '/^# TYPE / { family = $3; if (seen[family]++) exit 1; next }
	     /^#/ { next }
	     { name = $1; sub(/[{ ].*/, "", name); sub(/_total$/, "", name); if (name != family) exit 1 }' <<<"$output"
}

@test "the heartbeat is the time of the reading" {
	before=$(date +%s)
	replay status metrics
	heartbeat=$(sed -n 's/^morph_heartbeat_timestamp_seconds \([0-9]*\)\..*/\1/p' <<<"$output")
	((heartbeat >= before && heartbeat <= $(date +%s)))
}

@test "a file is replaced as a whole, and readable by all" {
	file=$BATS_TEST_TMPDIR/collector/morph.prom
	mkdir "${file%/*}"
	echo old >"$file"
	chmod 600 "$file"
	replay status metrics "$file"
	[[ $status == 0 && -z $output && $(tail -n 1 "$file") == "# EOF" && $(stat -c %a "$file") == 644 ]]
	[[ $(ls "${file%/*}") == morph.prom ]]
	replay status metrics "$BATS_TEST_TMPDIR/none/morph.prom"
	[[ $status == 1 ]]
	holds "$stderr" "write $BATS_TEST_TMPDIR/none/morph.prom: No such file or directory"
}

@test "without a driver only heartbeat and morph_up 0 are left" {
	expect 0 morphctl metrics
	has "morph_up 0"
	[[ $output != *morph_fabric* && $(tail -n 1 <<<"$output") == "# EOF" ]]
}
