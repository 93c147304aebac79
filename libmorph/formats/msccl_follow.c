// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MSCCL's XML: what lies where, followed from step to step.
 *
 * In a file a gpu may have a chunk in several places, some of it summed and some not yet; in a collective a rank has one
 * of each chunk, to which what arrives is added, or whose place it takes. So each value that lies somewhere is kept as what
 * it was made of: a base, which is input or has arrived, and how many arrivals were added to it. Inputs that are
 * summed anywhere are one chunk. In the end the arrivals of each rank and chunk are gone through by rounds, as
 * the collective will: each value that was sent, or is output, has to be what the rank has of the chunk at that time.
 */
#include "msccl.h"

/* Of what something is made; the first is none. */
struct value {
	uint32_t origin; /* one of the inputs in it */
	uint32_t base; /* a value: input, or arrived */
	uint32_t merged; /* arrivals added to the base */
	uint32_t ready; /* the first round in which it can be sent */
	bool arrived; /* it is a base, and no input */
	bool summed; /* it has arrived, and is added to another one */
};

/* Input of a gpu that anything is done with. */
struct origin {
	uint32_t gpu, index;
	uint32_t parent; /* another one that is summed with it, or itself */
	uint32_t chunk; /* of the collective */
};

/* Something that a rank gets or sends; @base and @merged of what is sent, @base of what it gets. */
struct event {
	uint32_t rank, origin, round;
	uint32_t base, merged;
	uint32_t line, block; /* of the step, or of the gpu; threadblock that sends */
	uint32_t src;
	bool arrives;
};

struct chunk {
	uint32_t begins, index, parts; /* of how many gpus' input */
	uint32_t ends, copies; /* at how many gpus */
	uint32_t last; /* gpu that was counted */
};

/*
 * Rounds in which others can begin. What is sent is read when the round begins, and what arrives is there when it has
 * ended: so who receives need not wait for the next round when it waits for who sends, or who sums too.
 */
struct timing {
	uint32_t next_receive, next_send; /* of the same threadblock */
	uint32_t late_receive, late_send; /* of those that wait for the step */
	uint32_t last; /* in which it sends, or ends */
	uint32_t carried; /* where the values are that it sends */
};

struct follow {
	const struct program *program;
	const struct why *why;
	uint32_t share; /* of an input or output that is cut for the gpus */
	uint32_t inputs, outputs; /* chunks of each gpu; of CUSTOM as the gpu says */
	uint32_t *starts[BUFFERS]; /* by gpu: its places */
	uint32_t *places; /* values */
	uint32_t *carried; /* values */
	struct timing *timing; /* by step */
	uint32_t *order; /* of steps */
	struct edge *edges;
	LIST_OF(struct value) values;
	LIST_OF(struct origin) origins;
	LIST_OF(struct event) events;
	LIST_OF(struct chunk) chunks;
};

/* ----------------------------------------------------------------------- shapes */

static const struct gpu *gpu_of(const struct follow *follow, uint32_t id)
{
	return &follow->program->gpus.list[follow->program->gpu_at[id]];
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static int wrong_size(const struct follow *follow, const struct gpu *gpu, const char *buffer,
		      uint32_t chunks, uint32_t wanted)
{
	return lm_format_fail(follow->why, EINVAL,
			      "line %u: gpu %u has %c_chunks=\"%u\", what is to be done wants %u",
			      gpu->line, gpu->id, *buffer, chunks, wanted);
}

/* In place one buffer does for both, and of the smaller of them the file may say nothing. */
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

/* What each gpu has, told from the first. */
static int find_shape(struct follow *follow)
{
	const struct program *program = follow->program;
	const struct gpu *first = gpu_of(follow, 0);
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
			"line %u: the chunks of gpu 0 can't be shared by %u gpus without rest",
			first->line, gpus);
	for (uint32_t gpu = 0; !ret && gpu < gpus; gpu++)
		ret = check_shape(follow, gpu_of(follow, gpu));
	return ret;
}

static uint32_t inputs_of(const struct follow *follow, uint32_t gpu)
{
	return follow->program->coll == CUSTOM ? gpu_of(follow, gpu)->chunks[INPUT] :
						 follow->inputs;
}

static uint32_t outputs_of(const struct follow *follow, uint32_t gpu)
{
	return follow->program->coll == CUSTOM ? gpu_of(follow, gpu)->chunks[OUTPUT] :
						 follow->outputs;
}

