// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the file of demands for morphctl traffic */
#include <stdlib.h>
#include <string.h>

#include "morphctl/input/input.h"
#include "morphctl/lanes/lanes.h"

#define WAYS 4
#define RENAMED "from=src-host,to=dst-host,lanes=amount-lanes,epoch=decision-epoch"

static enum exit_code wrong(const struct traffic *traffic, const char *where, const char *what)
{
	warn_line("%s: %s%s", traffic->run->argv[0], where, what);
	return EXIT_CODE_USAGE;
}

/* Check that every key is in the list of known keys, which commas separate. */
static enum exit_code check_keys(const struct traffic *traffic, const json_t *object,
				 const char *where, const char *known)
{
	char *stray = document_stray_key(object, known, RENAMED);

	if (!stray)
		return EXIT_CODE_OK;
	warn_line("%s: %s%s", traffic->run->argv[0], where, stray);
	free(stray);
	return EXIT_CODE_USAGE;
}

static bool real(const json_t *object, const char *key, double *value)
{
	const json_t *it = json_object_get(object, key);

	if (it && json_is_number(it))
		*value = json_number_value(it);
	return !it || json_is_number(it);
}

static enum exit_code read_demand(const struct traffic *traffic, size_t number, const json_t *it,
				  struct demand *demand)
{
	uint64_t from = UINT64_MAX, to = UINT64_MAX, controller = 0;
	enum exit_code code;
	char where[32];

	snprintf(where, sizeof(where), "demand %zu: ", number);
	if (!json_is_object(it))
		return wrong(traffic, where, "must be a mapping");
	code = check_keys(traffic, it, where, "src-host,dst-host,amount-lanes,weight,controller");
	if (code)
		return code;
	*demand = (struct demand){ .amount = -1, .weight = 1 };
	if (!document_number(it, "src-host", UINT32_MAX - 1, &from) ||
	    !document_number(it, "dst-host", UINT32_MAX - 1, &to) || from == UINT64_MAX ||
	    to == UINT64_MAX)
		return wrong(traffic, where, "'src-host' and 'dst-host' must be numbers of hosts");
	if (!real(it, "amount-lanes", &demand->amount) || demand->amount < 0)
		return wrong(traffic, where, "'amount-lanes' must be a number, 0 or more");
	if (!real(it, "weight", &demand->weight) || demand->weight <= 0)
		return wrong(traffic, where, "'weight' must be a number above 0");
	if (!document_number(it, "controller", UINT32_MAX - 1, &controller))
		return wrong(traffic, where, "'controller' must be the number of one");
	demand->src_host = (uint32_t)from;
	demand->dst_host = (uint32_t)to;
	demand->controller = (uint32_t)controller;
	return EXIT_CODE_OK;
}

enum exit_code read_traffic(struct traffic *traffic)
{
	enum exit_code code = document_read(traffic->run->argv[0], &traffic->document);
	uint64_t ways = WAYS;
	json_t *list, *it;
	size_t i;

	if (code)
		return code;
	if (!json_is_object(traffic->document))
		return wrong(traffic, "", "must be a mapping with the key 'demands'");
	code = check_keys(traffic, traffic->document, "", "demands,decision-epoch,ways,lambda");
	if (code)
		return code;
	list = json_object_get(traffic->document, "demands");
	if (!json_is_array(list) || !json_array_size(list))
		return wrong(traffic, "", "requires a list 'demands' with at least one entry");
	if (!document_number(traffic->document, "decision-epoch", INT64_MAX, &traffic->epoch))
		return wrong(traffic, "", "'decision-epoch' must be a number, 0 or more");
	if (!document_number(traffic->document, "ways", 64, &ways) || !ways)
		return wrong(traffic, "", "'ways' must be 1 to 64");
	if (!real(traffic->document, "lambda", &traffic->lambda) || traffic->lambda < 0)
		return wrong(traffic, "", "'lambda' must be a number, 0 or more");
	traffic->ways = (uint32_t)ways;
	traffic->demands_count = json_array_size(list);
	traffic->demands = needed(calloc(traffic->demands_count, sizeof(*traffic->demands)));
	json_array_foreach(list, i, it)
	{
		code = read_demand(traffic, i, it, &traffic->demands[i]);
		if (code)
			return code;
	}
	return EXIT_CODE_OK;
}
