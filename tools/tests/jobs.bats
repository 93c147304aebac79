#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Decisions about training jobs from files, which need no kernel.

load common

setup() {
	file=$BATS_TEST_TMPDIR/jobs.yaml
	trace=$BATS_TEST_TMPDIR/jobs.csv
	sites='bandwidth-mbps: 40000
dark-ns: 50000000
sites:
- {sites-count: 3, ports-count: 2, slots-count: 1}
- {ports-count: 1}'
	write "$sites" 'jobs:
- name: llama
  push-bytes: 500000000
  iterations-count: 100
  parts: [{site: 0, workers-count: 4}, {site: 1, workers-count: 2}]
- {push-bytes: 1000000, iterations-count: 10, parts: [{site: 2, workers-count: 2}, {site: 3, workers-count: 1}]}
- {push-bytes: 2000000, iterations-count: 10, parts: [{site: 2, workers-count: 2}, {site: 3, workers-count: 1}]}
- {push-bytes: 1, iterations-count: 1, arrival-ns: 7000000000, parts: [{site: 2, workers-count: 2}]}'
}

write() {
	printf '%s\n' "$@" >"$file"
}

plan() {
	expect 0 morphctl jobs plan "$file" "$@" --json
}

# value FILTER: the value in the last answer.
value() {
	jq -c "$1" <<<"$output"
}

@test "a decision has slots, circuits, bandwidth, ends and a bound" {
	plan
	[[ $(value '[.jobs[]."job-state"]') == '["runs","runs","turn","future"]' ]]
	[[ $(value '.parts[0]') == '{"job":0,"site":1,"workers-count":2,"slot":true,"circuits-count":2,"bandwidth-mbps":80000}' ]]
	[[ $(value '[.changes[] | [.action, ."a-site", ."b-site", ."circuits-count"]]') == '[["add",0,1,2],["add",2,3,1]]' ]]
	# 2 * 500 MB * 100 over 80 Gb/s, after 50 ms of darkness.
	[[ $(value '[.jobs[0]."ends-ns", ."ends-ns", ."bound-ns"]') == '[10050000000,10050000000,10000000000]' ]]
	[[ $(value '[(."gap-percent" * 10 | round), ."saved-bytes", ."slots-proved"]') == '[5,100000000000,true]' ]]
	[[ $(value '[.worst."a-site", .worst."b-site", .worst."demand-bytes", .worst."circuits-count"]') == '[0,1,100000000000,2]' ]]
	expect 0 morphctl jobs plan "$file"
	holds "$output" "auto: 2 of 4 jobs run until 10.05 s (lower bound 10 s, gap 0.5 %)"
	holds "$output" "slots save 93.13 GiB, proved optimal"
	holds "$output" "largest demand per circuit: 93.13 GiB over 2 circuits between sites 0 and 1"
}

@test "circuits are a difference from those that are lit" {
	sed -i 's/^jobs:/circuits:\n- {a-site: 0, b-site: 1, circuits-count: 1}\n- {a-site: 2, b-site: 1, circuits-count: 1}\njobs:/' "$file"
	plan
	[[ $(value '[.changes[] | [.action, ."a-site", ."b-site", ."circuits-count"]]') == '[["remove",1,2,1],["add",0,1,1],["add",2,3,1]]' ]]
	sed -i '1i changed-ns: 5\nnow-ns: 10\ngap-ns: 1000000000' "$file"
	plan
	[[ $(value '.changes') == '[]' ]]
	[[ $(value '.jobs[1] | [."job-state", .text]') == '["gap","no circuit between sites 3 and 2 until circuits may change at 1 s"]' ]]
	sed -i 's/^jobs:/limits: [{a-site: 3, b-site: 2, circuits-limit: 0}]\njobs:/' "$file"
	plan
	[[ $(value '.jobs[1] | [."job-state", .text]') == '["limit","no circuit is allowed between sites 3 and 2"]' ]]
}

@test "each policy decides" {
	for policy in auto fcfs backfill ljf grouped; do
		plan --policy "$policy"
		[[ $(value .policy) == "\"$policy\"" ]]
		[[ $(value '.jobs | length') == 4 ]]
	done
	plan --policy fcfs
	[[ $(value '[.jobs[]."job-state"]') == '["runs","runs","ports","future"]' ]]
	[[ $(value 'has("gap-percent")') == false ]]
	expect 2 morphctl jobs plan "$file" --policy sjf
	holds "$stderr" "--policy must be auto|fcfs|backfill|ljf|grouped, not 'sjf'"
}

