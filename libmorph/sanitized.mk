# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Objects of the library, its checker, its formats and kmod/optics, with the address and undefined
# behaviour sanitizers. The unit tests and the replay of the fuzzers include this file and link the
# same objects. The Makefile that includes it sets TOP, PKG_CONFIG and LIBMORPH, the output of
# ./Makefile.
#
# The compiler is clang if it is installed: its sanitizers detect some reads behind the end of
# memory that those of gcc miss.

SANITIZED	:= $(LIBMORPH)/sanitized
CLANG		?= clang
SANITIZED_CC	:= $(if $(shell command -v $(CLANG)),$(CLANG),$(CC))
SANITIZERS	:= -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -DSANITIZED
SANITIZED_FLAGS	:= -std=gnu11 -g1 -Wall -Wextra -Werror -D_GNU_SOURCE $(SANITIZERS)

# Planners and the checker search for long, so they get -O1. The rest compiles in a fifth of the
# time without it.
PLAIN		:= $(patsubst %,libmorph/%/,client phases formats)

# The checker and the formats include public headers and their own.
SANITIZED_NL	:= -I$(TOP)/kmod/optics $(shell $(PKG_CONFIG) --cflags libnl-3.0 libnl-genl-3.0 libudev)
SANITIZED_FILES	:= $(shell $(PKG_CONFIG) --cflags expat jansson)
sanitized_flags	= $(if $(filter $(PLAIN),$(dir $1)),-O0,-O1) -I$(TOP)/libmorph/include -I$(TOP)/uapi \
		  $(if $(filter libmorph/formats/,$(dir $1)),$(SANITIZED_FILES)) \
		  $(if $(filter libmorph/formats/ libmorph/check/,$(dir $1)),,$(SANITIZED_NL))

$(SANITIZED)/%.o: $(TOP)/%.c $(TOP)/libmorph/sanitized.mk
	@mkdir -p $(@D)
	$(Q)$(SANITIZED_CC) $(SANITIZED_FLAGS) $(call sanitized_flags,$*) -MMD -MP -c -o $@ $<

-include $(wildcard $(SANITIZED)/*/*/*.d)
