// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * MSCCL's XML: from a collective to a program.
 *
 * On each channel, a gpu has a threadblock for each gpu that it sends to, and for each gpu that it
 * receives from. In addition it has one threadblock, the gate, with a nop for each step of the
 * others, round by round, sends before receives. Each step waits for its nop. A step of a round
 * waits for the last step of the preceding round in which the gpu did anything. A receive into a
 * chunk that is sent in the same round waits for the last send. Sums at the same place in a round
 * wait for each other.
 */
#include "msccl_write.h"

/* --------------------------------------------------------------------------- acts */

static int compare(const uint32_t *left, const uint32_t *right, size_t count)
{
	for (size_t at = 0; at < count; at++)
		if (left[at] != right[at])
			return left[at] < right[at] ? -1 : 1;
	return 0;
}

/* By round and pair of ranks; equal entries need different channels. */
static int by_pair(const void *one, const void *other, void *context)
{
	const struct view *view = context;
	const uint32_t *a = one, *b = other;
	const uint32_t *first = lm_msccl_transfer(view, a[1]),
		       *second = lm_msccl_transfer(view, b[1]);
	const uint32_t left[] = { a[0], first[0], first[1], a[1] };
	const uint32_t right[] = { b[0], second[0], second[1], b[1] };

	return compare(left, right, 4);
}

/* @list: round and number of each transfer. */
static void find_channels(struct writer *writer, uint32_t (*list)[2])
{
	struct view *view = &writer->view;
	uint32_t count = 0;

	for (uint32_t round = 0; round < view->rounds_count; round++)
		for (uint32_t at = 0; at < view->rounds[ROUND * (size_t)round + 1]; at++, count++) {
			list[count][0] = round;
			list[count][1] = count;
		}
	qsort_r(list, count, sizeof(*list), by_pair, view);
	for (uint32_t at = 0; at < count; at++) {
		const uint32_t *transfer = lm_msccl_transfer(view, list[at][1]);
		const uint32_t *before = at ? lm_msccl_transfer(view, list[at - 1][1]) : NULL;
		uint32_t channel = 0;

		if (at && list[at][0] == list[at - 1][0] && transfer[0] == before[0] &&
		    transfer[1] == before[1])
			channel = writer->channel[list[at - 1][1]] + 1;
		writer->channel[list[at][1]] = channel;
		if (channel >= writer->channels)
			writer->channels = channel + 1;
	}
}

static int add_act(struct writer *writer, const struct act *act)
{
	if (GROW(writer->acts))
		return lm_format_no_memory(writer->why);
	writer->acts.list[writer->acts.count++] = *act;
	return 0;
}

/* Whether a chunk directly follows the preceding one at a rank. */
static bool is_beside(struct writer *writer, uint32_t chunk, uint32_t rank)
{
	uint32_t before, here;
	char buffer = lm_msccl_buffer(writer, chunk - 1, rank, &before);

	return buffer == lm_msccl_buffer(writer, chunk, rank, &here) &&
	       before + writer->spots[chunk - 1].units == here;
}

/* Extend the scratch buffer for an act. */
static void reach(struct writer *writer, const struct act *act)
{
	uint32_t chunk = act->first + act->count - 1, offset;

	if (lm_msccl_buffer(writer, chunk, act->gpu, &offset) == 's' &&
	    offset + writer->spots[chunk].units > writer->scratch)
		writer->scratch = offset + writer->spots[chunk].units;
}

/* Both ends of a run of a transfer, in one piece for each contiguous range. */
static int list_run(struct writer *writer, uint32_t round, uint32_t number, const uint32_t *run)
{
	const uint32_t *transfer = lm_msccl_transfer(&writer->view, number);
	struct act act = { .channel = writer->channel[number],
			   .round = round,
			   .sums = transfer[2],
			   .gate = NONE };
	int ret = 0;

	for (uint32_t chunk = run[0]; !ret && chunk < run[0] + run[1]; chunk += act.count) {
		if (!writer->spots[chunk].units)
			return lm_format_fail(
				writer->why, EINVAL,
				"round %u: rank %u sends chunk %u without bytes together with chunks that have bytes",
				round, transfer[0], chunk);
		act.first = chunk;
		act.count = 1;
		while (chunk + act.count < run[0] + run[1] &&
		       writer->spots[chunk + act.count].units &&
		       is_beside(writer, chunk + act.count, transfer[0]) &&
		       is_beside(writer, chunk + act.count, transfer[1]))
			act.count++;
		for (int end = 0; !ret && end < 2; end++) {
			act.gpu = transfer[end];
			act.peer = transfer[!end];
			act.sends = !end;
			reach(writer, &act);
			ret = add_act(writer, &act);
		}
	}
	return ret;
}