@test "why-not names the reason and the jobs that use the circuits" {
	expect 1 morphctl jobs why-not "$file" 2
	holds "$output" "job 2 waits: earlier jobs use the circuits between sites 3 and 2"
	expect 1 morphctl jobs why-not "$file" 2 --json
	[[ $(value '[.blockers[].job]') == '[1]' ]]
	expect 1 morphctl jobs why-not "$file" 2 --policy backfill --json
	[[ $(value '[."job-state", .site, .text, [.blockers[].job]]') == '["ports",3,"not enough free ports at site 3, which has 1",[1]]' ]]
	expect 1 morphctl jobs why-not "$file" 3
	holds "$output" "job 3 waits: the job arrives at 7 s"
	expect 0 morphctl jobs why-not "$file" llama
	[[ $output == "job 0 (llama) runs and ends at 10.05 s" ]]
	expect 3 morphctl jobs why-not "$file" bert
	holds "$stderr" "no job 'bert' (0-3)"
	sed -i 's/ports-count: 2, slots-count: 1/&, aggregators-count: 1, aggregator-mbps: 10000/' "$file"
	sed -i 's/^jobs:/jobs:\n- {push-bytes: 9, iterations-count: 1, parts: [{site: 2, workers-count: 3}, {site: 1, workers-count: 2}]}/' "$file"
	sed -i 's/site: 3, workers-count: 1/site: 3, workers-count: 2/' "$file"
	expect 1 morphctl jobs why-not "$file" 3 --json
	[[ $(value '[."job-state", .text]') == '["aggregators","not enough CPU aggregators at site 2, which has 1"]' ]]
	expect 0 morphctl jobs why-not "$file" 0 --json
	[[ $(value '[."aggregators-count", ."aggregator-mbps"]') == '[1,10000]' ]]
	sed -i 's/workers-count: 3/&, left-bytes: 0/; s/site: 1, workers-count: 2/&, left-bytes: 0/' "$file"
	expect 0 morphctl jobs why-not "$file" 0
	[[ $output == "job 0 has ended" ]]
}

@test "a job that waits behind another" {
	sed -i 's/ports-count: 2/ports-count: 1/; /llama/,+3s/site: 1, workers-count: 2/site: 2, workers-count: 2/' "$file"
	expect 1 morphctl jobs why-not "$file" 2 --policy fcfs
	holds "$output" "job 2 waits: an earlier job waits, and fcfs serves jobs in the order of arrival"
	holds "$output" "With --policy backfill, later jobs pass a job that waits."
}

@test "a simulation runs all jobs with each policy" {
	expect 0 morphctl jobs run "$file" --json
	[[ $(value '[."jobs-count", [.simulations[].policy]]') == '[4,["auto","fcfs","backfill","ljf","grouped"]]' ]]
	[[ $(value '[.simulations[] | ."ended-jobs-count"] | unique') == '[4]' ]]
	[[ $(value '[.simulations[] | ."bound-ns" <= ."ends-ns" and ."mean-bound-ns" <= ."mean-ns"] | all') == true ]]
	[[ $(value '[.simulations[0] | ."ends-ns", ."changes-count", ."circuits-set-count", ."dark-ns"]') == '[10050000000,1,3,150000000]' ]]
	expect 0 morphctl jobs run "$file" --policy ljf --json
	[[ $(value '[.simulations[].policy]') == '["ljf"]' ]]
	expect 0 morphctl jobs run "$file" --policy auto
	[[ $output == "4 jobs; no policy ends them before 10 s"* ]]
	# Job 2 waits for the circuit of job 1, which stays lit.
	expect 0 morphctl jobs run "$file" --policy fcfs --json
	[[ $(value '.simulations[0] | ."changes-count"') == 1 ]]
	sed -i 's/^jobs:/limits: [{a-site: 3, b-site: 2, circuits-limit: 0}]\njobs:/' "$file"
	expect 0 morphctl jobs run "$file" --policy auto --json
	[[ $(value '.simulations[0] | [."ended-jobs-count", has("gap-percent")]') == '[2,false]' ]]
	sed -i 's/circuits-limit: 0/circuits-limit: 0}, {a-site: 2, b-site: 3, circuits-limit: 0/' "$file"
	expect 2 morphctl jobs run "$file"
}

