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
	# As in tests/record: times of day do not depend on the machine.
	export TZ=UTC MORPHCTL_BOOT_TIME=1000000000
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

# Repeat a recorded call with --json, if its command has this option.
with_json() {
	local arguments
	mapfile -t arguments <"$1.args"
	jq -e --arg verb "output.${arguments[0]}.${arguments[1]:-}" --arg object "output.${arguments[0]}" \
		'."$defs" | has($verb) or has($object)' "$MORPHCTL_BUILD/morphctl.schema.json" >/dev/null || return 0
	[[ ${arguments[0]} == monitor || " ${arguments[*]} " == *" -j "* ]] || arguments+=(--json)
	MORPHCTL_REPLAY=$1.jsonl run_split morphctl "${arguments[@]}"
	[[ ${arguments[0]} == monitor || $status == "$(<"$1.status")" ]]
}

@test "output, diagnostics and exit status are as recorded" {
	each_recording same_as_recorded
}

@test "the JSON of recorded commands and their errors is as the schema describes it" {
	each_recording with_json
	json_was_checked accelerator.{fail,list,test} circuit.{add,apply-ring,list,show} \
		controller.{fail,list,renew,reservations,settle,take} element.{list,show} edge.{list,show} \
		fabric.{list,show} guide.{cordon,list,show} hardware.list health monitor quota.{list,set} replace \
		schedule.{go,list,show,start,stop} slice.{create,list,set,show} spare.list stats topo \
		txn.{commit,confirm,list,show} why-not
}

@test "health names slices without a spare and controllers whose lease has run out" {
	replay "$RECORDINGS/health-unprotected"
	[[ $status == 7 ]]
	holds "$output" "slices without a usable spare"
	holds "$output" "alone"
	holds "$output" "controllers whose lease has run out"
	holds "$output" "expired"
}

@test "lent spares are listed beside idle ones, and replace accelerators of other slices" {
	replay "$RECORDINGS/spare-list-lent"
	[[ $(head -1 <<<"$output") == *LENT*SLICE*RANK* && $(wc -l <<<"$output") == 3 ]]
	replay "$RECORDINGS/spare-list-lent-json"
	[[ $(jq -c '.[] | [.use, .lent, .rank]' <<<"$output" | tr '\n' ' ') == \
		'["held",true,1] ["held",true,2] ' ]]
	replay "$RECORDINGS/health-lent"
	[[ $status == 0 ]]
	holds "$output" "LENT SPARES"
	[[ $output != *"without a usable spare"* ]]
}

@test "name:NAME is the slice of this name" {
	MORPHCTL_REPLAY=$RECORDINGS/slice-show.jsonl run_split morphctl slice show train
	[[ $status == 0 ]]
	local by_name=$output
	MORPHCTL_REPLAY=$RECORDINGS/slice-show.jsonl run_split morphctl slice show name:train
	[[ $status == 0 && $output == "$by_name" ]]
	MORPHCTL_REPLAY=$RECORDINGS/slice-unknown.jsonl run_split morphctl slice show name:1
	[[ $status == 3 && $stderr == *"no slice 'name:1'"* ]]
}

@test "an error in JSON names the object, the reason and the exit status" {
	MORPHCTL_REPLAY=$RECORDINGS/slice-unknown.jsonl run_split morphctl slice show nonsense --json
	[[ $status == 3 && -z $output ]]
	jq -e '."exit-code" == 3 and .error == "not-found" and .command == "slice show" and
		(.messages[0] | .object == "slice" and .details == ["1  train"])' <<<"$stderr"
	MORPHCTL_REPLAY=$RECORDINGS/controller-drop-busy.jsonl run_split morphctl controller drop 7
	[[ $status == 6 && $stderr == "morphctl: "* ]]
	MORPHCTL_REPLAY=$RECORDINGS/replace-no-rank.jsonl run_split morphctl replace train 9 --json
	[[ $status == 3 ]]
	jq -e '.error == "not-found" and (.messages[0] | .errno == "ENOENT" and .attribute == "rank")' <<<"$stderr"
	MORPHCTL_REPLAY=$RECORDINGS/circuit-no-rank.jsonl run_split morphctl circuit add train 0 77 --json
	[[ $status == 3 ]]
	jq -e '.messages[0].reason == "argument" and (.messages[0] | (has("have") or has("need")) | not)' <<<"$stderr"
}

@test "a file opened for reading only gives no permission to change" {
	local recording=$BATS_TEST_TMPDIR/read-only.jsonl
	sed '/"MORPH_SCHEDULE_ACT"/s/"result": *-22/"result":-9/' "$RECORDINGS/schedule-go-loaded.jsonl" >"$recording"
	MORPHCTL_REPLAY=$recording run_split morphctl schedule go steps 1 --json
	[[ $status == 4 ]]
	jq -e '.error == "permission" and .messages[0].errno == "EBADF"' <<<"$stderr"
}

@test "a command that changed nothing prints no empty list" {
	replay "$RECORDINGS/guide-cordon-unknown"
	[[ $status == 3 && -z $output && -n $stderr ]]
	MORPHCTL_REPLAY=$RECORDINGS/guide-cordon-unknown.jsonl run_split morphctl guide cordon 99999 --json
	[[ $status == 3 && $output == "[]" ]]
}

@test "a missing recording" {
	MORPHCTL_REPLAY=$BATS_TEST_TMPDIR/none.jsonl run_split morphctl fabric list
	[[ $status == 3 ]]
	holds "$stderr" "none.jsonl"
}

@test "a recording without end is refused at the limit of a line" {
	MORPHCTL_REPLAY=/dev/zero run_split morphctl fabric list
	[[ $status == 134 ]]
	holds "$stderr" "/dev/zero, line 1: longer than"
}

@test "a failed read is not the end of a recording" {
	MORPHCTL_REPLAY=$BATS_TEST_TMPDIR run_split morphctl fabric list
	[[ $status == 134 ]]
	holds "$stderr" "line 1: Is a directory"
}

@test "the check of JSON against the schema can fail" {
	check=("$BATS_TEST_DIRNAME/schema.py" "$MORPHCTL_BUILD/morphctl.schema.json" output.fabric.list)
	"${check[@]}" <<<'[{"id": 0, "name": "x", "state": "ready", "simulated": true}]'
	for wrong in '"nom": "x"' '"id": "0"' '"state": "redy"' '"simulated": 1' '"accelerators": 3'; do
		run "${check[@]}" <<<"[{$wrong}]"
		[[ $status == 1 ]]
		[[ $output == *"output.fabric.list: "* ]]
	done
}
