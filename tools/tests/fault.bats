#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The fault verbs, with files like the simulator's.

load common

setup() {
	export MORPHCTL_SIM=$BATS_TEST_TMPDIR/sim
	mkdir -p "$MORPHCTL_SIM/rack0"
	printf 'accelerator_dead\taccelerator\tafter,for\theartbeat, lock\tthe chip stops\n' \
		>"$MORPHCTL_SIM/rack0/knobs"
	echo "3 active guide_lossy 17 mdb=3000 for=9" >"$MORPHCTL_SIM/rack0/fault"
	printf '# 2 earlier lines are gone\nop=4 ns=77 guide_lossy 17\n' >"$MORPHCTL_SIM/rack0/log"
	: >"$MORPHCTL_SIM/rack0/clear"
}

@test "knobs, faults and the log are listings" {
	expect 0 morphctl fault knobs -j
	[[ $(jq -c . <<<"$output") == '[{"fault":"accelerator_dead","target":"accelerator","arguments":"after,for","hook":"heartbeat, lock","meaning":"the chip stops"}]' ]]
	expect 0 morphctl fault list -j
	[[ $(jq -r '.[0].arguments' <<<"$output") == "mdb=3000 for=9" ]]
	expect 0 morphctl fault list --noheadings --fields target
	[[ $output == 17 ]]
	expect 0 morphctl fault log -j
	[[ $(jq -c . <<<"$output") == '[{"operation":4,"simulated-time-ns":77,"text":"guide_lossy 17"}]' ]]
	expect 2 morphctl fault list --fields colour
	holds "$stderr" "'colour'"
}

@test "inject and clear write one line" {
	expect 0 morphctl fault inject laser_weak 3.1 mdb=2000
	[[ $(<"$MORPHCTL_SIM/rack0/fault") == "laser_weak 3.1 mdb=2000"* ]]
	expect 0 morphctl fault clear
	[[ $(<"$MORPHCTL_SIM/rack0/clear") == all ]]
	expect 0 morphctl fault clear 3
	[[ $(<"$MORPHCTL_SIM/rack0/clear") == 3* ]]
}

@test "instances: the only one, the requested one, none" {
	mkdir "$MORPHCTL_SIM/rack1"
	expect 2 morphctl fault list
	holds "$stderr" "rack0"
	holds "$stderr" "rack1"
	expect 0 morphctl fault list --instance rack0
	expect 3 morphctl fault list --instance rack7
	holds "$stderr" "'rack7'"
	rm -r "$MORPHCTL_SIM"
	expect 3 morphctl fault list
	holds "$stderr" "morph_sim"
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked fault.list fault.knobs fault.log
}
