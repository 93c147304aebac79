#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Times at which circuits change in a collective. No kernel is necessary.

load common

setup_file() {
	check_plans
}

# Values of a planner's own test: 64 ranks, 800 Gb/s, round and hop of 500 ns.
setup() {
	fabric=(--bandwidth 800000 --delay round=500,hop=500,settle=10000)
}

@test "an answer has a time line, a bound, and the alternatives" {
	expect 0 morphctl schedule plan all-reduce --ranks 16 --algorithm halving --planes 4 --bytes 8M --delay round=2000,settle=200000
	holds "$output" "all-reduce of 8388608 bytes among 16 ranks: halving, "
	holds "$output" $'\nplane  3 |~'
	grep -qE '^finishes in [0-9.]+ [mu]?s \(lower bound [0-9.]+ [mu]?s, by (ports|chain)[,)]' <<<"$output"
	for policy in each-round one-shot segments overlap matchings united; do holds "$output" $'\n'"$policy"; done
}

@test "the record has everything that is printed" {
	expect 0 morphctl schedule plan all-to-all --ranks 8 --algorithm shift "${fabric[@]}" --json
	[[ $(jq -c '[.verdict, ."ranks-count", (.rounds | length), (.alternatives | length), (.choices | length), .algorithm]' <<<"$output") == '["feasible",8,7,6,1,"shift"]' ]]
	[[ $(jq '."finish-ns" >= ."bound-ns"' <<<"$output") == true ]]
	[[ $(jq '([.alternatives[]."finish-ns" // infinite] | min) == ."finish-ns"' <<<"$output") == true ]]
	[[ $(jq '. as $all | all(.holds[]; . as $hold | $all.matchings[$hold.matching].circuits | length == $hold."circuits-count")' <<<"$output") == true ]]
	[[ $(jq -c '[.collective, ."buffer-bytes"]' <<<"$output") == '["all-to-all",1048576]' ]]
}

# Each round uses lit circuits. In an all-to-all, each rank sends a share in each of them.
@test "the record has the sends of each hold" {
	expect 0 morphctl schedule plan all-to-all --ranks 8 --bytes 8M --algorithm shift --planes 2 "${fabric[@]}" --json
	[[ $(jq '. as $all | all(.sends[]; . as $send | all(."hold-indices"[]; $all.holds[.] | ."lit-at-ns" <= $send."from-ns" and $send."until-ns" <= ."dark-at-ns"))' <<<"$output") == true ]]
	[[ $(jq -c '[.sends | group_by(.round)[] | map(."transfer-bytes" * ."transfers-count") | add] | unique' <<<"$output") == "[8388608]" ]]
	[[ $(jq -c '[.sends[].round] | unique' <<<"$output") == "[0,1,2,3,4,5,6]" ]]
	[[ $(jq '. as $all | all(.sends | group_by(.round)[]; . as $sends | $all.rounds[.[0].round] | ."from-ns" == ($sends | map(."from-ns") | min) and ."until-ns" == ($sends | map(."until-ns") | max))' <<<"$output") == true ]]
	# A ring that stays: other ranks are some hops away.
	expect 0 morphctl schedule plan all-to-all --ranks 4 --algorithm shift --policy segments --bandwidth 800000 --delay hop=1,settle=1000000 --json
	[[ $(jq -c '[.sends[]."hold-indices"]' <<<"$output") == "[[0],[0,0],[0,0,0]]" ]]
}

# Each of 15 shifts of 1 MiB sets its circuits, which takes 10 us.
@test "an all-to-all that sets a circuit for each pair meets its bound by circuits" {
	expect 0 morphctl schedule plan all-to-all --ranks 16 --bytes 16M --algorithm shift --bandwidth 100000 --delay round=500,hop=100,settle=10000
	grep -qE '^finishes in ([0-9.]+ ms) \(lower bound \1, by circuits\)$' <<<"$output"
	expect 0 morphctl schedule plan all-to-all --ranks 16 --bytes 16M --algorithm shift --bandwidth 100000 --delay round=500,hop=100,settle=10000 --json
	[[ $(jq -c '[."bound-kind", ."gap-ns"]' <<<"$output") == '["circuits",0]' ]]
}

@test "a plan is compared with the baselines" {
	expect 0 morphctl schedule plan all-reduce --ranks 64 --algorithm halving-cyclic "${fabric[@]}"
	for baseline in set-once every-step static ideal; do holds "$output" $'\n'"$baseline"; done
	grep -qE '\(lower bound [0-9.]+ us, by (ports|chain), gap [0-9.]+ %\)$' <<<"$output"
	expect 0 morphctl schedule plan all-reduce --ranks 64 --algorithm halving-cyclic "${fabric[@]}" --json
	[[ $(jq -c '[.baselines[].baseline]' <<<"$output") == '["set-once","every-step","static","ideal"]' ]]
	# All-reduce on the ring takes 131.9 us, after the ring has been set.
	[[ $(jq '.baselines[] | select(.baseline == "static") | ."finish-ns" / 100 | floor' <<<"$output") == 1419 ]]
	# Both ends are rounded, the gap is not.
	[[ $(jq '."finish-ns" - ."bound-ns" - ."gap-ns" | . == 0 or . == 1' <<<"$output") == true ]]
	[[ $(jq '. as $all | all(.baselines[]; .baseline == "ideal" or ."finish-ns" >= $all."finish-ns")' <<<"$output") == true ]]
	# The gap does not refer to the ideal, which ends before the bound if the first change is
	# expensive.
	[[ $(jq '(.baselines[] | select(.baseline == "ideal") | ."finish-ns") < ."finish-ns"' <<<"$output") == true ]]
	expect 0 morphctl schedule plan all-reduce --ranks 64 "${fabric[@]}" --fields baselines,gap-ns --json
	[[ $(jq -c keys <<<"$output") == '["baselines","gap-ns"]' ]]
}

