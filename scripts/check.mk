# SPDX-License-Identifier: GPL-2.0-only
#
# The proof. Each stage is a target of its own that ends with a count; so does the whole. The stage's work is
# done by the target run-<stage>, which prints flat TAP for scripts/check to count.

stages := static unit vm

check: deps
	+@scripts/check run-build $(stages:%=run-%)

$(stages:%=check-%): check-%:
	+@scripts/check run-$*

# What continuous integration has time for: everything above, and then stages that take so many minutes, if they can
# be over within its own limit.
ci_minutes := 84
ci_stages := run-model:3 run-sweep-6.1:5 run-stress-6.1:8 run-faults-6.1:25

check-ci: deps
	+@scripts/check --within $(ci_minutes) run-build $(stages:%=run-%) -- $(ci_stages)

# Everything must build; what does not is one failure, and the other stages go on.
run-build:
	+@scripts/tap build $(MAKE) --keep-going all

# --- static --------------------------------------------------------------------------------------------------------

tree_checks := checkpatch coccicheck kernel-doc uapi optics-alone format cppcheck tidy generated attributes syzkaller licences spelling shell \
	versions docs names
cross_checks := cross-i386 cross-powerpc
kernel_checks := $(foreach kernel,$(KERNELS),warnings-$(kernel) sparse-$(kernel) clang-$(kernel) samples-$(kernel))

run-static:
	+@$(MAKE) --keep-going --jobs=$(shell nproc) --output-sync $(tree_checks:%=check-%) $(cross_checks:%=check-%) \
		$(kernel_checks:%=check-%)

$(tree_checks:%=check-%): check-%: | build/linux/6.12
	+@scripts/tap $* scripts/static/$*

# cross-i386 is scripts/static/cross for i386.
$(cross_checks:%=check-%): check-cross-%: | build/linux/6.12
	+@scripts/tap cross-$* scripts/static/cross $*

# warnings-6.1 is scripts/static/warnings for 6.1, and so on. The checks of one kernel share a build tree, in
# which gcc's warnings are errors.
$(kernel_checks:%=check-%): check-%: | build/linux/6.12
	+@STAGE=$(BUILD)/static/kmod-$(version) scripts/tap $* scripts/static/$(firstword $(subst -, ,$*)) $(version)
$(kernel_checks:%=check-%): version = $(lastword $(subst -, ,$*))

# --- unit: what rooms can check without a kernel -----------------------------------------------------------------------

unit_rooms := selftests/harness profiles libmorph tools tools/repro selftests/optics selftests/netlink selftests/sim \
	selftests/stress selftests/fuzz selftests/mpi selftests/answers

run-unit: profiles lib tools
	+@$(MAKE) --keep-going --jobs=$(shell nproc) --output-sync $(unit_rooms:%=check-%)

# morphctl answers.
check-selftests/answers: profiles tools

$(unit_rooms:%=check-%): check-%:
	+@CMOCKA_MESSAGE_OUTPUT=TAP scripts/tap --ktap $* $(MAKE) --silent -C $* check

# --- valgrind: what was never written and is read, which the sanitizers of the unit tests do not see --------------------------

valgrind_rooms := selftests/optics libmorph tools

check-valgrind: deps
	+@scripts/check run-valgrind

run-valgrind: profiles lib tools
	+@$(MAKE) --keep-going --jobs=$(shell nproc) --output-sync $(valgrind_rooms:%=valgrind-%)

$(valgrind_rooms:%=valgrind-%): valgrind-%:
	+@CMOCKA_MESSAGE_OUTPUT=TAP scripts/tap --ktap --timeout 3600 valgrind-$* $(MAKE) --silent -C $* valgrind

# --- vm: programs that need one ---------------------------------------------------------------------------------------

# Both at once: one machine alone leaves a processor idle.
run-vm:
	+@$(MAKE) --keep-going --jobs=$(words $(KERNELS)) $(KERNELS:%=run-vm-%)

# --- model: the protocol of transactions and failover, by spin; and what the driver really did, replayed -------------------

check-model: deps
	+@scripts/check run-model

run-model: run-traces
	+@scripts/tap --ktap --timeout 1800 model selftests/model/check

# --- compat: programs, library and modules of the tagged ABI together with those of this tree ------------------------------

check-compat: deps
	+@scripts/check run-compat

run-compat: modules-6.1 profiles lib tools selftests
	@scripts/compat 6.1

# --- campaigns: groups of selftests/vm.list that take long ---------------------------------------------------------------
#
# campaign_on_NAME: the kernels that it runs on.

