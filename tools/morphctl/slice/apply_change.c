// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Apply the difference, all or nothing: create, prepare, commit, confirm. If one of these fails,
 * undo the earlier ones in reverse order.
 */
#include <errno.h>
#include <stdlib.h>

#include "morphctl/circuit/circuit.h"
#include "morphctl/output/output.h"
#include "morphctl/slice/slice.h"

static enum exit_code create_and_set(struct apply *apply)
{
	enum exit_code code = EXIT_CODE_OK;
	json_t *record = NULL;
	int error;

	for (size_t i = 0; i < apply->slices_count && !code; i++) {
		struct apply_slice *slice = &apply->slices[i];

		code = stop_check(apply->run);
		if (code)
			break;
		if (!slice->present) {
			code = slice_make(apply->run, &slice->wish, &record);
			if (!code) {
				slice->id = number_of(record, "id", NUMBER_NONE);
				slice->created = true;
			}
			json_decref(record);
		} else if (slice->set.set) {
			error = morph_admin_slice_set(apply->run->client->ctx, apply->fabric,
						      slice->id, &slice->set, NULL);
			code = client_reply(apply->run, error, NULL, NULL);
			slice->was_set = !code;
		}
	}
	return code;
}

static enum exit_code prepare(struct apply *apply, struct act *act)
{
	enum exit_code code = EXIT_CODE_OK;
	json_t *record;

	for (size_t i = 0; i < apply->slices_count && !code; i++) {
		struct apply_slice *slice = &apply->slices[i];

		if (!slice->txn)
			continue;
		code = stop_check(apply->run);
		if (code)
			break;
		apply_set_opts(apply, slice->txn, apply->lease_ns, 0);
		code = circuit_run(apply->run, act, apply->fabric, slice->id, slice->txn, false,
				   &record);
		slice->txn_id = number_of(record, "id", 0);
		if (!code)
			slice->stage = STAGE_PREPARED;
		json_decref(record);
	}
	return code;
}

static enum exit_code step_all(struct apply *apply, struct act *act, uint32_t verb,
			       enum apply_stage after)
{
	enum exit_code code = EXIT_CODE_OK;
	json_t *record;

	for (size_t i = 0; i < apply->slices_count && !code; i++) {
		struct apply_slice *slice = &apply->slices[i];

		if (slice->stage == STAGE_NONE)
			continue;
		/* All slices are lit. Now it is better to confirm than to undo. */
		code = verb == MORPH_TXN_CONFIRM ? EXIT_CODE_OK : stop_check(apply->run);
		if (code)
			break;
		code = txn_step(apply->run, act, apply->fabric, slice->txn_id, verb,
				verb == MORPH_TXN_COMMIT ? apply->lease_ns : 0, &apply->token,
				&record);
		if (!code)
			slice->stage = after;
		json_decref(record);
	}
	return code;
}

static enum exit_code undo_slice(struct apply *apply, struct act *act, struct apply_slice *slice)
{
	struct morph_ctx *ctx = apply->run->client->ctx;
	struct tally tally = { 0 };
	json_t *record;
	int error;

	if (slice->stage == STAGE_CONFIRMED)
		return EXIT_CODE_PARTIAL;
	if (slice->stage != STAGE_NONE) {
		tally_add(&tally, txn_step(apply->run, act, apply->fabric, slice->txn_id,
					   MORPH_TXN_REVERT, 0, &apply->token, &record));
		json_decref(record);
	}
	if (slice->was_set) {
		error = morph_admin_slice_set(ctx, apply->fabric, slice->id, &slice->unset, NULL);
		tally_add(&tally, client_reply(apply->run, error, NULL, NULL));
	}
	if (slice->created)
		tally_add(&tally, slice_remove(apply->run, act, apply->fabric, slice->id, true));
	return tally.bad ? EXIT_CODE_PARTIAL : EXIT_CODE_OK;
}

static enum exit_code undo(struct apply *apply, struct act *act, enum exit_code code)
{
	for (size_t i = apply->slices_count; i-- > 0;) {
		struct apply_slice *slice = &apply->slices[i];

		if (!undo_slice(apply, act, slice))
			continue;
		warn_line("apply: slice '%s' was changed%s", slice->wish.name,
			  slice->stage == STAGE_CONFIRMED ? ": its changes had been confirmed" :
							    "");
		code = EXIT_CODE_PARTIAL;
	}
	if (code != EXIT_CODE_PARTIAL)
		warn_line("apply: nothing was changed");
	return code;
}

enum exit_code apply_change(struct apply *apply)
{
	enum exit_code code;
	struct act act;

	code = act_begin(apply->run, &act);
	if (code)
		return code;
	stop_hold();
	code = create_and_set(apply);
	if (!code)
		code = prepare(apply, &act);
	if (!code)
		code = step_all(apply, &act, MORPH_TXN_COMMIT, STAGE_COMMITTED);
	if (!code)
		code = step_all(apply, &act, MORPH_TXN_CONFIRM, STAGE_CONFIRMED);
	if (code)
		code = undo(apply, &act, code);
	act_end(&act);
	return code;
}