/* Each gpu's buffers, one after the other, or one in the other; none of the places has a value. */
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
		uint32_t in = inputs_of(follow, gpu), out = outputs_of(follow, gpu);
		uint32_t shift = program->in_place ? gpu * follow->share : in;

		if (program->in_place && in == out)
			shift = 0;
		follow->starts[INPUT][gpu] = next + (program->in_place && in < out ? shift : 0);
		follow->starts[OUTPUT][gpu] = next + (program->in_place && in < out ? 0 : shift);
		next += program->in_place ? larger(in, out) : in + out;
		follow->starts[SCRATCH][gpu] = next;
		next += gpu_of(follow, gpu)->chunks[SCRATCH];
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

/* Input is a value from when on it is read; 0 when out of memory. */
static uint32_t add_origin(struct follow *follow, uint32_t gpu, uint32_t index)
{
	struct value value = { .origin = follow->origins.count, .base = follow->values.count };

	if (GROW(follow->origins))
		return 0;
	follow->origins.list[follow->origins.count] =
		(struct origin){ .gpu = gpu, .index = index, .parent = follow->origins.count };
	follow->origins.count++;
	return add_value(follow, &value);
}

static uint32_t representative(struct follow *follow, uint32_t origin)
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
	one = representative(follow, one);
	other = representative(follow, other);
	follow->origins.list[larger(one, other)].parent = one < other ? one : other;
}

/* What is there, 0 (nothing), or -ENOMEM noted. */
static int64_t read_value(struct follow *follow, uint32_t gpu, uint32_t place)
{
	uint32_t index = place - follow->starts[INPUT][gpu];

	if (!follow->places[place] && index < inputs_of(follow, gpu)) {
		follow->places[place] = add_origin(follow, gpu, index);
		if (!follow->places[place])
			return lm_format_no_memory(follow->why);
	}
	return follow->places[place];
}

/* Whether @other was there first: input, or what arrived in an earlier round. */
static bool is_older(const struct value *one, const struct value *other)
{
	return one->arrived && (!other->arrived || other->ready < one->ready);
}

