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

@test "no two tiles of a picture overlap" {
	expect 0 morphctl topo --svg --input "$BATS_TEST_TMPDIR/rack.json"
	grep -o '<rect x="[0-9.-]*" y="[0-9.-]*" width="58"' <<<"$output" | sort >"$BATS_TEST_TMPDIR/t"
	[[ $(wc -l <"$BATS_TEST_TMPDIR/t") == 68 ]]
	[[ $(uniq "$BATS_TEST_TMPDIR/t" | wc -l) == 68 ]]
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
