# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that the tests share. MORPHCTL is the program, MORPHCTL_BUILD the directory of the files
# generated from its table.

TOP=$BATS_TEST_DIRNAME/../..

morphctl() {
	"${PLANS_CHECKED:-$MORPHCTL}" "$@"
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
