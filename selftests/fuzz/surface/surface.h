/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzzer of what the kernel offers: the ioctls of the device and the netlink family.
 *
 * A program is a few calls; a call is a command of the table and values for some of its
 * fields, all else being what a careful caller would say. Programs are text, one call a
 * line, so that they can be read, kept and fed again:
 *
 * 	slice_create accelerators.count=2
 * 	txn_run fd=1 changes.op[0]=1 changes.dst_rank[0]=1 generation=-1
 * 	nl slice-get fabric=@fabric id=@slice0
 *
 * commands   what there is: a table, of netlink one made from the specification
 * program    text to calls and back; changes at random
 * rings      what it does with memory that it shares with the kernel
 * execute    what a program does on a simulated fabric, and what must hold after it
 * explore    keeps what reaches new code, told by KCOV
 */
#ifndef SURFACE_H
#define SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_CALLS 16u
#define MOST_VALUES 24u
#define MOST_ENTRIES 8u /* of an array that a program fills in */
#define PROGRAM_BYTES 16384u /* as text */

/* ------------------------------------------------------------------ commands */

enum how {
	HOW_IOCTL,
	HOW_NETLINK,
	HOW_READ, /* events of a slice's file */
	HOW_POLL,
	HOW_CLOSE,
	HOW_OPEN, /* one more file of the fabric */
	HOW_FAULT, /* the simulator's hardware fails */
	HOW_CLEAR, /* and is well again */
	HOW_PULL, /* the provider goes */
	HOW_MAP, /* memory of a slice's file */
	HOW_SUBMIT, /* an entry into the ring that was mapped last */
};

enum form {
	FORM_NUMBER,
	FORM_TEXT, /* the value says which of a few */
	FORM_UUID,
	FORM_FLAG,
};

#define NO_LIST 0xffu

struct field {
	const char *name;
	uint16_t at; /* offset, or number of the attribute */
	uint8_t bytes;
	uint8_t list; /* a field of its entries, or NO_LIST */
	enum form form;
};

/* An array that a structure points to, or a nest that may stand several times. */
struct list {
	const char *name;
	uint16_t at; /* of the struct morph_array, or number of the nest; SCRATCH: see execute.c */
	uint16_t stride;
};

#define SCRATCH 0xffffu

struct command {
	const char *name;
	enum how how;
	unsigned long number;
	uint16_t bytes;
	const struct field *fields;
	uint8_t fields_count;
	const struct list *lists;
	uint8_t lists_count;
};

extern const struct command commands[];
extern const unsigned int commands_count;

/* ------------------------------------------------------------------ programs */

/* What a value stands for: itself, or something that only a run knows. */
enum reference {
	REF_NONE,
	REF_FABRIC, /* number of the fabric */
	REF_SLICE, /* number of the value-th slice that the program made */
	REF_TXN, /* number of the value-th transaction that it prepared */
	REF_BUFFER, /* address of memory */
	REF_BRINK, /* address of the last bytes before memory that is not there */
	REFERENCES,
};

struct value {
	uint8_t field;
	uint8_t entry;
	uint8_t reference;
	uint64_t number;
};

struct call {
	uint16_t command;
	uint8_t fd; /* 0: the fabric; n: the n-th file that the program got */
	uint8_t fail; /* which allocation fails, 0: none */
	uint8_t count;
	struct value values[MOST_VALUES];
};

struct program {
	uint8_t count;
	struct call calls[MOST_CALLS];
};

extern uint64_t random_state;
uint32_t random_below(uint32_t limit);

/* false, and the line at fault in *line, when the text is no program. */
bool program_read(struct program *program, const char *text, unsigned int *line);
size_t program_write(const struct program *program, char text[PROGRAM_BYTES]);
void program_mutate(struct program *program, const struct program *other);

/* ----------------------------------------------------------------- execution */

struct world;

struct world *world_open(void);
void world_close(struct world *world);
/* NULL, or what should not have been. @told: print each call's outcome. */
const char *world_run(struct world *world, const struct program *program, bool told);
unsigned int world_fabrics(const struct world *world); /* that were used up */

/* -------------------------------------------------------------------- rings */

#define MAP_FIELDS 3u
#define SUBMIT_FIELDS 5u

/* Values by field, as in the table of commands. */
int ring_map(int fd, const uint64_t values[MAP_FIELDS]);
int ring_submit(const uint64_t values[SUBMIT_FIELDS]);
/* Unmap all. */
void rings_forget(void);
/* From now on what waits is interrupted soon; or it may wait again. */
void patience(bool short_one);

/* Ends with NULL, or with what was wrong. @led: by KCOV, else at random. */
const char *explore(struct world *world, struct program *corpus, unsigned int count,
		    unsigned int most, unsigned int seconds, bool led);

#endif /* SURFACE_H */
