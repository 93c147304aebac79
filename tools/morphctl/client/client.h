/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool's side of libmorph: context, fabric, ids, errors, waiting. */
#ifndef MORPHCTL_CLIENT_H
#define MORPHCTL_CLIENT_H

#include <morph/plan.h>

#include "morphctl/command/command.h"
#include "morphctl/output/output.h"

struct client {
	struct morph_ctx *ctx;
	char *attributes; /* of the view in use */
};

/* client.c: a status other than EXIT_CODE_OK comes after a message */
enum exit_code client_open(struct run *run);
void client_close(struct run *run);
/* The fabric of --fabric, or the only one. */
enum exit_code client_fabric(struct run *run, uint32_t *fabric);
/* One by its number, name or UUID. */
enum exit_code client_fabric_named(struct run *run, const char *which, uint32_t *fabric);
enum exit_code client_fabric_records(struct run *run, json_t **records);
enum exit_code client_error(struct run *run, int error);
struct view client_view(struct run *run, uint32_t type, const char *columns);
/* Before anything is changed: can --fields be had of what is told afterwards? */
enum exit_code client_fields(const struct run *run, uint32_t type);

/* What enum morph_verdict is called. */
const char *verdict_word(uint32_t verdict);

/* record.c */
json_t *record_of(const struct morph_object *object);
json_t *records_of(const struct morph_list *list);

/* All that a fabric has of a kind; @records belongs to the caller. */
enum exit_code client_dump(struct run *run, uint32_t type, uint32_t fabric, json_t **records);
/* What a call answered: frees the object; @result may be NULL. */
enum exit_code client_reply(struct run *run, int error, struct morph_object *object,
			    json_t **result);

/* A listing from beginning to end. */
enum exit_code client_list(struct run *run, uint32_t type, const char *columns);
/* One object from beginning to end; the fabric is chosen before. */
enum exit_code client_show(struct run *run, uint32_t type, uint32_t fabric, uint32_t id);
/* Writes records as a listing, and frees them. */
enum exit_code client_emit(struct run *run, uint32_t type, const char *columns, json_t *records);

/* resolve.c */
enum exit_code resolve_accelerator(struct run *run, uint32_t fabric, const char *text,
				   uint32_t *id);
enum exit_code resolve_accelerators(struct run *run, uint32_t fabric, const char *list,
				    uint32_t **ids, size_t *count);
enum exit_code resolve_slice(struct run *run, uint32_t fabric, const char *text, uint32_t *id);
enum exit_code resolve_number(struct run *run, const char *what, const char *text, uint32_t *id);
/* The first argument, which is a number of @what, and then the fabric. */
enum exit_code resolve_first_number(struct run *run, const char *what, uint32_t *fabric,
				    uint32_t *id);
/* One object from beginning to end; the first argument says which. */
typedef enum exit_code resolve_fn(struct run *run, uint32_t fabric, const char *text, uint32_t *id);
enum exit_code show_resolved(struct run *run, resolve_fn *resolve, uint32_t type);

/* act.c: what is queued, and its end */
struct act {
	struct morph_monitor *monitor; /* NULL: --no-wait */
	int64_t timeout_ns;
};

enum exit_code act_begin(struct run *run, struct act *act);
void act_end(struct act *act);
/* Waits for the transaction that @reply names and puts its end in the place of @reply. */
enum exit_code act_wait(struct run *run, struct act *act, uint32_t fabric, const char *key,
			json_t **reply);
/* The same for a step of a prepared transaction. */
enum exit_code act_wait_step(struct run *run, struct act *act, uint32_t fabric, uint32_t verb,
			     json_t **reply);

/* Several items, each for itself. */
struct tally {
	unsigned int good, bad;
	enum exit_code first;
};

void tally_add(struct tally *tally, enum exit_code code);
enum exit_code tally_code(const struct tally *tally);

#define TXN_COLUMNS "id,slice,outcome,status,reason,part,index,seq,text"

/* state.c: the present state of a fabric, kind by kind. */

struct state_kind {
	const char *command; /* what a record is called in a stream */
	const char *key; /* what the list is called in a document */
	uint32_t type; /* enum morph_object_type */
	bool admin; /* told to administrators only */
};

extern const struct state_kind state_kinds[];
extern const size_t state_kinds_count;

/* As client_dump(), without a message; an error is a negative errno. */
int state_dump(struct run *run, const struct state_kind *kind, uint32_t fabric, json_t **records);

/* profile.c: the profile behind a fabric, as planners take it. */

/*
 * The model of --profile, or of the fabric's profile where the kernel finds its firmware. With
 * --profile alone *fabric is MORPH_ANY: no kernel is asked. @model is the caller's to put.
 */
enum exit_code profile_model(struct run *run, uint32_t *fabric, struct morph_model **model);

/* The model of a fabric that is known: of --profile, or where the kernel finds it. */
enum exit_code profile_of_fabric(struct run *run, uint32_t fabric, struct morph_model **model);

/* A ledger of what is held of the fabric; of none, nothing is. @ledger is the caller's to free. */
enum exit_code profile_ledger(struct run *run, uint32_t fabric, uint32_t controller,
			      struct morph_model *model, struct morph_ledger **ledger);

/* ground.c: what requests are put to: a fabric as it is, or an empty one of a profile. */

struct ground {
	struct run *run;
	uint32_t fabric; /* MORPH_ANY: an empty one */
	struct morph_model *model;
	struct morph_ledger *ledger;
	struct morph_defrag *running; /* slices of the fabric, which have fibres to keep */
	uint32_t kept; /* ranks of theirs that have a spare */
};

/*
 * What the fabric of @ground->model holds, and what its slices need when an accelerator of theirs
 * fails, unless --unprotect says that nothing is kept for that. @controller: whose reservations
 * may be used; 0: nobody's.
 */
enum exit_code ground_read(struct ground *ground, uint32_t controller);
/* Nothing is kept for failover any more. */
void ground_release(struct ground *ground);
void ground_free(struct ground *ground);

#endif