static int list_acts(struct writer *writer)
{
	const struct view *view = &writer->view;
	uint32_t number = 0;
	int ret = 0;

	for (uint32_t round = 0; !ret && round < view->rounds_count; round++) {
		for (uint32_t at = 0; !ret && at < view->rounds[ROUND * (size_t)round + 1];
		     at++, number++) {
			const uint32_t *transfer = lm_msccl_transfer(view, number);

			for (uint32_t run = 0; !ret && run < transfer[4]; run++)
				ret = list_run(writer, round, number,
					       &view->runs[RUN * ((size_t)transfer[3] + run)]);
		}
	}
	return ret;
}

/* Threadblocks of a gpu in order, each with its steps. */
static int by_block(const void *one, const void *other, void *context)
{
	const struct act *acts = context;
	uint32_t first = *(const uint32_t *)one, second = *(const uint32_t *)other;
	const struct act *a = &acts[first], *b = &acts[second];
	const uint32_t left[] = { a->gpu, !a->sends, a->peer, a->channel, first };
	const uint32_t right[] = { b->gpu, !b->sends, b->peer, b->channel, second };

	return compare(left, right, 5);
}

static int by_round(const void *one, const void *other, void *context)
{
	const struct act *acts = context;
	uint32_t first = *(const uint32_t *)one, second = *(const uint32_t *)other;
	const struct act *a = &acts[first], *b = &acts[second];
	const uint32_t left[] = { a->gpu, a->round, !a->sends, first };
	const uint32_t right[] = { b->gpu, b->round, !b->sends, second };

	return compare(left, right, 4);
}

static int sort_acts(struct writer *writer)
{
	size_t count = writer->acts.count;

	writer->by_block = calloc(count + 1, sizeof(*writer->by_block));
	writer->by_round = calloc(count + 1, sizeof(*writer->by_round));
	if (!writer->by_block || !writer->by_round)
		return lm_format_no_memory(writer->why);
	for (uint32_t at = 0; at < count; at++)
		writer->by_block[at] = writer->by_round[at] = at;
	if (count) {
		qsort_r(writer->by_block, count, sizeof(uint32_t), by_block, writer->acts.list);
		qsort_r(writer->by_round, count, sizeof(uint32_t), by_round, writer->acts.list);
	}
	return 0;
}

/* -------------------------------------------------------------------------- waits */

/* Whether an act must wait for another act on the same chunk in the round. */
static int find_wait(struct writer *writer, struct act *act, const struct touch *touch,
		     bool *conflict)
{
	uint32_t last = act->waits ? writer->waits.list[writer->waits.count - 1] : NONE;

	if (act->sends || touch->gpu != act->gpu || touch->round != act->round)
		return 0;
	if (touch->act == NONE) {
		*conflict = true;
		return 0;
	}
	if (touch->act == last)
		return 0;
	if (GROW(writer->waits))
		return lm_format_no_memory(writer->why);
	writer->waits.list[writer->waits.count++] = touch->act;
	act->waits++;
	return 0;
}

/*
 * A receive waits for acts on the same chunks in the round. @sent: the gate's step of the last
 * send, or of each sum. All other acts wait for @before.
 */
static int find_waits(struct writer *writer, uint32_t number, uint32_t before, uint32_t sent)
{
	struct act *act = &writer->acts.list[number];
	bool conflict = false;
	int ret = 0;

	act->waits_first = writer->waits.count;
	for (uint32_t chunk = act->first; !ret && chunk < act->first + act->count; chunk++) {
		ret = find_wait(writer, act, &writer->touched[chunk], &conflict);
		writer->touched[chunk] = (struct touch){ .gpu = act->gpu,
							 .round = act->round,
							 .act = act->sends ? NONE : number };
	}
	act->gate = conflict ? sent : before;
	return ret;
}

