#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Plans from the files of other programs, and plans written for them.

load common

setup_file() {
	check_plans
}

FILES=$BATS_TEST_DIRNAME/../../libmorph/tests/files

setup() {
	cd "$BATS_TEST_TMPDIR"
	fabric=(--bandwidth 100000 --delay round=500,settle=3700)
	cat > tokens.csv <<-END
		# what each rank has for each
		0, 64K, 128K, 1M
		5	0	3	4

		64K 0 0 12M  # the most
		1;2;3;0
	END
}

# refused STATUS TEXT COMMAND...
refused() {
	expect "$1" "${@:3}"
	holds "$stderr" "$2"
}

@test "a matrix becomes a complete plan" {
	expect 0 morphctl schedule plan --matrix tokens.csv --planes 2 "${fabric[@]}"
	holds "$output" "tokens.csv among 4 ranks: "
	holds "$output" $'\nplane  1 |'
	for policy in each-round one-shot segments overlap matchings; do holds "$output" $'\n'"$policy"; done
	for algorithm in direct shift pairwise; do holds "$output" $'\n'"$algorithm"; done
	expect 0 morphctl schedule plan --matrix tokens.csv --algorithm direct --policy matchings "${fabric[@]}" --json
	[[ $(jq -c '[.verdict, .policy, ."ranks-count", (.choices | length), .algorithm]' <<<"$output") == '["feasible","matchings",4,1,"direct"]' ]]
	[[ $(jq '."finish-ns" >= ."bound-ns"' <<<"$output") == true ]]
	# No plan ends before the busiest port: rank 3 receives 13 MiB and 4 bytes.
	[[ $(jq '."bound-ns" >= (13 * 1048576 + 4) * 8 / 100' <<<"$output") == true ]]
	# Eleven pairs have bytes for each other.
	[[ $(jq '[.matchings[].circuits[]] | unique | length' <<<"$output") == 11 ]]
	morphctl schedule plan --matrix tokens.csv "${fabric[@]}" --format svg > plan.svg
	xmllint --noout plan.svg
	[[ $(xmllint --xpath 'string(//*[local-name()="text"][1])' plan.svg) == "tokens.csv among 4 ranks" ]]
	expect 0 morphctl schedule plan --matrix - <tokens.csv
}

@test "methods of a matrix are listed, with the reason against each" {
	expect 0 morphctl schedule plan --matrix tokens.csv --algorithm direct --policy matchings "${fabric[@]}" --json
	[[ $(jq -c '[.methods[].method]' <<<"$output") == '["rotation","mesh","longest","greedy","urgent","solstice","eclipse","birkhoff"]' ]]
	[[ $(jq -c '[.methods[] | select(.text == null)] | length' <<<"$output") == 1 ]]
	[[ $(jq '(.methods[] | select(.text == null) | ."finish-ns") == ."finish-ns"' <<<"$output") == true ]]
	[[ $(jq '. as $all | all(.methods[]; .text != "later" or ."finish-ns" >= $all."finish-ns")' <<<"$output") == true ]]
	[[ $(jq -r '.methods[] | select(.method == "mesh") | .text' <<<"$output") == "a rank has more partners than planes" ]]
	expect 0 morphctl schedule plan --matrix tokens.csv --algorithm direct "${fabric[@]}"
	holds "$output" $'\nsolstice '
	expect 0 morphctl schedule plan --matrix tokens.csv --algorithm shift "${fabric[@]}" --json
	[[ $(jq .method <<<"$output") == null ]]
}

@test "all readers of a matrix get the same plan" {
	morphctl schedule plan --matrix tokens.csv --planes 3 "${fabric[@]}" --json > one
	sed 's/[,;]/ /g' tokens.csv | morphctl schedule plan --matrix - --planes 3 "${fabric[@]}" --json > other
	cmp one other
}

