#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The page of 'morphctl status', from recordings of the driver.

load common

setup_file() {
	export TZ=UTC MORPHCTL_BOOT_TIME=1000000000
	unpack_recordings
}

# replay RECORDING ARGUMENTS...: run with the answers of the kernel in a recording.
replay() {
	MORPHCTL_REPLAY=$RECORDINGS/$1.jsonl run_split morphctl "${@:2}"
}

@test "the page names simulated fabrics, slices with reasons, failed parts and the last failover" {
	replay status status
	[[ $status == 0 && $(head -1 <<<"$output") == degraded ]]
	holds "$output" "sim0 (simulated)"
	[[ $output =~ unlucky" "+degraded" "+4" "+4" ".*"rank 2: accelerator "[0-9]+" failed;" ]]
	holds "$output" "no spare is left"
	holds "$output" "unhealthy parts: accelerator"
	holds "$output" " failovers, "
	local flat=${output//$'\n' / }
	[[ ${flat//   / } =~ "last failover: 2001-"[0-9:.\ -]+", slice unlucky rank "[0-2]", accelerator "[0-9]" "+"replaced by "[0-9]"; "[0-9.]+" "[mu]s": detect ".*", notify " ]]
}

@test "ranks that no spare can replace are listed, but not those of slices without failover" {
	replay status-json status -j
	[[ $(jq -c '[.slices[] | [.name, ."unprotected-ranks"]]' <<<"$output") == \
		'[["unlucky",[0,1,2,3]],["pair",[]]]' ]]
	jq -e '.visible == "all"' <<<"$output"
	replay status status
	[[ $output =~ unlucky" "+degraded" "+4" "+4" "+all ]]
}

@test "a page without faults has the verdict ok and no reason" {
	replay status-ok status
	[[ $status == 0 && $(head -1 <<<"$output") == ok ]]
	[[ $output != *"unhealthy parts"* ]]
	[[ $output =~ unlucky" "+ok" "+4" "+4 && $output != *REASON* && $output != *UNPROTECTED* ]]
}

@test "the page has at most 80 columns without a terminal, and any with --wide" {
	replay status status
	(($(awk '{ if (length($0) > most) most = length($0) } END { print most }' <<<"$output") <= 80))
	replay status status --wide
	(($(awk '{ if (length($0) > most) most = length($0) } END { print most }' <<<"$output") > 80))
}

@test "degraded slices come first, and each has its reason on a page of 80 columns" {
	replay status-many status -f many
	lines=$(sed -n '/^NAME .*REASON/,/^values/p' <<<"$output")
	[[ $(awk '/degraded/ {print $1}' <<<"$lines" | tr '\n' ' ') == "job-13 job-14 " ]]
	[[ $(awk 'NF > 4 && NR > 1 && $2 ~ /^(ok|degraded)$/ {print $2}' <<<"$lines" | uniq | tr '\n' ' ') == "degraded ok " ]]
	holds "$output" "3 more slices, all ok and protected"
	[[ $(tr -s '\n ' ' ' <<<"$lines") =~ job-13" degraded 2 1 - rank 1: accelerator "[0-9]+" failed; 1 circuit dark job-14 degraded" ]]
	# Slices without protection precede protected ones.
	[[ $(awk '$5 == "all" {print NR}' <<<"$lines") -lt $(awk '$1 == "job-1" {print NR}' <<<"$lines") ]]
}

@test "the page is no wider than the terminal, in any width" {
	for recording in status status-ok status-many; do
		for width in {20..100..5}; do
			COLUMNS=$width replay "$recording" status $([[ $recording != status-many ]] || echo -f many)
			(($(awk '{ if (length($0) > most) most = length($0) } END { print most }' <<<"$output") <= width)) ||
				{ echo "wider than $width: $output"; return 1; }
		done
	done
}

@test "colours appear on a terminal only, and not with NO_COLOR or TERM=dumb" {
	local colored=$'\e[1;33mdegraded\e[0m'
	on_terminal() { MORPHCTL_REPLAY=$RECORDINGS/status.jsonl script -qec "$* '$MORPHCTL' status" /dev/null; }
	holds "$(on_terminal TERM=xterm)" "$colored"
	for setting in TERM=dumb "TERM=xterm NO_COLOR=1"; do
		output=$(on_terminal "$setting")
		[[ $output == *unlucky*degraded* && $output != *$'\e['* ]]
	done
	TERM=xterm replay status status
	[[ $output == *unlucky*degraded* && $output != *$'\e['* ]]
}

@test "morphctl alone prints the page" {
	replay status status
	page=$output
	replay status
	[[ $status == 0 && $output == "$page" && -n $page ]]
	replay status -j
	jq -e '.state == "degraded"' <<<"$output"
}

@test "watch prints the time and the page, or JSON Lines" {
	replay status status
	page=$output
	replay status watch --timeout 0
	[[ $status == 0 && $(head -1 <<<"$output") =~ ^20[0-9-]+" "[0-9:]+$ ]]
	[[ $(tail -n +2 <<<"$output") == "$page" ]]
	replay status watch --timeout 0 --json
	[[ $(wc -l <<<"$output") == 1 ]]
	jq -e '.state == "degraded"' <<<"$output"
	expect 2 morphctl watch --interval 0.01
	holds "$stderr" "--interval must be from 0.1 to 3600 seconds, not '0.01'"
}

@test "no capacity, an exceeded quota and an invalid request have different exit statuses" {
	replay create-no-capacity slice create big --count 9
	[[ $status == 8 ]]
	# More than the fabric has, so that the request never fits.
	replay create-too-many slice create big --count 11
	[[ $status == 10 ]]
	holds "$stderr" "11 requested, the fabric has 10"
	replay create-over-quota slice create third --count 1 --owner 0
	[[ $status == 9 ]]
	replay create-over-quota slice create third --count 1 --owner 0 --json
	jq -e '.error == "quota" and ."exit-code" == 9' <<<"$stderr"
	replay create-invalid slice create wrong/name --count 1
	[[ $status == 10 ]]
}

@test "an empty list prints one line, and none without headings" {
	replay slice-list-empty slice list
	[[ $status == 0 && $output == "no slices" && -z $stderr ]]
	replay slice-list-empty slice list -n
	[[ $status == 0 && -z $output ]]
	replay slice-list-empty slice list -j
	[[ $status == 0 && $output == "[]" ]]
}

@test "a copy of the build tree finds its libraries" {
	copy=$BATS_TEST_TMPDIR/elsewhere
	mkdir -p "$copy/tools/morphctl" "$copy/libmorph"
	cp "$MORPHCTL_BUILD/morphctl/morphctl" "$copy/tools/morphctl"
	cp "$MORPHCTL_BUILD"/../libmorph/libmorph*.so.1 "$copy/libmorph"
	expect 0 ldd "$copy/tools/morphctl/morphctl"
	holds "$output" "$copy/tools/morphctl/../../libmorph/libmorph.so.1"
	[[ $output != *"not found"* ]]
}

@test "the JSON of these commands is as its schema describes it" {
	json_was_checked status watch slice.list
}
