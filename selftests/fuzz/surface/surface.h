/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fuzzer of the kernel's interfaces: the ioctls of the device and the netlink family.
 *
 * A program is a few calls. A call is a command of the table, with values for some of its fields;
 * all other fields have valid values. Programs are text, one call a line, so that people can read,
 * keep and run them:
 *
 *	slice_create accelerators.count=2
 *	txn_run fd=1 changes.op[0]=1 changes.dst_rank[0]=1 generation=-1
 *	nl slice-get fabric=@fabric id=@slice0
 *
 * commands: the table of commands; the specification gives its netlink part
 *
 * program: converts between text and calls, and changes programs at random
 *
 * rings: uses memory that a program shares with the kernel
 *
 * execute: runs a program on a simulated fabric, and checks the conditions after it
 *
 * explore: keeps programs that reach new code according to KCOV
 */
#ifndef SURFACE_H
#define SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_CALLS 16u
#define MOST_VALUES 24u
#define MOST_ENTRIES 8u /* size of an array that a program fills in */
#define PROGRAM_BYTES 16384u /* size as text */

/* ------------------------------------------------------------------ commands */

enum how {
	HOW_IOCTL,
	HOW_NETLINK,
	HOW_READ, /* read events of a slice's file */
	HOW_POLL,
	HOW_CLOSE,
	HOW_OPEN, /* open one more file of the fabric */
	HOW_FAULT, /* fail hardware of the simulator */
	HOW_CLEAR, /* clear the faults */
	HOW_PULL, /* remove the provider */
	HOW_MAP, /* map memory of a slice's file */
	HOW_SUBMIT, /* submit an entry to the latest queue */
};

enum form {
	FORM_NUMBER,
	FORM_TEXT, /* the value chooses one of a few */
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

/* An array that a structure points to, or a nest that may occur several times. */
struct list {
	const char *name;
	/* offset of the struct morph_array, or number of the nest; SCRATCH: see execute.c */
	uint16_t at;
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

/* The meaning of a value: itself, or a number that only a run knows. */
enum reference {
	REF_NONE,
	REF_FABRIC, /* number of the fabric */
	REF_SLICE, /* number of the value-th slice that the program made */
	REF_TXN, /* number of the value-th transaction that it prepared */
	REF_BUFFER, /* address of memory */
	REF_BRINK, /* address of the last bytes before invalid memory */
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
	uint8_t fd; /* 0: the fabric; n: the n-th file of the program */
	uint8_t fail; /* number of the allocation to fail; 0: none */
	uint8_t count;
	struct value values[MOST_VALUES];
};

struct program {
	uint8_t count;
	struct call calls[MOST_CALLS];
};

extern uint64_t random_state;
uint32_t random_below(uint32_t limit);

/* False if the text is no program; *line is then the line of the error. */
bool program_read(struct program *program, const char *text, unsigned int *line);
size_t program_write(const struct program *program, char text[PROGRAM_BYTES]);
void program_mutate(struct program *program, const struct program *other);

/* ----------------------------------------------------------------- execution */

struct world;

struct world *world_open(void);
void world_close(struct world *world);
/* Return NULL, or a description of an error. @verbose: print the outcome of each call. */
const char *world_run(struct world *world, const struct program *program, bool verbose);
unsigned int world_fabrics(const struct world *world); /* number of fabrics that were used up */

/* -------------------------------------------------------------------- rings */

#define MAP_FIELDS 3u
#define SUBMIT_FIELDS 5u

/* Values by field, in the order of the table of commands. */
int ring_map(int fd, const uint64_t values[MAP_FIELDS]);
int ring_submit(const uint64_t values[SUBMIT_FIELDS]);
/* Unmap all memory. */
void rings_forget(void);
/* Interrupt waiting calls soon, or let them wait again. */
void patience(bool short_one);

/* Return NULL at the end, or a description of an error. @led: guided by KCOV, else at random. */
const char *explore(struct world *world, struct program *corpus, unsigned int count,
		    unsigned int most, unsigned int seconds, bool led);

#endif /* SURFACE_H */
