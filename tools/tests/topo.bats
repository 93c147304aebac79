#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Matrix and picture, from documents.

load common

setup() {
	python3 "$BATS_TEST_DIRNAME/topo_document.py" server >"$BATS_TEST_TMPDIR/server.json"
	python3 "$BATS_TEST_DIRNAME/topo_document.py" rack >"$BATS_TEST_TMPDIR/rack.json"
}

@test "the matrix has the form of nvidia-smi topo -m" {
	expect 0 morphctl topo --input "$BATS_TEST_TMPDIR/server.json"
	[[ $(head -1 <<<"$output") == $'\tACC0\tACC1\tACC2\tACC3\tACC4\tHost\tUse\tHealth\tSlice:Rank' ]]
	[[ $(sed -n 2p <<<"$output") == $'ACC0\t X \tM1\tHOST\tHOST\tHOST\t0\theld\tok\ta<b>&"c:0' ]]
	[[ $(sed -n 4p <<<"$output") == $'ACC2\tM1\tHOST\t X \tHOST\tHOST\t0\theld\tok\ta<b>&"c:3' ]]
	holds "$output" "Legend:"
}

@test "only lit circuits count in the matrix" {
	expect 0 morphctl topo --input "$BATS_TEST_TMPDIR/rack.json"
	[[ $(awk '/^ACC3\t/ {print $6}' <<<"$output") == HOST || \
	   $(awk '/^ACC3\t/ {print $6}' <<<"$output") == FAB ]]
	[[ $(awk '/^ACC2\t/ {print $5}' <<<"$output") == M1 ]]
}

