#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Lanes between servers, solved on an empty rack, which needs no kernel.

load common

setup() {
	rack=$TOP/build/profiles/rack64.bin
	[[ -s $rack ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
	file=$BATS_TEST_TMPDIR/demands.yaml
}

solve() {
	printf '%s\n' "$1" >"$file"
	expect 0 morphctl traffic solve "$file" --profile "$rack" --json
}

refused() {
	printf '%s\n' "$2" >"$file"
	expect "${3:-2}" morphctl traffic solve "$file" --profile "$rack"
	[[ -z $output ]]
	holds "$stderr" "$1"
}

@test "demands that fit are carried whole, on the shortest path" {
	solve 'demands: [{src-host: 0, dst-host: 1, amount-lanes: 12.5, controller: 7}]'
	[[ $(jq '.demands[0]."flow-lanes" * 1000 | round' <<<"$output") == 12500 ]]
	[[ $(jq -c '.paths[0].hosts' <<<"$output") == "[0,1]" ]]
	[[ $(jq '.links[0]."capacity-lanes" == 128' <<<"$output") == true ]]
	[[ $(jq '.residual < 1e-6' <<<"$output") == true ]]
}

@test "excess demands share by weight, and the full link has a price" {
	solve $'ways: 1\ndemands:\n- {src-host: 0, dst-host: 1, amount-lanes: 100, weight: 1}\n- {src-host: 0, dst-host: 1, amount-lanes: 100, weight: 3}'
	[[ $(jq '[.demands[]."flow-lanes"] | add | round' <<<"$output") == 128 ]]
	[[ $(jq '.demands[1]."flow-lanes" > .demands[0]."flow-lanes"' <<<"$output") == true ]]
	[[ $(jq '.links | length' <<<"$output") == 1 ]]
	[[ $(jq '.links[0].price > 0' <<<"$output") == true ]]
}

@test "whole lanes follow from the epoch, the same each time" {
	wish='demands: [{src-host: 0, dst-host: 1, amount-lanes: 0.5}, {src-host: 2, dst-host: 3, amount-lanes: 0.5}, {src-host: 4, dst-host: 5, amount-lanes: 0.5}, {src-host: 6, dst-host: 7, amount-lanes: 0.5}]'
	lanes() {
		solve "decision-epoch: $1"$'\n'"$wish"
		jq -c '[.demands[]["lanes-count"]]' <<<"$output"
	}
	[[ $(lanes 1) == "$(lanes 1)" ]]
	[[ $(for epoch in {1..8}; do lanes "$epoch"; done | sort -u | wc -l) -gt 1 ]]
}

@test "more paths carry more" {
	solve $'ways: 1\ndemands: [{src-host: 0, dst-host: 5, amount-lanes: 500}]'
	narrow=$(jq '."throughput-lanes"' <<<"$output")
	solve $'ways: 8\ndemands: [{src-host: 0, dst-host: 5, amount-lanes: 500}]'
	[[ $(jq --argjson narrow "$narrow" '."throughput-lanes" > 2 * $narrow' <<<"$output") == true ]]
	[[ $(jq '.paths | length' <<<"$output") == 8 ]]
	[[ $(jq '[.links[] | ."load-lanes" <= ."capacity-lanes" + 1e-6] | all' <<<"$output") == true ]]
}

@test "errors in the file are named" {
	refused "requires a list 'demands'" 'decision-epoch: 1'
	refused "must be a mapping" '[1]'
	refused "unknown key 'demand'; known keys: demands,decision-epoch,ways,lambda" 'demand: []'
	refused "demand 0: 'from' is now 'src-host'" 'demands: [{from: 0, dst-host: 1, amount-lanes: 1}]'
	refused "demand 0: 'lanes' is now 'amount-lanes'" 'demands: [{src-host: 0, dst-host: 1, lanes: 1}]'
	refused "'epoch' is now 'decision-epoch'" $'epoch: 1\ndemands: [{src-host: 0, dst-host: 1, amount-lanes: 1}]'
	refused "demand 1: unknown key 'lane'; known keys: src-host,dst-host,amount-lanes,weight,controller" \
		'demands: [{src-host: 0, dst-host: 1, amount-lanes: 1}, {src-host: 0, dst-host: 1, lane: 1}]'
	refused "demand 0: 'src-host' and 'dst-host' must be numbers of hosts" 'demands: [{src-host: a, dst-host: 1, amount-lanes: 1}]'
	refused "demand 0: 'amount-lanes' must be" 'demands: [{src-host: 0, dst-host: 1, amount-lanes: -1}]'
	refused "demand 0: 'amount-lanes' must be" 'demands: [{src-host: 0, dst-host: 1}]'
	refused "demand 0: 'weight' must be" 'demands: [{src-host: 0, dst-host: 1, amount-lanes: 1, weight: 0}]'
	refused "'ways' must be 1 to 64" $'ways: 0\ndemands: [{src-host: 0, dst-host: 1, amount-lanes: 1}]'
	refused "from host 0 to host 99: must be two different hosts of 18" \
		'demands: [{src-host: 0, dst-host: 99, amount-lanes: 1}]' 10
	refused "from host 3 to host 3" 'demands: [{src-host: 3, dst-host: 3, amount-lanes: 1}]' 10
}

@test "reservations come from the kernel and from a controller" {
	echo 'demands: [{src-host: 0, dst-host: 1, amount-lanes: 1, controller: 7}]' >"$file"
	expect 2 morphctl traffic apply "$file" --controller 7 --epoch 1 --profile "$rack"
	holds "$stderr" "--profile requires --fabric"
	expect 2 morphctl traffic apply "$file"
	holds "$stderr" "--controller N and --epoch N are required (N >= 1)"
	expect 2 morphctl traffic apply "$file" --controller 7 --epoch 0
	holds "$stderr" "are required (N >= 1)"
	expect 2 morphctl traffic apply "$file" --controller 7
	holds "$stderr" "--controller and --epoch require each other"
}

@test "divergence needs a kernel" {
	echo 'demands: [{src-host: 0, dst-host: 1, amount-lanes: 1}]' >"$file"
	expect 2 morphctl traffic divergence "$file" --profile "$rack"
	holds "$stderr" "--profile requires --fabric"
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked traffic.solve
}
