// SPDX-License-Identifier: GPL-2.0-or-later
/* What is queued: subscribe first, then act, then wait for its end. */
#include <errno.h>

#include "client.h"
#include "value.h"

#define DEFAULT_TIMEOUT_NS INT64_C(60000000000)

enum exit_code act_begin(struct run *run, struct act *act)
{
	enum exit_code code;
	int error;

	act->monitor = NULL;
	act->timeout_ns = DEFAULT_TIMEOUT_NS;
	if (!option_ns(run, OPTION_TIMEOUT, &act->timeout_ns))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_NO_WAIT) && given(run, OPTION_WAIT))
		return usage_error(run, "--wait and --no-wait exclude each other");
	code = client_open(run);
	if (code || given(run, OPTION_NO_WAIT))
		return code;
	error = morph_monitor_new(run->client->ctx, NULL, &act->monitor);
	return error < 0 ? client_error(run, error) : EXIT_CODE_OK;
}

void act_end(struct act *act)
{
	morph_monitor_free(act->monitor);
	act->monitor = NULL;
}

enum exit_code act_wait(struct run *run, struct act *act, uint32_t fabric, const char *key,
			json_t **reply)
{
	uint32_t txn = number_of(*reply, key, 0);
	struct morph_object *object = NULL;
	enum exit_code code = EXIT_CODE_OK;
	json_t *end = NULL;
	int error;

	if (!act->monitor || !txn)
		return EXIT_CODE_OK;
	error = morph_monitor_wait_txn(act->monitor, fabric, txn, act->timeout_ns, &object);
	if (object)
		end = record_of(object);
	morph_object_free(object);
	if (error == -ETIMEDOUT && !end) {
		warn_line("transaction %u is still under way; see 'morphctl txn show %u'", txn, txn);
		code = EXIT_CODE_BUSY;
	} else if (error < 0) {
		code = client_error(run, error);
	}
	if (end) {
		json_decref(*reply);
		*reply = end;
	}
	return code;
}
