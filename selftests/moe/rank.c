// SPDX-License-Identifier: GPL-2.0-only
/* One rank. It reads the state page and writes to its queue, like code on a device. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "moe.h"

struct rank {
	struct world *world;
	uint32_t number, iteration;
	uint32_t ring_number;
	struct morph_device_ring ring;
	const volatile struct morph_state_page *state;
	struct item items[RANKS][ITEMS]; /* items to send, by receiver */
	uint32_t counts[RANKS];
};

/* ---------------------------------------------------------------- the host's part */

static void rank_open(struct rank *rank)
{
	struct world *world = rank->world;
	struct morph_ring_setup setup = {
		.head = HEAD(morph_ring_setup),
		.schedule = world->schedule,
		.entries = ENTRIES,
		.idle_ns = 100000, /* there are more threads than processors */
	};

	if (ioctl(world->slice, MORPH_RING_SETUP, &setup))
		_exit(2);
	rank->ring_number = setup.out_ring;
	rank->ring.entries = ENTRIES;
	rank->ring.base = mmap(NULL, MORPH_RING_BYTES(ENTRIES), PROT_READ | PROT_WRITE, MAP_SHARED,
			       world->slice, (off_t)MORPH_RING_OFFSET(setup.out_ring));
	rank->state = mmap(NULL, MORPH_STATE_BYTES(RANKS * RANKS), PROT_READ, MAP_SHARED,
			   world->slice, 0);
	if (rank->ring.base == MAP_FAILED || rank->state == MAP_FAILED)
		_exit(3);
}

static void host_wakes(struct rank *rank)
{
	struct morph_ring_act args = {
		.head = HEAD(morph_ring_act),
		.ring = rank->ring_number,
		.verb = MORPH_RING_WAKE,
	};

	if (morph_device_asleep(&rank->ring))
		ioctl(rank->world->slice, MORPH_RING_ACT, &args);
}

/* -------------------------------------------------------------- the device's part */

/* Return the lit position; 0 if the schedule does not run. */
static uint64_t position_now(const struct rank *rank)
{
	const volatile struct morph_state_page *state = rank->state;
	uint64_t version, position;
	uint32_t running;

	do {
		version = __atomic_load_n(&state->version, __ATOMIC_ACQUIRE);
		position = state->position;
		running = state->state == MORPH_SCHEDULE_RUNNING;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (version & 1 || version != state->version);
	return running ? position : 0;
}

static void stand_still(struct rank *rank, uint64_t position)
{
	rank->world->stopped[rank->number] = position;
	_exit(0);
}

static void await_light(struct rank *rank, uint64_t position)
{
	uint64_t now = position_now(rank);

	while (now < position) {
		if (!now)
			stand_still(rank, position);
		sched_yield();
		now = position_now(rank);
	}
}

static void report_done(struct rank *rank, uint64_t position)
{
	struct morph_device_answer answer;

	while (morph_device_submit(&rank->ring, MORPH_DEVICE_ARRIVE, 0, rank->number, position))
		host_wakes(rank);
	host_wakes(rank);
	while (!morph_device_answered(&rank->ring, &answer)) {
		host_wakes(rank);
		sched_yield();
	}
	if (answer.error)
		stand_still(rank, position);
}

/* Sort its own tokens by the ranks of their experts. */
static void gate(struct rank *rank)
{
	uint32_t number, choice, expert;

	memset(rank->counts, 0, sizeof(rank->counts));
	for (number = 0; number < TOKENS; number++)
		for (choice = 0; choice < CHOICES; choice++) {
			expert = expert_of(rank->world, rank->iteration, rank->number, number,
					   choice);
			rank->items[expert % RANKS][rank->counts[expert % RANKS]++] = (struct item){
				.source = rank->number,
				.number = number,
				.choice = choice,
				.expert = expert,
				.value = value_of(rank->iteration, rank->number, number),
			};
		}
}

/* Process the received tokens and its own local tokens; the results are the next items to send. */
static void experts_work(struct rank *rank)
{
	struct world *world = rank->world;
	uint32_t source, at;

	world->out[rank->number][rank->number].count = rank->counts[rank->number];
	memcpy(world->out[rank->number][rank->number].items, rank->items[rank->number],
	       sizeof(rank->items[rank->number]));
	for (source = 0; source < RANKS; source++) {
		struct inbox *inbox = &world->out[rank->number][source];

		rank->counts[source] = inbox->count;
		for (at = 0; at < inbox->count; at++) {
			struct item *item = &inbox->items[at];

			item->value = expert_does(item->expert, item->value);
			rank->items[source][at] = *item;
		}
	}
	world->back[rank->number][rank->number] = world->out[rank->number][rank->number];
}

/* Check that all tokens are back from all of their experts. */
static void check_back(struct rank *rank)
{
	struct world *world = rank->world;
	bool back[TOKENS][CHOICES] = {};
	uint32_t other, at, good = 0;

	for (other = 0; other < RANKS; other++) {
		const struct inbox *inbox = &world->back[rank->number][other];

		for (at = 0; at < inbox->count; at++) {
			const struct item *item = &inbox->items[at];
			uint32_t expert = expert_of(world, rank->iteration, rank->number,
						    item->number, item->choice);
			uint64_t value = value_of(rank->iteration, rank->number, item->number);

			if (item->source == rank->number && item->expert == expert &&
			    item->value == expert_does(expert, value) &&
			    !back[item->number][item->choice]) {
				back[item->number][item->choice] = true;
				good++;
			}
		}
	}
	world->wrong[rank->number] += ITEMS - good;
}

static void send_step(struct rank *rank, uint64_t position, struct inbox inboxes[RANKS][RANKS])
{
	struct world *world = rank->world;
	uint32_t dst = sends_to(world, rank->number, position);
	uint32_t src = hears_from(world, rank->number, position);

	if (!world->hasty[rank->number])
		await_light(rank, position);
	if (dst != RANKS) {
		medium_carry(world, rank->number, dst, position, &inboxes[dst][rank->number],
			     rank->items[dst], rank->counts[dst]);
		__atomic_store_n(&world->sent[rank->number][dst], position, __ATOMIC_RELEASE);
	}
	while (src != RANKS &&
	       __atomic_load_n(&world->sent[src][rank->number], __ATOMIC_ACQUIRE) < position) {
		if (!position_now(rank))
			stand_still(rank, position);
		sched_yield();
	}
	/*
	 * Also a rank that did not wait must wait here. Otherwise it would report a step as done
	 * that is not lit yet.
	 */
	await_light(rank, position);
	report_done(rank, position);
}

void rank_run(struct world *world, uint32_t number)
{
	static struct rank rank;
	uint64_t position = 1;
	uint32_t step;

	rank.world = world;
	rank.number = number;
	rank_open(&rank);
	for (; rank.iteration < world->iterations; rank.iteration++) {
		gate(&rank);
		for (step = 0; step < SHIFTS; step++)
			send_step(&rank, position++, world->out);
		experts_work(&rank);
		for (step = 0; step < SHIFTS; step++)
			send_step(&rank, position++, world->back);
		check_back(&rank);
	}
	_exit(0);
}
