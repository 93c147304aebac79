// SPDX-License-Identifier: GPL-2.0-only
/* Random numbers from a seed, and the log of an actor. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../libmorph/util/mix.h"
#include "stress.h"

unsigned int pick(uint64_t *seed, unsigned int limit)
{
	uint64_t number = mix_next(seed);

	return limit ? number % limit : 0;
}

const struct act *actor_choose(struct actor *actor, const struct act *acts)
{
	uint64_t own = actor->seed ^ (uint64_t)actor->done << 32;
	const struct act *act;
	unsigned int sum = 0, at;

	for (act = acts; act->name; act++)
		sum += act->weight;
	actor->done++;
	at = pick(&own, sum);
	for (act = acts; at >= act->weight; act++)
		at -= act->weight;
	actor->chance = own;
	return act;
}

/* Write each line with one write(): a process that is killed leaves only whole lines. */
void actor_log(struct actor *actor, const char *format, ...)
{
	char line[200];
	va_list arguments;
	int bytes;

	if (actor->log < 0)
		return;
	va_start(arguments, format);
	bytes = vsnprintf(line, sizeof(line) - 1, format, arguments);
	va_end(arguments);
	line[bytes++] = '\n';
	if (write(actor->log, line, bytes) != bytes)
		_exit(1);
}

void actor_act(struct actor *actor, const struct act *acts, void *who)
{
	const struct act *act = actor_choose(actor, acts);
	int error;

	actor_log(actor, "%u %s", actor->done, act->name);
	error = act->run(who);
	actor_log(actor, "= %u %s", actor->done, error ? strerrorname_np(error) : "0");
	if (actor->count)
		(*actor->count)++;
}
