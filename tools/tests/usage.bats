#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage errors, help and exit statuses, which need no kernel.

load common

@test "help is on standard output and succeeds, at each level" {
	expect 0 morphctl help
	[[ -z $stderr ]]
	for object in $(jq -r '.objects[].name' "$MORPHCTL_BUILD/commands.json"); do
		expect 0 morphctl "$object" help
		holds "$output" "Usage: morphctl $object"
		expect 0 morphctl help "$object"
		holds "$output" "Usage: morphctl $object"
	done
}

@test "every command has help with options, an example and exit statuses" {
	while IFS=$'\t' read -r object verb; do
		expect 0 morphctl "$object" $verb --help
		[[ -z $stderr ]]
		holds "$output" "Usage: morphctl $object${verb:+ $verb}"
		holds "$output" "--help"
		holds "$output" "Examples:"
		holds "$output" "  7  "
	done < <(jq -r '.commands[] | [.object, .verb // ""] | @tsv' "$MORPHCTL_BUILD/commands.json")
}

@test "every command refuses an unknown option and names it" {
	while IFS=$'\t' read -r object verb; do
		expect 2 morphctl "$object" $verb --no-such-option
		[[ -z $output ]]
		holds "$stderr" "--no-such-option"
		holds "$stderr" "morphctl $object${verb:+ $verb} --help"
	done < <(jq -r '.commands[] | [.object, .verb // ""] | @tsv' "$MORPHCTL_BUILD/commands.json")
}

