#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Run the program live on a simulated fabric of its own, and record it. On the test machine,
#
#	selftests/vm/run --modules --udev --results DIR \
#		--cmd "$PWD/libmorph/tests/live.sh PROGRAM PROFILE"
#
# leaves two files in DIR: PROFILE.jsonl, the recording, and PROFILE.txt, the output of the program.

set -e
program=$1
profile=${2:-server8}
instance=/sys/kernel/config/morph_sim/live

mkdir "$instance"
trap 'rmdir "$instance"' EXIT
echo "$profile" > "$instance/profile"
echo 1 > "$instance/live"
udevadm settle
MORPH_RECORD=$RESULTS/$profile.jsonl "$program" > "$RESULTS/$profile.txt"
