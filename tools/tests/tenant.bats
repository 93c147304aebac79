#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A user without CAP_NET_ADMIN reads its own slices through their device nodes. answers.py describes
# what the kernel answers: slice 2 is the user's, slice 1 is not. A request that the recording does
# not have causes SIGABRT (see libmorph/client/replay.c).

load common

note="morphctl: only slices whose device nodes you may open; CAP_NET_ADMIN lists all"

setup() {
	export MORPHCTL_REPLAY=$BATS_TEST_TMPDIR/answers
}

# as CAUSE ANSWERS STATUS ARGUMENTS...
as() {
	"$BATS_TEST_DIRNAME/answers.py" "$1" "$2" >"$MORPHCTL_REPLAY"
	expect "$3" morphctl "${@:4}"
}

@test "slice list has the own slices, and people get a note" {
	as tenant list 0 slice list
	[[ $(wc -l <<<"$output") == 2 && $output =~ 2" "+mine" "+degraded && $stderr == "$note" ]]
	as tenant list 0 slice list -n -o name
	[[ $output == mine && -z $stderr ]]
	as tenant list 0 slice list --json
	[[ $(jq -c '[.[] | [.id, .name, (.ranks | length)]]' <<<"$output") == '[[2,"mine",2]]' && -z $stderr ]]
}

@test "the columns of slice list are those of an administrator" {
	as tenant list 0 slice list -n -o owner,mode,files-count,bandwidth-mbps
	[[ $output =~ ^2000001" "+0640" "+3" "+25" "Gb/s$ ]]
	as tenant show 0 slice show mine --json
	[[ $(jq -c '[.owner, .mode, ."files-count", ."bandwidth-mbps", ."used-replacements-count"]' <<<"$output") == '[2000001,416,3,25000,1]' ]]
}

@test "without netlink, as in a container, slice list has the own slices" {
	as container list 0 slice list
	[[ $output =~ 2" "+mine" "+degraded && $stderr == "$note" ]]
}

@test "without the node of a fabric, as in a container, slice list has the own slices" {
	as container nodes 0 slice list
	[[ $output =~ 2" "+mine" "+degraded && $stderr == "$note" ]]
	as container nodes 0 slice list --json
	[[ $(jq -c '[.[] | [.fabric, .id, .name]]' <<<"$output") == '[[0,2,"mine"]]' ]]
}

@test "slice show of a degraded slice shows the reason" {
	as tenant show 0 slice show mine
	[[ $output =~ reason" "+"rank 1: accelerator 5 failed; no spare is left; 1 circuit dark" && -z $stderr ]]
	as tenant show 0 slice show mine --json
	[[ $(jq -r .text <<<"$output") == "rank 1: accelerator 5 failed; no spare is left; 1 circuit dark" ]]
	as tenant show 0 slice show mine -n -o state,text
	holds "$output" "accelerator 5 failed"
}

@test "circuit list of an own slice" {
	as tenant circuits 0 circuit list 2 --json
	[[ $(jq -c '[.[] | [.slice, .id, .state]]' <<<"$output") == '[[2,7,"failed"]]' && -z $stderr ]]
	as tenant circuits 0 circuit list 2
	[[ $output =~ 2" "+7" "+failed && -z $stderr ]]
}

@test "why-not names the shortage" {
	as tenant why-not 1 slice why-not --count 9
	[[ $output == $'blocked by accelerators: 9 requested, 6 available\ntoo few accelerators are free' && -z $stderr ]]
	as tenant why-not 1 slice why-not --count 9 --json
	[[ $(jq -c '[.reason, .have, .need]' <<<"$output") == '["accelerators",6,9]' ]]
}

@test "why-not of a ring names the part in the way" {
	as tenant ring 1 slice why-not --count 2 --ring --lanes 2
	[[ $output == $'blocked by lanes, guide 17: 2 requested, 1 available\ntoo few lanes are free' && -z $stderr ]]
}

