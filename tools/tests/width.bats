#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Output for people: no wider than the terminal, with units, headings and the wall clock.

load common

setup_file() {
	unpack_recordings
}

setup() {
	rack=$TOP/build/profiles/rack64.bin
	[[ -s $rack ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
	export TZ=UTC MORPHCTL_BOOT_TIME=1000000000
	unset COLUMNS
}

# within WIDTH: no line of $output is wider.
within() {
	local longest
	longest=$(awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }' <<<"$output")
	((longest <= $1)) || { echo "$longest columns, at most $1:"; echo "$output"; return 1; }
}

# narrow WIDTH ARGUMENTS...: run a command for a terminal of this width.
narrow() {
	COLUMNS=$1 run_split morphctl "${@:2}"
	[[ -n $output ]] || { echo "no output of ${*:2}: $stderr"; return 1; }
	within "$1"
}

# The files of a simulator, with a wide value in each column.
simulator() {
	export MORPHCTL_SIM=$BATS_TEST_TMPDIR/sim
	mkdir -p "$MORPHCTL_SIM/rack0"
	long=$(printf 'word%d ' {1..40})
	printf 'accelerator_dead\taccelerator\tafter,for,%s\theartbeat, lock\t%s\n' \
		"$(seq -s , 99)" "$long" >"$MORPHCTL_SIM/rack0/knobs"
	printf '3\tactive\t%s\t17\t%s\n' "${long// /_}" "$long" >"$MORPHCTL_SIM/rack0/fault"
	printf 'op=4 ns=77 %s\n' "$long" >"$MORPHCTL_SIM/rack0/log"
}

@test "answers of the kernel are no wider than the terminal" {
	local file arguments width count=0
	for file in "$RECORDINGS"/*.args; do
		mapfile -t arguments <"$file"
		[[ ${arguments[0]} == monitor || ${arguments[*]} == *" -n "* ]] && continue
		# People can request each recorded JSON answer as a table.
		for i in "${!arguments[@]}"; do
			[[ ${arguments[i]} == -j ]] && unset 'arguments[i]'
		done
		for width in 80 50; do
			MORPHCTL_REPLAY=${file%.args}.jsonl COLUMNS=$width run_split morphctl "${arguments[@]}"
			within "$width" || { echo "recording: ${file##*/}"; return 1; }
		done
		[[ -z $output ]] || count=$((count + 1))
	done
	# Most recordings print something.
	((count > 50))
}

@test "plans are no wider than the terminal" {
	cat >"$BATS_TEST_TMPDIR/groups.yaml" <<-END
	wavelengths-count: 4
	ports-count: 2
	groups:
	- {name: $(printf 'long%d' {1..30}), ring: [0, 1, 2, 3, 4, 5, 6, 7], least-lanes-count: 1}
	END
	echo 'demands: [{src-host: 0, dst-host: 1, amount-lanes: 12.5, controller: 7}]' >"$BATS_TEST_TMPDIR/demands.yaml"
	python3 "$BATS_TEST_DIRNAME/topo_document.py" rack >"$BATS_TEST_TMPDIR/rack.json"
	for width in 80 60; do
		narrow "$width" schedule plan all-reduce --ranks 16 --planes 4 --bytes 8M --delay settle=200000
		narrow "$width" schedule plan all-reduce --ranks 8 --late 1000000 --lost 0.0
		narrow "$width" schedule plan all-to-all --ranks 8 --profile "$rack" --planes 2
		narrow "$width" slice place --shape 2x4x4 --protect --profile "$rack"
		narrow "$width" slice place --shape 4x4x5 --profile "$rack"
		narrow "$width" slice why-not --shape 5x3 --tier contiguous --profile "$rack"
		narrow "$width" bandwidth plan "$BATS_TEST_TMPDIR/groups.yaml"
		narrow "$width" traffic solve "$BATS_TEST_TMPDIR/demands.yaml" --profile "$rack"
		narrow "$width" spare plan --servers 8 --accelerators 4 --failures supply=0.2% --supply-servers 1
		narrow "$width" topo --input "$BATS_TEST_TMPDIR/rack.json"
	done
}

@test "help is no wider than the terminal" {
	narrow 80 help
	while IFS=$'\t' read -r object verb; do
		narrow 80 "$object" help
		narrow 80 "$object" $verb --help
	done < <(jq -r '.commands[] | [.object, .verb // ""] | @tsv' "$MORPHCTL_BUILD/commands.json")
}

@test "wide values are cut or wrapped, and --wide shows them" {
	simulator
	narrow 80 fault knobs
	holds "$output" "..."
	holds "$output" "word40"
	holds "$output" "--wide shows"
	narrow 80 fault list
	narrow 80 fault log
	holds "$output" "word40"
	narrow 30 fault list
	holds "$output" "hidden: "
	COLUMNS=80 expect 0 morphctl fault knobs --wide
	[[ $(wc -l <<<"$output") == 2 ]]
	holds "$output" "$(seq -s , 99)"
	[[ $output != *--wide* ]]
}

@test "a value in other letters is cut between them" {
	simulator
	printf '3\tactive\t%s\t17\tx\n' "$(printf 'ü%.0s' {1..99})" >"$MORPHCTL_SIM/rack0/fault"
	LC_ALL=C.UTF-8 COLUMNS=80 expect 0 morphctl fault list
	python3 -c 'import sys; sys.exit(max(map(len, sys.argv[1].split("\n"))) > 80)' "$output"
	holds "$output" "üüü..."
}

@test "the width is that of the terminal, and any without one" {
	simulator
	for width in 80 100; do
		output=$(script -qec "stty cols $width; '$MORPHCTL' fault knobs" /dev/null | tr -d '\r')
		within "$width"
		holds "$output" "--wide shows"
	done
	expect 0 morphctl fault knobs
	holds "$output" "$(seq -s , 99)"
}

@test "messages are no wider than the terminal, unless --wide is given" {
	messages() { script -qec "stty cols $1; '$MORPHCTL' ${*:2} >/dev/null" /dev/null | tr -d '\r'; }
	[[ $(messages 50 slice lst) == $'morphctl: slice: unknown verb \'lst\'; did you mean\n  \'list\'? verbs:\n  list\n  show\n'* ]]
	output=$(messages 50 slice list --none)
	within 50
	[[ $(wc -l <<<"$output") == 3 ]]
	# A word that has no room on a line.
	output=$(messages 60 slice "$(printf 'x%.0s' {1..300})" | head -n 6)
	within 60
	output=$(messages 50 slice show --wide none)
	[[ $(head -n 1 <<<"$output") == *"run 'modprobe morph'" ]]
	# Without a terminal, a message is one line.
	COLUMNS=50 run_split morphctl slice lst
	[[ $(head -1 <<<"$stderr") == *"verbs:" ]]
}

@test "each key has a heading" {
	check=("$BATS_TEST_DIRNAME/headings.py" "$TOP/tools/morphctl/output/headings.def")
	expect 0 "${check[@]}"
	expect 1 "${check[@]}" shoe-size
	holds "$output" "no heading for 'shoe-size'"
}

@test "headings name the quantity, and cells have the unit" {
	MORPHCTL_REPLAY=$RECORDINGS/circuit-list.jsonl expect 0 morphctl circuit list train
	holds "$(head -1 <<<"$output")" "FROM PORT"
	holds "$(head -1 <<<"$output")" "BANDWIDTH"
	[[ $(head -1 <<<"$output") != *-* ]]
	[[ $(sed -n 2p <<<"$output") =~ " "[0-9]+\.[0-9]+" "+[0-9]+\.[0-9]+" ".*" Gb/s "+[0-9.]+" dB " ]]
}

@test "lasers and receivers are ACCELERATOR.PLANE" {
	MORPHCTL_REPLAY=$RECORDINGS/guide-show-json.jsonl expect 0 morphctl guide show 3
	holds "$output" "end a "
	[[ $output =~ (element|transmitter|receiver)\ [0-9]+\.[0-9]+ ]]
}

@test "times of day are the wall clock, and JSON has the time since boot" {
	local recording=$RECORDINGS/circuit-show-json.jsonl since
	MORPHCTL_REPLAY=$recording expect 0 morphctl circuit show train 2 -j
	since=$(jq '."last-verified-ns"' <<<"$output")
	MORPHCTL_REPLAY=$recording expect 0 morphctl circuit show train 2
	holds "$output" "$(date -u -d "@$((1000000000 + since / 1000000000))" '+%Y-%m-%d %H:%M:%S').$(printf %03d $((since / 1000000 % 1000)))"
	# The zone is that of the user.
	MORPHCTL_REPLAY=$recording TZ=EET-2 expect 0 morphctl circuit show train 2
	holds "$output" "$(date -u -d "@$((1000000000 + 7200 + since / 1000000000))" '+%Y-%m-%d %H:%M:%S')"
	# Without a given time, the machine booted in the past.
	MORPHCTL_BOOT_TIME='' MORPHCTL_REPLAY=$recording expect 0 morphctl circuit show train 2
	[[ $output =~ last\ verified\ +20[0-9]{2}-[0-9]{2}-[0-9]{2}\ [0-9:]{8}\.[0-9]{3} ]]
}
