// SPDX-License-Identifier: LGPL-2.1-or-later
/* A fake kernel that runs schedules. */
#include "stepping.h"

struct stepping stepping;

void stepping_begin(void)
{
	memset(&stepping, 0, sizeof(stepping));
	stepping.wrong_step = stepping.wrong_circuit = MORPH_ANY;
	stepping.page_ranks = STEPPING_RANKS;
}

/* ---------------------------------------------------------------- schedules */

static int load(struct morph_schedule_load *asked)
{
	stepping.load = *asked;
	asked->out_wrong_step = stepping.wrong_step;
	asked->out_wrong_circuit = stepping.wrong_circuit;
	asked->out_schedule = STEPPING_FIRST;
	asked->out_circuit = 20;
	return 0;
}

static int act(struct morph_schedule_act *asked)
{
	stepping.act = *asked;
	if (asked->verb == MORPH_SCHEDULE_START)
		stepping.position = 1;
	if (asked->verb == MORPH_SCHEDULE_GO)
		stepping.position = asked->position ? asked->position : stepping.position + 1;
	asked->out_position = stepping.position;
	asked->out_step = (uint32_t)(stepping.position - 1) % STEPPING_STEPS;
	asked->out_state = MORPH_SCHEDULE_RUNNING;
	asked->out_seq = 70 + stepping.position;
	asked->out_times.phase_ns[MORPH_PHASE_SETTLE] = 90000000;
	return 0;
}

static int info(struct morph_schedule_info *asked)
{
	struct morph_schedule_step_info *steps = (void *)(uintptr_t)asked->steps.ptr;
	uint32_t count = STEPPING_STEPS + stepping.growing, room = asked->steps.count;

	if (asked->schedule > STEPPING_SECOND)
		return -ENOENT;
	asked->schedule = asked->schedule <= STEPPING_FIRST ? STEPPING_FIRST : STEPPING_SECOND;
	stepping.growing += stepping.growing;
	asked->steps.count = count;
	asked->state = asked->schedule == STEPPING_FIRST ? MORPH_SCHEDULE_RUNNING :
							   MORPH_SCHEDULE_STOPPED;
	asked->flags = MORPH_SCHEDULE_LOOP;
	asked->step = asked->schedule == STEPPING_FIRST ? 1 : MORPH_ANY;
	asked->failed_step = asked->schedule == STEPPING_FIRST ? MORPH_ANY : 2;
	asked->error = asked->schedule == STEPPING_FIRST ? 0 : -ETIME;
	asked->position = 5;
	asked->circuits = 12;
	asked->lit = 4;
	asked->first_circuit = 20;
	if (!steps)
		return 0;
	if (room < count)
		return -EMSGSIZE;
	for (uint32_t at = 0; at < count; at++)
		steps[at] = (struct morph_schedule_step_info){
			.circuits = 4,
			.changes = 8,
			.runs = at + 1,
			.settle_ns = 90000000,
		};
	return 0;
}

/* -------------------------------------------------------------------- rings */

static int setup(struct morph_ring_setup *asked)
{
	stepping.setup = *asked;
	stepping.answered = 0;
	stepping.ring_state = MORPH_RING_RUNNING;
	stepping.ring = NULL;
	if (asked->head.flags & MORPH_RING_USER)
		stepping.ring = (void *)(uintptr_t)asked->user_ptr;
	if (stepping.ring)
		stepping.ring->asleep = 1;
	asked->out_ring = 2;
	return 0;
}

/* Refuse steps whose predecessor is not lit. */
static uint32_t take(uint64_t asked, uint64_t position)
{
	if ((asked >> MORPH_RING_OP_SHIFT & 0x7f) != MORPH_RING_GO)
		return 0;
	if (position > stepping.position + 1)
		return EINVAL;
	stepping.position = position;
	return 0;
}

/* Take the pending entries, as the kernel's thread does after a wake. */
static void run_ring(void)
{
	struct morph_ring_page *page = stepping.ring;
	uint32_t entries = stepping.setup.entries;
	struct morph_ring_entry *all = (void *)((char *)page + MORPH_RING_ENTRIES);

	while (stepping.ring_state == MORPH_RING_RUNNING) {
		uint64_t lap = stepping.answered / entries & 1 ? 0 : MORPH_RING_LAP;
		struct morph_ring_entry *from = &all[stepping.answered % entries];
		struct morph_ring_entry *to = from + entries;
		uint64_t asked = from->words[0];

		if ((asked & MORPH_RING_LAP) != lap || (from->words[1] & MORPH_RING_LAP) != lap)
			return;
		to->words[0] = (asked & ~0xffffffffULL) |
			       take(asked, from->words[1] & ~MORPH_RING_LAP);
		to->words[1] = lap | stepping.position;
		page->answered = page->taken = ++stepping.answered;
	}
}

static int ring_act(struct morph_ring_act *asked)
{
	assert_int_equal(asked->ring, 2);
	if (asked->verb == MORPH_RING_CLOSE) {
		stepping.closed++;
		stepping.ring = NULL;
	} else if (asked->verb == MORPH_RING_WAKE) {
		stepping.woken++;
		if (stepping.ring)
			run_ring();
	}
	asked->out_state = stepping.ring_state;
	asked->out_error = stepping.ring_state == MORPH_RING_STOPPED ? -EPROTO : 0;
	asked->out_taken = stepping.answered;
	asked->out_sleeps = stepping.woken;
	return 0;
}

/* --------------------------------------------------------------------- both */

bool stepping_ioctl(unsigned long command, void *argument, int *result)
{
	int refusal = stepping.refusal;

	if (command == MORPH_SCHEDULE_LOAD)
		*result = load(argument);
	else if (command == MORPH_SCHEDULE_ACT)
		*result = act(argument);
	else if (command == MORPH_SCHEDULE_INFO)
		*result = info(argument);
	else if (command == MORPH_RING_SETUP)
		*result = setup(argument);
	else if (command == MORPH_RING_ACT)
		*result = ring_act(argument);
	else
		return false;
	stepping.asked++;
	if (refusal)
		*result = refusal;
	stepping.refusal = 0;
	return true;
}

static void fill_page(void)
{
	struct morph_state_page *page = stepping.page;

	page->version = 8;
	page->ranks = stepping.page_ranks;
	page->generation = 6;
	page->schedule = STEPPING_FIRST;
	page->step = 1;
	page->position = 5;
	page->settle_ns = 90000000;
	page->relock_ns = 1000;
	*stepping_pair(1, 2) =
		(struct morph_state_pair){ .generation = 3, .hops = 2, .mbps = 400000 };
}

int stepping_map(struct fake *fake, uint64_t offset, size_t bytes, void *memory)
{
	(void)fake;
	if (offset) {
		assert_int_equal(offset, MORPH_RING_OFFSET(2));
		assert_int_equal(bytes, MORPH_RING_BYTES(stepping.setup.entries));
		stepping.ring = memory;
		stepping.ring->asleep = 1;
		return 0;
	}
	assert_true(bytes >= MORPH_STATE_BYTES(stepping.page_ranks * stepping.page_ranks));
	stepping.page = memory;
	fill_page();
	return 0;
}

struct morph_state_pair *stepping_pair(uint32_t src, uint32_t dst)
{
	struct morph_state_pair *pairs = (void *)(stepping.page + 1);

	return &pairs[src * STEPPING_RANKS + dst];
}
