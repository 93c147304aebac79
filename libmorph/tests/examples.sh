#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Run the example programs that need no kernel, and check that the others report the missing fabric:
#
#	examples.sh PROGRAMS PROFILES FILES
#
# PROGRAMS is the directory of the programs, PROFILES that of the profiles, and FILES that of
# MSCCL's algorithms.

set -u
programs=$1 profiles=$2 files=$3
status=0

# shows TEXT PROGRAM ARGUMENT...: the program succeeds, and its output contains this line
shows() {
	local wanted=$1 output
	shift
	output=$("$programs/$1" "${@:2}" 2>&1) || { echo "$*: exit status $?: $output"; status=1; return; }
	grep -qxF -- "$wanted" <<< "$output" || { echo "$*: no line '$wanted' in:"; echo "$output"; status=1; }
}

# fails PROGRAM ARGUMENT...: without a fabric or slice, the program names it and returns 1
fails() {
	local output code=0
	output=$("$programs/$1" "${@:2}" 2>&1) || code=$?
	[[ $code == 1 && -n $output ]] || { echo "$*: exit status $code: $output"; status=1; }
}

rack=$profiles/rack64.bin
printf 'E\t0\t1\t100 bytes\t3 msgs sent\t0,0,3\n' > "$programs/messages"

shows 'group 1: 1 lanes, stopped by its wish (1 of 2); wavelengths 1' bandwidth 1
shows '4 fibres (at least 4), 2 servers (at least 2)' place "$rack" ring 6
shows 'rank 5: spare 3' place "$rack" ring 6
shows '115.750 lanes in all' traffic "$rack" 5
shows '4 spares are enough; with one less 0.000806 of the time is not covered' spares 50000 24 0.9999
shows '* ring: 80970 ns' collective 8 1000000
shows 'without a port: 1 circuits differ, 77070 ns later' collective 8 1000000
shows '16 fibres (at least 16), 2 servers (at least 2)' place "$rack" mesh 6
shows '8 fibres (at least 8), 2 servers (at least 2)' place "$rack" torus 6
shows 'rank 5: accelerator 10' place "$rack" pairs 6
shows 'feasible: 248410 ns' rounds 1000000
shows 'ideal: 241010 ns' rounds 1000000
shows '4 ranks take part, rank 1 loads the plan' tokens
shows 'combine: 553670 ns' tokens
shows '7 rounds (at least 7), longest route 9 elements' matchings 3 3 8
fails matchings 2 3 8
shows '1 round (at least 1), longest route 15 elements' switch 3 2 0 1 5 4
fails switch 1 1
shows 'recalled but for 0 lanes' traffic "$rack" 5
shows '2 steps, 16 circuits, a loop' light "$rack" 1000000
shows 'another algorithm takes 1026996 ns once the last rank is there' straggler 8 256000000
shows 'feasible: accelerator 7, 7' objects quarantined
shows '  {"step": 6, "topology": [[0, 1, 1], [1, 2, 1], [2, 3, 1], [3, 0, 1]]}' topologies 4 1000000
shows 'slice 4: controller 0, then 1' controllers spread
shows 'simulated: 2 jobs ended at 3202 ms, 4 circuits set' jobs 2
shows '4 ranks, 6 rounds' files msccl "$files/msccl-ring4.xml" 4000000
shows '0 100' files monitoring "$programs/messages" 2

fails slice 4294967294 2
fails transaction none 0 1
fails events none 1
fails schedule none 1
fails queue none 1
fails phases none load 1
fails operator 4294967294 list
fails controllers 4294967294 1 2 3
fails launch "$rack" 4294967294 4 none
fails defrag "$rack" 4294967294 4
exit $status