@test "status has the own slices with the reason, and says that others are missing" {
	as tenant status 0 status
	[[ $output =~ mine" "+degraded" "+2" "+1" "+"rank 1: accelerator 5 failed;" && -z $stderr ]]
	holds "$output" "${note#morphctl: }"
	page=$output
	as tenant status 0
	[[ $output == "$page" ]]
	as tenant status 0 watch --timeout 0
	[[ $(tail -n +2 <<<"$output") == "$page" ]]
	as tenant status 0 status --json
	[[ $(jq -c '[.visible, .slices[0].name, .slices[0].text, .state]' <<<"$output") == \
		'["own","mine","rank 1: accelerator 5 failed; no spare is left; 1 circuit dark","degraded"]' ]]
}

@test "status without a slice that the caller may open says so" {
	as tenant denied 0 status
	holds "$output" $'no slices that you may open\n'"${note#morphctl: }"
	as tenant denied 0 status --json
	jq -e '.visible == "own" and .slices == []' <<<"$output"
}

@test "without netlink, status has the own slices, and no parts and counters" {
	as container status 0 status
	[[ $output =~ mine" "+degraded" "+2" "+1" "+"rank 1: accelerator 5 failed;" ]]
	holds "$output" "unhealthy parts and failovers are visible in the initial network namespace only"
	as container status 0 status --json
	jq -e '.visible == "own" and (has("hardware") or has("stats") | not)' <<<"$output"
}

@test "metrics have the own slices, and say that others are missing" {
	as tenant status 0 metrics
	holds "$output" 'morph_slice_state{fabric="sim0",slice="2",name="mine",state="degraded"} 1'
	holds "$output" $'\nmorph_slices_hidden 1\n'
	holds "$output" 'morph_slice_bandwidth_bits_per_second{fabric="sim0",slice="2",name="mine"} 25000000000'
	[[ $output == *'morph_unhealthy_parts{'* ]]
	# Without netlink, nobody knows the number of failed parts.
	as container status 0 metrics
	[[ $output == *'morph_slices_hidden 1'* && $output != *'morph_unhealthy_parts{'* ]]
}

@test "health has the own slices, and says that others are missing" {
	as tenant health 7 health
	[[ $output =~ degraded\ or\ lost\ slices:.*mine" "+degraded ]]
	holds "$output" "other slices and controllers hidden: needs CAP_NET_ADMIN"
	as tenant health 7 health --json
	[[ $(jq -c '[.visible, [.slices[].name], has("controllers")]' <<<"$output") == '["own",["mine"],false]' ]]
}

@test "topo has the own slices, and says that others are missing" {
	as tenant topo 0 topo --json
	[[ $(jq -c '[.visible, [.slices[].name], [.circuits[].id]]' <<<"$output") == '["own",["mine"],[7]]' ]]
	as tenant topo 0 topo -o svg
	holds "$output" "Incomplete: shows only slices whose device nodes the caller may open"
	holds "$output" "1 circuit, 2 lanes, 50 Gb/s, failed: 4 to 5"
	[[ $(grep -c 'class="rank">mine<' <<<"$output") == 2 && $(grep -c 'class="rank">in use<' <<<"$output") == 1 ]]
}

@test "monitor prints the state and the events of own slices" {
	as tenant monitor 0 monitor --once --dump
	[[ $(jq -c '[.name, .msg.type // .msg.state]' <<<"$output" | tr '\n' ' ') == \
		'["slice-get","degraded"] ["circuit-get","failed"] ["event-ntf","replaced"] ' ]]
	[[ $(jq -c 'select(.name == "event-ntf") | [.msg.slice, .msg.rank, .msg."new-accelerator"]' <<<"$output") == '[2,1,9]' ]]
}

@test "monitor prints the state after lost events, and ends with the last slice" {
	as tenant lost 0 monitor
	[[ $(jq -c '[.name, .msg.type // .msg.state]' <<<"$output" | tr '\n' ' ') == \
		'["resync",null] ["slice-get","degraded"] ["circuit-get","failed"] ' ]]
}

@test "the JSON is as its schema describes it" {
	json_was_checked slice.list slice.show circuit.list slice.why-not monitor topo status health
}