/* Find what each step of the gates waits for. */
static int find_gates(struct writer *writer)
{
	size_t chunks = (size_t)writer->view.chunks_count + 1;
	uint32_t step = 0, before = NONE, sent = NONE;
	const struct act *acts = writer->acts.list;
	int ret = 0;

	if (!acts)
		return 0;
	writer->touched = malloc(chunks * sizeof(*writer->touched));
	if (!writer->touched)
		return lm_format_no_memory(writer->why);
	memset(writer->touched, 0xff, chunks * sizeof(*writer->touched));
	for (uint32_t at = 0; !ret && at < writer->acts.count; at++) {
		const struct act *act = &acts[writer->by_round[at]];
		const struct act *last = at ? &acts[writer->by_round[at - 1]] : NULL;

		if (!last || last->gpu != act->gpu) {
			step = 0;
			before = NONE;
		} else if (last->round != act->round) {
			before = step - 1;
		}
		ret = find_waits(writer, writer->by_round[at], before, sent);
		if (act->sends)
			sent = step;
		step++;
	}
	return ret;
}

static bool same_block(const struct act *a, const struct act *b)
{
	return a->gpu == b->gpu && a->sends == b->sends && a->peer == b->peer &&
	       a->channel == b->channel;
}

/* Threadblock 0 of each gpu is the gate. Additional waits of a step are nops before it. */
static void number_acts(struct writer *writer)
{
	const struct act *last = NULL;

	for (uint32_t at = 0; at < writer->acts.count; at++) {
		struct act *act = &writer->acts.list[writer->by_block[at]];
		bool same = last && same_block(last, act);

		act->block = same			   ? last->block :
			     last && last->gpu == act->gpu ? last->block + 1 :
							     1;
		act->step = (same ? last->step + 1 : 0) + act->waits;
		last = act;
	}
}

static int make_acts(struct writer *writer)
{
	size_t transfers = (size_t)writer->view.transfers_count + 1;
	uint32_t(*list)[2] = calloc(transfers, sizeof(*list));
	int ret = 0;

	writer->channel = calloc(transfers, sizeof(*writer->channel));
	if (!list || !writer->channel)
		ret = lm_format_no_memory(writer->why);
	else
		find_channels(writer, list);
	free(list);
	if (!ret)
		ret = list_acts(writer);
	if (!ret)
		ret = sort_acts(writer);
	if (!ret)
		ret = find_gates(writer);
	if (!ret)
		number_acts(writer);
	return ret;
}

/* ------------------------------------------------------------------------ writing */

static void put_step(struct writer *writer, uint32_t step, const char *type, char src,
		     uint32_t src_offset, char dst, uint32_t dst_offset, uint32_t count)
{
	lm_format_put(&writer->output,
		      "      <step s=\"%u\" type=\"%s\" srcbuf=\"%c\" srcoff=\"%u\" dstbuf=\"%c\" "
		      "dstoff=\"%u\" cnt=\"%u\"",
		      step, type, src, src_offset, dst, dst_offset, count);
}

static void put_waits(struct writer *writer, uint32_t block, uint32_t step, bool waited_for)
{
	if (step == NONE)
		lm_format_put(&writer->output, " depid=\"-1\" deps=\"-1\" hasdep=\"%d\"/>\n",
			      waited_for);
	else
		lm_format_put(&writer->output, " depid=\"%u\" deps=\"%u\" hasdep=\"%d\"/>\n", block,
			      step, waited_for);
}

static void put_nop(struct writer *writer, uint32_t step, const struct act *waits_for,
		    bool waited_for)
{
	put_step(writer, step, "nop", 'i', 0, 'o', 0, 0);
	put_waits(writer, waits_for->block, waits_for->step, waited_for);
}

/* Chunks that begin and end in different buffers of a gpu are copied at the end. */
static void put_copies(struct writer *writer, uint32_t gpu, uint32_t step)
{
	const struct view *view = &writer->view;

	for (uint32_t chunk = 0; !writer->in_place && chunk < view->chunks_count; chunk++) {
		const struct spot *spot = &writer->spots[chunk];
		uint32_t begins = lm_msccl_begins(view, chunk), ends = lm_msccl_ends(view, chunk);

		if ((begins != gpu && begins != MORPH_EACH_RANK) ||
		    (ends != gpu && ends != MORPH_EACH_RANK) || !spot->units)
			continue;
		put_step(writer, step++, "cpy", 'i', spot->in, 'o', spot->out, spot->units);
		put_waits(writer, 0, NONE, false);
	}
}

