# SPDX-License-Identifier: GPL-2.0-only
#
#   make             everything: modules for each kernel, profiles, library, tools, test programs
#   make check       static checks, unit tests, and the virtual machine on Linux 6.1; ends with "N passed, M failed"
#   make check-all   the same, then clang-tidy, coccicheck, Linux 6.12 and the long campaigns
#   make check-debug the selftests on kernels that look for bugs, which it builds
#   make check-kunit the inside of the core, with a provider that follows a script, on two of those kernels
#   make check-model the protocol of transactions and failover, every state of a small setting
#   make check-compat what was built for the tagged ABI, with these modules, and the reverse
#   make coverage    what the tests reach of core, optics and library, by file; make check-coverage judges
#   make fuzz        libFuzzer on what reads files, texts and messages in user space, FUZZ_SECONDS each
#   make demo        a fabric, a slice and a failover in a virtual machine
#   make shell       a shell in a virtual machine with the modules and morphctl (KERNEL=6.12 for that kernel)
#   make repro       published figures, computed anew beside their baselines (SEED=7, for another seed)
#   make docs        pages generated from headers and from the netlink specification, in build/docs
#   make install     library, tools and headers; modules too where KDIR is given (DESTDIR honoured)
#   make help        the rest
#
# All output is below build/.

KERNELS := 6.1 6.12
# Kernels that look for bugs, and one that counts what was reached: selftests/vm/debug has their
# configurations.
DEBUG_KERNELS := $(foreach version,$(KERNELS),$(version)-kasan $(version)-kcsan)
COVERAGE_KERNEL := 6.1-gcov
BUILT_KERNELS := $(DEBUG_KERNELS) $(COVERAGE_KERNEL)

export TOP := $(CURDIR)
export BUILD := $(TOP)/build

# Rooms choose where their output goes; what the environment calls so is something else.
unexport OUT

MAKEFLAGS += --no-print-directory --no-builtin-rules
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

all: modules profiles lib tools selftests

# --- rooms ----------------------------------------------------------------------------------------

modules: $(KERNELS:%=modules-%)

# Debian installs 6.1; 6.12 is unpacked here.
modules-6.12: | build/linux/6.12

$(KERNELS:%=modules-%): modules-%:
	+$(if $(V),,@)$(as_check) scripts/modules $*

$(BUILT_KERNELS:%=modules-%): modules-%: debug-kernel-%
	+$(if $(V),,@)scripts/modules $* $(if $(filter %-gcov,$*),GCOV_PROFILE=y) $(if $(filter %-kasan,$*),KCOV_INSTRUMENT=y)

# With the tests of the inside: kmod/tests.
$(BUILT_KERNELS:%=modules-kunit-%): modules-kunit-%: debug-kernel-%
	+$(if $(V),,@)STAGE=$(BUILD)/kmod-$*-kunit scripts/modules $* KUNIT=y $(if $(filter %-gcov,$*),GCOV_PROFILE=y)

profiles lib tools selftests:
	+$(if $(V),,@)$(as_check) $(MAKE) -C $(room_of_$@)

room_of_profiles := profiles
room_of_lib := libmorph
room_of_tools := tools
room_of_selftests := selftests

tools selftests: lib
selftests: profiles | build/linux/6.12

# Those selftests that run in virtual machines.
vm-programs: lib profiles | build/linux/6.12
	+$(if $(V),,@)$(as_check) $(MAKE) -C selftests vm

profile-rack64: profile-%:
	+$(if $(V),,@)$(MAKE) -C profiles OUT=$(BUILD)/profiles $(BUILD)/profiles/$*.checked

# --- what comes from Debian -----------------------------------------------------------------------

build/linux/6.12:
	@scripts/fetch-linux

dep_groups := build demo check bench repro fuzz

deps: deps-check
	@scripts/fetch-linux

# The packages that one command needs.
$(dep_groups:%=deps-%): deps-%:
	@scripts/deps $*

# One is built with as many compilers as there are processors, and then the next.
debug-kernels: $(DEBUG_KERNELS:%=debug-kernel-%)

$(BUILT_KERNELS:%=debug-kernel-%): debug-kernel-%: | build/linux/6.12
	@scripts/debug-kernel $*