@test "a simulation with errors reports the loss" {
	sed -i 's/push-bytes: 1000000/push-bytes: 100000000/; s/push-bytes: 2000000/push-bytes: 200000000/' "$file"
	expect 0 morphctl jobs run "$file" --policy auto --json
	exact=$(value '.simulations[0] | [."mean-ns", has("wrong-mean-ns"), has("mean-loss-percent")]')
	[[ $exact == '[2937500000,false,false]' ]]
	# The planner believes that job 2 is shorter than job 1.
	expect 0 morphctl jobs run "$file" --policy auto --errors 60 --seed 6 --json
	[[ $(value '.simulations[0] | [."mean-ns", ."wrong-mean-ns", (."mean-loss-percent" * 100 | round)]') == '[2937500000,3037500000,340]' ]]
	[[ $(value '.simulations[0] | [."ends-ns", ."wrong-ends-ns", (."ends-loss-percent" == 0)]') == '[10050000000,10050000000,true]' ]]
	expect 0 morphctl jobs run "$file" --policy auto --errors 60 --seed 7 --json
	[[ $(value '.simulations[0]."mean-loss-percent" == 0') == true ]]
	expect 0 morphctl jobs run "$file" --policy auto --errors 60 --seed 6
	holds "$output" "LOSS OF MEAN"
	expect 0 morphctl jobs run "$file" --errors 1 --json
	[[ $(value '[.simulations[] | has("mean-loss-percent")] | all') == true ]]
	for errors in 0 100 x; do
		expect 2 morphctl jobs run "$file" --errors "$errors"
		holds "$stderr" "--errors must be an integer from 1 to 99, not '$errors'"
	done
	expect 2 morphctl jobs run "$file" --errors 9 --seed x
}

@test "jobs of a trace" {
	write "$sites"
	cat >"$trace" <<-'END'
		arrival_s, workers, bytes, iterations, compute_s, sites
		# two workers at site 0, which is the root
		0, 3, 500000000, 100, 0, 1 0 0
		0.5, 1, 1, 1, 0.25, 2   # one worker
	END
	plan --trace "$trace"
	[[ $(value '[.jobs[]."job-state"]') == '["runs","future"]' ]]
	[[ $(value '[.parts[] | [.job, .site, ."workers-count"]]') == '[[0,1,1]]' ]]
	[[ $(value '.jobs[1].text') == '"the job arrives at 500 ms"' ]]
	expect 0 morphctl jobs plan "$file" --trace - --json <"$trace"
}

# wrong_trace LINE TEXT: a trace with this line is refused with the text.
wrong_trace() {
	printf '%s\n' "arrival_s,workers,bytes,iterations,compute_s,sites" "0,1,1,1,0,0" "$1" >"$trace"
	expect 2 morphctl jobs plan "$file" --trace "$trace"
	holds "$stderr" "morphctl: $trace: line 3: $2"
}

@test "errors in a trace name the line" {
	write "$sites"
	wrong_trace "0,1,1,1,0" "5 columns, must be 6"
	wrong_trace "0,1,1,1,0,0,0" "7 columns, must be 6"
	wrong_trace "x,1,1,1,0,0" "'arrival_s' must be seconds, 0 to 1000000000, not 'x'"
	wrong_trace "-1,1,1,1,0,0" "'arrival_s' must be seconds, 0 to 1000000000, not '-1'"
	wrong_trace "0,0,1,1,0,0" "'workers' must be a number, 1 to 1048576, not '0'"
	wrong_trace "0,1,1e9,1,0,0" "'bytes' must be a number, 0 to 4611686018427387904, not '1e9'"
	wrong_trace "0,1,1,-1,0,0" "'iterations' must be a number, 0 to 4294967295, not '-1'"
	wrong_trace "0,1,1,1,,0" "'compute_s' must be seconds, 0 to 1000000000, not ''"
	wrong_trace "0,1,1,1,0,4" "no site '4' (0-3)"
	wrong_trace "0,2,1,1,0,1" "2 workers, but 1 sites; each needs one"
	wrong_trace "0,1,4611686018427387904,9,0,1" "more than 2^62 bytes in all iterations"
	echo "0,1,1,1,0,0" >"$trace"
	expect 2 morphctl jobs plan "$file" --trace "$trace"
	holds "$stderr" "$trace: line 1: column 1 is '0', must be 'arrival_s'"
	echo "# nothing" >"$trace"
	expect 2 morphctl jobs plan "$file" --trace "$trace"
	holds "$stderr" "$trace: requires a line with the names of columns"
	printf 'a\0b\n' >"$trace"
	expect 2 morphctl jobs plan "$file" --trace "$trace"
	holds "$stderr" "$trace: line 1: NUL character; remove it"
	expect 3 morphctl jobs plan "$file" --trace "$trace.none"
}

# wrong TEXT LINE...: a file of these lines is refused with the text.
wrong() {
	write "${@:2}"
	expect 2 morphctl jobs plan "$file"
	holds "$stderr" "morphctl: $file: $1"
}

