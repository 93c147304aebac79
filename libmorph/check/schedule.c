// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks a schedule. */
#include <morph/wire.h>

#include "schedule.h"

static int read_delay(struct schedule_check *it, const struct morph_check_bytes *bytes)
{
	struct delay *delay = &it->delay;
	uint64_t *const numbers[] = { &delay->round_ps, &delay->hop_ps, &delay->mbps,
				      &delay->change_ps, &delay->port_ps };
	size_t words = 0;
	const uint8_t *at = ck_body(bytes, MORPH_WIRE_DELAY, &words);

	if (!at || words != 11)
		return ck_wrong(&it->check, EINVAL, "the delay is malformed");
	delay->scope = word(at, 0);
	for (size_t number = 0; number < 5; number++)
		*numbers[number] = word(at, 1 + 2 * number) | (uint64_t)word(at, 2 + 2 * number)
								      << 32;
	if (delay->scope > 2 || !delay->mbps)
		return ck_wrong(&it->check, EINVAL, "the delay is malformed");
	return 0;
}

static int judge(struct schedule_check *it, const struct schedule *after, uint32_t planes)
{
	const struct schedule *schedule = &it->schedule;
	int ret;

	if (schedule->ranks != it->collective.ranks || schedule->planes != planes)
		return ck_wrong(&it->check, EBADMSG, "it has %u ranks and %u planes, not %u and %u",
				schedule->ranks, schedule->planes, it->collective.ranks, planes);
	if (schedule->verdict != 1)
		return ck_wrong(&it->check, EBADMSG, "verdict %u is not valid for a schedule",
				schedule->verdict);
	ret = ck_schedule_light(it, after);
	if (!ret)
		ret = ck_schedule_sends(it);
	if (!ret)
		ret = ck_schedule_data(it);
	return ret ? ret : ck_schedule_bound(it);
}

int morph_check_schedule(const struct morph_check_schedule_input *input, char *report, size_t room)
{
	struct schedule_check it = { .check = { .report = report,
						.report_room = report ? room : 0 } };
	struct schedule after = { 0 };
	bool follows = input->after.data;
	int ret;

	if (it.check.report_room)
		report[0] = '\0';
	ret = ck_collective_read(&it.check, &input->collective, &it.collective);
	if (!ret)
		ret = read_delay(&it, &input->delay);
	if (!ret && follows)
		ret = ck_schedule_read(&it.check, &input->after, &after);
	if (!ret)
		ret = ck_schedule_read(&it.check, &input->schedule, &it.schedule);
	if (!ret)
		ret = judge(&it, follows ? &after : NULL, input->planes);
	ck_collective_free(&it.collective);
	ck_schedule_free(&it.schedule);
	ck_schedule_free(&after);
	return ret;
}
