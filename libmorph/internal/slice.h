/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of <morph/slice.h> that only the library, its tests and its benches call. */
#ifndef LM_INTERNAL_SLICE_H
#define LM_INTERNAL_SLICE_H

#include <morph/morph.h>

/**
 * morph_slice_check() - would morph_slice_create() work now
 * @fabric: the fabric
 * @request: what would be wanted
 *
 * Return: 0, or what morph_slice_create() would return, with its reasons.
 */
int morph_slice_check(struct morph_fabric *fabric, const struct morph_request *request);

/**
 * morph_slice_number() - the number of a slice
 * @slice: the slice
 *
 * Return: N of /dev/morph/sliceN. Never fails.
 */
uint32_t morph_slice_number(const struct morph_slice *slice);

/**
 * morph_slice_circuit_path() - read the path of a circuit
 * @slice: the slice
 * @circuit: its number
 * @out: object of type "circuit" with id, guide, element and element-state
 *
 * Return: 0, -ENOENT (no such circuit) or a negative errno.
 */
int morph_slice_circuit_path(struct morph_slice *slice, uint32_t circuit,
			     struct morph_object **out);

/**
 * morph_slice_report() - report a suspicion about a rank's accelerator
 * @slice: the slice
 * @rank: which one
 * @state: enum morph_slice_state afterwards; may be NULL
 * @health: enum morph_health of the accelerator, after the probe; may be NULL
 *
 * The kernel probes it, and replaces it when the probe confirms the suspicion.
 * Returns when the matter is settled.
 *
 * Return: 0, -ENOENT (no such rank), -EDQUOT or another negative errno.
 */
int morph_slice_report(struct morph_slice *slice, uint32_t rank, uint32_t *state, uint32_t *health);

/**
 * morph_slice_replace() - put a spare in a rank's place
 * @slice: the slice
 * @rank: which one
 * @spare: the accelerator to take, or MORPH_ANY
 * @state: enum morph_slice_state afterwards; may be NULL
 * @health: enum morph_health of the accelerator that was replaced; may be NULL
 *
 * Return: 0, -ENOENT, -ENOSPC (no spare), -EDQUOT or another negative errno.
 */
int morph_slice_replace(struct morph_slice *slice, uint32_t rank, uint32_t spare, uint32_t *state,
			uint32_t *health);

/**
 * morph_slice_set_failover() - change what happens when an accelerator fails
 * @slice: the slice
 * @failover: enum morph_failover
 *
 * Return: 0 or a negative errno.
 */
int morph_slice_set_failover(struct morph_slice *slice, uint32_t failover);

#endif /* LM_INTERNAL_SLICE_H */