@test "the picture is well-formed SVG without references" {
	for name in server rack; do
		expect 0 morphctl topo --svg --input "$BATS_TEST_TMPDIR/$name.json"
		xmllint --noout - <<<"$output"
		[[ $output != *href* && $output != *url\(* ]]
	done
}

@test "the picture distinguishes spares, failures, lanes and slices" {
	expect 0 morphctl topo --svg --input "$BATS_TEST_TMPDIR/rack.json"
	count=$(grep -c 'rx="7".*stroke-dasharray="6 4"' <<<"$output")
	[[ $count == 4 ]]
	count=$(grep -c 'rx="7" fill="#fde0e0"' <<<"$output")
	[[ $count == 2 ]]
	holds "$output" "1 circuit, 2 lanes, 200 Gb/s, failed: 3 to 4"
	count=$(grep -c '<title>1 circuit' <<<"$output")
	[[ $count == 16 ]]
	holds "$output" "train, ok: 16 accelerators, 16 circuits"
}

@test "matrix and picture distinguish a lent spare" {
	jq '.accelerators[64] += {use: "held", lent: true, slice: 1, rank: 16} |
		.fabrics[0] += {"spares-count": 3, "lent-count": 1}' "$BATS_TEST_TMPDIR/rack.json" \
		>"$BATS_TEST_TMPDIR/lent.json"
	expect 0 morphctl topo --input "$BATS_TEST_TMPDIR/lent.json"
	[[ $(grep '^ACC64' <<<"$output") == *$'\tlent\tok\ttrain:16' ]]
	expect 0 morphctl topo --svg --input "$BATS_TEST_TMPDIR/lent.json"
	holds "$output" "48 free, 3 spare, 1 lent, 0 failed"
	holds "$output" "accelerator 64: lent spare, ok, train"
	count=$(grep -c 'rx="7".*stroke-dasharray="6 4"' <<<"$output")
	[[ $count == 4 ]]
}

@test "names are escaped in the picture" {
	expect 0 morphctl topo --svg --input "$BATS_TEST_TMPDIR/server.json" --title 'x<y & z'
	xmllint --noout - <<<"$output"
	holds "$output" "x&lt;y &amp; z"
	holds "$output" "a&lt;b&gt;&amp;"
}

# draw NAME ARGUMENTS...: the picture of a document in $output and in a file.
draw() {
	python3 "$BATS_TEST_DIRNAME/topo_document.py" "$1" >"$BATS_TEST_TMPDIR/$1.json"
	expect 0 morphctl topo -o svg --input "$BATS_TEST_TMPDIR/$1.json" "${@:2}"
	printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/$1.svg"
}

@test "tiles do not overlap, and arrows pass no tile, dead or not, and share no line" {
	for name in server:5:4 rack:68:16 many:68:0 line:10:6; do
		draw "${name%%:*}"
		check=$("$BATS_TEST_DIRNAME/topo_picture.py" "$BATS_TEST_TMPDIR/${name%%:*}.svg") || { echo "$check"; false; }
		[[ $check == "$(IFS=: read -r _ tiles arrows <<<"$name"; echo "$tiles tiles, $arrows arrows")" ]]
	done
}

@test "names are whole, also those of 40 slices" {
	draw many
	for text in "slice 100" "slice 101" "job-39"; do
		holds "$output" "class=\"rank\">$text<"
	done
	name=$(grep -A4 'class="id">2<' "$BATS_TEST_TMPDIR/many.svg" | sed -n 's/.*class="rank">\([^<]*\)<.*/\1/p' | tr -d '\n')
	[[ $name == "inference-production-eu-west-1rank 0" ]]
	holds "$output" "Several slices share a colour; tiles have their names."
	draw line
	[[ $output != *"share a colour"* ]]
}

@test "seven slices have different colours, which colour-blind readers distinguish from each other and from red" {
	draw many
	mapfile -t colors < <(sed -n 's/.*rx="7" fill="[^"]*" stroke="\([^"]*\)".*job-.*/\1/p' "$BATS_TEST_TMPDIR/many.svg" | sort -u)
	((${#colors[@]} == 8)) # seven, and the red of a job on a failed accelerator
	least=$("$BATS_TEST_DIRNAME/colors.py" "${colors[@]}")
	((${least%% *} >= 20)) || { echo "$least"; false; }
}

@test "a slice keeps its colour when another one ends" {
	color() { sed -n 's/.*rx="7" fill="[^"]*" stroke="\([^"]*\)".*job-5<.*/\1/p' <<<"$output"; }
	document=$(python3 "$BATS_TEST_DIRNAME/topo_document.py" many)
	jq '.slices |= [.[] | select(.id < 107)] | .accelerators |= [.[] | if .id > 6 then del(.slice) else . end]' \
		<<<"$document" >"$BATS_TEST_TMPDIR/all.json"
	jq '.slices |= [.[] | select(.id > 103)] | .accelerators |= [.[] | if .id < 4 then del(.slice) else . end]' \
		"$BATS_TEST_TMPDIR/all.json" >"$BATS_TEST_TMPDIR/some.json"
	expect 0 morphctl topo -o svg --input "$BATS_TEST_TMPDIR/all.json"
	before=$(color)
	expect 0 morphctl topo -o svg --input "$BATS_TEST_TMPDIR/some.json"
	[[ -n $before && $(color) == "$before" ]]
}

@test "a picture shows the time at which it was taken" {
	draw line
	holds "$output" ">taken at 2025-11-28 23:10:00 UTC<"
	draw rack
	holds "$output" ">time of this state not recorded<"
}

@test "a picture by a caller without rights says what is missing" {
	jq '. + {visible: "own"} | .circuits = [] | del(.accelerators[].slice) |
		.slices[0].ranks = [{rank: 0, accelerator: 4}]' "$BATS_TEST_TMPDIR/rack.json" >"$BATS_TEST_TMPDIR/own.json"
	note="Incomplete: shows only slices whose device nodes the caller may open, and their circuits."
	# The note is wider than the picture of a server.
	jq '. + {visible: "own"}' "$BATS_TEST_TMPDIR/server.json" >"$BATS_TEST_TMPDIR/small.json"
	morphctl topo -o svg --input "$BATS_TEST_TMPDIR/small.json" >"$BATS_TEST_TMPDIR/small.svg"
	expect 0 "$BATS_TEST_DIRNAME/topo_picture.py" "$BATS_TEST_TMPDIR/small.svg"
	expect 0 morphctl topo -o svg --input "$BATS_TEST_TMPDIR/own.json"
	holds "${output//<\/text>*class=\"warning\">/}" "${note%%whose*}"
	holds "$output" "in use by a slice that you may not open"
	holds "$output" "accelerator 4: held, ok, train"
	[[ $(grep -c '>in use<' <<<"$output") == 15 ]]
	for format in matrix dot slurm-gres; do
		expect 0 morphctl topo -o "$format" --input "$BATS_TEST_TMPDIR/own.json"
		holds "$output" "$note"
	done
	draw line
	[[ $output != *Incomplete* ]]
}

# A later state of the document "line".
change() {
	python3 "$BATS_TEST_DIRNAME/topo_document.py" line >"$BATS_TEST_TMPDIR/before.json"
	jq '."taken-unix-ns" += 60000000000 | .accelerators[7].cordoned = true |
		.accelerators[3] += {health: "failed"} | .slices[0].state = "degraded" |
		.circuits[0].state = "failed" | .circuits |= (del(.[1]) | .[3]."dst-accelerator" = 6)' \
		"$BATS_TEST_TMPDIR/before.json" >"$BATS_TEST_TMPDIR/after.json"
}

@test "--diff lists what changed" {
	change
	expect 0 morphctl topo --diff "$BATS_TEST_TMPDIR/before.json" --input "$BATS_TEST_TMPDIR/after.json"
	[[ ${output##*fabric only} == *"Changes since 2025-11-28 23:10:00 UTC:
accelerator 3: health failed, before ok
accelerator 7: cordoned yes, before no
slice train: state degraded, before ok
circuits from 0 to 3, slice train: 1 circuit, 2 lanes, failed, before 1 circuit, 2 lanes, lit
circuits from 9 to 6, slice train: 1 circuit, 2 lanes, lit, before none
circuits from 3 to 1, slice train: removed, before 1 circuit, 2 lanes, lit
circuits from 9 to 5, slice train: removed, before 1 circuit, 2 lanes, lit" ]]
	expect 0 morphctl topo --diff "$BATS_TEST_TMPDIR/after.json" --input "$BATS_TEST_TMPDIR/after.json"
	[[ ${output##*fabric only} == *"No changes since 2025-11-28 23:11:00 UTC" ]]
}

@test "--diff highlights what changed in the picture, with a caption" {
	change
	expect 0 morphctl topo -o svg --diff "$BATS_TEST_TMPDIR/before.json" --input "$BATS_TEST_TMPDIR/after.json"
	xmllint --noout - <<<"$output"
	holds "$output" "Changes since 2025-11-28 23:10:00 UTC"
	[[ $(grep -c 'class="changed-tile"' <<<"$output") == 2 ]]
	[[ $(grep -c '<path class="changed"' <<<"$output") == 4 ]]
	[[ $(grep -c 'lit: 3 to 1\|removed: 3 to 1' <<<"$output") == 1 ]]
	# Each number is in the list, and on what changed; that of the slice is in the list only.
	for number in 1 2 3 4 5 6 7; do
		[[ $(grep -c "class=\"badge\">$number<" <<<"$output") == $((number == 3 ? 1 : 2)) ]]
	done
	printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/diff.svg"
	"$BATS_TEST_DIRNAME/topo_picture.py" "$BATS_TEST_TMPDIR/diff.svg"
	expect 2 morphctl topo -o json --diff "$BATS_TEST_TMPDIR/before.json"
	holds "$stderr" "--diff requires --format matrix, svg or dot"
}

@test "the graph has a node for each accelerator and an edge for each arrow" {
	expect 0 morphctl topo -o dot --input "$BATS_TEST_TMPDIR/server.json" --title 'x"y\z'
	[[ $(grep -c '^	a[0-9]* \[pos=' <<<"$output") == 5 ]]
	[[ $(grep -c '^	a[0-9]* -> a[0-9]* \[' <<<"$output") == 4 ]]
	holds "$output" 'label="x\"y\\z\l'
}

@test "Graphviz draws each node at its position, and each edge" {
	local graph=$BATS_TEST_TMPDIR/server.dot
	morphctl topo -o dot --input "$BATS_TEST_TMPDIR/server.json" >"$graph"
	expect 0 dot -Tsvg "$graph"
	[[ -z $stderr ]]
	xmllint --noout - <<<"$output"
	[[ $(grep -c 'class="node"' <<<"$output") == 5 && $(grep -c 'class="edge"' <<<"$output") == 4 ]]
	# Positions are in points, from the first node. Graphviz prints inches.
	diff <(dot -Tplain "$graph" | awk '$1 == "node" && !n++ { x = $3; y = $4 }
			$1 == "node" { printf "%s %.0f %.0f\n", $2, 72 * ($3 - x), 72 * ($4 - y) }') \
		<(sed -n 's/^\t\(a[0-9]*\) \[pos="\([^,]*\),\([^!]*\)!".*/\1 \2 \3/p' "$graph" | awk '!n++ { x = $2; y = $3 }
			{ printf "%s %.0f %.0f\n", $1, $2 - x, $3 - y }')
}

@test "slurm-gres has a device for each accelerator, with its lanes to the others of its server" {
	expect 0 morphctl topo -o slurm-gres --input "$BATS_TEST_TMPDIR/server.json" --device '/dev/accel#x'
	[[ $(grep -v '^#' <<<"$output") == "NodeName=server00 Name=gpu File=/dev/accel0x Links=-1,4,4,0,0
NodeName=server00 Name=gpu File=/dev/accel1x Links=4,-1,0,4,0
NodeName=server00 Name=gpu File=/dev/accel2x Links=4,0,-1,4,0
NodeName=server00 Name=gpu File=/dev/accel3x Links=0,4,4,-1,0
NodeName=server00 Name=gpu File=/dev/accel4x Links=0,0,0,0,-1" ]]
	holds "$output" "# accelerator 4, the next line, is a spare"
	expect 2 morphctl topo -o slurm-gres --device /dev/accel
	holds "$stderr" "--device must contain #"
	expect 2 morphctl topo --device '/dev/accel#'
	holds "$stderr" "--device requires --format slurm-gres"
}

# slurm_reads DOCUMENT SERVER: the devices that slurmd reads on this server of the document.
slurm_reads() {
	local directory=$BATS_TEST_TMPDIR/slurm count i
	mkdir -p "$directory"
	morphctl topo -o slurm-gres --input "$1" --device "$directory/accel#" >"$directory/gres.conf"
	count=$(grep -c "^NodeName=$2 " "$directory/gres.conf")
	for ((i = 0; i < count; i++)); do
		ln -s /dev/null "$directory/accel$i"
	done
	cat >"$directory/slurm.conf" <<-END
		ClusterName=morph
		SlurmctldHost=localhost
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/none
		CredType=cred/none
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SwitchType=switch/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SlurmdParameters=config_overrides
		SlurmdSpoolDir=$directory
		GresTypes=gpu
		NodeName=$2 NodeHostname=localhost CPUs=8 Gres=gpu:$count
		PartitionName=p Nodes=ALL
	END
	# slurmd writes to the standard error. Its exit status is always 0.
	PATH=$PATH:/usr/sbin slurmd -G -f "$directory/slurm.conf" -N "$2" 2>&1 |
		sed "s,^slurmd-$2: Gres Name=gpu Type=(null) Count=1 ,,; s,ID=[0-9]* File=$directory/,,"
}

@test "slurmd reads the lines of slurm-gres: devices, and lanes as Links" {
	[[ $(slurm_reads "$BATS_TEST_TMPDIR/server.json" server00) == "Index=0 accel0 Links=-1,4,4,0,0
Index=1 accel1 Links=4,-1,0,4,0
Index=2 accel2 Links=4,0,-1,4,0
Index=3 accel3 Links=0,4,4,-1,0
Index=4 accel4 Links=0,0,0,0,-1" ]]
}

@test "slurmd reads the lines of its own server only" {
	[[ $(slurm_reads "$BATS_TEST_TMPDIR/rack.json" server03) == "Index=0 accel0 Links=-1,2,0,0
Index=1 accel1 Links=2,-1,2,0
Index=2 accel2 Links=0,2,-1,2
Index=3 accel3 Links=0,0,2,-1" ]]
}

# Convert a document to an instance of the YANG module, and let yanglint judge it.
yang_accepts() {
	jq -f "$TOP/Documentation/yang/topology.jq" "$1" >"$BATS_TEST_TMPDIR/instance.json"
	yanglint -t data "$TOP/Documentation/yang/morph-topology.yang" "$BATS_TEST_TMPDIR/instance.json"
}

@test "yanglint accepts topologies as instances of the YANG module" {
	RECORDINGS=$BATS_TEST_TMPDIR/recordings
	"$BATS_TEST_DIRNAME/recordings.py" unpack "$RECORDINGS"
	MORPHCTL_REPLAY=$RECORDINGS/topo-json.jsonl expect 0 morphctl topo -o json
	printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/topo.json"
	yang_accepts "$BATS_TEST_TMPDIR/topo.json"
	jq -e '."morph-topology:topology" | (.circuits | length == 5) and (.accelerators | length == 10)' \
		"$BATS_TEST_TMPDIR/instance.json"
	for name in server rack; do
		yang_accepts "$BATS_TEST_TMPDIR/$name.json"
	done
}

@test "yanglint rejects a circuit to an accelerator that does not exist" {
	jq '.circuits[0]."dst-accelerator" = 77' "$BATS_TEST_TMPDIR/rack.json" >"$BATS_TEST_TMPDIR/wrong.json"
	run yang_accepts "$BATS_TEST_TMPDIR/wrong.json"
	[[ $status != 0 ]]
	holds "$output" "dst-accelerator"
}

@test "the enumerations of the YANG module are those of the kernel" {
	local module name words
	module=$(tr -s ' \n' ' ' <"$TOP/Documentation/yang/morph-topology.yang")
	for name in fabric-state use slice-state health part; do
		words=$(python3 -c 'import sys, yaml
spec = yaml.safe_load(open(sys.argv[1]))
entries = next(one["entries"] for one in spec["definitions"] if one["name"] == sys.argv[2])
print(*(f"enum {word};" for word in entries if word != "none"))' "$TOP/Documentation/netlink/specs/morph.yaml" "$name")
		holds "$module" "{ $words }"
	done
}

@test "a document goes through unchanged as JSON" {
	expect 0 morphctl topo --json --input "$BATS_TEST_TMPDIR/rack.json"
	[[ $(jq -S . <<<"$output") == "$(jq -S . "$BATS_TEST_TMPDIR/rack.json")" ]]
}

@test "a file that is missing, broken, or something else" {
	expect 3 morphctl topo --input "$BATS_TEST_TMPDIR/none.json"
	holds "$stderr" "none.json"
	echo '{' >"$BATS_TEST_TMPDIR/broken.json"
	expect 1 morphctl topo --input "$BATS_TEST_TMPDIR/broken.json"
	holds "$stderr" "line"
	echo '{"slices": []}' >"$BATS_TEST_TMPDIR/other.json"
	expect 1 morphctl topo --input "$BATS_TEST_TMPDIR/other.json"
	holds "$stderr" "'accelerators'"
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked topo
}
