# SPDX-License-Identifier: GPL-2.0-only
#
# Targets:
#   make               modules for each kernel, profiles, library, tools, test programs
#   make check         static checks, unit tests and virtual machine (Linux 6.1); prints a count
#   make check-all     also clang-tidy, coccicheck, Linux 6.12 and the long campaigns
#   make check-debug   selftests on KASAN and KCSAN kernels, which this target builds
#   make check-kunit   KUnit tests of the core with a scripted provider, on two of those kernels
#   make check-model   the protocol of transactions and failover: all states of a small model
#   make check-compat  programs for the tagged ABI with these modules, and the reverse
#   make coverage      lines that tests reach in core, optics and library; check-coverage judges
#   make fuzz          libFuzzer on parsers of files, texts and messages, FUZZ_SECONDS each
#   make demo          a fabric, a slice and a failover in a virtual machine
#   make demo-training a training job over circuits, an accelerator of which fails
#   make shell         a shell in a virtual machine (KERNEL=6.12 for that kernel)
#   make repro         published figures, recomputed beside their baselines (SEED=7: another seed)
#   make docs          pages generated from headers and netlink specification, in build/docs
#   make install       library, tools, headers; modules if KDIR is set (honours DESTDIR)
#   make deb           packages of Debian in build/deb ("make deps-deb" installs what it needs)
#   make check-deb     these packages: clean build, install, two boots, upgrade and purge
#   make help          all other targets
#
# All output is below build/.

KERNELS := 6.1 6.12
# Debug kernels, and one that counts executed lines. selftests/vm/debug has their configurations.
DEBUG_KERNELS := $(foreach version,$(KERNELS),$(version)-kasan $(version)-kcsan)
COVERAGE_KERNEL := 6.1-gcov
BUILT_KERNELS := $(DEBUG_KERNELS) $(COVERAGE_KERNEL)

export TOP := $(CURDIR)
export BUILD := $(TOP)/build

# Each directory's Makefile chooses its OUT. Ignore a variable OUT of the caller's environment.
unexport OUT

MAKEFLAGS += --no-print-directory --no-builtin-rules
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

all: modules profiles lib tools selftests

# --- directories ----------------------------------------------------------------------------------

modules: $(KERNELS:%=modules-%)

# Debian's package of 6.1 is installed; the one of 6.12 is unpacked in the build directory.
modules-6.12: | build/linux/6.12

$(KERNELS:%=modules-%): modules-%:
	+$(if $(V),,@)$(as_check) scripts/modules $*

$(BUILT_KERNELS:%=modules-%): modules-%: debug-kernel-%
	+$(if $(V),,@)scripts/modules $* $(if $(filter %-gcov,$*),GCOV_PROFILE=y) $(if $(filter %-kasan,$*),KCOV_INSTRUMENT=y)

# With CONFIG_KUNIT, for kmod/tests.
$(BUILT_KERNELS:%=modules-kunit-%): modules-kunit-%: debug-kernel-%
	+$(if $(V),,@)STAGE=$(BUILD)/kmod-$*-kunit scripts/modules $* KUNIT=y $(if $(filter %-gcov,$*),GCOV_PROFILE=y)

# With a record of the longest holds of fabric->lock, for selftests/holds.
modules-holds-6.12: | build/linux/6.12

$(KERNELS:%=modules-holds-%): modules-holds-%:
	+$(if $(V),,@)STAGE=$(BUILD)/kmod-$*-holds scripts/modules $* HOLDS=y

profiles lib tools selftests:
	+$(if $(V),,@)$(as_check) $(MAKE) -C $(room_of_$@)

room_of_profiles := profiles
room_of_lib := libmorph
room_of_tools := tools
room_of_selftests := selftests

tools selftests: lib
selftests: profiles | build/linux/6.12 modules-6.1

# Selftests that run in virtual machines.
vm-programs: lib profiles | build/linux/6.12 modules-6.1
	+$(if $(V),,@)$(as_check) $(MAKE) -C selftests vm

profile-rack64: profile-%:
	+$(if $(V),,@)$(MAKE) -C profiles OUT=$(BUILD)/profiles $(BUILD)/profiles/$*.checked

# --- packages of Debian ---------------------------------------------------------------------------

build/linux/6.12:
	@scripts/fetch-linux

dep_groups := build demo training check bench repro fuzz deb check-deb alarms

deps: deps-check
	@scripts/fetch-linux

# Packages for one command.
$(dep_groups:%=deps-%): deps-%:
	@scripts/deps $*

# The source package of this tree, and its packages. "make deps" does not install what they need.
deb:
	@scripts/deb

# As root: build these packages in a clean Debian 12, install them in a fresh one, boot it, and
# purge them.
check-deb: deps-check-deb
	@selftests/deb/check

# Each kernel is built with one compiler per processor, one kernel after the other.
debug-kernels: $(DEBUG_KERNELS:%=debug-kernel-%)

$(BUILT_KERNELS:%=debug-kernel-%): debug-kernel-%: | build/linux/6.12
	@scripts/debug-kernel $*