/* Write the gate of a gpu with its acts from @first on. */
static void put_gate(struct writer *writer, uint32_t gpu, uint32_t first, uint32_t count)
{
	lm_format_put(&writer->output, "    <tb id=\"0\" send=\"-1\" recv=\"-1\" chan=\"0\">\n");
	for (uint32_t at = 0; at < count; at++)
		put_nop(writer, at, &writer->acts.list[writer->by_round[first + at]], true);
	put_copies(writer, gpu, count);
	lm_format_put(&writer->output, "    </tb>\n");
}

static void put_act(struct writer *writer, const struct act *act)
{
	uint32_t from, to, units = 0;
	char here = lm_msccl_buffer(writer, act->first, act->gpu, &from);
	char there = lm_msccl_buffer(writer, act->first, act->peer, &to);

	for (uint32_t at = 0; at < act->waits; at++)
		put_nop(writer, act->step - act->waits + at,
			&writer->acts.list[writer->waits.list[act->waits_first + at]], false);
	for (uint32_t chunk = act->first; chunk < act->first + act->count; chunk++)
		units += writer->spots[chunk].units;
	if (act->sends)
		put_step(writer, act->step, "s", here, from, there, to, units);
	else
		put_step(writer, act->step, act->sums ? "rrc" : "r", here, from, here, from, units);
	put_waits(writer, 0, act->gate, true);
}

static void put_gpu(struct writer *writer, uint32_t gpu, uint32_t first, uint32_t count)
{
	const struct act *last = NULL;

	lm_format_put(&writer->output,
		      "  <gpu id=\"%u\" i_chunks=\"%u\" o_chunks=\"%u\" s_chunks=\"%u\">\n", gpu,
		      writer->in, writer->out, writer->scratch);
	put_gate(writer, gpu, first, count);
	for (uint32_t at = 0; at < count; at++) {
		const struct act *act = &writer->acts.list[writer->by_block[first + at]];

		if (last && !same_block(last, act))
			lm_format_put(&writer->output, "    </tb>\n");
		if (!last || !same_block(last, act))
			lm_format_put(&writer->output,
				      "    <tb id=\"%u\" send=\"%d\" recv=\"%d\" chan=\"%u\">\n",
				      act->block, act->sends ? (int)act->peer : -1,
				      act->sends ? -1 : (int)act->peer, act->channel);
		put_act(writer, act);
		last = act;
	}
	lm_format_put(&writer->output, "%s  </gpu>\n", last ? "    </tb>\n" : "");
}

static void put_algo(struct writer *writer, const char *name)
{
	uint32_t first = 0;

	lm_format_put(&writer->output,
		      "<algo name=\"%s\" proto=\"Simple\" nchannels=\"%u\" nchunksperloop=\"%u\" "
		      "ngpus=\"%u\" coll=\"%s\" inplace=\"%d\">\n",
		      name, writer->channels, writer->in > writer->out ? writer->in : writer->out,
		      writer->view.ranks, writer->coll, writer->in_place);
	for (uint32_t gpu = 0; gpu < writer->view.ranks; gpu++) {
		uint32_t count = 0;

		while (first + count < writer->acts.count &&
		       writer->acts.list[writer->by_block[first + count]].gpu == gpu)
			count++;
		put_gpu(writer, gpu, first, count);
		first += count;
	}
	lm_format_put(&writer->output, "</algo>\n");
}

MORPH_API ssize_t morph_msccl_write(const struct morph_collective *collective, const char *name,
				    char *buffer, size_t bytes, char *why, size_t room)
{
	const struct why told = { why, room };
	struct writer writer = { .why = &told, .output = { .at = buffer, .room = bytes } };
	int ret = lm_format_check_name(&told, name);

	if (!ret)
		ret = lm_msccl_take_apart(&writer, collective);
	if (!ret)
		ret = lm_msccl_place(&writer);
	if (!ret)
		ret = make_acts(&writer);
	if (!ret)
		put_algo(&writer, name);
	free(writer.view.words);
	free(writer.spots);
	free(writer.channel);
	free(writer.acts.list);
	free(writer.waits.list);
	free(writer.touched);
	free(writer.by_block);
	free(writer.by_round);
	return ret ? ret : lm_format_end(&writer.output);
}
