// SPDX-License-Identifier: LGPL-2.1-or-later
/* Convert schedules written by hand to the wire form. */
#include "by_hand.h"

#define ROOM 1024 /* words */

struct sheet {
	uint32_t words[ROOM];
	size_t count;
};

static void put(struct sheet *sheet, uint32_t word)
{
	assert_true(sheet->count < ROOM);
	sheet->words[sheet->count++] = word;
}

static void put_long(struct sheet *sheet, uint64_t number)
{
	put(sheet, (uint32_t)number);
	put(sheet, (uint32_t)(number >> 32));
}

static void put_part(struct sheet *sheet, struct hand_part part)
{
	put(sheet, part.first);
	put(sheet, part.count);
}

static void begin_sheet(struct sheet *sheet, const struct hand_form *form)
{
	sheet->count = 0;
	put(sheet, MORPH_WIRE_MAGIC);
	put(sheet, MORPH_WIRE_VERSION);
	put(sheet, form->kind);
	put(sheet, 0);
	put(sheet, 0);
}

/* Returns the length in bytes. */
static size_t end_sheet(struct sheet *sheet, const struct hand_form *form)
{
	for (int32_t more = 0; more < form->more; more++)
		put(sheet, 0);
	if (form->more < 0)
		sheet->count -= (size_t)-form->more;
	sheet->words[4] = (uint32_t)sheet->count;
	return 4 * sheet->count;
}

static size_t put_collective(struct sheet *sheet, const struct hand_collective *collective)
{
	begin_sheet(sheet, &collective->form);
	put(sheet, collective->ranks);
	put(sheet, collective->chunks_count);
	put(sheet, collective->rounds_count);
	put(sheet, collective->transfers_count);
	put(sheet, collective->runs_count);
	for (uint32_t at = 0; at < collective->chunks_count; at++) {
		put(sheet, collective->chunks[at].begins);
		put(sheet, collective->chunks[at].ends);
		put_long(sheet, collective->chunks[at].bytes);
	}
	for (uint32_t at = 0; at < collective->rounds_count; at++)
		put_part(sheet, collective->rounds[at]);
	for (uint32_t at = 0; at < collective->transfers_count; at++) {
		put(sheet, collective->transfers[at].src);
		put(sheet, collective->transfers[at].dst);
		put(sheet, collective->transfers[at].reduce);
		put_part(sheet, collective->transfers[at].runs);
	}
	for (uint32_t at = 0; at < collective->runs_count; at++)
		put_part(sheet, collective->runs[at]);
	return end_sheet(sheet, &collective->form);
}

static size_t put_delay(struct sheet *sheet, const struct hand_delay *delay)
{
	begin_sheet(sheet, &delay->form);
	put(sheet, delay->scope);
	put_long(sheet, delay->round_ps);
	put_long(sheet, delay->hop_ps);
	put_long(sheet, delay->mbps);
	put_long(sheet, delay->change_ps);
	put_long(sheet, delay->port_ps);
	return end_sheet(sheet, &delay->form);
}

static void put_hold(struct sheet *sheet, const struct hand_hold *hold)
{
	put(sheet, hold->plane);
	put(sheet, hold->matching);
	put_long(sheet, hold->set);
	put_long(sheet, hold->lit);
	put_long(sheet, hold->dark);
}

static void put_send(struct sheet *sheet, const struct hand_send *send)
{
	put(sheet, send->round);
	put_part(sheet, send->transfers);
	put_part(sheet, send->hops);
	put_long(sheet, send->bytes);
	put_long(sheet, send->from);
	put_long(sheet, send->until);
}

static size_t put_schedule(struct sheet *sheet, const struct hand_schedule *schedule)
{
	begin_sheet(sheet, &schedule->form);
	put(sheet, schedule->verdict);
	put(sheet, schedule->ranks);
	put(sheet, schedule->planes);
	put_long(sheet, schedule->finish);
	put(sheet, schedule->bound_kind);
	put_long(sheet, schedule->bound);
	put(sheet, schedule->residents);
	put(sheet, schedule->matchings_count);
	put(sheet, schedule->circuits_count);
	put(sheet, schedule->holds_count);
	put(sheet, schedule->sends_count);
	put(sheet, schedule->hops_count);
	for (uint32_t at = 0; at < schedule->matchings_count; at++)
		put_part(sheet, schedule->matchings[at]);
	for (uint32_t at = 0; at < schedule->circuits_count; at++) {
		put(sheet, schedule->circuits[at].src);
		put(sheet, schedule->circuits[at].dst);
	}
	for (uint32_t at = 0; at < schedule->holds_count; at++)
		put_hold(sheet, &schedule->holds[at]);
	for (uint32_t at = 0; at < schedule->sends_count; at++)
		put_send(sheet, &schedule->sends[at]);
	for (uint32_t at = 0; at < schedule->hops_count; at++)
		put(sheet, schedule->hops[at]);
	return end_sheet(sheet, &schedule->form);
}

int check_hand(const struct hand *hand, char report[256])
{
	struct sheet collective, delay, schedule, after;
	const struct written written = {
		.planes = hand->planes,
		.collective = collective.words,
		.collective_bytes = put_collective(&collective, &hand->collective),
		.delay = delay.words,
		.delay_bytes = put_delay(&delay, &hand->delay),
		.schedule = schedule.words,
		.schedule_bytes = put_schedule(&schedule, &hand->schedule),
		.after = hand->follows ? after.words : NULL,
		.after_bytes = hand->follows ? put_schedule(&after, &hand->after) : 0,
	};

	return check_written(&written, report);
}

void assert_legal_at(const struct hand *hand, const char *file, int line)
{
	char report[256];

	_assert_true(!check_hand(hand, report), report, file, line);
	_assert_string_equal(report, "", file, line);
}

void assert_report_at(const struct hand *hand, const char *text, const char *file, int line)
{
	char report[256];

	_assert_true(check_hand(hand, report) < 0, text, file, line);
	_assert_string_equal(report, text, file, line);
}
