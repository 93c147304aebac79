#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Lanes for communication groups.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	cat >groups.yaml <<-END
	wavelengths-count: 4
	ports-count: 2
	guides: {west: 2}
	groups:
	- {name: tensor, ring: [0, 1, 2, 3], least-lanes-count: 1, most-lanes-count: 8}
	- name: pipeline
	  hops:
	  - {src-accelerator: 0, dst-accelerator: 4, guide-names: [west]}
	  - {src-accelerator: 4, dst-accelerator: 0, circuits-count: 2}
	END
}

# fits PORTS FIBRES: the circuits of a wavelength fit the ports and the fibres of each guide.
fits() {
	jq -e --argjson ports "$1" --argjson fibres "$2" '
		def most(stream): [stream] | group_by(.) | map(length) | max // 0;
		most(.hops[] | ."src-accelerator" as $at | .wavelengths[] | [$at, .]) <= $ports and
		most(.hops[] | ."dst-accelerator" as $at | .wavelengths[] | [$at, .]) <= $ports and
		most(.hops[] | ."guide-names"[] as $at | .wavelengths[] | [$at, .]) <= $fibres' <<<"$output"
}

@test "groups share ports and guides, and each circuit has a wavelength" {
	expect 0 morphctl bandwidth plan groups.yaml --json
	fits 2 2
	jq -e '.verdict == "feasible" and .proof == "leximin" and ."circuits-count" == ([.hops[].wavelengths | length] | add)' <<<"$output"
	# tensor + 2 * pipeline <= 8 lanes into accelerator 0. The smaller group gets 2, then the
	# other gets 4.
	jq -e '[.groups[]."lanes-count"] == [4, 2] and .groups[0]."short-of" == "receive" and .groups[0].index == 0' <<<"$output"
	jq -e '[.hops[] | [.group, ."src-accelerator", ."dst-accelerator", (.wavelengths | length)]] ==
		[["tensor", 0, 1, 4], ["tensor", 1, 2, 4], ["tensor", 2, 3, 4], ["tensor", 3, 0, 4],
		 ["pipeline", 0, 4, 2], ["pipeline", 4, 0, 4]]' <<<"$output"
	jq -e '."guide-loads" == [{"guide-name": "west", "fibres-count": 2, "capacity-lanes-count": 8, "lanes-count": 2}]' <<<"$output"
	expect 0 morphctl bandwidth plan groups.yaml
	holds "$output" "feasible: 22 circuits (proof: leximin)"
	expect 0 morphctl bandwidth plan - <groups.yaml
}

@test "a satisfied group reports it, and a guide may be the limit" {
	printf 'ports-count: 4\nguides: {east: 1}\ngroups: [{ring: [0, 1], most-lanes-count: 2}, {hops: [{src-accelerator: 2, dst-accelerator: 3, guide-names: [east]}]}]' >b.yaml
	expect 0 morphctl bandwidth plan b.yaml --json
	fits 4 1
	jq -e '[.groups[] | [.name, ."lanes-count", ."short-of"]] == [["0", 2, "most"], ["1", 1, "guide"]] and .groups[1]."guide-name" == "east"' <<<"$output"
}

@test "groups without their minimum are infeasible, with the scarce part" {
	printf 'ports-count: 1\ngroups: [{ring: [0, 1], least-lanes-count: 3}]' >b.yaml
	expect 1 morphctl bandwidth plan b.yaml --json
	jq -e '.verdict == "infeasible" and ."short-of" == "transmit" and .have == 1 and .need == 3 and (has("hops") | not)' <<<"$output"
	expect 1 morphctl bandwidth plan b.yaml
	holds "$output" "not enough lanes: transmit ports of accelerator 0: 3 requested, 1 available"
}

@test "ports, wavelengths and fibres between servers are those of a profile" {
	printf 'groups: [{name: near, ring: [0, 1, 2, 3], least-lanes-count: 1}, {name: far, hops: [{src-accelerator: 0, dst-accelerator: 4, guide-names: [0-1]}, {src-accelerator: 4, dst-accelerator: 0, guide-names: [1-0]}]}]' >b.yaml
	expect 2 morphctl bandwidth plan b.yaml
	holds "$stderr" "requires 'ports-count', the number of ports of each accelerator, or --profile"
	expect 0 morphctl bandwidth plan b.yaml --profile "$TOP/build/profiles/rack64.bin" --json
	fits 6 8
	jq -e '."wavelengths-count" == 16 and [.groups[]."lanes-count"] == [48, 48] and [."guide-loads"[]."guide-name"] == ["0-1", "1-0"]' <<<"$output"
	# Numbers of the file replace those of the profile.
	{ cat b.yaml; printf '\nguides: {0-1: 1}\nports-count: 2\n'; } >c.yaml
	expect 0 morphctl bandwidth plan c.yaml --profile "$TOP/build/profiles/rack64.bin" --json
	fits 2 8
	jq -e '[.groups[]."lanes-count"] == [16, 16] and ."guide-loads"[0]."fibres-count" == 1' <<<"$output"
	printf 'groups: [{ring: [0, 77]}]' >b.yaml
	expect 2 morphctl bandwidth plan b.yaml --profile "$TOP/build/profiles/server8.bin"
	holds "$stderr" "an accelerator is a number, 0 to 9"
}