@test "dispatch, and combine as its transpose" {
	printf '0 4M 0 1M\n0 0 0 0\n2M 1M 0 0\n0 0 0 0\n' > dispatch
	expect 0 morphctl schedule plan --matrix dispatch --policy matchings --algorithm direct "${fabric[@]}" --json
	there=$output
	# The last rank sends nothing, but receives bytes. The third rank sends least.
	[[ $(jq -c '[."involved-ranks-count", ."elected-rank"]' <<<"$there") == '[4,3]' ]]
	expect 0 morphctl schedule plan --matrix dispatch --combine "${fabric[@]}" --json
	[[ $(jq -c '[.policy, .algorithm]' <<<"$output") == '["matchings","direct"]' ]]
	[[ $(jq '."finish-ns"' <<<"$output") -le $(jq '."finish-ns"' <<<"$there") ]]
	turned=$(jq -c '[.matchings[].circuits[] | [."dst-rank", ."src-rank"]] | sort' <<<"$output")
	[[ $(jq -c '[.matchings[].circuits[] | [."src-rank", ."dst-rank"]] | sort' <<<"$there") == "$turned" ]]
	expect 0 morphctl schedule plan --matrix dispatch --combine
	holds "$output" "4 ranks take part; rank 3 loads the plan"
	refused 2 "--combine requires --matrix or --from-ompi-prof" morphctl schedule plan all-to-all --ranks 4 --combine
	refused 2 "--combine requires --policy matchings, not 'united'" morphctl schedule plan --matrix dispatch --combine --policy united
	printf '0 0\n0 0\n' > dispatch
	expect 0 morphctl schedule plan --matrix dispatch --combine
	holds "$output" "no rank sends or receives"
}

@test "an error in a matrix is reported with its line" {
	printf '0 1\n2 x\n' > m; refused 2 "m: line 2: column 2: 'x' is not a number of bytes such as 4096, 64K, 16M or 1G" morphctl schedule plan --matrix m
	printf '0 1\n\n2\n' > m; refused 2 "m: line 3: 1 number, but 2 in the first row" morphctl schedule plan --matrix m
	printf '0 1\n2 0\n1 1\n' > m; refused 2 "m: line 3: one more row than the 2 of a matrix of 2 columns" morphctl schedule plan --matrix m
	printf '0 1\n' > m; refused 2 "m: 1 row of 2 numbers; a matrix must have equal numbers of rows and columns" morphctl schedule plan --matrix m
	printf '0,,1\n1,0,0\n1,1,0\n' > m; refused 2 "m: line 1: row 1: column 2 is empty; write 0 for no bytes" morphctl schedule plan --matrix m
	printf '# three\n0,1,2\n, 0,2\n1,1,0\n' > m; refused 2 "m: line 3: row 2: column 1 is empty" morphctl schedule plan --matrix m
	printf '0 , 1\n1\t;0\n' > m; expect 0 morphctl schedule plan --matrix m
	printf '0 2000000G\n1 0\n' > m; refused 2 "m: line 1: column 2: '2000000G' is more than 2^50 bytes" morphctl schedule plan --matrix m
	printf '0 99999999999999999999\n1 0\n' > m; refused 2 "m: line 1: column 2: '99999999999999999999' is not a number of bytes" morphctl schedule plan --matrix m
	printf '0 1\n1 0\n' > m; refused 2 "--radix is only valid for" morphctl schedule plan --matrix m --radix 4 --algorithm shift
	printf '# nothing\n' > m; refused 2 "m: 0 rows of 0 numbers" morphctl schedule plan --matrix m
	printf '0 -1\n2 0\n' > m; refused 2 "m: line 1: column 2: '-1' is not a number" morphctl schedule plan --matrix m
	printf '0 1\n2 0\0' > m; refused 2 "m: line 2: NUL character" morphctl schedule plan --matrix m
	seq 5000 | paste -sd, > m; refused 2 "m: line 1: 5000 numbers; a matrix has at most 4096 ranks" morphctl schedule plan --matrix m
	refused 3 "none: No such file" morphctl schedule plan --matrix none
}

