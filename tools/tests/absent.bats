#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Without a fabric, every command prints the same message for the same cause: no module, another
# network namespace, no provider, or a provider without a fabric. 'morphctl version' reports
# versions that do not work together. MORPHCTL_MODULES replaces /sys/module.

load common

# Commands that choose a fabric, that read slices, that open a slice, and that read lists of all
# fabrics.
choosing=("accelerator list" "controller list" "edge list" "element list" "fabric show" "guide list" "hardware list"
	"slice create x --count 1" "slice delete x" "slice list --fabric x" "slice why-not --count 1" "spare list" "stats"
	"topo" "txn list" "health --fabric x" "status --fabric x" "status" "watch --timeout 0")
slices=("circuit list" "circuit show x 1" "slice list" "slice show x")
opening=("schedule list x" "schedule show x 1" "schedule plan all-to-all --slice x")
reading=("health" "quota list")

no_module='morphctl: the kernel has no netlink family "morph": the module morph is not loaded (no /sys/module/morph); run '"'modprobe morph'"
namespace='morphctl: the module morph is loaded, but its netlink family "morph" is not visible in this network namespace; use the initial one, as with '"'nsenter --net=/proc/1/ns/net'"
no_provider="morphctl: no provider: the module morph is loaded, but no module that drives a fabric; run 'modprobe morph_sim profile=server8' or load that of the hardware"
no_fabric="morphctl: no fabric: the provider morph_sim is loaded, but has none; see the kernel log with 'dmesg'"

setup() {
	export MORPHCTL_MODULES=$BATS_TEST_TMPDIR/modules MORPHCTL_REPLAY=$BATS_TEST_TMPDIR/answers
	mkdir -p "$MORPHCTL_MODULES/morph/holders"
}

# answers CAUSE REQUESTS: what the kernel answers from here on.
answers() {
	"$BATS_TEST_DIRNAME/answers.py" "$@" >"$MORPHCTL_REPLAY"
}

# all_print MESSAGE COMMAND...: each command prints the message alone, and exits with status 3.
all_print() {
	local command
	for command in "${@:2}"; do
		# shellcheck disable=SC2086
		expect 3 morphctl $command
		[[ -z $output && $stderr == "$1" ]] || { echo "$command: $output$stderr"; return 1; }
	done
}

@test "without the module, all commands print the same message" {
	answers module 2
	all_print "$no_module" "${choosing[@]}"
	answers module own
	all_print "$no_module" "${slices[@]}"
	answers module 1
	all_print "$no_module" "${reading[@]}"
	answers slice module
	all_print "$no_module" "${opening[@]}"
}

@test "in another network namespace, all commands print the same message" {
	answers namespace 2
	all_print "$namespace" "${choosing[@]}"
	answers namespace own
	all_print "$namespace" "${slices[@]}"
	answers namespace 1
	all_print "$namespace" "${reading[@]}"
	answers slice namespace
	all_print "$namespace" "${opening[@]}"
}

@test "without a provider, all commands print the same message" {
	mkdir "$MORPHCTL_MODULES/morph/holders/morph_net"
	answers fabric 2
	all_print "$no_provider" "${choosing[@]}"
	answers fabric own
	all_print "$no_provider" "${slices[@]}"
}

@test "without a fabric of the provider, all commands print the same message" {
	mkdir "$MORPHCTL_MODULES/morph/holders/morph_"{net,sim}
	answers fabric 2
	all_print "$no_fabric" "${choosing[@]}"
	answers fabric own
	all_print "$no_fabric" "${slices[@]}"
}

@test "the list of fabrics is empty, with the message" {
	answers fabric 2
	expect 0 morphctl fabric list
	[[ $output == "no fabrics" && $stderr == "$no_provider" ]]
	expect 0 morphctl fabric list --json
	[[ $output == "[]" ]]
	jq -e '."exit-code" == 0 and .messages[0].object == "provider"' <<<"$stderr"
}

# load_module NAME VERSION
load_module() {
	mkdir -p "$MORPHCTL_MODULES/$1"
	[[ -z $2 ]] || echo "$2" >"$MORPHCTL_MODULES/$1/version"
}

@test "version shows tool, library, modules and device interface" {
	answers fabric 1
	load_module morph 0.1.0
	load_module morph_sim 0.1.0
	expect 0 morphctl version
	[[ $output =~ ^"morphctl "[0-9.]+", libmorph "[0-9.]+", device interface 1" ]]
	holds "$output" $'\nmodules: morph 0.1.0, morph_sim 0.1.0, device interface unknown: no fabric that you may open'
	expect 0 morphctl version --json
	[[ $(jq -c '[.modules[] | [.name, ."module-version"]]' <<<"$output") == '[["morph","0.1.0"],["morph_sim","0.1.0"]]' ]]
	[[ $(jq -c '[.problems, has("kernel-abi-version")]' <<<"$output") == '[[],false]' ]]
}

@test "version without modules" {
	rm -r "$MORPHCTL_MODULES/morph"
	unset MORPHCTL_REPLAY
	expect 0 morphctl version
	holds "$output" $'\nmodules: not loaded'
}

@test "modules of different versions are incompatible, and the older one is to be upgraded" {
	answers fabric 1
	load_module morph 0.2.0
	load_module morph_net 0.1.0
	load_module morph_sim 0.2.0
	expect 5 morphctl version
	holds "$output" "incompatible: the modules morph_net 0.1.0 and morph 0.2.0 are of different versions; upgrade morph_net and load both again"
	[[ $(grep -c ^incompatible <<<"$output") == 1 ]]
	load_module morph 0.0.9
	expect 5 morphctl version --json
	[[ $(jq '.problems | length' <<<"$output") == 2 ]]
	holds "$(jq -r '.problems[0]' <<<"$output")" "upgrade morph and load both again"
}

@test "a module without a version is older than one with a version" {
	answers fabric 1
	load_module morph ""
	load_module morph_sim 0.1.0
	expect 5 morphctl version
	holds "$output" "incompatible: the modules morph_sim 0.1.0 and morph without version are of different versions; upgrade morph and load both again"
}

@test "a library that is older than morphctl needs is to be upgraded" {
	cc -shared -fPIC -x c -o "$BATS_TEST_TMPDIR/old.so" - <<<'const char *morph_library_version(void) { return "0.9.0"; }'
	answers interface 1
	expect 5 env LD_PRELOAD="$BATS_TEST_TMPDIR/old.so" "$MORPHCTL" version
	holds "$output" "incompatible: morphctl needs libmorph 1.0.0, and 0.9.0 is installed; upgrade libmorph"
}

@test "another device interface is incompatible, and the older side is to be upgraded" {
	load_module morph 0.1.0
	answers interface 1
	expect 0 morphctl version
	holds "$output" "modules: morph 0.1.0, device interface 1"
	answers interface 2
	expect 5 morphctl version
	holds "$output" "incompatible: the modules have device interface 2, and morphctl has 1; upgrade morphctl and libmorph"
	expect 5 morphctl version --json
	jq -e '."kernel-abi-version" == 2' <<<"$output"
}

@test "the JSON is as its schema describes it" {
	json_was_checked fabric.list version
}