@test "every command names its missing arguments" {
	while IFS=$'\t' read -r object verb arguments; do
		[[ -z $verb || $verb == - ]] && verb=
		[[ $arguments == \[* || -z $arguments ]] && continue
		expect 2 morphctl "$object" $verb
		holds "$stderr" "$arguments"
	done < <(jq -r '.commands[] | [.object, .verb // "-", .arguments] | @tsv' \
		"$MORPHCTL_BUILD/commands.json")
}

@test "an alias takes what its command takes, and its help names the command" {
	count=0
	while IFS=$'\t' read -r object verb target; do
		expect 0 morphctl "$object" ${verb#-} --help
		holds "$output" "Usage: morphctl $object"
		holds "$output" "Alias of 'morphctl $target'."
		alias_help=$(sed '/^Usage:/d; /^Alias of/,+1d' <<<"$output")
		# shellcheck disable=SC2086
		expect 0 morphctl $target --help
		[[ $(sed '/^Usage:/d' <<<"$output") == "$alias_help" ]]
		count=$((count + 1))
	done < <(jq -r '.commands[] | select(.["alias-of"]) | [.object, .verb // "-", .["alias-of"]] | @tsv' \
		"$MORPHCTL_BUILD/commands.json")
	((count == 12))
	expect 0 morphctl help te
	holds "$output" "solve FILE                     alias of 'traffic solve'"
	expect 0 morphctl help
	holds "$output" "plan         alias of 'schedule plan'"
}

@test "an alias writes what its command writes, and its own name in usage errors" {
	for format in json text svg; do
		words=(all-reduce --ranks 8 --planes 2 --delay settle=3700 --format "$format")
		expect 0 morphctl plan "${words[@]}"
		answer=$output
		expect 0 morphctl schedule plan "${words[@]}"
		[[ $output == "$answer" && -n $answer ]]
	done
	expect 2 morphctl plan all-reduce
	[[ $stderr == "morphctl: plan: "*"See 'morphctl plan --help'." ]]
	expect 2 morphctl schedule plan all-reduce
	[[ $stderr == "morphctl: schedule plan: "*"See 'morphctl schedule plan --help'." ]]
}

@test "every example in the table parses: its object, verb and options exist" {
	while read -r line; do
		line=${line%%|*}
		line=${line%%>*}
		line=${line%%;*}
		read -ra words <<<"$line"
		expect 0 morphctl "${words[@]:1}" --help
	done < <(jq -r '.commands[].examples | split("\n")[]' "$MORPHCTL_BUILD/commands.json")
}

@test "an unknown object, an unknown verb, a missing verb" {
	expect 2 morphctl nonsense list
	holds "$stderr" "'nonsense'"
	expect 2 morphctl slice nonsense
	holds "$stderr" "'nonsense'"
	holds "$stderr" "create"
	expect 2 morphctl slice
	holds "$stderr" "a verb is missing"
}

@test "a mistyped object or verb gets the known one that is most like it" {
	expect 2 morphctl slcie list
	holds "$stderr" "unknown object 'slcie'; did you mean 'slice'?"
	expect 2 morphctl stat
	holds "$stderr" "did you mean 'status'?"
	expect 2 morphctl help acelerator
	holds "$stderr" "did you mean 'accelerator'?"
	expect 2 morphctl slice applx
	holds "$stderr" "unknown verb 'applx'; did you mean 'apply'? verbs:"
	expect 2 morphctl -j slice lst
	jq -e '.messages[0].message | contains("did you mean '"'list'"'?")' <<<"$stderr"
	expect 2 morphctl xyzzy
	[[ $stderr != *"did you mean"* ]]
	expect 2 morphctl slice "$(printf 'l%.0s' {1..99})"
	[[ $stderr != *"did you mean"* ]]
}

@test "-V prints the same as --version" {
	expect 0 morphctl --version
	long=$output
	expect 0 morphctl -V
	[[ $output == "$long" && -n $long ]]
}

@test "options may precede the object" {
	expect 0 morphctl -j version
	jq -e '."libmorph-version"' <<<"$output"
	expect 2 morphctl --fabric rack0 slice create
	holds "$stderr" "missing argument; usage: NAME"
	expect 2 morphctl -jf rack0 slice create
	holds "$stderr" "missing argument; usage: NAME"
}

@test "an option without its argument, and a needless argument" {
	expect 2 morphctl slice create x --count
	holds "$stderr" "--count requires an argument"
	expect 2 morphctl version --json=yes
	holds "$stderr" "--json takes no argument"
	expect 2 morphctl fabric list extra
	holds "$stderr" "'extra'"
}

@test "wrong values are named, with the valid ones" {
	expect 2 morphctl slice create x
	holds "$stderr" "either --count or --accelerators"
	expect 2 morphctl slice create x --count 0
	holds "$stderr" "at least 1"
	expect 2 morphctl slice create x --count -3
	expect 2 morphctl slice create x --count 4 --failover sometimes
	holds "$stderr" "automatic|manual|none"
	expect 2 morphctl slice create x --count 4 --owner no-such-user-here
	holds "$stderr" "no-such-user-here"
	expect 2 morphctl slice create x --count 4 --mode 999
	holds "$stderr" "octal"
	expect 2 morphctl slice set x
	holds "$stderr" "--failover, --controller, --owner, --mode or --prefer"
	expect 2 morphctl accelerator set 1
	holds "$stderr" "--spare, --free or --pci"
	expect 2 morphctl accelerator set 1 2 --pci 0000:00:01.0
	holds "$stderr" "one accelerator"
	expect 2 morphctl circuit add s 1 1
	holds "$stderr" "both ranks are 1"
	expect 2 morphctl circuit add s 1 2 --lease 5
	holds "$stderr" "--prepare"
	expect 2 morphctl circuit add s 1 2 --dry-run --each
	expect 2 morphctl circuit add s 1 2 --prepare --each
	holds "$stderr" "are mutually exclusive"
	expect 2 morphctl circuit add s 1 2 --prepare --lease 4000
	holds "$stderr" "0.001 to 3600"
	expect 2 morphctl circuit move s 1 --guides 1,x
	holds "$stderr" "'x'"
	expect 2 morphctl hardware fail toaster 1
	holds "$stderr" "'toaster'"
	expect 2 morphctl quota set root
	holds "$stderr" "at least one limit"
	expect 2 morphctl quota set root --bytes many
	holds "$stderr" "'many'"
	expect 2 morphctl controller renew 7
	holds "$stderr" "--epoch"
	expect 2 morphctl controller take 7 --lease soon
	holds "$stderr" "'soon'"
	expect 2 morphctl controller fail 7
	holds "$stderr" "--dry-run"
	expect 2 morphctl controller assign
	holds "$stderr" "--controllers is required, as 7,8,9"
	expect 2 morphctl controller assign --controllers 7,0
	holds "$stderr" "0 is not a controller; numbers begin at 1"
	expect 2 morphctl controller assign --controllers 7,8,7
	holds "$stderr" "7 is listed twice"
	expect 2 morphctl controller assign --controllers 7,b
	holds "$stderr" "'b' is not a number"
	expect 2 morphctl controller assign --controllers 7,8 --seed x
	holds "$stderr" "--seed must be a number"
	expect 2 morphctl controller reserve-edge 7 0 rack1:4 2
	holds "$stderr" "--epoch N is required"
	expect 2 morphctl controller reserve-edge 7 0 rack1 2 --epoch 1
	holds "$stderr" "the other end must be FABRIC:EDGE, not 'rack1'"
	expect 2 morphctl controller reserve-edge 7 0 :4 2 --epoch 1
	holds "$stderr" "not ':4'"
	expect 2 morphctl controller reserve-edge 7 0 rack1:out0 2 --epoch 1
	holds "$stderr" "the edge must be an integer from 0 to 4294967294, not 'out0'"
	expect 2 morphctl controller reserve-edge 7 0 rack1:4 2 --epoch 1 --to-epoch x
	holds "$stderr" "--to-epoch must be a number"
	expect 2 morphctl controller show seven
	holds "$stderr" "'seven'"
	expect 2 morphctl txn commit 3 --controller 7
	holds "$stderr" "--controller and --epoch require each other"
	expect 2 morphctl slice why-not --count 2 --lanes 4
	holds "$stderr" "--ring"
	expect 2 morphctl slice why-not --accelerators 0,1 --tier contiguous
	holds "$stderr" "--accelerators is only valid with --ring, --lanes and --transit"
	expect 2 morphctl slice why-not --count 2 --ring --tier contiguous
	holds "$stderr" "--ring requires the number of ranks here"
	expect 2 morphctl slice defrag --ring 4 --objective load
	holds "$stderr" "--objective must be dark|moves, not 'load'"
	expect 2 morphctl slice defrag --ring 4 --apply --dry-run
	holds "$stderr" "--apply and --dry-run are mutually exclusive"
	expect 2 morphctl monitor --timeout soon
	holds "$stderr" "'soon'"
	expect 2 morphctl monitor --buffer 100
	holds "$stderr" "from 4096 to 1073741823, not '100'"
	expect 2 morphctl topo --format png
	holds "$stderr" "matrix|svg|dot|json|slurm-gres"
}

@test "unknown fields are reported before any change" {
	while read -r words; do
		expect 2 morphctl $words --fields colour
		holds "$stderr" "--fields: unknown attribute 'colour'; known attributes: "
	done <<-'END'
		accelerator set 1 --spare
		spare add 1
		slice create x --count 1
		slice set x --mode 0660
		circuit add x 0 1
		circuit remove x 1
		circuit move x 1
		circuit apply-ring x
		txn commit 1
		replace x 1
		quota set default --accelerators 3
		controller take 1
		controller renew 1 --epoch 1
		controller settle 1 --epoch 1
		controller reserve 1 2 3 --epoch 1
		controller reserve-edge 1 0 rack1:4 3 --epoch 1
		place x --count 1 --apply
		defrag x --ring 3 --apply
	END
}

@test "an old key in --fields is an error that names the new key" {
	while read -r words old new; do
		# shellcheck disable=SC2086
		expect 2 morphctl ${words//+/ } --fields "$old"
		holds "$stderr" "--fields: '$old' is now '$new'"
	done <<-'END'
		circuit+add+x+0+1 change changes
		slice+set+x+--mode+0660 spares spare-policy
		quota+set+default+--accelerators+3 lanes lanes-limit
		place+--count+1 txn transactions
		schedule+plan+all-reduce+--ranks+4 late-ns alone-ns
	END
}

@test "errors are one JSON object with --json" {
	expect 2 morphctl slice create x --count 0 --json
	[[ -z $output ]]
	jq -e '."exit-code" == 2 and .error == "usage" and .command == "slice create" and (.messages | length) == 1' <<<"$stderr"
	jq -e '.messages[0].message | contains("at least 1")' <<<"$stderr"
	expect 2 morphctl slice create x --no-such-option --json
	jq -e '.messages[0].message | contains("--no-such-option")' <<<"$stderr"
	expect 2 morphctl -j slice nonsense
	jq -e '.error == "usage" and (.messages[0].details | contains(["create"]))' <<<"$stderr"
	# JSON is UTF-8, whatever the arguments are.
	expect 3 morphctl schedule load train $'none\xff' --json
	jq -e '.messages[0].message | contains("none?")' <<<"$stderr"
}

@test "output that cannot be written is a failure" {
	[[ -c /dev/full ]] || skip "no /dev/full"
	status=0
	"$MORPHCTL" help >/dev/full 2>"$BATS_TEST_TMPDIR/stderr" || status=$?
	[[ $status == 1 ]]
	holds "$(<"$BATS_TEST_TMPDIR/stderr")" "standard output"
}

@test "the dump of the table is complete: each object has a command, each option a help" {
	jq -e '[.objects[].name] - [.commands[].object] == []' "$MORPHCTL_BUILD/commands.json"
	jq -e '[.commands[].options[] | select(.help == "")] == []' "$MORPHCTL_BUILD/commands.json"
	jq -e '[.exits[].code] == [range(12)]' "$MORPHCTL_BUILD/commands.json"
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked version
}
