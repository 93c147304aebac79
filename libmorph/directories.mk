# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The directories of libmorph's sources, for Makefiles. Set CC before the include.

# Planners of schedules use 128-bit integers. Compilers for 32-bit machines have none, so libmorph
# lacks these planners there.
SCHEDULING	:= $(if $(shell $(CC) -dM -E -x c /dev/null | grep __SIZEOF_INT128__),collective jobs matchings schedule)
PLANNING	:= model place defrag protect bandwidth traffic $(SCHEDULING)
# libmorph consists of client/, and libmorph-plan of $(PLANNING). Both link util/. The MPI library
# links phases/.
DIRECTORIES	:= client phases util $(PLANNING)
