// SPDX-License-Identifier: GPL-2.0-or-later
/* Queued requests: subscribe to notifications, send the request, wait for its end. */
#include <errno.h>
#include <time.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

#define DEFAULT_TIMEOUT_NS INT64_C(60000000000)
#define STEP_LOOK_NS INT64_C(200000000) /* a refused step sends no notification */

enum exit_code act_begin(struct run *run, struct act *act)
{
	enum exit_code code;
	int error;

	act->monitor = NULL;
	act->timeout_ns = DEFAULT_TIMEOUT_NS;
	if (!option_ns(run, OPTION_TIMEOUT, &act->timeout_ns))
		return EXIT_CODE_USAGE;
	if (given(run, OPTION_NO_WAIT) && given(run, OPTION_WAIT))
		return usage_error(run, "--wait and --no-wait are mutually exclusive");
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

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* A queued step leaves the outcome unchanged until its turn comes; then the step is in progress. */
static bool step_waits(uint32_t verb, uint32_t outcome)
{
	if (outcome == MORPH_OUTCOME_RUNNING)
		return true;
	switch (verb) {
	case MORPH_TXN_COMMIT:
		return outcome == MORPH_OUTCOME_PREPARED;
	case MORPH_TXN_CONFIRM:
		return outcome == MORPH_OUTCOME_UNCONFIRMED;
	case MORPH_TXN_VERIFY:
		return false; /* committed before the step and after it */
	default:
		return outcome == MORPH_OUTCOME_PREPARED || outcome == MORPH_OUTCOME_UNCONFIRMED;
	}
}

static bool has_status(const struct morph_object *txn)
{
	MORPH_OPTS(morph_value, status);

	morph_object_value(txn, "status", 0, &status);
	return status.sint;
}

enum exit_code act_wait_step(struct run *run, struct act *act, uint32_t fabric, uint32_t verb,
			     json_t **reply)
{
	uint32_t txn = number_of(*reply, "id", 0);
	int64_t end = now_ns() + act->timeout_ns;
	struct morph_object *object;
	struct morph_list *list;
	int error;

	if (act->monitor && txn)
		progress_begin("waiting for transaction %u", txn);
	while (act->monitor && txn) {
		error = morph_admin_get(run->client->ctx, MORPH_OBJECT_TXN, fabric, MORPH_ANY, txn,
					&object);
		if (error < 0)
			return client_error(run, error);
		/*
		 * A step that the kernel could not begin leaves the outcome unchanged, too, and has
		 * a status.
		 */
		if (!step_waits(verb, morph_object_uint(object, "outcome")) || has_status(object)) {
			morph_object_free(object);
			break;
		}
		morph_object_free(object);
		if (now_ns() >= end) {
			warn_line("transaction %u is still queued; see 'morphctl txn show %u'", txn,
				  txn);
			return EXIT_CODE_BUSY;
		}
		error = morph_monitor_wait(act->monitor, STEP_LOOK_NS);
		if (error > 0 && morph_monitor_read(act->monitor, &list) > 0)
			morph_list_free(list);
	}
	progress_end();
	return act_wait(run, act, fabric, "id", reply);
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
	progress_begin("waiting for transaction %u", txn);
	error = morph_monitor_wait_txn(act->monitor, fabric, txn, act->timeout_ns, &object);
	progress_end();
	if (object)
		end = record_of(object);
	morph_object_free(object);
	if (error == -ETIMEDOUT && !end) {
		warn_line("transaction %u is still under way; see 'morphctl txn show %u'", txn,
			  txn);
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

/* Whether a notification can be that of the end: it names the slice, or some were lost. */
static bool concerns_slice(const struct morph_list *list, uint32_t fabric, uint32_t slice)
{
	for (size_t at = 0; at < morph_list_count(list); at++) {
		const struct morph_object *object = morph_list_get(list, at);
		uint32_t type = morph_object_type(object);

		if (type == MORPH_OBJECT_RESYNC ||
		    (type == MORPH_OBJECT_SLICE && morph_object_uint(object, "fabric") == fabric &&
		     morph_object_uint(object, "id") == slice))
			return true;
	}
	return false;
}

/* Wait until a notification concerns the slice. Returns -ETIMEDOUT after @end. */
static int next_of_slice(const struct act *act, uint32_t fabric, uint32_t slice, int64_t end)
{
	bool concerns = false;

	while (!concerns) {
		int64_t left = end - now_ns();
		struct morph_list *list;
		int result = left > 0 ? morph_monitor_wait(act->monitor, left) : 0;

		if (!result)
			return -ETIMEDOUT;
		if (result > 0)
			result = morph_monitor_read(act->monitor, &list);
		if (result < 0 && result != -EAGAIN && result != -EINTR)
			return result;
		if (result < 0)
			continue;
		concerns = concerns_slice(list, fabric, slice);
		morph_list_free(list);
	}
	return 0;
}

enum exit_code act_wait_slice(struct run *run, struct act *act, uint32_t fabric, uint32_t slice)
{
	int64_t end = now_ns() + act->timeout_ns;
	struct morph_object *object;
	int error = 0;

	if (act->monitor)
		progress_begin("waiting for the end of slice %u", slice);
	while (act->monitor && !error) {
		error = morph_admin_get(run->client->ctx, MORPH_OBJECT_SLICE, fabric, MORPH_ANY,
					slice, &object);
		if (error)
			break;
		morph_object_free(object);
		error = next_of_slice(act, fabric, slice, end);
	}
	progress_end();
	if (error == -ENOENT)
		return EXIT_CODE_OK;
	if (error == -ETIMEDOUT) {
		warn_line("slice %u is still dying; see 'morphctl slice show %u'", slice, slice);
		return EXIT_CODE_BUSY;
	}
	return error ? client_error(run, error) : EXIT_CODE_OK;
}