@test "profiles of Open MPI become a plan" {
	printf '# POINT TO POINT\nE\t0\t1\t1000000 bytes\t3 msgs sent\t0,0,3\nI\t0\t2\t24 bytes\t1 msgs sent\n' > phase_1.0.prof
	printf 'E\t1\t2\t2000000 bytes\t3 msgs sent\n' > phase_1.1.prof
	printf 'I\t2\t0\t24 bytes\t3 msgs sent\nC\t2\t0\t24 bytes\t1 msgs sent\n' > phase_1.2.prof
	expect 0 morphctl schedule plan --from-ompi-prof phase_1 "${fabric[@]}" --algorithm direct --policy matchings --json
	[[ $(jq -c '[.verdict, ."ranks-count"]' <<<"$output") == '["feasible",3]' ]]
	[[ $(jq -c '[.matchings[].circuits[] | [."src-rank", ."dst-rank"]] | sort | unique' <<<"$output") == '[[0,1],[0,2],[1,2],[2,0]]' ]]
	cat phase_1.?.prof > all
	# One file with all ranks gives the same plan.
	expect 0 morphctl schedule plan --from-ompi-prof phase_1 "${fabric[@]}" --json
	files=$output
	expect 0 morphctl schedule plan --from-ompi-prof all "${fabric[@]}" --json
	[[ $output == "$files" ]]
	expect 0 morphctl schedule plan --from-ompi-prof - "${fabric[@]}" --json <all
	[[ $output == "$files" ]]
	expect 0 morphctl schedule plan --from-ompi-prof all --ranks 5 --json
	[[ $(jq '."ranks-count"' <<<"$output") == 5 ]]
	refused 2 "phase_1.0.prof: line 3: no rank 2: there are 2 ranks" morphctl schedule plan --from-ompi-prof phase_1 --ranks 2
	echo 'E 0 1 x' >> phase_1.1.prof
	refused 2 "phase_1.1.prof: line 2: must be 'RANK RANK BYTES bytes MESSAGES msgs sent'" morphctl schedule plan --from-ompi-prof phase_1
	printf 'E 0 1 18446744073709551615 bytes 1 msgs sent\n' > much
	refused 2 "much: line 1: rank 0 sends rank 1 more than 2^50 bytes" morphctl schedule plan --from-ompi-prof much
	refused 3 "no file phase_2.0.prof either" morphctl schedule plan --from-ompi-prof phase_2
	printf 'E 0 1 5 bytes 1 msgs sent\nE 5000 1 5 bytes 1 msgs sent\n' > many
	refused 2 "many: line 2: rank 5000; ranks must be below 4096" morphctl schedule plan --from-ompi-prof many
	echo '# nothing' > none
	refused 2 "none: the file has no messages" morphctl schedule plan --from-ompi-prof none
}

@test "a file that is missing or empty is named" {
	for rank in 0 1 3; do printf "E\t$rank\t2\t64 bytes\t1 msgs sent\n" > job.$rank.prof; done
	refused 3 "job.2.prof: No such file or directory, but a file of rank 3 exists" morphctl schedule plan --from-ompi-prof job
	: > job.2.prof
	refused 2 "job.2.prof: the file is empty" morphctl schedule plan --from-ompi-prof job
	: > alone
	refused 2 "alone: the file is empty" morphctl schedule plan --from-ompi-prof alone
	python3 -B "$FILES/../traces.py" traces
	mv traces/ring.2.et traces/kept
	refused 3 "traces/ring.2.et: No such file or directory, but a file of rank 3 exists" morphctl schedule plan --from-chakra traces/ring
	: > traces/ring.2.et
	refused 2 "traces/ring.2.et: the file is empty" morphctl schedule plan --from-chakra traces/ring
}

@test "algorithms of MSCCL become a plan with their own rounds" {
	expect 0 morphctl schedule plan --from-msccl "$FILES/msccl-ring4.xml" --bytes 4M "${fabric[@]}"
	holds "$output" "msccl-ring4.xml among 4 ranks: "
	expect 0 morphctl schedule plan --from-msccl "$FILES/msccl-ring4.xml" --bytes 4M "${fabric[@]}" --to-msccl back.xml --to-segments segments.json --json
	first=$(jq 'del(.choices)' <<<"$output")
	[[ $(jq '.steps | length' segments.json) == $(jq '.rounds | length' <<<"$first") ]]
	xmllint --noout back.xml
	expect 0 morphctl schedule plan --from-msccl back.xml --bytes 4M "${fabric[@]}" --json
	[[ $(jq 'del(.choices)' <<<"$output") == "$first" ]]
	sed 's/<step /<stop /' "$FILES/msccl-ring4.xml" > wrong.xml
	refused 2 "wrong.xml: line " morphctl schedule plan --from-msccl wrong.xml
	refused 3 "none.xml: No such file" morphctl schedule plan --from-msccl none.xml
}

