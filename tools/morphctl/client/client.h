/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool's use of libmorph: context, fabric, numbers of objects, errors, waiting. */
#ifndef MORPHCTL_CLIENT_H
#define MORPHCTL_CLIENT_H

#include <morph/plan.h>

#include "morphctl/command/command.h"
#include "morphctl/output/output.h"

struct client {
	struct morph_ctx *ctx;
	char *keys, *renamed; /* of the view in use */
	bool own; /* some answers have only the caller's own slices */
};

/* client.c: a function that returns another status than EXIT_CODE_OK has printed a message. */
enum exit_code client_open(struct run *run);
void client_close(struct run *run);
/* The fabric that --fabric names, or the only one. */
enum exit_code client_fabric(struct run *run, uint32_t *fabric);
/*
 * As client_fabric(), to read slices. A container may have the nodes of slices, and none of a
 * fabric: then MORPH_ANY.
 */
enum exit_code client_fabric_of_slices(struct run *run, uint32_t *fabric);
/* Find a fabric by its number, name or UUID. */
enum exit_code client_fabric_named(struct run *run, const char *which, uint32_t *fabric);
enum exit_code client_fabric_records(struct run *run, json_t **records);
enum exit_code client_error(struct run *run, int error);

/*
 * absent.c: after an empty list of fabrics, print the reason: no module, no provider, no fabric of
 * the provider, or another network namespace. Returns the exit status.
 */
enum exit_code client_no_fabric(struct run *run);
/* After a failure to open a slice by its node: if there is no fabric, print the reason instead. */
enum exit_code client_no_slice(struct run *run, int error);
/* The directory of sysfs that has one directory for each loaded module. */
const char *modules_directory(void);

/*
 * own.c: as morph_admin_list() and morph_admin_get(), for slices and circuits. Without
 * CAP_NET_ADMIN or the netlink family, they read the slices whose nodes the caller may open.
 */
int client_read_list(struct run *run, uint32_t type, uint32_t fabric, uint32_t parent,
		     struct morph_list **list);
int client_read(struct run *run, uint32_t type, uint32_t fabric, uint32_t parent, uint32_t id,
		struct morph_object **object);
/* Whether a request failed because netlink is closed to the caller. */
bool client_is_closed(struct run *run, int error);
/* After a list for people: note that it has only the caller's own slices. */
void client_note_own(const struct run *run);
#define CLIENT_OWN_NOTE "only slices whose device nodes you may open; CAP_NET_ADMIN lists all"

struct view client_view(struct run *run, uint32_t type, const char *columns);
/* Before any change: check that objects of @type have the attributes that --fields names. */
enum exit_code client_fields(const struct run *run, uint32_t type);

/* The name of a value of enum morph_verdict. */
const char *verdict_word(uint32_t verdict);

/* record.c */
json_t *record_of(const struct morph_object *object);
json_t *records_of(const struct morph_list *list);
/*
 * The keys that records of objects of @type can have, separated by commas, and their old names as
 * OLD=KEY. The caller frees both. They are NULL if the library does not know the type.
 */
void record_keys(uint32_t type, char **keys, char **renamed);

/* Read all objects of a type. @records belongs to the caller. */
enum exit_code client_dump(struct run *run, uint32_t type, uint32_t fabric, json_t **records);
/* Read the slices of a fabric, or those that the caller may read. */
enum exit_code client_slices(struct run *run, uint32_t fabric, json_t **records);
/* Evaluate the answer of a call. Frees the object; @result may be NULL. */
enum exit_code client_reply(struct run *run, int error, struct morph_object *object,
			    json_t **result);

/* Read and print all objects of a type. */
enum exit_code client_list(struct run *run, uint32_t type, const char *columns);
/* Read and print one object of a fabric that the caller has chosen. */
enum exit_code client_show(struct run *run, uint32_t type, uint32_t fabric, uint32_t id);
/* Print records as a list, and free them. */
enum exit_code client_emit(struct run *run, uint32_t type, const char *columns, json_t *records);

/* resolve.c */
enum exit_code resolve_accelerator(struct run *run, uint32_t fabric, const char *text,
				   uint32_t *id);
enum exit_code resolve_accelerators(struct run *run, uint32_t fabric, const char *list,
				    uint32_t **ids, size_t *count);
enum exit_code resolve_slice(struct run *run, uint32_t fabric, const char *text, uint32_t *id);
/*
 * The rest of "name:NAME", which is a name even if it reads as a number; NULL: no such prefix.
 * Older drivers accept names such as 2.
 */
const char *only_name(const char *text);
enum exit_code resolve_number(struct run *run, const char *what, const char *text, uint32_t *id);
/* Read the first argument as the number of a @what, then choose the fabric. */
enum exit_code resolve_first_number(struct run *run, const char *what, uint32_t *fabric,
				    uint32_t *id);
/* Read and print the object that the first argument names. */
typedef enum exit_code resolve_fn(struct run *run, uint32_t fabric, const char *text, uint32_t *id);
enum exit_code show_resolved(struct run *run, resolve_fn *resolve, uint32_t type);

