// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MSCCL's XML: the values at all places, followed from step to step.
 *
 * In a file a gpu can have a chunk at several places, summed at some of them and not at others. In
 * a collective a rank has one copy of each chunk, and arriving data is added to it or replaces it.
 * So each value is described by its base, which is an input or has arrived, and the number of
 * arrivals added to it. Inputs that are summed anywhere are one chunk.
 */
#include "msccl_follow.h"

/* ----------------------------------------------------------------------- shapes */

const struct gpu *lm_follow_gpu_of(const struct follow *follow, uint32_t id)
{
	return &follow->program->gpus.list[follow->program->gpu_at[id]];
}

static int wrong_size(const struct follow *follow, const struct gpu *gpu, const char *buffer,
		      uint32_t chunks, uint32_t wanted)
{
	return lm_format_fail(follow->why, EINVAL,
			      "line %u: gpu %u has %c_chunks=\"%u\", the collective requires %u",
			      gpu->line, gpu->id, *buffer, chunks, wanted);
}

/* In place, one buffer is input and output, and the file can omit the smaller one. */
static int check_shape(const struct follow *follow, const struct gpu *gpu)
{
	uint32_t in = gpu->chunks[INPUT], out = gpu->chunks[OUTPUT];
	bool in_place = follow->program->in_place;

	if (in > follow->inputs || (in < follow->inputs && !(in_place && out == follow->outputs &&
							     follow->inputs <= follow->outputs)))
		return wrong_size(follow, gpu, "i", in, follow->inputs);
	if (out > follow->outputs ||
	    (out < follow->outputs &&
	     !(in_place && in == follow->inputs && follow->outputs <= follow->inputs)))
		return wrong_size(follow, gpu, "o", out, follow->outputs);
	return 0;
}

/* Find the buffer sizes of all gpus from the first one. */
static int find_shape(struct follow *follow)
{
	const struct program *program = follow->program;
	const struct gpu *first = lm_follow_gpu_of(follow, 0);
	uint32_t gpus = program->gpus_count;
	int ret = 0;

	if (program->coll == CUSTOM)
		return 0;
	follow->inputs = follow->outputs =
		program->in_place ? larger(first->chunks[INPUT], first->chunks[OUTPUT]) :
				    first->chunks[INPUT];
	if (program->coll == ALL_GATHER)
		follow->outputs = first->chunks[OUTPUT];
	follow->share = (program->coll == ALL_GATHER ? follow->outputs : follow->inputs) / gpus;
	if (program->coll == ALL_GATHER)
		follow->inputs = follow->share;
	if (program->coll == REDUCE_SCATTER)
		follow->outputs = follow->share;
	if (program->coll != ALL_REDUCE && program->coll != BROADCAST &&
	    larger(follow->inputs, follow->outputs) != follow->share * gpus)
		return lm_format_fail(
			follow->why, EINVAL,
			"line %u: the number of chunks of gpu 0 must be a multiple of %u gpus",
			first->line, gpus);
	for (uint32_t gpu = 0; !ret && gpu < gpus; gpu++)
		ret = check_shape(follow, lm_follow_gpu_of(follow, gpu));
	return ret;
}

static uint32_t inputs_of(const struct follow *follow, uint32_t gpu)
{
	return follow->program->coll == CUSTOM ? lm_follow_gpu_of(follow, gpu)->chunks[INPUT] :
						 follow->inputs;
}

uint32_t lm_follow_outputs_of(const struct follow *follow, uint32_t gpu)
{
	return follow->program->coll == CUSTOM ? lm_follow_gpu_of(follow, gpu)->chunks[OUTPUT] :
						 follow->outputs;
}

/* Lay out each gpu's buffers, one after the other or in place. No place has a value. */
static int make_places(struct follow *follow)
{
	const struct program *program = follow->program;
	uint32_t next = 0, gpus = program->gpus_count;

	for (int buffer = 0; buffer < BUFFERS; buffer++) {
		follow->starts[buffer] = calloc(gpus, sizeof(*follow->starts[buffer]));
		if (!follow->starts[buffer])
			return lm_format_no_memory(follow->why);
	}
	for (uint32_t gpu = 0; gpu < gpus; gpu++) {
		uint32_t in = inputs_of(follow, gpu), out = lm_follow_outputs_of(follow, gpu);
		uint32_t shift = program->in_place ? gpu * follow->share : in;

		if (program->in_place && in == out)
			shift = 0;
		follow->starts[INPUT][gpu] = next + (program->in_place && in < out ? shift : 0);
		follow->starts[OUTPUT][gpu] = next + (program->in_place && in < out ? 0 : shift);
		next += program->in_place ? larger(in, out) : in + out;
		follow->starts[SCRATCH][gpu] = next;
		next += lm_follow_gpu_of(follow, gpu)->chunks[SCRATCH];
	}
	follow->places = calloc((size_t)next + 1, sizeof(*follow->places));
	return follow->places ? 0 : lm_format_no_memory(follow->why);
}

