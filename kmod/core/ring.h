/* SPDX-License-Identifier: GPL-2.0-only */
/* Rings: steps asked for through shared memory; and the state that is read in the same way. */
#ifndef MORPH_CORE_RING_H
#define MORPH_CORE_RING_H

#include "core.h"

struct morph_file;
struct morph_schedule;
struct vm_area_struct;

/* -------------------------------------------------------------------- ring.c */

/* Make a ring of a file's; *number gets its number. Takes the lock itself. */
int morph_ring_setup(struct morph_file *file, const struct morph_ring_setup *setup, u32 *number,
		     struct morph_refusal *refusal);
/* WAKE, CLOSE or QUERY; the results are filled. */
int morph_ring_act(struct morph_file *file, struct morph_ring_act *act,
		   struct morph_refusal *refusal);
/* Map a ring of the file's slice; -EINVAL: there is none, or it is of another size. */
int morph_ring_mmap(struct morph_file *file, u32 number, struct vm_area_struct *vma);
/* The file is closed: its rings end. Never waits. */
void morph_ring_close_file(struct morph_file *file);
/* The slice ends: those who sleep find that out. fabric->lock held. */
void morph_ring_wake_slice(struct morph_slice *slice);

/* ------------------------------------------------------------------- state.c */

/* Memory, zeroed and accounted, that is mapped page by page; vfree() frees it. Not under a lock. */
void *morph_shared_alloc(size_t bytes);
/* Map it from its beginning on, as long as the area is, which the caller has checked. */
int morph_shared_map(struct vm_area_struct *vma, void *memory);

/* Map the slice's state, which is made when it is first wanted. */
int morph_state_mmap(struct morph_slice *slice, struct vm_area_struct *vma);
/*
 * A circuit is lit, dark or elsewhere since: told between begin and end, so that who reads the
 * page sees all that changes at once or none of it. fabric->lock held from the one to the other.
 */
void morph_state_begin(struct morph_slice *slice);
void morph_state_circuit(struct morph_circuit *circuit);
void morph_state_end(struct morph_slice *slice);
/* All three, of one that has gone dark by itself; */
void morph_state_dark(struct morph_circuit *circuit);
/* and for all whose light the page has wrong. */
void morph_state_all(struct morph_slice *slice);
/* Nothing is lit any more: the slice goes, or its fabric. fabric->lock held. */
void morph_state_lose(struct morph_slice *slice);
/* A schedule has lit a step, or its state is another one. Likewise. */
void morph_state_schedule(const struct morph_schedule *schedule);

#endif /* MORPH_CORE_RING_H */