@test "algorithms of MSCCL are the same however a writer lays out XML" {
	for name in ring twostep allpairs; do
		file=$FILES/msccl-${name}4.xml
		expect 0 morphctl schedule plan --from-msccl "$file" "${fabric[@]}" --json
		first=$output
		xmllint --c14n "$file" > ordered.xml
		[[ $(<ordered.xml) != "$(<"$file")" ]]
		xmllint --noblanks --encode UTF-16 "$file" > dense.xml
		xmllint --format --encode ISO-8859-1 "$file" | sed "s/\"/'/g" > quoted.xml
		for laid in ordered dense quoted; do
			expect 0 morphctl schedule plan --from-msccl $laid.xml "${fabric[@]}" --json
			[[ $output == "$first" ]]
		done
	done
}

@test "rounds of a file have paths, or not" {
	expect 0 morphctl schedule plan --from-msccl "$FILES/msccl-ring4.xml" --profile "$TOP/build/profiles/server8.bin" --at 0,1,5,4 --json
	[[ $(jq -c '[."ranks-count", .light.verdict]' <<<"$output") == '[4,"feasible"]' ]]
}

@test "an algorithm that sums twice is refused" {
	{
		echo '<algo name="a" nchunksperloop="1" ngpus="2" coll="allreduce" inplace="1">'
		for gpu in 0 1; do
			echo "<gpu id=\"$gpu\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\"><tb id=\"0\" send=\"$((1 - gpu))\" recv=\"$((1 - gpu))\" chan=\"0\">"
			for step in 0:s 1:rrc 2:s 3:rrc; do
				echo "<step s=\"${step%:*}\" type=\"${step#*:}\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>"
			done
			echo '</tb></gpu>'
		done
		echo '</algo>'
	} > twice.xml
	refused 2 "twice.xml: line 12: gpu 1 adds data of gpu 0 to a sum that already contains it" morphctl schedule plan --from-msccl twice.xml
}

@test "nchunksperloop is the number of chunks" {
	sed 's/nchunksperloop="4"/nchunksperloop="8"/' "$FILES/msccl-ring4.xml" > eight.xml
	refused 2 'eight.xml: line 2: nchunksperloop="8", the largest buffer has 4 chunks' morphctl schedule plan --from-msccl eight.xml
}

@test "a plan is written in other formats" {
	expect 0 morphctl schedule plan all-gather --ranks 8 --algorithm ring "${fabric[@]}" --to-msccl ring.xml
	expect 0 morphctl schedule plan --from-msccl ring.xml "${fabric[@]}" --json
	[[ $(jq '.rounds | length' <<<"$output") == 7 ]]
	expect 1 morphctl schedule plan all-gather --ranks 8 --to-msccl none/ring.xml
	holds "$stderr" "none/ring.xml: No such file"
	expect 1 morphctl schedule plan all-to-all --ranks 8 --algorithm shift --policy one-shot --to-segments x.json
	holds "$stderr" "cannot write x.json: "
	[[ ! -e x.json ]]
}

@test "topologies that differ from the plan when read back are refused or reported" {
	expect 0 morphctl schedule plan all-to-all --ranks 16 --algorithm shift "${fabric[@]}" --to-segments same.json
	[[ -z $stderr ]]
	expect 0 morphctl schedule plan all-reduce --ranks 8 --algorithm swing --planes 3 --delay settle=10000 --policy overlap --to-segments other.json
	holds "$stderr" "other.json: the file takes "
	back=$(sed 's/.*the file takes \([0-9]*\) ns.*/\1/' <<<"$stderr")
	expect 0 morphctl schedule plan all-reduce --algorithm swing --planes 3 --delay settle=10000 --from-segments other.json --json
	[[ $(jq '.baselines[] | select(.baseline == "as-written") | ."finish-ns"' <<<"$output") == "$back" ]]
	expect 1 morphctl schedule plan all-to-all --ranks 8 --algorithm direct --delay settle=1000 --to-segments none.json
	holds "$stderr" "none.json is not written; the format has one topology for each round"
	[[ ! -e none.json ]]
	printf '0 1 0\n1 0 0\n0 0 0\n' > pair
	expect 0 morphctl schedule plan --matrix pair --to-segments two.json
	holds "$stderr" "two.json: no circuit has a rank above 1; read it with --ranks 3"
}