/* ----------------------------------------------------------------------- values */

static uint32_t add_value(struct follow *follow, const struct value *value)
{
	if (GROW(follow->values))
		return 0;
	follow->values.list[follow->values.count] = *value;
	return follow->values.count++;
}

/* An input becomes a value when it is first read. 0 when out of memory. */
static uint32_t add_origin(struct follow *follow, uint32_t gpu, uint32_t index, uint32_t line)
{
	struct value value = { .origin = follow->origins.count, .base = follow->values.count };

	if (GROW(follow->origins))
		return 0;
	follow->origins.list[follow->origins.count] = (struct origin){
		.gpu = gpu, .index = index, .parent = follow->origins.count, .line = line
	};
	follow->origins.count++;
	return add_value(follow, &value);
}

uint32_t lm_follow_representative(struct follow *follow, uint32_t origin)
{
	struct origin *list = follow->origins.list;

	while (list[origin].parent != origin) {
		list[origin].parent = list[list[origin].parent].parent;
		origin = list[origin].parent;
	}
	return origin;
}

static void join(struct follow *follow, uint32_t one, uint32_t other)
{
	one = lm_follow_representative(follow, one);
	other = lm_follow_representative(follow, other);
	follow->origins.list[larger(one, other)].parent = one < other ? one : other;
}

/* The value at a place, 0 (none), or a noted -ENOMEM. */
int64_t lm_follow_read_value(struct follow *follow, uint32_t gpu, uint32_t place, uint32_t line)
{
	uint32_t index = place - follow->starts[INPUT][gpu];

	if (!follow->places[place] && index < inputs_of(follow, gpu)) {
		follow->places[place] = add_origin(follow, gpu, index, line);
		if (!follow->places[place])
			return lm_format_no_memory(follow->why);
	}
	return follow->places[place];
}

/* Whether @other is an input, or arrived in an earlier round. */
static bool is_older(const struct value *one, const struct value *other)
{
	return one->arrived && (!other->arrived || other->ready < one->ready);
}

/* The sum of two values, or a noted error. One is the base, to which the other one is added. */
static int64_t sum(struct follow *follow, const struct step *step, uint32_t one, uint32_t other)
{
	const struct value *values = follow->values.list;
	uint32_t base = is_older(&values[values[one].base], &values[values[other].base]) ? other :
											   one;
	uint32_t added = base == one ? other : one;
	struct value value = values[base];
	uint32_t number;

	if (values[one].base == values[other].base)
		return lm_format_fail(
			follow->why, EBADMSG,
			"line %u: the step adds a part that the chunk already contains",
			step->line);
	if (!values[values[added].base].arrived)
		return lm_format_fail(follow->why, EBADMSG,
				      "line %u: the step sums two chunks of the gpu's own input",
				      step->line);
	follow->values.list[values[added].base].summed = true;
	value.merged += values[added].merged + 1;
	value.ready = larger(value.ready, values[added].ready);
	value.arrived = value.summed = false;
	join(follow, values[one].origin, values[other].origin);
	number = add_value(follow, &value);
	return number ? (int64_t)number : lm_format_no_memory(follow->why);
}

/* ------------------------------------------------------------------------ steps */

static uint32_t gpu_of_step(const struct follow *follow, const struct step *step)
{
	return follow->program->blocks.list[step->block].gpu;
}

int lm_follow_add_event(struct follow *follow, const struct event *event)
{
	if (GROW(follow->events))
		return lm_format_no_memory(follow->why);
	follow->events.list[follow->events.count++] = *event;
	return 0;
}

/*
 * A received chunk as a new value, or a noted error. It is sent in the round in which it arrives.
 */
