/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A job of the GPU: requests of many producers through one queue, or reads of the state page.
 * queue.cu and the CPU's side include this file. Both derive all contents from the position of
 * a request: its producer, and its number among the requests of this producer.
 */
#ifndef MORPH_TEST_GPU_JOB_H
#define MORPH_TEST_GPU_JOB_H

#include <linux/morph.h>
#include <morph/device.h>

#define JOB_PRODUCERS 64u /* at most; each producer is a warp */
#define JOB_LANES 32u
#define JOB_NUMBERS 0x40000u /* a tag holds the number of a request modulo this */
#define JOB_WINDOW 4u /* limit of a producer's requests without an answer */
#define JOB_RANKS 4u
#define JOB_PAIRS (JOB_RANKS * JOB_RANKS)
#define JOB_PAYLOAD (JOB_PRODUCERS * JOB_WINDOW * JOB_LANES) /* words */

/* The GPU counts mistakes of answers and of the state page; the host counts the others. */
enum job_mistake {
	JOB_ORDER, /* a request lost, repeated or out of order */
	JOB_CONTENT, /* another operation, rank or step */
	JOB_PAYLOAD_OLD, /* the driver sees data older than the request */
	JOB_NO_WAKE, /* the thread sleeps beside an entry, and the producer asked for no wake */
	JOB_STOPPED, /* the driver stopped the queue */
	JOB_STALLED,
	JOB_ANSWER_ORDER, /* an answer lost, repeated or out of order */
	JOB_ANSWER_ERROR,
	JOB_ANSWER_POSITION,
	JOB_STATE_TORN,
	JOB_STATE_OLD, /* the state page is older than the answer */
	JOB_MISTAKES,
};

/* The part of a job in the memory of the GPU. */
struct job_device {
	struct morph_device_ring end;
	morph_half submitting, answering; /* locks */
	morph_half answered[JOB_PRODUCERS];
	morph_half done; /* the producer has finished, so the writers end */
	morph_word full, wakes, reads, retries;
	morph_word mistakes[JOB_MISTAKES];
	morph_word clocks, ns;
};

struct job {
	/* in the memory of the host */
	const volatile struct morph_state_page *state;
	volatile morph_half *wake, *stop;
	volatile morph_word *payload;
	/* in the memory of the GPU */
	struct job_device *device;
	morph_half *ticks; /* of each round trip, or NULL */
	morph_half requests; /* of each producer */
	morph_half pause; /* clocks between two requests, at most */
	morph_half patience; /* polls for an answer before the producer reads the asleep word */
	morph_half blind; /* ignore the version of the state page: a defect */
};

MORPH_DEVICE morph_word job_mix(morph_word word)
{
	word = (word + 1) * 0x9e3779b97f4a7c15ull;
	return word ^ word >> 31;
}

MORPH_DEVICE morph_word job_position(morph_half producer, morph_half number)
{
	return (morph_word)producer << 32 | number;
}

MORPH_DEVICE morph_half job_tag(morph_word position)
{
	return (morph_half)(position >> 32) * JOB_NUMBERS + (morph_half)position % JOB_NUMBERS;
}

MORPH_DEVICE morph_half job_op(morph_word position)
{
	return MORPH_DEVICE_GO + (morph_half)(job_mix(position) % 3);
}

MORPH_DEVICE morph_half job_which(morph_word position)
{
	return job_op(position) == MORPH_DEVICE_GO ? 0 : (morph_half)(job_mix(position) >> 16) >> 1;
}

MORPH_DEVICE morph_half job_error(morph_word position)
{
	return (morph_half)(job_mix(position) >> 40) & 0xfff;
}

MORPH_DEVICE morph_half job_slot(morph_word position, morph_half lane)
{
	morph_half producer = (morph_half)(position >> 32);

	return (producer * JOB_WINDOW + (morph_half)position % JOB_WINDOW) * JOB_LANES + lane;
}

#endif
