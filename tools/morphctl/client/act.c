// SPDX-License-Identifier: GPL-2.0-or-later
/* Queued requests: subscribe to notifications, send the request, wait for its end. */
#include <errno.h>
#include <time.h>

#include "morphctl/client/client.h"
#include "morphctl/output/output.h"

#define DEFAULT_TIMEOUT_NS INT64_C(60000000000)
#define LOOK_NS INT64_C(200000000) /* a refused step sends no notification */

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

/* Wait until it is time to look again at what is awaited. */
static int look_later(const struct act *act)
{
	int result = morph_monitor_wait(act->monitor, LOOK_NS);
	struct morph_list *list;

	if (result > 0)
		result = morph_monitor_read(act->monitor, &list);
	if (result > 0)
		morph_list_free(list);
	return result >= 0 || result == -EAGAIN || result == -EINTR ? 0 : result;
}

enum exit_code act_wait_step(struct run *run, struct act *act, uint32_t fabric, uint32_t verb,
			     json_t **reply)
{
	uint32_t txn = number_of(*reply, "id", 0);
	int64_t end = now_ns() + act->timeout_ns;
	struct morph_object *object;
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
		error = look_later(act);
		if (error)
			return client_error(run, error);
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

enum exit_code act_wait_slice(struct run *run, struct act *act, uint32_t fabric, uint32_t slice)
{
	int64_t end = now_ns() + act->timeout_ns;
	struct morph_object *object;
	int error = 0;

	if (act->monitor)
		progress_begin("waiting for the end of slice %u", slice);
	/* Ask for the slice. Drivers of the first ABI notify shortly before its number ends. */
	while (act->monitor && !error) {
		error = morph_admin_get(run->client->ctx, MORPH_OBJECT_SLICE, fabric, MORPH_ANY,
					slice, &object);
		if (error)
			break;
		morph_object_free(object);
		error = now_ns() < end ? look_later(act) : -ETIMEDOUT;
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