static int64_t receive(struct follow *follow, const struct step *step, uint32_t at, uint32_t round)
{
	const struct step *sender = &follow->program->steps.list[step->sender];
	const struct value *sent =
		&follow->values.list[follow->carried[follow->timing[step->sender].carried + at]];
	const struct value value = { .origin = sent->origin,
				     .base = follow->values.count,
				     .ready = round + 1,
				     .arrived = true };
	const struct event sends = { .rank = gpu_of_step(follow, sender),
				     .origin = sent->origin,
				     .round = round,
				     .base = sent->base,
				     .merged = sent->merged,
				     .line = sender->line };
	const struct event arrives = { .rank = gpu_of_step(follow, step),
				       .origin = sent->origin,
				       .round = round,
				       .base = value.base,
				       .line = step->line,
				       .block = sender->block,
				       .src = sends.rank,
				       .arrives = true };
	int ret = lm_follow_add_event(follow, &sends);

	if (!ret)
		ret = lm_follow_add_event(follow, &arrives);
	if (ret)
		return ret;
	return add_value(follow, &value) ? (int64_t)value.base : lm_format_no_memory(follow->why);
}

/* A step's chunk number @at: received, from src, or the sum of both; or a noted error. */
static int64_t gather(struct follow *follow, const struct step *step, uint32_t at, uint32_t round)
{
	uint32_t gpu = gpu_of_step(follow, step);
	int64_t received = 0, there = 0;

	if (step->does & RECEIVES)
		received = receive(follow, step, at, round);
	if (received >= 0 && step->does & READS) {
		there = lm_follow_read_value(
			follow, gpu, follow->starts[step->src.buffer][gpu] + step->src.offset + at,
			step->line);
		if (!there)
			return lm_format_fail(follow->why, EBADMSG,
					      "line %u: no data at %c %u of gpu %u yet", step->line,
					      "ios"[step->src.buffer], step -> src.offset + at,
					      gpu);
	}
	if (received < 0 || there < 0)
		return received < 0 ? received : there;
	if (step->does == STEP_RE) {
		received = lm_follow_read_value(
			follow, gpu, follow->starts[step->dst.buffer][gpu] + step->dst.offset + at,
			step->line);
		if (!received)
			return lm_format_fail(follow->why, EBADMSG,
					      "line %u: no data at %c %u of gpu %u yet", step->line,
					      "ios"[step->dst.buffer], step -> dst.offset + at,
					      gpu);
		if (received < 0)
			return received;
	}
	if (step->does & SUMS)
		return sum(follow, step, (uint32_t)there, (uint32_t)received);
	return step->does & RECEIVES ? received : there;
}

/* The first rounds in which a step can receive and send, in next_receive and next_send. */
static void begin_step(struct follow *follow, uint32_t number)
{
	const struct program *program = follow->program;
	const struct step *step = &program->steps.list[number];
	const struct block *block = &program->blocks.list[step->block];
	struct timing *timing = &follow->timing[number];

	if (number > block->first) {
		timing->next_receive = timing[-1].next_receive;
		timing->next_send = timing[-1].next_send;
	}
	if (step->waits_block != NONE) {
		const struct gpu *gpu = lm_follow_gpu_of(follow, block->gpu);
		const struct block *there = &program->blocks.list[gpu->first + step->waits_block];
		const struct timing *other = &follow->timing[there->first + step->waits_step];

		timing->next_receive = larger(timing->next_receive, other->late_receive);
		timing->next_send = larger(timing->next_send, other->late_send);
	}
	if (step->sender != NONE)
		timing->next_receive =
			larger(timing->next_receive, follow->timing[step->sender].last);
}

/* @round: of the receive; @ready: the first round in which the result can be sent. */
static void end_step(struct timing *timing, uint8_t does, uint32_t round, uint32_t ready)
{
	if (does == STEP_NOP) {
		timing->late_receive = timing->next_receive;
		timing->late_send = timing->next_send;
		return;
	}
	timing->last = does & SENDS ? larger(ready, timing->next_send) : round;
	timing->next_receive = timing->last;
	timing->next_send = larger(timing->next_send, timing->last);
	timing->late_receive = does == STEP_R ? round + 1 : timing->last;
	timing->late_send = does & SENDS ? timing->last + 1 : ready;
}

static int do_step(struct follow *follow, uint32_t number)
{
	const struct step *step = &follow->program->steps.list[number];
	struct timing *timing = &follow->timing[number];
	uint32_t *sent = follow->carried + timing->carried;
	uint32_t gpu = gpu_of_step(follow, step), round, ready;

	begin_step(follow, number);
	round = ready = timing->next_receive;
	for (uint32_t at = 0; step->does && at < step->count; at++) {
		int64_t value = gather(follow, step, at, round);

		if (value < 0)
			return (int)value;
		sent[at] = (uint32_t)value;
		if (step->does & COPIES)
			follow->places[follow->starts[step->dst.buffer][gpu] + step->dst.offset +
				       at] = sent[at];
		ready = larger(ready, follow->values.list[sent[at]].ready);
	}
	end_step(timing, step->does, round, ready);
	return 0;
}