@test "the size from which changing a ring's circuits pays" {
	expect 0 morphctl schedule plan all-reduce --ranks 4 --bandwidth 8000 --delay hop=100,settle=1000 --bytes 8000 --json
	# This saves a hop and a quarter of the bytes.
	pays=$(jq '."short-cut"."pays-bytes"' <<<"$output")
	[[ $pays -ge 3600 && $pays -le 3604 && $(jq -c '[."short-cut" | ."steps-count", ."first-step"]' <<<"$output") == "[2,1]" ]]
	expect 0 morphctl schedule plan all-gather --ranks 4 --bandwidth 8000 --delay hop=100,settle=1000 --bytes $((pays - 1))
	holds "$output" "halving on a ring: changing circuits pays from $(awk "BEGIN { printf \"%.4g\", $pays / 1024 }") KiB; not for this buffer size"
	expect 0 morphctl schedule plan reduce-scatter --ranks 4 --bandwidth 8000 --delay hop=100 --bytes 4K
	holds "$output" "halving on a ring: changing circuits pays for any buffer size; for this buffer size in the last 1 of 2 steps"
	expect 0 morphctl schedule plan reduce-scatter --ranks 2
	holds "$output" "halving on a ring: changing circuits never pays"
	for other in "all-to-all --ranks 8" "all-reduce --ranks 6"; do
		expect 0 morphctl schedule plan $other --json
		[[ $(jq '."short-cut"' <<<"$output") == null ]]
	done
}

@test "rounds with a late rank are compared with their bound" {
	for ranks in 8:9:9 12:14:14; do
		expect 0 morphctl schedule plan all-reduce --ranks "${ranks%%:*}" --algorithm stragglar "${fabric[@]}" --json
		[[ $(jq -c '[."late-rounds-count", ."late-rounds-bound-count"] | join(":")' <<<"$output") == "\"${ranks#*:}\"" ]]
	done
	expect 0 morphctl schedule plan all-reduce --ranks 8 --algorithm stragglar "${fabric[@]}"
	holds "$output" "rounds after the last rank comes: 9 (minimum 9)"
}

@test "without an algorithm the earliest plan is chosen" {
	expect 0 morphctl schedule plan all-reduce --ranks 16 --bytes 64 "${fabric[@]}" --json
	[[ $(jq '([.choices[]."finish-ns" // infinite] | min) == ."finish-ns"' <<<"$output") == true ]]
	[[ $(jq -r .algorithm <<<"$output") != ring ]]
	expect 0 morphctl schedule plan all-reduce --ranks 16 --bytes 1G "${fabric[@]}" --json
	[[ $(jq -r .algorithm <<<"$output") == ring ]]
}

