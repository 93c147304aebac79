# SPDX-License-Identifier: GPL-2.0-only
#
# The checks. scripts/check runs a target run-<stage>, which prints flat TAP, and counts the
# results.

stages := build static unit vm

check: deps
	+@scripts/check run-check

$(stages:%=check-%): check-%:
	+@scripts/check run-$*

# Long stages begin first, and short ones fill the processors at the end.
run-check: run-vm run-unit run-static

# Stages that "make check" leaves out, and their minutes on two processors. The most important ones
# are first. As soon as all rows of the campaign pass, add run-small-holds-6.1:3 before
# run-sweep-6.1.
all_stages := run-vm-6.12:14 run-tidy:7 run-sanitize:10 run-coccicheck:3 run-model:3 run-training:4 run-sweep-6.1:5 run-stress-6.1:8 run-faults-6.1:25 \
	run-valgrind:25 run-compat:27

check-all: deps
	+@scripts/check run-check $(foreach stage,$(all_stages),$(firstword $(subst :, ,$(stage))))

# CI has 90 minutes and must end 15 minutes earlier. It skips stages of check-all that cannot end in
# time. CI_STARTED is when .ci/run began.
ci_minutes := 75

check-ci: deps
	+@scripts/check --within $(ci_minutes) $(if $(CI_STARTED),--since $(CI_STARTED)) run-check -- $(all_stages)

# --- build ----------------------------------------------------------------------------------------

# These stages report each part of the build as one check.
run-check $(stages:%=run-%): as_check = scripts/tap --stage build $@

run-build: modules profiles lib tools vm-programs

# --- static ---------------------------------------------------------------------------------------

tree_checks := checkpatch cppcheck layers kernel-doc uapi optics-alone format generated attributes public syzkaller licences spelling shell \
	python versions docs names json-names prose uncovered tidy coccicheck
# "make check" leaves this out.
long_checks := tidy coccicheck
cross_checks := cross-powerpc cross-i386
checks_of_modules := warnings sparse clang samples
kernel_checks := $(foreach kernel,$(KERNELS),$(checks_of_modules:%=%-$(kernel)))

run-static: $(KERNELS:%=check-modules-%) $(cross_checks:%=check-%) $(patsubst %,check-%,$(filter-out $(long_checks),$(tree_checks)))

$(long_checks:%=run-%): run-%: check-%

$(tree_checks:%=check-%): check-%: | build/linux/6.12
	+@scripts/tap --stage static $* scripts/static/$*

# This check reads the objects.
check-layers: modules-6.1

# cross-i386 is scripts/static/cross for i386.
$(cross_checks:%=check-%): check-cross-%: | build/linux/6.12
	+@scripts/tap --stage static cross-$* scripts/static/cross $*

# Checks of the modules for one kernel share a build tree, so they run one after the other.
$(KERNELS:%=check-modules-%): check-modules-%: modules-%
	+@status=0; for check in $(checks_of_modules); do \
		scripts/tap --stage static $$check-$* scripts/static/$$check $* || status=1; \
	done; exit $$status

# warnings-6.1 is scripts/static/warnings for 6.1, and so on.
$(kernel_checks:%=check-%): check-%: | build/linux/6.12
	+@scripts/tap --stage static $* scripts/static/$(firstword $(subst -, ,$*)) $(lastword $(subst -, ,$*))

# --- unit: checks that need no kernel -------------------------------------------------------------

unit_directories := libmorph selftests/fuzz tools tools/repro selftests/optics profiles selftests/mpi selftests/harness \
	selftests/netlink selftests/sim selftests/stress selftests/answers selftests/pages

run-unit: $(unit_directories:%=check-%)

# Tests of one directory run at the same time: the output of each stays together.
$(unit_directories:%=check-%): check-%: profiles lib
	+@CMOCKA_MESSAGE_OUTPUT=TAP scripts/tap --stage unit --ktap $* \
		$(MAKE) --silent --output-sync=target -C $* check

# Both link the library's objects with sanitizers. Build these once, not twice at the same time.
check-libmorph check-selftests/fuzz: sanitized-objects