/* act.c: queued requests and their ends */
struct act {
	struct morph_monitor *monitor; /* NULL: --no-wait */
	int64_t timeout_ns;
};

enum exit_code act_begin(struct run *run, struct act *act);
void act_end(struct act *act);
/* Wait for the transaction that @reply names, and replace @reply by its final state. */
enum exit_code act_wait(struct run *run, struct act *act, uint32_t fabric, const char *key,
			json_t **reply);
/* As act_wait(), for a step of a prepared transaction. */
enum exit_code act_wait_step(struct run *run, struct act *act, uint32_t fabric, uint32_t verb,
			     json_t **reply);

/* Wait for the end of a slice that is being deleted. */
enum exit_code act_wait_slice(struct run *run, struct act *act, uint32_t fabric, uint32_t slice);

/*
 * stop.c: commands that make several changes, of which none may remain alone. From stop_hold() on,
 * SIGINT, SIGTERM and SIGHUP wait. stop_check() fails with a message if one waits. stop_release()
 * lets it end the process, so that the caller of the command sees the signal.
 */
void stop_hold(void);
enum exit_code stop_check(const struct run *run);
void stop_release(void);

/* Results of several independent changes. */
struct tally {
	unsigned int good, bad;
	enum exit_code first;
};

void tally_add(struct tally *tally, enum exit_code code);
enum exit_code tally_code(const struct tally *tally);
/* Print the records of what succeeded, and free them. Failures have messages already. */
enum exit_code tally_emit(const struct tally *tally, struct run *run, uint32_t type,
			  const char *columns, json_t *records);

/* Fabrics in tables. @lent: "lent-count," if slices have borrowed spares, else "". */
#define FABRIC_COLUMNS(lent)                                             \
	"id,name,state,accelerators-count,free-count,spares-count," lent \
	"held-count,failed-count,impaired-count,slices-count"

#define TXN_COLUMNS "id,slice,outcome,status,reason,part,index,seq,text"

/* state.c: the present state of a fabric, type by type. */

struct state_kind {
	const char *command; /* name of one record in a stream */
	const char *key; /* name of the list in a document */
	uint32_t type; /* enum morph_object_type */
	bool admin; /* visible to administrators only */
};

extern const struct state_kind state_kinds[];
extern const size_t state_kinds_count;

/* As client_dump(), but without a message. Returns a negative errno on error. */
int state_dump(struct run *run, const struct state_kind *kind, uint32_t fabric, json_t **records);
/*
 * As state_dump(), but with a message. Of a list for administrators, other callers get their own
 * slices or circuits.
 */
enum exit_code state_read(struct run *run, const struct state_kind *kind, uint32_t fabric,
			  json_t **records);
/*
 * Read a fabric, or all with MORPH_ANY. Without the netlink family, the fabrics whose nodes the
 * caller may open.
 */
enum exit_code state_fabrics(struct run *run, uint32_t fabric, json_t **records);

/* profile.c: the profile of a fabric, in the form that planners take. */

/* Find the file of a profile in the kernel's firmware directories. The caller frees @path. */
enum exit_code profile_file(const char *name, char **path);

/*
 * Load the model of --profile, or of the fabric's profile from the kernel's firmware directories.
 * With --profile alone *fabric becomes MORPH_ANY, and no kernel is asked. The caller puts @model.
 */
enum exit_code profile_model(struct run *run, uint32_t *fabric, struct morph_model **model);

/* Read the checksum of the profile of a model. */
uint32_t profile_checksum(struct run *run, struct morph_model *model);

/* Load the model of a known fabric: from --profile, or from the kernel's firmware directories. */
enum exit_code profile_of_fabric(struct run *run, uint32_t fabric, struct morph_model **model);

/*
 * Build a ledger of the resources in use on the fabric; for MORPH_ANY, an empty one. The caller
 * frees @ledger.
 */
enum exit_code profile_ledger(struct run *run, uint32_t fabric, uint32_t controller,
			      struct morph_model *model, struct morph_ledger **ledger);

/*
 * ground.c: the fabric that a planner searches: a real one in its present state, or an empty one of
 * a profile.
 */

struct ground {
	struct run *run;
	uint32_t fabric; /* MORPH_ANY: an empty fabric */
	struct morph_model *model;
	struct morph_ledger *ledger;
	struct morph_defrag *running; /* slices of the fabric whose failover fibres are kept */
	uint32_t kept; /* ranks of these slices that have a spare */
};

/*
 * Read the resources in use on the fabric of @ground->model, and keep the fibres that its slices
 * need when one of their accelerators fails, unless --unprotect is given. @controller: the planner
 * may use this controller's reservations; 0: no controller's.
 */
enum exit_code ground_read(struct ground *ground, uint32_t controller);
/* Stop keeping resources for failover. */
void ground_release(struct ground *ground);
void ground_free(struct ground *ground);

#endif
