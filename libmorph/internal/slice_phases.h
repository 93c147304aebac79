/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/slice_phases.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_PHASING_H
#define LM_INTERNAL_PHASING_H

#include <morph/morph.h>

/**
 * morph_slice_phases_table() - how many phases there are
 * @phasing: the phases
 *
 * Return: the number. Never fails.
 */
uint32_t morph_slice_phases_table(const struct morph_slice_phases *phasing);

#endif /* LM_INTERNAL_PHASING_H */
