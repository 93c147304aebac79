#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# morphctl reports errors in the file of apply before it asks any kernel.

load common

# refused TEXT JSON: morphctl refuses the file with a message that contains the text.
refused() {
	printf '%s' "$2" >"$BATS_TEST_TMPDIR/wish.json"
	expect 2 morphctl slice apply "$BATS_TEST_TMPDIR/wish.json" --dry-run
	[[ -z $output ]]
	holds "$stderr" "$1"
}

@test "a file that is missing" {
	expect 3 morphctl slice apply "$BATS_TEST_TMPDIR/none.json"
	holds "$stderr" "none.json"
}

@test "a syntax error is reported with its line" {
	refused "line 2" $'{"slices": [\n}'
	refused "duplicate" '{"slices": [], "slices": []}'
}

@test "YAML: an error is reported with line, column and unexpected token" {
	refused "wish.json: line 4, column 1: could not find expected ':', while scanning a simple key that begins at line 3, column 3" \
		$'slices:\n- name: a\n  count 4\n'
	refused "line 3, column 3: a duplicate key" $'slices:\n- ranks-count: 4\n  ranks-count: 5\n'
	refused "line 1, column 10: alias not supported; write the value" $'slices: [*a]'
	refused "line 1, column 9: tag not supported; remove it" $'slices: !!str 4'
	refused "line 1, column 9: tag not supported; remove it" $'slices: !!seq []'
	refused "line 1, column 1: tag not supported; remove it" $'!!map {slices: []}'
	refused "line 1, column 1: a key must be a word" $'[1, 2]: 3'
	refused "line 2, column 1: a second document" $'slices: []\n--- {}'
	refused "the text must be UTF-8" $'slices: "\xff"'
	refused "NUL character" $'slices: "a\\0b"'
	refused "the file is empty" $'# nothing\n'
}

@test "YAML: nesting has an end" {
	refused "line 1, column 33: nested too deep; at most 32 levels" "$(printf '[%.0s' {1..100000})"
}

@test "YAML: a scalar has its JSON type, otherwise it is a string" {
	# morphctl has accepted the keys before the faulty one
	refused "ranks 0 to 1" \
		$'slices:\n- {name: yes, mode: 0660, owner: 0, ranks-count: 2, circuits: [{src-rank: 0, dst-rank: 2}]}'
	refused "'reserved' must be true or false" $'slices: [{name: a, ranks-count: 1, reserved: yes}]'
	refused "'ranks-count' must be a number" $'slices: [{name: a, ranks-count: "1"}]'
	refused "'ranks-count' must be a number" $'slices: [{name: a, ranks-count: 1.0}]'
	refused "'ranks-count' must be a number" $'slices: [{name: a, ranks-count: 99999999999999999999}]'
	refused "requires a 'name'" $'slices: [{name: 5, ranks-count: 1}]'
	refused "octal" $'slices: [{name: a, ranks-count: 1, mode: 660}]'
}

@test "unknown keys are named, with the known ones" {
	refused "'slice'" '{"slice": []}'
	refused "'cout'" '{"slices": [{"name": "a", "cout": 4}]}'
	refused "accelerators,failover" '{"slices": [{"name": "a", "cout": 4}]}'
	refused "'lanes'" '{"slices": [{"name": "a", "ranks-count": 2, "ring": {"lanes": 2}}]}'
	refused "'src'" '{"slices": [{"name": "a", "ranks-count": 2, "circuits": [{"src": 0}]}]}'
}

@test "required keys of a slice" {
	refused "'slices'" '{}'
	refused "'name'" '{"slices": [{"ranks-count": 4}]}'
	refused "either 'ranks-count' or 'accelerators'" '{"slices": [{"name": "a"}]}'
	refused "either 'ranks-count' or 'accelerators'" \
		'{"slices": [{"name": "a", "ranks-count": 1, "accelerators": [1]}]}'
	refused "at least 1" '{"slices": [{"name": "a", "ranks-count": 0}]}'
	refused "appears twice" '{"slices": [{"name": "a", "ranks-count": 1}, {"name": "a", "ranks-count": 2}]}'
}

@test "wrong values are named, with the valid ones" {
	refused $'must be one of these:\n  automatic\n  manual\n  none' '{"slices": [{"name": "a", "ranks-count": 1, "failover": "x"}]}'
	refused $'\n  any\n  own' '{"slices": [{"name": "a", "ranks-count": 1, "transit": 3}]}'
	refused "octal" '{"slices": [{"name": "a", "ranks-count": 1, "mode": "rw"}]}'
	refused "'owner'" '{"slices": [{"name": "a", "ranks-count": 1, "owner": "no-such-user-here"}]}'
	refused "'reserved'" '{"slices": [{"name": "a", "ranks-count": 1, "reserved": 1}]}'
	refused "'ranks-count' must be a number" '{"slices": [{"name": "a", "ranks-count": "four"}]}'
	refused "'count' is now 'ranks-count'" '{"slices": [{"name": "a", "count": 1}]}'
	refused "requires the list 'spares'" '{"slices": [{"name": "a", "ranks-count": 1, "spare-policy": "list"}]}'
	refused "requires the spare policy 'list'" \
		'{"slices": [{"name": "a", "ranks-count": 1, "spare-policy": "host", "spares": [2]}]}'
	refused "must be a list of accelerators; the policy is 'spare-policy'" '{"slices": [{"name": "a", "ranks-count": 1, "spares": "list"}]}'
}

@test "circuits join existing ranks" {
	refused "ranks 0 to 1" \
		'{"slices": [{"name": "a", "ranks-count": 2, "circuits": [{"src-rank": 0, "dst-rank": 2}]}]}'
	refused "joins two different ranks" \
		'{"slices": [{"name": "a", "ranks-count": 2, "circuits": [{"src-rank": 1, "dst-rank": 1}]}]}'
	refused "'src-rank' and 'dst-rank'" \
		'{"slices": [{"name": "a", "ranks-count": 2, "circuits": [{"dst-rank": 1}]}]}'
	refused "2 ranks" '{"slices": [{"name": "a", "ranks-count": 1, "ring": true}]}'
}
