# SPDX-License-Identifier: GPL-2.0-only
#
#   make             everything: modules for each kernel, profiles, library, tools, test programs
#   make check       every check; ends with "N passed, M failed"
#   make demo        a fabric, a slice and a failover in a virtual machine
#   make install     library, tools and headers; modules too where KDIR is given (DESTDIR honoured)
#   make help        the rest
#
# All output is below build/.

KERNELS := 6.1 6.12

export TOP := $(CURDIR)
export BUILD := $(TOP)/build

# Rooms choose where their output goes; what the environment calls so is something else.
unexport OUT

MAKEFLAGS += --no-print-directory --no-builtin-rules
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

all: modules profiles lib tools selftests

# --- rooms -----------------------------------------------------------------------------------------------------

modules: $(KERNELS:%=modules-%)

$(KERNELS:%=modules-%): modules-%: | build/linux/6.12
	+$(if $(V),,@)scripts/modules $*

profiles lib tools selftests:
	+$(if $(V),,@)$(MAKE) -C $(room_of_$@)

room_of_profiles := profiles
room_of_lib := libmorph
room_of_tools := tools
room_of_selftests := selftests

tools selftests: lib
tools lib selftests: profiles
selftests: | build/linux/6.12

# --- what comes from Debian ---------------------------------------------------------------------------------------

build/linux/6.12:
	@scripts/fetch-linux

deps:
	@scripts/deps
	@scripts/fetch-linux

# --- proof ----------------------------------------------------------------------------------------------------------

include scripts/check.mk

demo: deps
	+@$(MAKE) all
	@selftests/demo/run

bench: modules-6.1 profiles lib tools selftests
	@selftests/bench/run

# --- the machine ------------------------------------------------------------------------------------------------------

export PREFIX ?= /usr/local
FIRMWARE_DIR ?= /lib/firmware

# KDIR=/lib/modules/$(uname -r)/build adds the modules, built for that kernel.
install: lib tools profiles $(if $(KDIR),install-modules)
	+$(MAKE) -C libmorph install
	+$(MAKE) -C tools install
	install -d $(DESTDIR)$(FIRMWARE_DIR)/morph
	install -m 644 build/profiles/*.bin $(DESTDIR)$(FIRMWARE_DIR)/morph

install-modules: modules-kdir
	+$(MAKE) -C $(KDIR) M=$(BUILD)/kmod-kdir $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install

modules-kdir:
	+@scripts/modules kdir

# What was downloaded and unpacked stays; distclean takes that too.
clean:
	rm -rf $(filter-out build/linux build/cache,$(wildcard build/*))

distclean:
	rm -rf build

help:
	@sed -n 's/^#   \(make.*\)/\1/p' $(firstword $(MAKEFILE_LIST))
	@echo 'make modules profiles lib tools selftests      one room'
	@echo 'make modules-6.1 modules-6.12                  modules for one kernel'
	@echo 'make check-static check-unit check-vm bench    one stage of the proof'
	@echo 'make $(tree_checks:%=check-%) $(kernel_checks:%=check-%)' | fold -s -w 100
	@echo 'make deps clean distclean'

.PHONY: all modules $(KERNELS:%=modules-%) profiles lib tools selftests deps demo bench install install-modules modules-kdir clean distclean help
