// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl net */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "morphctl/client/client.h"
#include "morphctl/net/net.h"

/* Print the reason of a refusal. */
static enum exit_code refused(const struct link_answer *answer, const char *what, uint32_t number)
{
	if (answer->error == -EOPNOTSUPP && !strcmp(answer->text, "Unknown device type"))
		warn_line("%s %u: the kernel has no such devices; load the module morph_net", what,
			  number);
	else
		warn_line("%s %u: %s", what, number,
			  *answer->text ? answer->text : strerror(-answer->error));
	return exit_of_errno(-answer->error);
}

/* Read the number of ranks of a slice. */
static enum exit_code count_ranks(struct run *run, uint32_t fabric, uint32_t slice, uint32_t *count)
{
	enum exit_code code;
	json_t *records, *record;
	size_t i;

	code = client_dump(run, MORPH_OBJECT_SLICE, fabric, &records);
	if (code)
		return code;
	*count = 0;
	json_array_foreach(records, i,
			   record) if (number_of(record, "id", NUMBER_NONE) == slice) *count =
		number_of(record, "ranks-count", 0);
	json_decref(records);
	return EXIT_CODE_OK;
}

static enum exit_code create(uint32_t fabric, uint32_t slice, uint32_t rank)
{
	struct link_answer answer = link_create(fabric, slice, rank);

	return answer.error ? refused(&answer, "rank", rank) : EXIT_CODE_OK;
}

static enum exit_code find_slice(struct run *run, uint32_t *fabric, uint32_t *slice)
{
	enum exit_code code = client_fabric(run, fabric);

	return code ? code : resolve_slice(run, *fabric, run->argv[0], slice);
}

enum exit_code net_up(struct run *run)
{
	uint32_t fabric, slice, count, rank;
	struct tally tally = { 0 };
	enum exit_code code;

	code = find_slice(run, &fabric, &slice);
	if (!code)
		code = count_ranks(run, fabric, slice, &count);
	if (code)
		return code;
	for (int i = 1; i < run->argc; i++) {
		code = resolve_number(run, "rank", run->argv[i], &rank);
		tally_add(&tally, code ? code : create(fabric, slice, rank));
	}
	for (rank = 0; run->argc == 1 && rank < count; rank++)
		tally_add(&tally, create(fabric, slice, rank));
	return tally_code(&tally);
}

enum exit_code net_down(struct run *run)
{
	struct tally tally = { 0 };
	struct link_answer answer;
	uint32_t fabric, slice;
	enum exit_code code;
	struct links links;

	code = find_slice(run, &fabric, &slice);
	if (code)
		return code;
	answer = link_list(fabric, slice, &links);
	if (answer.error) {
		code = refused(&answer, "slice", slice);
	} else if (!links.count) {
		warn_line("slice %u has no network devices in this namespace", slice);
		code = EXIT_CODE_NOT_FOUND;
	}
	for (size_t i = 0; !code && i < links.count; i++) {
		answer = link_delete(links.indices[i]);
		tally_add(&tally,
			  answer.error ? refused(&answer, "interface", (uint32_t)links.indices[i]) :
					 EXIT_CODE_OK);
	}
	free(links.indices);
	return code ? code : tally_code(&tally);
}
