// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl txn */
#include "morphctl/circuit/circuit.h"
#include "morphctl/output/output.h"

enum exit_code txn_list(struct run *run)
{
	return client_list(run, MORPH_OBJECT_TXN, TXN_COLUMNS);
}

enum exit_code txn_show(struct run *run)
{
	uint32_t fabric, id;
	enum exit_code code = resolve_first_number(run, "transaction", &fabric, &id);

	return code ? code : client_show(run, MORPH_OBJECT_TXN, fabric, id);
}

enum exit_code txn_step(struct run *run, struct act *act, uint32_t fabric, uint32_t id,
			uint32_t verb, uint64_t lease_ns, const struct token *token,
			json_t **record)
{
	struct morph_object *object = NULL;
	enum exit_code code;
	int error;

	error = morph_controller_step(run->client->ctx, fabric, id, verb, lease_ns,
				      token->controller, token->epoch, &object);
	code = client_reply(run, error, object, record);
	if (!code && *record)
		code = act_wait_step(run, act, fabric, verb, record);
	return code;
}

static enum exit_code step(struct run *run, uint32_t verb)
{
	int64_t lease_ns = 0;
	json_t *record = NULL;
	uint32_t fabric, id;
	enum exit_code code;
	struct token token;
	struct view view;
	struct act act;

	if (!option_ns(run, OPTION_LEASE, &lease_ns))
		return EXIT_CODE_USAGE;
	code = client_fields(run, MORPH_OBJECT_TXN);
	if (!code)
		code = token_given(run, &token);
	if (!code)
		code = resolve_first_number(run, "transaction", &fabric, &id);
	if (!code)
		code = act_begin(run, &act);
	if (code)
		return code;
	code = txn_step(run, &act, fabric, id, verb, (uint64_t)lease_ns, &token, &record);
	act_end(&act);
	if (record) {
		view = client_view(run, MORPH_OBJECT_TXN, NULL);
		emit_one(run, &view, record);
	}
	json_decref(record);
	return code;
}

enum exit_code txn_commit(struct run *run)
{
	return step(run, MORPH_TXN_COMMIT);
}

enum exit_code txn_verify(struct run *run)
{
	return step(run, MORPH_TXN_VERIFY);
}

enum exit_code txn_confirm(struct run *run)
{
	return step(run, MORPH_TXN_CONFIRM);
}

enum exit_code txn_revert(struct run *run)
{
	return step(run, MORPH_TXN_REVERT);
}
