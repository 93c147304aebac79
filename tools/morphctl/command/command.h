/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of commands, their options, and diagnostics, shared by all files of the tool. */
#ifndef MORPHCTL_COMMAND_H
#define MORPHCTL_COMMAND_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MORPHCTL_VERSION "0.1.0"

enum exit_code {
#define EXIT(id, code, meaning) EXIT_CODE_##id = code,
#include "morphctl/command/exits.def"
#undef EXIT
};

enum option_id {
#define OPTION(id, name, letter, argument, help) OPTION_##id,
#include "morphctl/command/options.def"
#undef OPTION
	OPTION_COUNT_OF,
};

struct option_spec {
	const char *name;
	char letter;
	const char *argument;
	const char *help;
};

struct run;
typedef enum exit_code command_fn(struct run *run);

struct command {
	const char *object;
	const char *verb; /* NULL: the command consists of the object alone */
	const struct command *alias_of; /* NULL: not an alias */
	command_fn *function;
	const char *arguments;
	int fewest;
	int most;
	const char *help;
	const char *detail;
	const char *examples;
};

struct object_spec {
	const char *name;
	const char *help;
};

struct exit_spec {
	int code;
	const char *meaning;
};

/* Aliases come after the commands to which they refer. */
extern struct command commands[];
extern const size_t commands_count;
extern const struct object_spec objects[];
extern const size_t objects_count;
extern const struct option_spec option_specs[OPTION_COUNT_OF];
extern const struct exit_spec exit_specs[];
extern const size_t exits_count;

/* One invocation of the tool. */
struct run {
	const struct command *command;
	const char *option[OPTION_COUNT_OF]; /* NULL: not given; "" for flags */
	int argc; /* arguments after the options */
	char **argv;
	struct client *client; /* opened on first use, see client.h */
	uint32_t planes; /* of each accelerator of the chosen fabric; 0: not known */
	uint32_t accelerators; /* of the fabric that the command has chosen, or 0 */
};

static inline bool given(const struct run *run, enum option_id id)
{
	return run->option[id];
}

/* options.c: returns false after a message on stderr */
bool options_parse(struct run *run, int argc, char **argv);
bool parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);
bool parse_seconds(const char *text, int64_t *ns);
bool parse_user(const char *text, uint32_t *uid);
bool option_u32(const struct run *run, enum option_id id, uint32_t *value);
bool option_u64(const struct run *run, enum option_id id, uint64_t *value);
bool option_ns(const struct run *run, enum option_id id, int64_t *value);
bool option_word(const struct run *run, enum option_id id, uint32_t *value);
json_t *option_numbers(const struct run *run, enum option_id id);

/*
 * table.c: copy function, arguments and options of its command to each alias. Call this function
 * before any other.
 */
void resolve_aliases(void);
const struct command *command_find(const char *object, const char *verb);
/* Whether an option, a value of enum option_id, is valid for a command. */
bool takes_option(const struct command *command, size_t id);
/* The object and the verb, in a buffer that the next call overwrites. */
const char *command_name(const struct command *command);
/*
 * The command that an alias refers to, or NULL. The alias of an object has all verbs of another
 * object.
 */
const struct command *object_alias_of(const char *object);

/*
 * suggest.c: the known word that is most like a mistyped one, or NULL. For an object, @object is
 * NULL; for a verb, the object that it belongs to.
 */
const char *suggest_word(const char *object, const char *word);

/* help.c */
bool object_known(const char *object);
void help_all(FILE *stream);
void help_object(FILE *stream, const char *object);
void help_command(FILE *stream, const struct command *command);
enum exit_code dump_commands(void);

/*
 * message.c: diagnostics on stderr. Each is one line, or several on a narrow terminal. With --json
 * they become one JSON object, which end_messages() prints: see Documentation/json.rst.
 */
void begin_messages(const struct command *command, bool json);
void end_messages(enum exit_code code);
void warn_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Add a line to the last message, such as an object to choose from. */
void warn_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Name the kind of object that the last message is about, in JSON. */
void warn_object(const char *object);
/* Whether messages become JSON. Without --json, a message must not need more memory. */
bool messages_are_json(void);
/* Add members to the last message in JSON. Takes over @facts. */
void warn_facts(json_t *facts);
enum exit_code usage_error(const struct run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
enum exit_code exit_of_errno(int error);
/*
 * Check an allocation. The program ends without memory, because it must never send or print an
 * incomplete answer.
 */
void *needed(void *memory);

/* Format text, which the caller frees. Ends the program if memory is short. */
char *format_text(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/*
 * progress.c: work that may take more than two seconds. From then on, the terminal of standard
 * error shows the text and the seconds. progress_end() or a message erases it. With --json or
 * without a terminal, nothing is shown. A second progress_begin() replaces the text. No output may
 * come between begin and end.
 */
void progress_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_end(void);

/*
 * text.c: text for people. Lines are at most as wide as the terminal, unless --wide is given. If
 * standard output is no terminal, lines may have any length, unless COLUMNS gives one.
 */
#define ANY_WIDTH ((size_t)INT32_MAX)

size_t text_width(void);
/* The same for standard error. COLUMNS has no effect on it. */
size_t text_width_of_messages(void);
void text_set_wide(void);
/* Make lines at most @width columns wide, on a wider terminal and without one, too. */
void text_limit(size_t width);
size_t text_columns(const char *text);
/* The number of bytes at the begin of @text that fit into @room columns, and their columns. */
size_t text_fit(const char *text, size_t length, size_t room, size_t *columns);
/* Wrap one paragraph. The stream stands in @column; later lines begin in column @indent. */
void text_wrap(FILE *stream, const char *text, size_t column, size_t indent, size_t width);
/* Print sentences on standard output. A line is printed when its newline is known. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Plural ending of a counted word. */
#define PLURAL(count) ((count) == 1 ? "" : "s")

/* the commands, one file per object */
#define COMMAND(object, verb, function, ...) command_fn function;
#define ALIAS(...)
#include "morphctl/command/commands.def"
#undef ALIAS
#undef COMMAND

#endif
