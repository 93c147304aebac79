/* SPDX-License-Identifier: MIT */
/*
 * libmorph: queues, for the code of a device. Plain C; CUDA and HIP compile it unchanged. It
 * includes nothing of libmorph and makes no calls. The host maps the queue and registers it with
 * the device (cudaHostRegister(), hipHostRegister()).
 *
 * A queue has one producer of submissions and one consumer of completions, which may be two
 * threads. Further threads of a block must agree which one it is. An entry is complete when both
 * words have the lap bit, so the bus needs only single 8-byte reads and writes. Programs of 32 bits
 * have none. They write the halves with the lap bits last and read them first, because the host
 * writes a word at once.
 *
 * A program calls morph_device_submit(), morph_device_asleep() and morph_device_answered().
 * Functions that begin with lm_ are parts of these, and may change.
 */
#ifndef MORPH_DEVICE_H
#define MORPH_DEVICE_H

#if defined(__CUDACC__) || defined(__HIPCC__)
#define MORPH_DEVICE __host__ __device__ static inline
#else
#define MORPH_DEVICE static inline
#endif

/* Types of a fixed length for compilers of devices. */
typedef unsigned long long morph_word;
typedef unsigned int morph_half;

#define MORPH_DEVICE_LAP 0x8000000000000000ull
#define MORPH_DEVICE_POSITION 0xffffffffffffull
#define MORPH_DEVICE_GO 1u
#define MORPH_DEVICE_ARRIVE 2u
#define MORPH_DEVICE_JUMP 3u
#define MORPH_DEVICE_ENTRIES 4096u /* offset of the entries in bytes */
#define MORPH_DEVICE_ASLEEP 1u /* offset in words of 4 bytes */
#define MORPH_DEVICE_TAKEN 2u
#define MORPH_DEVICE_SEEN 32u

/**
 * struct morph_device_ring - one end of a queue, in memory of its user
 * @base: address of the mapped queue on this device
 * @entries: of each kind, as set up
 * @submitted: entries written so far
 * @seen: completions read so far
 */
struct morph_device_ring {
	void *base;
	morph_half entries;
	morph_half submitted;
	morph_half seen;
};

/**
 * struct morph_device_answer - a completion
 * @tag: tag of the submission
 * @error: 0, or a positive errno
 * @position: position of the schedule that is lit
 */
struct morph_device_answer {
	morph_half tag;
	morph_half error;
	morph_word position;
};

/* Order earlier writes before later accesses, for all observers. */
MORPH_DEVICE void lm_device_fence(void)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
	__threadfence_system();
#elif defined(__GNUC__)
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

MORPH_DEVICE morph_word lm_device_lap(const struct morph_device_ring *ring, morph_half count)
{
	return count / ring->entries & 1 ? 0 : MORPH_DEVICE_LAP;
}

MORPH_DEVICE volatile morph_half *lm_device_half(const struct morph_device_ring *ring,
						 morph_half index)
{
	return (volatile morph_half *)ring->base + index;
}

MORPH_DEVICE volatile morph_word *lm_device_entry(const struct morph_device_ring *ring,
						  morph_half index)
{
	return (volatile morph_word *)((char *)ring->base + MORPH_DEVICE_ENTRIES) +
	       2 * (morph_word)index;
}

/* The half of a word with the lap bit. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define MORPH_DEVICE_HIGH 0
#else
#define MORPH_DEVICE_HIGH 1
#endif

/* Does this program access a word in two halves? */
#define MORPH_DEVICE_NARROW (sizeof(void *) < sizeof(morph_word))

MORPH_DEVICE void lm_device_write(volatile morph_word *entry, morph_word first, morph_word second)
{
	volatile morph_half *halves = (volatile morph_half *)entry;

	if (!MORPH_DEVICE_NARROW) {
		entry[0] = first;
		entry[1] = second;
		return;
	}
	halves[1 - MORPH_DEVICE_HIGH] = (morph_half)first;
	halves[3 - MORPH_DEVICE_HIGH] = (morph_half)second;
	lm_device_fence();
	halves[MORPH_DEVICE_HIGH] = (morph_half)(first >> 32);
	halves[2 + MORPH_DEVICE_HIGH] = (morph_half)(second >> 32);
}

