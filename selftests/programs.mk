# SPDX-License-Identifier: GPL-2.0-only
#
# Included by directories of test programs that use the kernel's test harness. A directory sets
#
#   tests     its programs, each with one source file
#   library   its source files that all programs share
#   headers   their headers

TOP ?= $(abspath ../..)
BUILD ?= $(TOP)/build
OUT ?= $(BUILD)/selftests/$(notdir $(CURDIR))

CC ?= cc
Q := $(if $(V),,@)
WARN := -std=gnu11 -Wall -Wextra -Werror
# The harness comes from the kernel and does not follow these warnings.
INCLUDE := -I$(TOP)/uapi -I$(TOP)/selftests/lib \
	-isystem $(BUILD)/linux/source/tools/testing/selftests
FLAGS := $(WARN) $(INCLUDE) -D_GNU_SOURCE -O1 -g

library += $(wildcard $(TOP)/selftests/lib/*.c)
headers += $(wildcard $(TOP)/selftests/lib/*.h $(TOP)/uapi/linux/*.h) $(TOP)/selftests/programs.mk
objects := $(patsubst %.c,$(OUT)/lib/%.o,$(notdir $(library)))

all: $(tests:%=$(OUT)/%)

define compile
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -c $< -o $@
endef

# A program may have the name of a file in lib, so lib comes first.
$(OUT)/lib/%.o: $(TOP)/selftests/lib/%.c $(headers) Makefile
	$(compile)

$(OUT)/lib/%.o: %.c $(headers) Makefile
	$(compile)

$(OUT)/%: %.c $(objects) $(headers) Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $< $(objects) -lpthread -o $@

clean:
	rm -rf $(OUT)

.PHONY: all clean
