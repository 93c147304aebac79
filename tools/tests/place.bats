#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Plans for an empty rack, which need no kernel.

load common

setup() {
	rack=$TOP/build/profiles/rack64.bin
	[[ -s $rack ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
}

@test "a torus of the rack is a box, at its bounds" {
	expect 0 morphctl slice place --shape 2x4x4 --profile "$rack"
	holds "$output" "contiguous: 32 accelerators in 8 servers (minimum 8), 160 circuits on 96 fibres (minimum 96)"
	expect 0 morphctl slice place --shape 2x4x4 --profile "$rack" --json
	[[ $(jq '[.ranks[].accelerator] | unique | length' <<<"$output") == 32 ]]
	[[ $(jq '[.circuits[].guides // [] | .[]] | [length, (unique | length)] | join(" ")' <<<"$output") == '"96 96"' ]]
	[[ $(jq '[.loads[]."fibres-count"] | add' <<<"$output") == 96 ]]
	[[ $(jq 'all(.loads[]; ."fibres-count" <= ."free-fibres-count")' <<<"$output") == true ]]
}

@test "the other transit policy is reported too" {
	# In an empty rack there are no other tenants.
	expect 0 morphctl slice place --shape 2x4x4 --profile "$rack"
	holds "$output" $'\nwith --transit own: feasible\n'
	expect 0 morphctl slice place --shape 2x4x4 --profile "$rack" --fields transit-own,transit-any --json
	[[ $(jq -c . <<<"$output") == '{"transit-own":"feasible"}' ]]
	expect 0 morphctl slice place --shape 2x4x4 --transit own --profile "$rack" --fields transit-own,transit-any --json
	[[ $(jq -c . <<<"$output") == '{}' ]]
	expect 1 morphctl slice place --count 65 --profile "$rack" --fields transit-own,transit-any --json
	[[ $(jq -c . <<<"$output") == '{"transit-own":"infeasible"}' ]]
	expect 1 morphctl slice place --count 65 --transit own --profile "$rack"
	holds "$output" $'\nwith --transit any: infeasible\n'
}

@test "the answer has the spare of each rank" {
	expect 0 morphctl slice place --shape 4x4x4 --protect --profile "$rack"
	holds "$output" "protection: feasible"
	expect 0 morphctl slice place --shape 4x4x4 --protect --profile "$rack" --json
	[[ $(jq -c '.protection | [.verdict, (.ranks | length)]' <<<"$output") == '["feasible",64]' ]]
	[[ $(jq 'all(.protection.ranks[]; .spare >= 64 and .host >= 16)' <<<"$output") == true ]]
	# The fibres of a rank are those of its circuits, each once.
	[[ $(jq 'all(.protection.ranks[]; ([.circuits[].guides // [] | .[]] | unique | length) == ."fibres-count")' <<<"$output") == true ]]
	expect 0 morphctl slice place --shape 2x2 --profile "$rack" --json
	[[ $(jq 'has("protection")' <<<"$output") == false ]]
}

@test "requested circuits are counted" {
	expect 0 morphctl slice place --count 5 --profile "$rack" --fields ranks-count,circuits-count --json
	[[ $(jq -c '[.["ranks-count"], .["circuits-count"]]' <<<"$output") == "[5,0]" ]]
	expect 0 morphctl slice place --ring 5 --lanes 3 --profile "$rack" --json
	[[ $(jq -c '[.["ranks-count"], .["circuits-count"], .["lanes-count"]]' <<<"$output") == "[5,10,3]" ]]
	expect 0 morphctl slice place --mesh 4 --bandwidth 25001 --profile "$rack" --json
	[[ $(jq -c '[.["ranks-count"], .["circuits-count"], .["lanes-count"]]' <<<"$output") == "[4,12,2]" ]]
	expect 0 morphctl slice place --shape 3x2 --profile "$rack" --json
	[[ $(jq -c '[.["ranks-count"], .["circuits-count"]]' <<<"$output") == "[6,18]" ]]
}

@test "a request that fits no rack is refused with the reason" {
	expect 1 morphctl slice place --shape 4x4x5 --profile "$rack"
	holds "$output" "infeasible: not enough accelerators in one rack: 80 requested, at most 64 free"
	holds "$output" "rack of server 0: not enough accelerators: 80 requested, 64 free"
	expect 1 morphctl slice place --shape 4x4x5 --profile "$rack" --json
	[[ $(jq -c '[.verdict, .refusals[0].reason, .refusals[0].have]' <<<"$output") == '["infeasible","count",64]' ]]
}

@test "the farthest accepted tier is the requested one" {
	pod=$TOP/build/profiles/pod128.bin
	[[ -s $pod ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" "$pod" >&2
	expect 1 morphctl slice place --shape 4x4x8 --profile "$pod"
	holds "$output" "infeasible: not enough accelerators in one rack: 128 requested, at most 64 free"
	expect 0 morphctl slice place --shape 4x4x8 --tier crossing --profile "$pod" --json
	[[ $(jq -c '[.tier, ."servers-count", ."fibres-count" - ."fibres-bound-count"]' <<<"$output") == '["crossing",32,0]' ]]
	expect 0 morphctl slice place --shape 3x3x3 --profile "$rack" --fields tier --json
	[[ $(jq -r .tier <<<"$output") == contiguous ]]
	expect 0 morphctl slice place --shape 5x3 --profile "$rack" --fields tier --json
	[[ $(jq -r .tier <<<"$output") == stitched ]]
	expect 1 morphctl slice place --shape 5x3 --tier contiguous --profile "$rack"
	expect 2 morphctl slice place --shape 5x3 --tier far --profile "$rack"
	holds "$stderr" "--tier must be contiguous|stitched|crossing, not 'far'"
}

@test "a request beyond every fabric of the profile is an error" {
	expect 10 morphctl slice place --mesh 8 --profile "$rack"
	holds "$stderr" "rank 0 has 7 circuits out and 7 in: an accelerator has 6 ports each way"
	expect 10 morphctl slice place --ring 4 --lanes 17 --profile "$rack"
	holds "$stderr" "a circuit has at most 16 lanes"
	[[ -z $output ]]
}

@test "circuits share fibres in wavelengths of their own" {
	# With whole fibres, the fibres between two servers do not suffice: some circuits take a
	# detour.
	expect 0 morphctl slice place --mesh 7 --profile "$rack"
	holds "$output" "42 circuits on 32 fibres (minimum 24)"
	expect 0 morphctl slice place --mesh 7 --wavelengths 4 --profile "$rack"
	holds "$output" "42 circuits on 24 fibres (minimum 24)"
	holds "$output" "FROM RANK  TO RANK  SERVERS  LANES  GUIDES"
	expect 0 morphctl slice place --mesh 7 --wavelengths 4 --profile "$rack" --json
	[[ $(jq '."wavelengths-count"' <<<"$output") == 4 ]]
	# Some circuits share a fibre, on different lanes.
	[[ $(jq '[.circuits[].guides // [] | .[]] | length > (unique | length)' <<<"$output") == true ]]
	[[ $(jq '[.circuits[] | ."lane-mask" as $lanes | (.guides // [])[] | [., $lanes]] | length == (unique | length)' <<<"$output") == true ]]
	expect 10 morphctl slice place --mesh 7 --wavelengths 3 --profile "$rack"
	holds "$stderr" "cannot divide the 16 lanes of a fibre evenly by 3 wavelengths"
	expect 2 morphctl slice place --mesh 7 --wavelengths 0 --profile "$rack"
	holds "$stderr" "--wavelengths must be 1 (circuits do not share fibres) to 16, not 0"
}

# graph STATUS TEXT OPTION...: place the links of a file with this text
graph() {
	printf '%b' "$2" >"$BATS_TEST_TMPDIR/links"
	expect "$1" morphctl slice place --graph "$BATS_TEST_TMPDIR/links" --profile "$rack" --json "${@:3}"
}

# refused TEXT SENTENCE: morphctl refuses a file with this text, for this reason
refused() {
	graph 2 "$1"
	[[ -z $output ]]
	holds "$stderr" "links: $2"
}

circuits() {
	jq -c '[.circuits[] | [."src-rank", ."dst-rank"]]' <<<"$output"
}

@test "any logical graph is placed" {
	graph 0 '0 1\n1 2  # a star\n\n  # and no more\n1\t3\r\n4 1'
	[[ $(jq '."ranks-count"' <<<"$output") == 5 ]]
	[[ $(circuits) == "[[0,1],[1,0],[1,2],[2,1],[1,3],[3,1],[4,1],[1,4]]" ]]
	[[ $(jq '[.ranks[].accelerator] | unique | length' <<<"$output") == 5 ]]
	graph 0 '0 1\n1 2\n4 3\n2 3\n' --simplex
	[[ $(circuits) == "[[0,1],[1,2],[4,3],[2,3]]" ]]
	# A repeated pair has two links.
	graph 0 '0 1\n0 1\n' --simplex
	[[ $(circuits) == "[[0,1],[0,1]]" ]]
	expect 0 morphctl slice place --graph - --profile "$rack" --fields circuits-count --json <<<"0 1"
	[[ $(jq '."circuits-count"' <<<"$output") == 2 ]]
}

@test "a graph that is a ring is placed like the ring" {
	graph 0 '0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n' --simplex
	links=$output
	expect 0 morphctl slice place --ring 6 --simplex --profile "$rack" --json
	[[ $(jq -c '[.ranks, ."fibres-count"]' <<<"$output") == "$(jq -c '[.ranks, ."fibres-count"]' <<<"$links")" ]]
}

@test "links of shapes are one circuit with --simplex" {
	expect 0 morphctl slice place --ring 5 --simplex --profile "$rack" --json
	[[ $(circuits) == "[[0,1],[1,2],[2,3],[3,4],[4,0]]" ]]
	expect 0 morphctl slice place --shape 2x3 --simplex --profile "$rack" --fields circuits-count --json
	[[ $(jq '."circuits-count"' <<<"$output") == 9 ]]
	# Seven circuits out of an accelerator are too many. Six out and six in are possible.
	expect 10 morphctl slice place --mesh 8 --profile "$rack"
	expect 0 morphctl slice place --mesh 7 --simplex --profile "$rack" --fields circuits-count --json
	[[ $(jq '."circuits-count"' <<<"$output") == 21 ]]
}

@test "wrong lines of a graph are named, with the valid form" {
	refused '0 1\n2\n' "line 2: one word alone; a line has two ranks, as '0 1'"
	refused '0 1 2\n' "line 1: more than two words; a line has two ranks"
	refused '# 0\n0 a\n' "line 2: 'a' is not a rank; ranks are 0 to 4095"
	refused '0 -1\n' "line 1: '-1' is not a rank"
	refused '0 4096\n' "line 1: '4096' is not a rank"
	refused '0 1\n1 1\n' "line 2: a link from rank 1 to itself; the two ranks must differ"
	refused '0 1\n1 4\n0 2\n' "line 2: rank 4, but no line has rank 3; ranks must be numbered from 0 without a gap"
	refused '1 2\n' "line 1: rank 2, but no line has rank 0"
	refused '# nothing\n\n' "no links; each line has two ranks"
	refused '' "no links"
	refused '0 1\0 2\n' "line 1: NUL character; remove it"
	expect 3 morphctl slice place --graph "$BATS_TEST_TMPDIR/none" --profile "$rack"
	holds "$stderr" "none: No such file"
	expect 1 morphctl slice place --graph "$BATS_TEST_TMPDIR" --profile "$rack"
	holds "$stderr" "Is a directory"
}

@test "a file without end is refused at its limit" {
	expect 2 morphctl slice place --graph /dev/zero --profile "$rack"
	holds "$stderr" "/dev/zero: more than 2^30 bytes"
}

@test "an exhausted search is undecided, not infeasible" {
	pod=$TOP/build/profiles/pod128.bin
	[[ -s $pod ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" "$pod" >&2
	expect 1 morphctl slice place --shape 4x4x7 --whole-servers --tier crossing --steps 1 --profile "$pod"
	holds "$output" "undecided: no rack fits; search budget exhausted; raise --steps"
	expect 0 morphctl slice place --shape 4x4x7 --tier crossing --profile "$pod"
	expect 2 morphctl slice place --ring 4 --steps 0 --profile "$rack"
	holds "$stderr" "--steps must be at least 1"
	expect 2 morphctl slice place --ring 4 --steps few --profile "$rack"
}

@test "a torus is placed in parts of servers, unless these are wanted whole" {
	expect 0 morphctl slice place --shape 2x2 --whole-servers --profile "$rack"
	expect 10 morphctl slice place --shape 3x2 --whole-servers --profile "$rack"
	holds "$stderr" "whole servers require"
	expect 0 morphctl slice place --shape 3x2 --profile "$rack"
	expect 10 morphctl slice place --ring 4 --whole-servers --profile "$rack"
}

@test "wrong arguments are named" {
	expect 2 morphctl slice place --profile "$rack"
	holds "$stderr" "requires exactly one of --count, --shape, --ring, --mesh and --graph"
	expect 2 morphctl slice place --graph - --ring 3 --profile "$rack"
	holds "$stderr" "requires exactly one of"
	expect 2 morphctl slice place --count 2 --ring 3 --profile "$rack"
	holds "$stderr" "requires exactly one of"
	for shape in 2x x2 2x2x2x2 2X2 a 2x-1 ""; do
		expect 2 morphctl slice place --shape "$shape" --profile "$rack"
		holds "$stderr" "--shape must be extents such as 2x4x4"
	done
	expect 2 morphctl slice place --ring 4 --lanes 2 --bandwidth 5 --profile "$rack"
	holds "$stderr" "--bandwidth and --lanes are mutually exclusive"
	expect 2 morphctl slice place job --ring 4 --profile "$rack"
	holds "$stderr" "NAME is only valid with --apply"
	expect 2 morphctl slice place --ring 4 --apply
	holds "$stderr" "--apply requires the NAME"
	expect 2 morphctl slice place job --ring 4 --apply --profile "$rack"
	holds "$stderr" "--apply with --profile requires --fabric"
	expect 2 morphctl slice place --ring 4 --controller 7 --profile "$rack"
	holds "$stderr" "--controller and --epoch require each other"
}

@test "a profile that is missing, or is none" {
	expect 3 morphctl slice place --ring 4 --profile "$BATS_TEST_TMPDIR/none.bin"
	holds "$stderr" "none.bin"
	echo nonsense >"$BATS_TEST_TMPDIR/wrong.bin"
	expect 10 morphctl slice place --ring 4 --profile "$BATS_TEST_TMPDIR/wrong.bin"
	holds "$stderr" "malformed"
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked slice.place
}