/* Read both words of an entry: 1, or 0 if one of them is not of this lap. */
MORPH_DEVICE int lm_device_read(volatile morph_word *entry, morph_word lap, morph_word *first,
				morph_word *second)
{
	volatile morph_half *halves = (volatile morph_half *)entry;

	if (!MORPH_DEVICE_NARROW) {
		*first = entry[0];
		*second = entry[1];
	} else {
		*first = (morph_word)halves[MORPH_DEVICE_HIGH] << 32;
		*second = (morph_word)halves[2 + MORPH_DEVICE_HIGH] << 32;
		lm_device_fence();
		*first |= halves[1 - MORPH_DEVICE_HIGH];
		*second |= halves[3 - MORPH_DEVICE_HIGH];
	}
	return (*first & MORPH_DEVICE_LAP) == lap && (*second & MORPH_DEVICE_LAP) == lap;
}

/**
 * morph_device_submit() - add a request
 * @ring: this end of the queue
 * @op: MORPH_DEVICE_GO, MORPH_DEVICE_ARRIVE or MORPH_DEVICE_JUMP
 * @tag: identifies the answer, below 2^24
 * @which: rank of MORPH_DEVICE_ARRIVE, step of MORPH_DEVICE_JUMP, else 0
 * @position: position to light, or that the rank has finished, below 2^48
 *
 * Never waits. If the kernel's thread sleeps, the host must wake it (MORPH_RING_WAKE): ask
 * morph_device_asleep() afterwards.
 *
 * Return: 0, or -1 if the queue is full.
 */
MORPH_DEVICE int morph_device_submit(struct morph_device_ring *ring, morph_half op, morph_half tag,
				     morph_half which, morph_word position)
{
	morph_word lap = lm_device_lap(ring, ring->submitted);
	volatile morph_word *entry;

	if (ring->submitted - *lm_device_half(ring, MORPH_DEVICE_TAKEN) >= ring->entries)
		return -1;
	entry = lm_device_entry(ring, ring->submitted % ring->entries);
	/* Data that the ranks wrote over the circuits of this step comes first. */
	lm_device_fence();
	lm_device_write(entry,
			lap | (morph_word)op << 56 | (morph_word)(tag & 0xffffff) << 32 | which,
			lap | (position & MORPH_DEVICE_POSITION));
	ring->submitted++;
	lm_device_fence();
	return 0;
}

/* Must the host wake the thread? */
MORPH_DEVICE int morph_device_asleep(const struct morph_device_ring *ring)
{
	return *lm_device_half(ring, MORPH_DEVICE_ASLEEP) != 0;
}

/**
 * morph_device_answered() - read a completion
 * @ring: this end of the queue
 * @answer: where to put it
 *
 * Never waits. Answers come in the order in which the thread has taken the requests.
 *
 * Return: 1, or 0 if there is none.
 */
MORPH_DEVICE int morph_device_answered(struct morph_device_ring *ring,
				       struct morph_device_answer *answer)
{
	volatile morph_word *entry =
		lm_device_entry(ring, ring->entries + ring->seen % ring->entries);
	morph_word first, second;

	if (!lm_device_read(entry, lm_device_lap(ring, ring->seen), &first, &second))
		return 0;
	answer->tag = (morph_half)(first >> 32) & 0xffffff;
	answer->error = (morph_half)first;
	answer->position = second & MORPH_DEVICE_POSITION;
	ring->seen++;
	*lm_device_half(ring, MORPH_DEVICE_SEEN) = ring->seen;
	/* Later reads, also of the state page, are no older than the answer. */
	lm_device_fence();
	return 1;
}

#endif /* MORPH_DEVICE_H */