# refused TEXT FILE: a usage error with this text.
refused() {
	printf '%b' "$2" >b.yaml
	expect 2 morphctl bandwidth plan b.yaml
	holds "$stderr" "b.yaml: $1"
}

@test "mistakes in the file are named, with the remedy" {
	expect 3 morphctl bandwidth plan none.yaml
	expect 2 morphctl bandwidth plan groups.yaml --steps x
	holds "$stderr" "--steps must be a number"
	refused "must be a mapping with the keys wavelengths-count,ports-count,guides,groups" '[1]'
	refused "unknown key 'group'; known keys: wavelengths" 'group: []'
	refused "requires a list 'groups' with at least one entry" 'ports-count: 1'
	refused "'ports-count' must be a number, 1 to 1024" 'ports-count: 0\ngroups: []'
	refused "'wavelengths-count' must be a number, 1 to 256" 'ports-count: 1\nwavelengths-count: 257'
	refused "'guides' must be a mapping" 'ports-count: 1\nguides: [a]'
	refused "group 0: 'ring' must be a list of accelerators, two at least" 'ports-count: 1\ngroups: [{ring: [0]}]'
	refused "group 0: requires either 'ring' or 'hops'" 'ports-count: 1\ngroups: [{ring: [0, 1], hops: []}]'
	refused "group 0: unknown key 'leest'; known keys: name,ring,hops,least-lanes-count,most-lanes-count" 'ports-count: 1\ngroups: [{ring: [0, 1], leest: 1}]'
	refused "group 0: 'least' is now 'least-lanes-count'" 'ports-count: 1\ngroups: [{ring: [0, 1], least: 1}]'
	refused "group 0: hop 0: 'from' is now 'src-accelerator'" 'ports-count: 1\ngroups: [{hops: [{from: 0, to: 1}]}]'
	refused "'ports' is now 'ports-count'" 'ports: 1\ngroups: [{ring: [0, 1]}]'
	refused "group 0: 'name' must be a text" 'ports-count: 1\ngroups: [{name: 1, ring: [0, 1]}]'
	refused "group 0: 'least-lanes-count' must be a number" 'ports-count: 1\ngroups: [{ring: [0, 1], least-lanes-count: -1}]'
	refused "group 0: the minimum of a group is 3, its maximum only 2" 'ports-count: 1\ngroups: [{ring: [0, 1], least-lanes-count: 3, most-lanes-count: 2}]'
	refused "group 0: an accelerator is a number, 0 to 65535" 'ports-count: 1\ngroups: [{ring: [0, 65536]}]'
	refused "group 0: hop 1: no guide 'a'; name it in 'guides'" 'ports-count: 1\ngroups: [{hops: [{src-accelerator: 0, dst-accelerator: 1}, {src-accelerator: 1, dst-accelerator: 0, guide-names: [a]}]}]'
	refused "group 0: hop 0: 'guide-names' must be a list of names" 'ports-count: 1\ngroups: [{hops: [{src-accelerator: 0, dst-accelerator: 1, guide-names: 5}]}]'
	refused "group 0: hop 0: 'circuits-count' must be a number, 1 to 1024" 'ports-count: 1\ngroups: [{hops: [{src-accelerator: 0, dst-accelerator: 1, circuits-count: 0}]}]'
	refused "group 0: hop from 0 to 0: a hop connects accelerator 0 to itself" 'ports-count: 1\ngroups: [{hops: [{src-accelerator: 0, dst-accelerator: 0}]}]'
	refused "group 0: hop from 0 to 1: a hop lists guide 0 twice" 'ports-count: 1\nguides: {a: 1}\ngroups: [{hops: [{src-accelerator: 0, dst-accelerator: 1, guide-names: [a, a]}]}]'
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked bandwidth.plan
}
