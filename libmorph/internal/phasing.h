/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/phasing.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_PHASING_H
#define LM_INTERNAL_PHASING_H

#include <morph/morph.h>

/**
 * morph_phasing_phases() - how many phases there are
 * @phasing: the phases
 *
 * Return: the number. Never fails.
 */
uint32_t morph_phasing_phases(const struct morph_phasing *phasing);

#endif /* LM_INTERNAL_PHASING_H */