@test "a file may replace the answer on standard output" {
	local server=$TOP/build/profiles/server8.bin
	[[ -s $server ]] || make -s -C "$TOP/profiles" OUT="$TOP/build/profiles" >&2
	for to in msccl segments steps; do
		expect 0 morphctl schedule plan all-gather --ranks 4 --algorithm ring --profile "$server" --at 0,1,5,4 --to-$to file
		expect 0 morphctl schedule plan all-gather --ranks 4 --algorithm ring --profile "$server" --at 0,1,5,4 --to-$to -
		[[ $output == "$(<file)" ]]
	done
	refused 2 "only one file may use standard output, not 2" morphctl schedule plan all-gather --ranks 4 --to-msccl - --to-segments -
	refused 2 "replaces the answer" morphctl schedule plan all-gather --ranks 4 --to-msccl - --json
	expect 1 morphctl schedule plan all-to-all --ranks 8 --algorithm shift --policy one-shot --to-segments -
	[[ -z $output ]]
}

# The first of the plan's changes takes 1000 of its 29351 ns. There are 4 other changes, and 24351
# ns of sends.
@test "costs of topologies exclude the first change, and the file names the algorithm" {
	fabric=(--bandwidth 800000 --delay round=500,hop=500,settle=1000)
	expect 0 morphctl schedule plan all-reduce --ranks 8 --algorithm halving-cyclic "${fabric[@]}" --to-segments -
	[[ $(jq -c '[.collective, .cost, .num_of_reconfigs, .reconf_cost_total]' <<<"$output") == '["halving-cyclic",28351,4,4000]' ]]
	expect 0 morphctl schedule plan all-reduce --ranks 8 "${fabric[@]}" --to-segments chosen.json --json
	[[ $(jq -r .collective chosen.json) == "$(jq -r .algorithm <<<"$output")" ]]
	expect 0 morphctl schedule plan --from-msccl "$FILES/msccl-ring4.xml" --bytes 4M "${fabric[@]}" --to-segments -
	[[ $(jq -r .collective <<<"$output") == custom ]]
	# The published value: 75389 ns.
	circulants 1 1 1 8 8 8 8 8 8 1 1 1 > harvest.json
	expect 0 morphctl schedule plan all-reduce --algorithm halving-cyclic --from-segments harvest.json --bandwidth 800000 --delay round=500,hop=500,settle=10000 --to-segments -
	[[ $(jq -c '[.cost, .reconf_cost_total]' <<<"$output") == '[75390,20000]' ]]
}

# circulants SHIFT...: topologies of 64 ranks, each of which joins ranks at the given distance, in
# the format of Harvest's schedules.
circulants() {
	jq -nc '{alpha_r: 10000, collective: "x", num_of_reconfigs: 2, steps: [$ARGS.positional | to_entries[] | {step: (.key + 1),
		topology: [.value as $by | range(64) | [., (. + ($by | tonumber)) % 64, 1.0]]}]}' --args "$@"
}

