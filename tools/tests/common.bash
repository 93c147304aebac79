# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that the tests share. MORPHCTL is the program, MORPHCTL_BUILD the directory of the files
# generated from its table.

# Output for people has any width, whatever the terminal of the tests.
unset COLUMNS

TOP=$BATS_TEST_DIRNAME/../..

morphctl() {
	case " $* " in
	*" --help "* | *" help "*) "${PLANS_CHECKED:-$MORPHCTL}" "$@" ;;
	*" --json "* | *" -j "* | " monitor "*) noted_call "$@" ;;
	*) "${PLANS_CHECKED:-$MORPHCTL}" "$@" ;;
	esac
}

# Note a call and its output for json_was_checked.
noted_call() {
	local base status=0
	mkdir -p "$BATS_FILE_TMPDIR/json"
	base=$(mktemp "$BATS_FILE_TMPDIR/json/XXXXXX")
	printf '%s\n' "$@" >"$base.args"
	"${PLANS_CHECKED:-$MORPHCTL}" "$@" >"$base.out" 2>"$base.err" || status=$?
	cat "$base.out"
	cat "$base.err" >&2
	# After a signal, the output is incomplete.
	((status < 128)) || rm "$base".*
	return "$status"
}

# json_was_checked COMMAND...: all JSON that morphctl has written so far in this file is as the
# schema describes it, and some is from each of these commands, such as slice.list.
json_was_checked() {
	local checked command
	checked=$("$BATS_TEST_DIRNAME/schema.py" "$MORPHCTL_BUILD/morphctl.schema.json" --all "$BATS_FILE_TMPDIR/json")
	for command; do
		grep -qxF "$command" <<<"$checked" || { echo "no JSON of $command was checked"; return 1; }
	done
}

# In setup_file: $RECORDINGS has the files of each recording (recordings.py).
unpack_recordings() {
	export RECORDINGS=$BATS_FILE_TMPDIR/recordings
	"$BATS_TEST_DIRNAME/recordings.py" unpack "$RECORDINGS"
}

# In setup_file: from here on, libmorph's checker (checked.c) checks each schedule that morphctl
# plans, and notes it in $CHECKED. An invalid schedule causes SIGABRT.
check_plans() {
	export PLANS_CHECKED=$MORPHCTL_BUILD/tests/morphctl CHECKED=$BATS_FILE_TMPDIR/checked
}

# plans_were_checked CALL...: the checker has checked plans of each of these calls.
plans_were_checked() {
	local call
	for call; do
		grep -qx "$call" "$CHECKED" || { echo "no plan of morphctl went from $call to the checker"; return 1; }
	done
}

# Run a command, with standard output in $output and standard error in $stderr.
run_split() {
	status=0
	output=$("$@" 2>"$BATS_TEST_TMPDIR/stderr") || status=$?
	stderr=$(<"$BATS_TEST_TMPDIR/stderr")
}

# expect STATUS COMMAND...: run split and compare the status.
expect() {
	local want=$1
	shift
	run_split "$@"
	if [[ $status != "$want" ]]; then
		echo "$*: exit status $status, not $want"
		echo "stdout: $output"
		echo "stderr: $stderr"
		return 1
	fi
}

# in_megabytes NUMBER COMMAND...: run with this memory limit.
in_megabytes() (
	ulimit -v $(($1 * 1024))
	"${@:2}"
)

# holds TEXT PATTERN: the text contains the pattern, which is no regular expression.
holds() {
	[[ $1 == *"$2"* ]] || { echo "'$2' is not in: $1"; return 1; }
}