# --- checks ---------------------------------------------------------------------------------------

include scripts/check.mk

# One job per processor (default; the caller's -j takes precedence).
in_parallel = $(if $(findstring jobserver,$(MAKEFLAGS)),,--jobs=$(shell nproc))

fuzz: deps-fuzz
	+@scripts/check run-fuzzers

demo_kernel := $(or $(KERNEL),6.1)

demo: deps-demo
	+@$(MAKE) $(in_parallel) modules-$(demo_kernel) profile-rack64 tools conductor
	@selftests/demo/run

demo-training: deps-training
	+@$(MAKE) $(in_parallel) modules-$(demo_kernel) profile-rack64 tools trainer
	@selftests/training/run

trainer:
	+$(if $(V),,@)$(MAKE) -C selftests/training

shell: deps-demo
	+@$(MAKE) $(in_parallel) modules-$(demo_kernel) profiles tools
	@selftests/vm/run --kernel $(demo_kernel) --shell

conductor:
	+$(if $(V),,@)$(MAKE) -C selftests/demo

bench: deps-bench
	+@$(MAKE) $(in_parallel) modules-6.1 profiles lib tools bench-programs
	@$(MAKE) --silent -C libmorph bench
	@selftests/bench/run

bench-programs: profiles lib
	+$(if $(V),,@)$(MAKE) -C libmorph $(BUILD)/libmorph/bench
	+$(if $(V),,@)$(MAKE) -C selftests/bench

repro: deps-repro
	+@$(MAKE) $(in_parallel) repro-programs
	@tools/repro/run $(if $(SEED),--seed $(SEED))

repro-programs: profiles lib
	+$(if $(V),,@)$(MAKE) --silent -C tools/repro

# --- virtual machine ------------------------------------------------------------------------------

export PREFIX ?= /usr/local
FIRMWARE_DIR ?= /lib/firmware
STAGE ?= $(BUILD)/kmod-kdir
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

# Pages generated from headers and from the netlink specification.
docs: | build/linux/6.12
	+$(if $(V),,@)$(MAKE) -C libmorph docs REFERENCE=$(BUILD)/docs/libmorph/reference.md
	$(if $(V),,@)scripts/ynl-regen --page $(BUILD)/docs/netlink/morph.rst
	$(if $(V),,@)scripts/syzkaller

# KDIR=/lib/modules/$(uname -r)/build also installs the modules for that kernel and the provider
# interface.
install: lib tools profiles docs $(if $(KDIR),install-modules install-interface)
	+$(MAKE) -C libmorph install
	+$(MAKE) -C tools install
	install -d $(DESTDIR)$(PREFIX)/share/doc/morph
	install -m 0644 $(BUILD)/docs/netlink/morph.rst $(DESTDIR)$(PREFIX)/share/doc/morph/netlink.rst
	+$(MAKE) -C profiles install OUT=$(BUILD)/profiles FIRMWARE=$(FIRMWARE_DIR)/morph

install-modules: modules-kdir
	+$(MAKE) -C $(KDIR) M=$(STAGE) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install

# Headers and Module.symvers for providers outside this source tree. DKMS uses the same directory
# for its sources; with PREFIX=/usr both install the same files.
install-interface: modules-kdir
	@kmod/include/install $(STAGE) $$(cut -sd'"' -f2 $(KDIR)/include/generated/utsrelease.h) \
		$(DESTDIR)$(PREFIX)/src/morph-$(VERSION)

modules-kdir:
	+@STAGE=$(STAGE) scripts/modules kdir

# Keeps downloads, unpacked packages and debug kernels. distclean removes them.
clean:
	rm -rf $(filter-out build/linux build/cache build/debug,$(wildcard build/*))

distclean:
	rm -rf build

help:
	@sed -n 's/^#   \(make.*\)/\1/p' $(firstword $(MAKEFILE_LIST))
	@echo 'make modules profiles lib tools selftests      one directory'
	@echo 'make modules-6.1 modules-6.12                  modules for one kernel'
	@echo 'make check-static check-unit check-vm bench    one stage of the checks'
	@echo 'make $(tree_checks:%=check-%) $(cross_checks:%=check-%) $(kernel_checks:%=check-%)' | fold -s -w 100
	@echo 'make $(DEBUG_KERNELS:%=check-debug-%)' | fold -s -w 100
	@echo 'make deps $(dep_groups:%=deps-%) debug-kernels clean distclean'

.PHONY: shell all modules $(KERNELS:%=modules-%) $(KERNELS:%=modules-holds-%) $(BUILT_KERNELS:%=modules-%) $(BUILT_KERNELS:%=modules-kunit-%) \
	profiles lib tools selftests vm-programs profile-rack64 deb check-deb deps $(dep_groups:%=deps-%) debug-kernels \
	$(BUILT_KERNELS:%=debug-kernel-%) fuzz demo demo-training docs conductor trainer bench bench-programs repro repro-programs \
	install install-modules install-interface modules-kdir clean distclean help