sanitized-objects: lib
	+@$(as_check) $(MAKE) --silent -C libmorph sanitized-objects

# These test morphctl or run it.
check-tools check-selftests/answers check-selftests/pages: tools

# These directories also have programs for the virtual machine. Build there once, not twice at the
# same time.
$(patsubst %,check-selftests/%,fuzz mpi netlink stress): vm-programs

# The virtual machines take longest. "make check" therefore builds first what they need, and they
# start with the first checks. make does not return to the longest unit tests before it has started
# all other checks, so the other checks wait for the objects of these tests, too.
ifneq ($(filter run-check,$(MAKECMDGOALS)),)
sanitized-objects: | modules-6.1 vm-programs tools
$(unit_directories:%=check-%) $(tree_checks:%=check-%) $(cross_checks:%=check-%) modules-6.12: \
	| modules-6.1 vm-programs tools sanitized-objects
endif

# sanitized: the longest tests of the library; "make check" runs them without sanitizers

check-sanitize: deps
	+@scripts/check run-sanitize

run-sanitize: profiles lib
	+@CMOCKA_MESSAGE_OUTPUT=TAP scripts/tap --stage sanitize --ktap --timeout 3600 sanitize-libmorph \
		$(MAKE) --silent --output-sync=target -C libmorph sanitized

# --- valgrind: reads of uninitialised memory, which the sanitizers do not detect ------------------

valgrind_directories := selftests/optics libmorph tools

check-valgrind: deps
	+@scripts/check run-valgrind

run-valgrind: $(valgrind_directories:%=valgrind-%)

$(valgrind_directories:%=valgrind-%): valgrind-%: profiles lib tools
	+@CMOCKA_MESSAGE_OUTPUT=TAP scripts/tap --stage valgrind --ktap --timeout 3600 valgrind-$* \
		$(MAKE) --silent --output-sync=target -C $* valgrind

# --- training: the demonstration, whose programs no other check runs together ---------------------

run-training: modules-6.1 profiles tools trainer
	@KERNEL=6.1 scripts/tap --stage vm demo-training selftests/training/run

# --- vm: programs that need a virtual machine -----------------------------------------------------

run-vm: run-vm-6.1

# --- model: the protocol of transactions and failover in spin, and recordings of the driver -------

check-model: deps
	+@scripts/check run-model

run-model: run-traces
	+@scripts/tap --ktap --timeout 1800 model selftests/model/check

# compat: programs, library and modules of the tagged ABI together with the current ones

check-compat: deps
	+@scripts/check run-compat

run-compat: modules-6.1 profiles lib tools vm-programs
	@scripts/compat 6.1

# --- campaigns: long groups of selftests/vm.list --------------------------------------------------
#
# campaign_on_NAME lists the kernels that NAME runs on.

campaign_on_faults := 6.1
campaign_on_traces := 6.1
campaign_on_stress := 6.1 6.12 6.1-kasan 6.1-kcsan
campaign_on_sweep := 6.1 6.1-kasan
campaign_on_fuzz := 6.1-kasan
campaign_on_kunit := 6.1-kasan 6.12-kasan
campaign_on_holds := 6.1 6.12
campaign_on_small-holds := 6.1
campaign_on_churn := 6.1 6.1-kasan
campaign_on_light := 6.1-kasan
campaign_on_rate := 6.1
campaign_on_alarms := 6.1 6.12

campaigns := $(patsubst campaign_on_%,%,$(filter campaign_on_%,$(.VARIABLES)))

$(campaigns:%=check-%): check-%: deps
	+@scripts/check run-$*

# run-stress runs on all these kernels, run-stress-6.1 on one of them.
define campaign_rules
campaign_runs += $(campaign_on_$(1):%=run-$(1)-%)

run-$(1): $(campaign_on_$(1):%=run-$(1)-%)

$(campaign_on_$(1):%=run-$(1)-%): run-$(1)-%: modules-% profiles lib tools vm-programs
	@selftests/vm/suite $$* $(1)
endef
$(foreach campaign,$(campaigns),$(eval $(call campaign_rules,$(campaign))))

$(campaign_on_kunit:%=run-kunit-%): run-kunit-%: modules-kunit-%