/* ------------------------------------------------------------------------ order */

static int check_wait(const struct follow *follow, const struct step *step, uint32_t *other)
{
	const struct program *program = follow->program;
	const struct gpu *gpu = lm_follow_gpu_of(follow, gpu_of_step(follow, step));
	const struct block *block;

	if (step->waits_block >= gpu->count)
		return lm_format_fail(follow->why, EINVAL,
				      "line %u: depid=\"%u\", gpu %u has %u threadblocks",
				      step->line, step->waits_block, gpu->id, gpu->count);
	block = &program->blocks.list[gpu->first + step->waits_block];
	if (step->waits_step >= block->count)
		return lm_format_fail(follow->why, EINVAL,
				      "line %u: deps=\"%u\", threadblock %u has %u steps",
				      step->line, step->waits_step, step->waits_block,
				      block->count);
	*other = block->first + step->waits_step;
	return 0;
}

/* All steps that a step waits for: the preceding one, depid and deps, and the sender. */
static int add_edges(struct follow *follow, uint32_t number, uint32_t *count)
{
	const struct program *program = follow->program;
	const struct step *step = &program->steps.list[number];
	uint32_t other = number;
	int ret;

	if (number > program->blocks.list[step->block].first)
		follow->edges[(*count)++] = (struct edge){ number - 1, number };
	if (step->sender != NONE)
		follow->edges[(*count)++] = (struct edge){ step->sender, number };
	if (step->waits_block == NONE)
		return 0;
	ret = check_wait(follow, step, &other);
	if (!ret)
		follow->edges[(*count)++] = (struct edge){ other, number };
	return ret;
}

static int find_order(struct follow *follow)
{
	const struct program *program = follow->program;
	uint32_t count = 0;
	int ret = 0;

	for (uint32_t at = 0; !ret && at < program->steps.count; at++)
		ret = add_edges(follow, at, &count);
	if (!ret)
		ret = lm_format_order(program->steps.count, follow->edges, count, follow->order);
	if (ret == -ENOMEM)
		return lm_format_no_memory(follow->why);
	if (ret == -ELOOP)
		return lm_format_fail(follow->why, EBADMSG,
				      "line %u: the step waits for itself through other steps",
				      program->steps.list[follow->order[0]].line);
	return ret;
}

static int follow_steps(struct follow *follow)
{
	uint32_t steps = follow->program->steps.count, carried = 0;
	int ret;

	for (uint32_t at = 0; at < steps; at++) {
		follow->timing[at].carried = carried;
		carried += follow->program->steps.list[at].count;
	}
	follow->carried = calloc((size_t)carried + 1, sizeof(*follow->carried));
	if (!follow->carried)
		return lm_format_no_memory(follow->why);
	ret = find_order(follow);
	for (uint32_t at = 0; !ret && at < steps; at++)
		ret = do_step(follow, follow->order[at]);
	return ret;
}

/* ------------------------------------------------------------------------ whole */

static int allocate(struct follow *follow)
{
	size_t steps = follow->program->steps.count;
	const struct value none = { 0 };

	follow->timing = calloc(steps + 1, sizeof(*follow->timing));
	follow->order = calloc(steps + 1, sizeof(*follow->order));
	follow->edges = calloc(3 * steps + 1, sizeof(*follow->edges));
	if (!follow->timing || !follow->order || !follow->edges || GROW(follow->values))
		return lm_format_no_memory(follow->why);
	follow->values.list[follow->values.count++] = none;
	return 0;
}

static void release(struct follow *follow)
{
	for (int buffer = 0; buffer < BUFFERS; buffer++)
		free(follow->starts[buffer]);
	free(follow->places);
	free(follow->carried);
	free(follow->timing);
	free(follow->order);
	free(follow->edges);
	free(follow->values.list);
	free(follow->origins.list);
	free(follow->events.list);
	free(follow->chunks.list);
}

int lm_msccl_follow(const struct program *program, struct morph_collective *collective,
		    uint64_t bytes)
{
	struct follow follow = { .program = program, .why = &program->why };
	int ret = find_shape(&follow);

	if (!ret)
		ret = make_places(&follow);
	if (!ret)
		ret = allocate(&follow);
	if (!ret)
		ret = follow_steps(&follow);
	if (!ret)
		ret = lm_follow_collect(&follow, collective, bytes);
	release(&follow);
	return ret;
}
