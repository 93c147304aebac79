#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The causes that block a request to planners. On an empty rack the cause is the request itself.
# selftests/plan/place.py tests blocking by other tenants.

load common

setup() {
	rack=$TOP/build/profiles/rack64.bin
	[[ -s $rack ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
}

# blocked BINDING TRIED OPTION...: check the binding constraint, and the ones tried before it
blocked() {
	expect 1 morphctl slice why-not "${@:3}" --profile "$rack" --json
	[[ $(jq -r .verdict <<<"$output") == infeasible ]]
	[[ $(jq -r .binding.constraint <<<"$output") == "$1" ]]
	[[ $(jq -r '[.tried[] | "\(.constraint):\(.verdict)"] | join(" ")' <<<"$output") == "$2" ]]
}

@test "a request that fits is reported as such" {
	expect 0 morphctl slice why-not --shape 2x4x4 --profile "$rack"
	[[ $output == "yes: would fit in 8 servers on 96 fibres (contiguous)" ]]
	expect 0 morphctl slice why-not --ring 6 --transit own --profile "$rack" --json
	[[ $(jq -c '[.verdict, has("binding"), has("tried")]' <<<"$output") == '["feasible",false,false]' ]]
}

@test "the first constraint without which it fits is named" {
	blocked tier tier:feasible --shape 5x3 --tier contiguous
	expect 1 morphctl slice why-not --shape 5x3 --tier contiguous --profile "$rack"
	holds "$output" "blocked by tier: fits with --tier stitched"
	blocked bandwidth bandwidth:feasible --ring 4 --lanes 17
	holds "$(jq -r .text <<<"$output")" "a circuit has at most 16 lanes"
	blocked bandwidth bandwidth:feasible --ring 4 --bandwidth 400001 --transit any
	blocked wavelengths wavelengths:feasible --mesh 7 --wavelengths 3
	blocked spares "tier:infeasible spares:feasible" --count 66
}

@test "each constraint is lifted alone" {
	# Lifting either the bandwidth or the tier alone is not enough, lifting both is.
	blocked several "bandwidth:infeasible tier:infeasible tier:infeasible spares:infeasible" \
		--shape 5x3 --tier contiguous --lanes 17
	blocked bandwidth "transit:infeasible bandwidth:feasible" --shape 2x2 --transit own --lanes 17
}

@test "a request beyond every fabric of the profile blames the fabric" {
	blocked fabric "tier:infeasible spares:infeasible" --shape 4x4x5
	[[ $(jq -c '.tightest | [.reason, .have, .need]' <<<"$output") == '["count",64,80]' ]]
	expect 1 morphctl slice why-not --mesh 8 --profile "$rack"
	holds "$output" "infeasible: "
	holds "$output" "rank 0 has 7 circuits out and 7 in: an accelerator has 6 ports each way"
	holds "$output" "blocked by fabric: even an idle fabric of this profile cannot take it"
}

@test "a graph is requested as in 'place'" {
	expect 0 morphctl slice why-not --graph - --simplex --profile "$rack" <<<$'0 1\n1 2'
	holds "$output" "yes: would fit "
	expect 2 morphctl slice why-not --graph - --profile "$rack" <<<"0 0"
	holds "$stderr" "line 1: a link from rank 0 to itself"
}

@test "fields can be chosen, and unknown ones are named" {
	expect 1 morphctl slice why-not --count 66 --profile "$rack" --fields binding --json
	[[ $(jq -c keys <<<"$output") == '["binding"]' ]]
	expect 2 morphctl slice why-not --count 66 --profile "$rack" --fields colour
	holds "$stderr" "unknown attribute 'colour'; known attributes: verdict,text,tier,"
}

@test "a ring has a number of ranks, or covers the accelerators" {
	expect 0 morphctl slice why-not --profile "$rack" --ring 8 --lanes 2
	expect 2 morphctl slice why-not --profile "$rack" --ring --lanes 2
	holds "$stderr" "--ring requires the number of ranks here"
	expect 2 morphctl slice why-not --profile "$rack" --ring 8 9
	holds "$stderr" "unexpected argument '9'"
	expect 2 morphctl slice why-not --profile "$rack" --ring 8 --count 2
	holds "$stderr" "requires exactly one of --count"
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked slice.why-not
}