/* The sum of two values, or what was noted. One is the base, to which the other is added. */
static int64_t sum(struct follow *follow, const struct step *step, uint32_t one, uint32_t other)
{
	const struct value *values = follow->values.list;
	uint32_t base = is_older(&values[values[one].base], &values[values[other].base]) ? other :
											   one;
	uint32_t added = base == one ? other : one;
	struct value value = values[base];
	uint32_t number;

	if (values[one].base == values[other].base)
		return lm_format_fail(follow->why, EBADMSG,
				      "line %u: the step sums a chunk with what is in it already",
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

static int add_event(struct follow *follow, const struct event *event)
{
	if (GROW(follow->events))
		return lm_format_no_memory(follow->why);
	follow->events.list[follow->events.count++] = *event;
	return 0;
}

/* A chunk that a step receives, as a value of its own; or what was noted. It is sent in the round in which it arrives. */
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
	int ret = add_event(follow, &sends);

	if (!ret)
		ret = add_event(follow, &arrives);
	if (ret)
		return ret;
	return add_value(follow, &value) ? (int64_t)value.base : lm_format_no_memory(follow->why);
}

/* What a step has of its chunk number @at: what it received, what is at src, or the sum of both; or what was noted. */
static int64_t gather(struct follow *follow, const struct step *step, uint32_t at, uint32_t round)
{
	uint32_t gpu = gpu_of_step(follow, step);
	int64_t received = 0, there = 0;

	if (step->does & RECEIVES)
		received = receive(follow, step, at, round);
	if (received >= 0 && step->does & READS) {
		there = read_value(follow, gpu,
				   follow->starts[step->src.buffer][gpu] + step->src.offset + at);
		if (!there)
			return lm_format_fail(follow->why, EBADMSG,
					      "line %u: there is nothing at %c %u of gpu %u yet",
					      step->line, "ios"[step->src.buffer],
					      step -> src.offset + at, gpu);
	}
	if (received < 0 || there < 0)
		return received < 0 ? received : there;
	if (step->does == STEP_RE) {
		received = read_value(
			follow, gpu, follow->starts[step->dst.buffer][gpu] + step->dst.offset + at);
		if (!received)
			return lm_format_fail(follow->why, EBADMSG,
					      "line %u: there is nothing at %c %u of gpu %u yet",
					      step->line, "ios"[step->dst.buffer],
					      step -> dst.offset + at, gpu);
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
		const struct gpu *gpu = gpu_of(follow, block->gpu);
		const struct block *there = &program->blocks.list[gpu->first + step->waits_block];
		const struct timing *other = &follow->timing[there->first + step->waits_step];

		timing->next_receive = larger(timing->next_receive, other->late_receive);
		timing->next_send = larger(timing->next_send, other->late_send);
	}
	if (step->sender != NONE)
		timing->next_receive =
			larger(timing->next_receive, follow->timing[step->sender].last);
}

/* @round: in which it received; @ready: the first in which what it has can be sent. */
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
	const struct gpu *gpu = gpu_of(follow, gpu_of_step(follow, step));
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

/* All that a step waits for: the one before, depid and deps, who sends. */
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
				      "line %u: the step waits for itself, by way of others",
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

/* ----------------------------------------------------------------------- chunks */

static int by_gpu(const void *one, const void *other, void *context)
{
	const struct origin *list = context;
	const struct origin *a = &list[*(const uint32_t *)one],
			    *b = &list[*(const uint32_t *)other];

	if (a->gpu != b->gpu)
		return a->gpu < b->gpu ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* One more input of a chunk, in the order of gpus. */
static int add_part(struct follow *follow, const struct origin *origin, struct chunk *chunk)
{
	if (chunk->parts && chunk->last == origin->gpu)
		return lm_format_fail(follow->why, EBADMSG,
				      "inputs %u and others of gpu %u are summed", origin->index,
				      origin->gpu);
	if (chunk->parts && follow->program->coll != CUSTOM && chunk->index != origin->index)
		return lm_format_fail(follow->why, EBADMSG,
				      "input %u of gpu %u is summed with input %u of gpu %u",
				      origin->index, origin->gpu, chunk->index, chunk->begins);
	if (!chunk->parts) {
		chunk->begins = origin->gpu;
		chunk->index = origin->index;
	}
	chunk->parts++;
	chunk->last = origin->gpu;
	return 0;
}

/* Number chunks in the order of their first inputs. */
static int find_chunks(struct follow *follow)
{
	uint32_t count = follow->origins.count;
	uint32_t *sorted = calloc((size_t)count + 1, sizeof(*sorted));
	int ret = sorted ? 0 : lm_format_no_memory(follow->why);

	for (uint32_t at = 0; !ret && at < count; at++) {
		sorted[at] = at;
		follow->origins.list[at].chunk = NONE;
	}
	if (!ret)
		qsort_r(sorted, count, sizeof(*sorted), by_gpu, follow->origins.list);
	for (uint32_t at = 0; !ret && at < count; at++) {
		struct origin *origin = &follow->origins.list[sorted[at]];
		struct origin *first = &follow->origins.list[representative(follow, sorted[at])];

		if (first->chunk == NONE) {
			if (GROW(follow->chunks)) {
				ret = lm_format_no_memory(follow->why);
				break;
			}
			first->chunk = follow->chunks.count;
			follow->chunks.list[follow->chunks.count++] = (struct chunk){ 0 };
		}
		origin->chunk = first->chunk;
		ret = add_part(follow, origin, &follow->chunks.list[first->chunk]);
	}
	free(sorted);
	return ret;
}

static int check_parts(const struct follow *follow)
{
	uint32_t gpus = follow->program->gpus_count;

	for (uint32_t at = 0; at < follow->chunks.count; at++) {
		struct chunk *chunk = &follow->chunks.list[at];

		if (chunk->parts != 1 && chunk->parts != gpus)
			return lm_format_fail(
				follow->why, EBADMSG,
				"input %u of gpu %u is summed with that of %u of the other %u gpus",
				chunk->index, chunk->begins, chunk->parts - 1, gpus - 1);
		if (chunk->parts == gpus && gpus > 1)
			chunk->begins = MORPH_EACH_RANK;
		chunk->last = NONE;
	}
	return 0;
}

/* Whether an output is what the name of the collective promises. */
static bool is_promised(const struct follow *follow, const struct chunk *chunk, uint32_t gpu,
			uint32_t index)
{
	uint32_t each = follow->program->gpus_count > 1 ? MORPH_EACH_RANK : 0;
	uint32_t share = follow->share;

	switch (follow->program->coll) {
	case ALL_REDUCE:
		return chunk->begins == each && chunk->index == index;
	case REDUCE_SCATTER:
		return chunk->begins == each && chunk->index == gpu * share + index;
	case ALL_GATHER:
		return chunk->begins == index / share && chunk->index == index % share;
	case ALL_TO_ALL:
		return chunk->begins == index / share &&
		       chunk->index == gpu * share + index % share;
	case BROADCAST:
		return chunk->parts == 1 && chunk->index == index &&
		       chunk->begins == follow->chunks.list[0].begins;
	default:
		return true;
	}
}

/* What is in a gpu's output in the end. */
static int find_output(struct follow *follow, uint32_t gpu, uint32_t index)
{
	const struct gpu *about = gpu_of(follow, gpu);
	int64_t found = read_value(follow, gpu, follow->starts[OUTPUT][gpu] + index);
	const struct value *value = &follow->values.list[found > 0 ? found : 0];
	struct event event = { .rank = gpu,
			       .origin = value->origin,
			       .round = NONE,
			       .base = value->base,
			       .merged = value->merged,
			       .line = about->line };

	if (found < 0)
		return (int)found;
	if (!found && follow->program->coll == CUSTOM)
		return 0;
	if (!found)
		return lm_format_fail(follow->why, EBADMSG,
				      "line %u: output %u of gpu %u is empty in the end",
				      about->line, index, gpu);
	return add_event(follow, &event);
}

/* Events that are outputs tell where chunks end; they come by gpu. */
static int find_ends(struct follow *follow, uint32_t first)
{
	const uint32_t *starts = follow->starts[OUTPUT];

	for (uint32_t at = first; at < follow->events.count; at++) {
		const struct event *event = &follow->events.list[at];
		struct chunk *chunk =
			&follow->chunks.list[follow->origins.list[event->origin].chunk];

		if (chunk->last != event->rank) {
			chunk->copies++;
			chunk->ends = chunk->last = event->rank;
		}
	}
	if (follow->program->coll == CUSTOM)
		return 0;
	for (uint32_t gpu = 0; gpu < follow->program->gpus_count; gpu++) {
		for (uint32_t index = 0; index < follow->outputs; index++) {
			uint32_t value = follow->places[starts[gpu] + index];
			uint32_t origin = follow->values.list[value].origin;
			uint32_t chunk = follow->origins.list[origin].chunk;

			if (!is_promised(follow, &follow->chunks.list[chunk], gpu, index))
				return lm_format_fail(
					follow->why, EBADMSG,
					"line %u: output %u of gpu %u is not what it should be in the end",
					gpu_of(follow, gpu)->line, index, gpu);
		}
	}
	return 0;
}

static int check_ends(const struct follow *follow)
{
	uint32_t gpus = follow->program->gpus_count;

	for (uint32_t at = 0; at < follow->chunks.count; at++) {
		struct chunk *chunk = &follow->chunks.list[at];

		if (chunk->copies != 1 && chunk->copies != gpus)
			return lm_format_fail(follow->why, EBADMSG,
					      "input %u of gpu %u ends at %u of %u gpus",
					      chunk->index,
					      chunk->begins == MORPH_EACH_RANK ? 0 : chunk->begins,
					      chunk->copies, gpus);
		if (chunk->copies == gpus && gpus > 1)
			chunk->ends = MORPH_EACH_RANK;
	}
	return 0;
}

static int follow_outputs(struct follow *follow)
{
	uint32_t first = follow->events.count;
	int ret = 0;

	for (uint32_t gpu = 0; !ret && gpu < follow->program->gpus_count; gpu++)
		for (uint32_t index = 0; !ret && index < outputs_of(follow, gpu); index++)
			ret = find_output(follow, gpu, index);
	if (!ret)
		ret = find_chunks(follow);
	if (!ret)
		ret = check_parts(follow);
	if (!ret)
		ret = find_ends(follow, first);
	return ret ? ret : check_ends(follow);
}

/* --------------------------------------------------- one of each chunk at a rank */

static uint32_t chunk_of(const struct follow *follow, const struct event *event)
{
	return follow->origins.list[event->origin].chunk;
}

/* By chunk, rank and round; what is sent in a round is what was there before it. */
static int by_holder(const void *one, const void *other, void *context)
{
	const struct event *a = one, *b = other;
	uint32_t left[] = { chunk_of(context, a), a->rank, a->round, a->arrives, a->base };
	uint32_t right[] = { chunk_of(context, b), b->rank, b->round, b->arrives, b->base };

	for (size_t at = 0; at < sizeof(left) / sizeof(*left); at++)
		if (left[at] != right[at])
			return left[at] < right[at] ? -1 : 1;
	return 0;
}

/* What a rank has of a chunk. */
struct held {
	uint32_t base, merged; /* base 0: its own input */
	uint32_t replaced, changed; /* in which rounds at last, or NONE */
};

static int hold_event(const struct follow *follow, const struct event *event, struct held *held)
{
	const struct value *base = &follow->values.list[event->base];
	bool clash;

	if (!event->arrives) {
		if (held->base == (base->arrived ? event->base : 0) &&
		    held->merged == event->merged)
			return 0;
		return lm_format_fail(
			follow->why, EBADMSG,
			"line %u: gpu %u has this chunk at another place, otherwise summed",
			event->line, event->rank);
	}
	clash = base->summed ? held->replaced == event->round : held->changed == event->round;
	if (clash)
		return lm_format_fail(follow->why, EBADMSG,
				      "line %u: gpu %u gets this chunk a second time in a round",
				      event->line, event->rank);
	held->changed = event->round;
	held->merged++;
	if (!base->summed)
		*held = (struct held){ .base = event->base,
				       .replaced = event->round,
				       .changed = event->round };
	return 0;
}

static int check_holders(struct follow *follow)
{
	const struct held none = { .replaced = NONE, .changed = NONE };
	struct event *events = follow->events.list;
	struct held held = none;
	int ret = 0;

	if (follow->events.count)
		qsort_r(events, follow->events.count, sizeof(*events), by_holder, follow);
	for (uint32_t at = 0; !ret && at < follow->events.count; at++) {
		if (at && (events[at].rank != events[at - 1].rank ||
			   chunk_of(follow, &events[at]) != chunk_of(follow, &events[at - 1])))
			held = none;
		ret = hold_event(follow, &events[at], &held);
	}
	return ret;
}

/* ------------------------------------------------------------------- collectives */

/* By round, who sends, whether it is summed, chunk. */
static int by_transfer(const void *one, const void *other, void *context)
{
	const struct follow *follow = context;
	const struct event *a = one, *b = other;
	uint32_t left[] = { a->round, a->block, follow->values.list[a->base].summed,
			    chunk_of(follow, a), a->base };
	uint32_t right[] = { b->round, b->block, follow->values.list[b->base].summed,
			     chunk_of(follow, b), b->base };

	for (size_t at = 0; at < sizeof(left) / sizeof(*left); at++)
		if (left[at] != right[at])
			return left[at] < right[at] ? -1 : 1;
	return 0;
}

/* What is sent and output goes; arrivals stay. */
static void keep_arrivals(struct follow *follow)
{
	uint32_t kept = 0;

	for (uint32_t at = 0; at < follow->events.count; at++)
		if (follow->events.list[at].arrives)
			follow->events.list[kept++] = follow->events.list[at];
	follow->events.count = kept;
	if (kept)
		qsort_r(follow->events.list, kept, sizeof(*follow->events.list), by_transfer,
			follow);
}

/* One transfer, of the events from *at on; moves *at behind them. */
static int add_transfer(const struct follow *follow, struct morph_collective *collective,
			uint32_t *at)
{
	const struct event *events = follow->events.list, *first = &events[*at];
	bool summed = follow->values.list[first->base].summed;
	int ret = morph_collective_add_transfer(collective, first->src, first->rank, summed);

	while (ret >= 0 && *at < follow->events.count) {
		const struct event *event = &events[*at];
		uint32_t chunk = chunk_of(follow, event), run = 1;

		if (event->round != first->round || event->block != first->block ||
		    follow->values.list[event->base].summed != summed)
			break;
		while (*at + run < follow->events.count &&
		       events[*at + run].round == first->round &&
		       events[*at + run].block == first->block &&
		       follow->values.list[events[*at + run].base].summed == summed &&
		       chunk_of(follow, &events[*at + run]) == chunk + run)
			run++;
		ret = morph_collective_add_run(collective, chunk, run);
		*at += run;
	}
	return ret;
}

static int fill(const struct follow *follow, struct morph_collective *collective, uint64_t bytes)
{
	const struct program *program = follow->program;
	const struct gpu *first = gpu_of(follow, 0);
	uint32_t shares = program->chunks_per_loop ?
				  program->chunks_per_loop :
				  larger(larger(first->chunks[INPUT], first->chunks[OUTPUT]), 1);
	uint64_t share = bytes / shares + (bytes % shares != 0);
	uint32_t at = 0;
	int ret = morph_collective_begin(collective, program->gpus_count);

	for (uint32_t chunk = 0; ret >= 0 && chunk < follow->chunks.count; chunk++)
		ret = morph_collective_add_chunk(collective, follow->chunks.list[chunk].begins,
						 follow->chunks.list[chunk].ends, share);
	while (ret >= 0 && at < follow->events.count) {
		uint32_t round = follow->events.list[at].round;

		ret = morph_collective_add_round(collective);
		while (ret >= 0 && at < follow->events.count &&
		       follow->events.list[at].round == round)
			ret = add_transfer(follow, collective, &at);
	}
	return lm_format_added(follow->why, ret < 0 ? ret : 0);
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
		ret = follow_outputs(&follow);
	if (!ret)
		ret = check_holders(&follow);
	if (!ret) {
		keep_arrivals(&follow);
		ret = fill(&follow, collective, bytes);
	}
	release(&follow);
	return ret;
}