check-alarms: deps-alarms

$(campaign_on_alarms:%=run-alarms-%): alert-rules

alert-rules:
	@scripts/tap --stage alarms alert-rules promtool test rules tools/packaging/morph-alerts-test.yaml

$(campaign_on_holds:%=run-holds-%): run-holds-%: modules-holds-%

$(campaign_on_small-holds:%=run-small-holds-%): run-small-holds-%: modules-holds-%

# --- fuzz: parsers in user space; the campaign fuzz covers the kernel's interfaces ----------------

run-fuzzers: profiles
	+@scripts/tap --ktap --timeout 36000 fuzz $(MAKE) --silent --keep-going --jobs=$(shell nproc) -C selftests/fuzz fuzz

# --- debug: the same programs on debug kernels; too long for `make check` -------------------------

check-debug: deps
	+@scripts/check $(DEBUG_KERNELS:%=run-vm-%)

$(DEBUG_KERNELS:%=check-debug-%): check-debug-%: deps
	+@scripts/check run-vm-$*

# --- coverage: the same programs with counters; in user space instead of sanitizers ---------------

COUNTED := $(BUILD)/gcov

coverage: count
	@scripts/coverage $(COVERAGE_KERNEL)

check-coverage: coverage
	+@scripts/check run-coverage

run-coverage:
	@scripts/tap --stage coverage coverage scripts/coverage --judge $(COVERAGE_KERNEL)

# Campaigns that reach more than the suite: rare races, and failures that no program can cause at
# will.
counted_campaigns := sweep kunit

# Print the table even if a test fails.
count: deps
	+-@scripts/check run-counted run-vm-$(COVERAGE_KERNEL) run-counted-campaigns

run-vm-$(COVERAGE_KERNEL) run-counted-campaigns: counted-library

run-counted-campaigns: modules-$(COVERAGE_KERNEL) modules-kunit-$(COVERAGE_KERNEL) profiles lib tools vm-programs
	@selftests/vm/suite $(COVERAGE_KERNEL) $(counted_campaigns)

counted-library: profiles
	+@CFLAGS="-O1 -g --coverage" $(MAKE) -C libmorph OUT=$(COUNTED)/libmorph

# Remove the counters of an earlier run.
run-counted: counted-library
	@rm -rf $(BUILD)/vm/suite-$(COVERAGE_KERNEL)-*
	@find $(COUNTED) -name '*.gcda' -delete
	+@SANITIZE=--coverage CFLAGS="-O1 -g --coverage" CMOCKA_MESSAGE_OUTPUT=TAP \
		scripts/tap --ktap counted-libmorph $(MAKE) --silent -C libmorph check OUT=$(COUNTED)/libmorph
	+@scripts/tap --ktap counted-tools $(MAKE) --silent -C tools check OUT=$(COUNTED)/tools LIBMORPH=$(COUNTED)/libmorph
	+@SANITIZE=--coverage scripts/tap --ktap counted-optics \
		$(MAKE) --silent -C selftests/optics check OUT=$(COUNTED)/optics

vm_kernels := $(KERNELS) $(BUILT_KERNELS)

$(vm_kernels:%=run-vm-%): run-vm-%: modules-% profiles lib tools vm-programs
	@selftests/vm/suite $*

.PHONY: check check-all check-ci run-check $(stages:%=check-%) $(stages:%=run-%) $(long_checks:%=run-%) $(KERNELS:%=check-modules-%) \
	$(tree_checks:%=check-%) $(cross_checks:%=check-%) $(kernel_checks:%=check-%) $(unit_directories:%=check-%) \
	sanitized-objects alert-rules \
	check-sanitize run-sanitize check-valgrind run-valgrind $(valgrind_directories:%=valgrind-%) check-model run-model run-training check-compat run-compat \
	$(campaigns:%=check-%) $(campaigns:%=run-%) $(campaign_runs) run-fuzzers check-debug $(DEBUG_KERNELS:%=check-debug-%) \
	$(vm_kernels:%=run-vm-%) coverage check-coverage run-coverage count counted-library run-counted \
	run-counted-campaigns
