#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Rounds of circuits that join all pairs of endpoints. No kernel is necessary.

load common

setup() {
	smartlight=$TOP/build/profiles/smartlight72.bin
	[[ -s $smartlight ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" "$smartlight" >&2
	cd "$BATS_TEST_TMPDIR"
}

# find_file OPTION...: the answer is in the file f.json.
find_file() {
	expect 0 morphctl matchings find "$@" --to-file f.json
	first=$(head -1 <<<"$output")
}

# changed FILTER: the file f.json with a change is in g.json.
changed() {
	jq "$1" f.json >g.json
	! cmp -s <(jq -S . f.json) <(jq -S . g.json) || { echo "no change: $1"; return 1; }
}

@test "endpoints of a mesh meet in rounds, as pairs" {
	find_file --mesh-size 3x3 --ports even:8
	[[ $first == "8 endpoints meet in 7 rounds (lower bound 7, by degree)" ]]
	holds "$output" $'\nmesh 3x3, pairs: longest route 9 elements, total 190 (lower bound 190)\n'
	[[ $(grep -cE '^ +[0-6] +4 ' <<<"$output") == 7 ]]
	writes=$(grep -oE 'writes [0-9]+' <<<"$output" | cut -d' ' -f2)
	[[ $(awk '/^ +[0-9]/ { sum += $4 } END { print sum }' <<<"$output") == "$writes" ]]
	shown=$output
	expect 0 morphctl matchings show f.json
	[[ $output == "$shown" ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: each pair of 8 endpoints meets in one of 7 rounds; 7 are necessary" ]]
}

@test "the same options give the same answer, and another seed another one" {
	expect 0 morphctl matchings find --mesh-size 5x5 --ports even:16 --json
	one=$output
	expect 0 morphctl matchings find --mesh-size 5x5 --ports even:16 --seed 1 --json
	[[ $output == "$one" ]]
	expect 0 morphctl matchings find --mesh-size 5x5 --ports even:16 --seed 2 --json
	[[ $output != "$one" ]]
	[[ $(jq -c '[.seed, ."rounds-count", (.rounds | length), ."hops-bound-count"]' <<<"$output") == "[2,15,15,1144]" ]]
}

@test "the search chooses the ports of a mesh" {
	find_file --mesh-size 3x3 --endpoints 8
	[[ $first == "8 endpoints meet in 7 rounds (lower bound 7 for any ports, by degree)" ]]
	holds "$output" $'\nthe search chose these ports: '
	expect 0 morphctl matchings check f.json
}

@test "directed circuits have transmit and receive ports" {
	find_file --mesh-size 3x3 --kind directed --ports 0:3,6:9,12:15,18:21
	[[ $(jq -c '.endpoints[1]' f.json) == '{"tx-port":6,"rx-port":9}' ]]
	[[ $(jq '[.rounds[].circuits[]] | length' f.json) == 12 ]]
	expect 0 morphctl matchings check f.json
	# even:N alternates them along the rim.
	expect 0 morphctl matchings find --mesh-size 3x3 --kind directed --ports even:4 --json
	[[ $(jq -c '[.endpoints[] | [."tx-port", ."rx-port"]]' <<<"$output") == "[[0,3],[6,9],[12,15],[18,21]]" ]]
}

@test "duplex circuits of two endpoints are in one round" {
	find_file --mesh-size 5x5 --kind duplex --ports even:4
	[[ $(jq 'all(.rounds[]; [.circuits[] | [."src-endpoint", ."dst-endpoint"]] | sort == (map(reverse) | sort))' f.json) == true ]]
	expect 0 morphctl matchings check f.json
}

@test "a refusal names the bound or two endpoints without a route" {
	expect 1 morphctl matchings find --mesh-size 3x3 --ports even:8 --rounds 6 --to-file f.json
	[[ $output == "no: 6 rounds requested, more are necessary (lower bound 7, by degree)" ]]
	expect 0 morphctl matchings show f.json
	[[ $output == "no: 6 rounds requested, more are necessary (lower bound 7, by degree)" ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: 6 rounds are too few; 7 are necessary" ]]
	changed '."rounds-limit" = 7'
	expect 1 morphctl matchings check g.json
	expect 1 morphctl matchings find --mesh-size 3x3 --ports even:8 --hops 3 --to-file f.json
	[[ $output == "no: endpoint 0 has no route to endpoint 1 within 3 elements" ]]
	expect 0 morphctl matchings check f.json
	changed '."hops-limit" = 9'
	expect 1 morphctl matchings check g.json
	expect 1 morphctl matchings find --mesh-size 3x3 --ports even:8 --failed 16,17 --to-file f.json
	[[ $output == "no: endpoint 2 has no route to endpoint 6" ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: endpoint 2 has no route to endpoint 6" ]]
	changed '."failed-elements" = [16]'
	expect 1 morphctl matchings check g.json
	[[ $output == "wrong: endpoint 2 has a route to endpoint 6 of "* ]]
	expect 2 morphctl matchings show f.json --round 0
	holds "$stderr" "f.json has no rounds"
}

@test "a refusal names two endpoints that no round joins both ways" {
	expect 1 morphctl matchings find --mesh-size 3x3 --kind duplex --ports even:4 --failed 3,6 --to-file f.json
	[[ $output == "no: no round joins endpoints 0 and 1 both ways" ]]
	[[ $(jq -c '[."src-endpoint", ."dst-endpoint", has("bound-kind"), (."bound-elements" | length > 0)]' f.json) == '[0,1,false,true]' ]]
	expect 0 morphctl matchings show f.json
	[[ $output == "no: no round joins endpoints 0 and 1 both ways" ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: no round joins endpoints 0 and 1 both ways" ]]
	changed '."failed-elements" = [3]'
	expect 1 morphctl matchings check g.json
	[[ $output == "wrong: guides of the cut: "*"; these do not separate endpoints 0 and 1" ]]
	changed 'del(."bound-elements")'
	expect 0 morphctl matchings check g.json
}

@test "an exhaustive search refuses rounds at any ports of a small mesh" {
	expect 1 morphctl matchings find --mesh-size 1x2 --endpoints 8 --rounds 7 --to-file f.json
	[[ $output == "no: 7 rounds requested, more are necessary (lower bound 8 for any ports, by exhaustive search)" ]]
	[[ $(jq -c '[."bound-kind", ."rounds-bound-count", ."ports-chosen"]' f.json) == '["exhaustive",8,true]' ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: 7 rounds are too few; 8 are necessary" ]]
	changed '."rounds-bound-count" = 7 | ."rounds-limit" = 6'
	expect 0 morphctl matchings check g.json
	changed '.mesh.height = 3'
	expect 1 morphctl matchings check g.json
	[[ $output == "wrong: all pairs can meet in 7 rounds" ]]
}

@test "failed elements pass no light, and stuck ones keep their state" {
	find_file --mesh-size 3x3 --ports even:8 --failed 17,3 --stuck 9=bar,12=1
	[[ $(jq -c '[."failed-elements", ."stuck-elements"]' f.json) == '[[17,3],[{"element":9,"element-state":0},{"element":12,"element-state":1}]]' ]]
	[[ $(jq -c '[.rounds[]."element-states" | .[17], .[3]] | unique' f.json) == "[null]" ]]
	[[ $(jq -c '[.rounds[]."element-states"[9]] | unique - [null, 0]' f.json) == "[]" ]]
	[[ $(jq -c '[.rounds[]."element-states"[12]] | unique - [null, 1]' f.json) == "[]" ]]
	expect 0 morphctl matchings check f.json
	element=$(jq '.rounds[0].circuits[0].elements[0]' f.json)
	changed '."failed-elements" = ['"$element"']'
	expect 1 morphctl matchings check g.json
}

@test "accelerators of a fabric" {
	find_file --profile "$smartlight" --at 0,1,2,4
	[[ $first == "4 accelerators meet in 3 rounds (lower bound 3, by degree)" ]]
	holds "$output" $'\nsmartlight72, directed: '
	holds "$output" "the driver's validator accepts power, margin and isolation of each round"
	[[ $(jq -c '[.profile, ."elements-count", ."planes-count", ."hops-limit", .validated]' f.json) == '["smartlight72",72,1,18,true]' ]]
	expect 0 morphctl matchings show f.json --round 0
	holds "$output" "FROM ACCELERATOR  TO ACCELERATOR  HOPS  ELEMENTS"
	expect 0 morphctl matchings check f.json --profile "$smartlight"
	expect 2 morphctl matchings check f.json --profile "$TOP/build/profiles/rack64.bin"
	holds "$stderr" "give the right profile with --profile"
	find_file --profile "$smartlight" --at 0,1,2,4 --no-validate
	[[ $output == *"the driver's validator accepts "* && $(jq -c '[.validated, ."refused-rounds"]' f.json) == '[false,[]]' ]]
	expect 0 morphctl matchings find --profile "$smartlight" --first --json
	[[ $(jq '.endpoints | length' <<<"$output") == 14 ]]
}

# A profile of which light that leaks from other circuits of a round matters more.
@test "the rounds in which circuits disturb each other are named" {
	sed 's/isolation_mdb: 20000/isolation_mdb: 24000/' "$TOP/profiles/smartlight72.yaml" >noisy.yaml
	python3 -B "$TOP/profiles/mkprofile.py" noisy.yaml noisy.bin
	find_file --profile noisy.bin --at 0,1,2,3,4,5,6,7,8,9 --steps 1000 --no-validate
	holds "$output" "the driver's validator refuses 1 round: $(jq '."refused-rounds"[0]' f.json)"
	[[ $(jq -c '[.validated, (."refused-rounds" | length)]' f.json) == '[false,1]' ]]
	expect 0 morphctl matchings check f.json --profile noisy.bin
	find_file --profile noisy.bin --at 0,1,2,3,4,5,6,7,8,9 --steps 1000
	holds "$output" "the driver's validator accepts power, margin and isolation of each round"
}

# The elements of tiles have more than two states.
@test "tiles of an interposer" {
	find_file --profile "$TOP/build/profiles/server8.bin" --at 0,1,2,3,4,5
	[[ $first == "6 accelerators meet in 5 rounds (lower bound 5, by degree)" ]]
	[[ $(jq '[.rounds[]."element-states"[] | select(. != null)] | max > 1' f.json) == true ]]
	expect 0 morphctl matchings check f.json --profile "$TOP/build/profiles/server8.bin"
	[[ $output == "correct: each pair of 6 endpoints meets in one of 5 rounds; 5 are necessary" ]]
}

# The shortest way of one pair passes an element in both states, and no other way is short enough.
@test "a failed element separates accelerators" {
	expect 1 morphctl matchings find --profile "$smartlight" --failed 7 --first --to-file f.json
	holds "$output" "no: accelerator "
	holds "$output" " within 18 elements"
	[[ $(jq -c '[.verdict, has("rounds-bound-count"), has("src-endpoint")]' f.json) == '["infeasible",false,true]' ]]
	expect 0 morphctl matchings check f.json --profile "$smartlight"
	holds "$output" "correct: endpoint "
}

# The checker finds the errors that a search could make.
@test "a wrong file is refused" {
	find_file --mesh-size 3x3 --ports even:8
	element=$(jq '.rounds[0].circuits[0].elements[2]' f.json)
	changed ".rounds[0].\"element-states\"[$element] |= 1 - ."
	expect 1 morphctl matchings check g.json
	[[ $output == "wrong: "* ]]
	changed 'del(.rounds[3].circuits[1])'
	expect 1 morphctl matchings check g.json
	changed '.rounds[3].circuits[1]."dst-endpoint" as $it | .rounds[3].circuits[1]."dst-endpoint" = .rounds[3].circuits[0]."dst-endpoint" | .rounds[3].circuits[0]."dst-endpoint" = $it'
	expect 1 morphctl matchings check g.json
	changed '.rounds[0].circuits += [.rounds[1].circuits[0]]'
	expect 1 morphctl matchings check g.json
	changed '.endpoints[1].port = .endpoints[0].port'
	expect 1 morphctl matchings check g.json
	changed '."rounds-bound-count" = 6'
	expect 1 morphctl matchings check g.json
	expect 1 morphctl matchings check g.json --json
	[[ $(jq -c '[.correct, (.text | type)]' <<<"$output") == '[false,"string"]' ]]
	expect 0 morphctl matchings check f.json --json
	[[ $(jq -c . <<<"$output") == '{"correct":true}' ]]
	changed '.verdict = "undecided" | del(.rounds, .validated)'
	expect 2 morphctl matchings check g.json
	holds "$stderr" "nothing to check: the answer is undecided"
}

@test "a mesh without ports for all pairs is refused" {
	expect 1 morphctl matchings find --mesh-size 1x1 --endpoints 5 --to-file f.json
	[[ $output == "no: no ports of the mesh have routes for all pairs (lower bound 11 for any ports, by exhaustive search)" ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: no ports of the mesh have routes for all pairs of 5 endpoints" ]]
	changed '."rounds-bound-count" = 10'
	expect 1 morphctl matchings check g.json
	expect 1 morphctl matchings find --mesh-size 1x1 --endpoints 5 --rounds 9 --to-file f.json
	[[ $output == "no: 9 rounds requested, more are necessary (lower bound 11 for any ports, by exhaustive search)" ]]
	expect 0 morphctl matchings check f.json
}

@test "a switch joins endpoints and their targets" {
	ports=4:,5:,7:,10:,15:,20:,:22,:27,:32,:35,:36,:38
	find_file --mesh-size 7x3 --ports $ports --targets 9,8,6,7,11,10
	[[ $first == "6 circuits lead to the targets in 1 round (lower bound 1, by degree)" ]]
	[[ $(jq -c '[.kind, .endpoints[0], .endpoints[6]]' f.json) == '["directed",{"tx-port":4,"dst-endpoint":9},{"rx-port":22}]' ]]
	[[ $(jq -c '[.rounds[].circuits[] | [."src-endpoint", ."dst-endpoint"]]' f.json) == '[[0,9],[1,8],[2,6],[3,7],[4,11],[5,10]]' ]]
	shown=$output
	expect 0 morphctl matchings show f.json
	[[ $output == "$shown" ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: 6 circuits lead to the targets in 1 round; 1 is necessary" ]]
	changed '.endpoints[0]."dst-endpoint" = 8 | .endpoints[1]."dst-endpoint" = 9 | del(."hops-bound-count")'
	expect 1 morphctl matchings check g.json
	[[ $output == "wrong: round 0: circuit 0-9 does not lead to a target" ]]
	find_file --mesh-size 7x3 --ports $ports --targets -,8
	[[ $first == "1 circuit leads to the targets in 1 round (lower bound 1, by degree)" ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: 1 circuit leads to the targets in 1 round; 1 is necessary" ]]
	find_file --profile "$smartlight" --at 1,4,5,7 --targets 4,5,7,1
	[[ $first == "4 circuits lead to the targets in 1 round (lower bound 1, by degree)" ]]
	expect 0 morphctl matchings show f.json --round 0
	holds "$output" $'\n               1               4 '
	expect 0 morphctl matchings check f.json --profile "$smartlight"
}

@test "targets that do not fit into a round" {
	switch=(--mesh-size 1x1 --ports 0:,1:,2:,3:,:4,:5,:6,:7 --targets 5,4,6,7)
	expect 1 morphctl matchings find "${switch[@]}" --rounds 1 --to-file f.json
	[[ $output == "no: 1 round requested, more are necessary (lower bound 2, by distance)" ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: 1 round is too few; 2 are necessary" ]]
	find_file "${switch[@]}"
	[[ $first == "4 circuits lead to the targets in 2 rounds (lower bound 2, by distance)" ]]
	expect 0 morphctl matchings check f.json
	[[ $output == "correct: 4 circuits lead to the targets in 2 rounds; 2 are necessary" ]]
}

# unreadable FILTER TEXT: a file with this change is refused with the text.
unreadable() {
	changed "$1"
	expect 2 morphctl matchings show g.json
	holds "$stderr" "morphctl: g.json: $2"
}

@test "errors in a file name their place" {
	find_file --mesh-size 1x1 --ports 1,3,4,7
	unreadable '.format = "x"' "'format' must be 'morph-matchings'"
	unreadable '.version = 2' "'version' must be 1"
	unreadable '.kinds = 1' "unknown key 'kinds'; known keys: format,"
	unreadable '.kind = "pair"' "'kind' must be one of: directed, duplex, pairs"
	unreadable '.verdict = 1' "'verdict' must be one of: feasible, infeasible, undecided"
	unreadable 'del(.mesh)' "requires either 'mesh' or 'profile'"
	unreadable '.mesh.width = 65' "mesh: 'width' must be a number, 1 to 63"
	unreadable '.mesh = 1' "mesh: must be a mapping with the keys width,height"
	unreadable 'del(.mesh) | .profile = 1' "'profile' must be the name of a profile"
	unreadable 'del(.mesh) | .profile = "x"' "'profile-checksum' must be a number"
	unreadable '."elements-count" = 0' "'elements-count' must be a number, 1 to "
	unreadable '."failed-elements" = [5]' "'failed-elements' must be a list of numbers, 0 to 4"
	unreadable '."stuck-elements" = 1' "'stuck-elements' must be a list"
	unreadable '."stuck-elements" = [{element: 1}]' "stuck element 0: 'element-state' must be a number"
	unreadable '.endpoints = [{port: 1}]' "'endpoints' must be a list of 2 to 256 endpoints"
	unreadable '.endpoints[2] = {"tx-port": 1}' "endpoint 2: unknown key 'tx-port'"
	unreadable '.kind = "duplex"' "endpoint 0: unknown key 'port'"
	unreadable '."ports-chosen" = 0' "'ports-chosen' must be true or false"
	unreadable '.seed = -1' "'seed' must be a number, 0 or more"
	unreadable '."bound-kind" = "fractional"' "a fractional bound requires 'bound-lengths'"
	unreadable '."bound-kind" = "cut"' "a bound by a cut requires 'bound-elements'"
	unreadable '."bound-elements" = [5]' "'bound-elements' must be a list of numbers, 0 to 4"
	unreadable '."bound-lengths" = [null]' "'bound-lengths' must be a list of numbers"
	unreadable 'del(.validated)' "'validated' must be true or false"
	unreadable '.verdict = "infeasible"' "only a feasible answer has 'rounds'"
	unreadable '.rounds = []' "'rounds' must be a list of rounds, one at least"
	unreadable '.rounds[1]."element-states" += [0]' "round 1: 'element-states' must have 5 entries, one for each element"
	unreadable '.rounds[1].circuits = []' "round 1: 'circuits' must be a list of circuits, one at least"
	unreadable '.rounds[2].circuits[1]."src-endpoint" = 4' "round 2: circuit 1: 'src-endpoint' must be a number, 0 to 3"
	unreadable '.rounds[2].circuits[1].elements = [5]' "round 2: circuit 1: 'elements' must be a list of numbers, 0 to 4"
	find_file --mesh-size 1x1 --ports 0:,1:,:4,:5 --targets 2,3
	unreadable '.endpoints[0]."dst-endpoint" = 4' "endpoint 0: 'dst-endpoint' must be a number, 0 to 3"
	unreadable 'del(.endpoints[1]."tx-port")' "endpoint 1: 'tx-port' must be a number"
	unreadable '.endpoints[2]."rx-port" = "x"' "endpoint 2: 'rx-port' must be a number"
	unreadable 'del(.endpoints[]."dst-endpoint")' "endpoint 0: 'rx-port' must be a number"
	echo '{' >g.json
	expect 2 morphctl matchings show g.json
	holds "$stderr" "g.json: line "
}

@test "a round of a file" {
	find_file --mesh-size 1x1 --ports 1,3,4,7
	expect 0 morphctl matchings show f.json --round 2
	[[ $(head -1 <<<"$output") == "round 2 (0-2): 2 circuits, "* ]]
	[[ $(grep -cE '^ +[0-3] +[0-3] +[0-9]+ +[0-4]' <<<"$output") == 2 ]]
	expect 2 morphctl matchings show f.json --round 3
	holds "$stderr" "no round 3 (0-2)"
	expect 2 morphctl matchings show f.json --round 1 --json
	expect 0 morphctl matchings show f.json --json
	[[ $(jq -S . <<<"$output") == "$(jq -S . f.json)" ]]
	expect 0 morphctl matchings show - <f.json
}

@test "an all-to-all without other paths is planned by matchings" {
	plan=(morphctl schedule plan all-to-all --ranks 6 --profile "$smartlight" --at 0,1,2,4,5,8 --lanes 1 --bandwidth 10000)
	expect 0 "${plan[@]}"
	holds "$output" $'\nthe rounds are matchings that the fabric can light: 5 rounds (lower bound 5)\n'
	expect 0 "${plan[@]}" --json
	[[ $(jq -c '[(.rounds | length), ."rounds-bound-count", .light.verdict, .light."steps-count"]' <<<"$output") == '[5,5,"feasible",5]' ]]
	# Each round has the circuits of one matching.
	planned=$(jq -c '[.matchings[].circuits | map([."src-rank", ."dst-rank"]) | sort]' <<<"$output")
	find_file --profile "$smartlight" --at 0,1,2,4,5,8
	[[ $planned == "$(jq -c '[.rounds[].circuits | map([."src-endpoint", ."dst-endpoint"]) | sort]' f.json)" ]]
	json_was_checked schedule.plan
}

# all_to_all RANKS: plan for the first accelerators of the device.
all_to_all() {
	expect 0 morphctl schedule plan all-to-all --ranks "$1" --profile "$smartlight" --lanes 1 --bandwidth 10000 --json
	[[ $(jq -r .light.verdict <<<"$output") == feasible ]]
}

# No number of ranks is undecided. For 8 ranks, an algorithm that forwards has paths.
@test "an all-to-all of 8 to 14 ranks of a device has rounds and a bound" {
	all_to_all 8
	[[ $(jq '."bound-ns" > 0' <<<"$output") == true ]]
	for row in "9 10 10" "10 12 12" "11 14 14" "12 16 16" "13 18 17" "14 21 20"; do
		all_to_all "${row%% *}"
		[[ $(jq -r '"\(."ranks-count") \(.rounds | length) \(."rounds-bound-count")"' <<<"$output") == "$row" ]]
	done
}

# rejected TEXT OPTION...: a usage error with this text.
rejected() {
	expect 2 morphctl matchings find "${@:2}"
	holds "$stderr" "$1"
}

@test "options are checked" {
	rejected "--mesh-size must be WxH, as 9x9, not '9'" --mesh-size 9 --endpoints 4
	rejected "--mesh-size must be WxH, as 9x9, not '3x3x3'" --mesh-size 3x3x3 --endpoints 4
	rejected "the mesh has width 2; must be odd, 1 to 63" --mesh-size 2x3 --endpoints 4
	rejected "a mesh requires --endpoints, to choose the ports, or --ports" --mesh-size 3x3
	rejected "a mesh requires --endpoints, to choose the ports, or --ports" --mesh-size 3x3 --endpoints 4 --ports even:4
	rejected "--mesh-size and --profile are mutually exclusive" --mesh-size 3x3 --profile "$smartlight"
	rejected "--mesh-size and --at are mutually exclusive" --mesh-size 3x3 --at 0,1
	rejected "--mesh-size and --no-validate are mutually exclusive" --mesh-size 3x3 --no-validate
	rejected "--ports even:N must have 2 to 24 endpoints, not '25'" --mesh-size 3x3 --ports even:25
	rejected "--ports even:N must have 2 to 12 endpoints, not '13'" --mesh-size 3x3 --ports even:13 --kind duplex
	rejected "--ports must be even:N, or ports separated by commas, as 0,9,18, not '0,,1'" --mesh-size 3x3 --ports 0,,1
	rejected "--ports must be even:N, or transmit and receive ports, as 0:1,5:9, not '0,1'" --mesh-size 3x3 --kind directed --ports 0,1
	rejected "endpoint 1: no mesh port 24 (0-23)" --mesh-size 3x3 --ports 0,24
	rejected "--ports is only valid with --mesh-size; use --at" --profile "$smartlight" --ports 0:1
	rejected "--endpoints is only valid with --mesh-size; use --at" --profile "$smartlight" --endpoints 4
	rejected "no accelerator 14 (0-13)" --profile "$smartlight" --at 0,14
	rejected "pairs need a mesh" --profile "$smartlight" --kind pairs
	rejected "--at must be accelerators separated by commas, as 0,1,5, not '0,a'" --profile "$smartlight" --at 0,a
	rejected "no element 34 (0-33)" --mesh-size 3x3 --ports even:8 --failed 34
	rejected "--stuck must be elements and their states, as 3=bar,17=1, not '3'" --mesh-size 3x3 --ports even:8 --stuck 3
	rejected "element 3 has no state 2 (0-1)" --mesh-size 3x3 --ports even:8 --stuck 3=2
	rejected "--first and --rounds are mutually exclusive" --mesh-size 3x3 --ports even:8 --first --rounds 7
	rejected "targets need circuits of the kind directed" --mesh-size 3x3 --kind duplex --ports even:4 --targets 1,0
	rejected "--targets requires --ports instead of --endpoints" --mesh-size 3x3 --endpoints 4 --targets 1,0
	rejected "--targets must be targets separated by commas, as 3,0,-,1, not '1,x'" --mesh-size 3x3 --ports even:4 --targets 1,x
	rejected "--targets has 5 entries; must be at most 4, one for each endpoint" --mesh-size 3x3 --ports even:4 --targets 1,0,-,-,-
	rejected "endpoint 0: no target 4; must be another endpoint (0-3)" --mesh-size 3x3 --ports even:4 --targets 4
	rejected "endpoints 0 and 1 have the same target 2; targets must differ" --mesh-size 3x3 --ports even:4 --targets 2,2
	rejected "no endpoint has a target; at least one must" --mesh-size 3x3 --ports even:4 --targets -
	rejected "endpoint 1 needs a receive port (0-23)" --mesh-size 3x3 --ports 0:,6: --targets 1
	rejected "--ports must be even:N, or transmit and receive ports, as 0:1,5:9, not '0:,:'" --mesh-size 3x3 --kind directed --ports 0:,:
	rejected "accelerator 9 is no endpoint; name it with --at" --profile "$smartlight" --at 0,1 --targets 9
	expect 1 morphctl matchings find --mesh-size 1x1 --ports 1,3,4,7 --to-file none/f.json
	holds "$stderr" "none/f.json: No such file or directory"
}

@test "the JSON of these commands is as its schema describes it" {
	expect 0 morphctl matchings find --mesh-size 3x3 --kind directed --ports even:6 --json
	[[ $(jq -c '[."bound-kind", (."bound-lengths" | length)]' <<<"$output") == '["fractional",136]' ]]
	json_was_checked matchings.find matchings.show matchings.check
}
