#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The number of spares that an availability target needs.

load common

setup_file() {
	unpack_recordings
}

# binomial N SHARE: recompute the least number of spares for 99.9 % of the time, and the number by
# the published rule.
binomial() {
	python3 - "$@" <<'END'
import math, sys
count, share = int(sys.argv[1]), float(sys.argv[2])
at_least = [sum(math.comb(count, k) * share**k * (1 - share)**(count - k) for k in range(least, count + 1))
            for least in range(count + 2)]
print(next(k for k in range(count + 1) if at_least[k + 1] <= 0.001),
      next(k for k in range(count + 2) if at_least[k] <= 0.001))
END
}

@test "independent failures need the spares of the binomial distribution" {
	for share in 0.05 0.5 3 20; do
		expect 0 morphctl spare plan --servers 4 --accelerators 4 --failures accelerator=$share% --json
		[[ $(jq -r '"\(."spares-count") \(."published-count")"' <<<"$output") == \
			"$(binomial 16 "$(python3 -c "print($share / 100)")")" ]]
	done
}

@test "hours between failures and of a repair give a share of time" {
	expect 0 morphctl spare plan --servers 1 --accelerators 1 --failures accelerator=99.5/0.5 --availability 50 --json
	jq -e '(.coverage[0]."covered-percent" - 99.5 | fabs) < 1e-9 and ."spares-count" == 0' <<<"$output"
}

@test "a server and a supply take all of their accelerators" {
	expect 0 morphctl spare plan --servers 8 --accelerators 4 --failures server=0.2% --json
	jq -e '."spares-count" == 4 and ."servers-count" == 8 and ."accelerators-count" == 32' <<<"$output"
	expect 0 morphctl spare plan --servers 8 --accelerators 4 --failures supply=0.2% --supply-servers 4 --json
	jq -e '."spares-count" == 16' <<<"$output"
	expect 0 morphctl spare plan --servers 8 --accelerators 4 --failures supply=0.2% --supply-servers 1
	holds "$output" "4 spares for 99.9 % of the time: 32 accelerators in 8 servers, spares included"
}

@test "the numbers of a profile" {
	expect 0 morphctl spare plan --profile "$TOP/build/profiles/rack64.bin" --failures accelerator=0.1% --json
	jq -e '."servers-count" == 18 and ."accelerators-count" == 72 and (has("present-count") | not)' <<<"$output"
	expect 2 morphctl spare plan --profile "$TOP/build/profiles/pod4096.bin" --failures accelerator=0.1%
	holds "$stderr" "a plan has 1 to 64; plan one rack"
}

@test "the spares that a fabric holds, and how many it lacks" {
	local recording=$RECORDINGS/accelerator-list.jsonl
	MORPHCTL_REPLAY=$recording expect 0 morphctl spare plan --failures accelerator=1% --json
	jq -e '."present-count" == 2 and ."accelerators-count" == 10 and ."servers-count" == 1' <<<"$output"
	MORPHCTL_REPLAY=$recording expect 1 morphctl spare plan --failures accelerator=20%
	holds "$output" "the fabric has 2: add "
	holds "$output" "with 'morphctl spare add'"
}

@test "a target that leaves no accelerator to tenants is infeasible" {
	expect 1 morphctl spare plan --servers 2 --accelerators 4 --failures accelerator=99% --json
	jq -e '.verdict == "infeasible"' <<<"$output"
	expect 1 morphctl spare plan --servers 2 --accelerators 4 --failures accelerator=99%
	holds "$output" "not reachable"
}

@test "mistakes are named, with the remedy" {
	local shape=(--servers 2 --accelerators 4)
	expect 2 morphctl spare plan "${shape[@]}"
	holds "$stderr" "--failures is missing"
	expect 2 morphctl spare plan "${shape[@]}" --failures gpu=1%
	holds "$stderr" "unknown part 'gpu'; known parts: accelerator=, server=, supply="
	for rate in 5 -1% 101% 5/x 0/4 1/2/3 nan% inf/1; do
		expect 2 morphctl spare plan "${shape[@]}" --failures server=$rate
		holds "$stderr" "not '$rate'"
	done
	for percent in 0 101 x -1 nan; do
		expect 2 morphctl spare plan "${shape[@]}" --failures server=1% --availability $percent
		holds "$stderr" "not '$percent'"
	done
	expect 2 morphctl spare plan "${shape[@]}" --failures supply=1%
	holds "$stderr" "requires --supply-servers"
	expect 2 morphctl spare plan "${shape[@]}" --failures server=1% --supply-servers 2
	holds "$stderr" "requires --failures supply="
	expect 2 morphctl spare plan --servers 2 --failures server=1%
	holds "$stderr" "require each other"
	expect 2 morphctl spare plan "${shape[@]}" --profile x --failures server=1%
	holds "$stderr" "omit --profile"
	expect 2 morphctl spare plan --servers 65 --accelerators 4 --failures server=1%
	holds "$stderr" "65 servers; a plan has 1 to 64"
	expect 2 morphctl spare plan --servers 2 --accelerators 4096 --failures server=1%
	holds "$stderr" "at most 4096 in total"
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked spare.plan
}