@test "the number of topologies of a file gives the algorithm's parameter" {
	fabric=(--planes 2 --bytes 64M --delay round=500,settle=3700)
	expect 0 morphctl schedule plan broadcast --ranks 16 "${fabric[@]}" --to-segments tree.json --json
	first=$(jq -c '[.algorithm, ."segments-count", ."finish-ns"]' <<<"$output")
	expect 0 morphctl schedule plan broadcast --from-segments tree.json "${fabric[@]}" --json
	[[ $(jq -c '[.algorithm, ."segments-count", ."finish-ns"]' <<<"$output") == "$first" && $first == '["binary",'* ]]
	fabric=(--planes 3 --bytes 64K --delay round=500,settle=3700)
	expect 0 morphctl schedule plan all-to-all --ranks 16 "${fabric[@]}" --to-segments shifts.json --json
	first=$(jq -c '[.algorithm, .radix]' <<<"$output")
	expect 0 morphctl schedule plan all-to-all --from-segments shifts.json "${fabric[@]}" --json
	[[ $(jq -c '[.algorithm, .radix]' <<<"$output") == "$first" && $first == '["bruck",4]' ]]
	for shape in 4x3x3 18x2; do
		expect 0 morphctl schedule plan all-reduce --shape $shape --algorithm rings "${fabric[@]}" --to-segments rings.json --json
		expect 0 morphctl schedule plan all-reduce --from-segments rings.json "${fabric[@]}" --json
		[[ $(jq -r '[.algorithm, .shape] | join(" ")' <<<"$output") == "rings $shape" ]]
	done
	# A topology that no policy chooses, with more circuits in a round than ports.
	fabric=(--planes 2 --bytes 64K --delay round=500,settle=3700)
	expect 0 morphctl schedule plan all-to-all --ranks 25 --algorithm bruck --radix 5 "${fabric[@]}" --to-segments fives.json --json
	first=$(jq -c '[.radix, ."finish-ns"]' <<<"$output")
	expect 0 morphctl schedule plan all-to-all --algorithm bruck --from-segments fives.json "${fabric[@]}" --json
	[[ $(jq -c '[.radix, ."finish-ns"]' <<<"$output") == "$first" && $first == '[5,'* ]]
}

@test "topologies of a file become a plan that is no later than the file" {
	fabric=(--bandwidth 800000 --delay round=500,hop=500,settle=10000)
	# The published schedule takes 75389 ns after the first topology has been set.
	circulants 1 1 1 8 8 8 8 8 8 1 1 1 > harvest.json
	expect 0 morphctl schedule plan all-reduce --algorithm halving-cyclic --from-segments harvest.json "${fabric[@]}" --json
	[[ $(jq -c '[.verdict, .policy, ."ranks-count", ."changes-count", ."finish-ns"]' <<<"$output") == '["feasible","segments",64,3,85390]' ]]
	[[ $(jq '.baselines[] | select(.baseline == "as-written") | ."finish-ns"' <<<"$output") == 85390 ]]
	# morphctl takes the fastest algorithm with this number of rounds, and improves a bad file.
	circulants 1 1 1 1 8 8 8 8 1 1 1 1 > worse.json
	expect 0 morphctl schedule plan all-reduce --from-segments worse.json "${fabric[@]}" --json
	[[ $(jq -c '[.algorithm, ."finish-ns"]' <<<"$output") == '["halving-cyclic",85390]' ]]
	[[ $(jq '.baselines[] | select(.baseline == "as-written") | ."finish-ns" > 85390' <<<"$output") == true ]]
	# A shift by one has no path over circuits by eight.
	circulants 8 8 1 8 1 8 1 8 1 8 1 1 > none.json
	expect 0 morphctl schedule plan all-reduce --from-segments none.json "${fabric[@]}" --json
	[[ $(jq -c '[."finish-ns", (.baselines[] | select(.baseline == "as-written") | .verdict)]' <<<"$output") == '[85390,"infeasible"]' ]]
	# One plan writes a file, and another plan reads it.
	morphctl schedule plan all-to-all --ranks 16 --algorithm shift "${fabric[@]}" --to-segments own.json --json > own
	expect 0 morphctl schedule plan all-to-all --algorithm shift --from-segments own.json "${fabric[@]}" --json
	[[ $(jq '."finish-ns"' <<<"$output") -le $(jq '."finish-ns"' own) ]]
	expect 0 morphctl schedule plan all-to-all --algorithm shift --planes 2 --from-segments - "${fabric[@]}" --lost 3.0t <own.json
}

# joined STEPS: a file with this number of topologies, all with the same link.
joined() {
	jq -nc --argjson steps "$1" '{collective: "x", steps: [range($steps) | {step: ., topology: [[0, 1, 1]]}]}'
}

@test "topologies beyond the budget are refused before rounds are built" {
	joined 10000 > some.json
	joined 65000 > many.json
	for algorithm in "" "--algorithm binary"; do
		refused 2 "planning 10000 rounds among 4096 ranks, one for each step of some.json, takes minutes and gigabytes; to plan it all the same, use --steps 157" \
			in_megabytes 200 morphctl schedule plan broadcast --ranks 4096 --from-segments some.json $algorithm
	done
	refused 2 "many.json: it has 65000 steps; a collective among 4096 ranks cannot have one round for each" \
		in_megabytes 200 morphctl schedule plan broadcast --ranks 4096 --from-segments many.json
}