@test "errors in a file name the line and the place" {
	wrong "line 1: must be a mapping with the keys bandwidth-mbps," "- 1"
	wrong "line 2, column 1: " "sites: [" "- 1"
	wrong "line 1: unknown key 'site'; known keys: bandwidth-mbps," "site: 1"
	wrong "line 1: 'bandwidth-mbps' must be a number, 1 to 16777216" "sites: [{ports-count: 1}]"
	wrong "line 1: requires a list 'sites' with at least one entry" "bandwidth-mbps: 1"
	wrong "line 6: 'dark-fabric' must be true or false" "$sites" "dark-fabric: 1"
	wrong "line 6: entry 2 of 'sites': 'ports-count' must be a number, 0 to 65535" "$sites" "- {slots-count: 1}"
	wrong "line 6: entry 2 of 'sites': too many sites: 4100 (at most 4096)" "$sites" "- {sites-count: 4096, ports-count: 1}"
	wrong "line 6: entry 2 of 'sites': 'rank' must be a number, 0 to 65535" "$sites" "- {ports-count: 1, rank: 65536}"
	wrong "line 7: entry 3 of 'sites': rank 1 is site 5 already" "$sites" "- {ports-count: 1, rank: 0, sites-count: 2}" "- {ports-count: 1, rank: 1}"
	wrong "line 6: entry 0 of 'circuits': 'b-site' must be a number, 0 to 3" "$sites" "circuits: [{a-site: 0, b-site: 4, circuits-count: 1}]"
	wrong "line 6: entry 0 of 'limits': unknown key 'circuits-count'; known keys: a-site,b-site,circuits-limit" \
		"$sites" "limits: [{a-site: 0, b-site: 1, circuits-count: 1}]"
	wrong "line 6: 'jobs' must be a list" "$sites" "jobs: 1"
	wrong "requires a list 'jobs', or --trace" "$sites"
	wrong "line 6: job 0: must be a mapping with the keys name," "$sites" "jobs: [1]"
	wrong "line 6: job 0: 'name' must be a word" "$sites" "jobs: [{name: 1}]"
	wrong "line 6: job 0: 'push-bytes' must be a number, 0 to 4611686018427387904" "$sites" "jobs: [{iterations-count: 1}]"
	wrong "line 6: job 0: requires a list 'parts' with at least one entry" "$sites" "jobs: [{push-bytes: 1, iterations-count: 1}]"
	wrong "line 6: job 0: part 0: 'workers-count' must be a number, 1 to 1048576" "$sites" "jobs: [{push-bytes: 1, iterations-count: 1, parts: [{site: 0}]}]"
	wrong "line 6: job 0: part 0: 'slot' must be true or false" "$sites" \
		"jobs: [{push-bytes: 1, iterations-count: 1, parts: [{site: 0, workers-count: 1, slot: 1}]}]"
	wrong "line 6: job 0: more than 2^62 bytes in all iterations" "$sites" \
		"jobs: [{push-bytes: 4611686018427387904, iterations-count: 2, parts: [{site: 0, workers-count: 1}]}]"
	# The planner finds these.
	wrong "" "$sites" "circuits: [{a-site: 0, b-site: 1, circuits-count: 9}]" \
		"jobs: [{push-bytes: 1, iterations-count: 1, parts: [{site: 0, workers-count: 1}]}]"
	wrong "" "$sites" "jobs: [{push-bytes: 1, iterations-count: 1, parts: [{site: 0, workers-count: 1}, {site: 0, workers-count: 1}]}]"
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked jobs.plan jobs.run jobs.why-not
}

# refuses TEXT LINE...: apply refuses a file of these lines with the text, before it asks a driver.
refuses() {
	write "${@:2}"
	expect 2 morphctl jobs apply "$file" train
	holds "$stderr" "morphctl: $file: $1"
}

@test "apply refuses a file that is not about ranks" {
	one='jobs: [{push-bytes: 1, iterations-count: 1, parts: [{site: 0, workers-count: 2}, {site: 3, workers-count: 1}]}]'
	ranks=${sites/sites-count: 3/rank: 0, sites-count: 3}
	refuses "job 0: site 0 is no rank; give its entry of 'sites' a 'rank', or remove the job" "$sites" "$one"
	refuses "job 0: site 3 is no rank; give its entry of 'sites' a 'rank', or remove the job" "$ranks" "$one"
	refuses "line 6: remove 'circuits'; the driver reports the circuits of the slice" \
		"$ranks" "circuits: [{a-site: 0, b-site: 1, circuits-count: 1}]" "$one"
	expect 2 morphctl jobs apply "$file" train --lanes 0
	holds "$stderr" "--lanes must be 1 or more, not '0'"
}
