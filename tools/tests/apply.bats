#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What is wrong in the file of apply is said before any kernel is asked.

load common

# refused TEXT JSON: the file is refused with a message that has the text in it.
refused() {
	printf '%s' "$2" >"$BATS_TEST_TMPDIR/wish.json"
	expect 2 morphctl apply "$BATS_TEST_TMPDIR/wish.json" --dry-run
	[[ -z $output ]]
	holds "$stderr" "$1"
}

@test "a file that is missing" {
	expect 3 morphctl apply "$BATS_TEST_TMPDIR/none.json"
	holds "$stderr" "none.json"
}

@test "a syntax error is told with its line" {
	refused "line 2" $'{"slices": [\n}'
	refused "duplicate" '{"slices": [], "slices": []}'
}

@test "keys that do not exist are named, with those that do" {
	refused "'slice'" '{"slice": []}'
	refused "'cout'" '{"slices": [{"name": "a", "cout": 4}]}'
	refused "accelerators,failover" '{"slices": [{"name": "a", "cout": 4}]}'
	refused "'lanes'" '{"slices": [{"name": "a", "count": 2, "ring": {"lanes": 2}}]}'
	refused "'src'" '{"slices": [{"name": "a", "count": 2, "circuits": [{"src": 0}]}]}'
}

@test "what a slice needs" {
	refused "'slices'" '{}'
	refused "'name'" '{"slices": [{"count": 4}]}'
	refused "either 'count' or 'accelerators'" '{"slices": [{"name": "a"}]}'
	refused "either 'count' or 'accelerators'" \
		'{"slices": [{"name": "a", "count": 1, "accelerators": [1]}]}'
	refused "at least 1" '{"slices": [{"name": "a", "count": 0}]}'
	refused "described twice" '{"slices": [{"name": "a", "count": 1}, {"name": "a", "count": 2}]}'
}

@test "values that are wrong are named, with what would be right" {
	refused '"automatic" "manual" "none"' '{"slices": [{"name": "a", "count": 1, "failover": "x"}]}'
	refused '"any" "own"' '{"slices": [{"name": "a", "count": 1, "transit": 3}]}'
	refused "octal" '{"slices": [{"name": "a", "count": 1, "mode": "rw"}]}'
	refused "'owner'" '{"slices": [{"name": "a", "count": 1, "owner": "no-such-user-here"}]}'
	refused "'reserved'" '{"slices": [{"name": "a", "count": 1, "reserved": 1}]}'
	refused "'count' must be a number" '{"slices": [{"name": "a", "count": "four"}]}'
	refused "array itself" '{"slices": [{"name": "a", "count": 1, "spares": "list"}]}'
}

@test "circuits must join ranks that there are" {
	refused "ranks 0 to 1" \
		'{"slices": [{"name": "a", "count": 2, "circuits": [{"src-rank": 0, "dst-rank": 2}]}]}'
	refused "joins two ranks" \
		'{"slices": [{"name": "a", "count": 2, "circuits": [{"src-rank": 1, "dst-rank": 1}]}]}'
	refused "'src-rank' and 'dst-rank'" \
		'{"slices": [{"name": "a", "count": 2, "circuits": [{"dst-rank": 1}]}]}'
	refused "two ranks" '{"slices": [{"name": "a", "count": 1, "ring": true}]}'
}