@test "each rejected row has its reason" {
	expect 0 morphctl schedule plan all-reduce --ranks 6 --bytes 64 "${fabric[@]}" --json
	[[ $(jq '[.choices[], .alternatives[] | select(.text == null)] | length' <<<"$output") == 2 ]]
	[[ $(jq '. as $all | all(.alternatives[] | select(.verdict == "feasible" and .policy != $all.policy);
		.text == if ."finish-ns" > $all."finish-ns" then "later" else "no sooner" end)' <<<"$output") == true ]]
	[[ $(jq -r '.choices[] | select(.algorithm == "halving").text' <<<"$output") == "halving requires a power of two of ranks, not 6" ]]
	[[ $(jq -c '.choices[] | select(.algorithm == "rings") | [.shape, .text]' <<<"$output") == '["3x2","later"]' ]]
	[[ $(jq -c '[.choices[].algorithm] | sort' <<<"$output") == '["direct","doubling","halving","halving-cyclic","ring","rings","stragglar","swing"]' ]]
	expect 0 morphctl schedule plan all-to-all --ranks 300 --steps 1 "${fabric[@]}"
	holds "$output" "skipped: search budget exhausted; raise --steps"
}

@test "an impossible request for a policy is reported as such" {
	run_split morphctl schedule plan all-to-all --ranks 8 --policy one-shot --json
	[[ $status == 1 && $(jq -c '[.choices[].text] | unique' <<<"$output") == "[null,\"the policy does not support the rounds\"]" ]]
	run_split morphctl schedule plan all-to-all --ranks 8 --policy one-shot --steps 1 --json
	[[ $status == 1 && $(jq -c '[.choices[].text] | unique' <<<"$output") == "[null,\"skipped: --steps is too small, or the policy does not support it\"]" ]]
	expect 0 morphctl schedule plan all-to-all --ranks 300 --steps 1 --policy best "${fabric[@]}"
	holds "$output" "skipped: search budget exhausted; raise --steps"
}

@test "the ideal is no later than the plan" {
	for how in "all-reduce --ranks 8 --algorithm halving --planes 3 --delay settle=10000 --bytes 4M" "all-reduce --ranks 8 --algorithm doubling --planes 2 --delay hop=5" \
		"all-reduce --shape 2x4 --planes 3" "broadcast --ranks 9 --planes 4 --delay settle=1"; do
		expect 0 morphctl schedule plan $how --json
		[[ $(jq '(.baselines[] | select(.baseline == "ideal") | ."finish-ns") <= ."finish-ns"' <<<"$output") == true ]]
	done
}

@test "the picture is one SVG with a row for each plane" {
	morphctl schedule plan all-reduce --shape 4x4 --algorithm rings --planes 2 "${fabric[@]}" --format svg > "$BATS_TEST_TMPDIR/plan.svg"
	xmllint --noout "$BATS_TEST_TMPDIR/plan.svg"
	[[ $(grep -c '>plane [01]</text>' "$BATS_TEST_TMPDIR/plan.svg") == 2 ]]
	morphctl schedule plan broadcast --ranks 4 --format svg --title 'a < b' > "$BATS_TEST_TMPDIR/plan.svg"
	[[ $(xmllint --xpath 'string(//*[local-name()="text"][1])' "$BATS_TEST_TMPDIR/plan.svg") == "a < b" ]]
}

# A matrix of six ranks whose circuits change at different times.
uneven() {
	printf '%s\n' 0,9K,31K,66K,17K,48K 83K,0,25K,4K,71K,39K 12K,58K,0,97K,33K,6K 45K,2K,88K,0,14K,62K 29K,76K,8K,51K,0,20K 93K,36K,54K,11K,69K,0 > "$BATS_TEST_TMPDIR/matrix"
}

@test "the picture has all activities of planes, without overlaps" {
	uneven
	for how in "--matrix $BATS_TEST_TMPDIR/matrix --policy matchings --algorithm direct" "--matrix $BATS_TEST_TMPDIR/matrix --planes 3 --policy matchings" \
		"all-to-all --ranks 8 --algorithm shift --planes 2" "all-to-all --ranks 9 --policy segments" "all-reduce --ranks 8 --planes 3 --policy united"; do
		for format in svg json; do
			expect 0 morphctl schedule plan $how --delay round=500,settle=20000 --format $format
			printf '%s' "$output" > "$BATS_TEST_TMPDIR/plan.$format"
		done
		python3 -B "$BATS_TEST_DIRNAME/picture.py" "$BATS_TEST_TMPDIR/plan.svg" "$BATS_TEST_TMPDIR/plan.json"
	done
}

@test "each of many matchings has a colour of its own" {
	morphctl schedule plan all-to-all --ranks 16 --algorithm shift --policy each-round --delay settle=1000 --format svg > "$BATS_TEST_TMPDIR/plan.svg"
	[[ $(grep 'sends from' "$BATS_TEST_TMPDIR/plan.svg" | grep -o 'fill="#[0-9a-f]*"' | sort -u | wc -l) == 15 ]]
}

@test "a time line shows where some circuits change and others send" {
	uneven
	expect 0 morphctl schedule plan --matrix "$BATS_TEST_TMPDIR/matrix" --policy matchings --algorithm direct --delay settle=20000,round=500
	[[ $(grep '^plane  0' <<<"$output") == *'|~'*'#'*'+'* ]]
	holds "$output" "# sends, ~ changes, + both, - is lit"
	expect 0 morphctl schedule plan all-reduce --ranks 8 --bytes 8M --algorithm ring --delay settle=200000
	[[ $(grep '^plane  0' <<<"$output") == *'|~'*'~#'*'#|' && $(grep '^plane  0' <<<"$output") != *+* ]]
}

@test "help describes keys and the profile of plans" {
	expect 0 morphctl schedule plan --help
	[[ $output != *"netlink specification"* && $output != *"--fabric"* ]]
	holds "$output" "the keys are those of --fields"
	holds "$(tr -s '[:space:]' ' ' <<<"$output")" "the plan assumes an idle fabric and asks no kernel"
}

@test "--format json is --json" {
	morphctl schedule plan all-reduce --ranks 4 --json > "$BATS_TEST_TMPDIR/json"
	morphctl schedule plan all-reduce --ranks 4 --format json | cmp - "$BATS_TEST_TMPDIR/json"
	expect 0 morphctl schedule plan all-reduce --ranks 4 --format json --fields verdict
	[[ $(jq -c . <<<"$output") == '{"verdict":"feasible"}' ]]
	expect 2 morphctl schedule plan all-reduce --ranks 4 --format svg --fields verdict
	holds "$stderr" "--fields is only valid with --format text or json"
}

@test "a schedule that takes too long is reported as such" {
	run_split morphctl schedule plan all-reduce --ranks 4 --bandwidth 1 --bytes 10000G
	[[ $status != 0 && $output$stderr != *"goes on none"* ]]
	holds "$output" "round 0 takes 2^64 picoseconds (half a year) or more"
	holds "$output" "undecided: round 1 ends after more than 2^62 picoseconds"
	[[ $output != *"the circuits do not connect"* ]]
	for format in text svg; do
		expect 0 morphctl schedule plan all-reduce --ranks 4 --bandwidth 1 --bytes 100G --format $format
		[[ $output != *e+0* && $output == *1288490\ s* ]]
	done
}

@test "a policy that cannot plan reports why" {
	expect 1 morphctl schedule plan all-to-all --ranks 8 --algorithm shift --policy one-shot
	holds "$output" "infeasible: it has more matchings than planes"
}

@test "the answer says whether waiting for a late rank pays" {
	expect 0 morphctl schedule plan all-reduce --algorithm stragglar --ranks 8 --bytes 256M --bandwidth 3600000 --delay round=3000,settle=3700
	holds "$output" "all-reduce of 268435456 bytes among 8 ranks: stragglar, "
	holds "$output" "beginning without the last rank pays if it is more than"
	expect 0 morphctl schedule plan all-reduce --algorithm stragglar --ranks 8 --bytes 1M --bandwidth 3600000 --delay round=3000,settle=3700
	holds "$output" "beginning without the last rank never pays"
	expect 0 morphctl schedule plan all-reduce --algorithm stragglar --ranks 8 --bytes 256M --bandwidth 3600000 --delay round=3000 --json
	[[ $(jq '."pays-ns" - (."alone-ns" + ."rest-ns" - ."other-ns") | fabs <= 3' <<<"$output") == true ]]
}

@test "a plan waits for a late rank unless that is later" {
	local how=(all-reduce --ranks 8 --bytes 256M --bandwidth 3600000 --delay round=3000,settle=3700)
	expect 0 morphctl schedule plan "${how[@]}" --late 1 --json
	pays=$(jq '."pays-ns"' <<<"$output")
	[[ $(jq -c '[.algorithm != "stragglar", ."comes-ns", has("late-rounds-count")]' <<<"$output") == '[true,1,false]' ]]
	for late in $((pays - 2)):false $((pays + 2)):true 9000000:true; do
		expect 0 morphctl schedule plan "${how[@]}" --late "${late%:*}" --json
		[[ $(jq '.algorithm == "stragglar"' <<<"$output") == "${late#*:}" ]]
		# Rows have the end of each choice, and none ends earlier.
		[[ $(jq '([.choices[]."finish-ns" // infinite] | min) == ."ends-ns"' <<<"$output") == true ]]
		[[ $(jq '. as $all | all(.choices[] | select(."finish-ns" and .algorithm != $all.algorithm); .text == if ."finish-ns" > $all."ends-ns" then "later" else "no sooner" end)' <<<"$output") == true ]]
	done
	[[ $(jq '."rest-ns" + 9000000 == ."ends-ns"' <<<"$output") == true ]]
	expect 0 morphctl schedule plan "${how[@]}" --late 1000
	holds "$output" "the last rank comes after 1000 ns; the collective finishes "
	holds "$output" "beginning without the last rank pays if it is more than $(awk "BEGIN { printf \"%.4g\", $pays / 1000 }") us late"
	expect 0 morphctl schedule plan "${how[@]}" --late 9000000 --algorithm stragglar --json
	[[ $(jq '."rest-ns" + 9000000 == ."ends-ns"' <<<"$output") == true ]]
	# Rings are among the other algorithms.
	[[ $(jq '."other-ns"' <<<"$output") == "$(morphctl schedule plan "${how[@]}" --late 1 --json | jq '."other-ns"')" ]]
	# The planner does not compare an impossible algorithm.
	expect 0 morphctl schedule plan all-reduce --ranks 257 --steps 1 --late 5 --json
	[[ $(jq -r '.choices[] | select(.algorithm == "stragglar").text' <<<"$output") == "StragglAR requires 2 to 256 ranks, or a power of two, not 257" ]]
	[[ $(jq 'has("pays-ns") or has("other-ns")' <<<"$output") == false ]]
}

@test "a schedule continues without a port, and few circuits differ" {
	expect 0 morphctl schedule plan all-reduce --ranks 16 --algorithm halving --planes 4 "${fabric[@]}" --lost 3.1
	holds "$output" "circuits differ; finishes "
	expect 0 morphctl schedule plan all-reduce --ranks 16 --algorithm ring --planes 2 "${fabric[@]}" --policy each-round --lost 3.1t --json
	[[ $(jq -c '[.replanned."lost-circuits-count", .replanned."changed-circuits-count", .replanned."shared-transfers-count"]' <<<"$output") == '[1,1,30]' ]]
	[[ $(jq '. as $all | all(.holds[] | select(.plane == 1); . as $hold | $all.matchings[$hold.matching].circuits | all(."src-rank" != 3))' <<<"$output") == true ]]
	expect 1 morphctl schedule plan all-reduce --ranks 4 --algorithm ring --lost 3.0r@1000
	holds "$output" "infeasible: rank 3 has no port left to receive"
	for lost in 3 3. 3.1x 3.1, .1 3.1@ 3.1@x 3:1; do
		expect 2 morphctl schedule plan all-reduce --ranks 4 --planes 2 --lost "$lost"
		holds "$stderr" "--lost must be ports"
	done
	run_split morphctl schedule plan all-reduce --ranks 4 --planes 2 --lost 3.2
	[[ $status != 0 ]]
	holds "$stderr" "--lost must be ranks below 4 and planes below 2, not '3.2'"
}

@test "a schedule that lost a port has no end for a late rank" {
	expect 0 morphctl schedule plan all-reduce --ranks 8 --late 5000000 --planes 2 --delay settle=3700 --lost 7.0 --json
	[[ $(jq -c '[."comes-ns", ."ends-ns"]' <<<"$output") == '[5000000,null]' ]]
	expect 0 morphctl schedule plan all-reduce --ranks 8 --late 5000000 --planes 2 --delay settle=3700 --lost 7.0
	[[ $output != *"after the others began"* ]]
}

@test "an algorithm excluded by options reports why" {
	expect 0 morphctl schedule plan broadcast --ranks 4 --segments 70000 --json
	[[ $(jq -r '.choices[] | select(.algorithm == "binary").text' <<<"$output") == "a collective has at most 65536 rounds" ]]
}

@test "rows from before a loss are marked" {
	expect 0 morphctl schedule plan all-reduce --ranks 16 --algorithm halving --planes 4 "${fabric[@]}" --lost 3.1 --json
	[[ $(jq 'all(.choices[], .alternatives[], .baselines[] | select(."finish-ns"); .text | endswith("before the loss"))' <<<"$output") == true ]]
	expect 0 morphctl schedule plan all-reduce --ranks 16 --algorithm halving --planes 4 "${fabric[@]}" --json
	[[ $output != *"before the loss"* ]]
}

@test "rings use the best torus, which is reported" {
	local how=(--bytes 64K --planes 2 --delay round=1000,settle=3700)
	expect 0 morphctl schedule plan all-reduce --shape 6x6 "${how[@]}" --json
	[[ $(jq -c '[.algorithm, .shape, (.choices[] | select(.algorithm == "rings").shape)]' <<<"$output") == '["rings","6x6","6x6"]' ]]
	square=$(jq '."finish-ns"' <<<"$output")
	expect 0 morphctl schedule plan all-reduce --ranks 36 "${how[@]}" --json
	[[ $(jq "[.algorithm, .shape, .\"finish-ns\" <= $square] | join(\" \")" <<<"$output") == '"rings 4x3x3 true"' ]]
	expect 0 morphctl schedule plan all-reduce --ranks 36 "${how[@]}"
	holds "$output" "ranks: rings on 4x3x3, "
	holds "$output" "ALGORITHM       SHAPE  POLICY"
	expect 0 morphctl schedule plan all-reduce --ranks 36 --algorithm rings "${how[@]}" --fields shape --json
	[[ $(jq -c . <<<"$output") == '{"shape":"4x3x3"}' ]]
	expect 0 morphctl schedule plan all-gather --ranks 7 "${how[@]}" --json
	[[ $(jq -r '.choices[] | select(.algorithm == "rings").text' <<<"$output") == "no torus of two dimensions has 7 ranks" ]]
	expect 0 morphctl schedule plan all-gather --ranks 6 "${how[@]}"
	holds "$output" "RADIX  SHAPE  POLICY"
	# If its circuits have no paths on this number of planes, the rings of the next plan use the
	# same torus.
	expect 0 morphctl schedule plan all-reduce --ranks 36 --bytes 64K --planes 6 --delay round=1000,settle=3700 --profile "$TOP/build/profiles/rack64.bin" --json
	[[ $(jq -c '[.algorithm, .verdict, (.unlit | length > 0), .shape != null]' <<<"$output") == '["rings","feasible",true,true]' ]]
}

@test "parameters of an algorithm are chosen with it" {
	local how=(broadcast --ranks 33 --bytes 1G --planes 2 --delay round=500,settle=3700)
	expect 0 morphctl schedule plan "${how[@]}" --json
	[[ $(jq -c '[.algorithm, ."segments-count", (.choices[] | select(.algorithm == "binary") | ."segments-count")]' <<<"$output") == '["binary",256,256]' ]]
	soonest=$(jq '."finish-ns"' <<<"$output")
	expect 0 morphctl schedule plan "${how[@]}"
	holds "$output" "binary of 256 segments, "
	holds "$output" "ALGORITHM  SEGMENTS  POLICY"
	# Given parameters stay.
	expect 0 morphctl schedule plan "${how[@]}" --segments 1 --json
	[[ $(jq -c '[(.choices[] | select(.algorithm == "binary") | ."segments-count")]' <<<"$output") == '[1]' ]]
	[[ $(jq '."finish-ns"' <<<"$output") -gt $((2 * soonest)) ]]
	expect 0 morphctl schedule plan all-to-all --ranks 64 --bytes 64K --planes 3 --delay round=500,settle=3700
	holds "$output" "bruck of radix 4, "
	expect 0 morphctl schedule plan all-to-all --ranks 64 --bytes 64K --algorithm bruck --radix 5 --json
	[[ $(jq '.radix' <<<"$output") == 5 ]]
	expect 0 morphctl schedule plan all-reduce --ranks 8 --json
	[[ $(jq 'has("radix") or has("segments-count")' <<<"$output") == false ]]
	expect 0 morphctl schedule plan "${how[@]}" -o algorithm,segments-count
	holds "$output" "segments   256"
	# A number that is too large for a tree leaves the other algorithms.
	expect 0 morphctl schedule plan broadcast --ranks 8 --segments 70000 --json
	[[ $(jq -c '[.verdict, .algorithm]' <<<"$output") == '["feasible","binomial"]' ]]
	# The answer contains the parameters of the next plan if the fastest plan has no paths.
	expect 0 morphctl schedule plan broadcast --ranks 32 --bytes 1M --planes 6 --profile "$TOP/build/profiles/rack64.bin" --delay settle=3700,round=500 --json
	[[ $(jq -c '[.algorithm, ."segments-count", (.rounds | length)]' <<<"$output") == '["binary",8,12]' ]]
}

@test "a too long schedule and the lack of an earlier one are reported as such" {
	expect 2 morphctl schedule plan all-to-all --ranks 64 --policy matchings --bytes 1048576G --bandwidth 1000
	holds "$stderr" "all sends in sequence take longer than"
	python3 -c 'for row in range(66): print(*(4096 * (column == (row + 1) % 66) for column in range(66)))' > "$BATS_TEST_TMPDIR/one.csv"
	expect 0 morphctl schedule plan --matrix "$BATS_TEST_TMPDIR/one.csv" --planes 2 --delay settle=1000,round=500 --json
	[[ $(jq 'all(.methods[] | select(has("finish-ns") | not); .text == "skipped: the result is already optimal")' <<<"$output") == true ]]
}

@test "a schedule that cannot continue without a port is planned again" {
	local how=(all-reduce --ranks 8 --planes 2 --algorithm doubling --policy segments --bandwidth 800000 --delay settle=100000,hop=100)
	expect 0 morphctl schedule plan "${how[@]}" --json
	whole=$(jq '."finish-ns"' <<<"$output")
	expect 0 morphctl schedule plan "${how[@]}" --lost 1.0 --json
	[[ $(jq -c '[.verdict, .replanned."from-start", (.replanned.text | length > 0)]' <<<"$output") == '["feasible",true,true]' ]]
	[[ $(jq "(.\"finish-ns\" - $whole | if . < 0 then 0 else . end) == .replanned.\"later-ns\"" <<<"$output") == true ]]
	# A schedule that begins again begins when the port is lost.
	later=$(jq '.replanned."later-ns"' <<<"$output")
	expect 0 morphctl schedule plan "${how[@]}" --lost 1.0@500 --json
	[[ $(jq '.replanned."from-start"' <<<"$output") == true && $(jq '.replanned."later-ns"' <<<"$output") == $((later + 500)) ]]
	# No circuit uses the port.
	[[ $(jq '. as $all | all(.holds[] | select(.plane == 0); . as $hold | $all.matchings[$hold.matching].circuits | all(."src-rank" != 1 and ."dst-rank" != 1))' <<<"$output") == true ]]
	expect 0 morphctl schedule plan "${how[@]}" --lost 1.0
	holds "$output" "without the lost ports the plan cannot continue: "
	holds "$output" "new plan from the beginning by policy united: finishes "
}

@test "wrong arguments are named, with the valid ones" {
	expect 2 morphctl schedule plan gather --ranks 4
	holds "$stderr" "unknown collective 'gather'; known collectives: all-reduce, reduce-scatter, all-gather, all-to-all, broadcast"
	expect 2 morphctl schedule plan all-reduce
	holds "$stderr" "requires exactly one of --ranks and --shape"
	expect 2 morphctl schedule plan all-reduce --ranks 4 --bytes 12Q
	holds "$stderr" "--bytes must be a number such as 4096, 64K, 16M or 1G, not '12Q'"
	expect 2 morphctl schedule plan all-reduce --ranks 4 --bytes 18446744073709551615G
	holds "$stderr" "--bytes must be a number"
	for delay in speed=3 settle settle= settle=3x settle=-1; do
		expect 2 morphctl schedule plan all-reduce --ranks 4 --delay "$delay"
		holds "$stderr" "--delay must be"
	done
	expect 2 morphctl schedule plan all-reduce --shape 4x
	holds "$stderr" "--shape must be extents such as 2x4x4, not '4x'"
	run_split morphctl schedule plan all-to-all --ranks 4 --algorithm ring
	[[ $status != 0 ]]
	holds "$stderr" "a ring does not support an all-to-all"
	expect 2 morphctl schedule plan all-reduce --ranks 4 --bandwidth 0
	holds "$stderr" "--bandwidth must be 1 to 1099511627776, not '0'"
	for planes in 0 65; do
		expect 2 morphctl schedule plan all-reduce --ranks 4 --planes "$planes"
		holds "$stderr" "--planes must be 1 to 64, not '$planes'"
	done
	for port in 9.0 0.1 4294967296.0; do
		expect 2 morphctl schedule plan all-reduce --ranks 4 --lost "$port"
		holds "$stderr" "--lost must be ranks below 4 and planes below 1, not '$port'"
	done
	for wrong in "--ranks 4097" "--shape 64x65"; do
		expect 2 morphctl schedule plan all-reduce $wrong
		holds "$stderr" "a collective has 1 to 4096 ranks, not $wrong"
	done
	expect 2 morphctl schedule plan all-reduce --ranks 7 --algorithm rings
	holds "$stderr" "no torus of two dimensions has 7 ranks"
	expect 2 morphctl schedule plan all-reduce --ranks 7 --algorithm halving
	holds "$stderr" "halving requires a power of two of ranks, not 7"
	holds "$stderr" "possible algorithms: --algorithm ring, direct"
	expect 10 morphctl schedule plan all-reduce --ranks 4 --profile /dev/null
	holds "$stderr" "read profile /dev/null: not a regular file"
	for shape in 0x4 4294967297 4x4x4x4; do
		expect 2 morphctl schedule plan all-reduce --shape "$shape"
		holds "$stderr" "--shape must be extents such as 2x4x4, not '$shape'"
	done
}

@test "a too large number is a usage error with the typed text" {
	expect 2 morphctl schedule plan all-reduce --ranks 4 --bytes 99999999999999999999
	holds "$stderr" "--bytes must be a number such as 4096, 64K, 16M or 1G, not '99999999999999999999'"
	expect 2 morphctl schedule plan all-reduce --ranks 4 --bytes 1048577G
	holds "$stderr" "--bytes must be at most 2^50 (1048576G), not '1048577G'"
	expect 2 morphctl schedule plan broadcast --ranks 4 --algorithm binary --segments 5000000
	holds "$stderr" "a collective has at most 65536 rounds"
	for ns in 99999999999999999999 1099511627777; do
		expect 2 morphctl schedule plan all-reduce --ranks 4 --delay "hop=1,settle=$ns,relock=3"
		holds "$stderr" "--delay must be at most 1099511627776 nanoseconds, not 'settle=$ns'"
	done
	expect 2 morphctl schedule plan all-reduce --ranks 4 --lost 1.0@99999999999999999999
	holds "$stderr" "not '1.0@99999999999999999999'"
}

@test "a named algorithm beyond the budget is refused" {
	for collective in "all-reduce --ranks 1024" "all-to-all --ranks 2048"; do
		expect 2 morphctl schedule plan $collective --algorithm direct
		holds "$stderr" "--algorithm direct among "
		holds "$stderr" " takes minutes and gigabytes; to plan it all the same, use --steps "
	done
	expect 2 morphctl schedule plan all-reduce --ranks 1024 --algorithm direct --steps 100
	expect 0 morphctl schedule plan all-reduce --ranks 1024 --algorithm ring --policy one-shot
}

@test "segments beyond the budget are refused before they are built" {
	for algorithm in "" "--algorithm binary"; do
		expect 2 in_megabytes 100 morphctl schedule plan broadcast --ranks 4096 --segments 10000 $algorithm
		holds "$stderr" "planning --algorithm binary among 4096 ranks takes minutes and gigabytes; to plan it all the same, use --steps 157; or choose fewer --segments"
	done
	expect 2 in_megabytes 100 morphctl schedule plan broadcast --ranks 4096 --segments 65000 --algorithm binary
	holds "$stderr" "a collective has at most 67108864 transfers"
}

@test "an option without effect is refused" {
	# Options and the messages about them.
	while IFS=: read -r options text; do
		expect 2 morphctl schedule plan $options
		holds "$stderr" "$text"
	done <<-END
		all-reduce --ranks 4 --radix 4:--radix is only valid for all-to-all or all-gather with --algorithm bruck
		all-to-all --ranks 4 --radix 4 --algorithm shift:--radix is only valid for all-to-all or all-gather with --algorithm bruck
		all-to-all --ranks 4 --radix 0:--radix must be 2 or more, not '0'
		all-to-all --ranks 4 --radix 1:--radix must be 2 or more, not '1'
		all-reduce --ranks 4 --segments 4:--segments is only valid for broadcast with --algorithm binary
		broadcast --ranks 4 --segments 4 --algorithm binomial:--segments is only valid for broadcast with --algorithm binary
		broadcast --ranks 4 --segments 0:--segments must be 1 or more, not '0'
		broadcast --ranks 4 --late 2:--late is only valid for all-reduce, without --algorithm or with stragglar
		all-reduce --ranks 4 --late 2 --algorithm ring:--late is only valid for all-reduce, without --algorithm or with stragglar
		all-reduce --ranks 4 --late 0:--late must be 1 to 1099511627776 nanoseconds, not '0'
		all-reduce --ranks 4 --root 2:--root is only valid for broadcast
		all-reduce --ranks 4 --title x:--title is only valid with --format svg
		all-reduce --ranks 4 --title x --json:--title is only valid with --format svg
		all-reduce --ranks 4 --profile x --lanes 0:--lanes must be 1 or more, not '0'
		all-reduce --ranks 4 --delay settle=5,settle=7:--delay gives settle more than once
		all-reduce --ranks 4 --delay settle=5,:--delay must be durations in nanoseconds
		all-reduce --ranks 4 --fields verdict,:--fields
	END
	for used in "all-to-all --ranks 4 --radix 4" "all-gather --ranks 4 --radix 2 --algorithm bruck" \
		"broadcast --ranks 4 --segments 4 --root 3"; do
		expect 0 morphctl schedule plan $used
	done
}

@test "each key of the record is a field" {
	expect 0 morphctl schedule plan all-reduce --algorithm stragglar --ranks 8 --bytes 256M --bandwidth 3600000 --delay round=3000 --lost 3.0t@999999999 --json
	expect 0 morphctl schedule plan all-reduce --algorithm stragglar --ranks 8 --json --fields "$(jq -r 'keys | join(",")' <<<"$output")"
	expect 0 morphctl schedule plan all-reduce --ranks 8 --late 5 --json
	expect 0 morphctl schedule plan all-reduce --ranks 8 --json --fields "$(jq -r 'keys | join(",")' <<<"$output")"
	expect 0 morphctl schedule plan all-reduce --ranks 4 --json --fields choices,light,unlit,replanned,elected-rank,alone-ns,pays-ns,algorithm,involved-ranks-count
	[[ $(jq -c keys <<<"$output") == '["algorithm","choices"]' ]]
}

@test "a plan that meets its bound has no gap, and one is singular" {
	expect 0 morphctl schedule plan all-reduce --ranks 4 --algorithm ring
	grep -qE '^finishes in ([0-9.]+ us) \(lower bound \1, by (ports|chain)\)$' <<<"$output"
	holds "$output" "circuits change 1 time; 4 circuits set"
	expect 0 morphctl schedule plan all-reduce --ranks 4 --algorithm ring --json
	[[ $(jq '."gap-ns"' <<<"$output") == 0 ]]
	expect 0 morphctl schedule plan all-reduce --ranks 1 --bytes 1
	holds "$output" "all-reduce of 1 byte among 1 rank: "
}

@test "a picture is valid for any name of the matrix file" {
	local name
	for name in $'a\xff' $'\xef\xbf\xbe' "a$(printf 'é%.0s' {1..80})"; do
		printf '0 1K\n1K 0\n' > "$BATS_TEST_TMPDIR/$name"
		(cd "$BATS_TEST_TMPDIR" && morphctl schedule plan --matrix "$name" --format svg) | xmllint --noout -
	done
}

@test "a title is UTF-8" {
	expect 2 morphctl schedule plan all-reduce --ranks 4 --format svg --title $'a\xff'
	holds "$stderr" "--title must be UTF-8"
	morphctl schedule plan all-reduce --ranks 4 --format svg --title 'größer' | xmllint --noout -
}

@test "the help explains steps" {
	expect 0 morphctl schedule plan --help
	holds "$output" "in units of the policy"
	[[ $output != *"in each rack"* ]]
}

@test "options of a slice need a slice" {
	expect 2 morphctl schedule plan all-reduce --ranks 4 --load
	holds "$stderr" "--load requires --slice"
	expect 2 morphctl schedule plan all-reduce --ranks 4 --begin time
	holds "$stderr" "--begin requires --slice or --to-steps"
	expect 2 morphctl schedule plan all-reduce --slice train --at 0,1
	holds "$stderr" "--at and --slice are mutually exclusive"
	expect 2 morphctl schedule plan all-reduce --ranks 4 --lanes 2
	holds "$stderr" "--at and --lanes require --profile or --slice"
	run_split morphctl schedule plan all-reduce --slice train --load
	[[ $status == 3 && -z $output ]]
}

@test "with a profile the answer says whether circuits have paths" {
	local server=$TOP/build/profiles/server8.bin
	[[ -s $server ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
	expect 0 morphctl schedule plan all-reduce --ranks 4 --planes 2 --profile "$server" --at 0,1,5,4
	holds "$output" "all circuits have paths: "
	expect 0 morphctl schedule plan all-to-all --ranks 4 --algorithm shift --profile "$server" --json
	[[ $(jq -c '[.light.verdict, .light."planes-count", .light."circuits-count" > 0]' <<<"$output") == '["feasible",1,true]' ]]
	expect 1 morphctl schedule plan all-to-all --ranks 8 --algorithm shift --policy each-round --profile "$server"
	holds "$output" "not all circuits have paths: step "
	holds "$output" "at most 2 can"
	expect 1 morphctl schedule plan all-to-all --ranks 4 --algorithm shift --planes 7 --profile "$server" --json
	[[ $(jq -c '[.light.verdict, .light.have, .light.need]' <<<"$output") == '["infeasible",6,7]' ]]
	expect 2 morphctl schedule plan all-reduce --ranks 4 --at 0,1,2,3
	holds "$stderr" "--at and --lanes require --profile"
	for at in 0,1,2 0,1,2,3,4 0,1,2,x 0,1,5,4, 0,,1,5,4; do
		expect 2 morphctl schedule plan all-reduce --ranks 4 --profile "$server" --at "$at"
	done
}

@test "if the earliest plan has no paths, the next one with paths is chosen" {
	local server=$TOP/build/profiles/server8.bin soonest
	[[ -s $server ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
	expect 0 morphctl schedule plan all-to-all --ranks 8 --planes 4 --bytes 1M --delay round=500,settle=3700 --json
	soonest=$(jq '."finish-ns"' <<<"$output")
	expect 0 morphctl schedule plan all-to-all --ranks 8 --planes 4 --bytes 1M --delay round=500,settle=3700 --profile "$server" --json
	[[ $(jq -c '[.light.verdict, .unlit[0]."finish-ns", .unlit[0].proven]' <<<"$output") == "[\"feasible\",$soonest,true]" ]]
	[[ $(jq '."finish-ns" >= ([.unlit[]."finish-ns"] | max)' <<<"$output") == true ]]
	expect 1 morphctl schedule plan all-to-all --ranks 8 --algorithm shift --policy each-round --profile "$server" --json
	[[ $(jq -c '[.light.verdict, (.unlit | length)]' <<<"$output") == '["infeasible",1]' ]]
	# The same if the fastest plan does not wait for a late rank: the next one may wait.
	expect 0 morphctl schedule plan all-reduce --ranks 8 --planes 4 --bytes 64M --late 1000000 --delay round=500,settle=3700 --profile "$server" --json
	[[ $(jq -c '[.light.verdict, .unlit[0].algorithm, .algorithm == "stragglar"]' <<<"$output") == '["feasible","stragglar",false]' ]]
	[[ $(jq '."ends-ns" == ([.choices[] | select(.algorithm == "ring")."finish-ns"] | max)' <<<"$output") == true ]]
}

@test "the steps of a plan go into a file that can be loaded" {
	local server=$TOP/build/profiles/server8.bin
	[[ -s $server ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
	cd "$BATS_TEST_TMPDIR"
	expect 0 morphctl schedule plan all-reduce --ranks 4 --planes 2 --bytes 8M --algorithm halving --delay round=500,settle=3700 \
		--profile "$server" --at 0,1,5,4 --begin time --to-steps steps.json --json
	[[ $(jq -c '[.steps, .circuits | length]' steps.json) == "$(jq -c '.light | [."steps-count", ."circuits-count"]' <<<"$output")" ]]
	[[ $(jq -c '[.loop, (.steps | map(.begin) | unique), (."profile-checksum" > 0), .generation]' steps.json) == '[false,["time"],true,null]' ]]
	[[ $(jq '. as $all | all(.steps[].circuits[]; . < ($all.circuits | length)) and all(.circuits[]; .guides | length > 0)' steps.json) == true ]]
	# morphctl reads the whole file, and then reports that there is no slice, or even no module.
	expect 3 morphctl schedule load train steps.json
	[[ $stderr == *'no slice "train"'* || $stderr == *"the module morph is not loaded"* ]]
	expect 1 morphctl schedule plan all-to-all --ranks 8 --algorithm shift --policy each-round --profile "$server" --to-steps none.json
	holds "$stderr" "cannot write none.json: "
	[[ ! -e none.json ]]
	expect 2 morphctl schedule plan all-reduce --ranks 4 --to-steps steps.json
	holds "$stderr" "--to-steps requires --profile or --slice"
}

@test "an option that the collective does not have is a usage error" {
	for wrong in "--ranks 0" "--ranks 5000" "--shape 8x536870913"; do
		run_split morphctl schedule plan all-reduce $wrong
		[[ $status == 2 && -z $output ]]
		holds "$stderr" "a collective has 1 to 4096 ranks"
	done
	expect 2 morphctl schedule plan broadcast --ranks 4 --root 9
	holds "$stderr" "no rank --root 9: the last of 4 ranks is 3"
	run_split morphctl schedule plan all-to-all --ranks 8 --policy one-shot --format svg
	[[ $status == 1 && -z $output ]]
	holds "$stderr" "it has more matchings than planes"
}

@test "the checker accepted all plans of this file" {
	plans_were_checked plan choose payoff baseline replan
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked schedule.plan
}
