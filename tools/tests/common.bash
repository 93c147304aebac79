# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests share. MORPHCTL is the program, MORPHCTL_BUILD the folder with what
# was made from its table.

TOP=$BATS_TEST_DIRNAME/../..

morphctl() {
	"${PLANS_CHECKED:-$MORPHCTL}" "$@"
}

# In setup_file: $RECORDINGS has the files of each recording (recordings.py).
unpack_recordings() {
	export RECORDINGS=$BATS_FILE_TMPDIR/recordings
	"$BATS_TEST_DIRNAME/recordings.py" unpack "$RECORDINGS"
}

# In setup_file: from here on each schedule that morphctl plans goes through libmorph's checker (checked.c), and is noted in $CHECKED. One that is
# none is SIGABRT.
check_plans() {
	export PLANS_CHECKED=$MORPHCTL_BUILD/tests/morphctl CHECKED=$BATS_FILE_TMPDIR/checked
}

# plans_were_checked CALL...: some plans of each of these calls were.
plans_were_checked() {
	local call
	for call; do
		grep -qx "$call" "$CHECKED" || { echo "no plan of morphctl went from $call to the checker"; return 1; }
	done
}

# Runs, keeping standard output in $output and standard error in $stderr.
run_split() {
	status=0
	output=$("$@" 2>"$BATS_TEST_TMPDIR/stderr") || status=$?
	stderr=$(<"$BATS_TEST_TMPDIR/stderr")
}

# expect STATUS COMMAND...: runs split and holds the status against what it must be.
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

# in_megabytes NUMBER COMMAND...: with so much memory, and no more.
in_megabytes() (
	ulimit -v $(($1 * 1024))
	"${@:2}"
)

# holds TEXT PATTERN: the text has the pattern in it, which is no regular expression.
holds() {
	[[ $1 == *"$2"* ]] || { echo "'$2' is not in: $1"; return 1; }
}
