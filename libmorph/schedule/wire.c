// SPDX-License-Identifier: LGPL-2.1-or-later
/* Collectives and schedules in the format of <morph/wire.h>. */
#include "../util/words.h"
#include "schedule.h"

MORPH_API ssize_t morph_collective_write(const struct morph_collective *collective, void *buffer,
					 size_t bytes)
{
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_COLLECTIVE, 0);

	words_put(&words, collective->ranks);
	words_put(&words, collective->chunks.count);
	words_put(&words, collective->rounds.count);
	words_put(&words, collective->transfers.count);
	words_put(&words, collective->runs.count);
	for (uint32_t at = 0; at < collective->chunks.count; at++) {
		words_put(&words, collective->chunks.list[at].begins);
		words_put(&words, collective->chunks.list[at].ends);
		words_put_long(&words, collective->chunks.list[at].bytes);
	}
	for (uint32_t at = 0; at < collective->rounds.count; at++) {
		words_put(&words, collective->rounds.list[at].first);
		words_put(&words, collective->rounds.list[at].count);
	}
	for (uint32_t at = 0; at < collective->transfers.count; at++) {
		const struct transfer *transfer = &collective->transfers.list[at];

		words_put(&words, transfer->src);
		words_put(&words, transfer->dst);
		words_put(&words, transfer->reduce);
		words_put(&words, transfer->first);
		words_put(&words, transfer->count);
	}
	for (uint32_t at = 0; at < collective->runs.count; at++) {
		words_put(&words, collective->runs.list[at].first);
		words_put(&words, collective->runs.list[at].count);
	}
	return words_end(&words);
}

ssize_t morph_delay_write(const struct morph_delay *delay, uint32_t ranks, void *buffer,
			  size_t bytes)
{
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_DELAY, 0);
	struct costs costs = lm_delay_costs(delay, ranks);

	words_put(&words, costs.scope);
	words_put_long(&words, costs.round_ps);
	words_put_long(&words, costs.hop_ps);
	words_put_long(&words, costs.mbps);
	words_put_long(&words, costs.change_ps);
	words_put_long(&words, costs.port_ps);
	return words_end(&words);
}

ssize_t morph_schedule_write(const struct morph_schedule *schedule, void *buffer, size_t bytes)
{
	struct words words = words_begin(buffer, bytes, MORPH_WIRE_SCHEDULE, 0);

	words_put(&words, schedule->verdict);
	words_put(&words, schedule->ranks);
	words_put(&words, schedule->planes);
	words_put_long(&words, schedule->finish_ps);
	words_put(&words, schedule->bound_kind);
	words_put_long(&words, schedule->bound_ps);
	words_put(&words, schedule->residents);
	words_put(&words, schedule->matchings.count);
	words_put(&words, schedule->circuits.count);
	words_put(&words, schedule->holds.count);
	words_put(&words, schedule->sends.count);
	words_put(&words, schedule->hops.count);
	for (uint32_t at = 0; at < schedule->matchings.count; at++) {
		words_put(&words, schedule->matchings.list[at].first);
		words_put(&words, schedule->matchings.list[at].count);
	}
	for (uint32_t at = 0; at < schedule->circuits.count; at++) {
		words_put(&words, schedule->circuits.list[at].src);
		words_put(&words, schedule->circuits.list[at].dst);
	}
	for (uint32_t at = 0; at < schedule->holds.count; at++) {
		const struct hold *hold = &schedule->holds.list[at];

		words_put(&words, hold->plane);
		words_put(&words, hold->matching);
		words_put_long(&words, hold->set_ps);
		words_put_long(&words, hold->lit_ps);
		words_put_long(&words, hold->dark_ps);
	}
	for (uint32_t at = 0; at < schedule->sends.count; at++) {
		const struct send *send = &schedule->sends.list[at];

		words_put(&words, send->round);
		words_put(&words, send->first);
		words_put(&words, send->count);
		words_put(&words, send->hops_first);
		words_put(&words, send->hops);
		words_put_long(&words, send->bytes);
		words_put_long(&words, send->from_ps);
		words_put_long(&words, send->until_ps);
	}
	for (uint32_t at = 0; at < schedule->hops.count; at++)
		words_put(&words, schedule->hops.list[at]);
	return words_end(&words);
}
