/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/running.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_RUNNING_H
#define LM_INTERNAL_RUNNING_H

#include <morph/morph.h>

/**
 * morph_state_base() - the memory of a slice's state, for devices that read it themselves
 * @state: the state
 * @bytes: where to put how large it is; or NULL
 *
 * Return: struct morph_state_page, and what comes after it. Never fails.
 */
const volatile void *morph_state_base(const struct morph_state *state, size_t *bytes);

#endif /* LM_INTERNAL_RUNNING_H */