# --- proof ----------------------------------------------------------------------------------------

include scripts/check.mk

# One job for each processor, unless the caller has said how many.
in_parallel = $(if $(findstring jobserver,$(MAKEFLAGS)),,--jobs=$(shell nproc))

fuzz: deps-fuzz
	+@scripts/check run-fuzzers

demo_kernel := $(or $(KERNEL),6.1)

demo: deps-demo
	+@$(MAKE) $(in_parallel) modules-$(demo_kernel) profile-rack64 tools conductor
	@selftests/demo/run

shell: deps-demo
	+@$(MAKE) $(in_parallel) modules-$(demo_kernel) profiles tools
	@selftests/vm/run --kernel $(demo_kernel) --shell

conductor:
	+$(if $(V),,@)$(MAKE) -C selftests/demo

bench: deps-bench
	+@$(MAKE) $(in_parallel) modules-6.1 profiles lib bench-programs
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

# --- the machine ----------------------------------------------------------------------------------

export PREFIX ?= /usr/local
FIRMWARE_DIR ?= /lib/firmware
STAGE ?= $(BUILD)/kmod-kdir
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

# Pages generated from headers and from the netlink specification.
docs: | build/linux/6.12
	+$(if $(V),,@)$(MAKE) -C libmorph docs REFERENCE=$(BUILD)/docs/libmorph/reference.md
	$(if $(V),,@)scripts/ynl-regen --page $(BUILD)/docs/netlink/morph.rst
	$(if $(V),,@)scripts/syzkaller

# KDIR=/lib/modules/$(uname -r)/build adds the modules, built for that kernel, and the provider
# interface.
install: lib tools profiles docs $(if $(KDIR),install-modules install-interface)
	+$(MAKE) -C libmorph install
	+$(MAKE) -C tools install
	install -d $(DESTDIR)$(PREFIX)/share/doc/morph
	install -m 0644 $(BUILD)/docs/netlink/morph.rst $(DESTDIR)$(PREFIX)/share/doc/morph/netlink.rst
	+$(MAKE) -C profiles install OUT=$(BUILD)/profiles FIRMWARE=$(FIRMWARE_DIR)/morph

install-modules: modules-kdir
	+$(MAKE) -C $(KDIR) M=$(STAGE) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install

# Headers and Module.symvers for providers of other source trees. The directory is the one that DKMS
# uses for sources: with PREFIX=/usr both install the same files.
install-interface: modules-kdir
	@kmod/include/install $(STAGE) $$(cut -sd'"' -f2 $(KDIR)/include/generated/utsrelease.h) \
		$(DESTDIR)$(PREFIX)/src/morph-$(VERSION)

modules-kdir:
	+@STAGE=$(STAGE) scripts/modules kdir

# What was downloaded and unpacked stays, debug kernels too; distclean takes all that.
clean:
	rm -rf $(filter-out build/linux build/cache build/debug,$(wildcard build/*))

distclean:
	rm -rf build

help:
	@sed -n 's/^#   \(make.*\)/\1/p' $(firstword $(MAKEFILE_LIST))
	@echo 'make modules profiles lib tools selftests      one room'
	@echo 'make modules-6.1 modules-6.12                  modules for one kernel'
	@echo 'make check-static check-unit check-vm bench    one stage of the proof'
	@echo 'make $(tree_checks:%=check-%) $(cross_checks:%=check-%) $(kernel_checks:%=check-%)' | fold -s -w 100
	@echo 'make $(DEBUG_KERNELS:%=check-debug-%)' | fold -s -w 100
	@echo 'make deps $(dep_groups:%=deps-%) debug-kernels clean distclean'

.PHONY: shell all modules $(KERNELS:%=modules-%) $(BUILT_KERNELS:%=modules-%) $(BUILT_KERNELS:%=modules-kunit-%) \
	profiles lib tools selftests vm-programs profile-rack64 deps $(dep_groups:%=deps-%) debug-kernels \
	$(BUILT_KERNELS:%=debug-kernel-%) fuzz demo docs conductor bench bench-programs repro repro-programs \
	install install-modules install-interface modules-kdir clean distclean help
