# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests share. MORPHCTL is the program, MORPHCTL_BUILD the folder with what
# was made from its table.

TOP=$BATS_TEST_DIRNAME/../..

morphctl() {
	"$MORPHCTL" "$@"
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

# holds TEXT PATTERN: the text has the pattern in it, which is no regular expression.
holds() {
	[[ $1 == *"$2"* ]] || { echo "'$2' is not in: $1"; return 1; }
}