campaign_on_faults := 6.1
campaign_on_traces := 6.1
campaign_on_stress := 6.1 6.12 6.1-kasan 6.1-kcsan
campaign_on_sweep := 6.1 6.1-kasan
campaign_on_fuzz := 6.1-kasan
campaign_on_kunit := 6.1-kasan 6.12-kasan

campaigns := $(patsubst campaign_on_%,%,$(filter campaign_on_%,$(.VARIABLES)))

$(campaigns:%=check-%): check-%: deps
	+@scripts/check run-$*

# run-stress runs it on all of them, run-stress-6.1 on one.
define campaign_rules
campaign_runs += $(campaign_on_$(1):%=run-$(1)-%)

run-$(1): $(campaign_on_$(1):%=run-$(1)-%)

$(campaign_on_$(1):%=run-$(1)-%): run-$(1)-%: modules-% profiles lib tools selftests
	@selftests/vm/suite $$* $(1)
endef
$(foreach campaign,$(campaigns),$(eval $(call campaign_rules,$(campaign))))

$(campaign_on_kunit:%=run-kunit-%): run-kunit-%: modules-kunit-%

# --- fuzz: what reads files, texts and messages in user space; the kernel's own interfaces are the campaign fuzz ------------

run-fuzzers: profiles
	+@scripts/tap --ktap --timeout 36000 fuzz $(MAKE) --silent --keep-going -C selftests/fuzz fuzz

# --- debug: the same programs on kernels that look for bugs; too long for `make check` -----------------------------------

check-debug: deps
	+@scripts/check $(DEBUG_KERNELS:%=run-vm-%)

$(DEBUG_KERNELS:%=check-debug-%): check-debug-%: deps
	+@scripts/check run-vm-$*

# --- coverage: the same programs once more, counted; in user space with counters in the place of sanitizers -----------------

COUNTED := $(BUILD)/gcov

coverage: count
	@scripts/coverage $(COVERAGE_KERNEL)

check-coverage: coverage
	+@scripts/check run-coverage

run-coverage:
	@scripts/tap coverage scripts/coverage --judge $(COVERAGE_KERNEL)

# Campaigns that reach what the suite does not: what fails once in a while, and what no program can order.
counted_campaigns := sweep kunit

# A test that fails while it is counted does not hide the table.
count: deps
	+-@scripts/check run-counted run-vm-$(COVERAGE_KERNEL) run-counted-campaigns

run-vm-$(COVERAGE_KERNEL) run-counted-campaigns: counted-library

run-counted-campaigns: modules-$(COVERAGE_KERNEL) modules-kunit-$(COVERAGE_KERNEL) profiles lib tools selftests
	@selftests/vm/suite $(COVERAGE_KERNEL) $(counted_campaigns)

counted-library: profiles
	+@CFLAGS="-O1 -g --coverage" $(MAKE) -C libmorph OUT=$(COUNTED)/libmorph

# The counters of an earlier run go.
run-counted: counted-library
	@rm -rf $(BUILD)/vm/suite-$(COVERAGE_KERNEL)-*
	@find $(COUNTED) -name '*.gcda' -delete
	+@SANITIZE=--coverage CFLAGS="-O1 -g --coverage" CMOCKA_MESSAGE_OUTPUT=TAP \
		scripts/tap --ktap counted-libmorph $(MAKE) --silent -C libmorph check OUT=$(COUNTED)/libmorph
	+@scripts/tap --ktap counted-tools $(MAKE) --silent -C tools check OUT=$(COUNTED)/tools LIBMORPH=$(COUNTED)/libmorph
	+@SANITIZE=--coverage scripts/tap --ktap counted-optics \
		$(MAKE) --silent -C selftests/optics check OUT=$(COUNTED)/optics

vm_kernels := $(KERNELS) $(BUILT_KERNELS)

$(vm_kernels:%=run-vm-%): run-vm-%: modules-% profiles lib tools selftests
	@selftests/vm/suite $*

.PHONY: check check-ci $(stages:%=check-%) $(stages:%=run-%) run-build \
	$(tree_checks:%=check-%) $(cross_checks:%=check-%) $(kernel_checks:%=check-%) $(unit_rooms:%=check-%) \
	check-valgrind run-valgrind $(valgrind_rooms:%=valgrind-%) check-model run-model check-compat run-compat \
	$(campaigns:%=check-%) $(campaigns:%=run-%) $(campaign_runs) run-fuzzers check-debug $(DEBUG_KERNELS:%=check-debug-%) \
	$(vm_kernels:%=run-vm-%) coverage check-coverage run-coverage count counted-library run-counted \
	run-counted-campaigns