@test "errors in topologies of a file are reported" {
	circulants 1 1 1 8 8 8 8 8 8 1 1 1 > harvest.json
	refused 2 "requires exactly one of a collective" morphctl schedule plan --from-segments harvest.json
	refused 2 "--from-segments requires a collective: the file has only topologies" morphctl schedule plan --matrix tokens.csv --from-segments harvest.json
	refused 2 "--from-segments and --policy are mutually exclusive" morphctl schedule plan all-reduce --policy united --from-segments harvest.json
	refused 2 "harvest.json: a link has rank 63; there are 16 ranks" morphctl schedule plan all-reduce --ranks 16 --from-segments harvest.json
	refused 2 "it has 12 steps; the algorithm does not have one round for each step among 64 ranks" morphctl schedule plan all-reduce --algorithm ring --from-segments harvest.json
	refused 2 "it has 12 steps; no algorithm has one round for each step" morphctl schedule plan all-gather --from-segments harvest.json
	refused 3 "none.json: No such file" morphctl schedule plan all-reduce --from-segments none.json
	sed 's/\[0,1,1\(\.0\)*\]/[0,1,1.5]/' harvest.json > half.json
	refused 2 "half.json: link 1 of step 1 has 1.5 circuits; must be a whole number" morphctl schedule plan all-reduce --from-segments half.json
	printf '{"collective": "x",\n "steps": [\n {]}' > broken.json
	refused 2 "broken.json: line 3: " morphctl schedule plan all-reduce --from-segments broken.json
	echo '{"collective": "x", "steps": []}' > empty.json
	refused 2 "empty.json: the file has no steps" morphctl schedule plan all-reduce --from-segments empty.json
	sed 's/\[0,1,1\(\.0\)*\]/[0,1,2]/' harvest.json > wide.json
	expect 1 morphctl schedule plan all-reduce --from-segments wide.json
	holds "$output" "infeasible: topology 0 has more circuits at a rank than the 1 planes"
	circulants 2 2 2 2 2 2 2 2 2 2 2 2 > even.json
	expect 1 morphctl schedule plan all-reduce --from-segments even.json
	holds "$output" "infeasible: no topology fits a round"
}

@test "traces of Chakra become a plan" {
	python3 -B "$FILES/../traces.py" traces
	expect 0 morphctl schedule plan --from-chakra traces/ring "${fabric[@]}" --json
	[[ $(jq -c '[.verdict, ."ranks-count"]' <<<"$output") == '["feasible",4]' ]]
	refused 2 "job: " morphctl schedule plan --from-chakra traces/job
	head -c 20 traces/ring.1.et > short && mv short traces/ring.1.et
	refused 2 "traces/ring.1.et: byte " morphctl schedule plan --from-chakra traces/ring
	refused 3 "traces/none.0.et: No such file" morphctl schedule plan --from-chakra traces/none
}

@test "a file has values that options leave out" {
	refused 2 "requires exactly one of a collective, --matrix, --from-ompi-prof, --from-msccl and --from-chakra" morphctl schedule plan
	refused 2 "requires exactly one of a collective" morphctl schedule plan all-reduce --matrix tokens.csv
	refused 2 "requires exactly one of a collective" morphctl schedule plan --from-msccl a --matrix tokens.csv
	refused 2 "--matrix and --ranks are mutually exclusive" morphctl schedule plan --matrix tokens.csv --ranks 4
	refused 2 "--matrix and --bytes are mutually exclusive" morphctl schedule plan --matrix tokens.csv --bytes 4K
	refused 2 "--from-msccl and --algorithm are mutually exclusive" morphctl schedule plan --from-msccl a --algorithm ring
	refused 2 "--from-chakra and --shape are mutually exclusive" morphctl schedule plan --from-chakra a --shape 2x2
}

@test "the checker accepted all plans of this file" {
	plans_were_checked plan choose combine plan-on baseline
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked schedule.plan
}
