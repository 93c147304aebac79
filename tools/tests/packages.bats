#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The description of the packages of Debian agrees with the build. selftests/deb/check builds,
# installs and purges them.

load common

PACKAGING=$BATS_TEST_DIRNAME/../packaging
DEBIAN=$PACKAGING/debian

@test "the libraries export only versions of symbols that their symbols files have" {
	local library package
	for library in libmorph libmorph-plan libmorph-formats; do
		package=${library}1
		mkdir -p "$BATS_TEST_TMPDIR/$package/DEBIAN"
		cp "$DEBIAN/$package.symbols" "$BATS_TEST_TMPDIR/$package/DEBIAN/symbols"
		(cd "$BATS_TEST_TMPDIR" && mkdir -p debian && cp "$DEBIAN"/{control,changelog} debian &&
			dpkg-gensymbols -q -c4 -p"$package" -I"$DEBIAN/$package.symbols" -O"$package.out" \
				-e"$MORPHCTL_BUILD/../libmorph/$library.so")
	done
}

# patterns_of FILE: the patterns of this file that name installed files.
patterns_of() {
	sed '/^tools/d; s/ .*//; s,^,/,' "$1"
}

@test "each file of make install is in one package" {
	local root=$BATS_TEST_TMPDIR/root list=$BATS_TEST_TMPDIR/taken package pattern path
	make -s -C "$TOP/tools" install OUT="$MORPHCTL_BUILD" LIBMORPH="$MORPHCTL_BUILD/../libmorph" \
		PREFIX=/usr DESTDIR="$root" >&2
	make -s -C "$TOP/libmorph" install OUT="$(realpath "$MORPHCTL_BUILD/../libmorph")" MPICC=none \
		PREFIX=/usr LIBDIR=/usr/lib/any DESTDIR="$root" >&2
	for package in "$DEBIAN"/*.install; do
		patterns_of "$package" | while read -r pattern; do
			# shellcheck disable=SC2086 # a pattern
			for path in "$root"$pattern; do
				[ ! -e "$path" ] || find "$path" ! -type d
			done
		done
	done | sort >"$list"
	[[ -z $(uniq -d "$list") ]]
	sed "s,^,$root/," "$DEBIAN/not-installed" | sort - "$list" | diff - <(find "$root" ! -type d | sort)
}

@test "the source package needs the libraries that scripts/deps installs for a build" {
	diff <(grep -oE 'lib[a-z0-9-]+-dev|pkg-config|python3(-[a-z]+)?' <(sed -n '/^modules_and_library/,/^)/p' "$TOP/scripts/deps") |
		grep -vx libc6-dev | sort) \
		<(sed -n '/^Build-Depends:/,/^Standards/p' "$DEBIAN/control" |
			grep -oE 'lib[a-z0-9-]+-dev|pkg-config|python3(-[a-z]+)?' | sort)
}

@test "the packages have the version of the modules" {
	[[ $(sed -n '1s/.*(\(.*\)-[0-9]*).*/\1/p' "$DEBIAN/changelog") == \
		$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf") ]]
}

@test "systemd-sysusers creates the group that udev gives the nodes to" {
	mkdir -p "$BATS_TEST_TMPDIR/root/etc"
	systemd-sysusers --root="$BATS_TEST_TMPDIR/root" "$(realpath "$PACKAGING/morph.sysusers")"
	cut -d: -f1 "$BATS_TEST_TMPDIR/root/etc/group" >"$BATS_TEST_TMPDIR/groups"
	diff "$BATS_TEST_TMPDIR/groups" <(grep -ho 'GROUP="[^"]*"' "$PACKAGING"/*.rules | cut -d'"' -f2)
}

# A line of a unit that systemd does not know is a message, and the exit status is 0.
@test "systemd finds no error in the units" {
	cp "$PACKAGING"/morph-*.{service,timer} "$BATS_TEST_TMPDIR"
	sed -i "s,^ExecStart=/usr/bin/morphctl ,ExecStart=$(realpath "$MORPHCTL") ,
		s,^ExecStart=/usr/libexec/morph/,ExecStart=$(realpath "$PACKAGING")/," "$BATS_TEST_TMPDIR"/*.service
	expect 0 systemd-analyze verify --man=no "$BATS_TEST_TMPDIR"/*.{service,timer}
	[[ -z $output && -z $stderr ]] || { echo "$output$stderr"; return 1; }
	sed -i 's/^NoNewPrivileges/&Typo/' "$BATS_TEST_TMPDIR/morph-metrics.service"
	expect 0 systemd-analyze verify --man=no "$BATS_TEST_TMPDIR/morph-metrics.service"
	holds "$stderr" "Unknown key 'NoNewPrivilegesTypo'"
}

# restore FABRIC: run morph-restore with a morphctl that notes its calls and knows two fabrics.
restore() {
	mkdir -p "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/slices.d"
	cat >"$BATS_TEST_TMPDIR/bin/morphctl" <<-'END'
		#!/bin/sh
		case $1 in
		fabric) printf ' 0 sim0 0b00\n10 sim10 0b0a\n' ;;
		*) echo "$@" >> "$(dirname "$0")/calls" ;;
		esac
	END
	chmod +x "$BATS_TEST_TMPDIR/bin/morphctl"
	: >"$BATS_TEST_TMPDIR/bin/calls"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH MORPH_SLICES=$BATS_TEST_TMPDIR/slices.d "$PACKAGING/morph-restore" "$1"
	calls=$(sed "s,$BATS_TEST_TMPDIR/,," "$BATS_TEST_TMPDIR/bin/calls")
}

@test "morph-restore applies the file with the name of the fabric" {
	restore fabric0
	[[ -z $calls ]]
	touch "$BATS_TEST_TMPDIR"/slices.d/{sim0,sim1}.yaml
	restore fabric0
	[[ $calls == "apply slices.d/sim0.yaml --fabric 0" ]]
	restore fabric10
	[[ -z $calls ]]
}

@test "morph-restore applies the file with the UUID of the fabric" {
	mkdir -p "$BATS_TEST_TMPDIR/slices.d"
	touch "$BATS_TEST_TMPDIR/slices.d/0b0a.yaml"
	restore fabric10
	[[ $calls == "apply slices.d/0b0a.yaml --fabric 10" ]]
}
