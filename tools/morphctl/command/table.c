// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of commands and options, generated from the .def files. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "morphctl/command/command.h"

#define MANY INT_MAX
#define OPT(id) ((option_set)1 << OPTION_##id)
#define LISTING (OPT(FABRIC) | OPT(JSON) | OPT(FIELDS) | OPT(NOHEADINGS))
#define QUEUED (OPT(WAIT) | OPT(NO_WAIT) | OPT(TIMEOUT))
#define TOKEN (OPT(CONTROLLER) | OPT(EPOCH))
#define CHANGES \
	(QUEUED | OPT(DRY_RUN) | OPT(EACH) | OPT(PREPARE) | OPT(LEASE) | OPT(GENERATION) | TOKEN)
#define SHAPE (OPT(LANES) | OPT(LANE_MASK) | OPT(SRC_PLANE) | OPT(DST_PLANE) | OPT(GUIDES))
#define REQUEST                                                                           \
	(OPT(COUNT) | OPT(TORUS) | OPT(RING_OF) | OPT(MESH) | OPT(GRAPH) | OPT(SIMPLEX) | \
	 OPT(WHOLE_SERVERS) | OPT(STEPS) | OPT(BANDWIDTH) | OPT(LANES) | OPT(TRANSIT) |   \
	 OPT(PROFILE))
#define FAULTY (OPT(INSTANCE) | OPT(JSON) | OPT(FIELDS) | OPT(NOHEADINGS))
#define FOLLOW (OPT(FABRIC) | OPT(ONCE) | OPT(TIMEOUT) | OPT(BANNER) | OPT(DUMP) | OPT(BUFFER))

#define PARTS                                                                                      \
	"PART is accelerator, laser, receiver, element, guide or edge. The INDEX of a laser or a " \
	"receiver may be written ACCELERATOR.PLANE."

#define MONITOR                                                                                 \
	"Each line is an object {\"name\": ..., \"msg\": ...} whose name is that of the "       \
	"notification in the netlink specification. Where notifications were lost a line "      \
	"{\"name\": \"resync\"} follows, and then the present state: lines whose names end in " \
	"'-get'. With --once and --timeout the exit status is 6 when nothing happened in "      \
	"time. Needs CAP_NET_ADMIN."

#define APPLY                                                                                         \
	"FILE is YAML or JSON; '-' reads standard input. It describes slices and their circuits:"     \
	"\n\n"                                                                                        \
	"  slices:\n"                                                                                 \
	"  - name: train\n"                                                                           \
	"    owner: alice\n"                                                                          \
	"    mode: 0660\n"                                                                            \
	"    count: 4\n"                                                                              \
	"    failover: automatic\n"                                                                   \
	"    transit: any\n"                                                                          \
	"    spares: host\n"                                                                          \
	"    reserved: false\n"                                                                       \
	"    ring: {lanes-count: 2, both: true}\n"                                                    \
	"    circuits:\n"                                                                             \
	"    - {src-rank: 0, dst-rank: 2, lanes-count: 1, src-plane: 4, dst-plane: 4}\n\n"            \
	"Aliases and tags are not taken. "                                                            \
	"Instead of count, accelerators lists them by number, PCI address or UUID. Slices "           \
	"that the file does not name are left alone; a slice with neither ring nor circuits "         \
	"keeps the circuits that it has. The differences are printed. New slices are created, "       \
	"all changes of circuits are prepared under a lease, then committed, then confirmed; on "     \
	"any failure they are reverted and the new slices deleted. With --dry-run the kernel "        \
	"validates what it can without changing anything; circuits of a slice that is not there "     \
	"yet can be validated as a ring only. With --controller and --epoch the changes are made on " \
	"behalf of that controller, to which new slices are assigned."

#define PLACE                                                                                   \
	"What is asked for: --count, without circuits; or a torus, ring, mesh or the links of " \
	"a file, with a circuit each way for each link unless --simplex is given. The file of " \
	"--graph has a link in each line: two ranks, numbered from 0; what follows '#' is a "   \
	"remark, and a pair that stands twice has two links. What is free is read from the "    \
	"kernel. The answer is the accelerator of each rank, the fibres of each circuit, what " \
	"that takes and what it must take at least; or why no rack does: too few accelerators " \
	"are free, or so few fibres that lead out of sets of servers that are named. Exit "     \
	"status 0 when there is a plan, and 1 when there is none or when nothing was found "    \
	"and nothing proven. What would be with the other policy on transit is told too. With " \
	"--apply the slice NAME is created and its circuits are lit on just these fibres, in "  \
	"transactions of up to 1024 circuits that the kernel judges; when one fails the slice " \
	"is deleted again. The profile is looked for where the kernel finds its firmware, "     \
	"unless --profile says where it is. With --controller and --epoch what that "           \
	"controller has reserved may be used, and the slice is assigned to it. With --protect " \
	"and --apply the slice may have any spare, and the kernel tries those of the "          \
	"protection first."

#define WHY_NOT                                                                                                   \
	"With --count or --accelerators, and --transit, --ring without a number and --lanes "                     \
	"besides, the kernel is asked. All else is what 'morphctl slice place' is asked for, and planned "        \
	"like that; where it does not fit the binding constraint is named: each is lifted alone, and "            \
	"the first without which the request fits is it. Lifted are, in this order: transit, "                    \
	"whole servers, bandwidth, wavelengths and tier of the request; hardware that is not sound or cordoned; " \
	"spares, that are given to no slice; fibres kept for failover; the light of other slices; "               \
	"other slices. Of a rack that has too few fibres the tightest set of servers is named. Exit "             \
	"status 0 when it would be granted, and 1 when not."

#define DEFRAG                                                                                              \
	"Where 'morphctl slice place' finds too few fibres, circuits of slices that run may be in the way " \
	"which could as well go another. Ranks keep their accelerators. The answer is what is moved, "      \
	"transaction by transaction, and what each tenant would notice of it: a circuit that is lit "       \
	"by its new way before the old goes out is not dark; one without a free port, or without "          \
	"fibres beside its own, is dark for as long as light takes to settle and to be locked to. "         \
	"Slices that can't be moved are named, with the reason. Nothing is changed without --apply, "       \
	"which creates the slice NAME, runs the steps and lights the slice's circuits. Where a step "       \
	"fails what was moved stays where it is, what is out is lit again, and the slice is deleted. "      \
	"Exit status 0 when there is room, 1 when not. Options are those of 'morphctl slice place', but that --objective is about what is moved."

#define TRAFFIC                                                                                     \
	"FILE is YAML or JSON; '-' reads standard input:"                                           \
	"\n\n"                                                                                      \
	"  epoch: 3\n"                                                                              \
	"  ways: 4\n"                                                                               \
	"  demands:\n"                                                                              \
	"  - {from: 0, to: 5, lanes: 12.5, weight: 2, controller: 7}\n\n"                           \
	"Servers are numbers of hosts. A demand takes up to so many of the shortest ways; "         \
	"lambda, if given, weighs the quadratic term; weight is 1 and ways 4 where they are "       \
	"not given. Lanes are made whole by a threshold that follows from epoch and order of "      \
	"the demands, so that all who have the same file get the same. Of a fabric of the kernel, " \
	"what controllers have reserved there is what they decided last: ways whose flow is less "  \
	"than 0.6 lanes away from that stay as they are."

#define BANDWIDTH_PLAN                                                                               \
	"FILE is YAML or JSON; '-' reads standard input:"                                            \
	"\n\n"                                                                                       \
	"  wavelengths: 4\n"                                                                         \
	"  ports: 2\n"                                                                               \
	"  guides: {west: 2}\n"                                                                      \
	"  groups:\n"                                                                                \
	"  - {name: tensor, ring: [0, 1, 2, 3], least: 1, most: 8}\n"                                \
	"  - name: pipeline\n"                                                                       \
	"    hops:\n"                                                                                \
	"    - {from: 0, to: 4, guides: [west]}\n"                                                   \
	"    - {from: 4, to: 0, circuits: 2}\n\n"                                                    \
	"Each accelerator has so many 'ports' (or 'transmit' and 'receive' apart), each guide so "   \
	"many fibres, and each fibre and port a lane of every wavelength. A group gets the same "    \
	"number of lanes on all of its hops: 'least' at least (default: 0) and 'most' at most "      \
	"(default: no limit). A hop has 'circuits' (default: 1) for each lane of its group. The "    \
	"least bandwidth of all groups is as large as can be, then the next, and so on. The "        \
	"answer has the lanes of each group and the resource that it is short of, and the "          \
	"wavelengths of each hop. With --profile or --fabric, ports and wavelengths are those of "   \
	"the profile unless the file has others, and a guide 0-1 stands for the fibres from server " \
	"0 to server 1: with --fabric for those that are free. Exit status 1 when groups can't "     \
	"have their least."

#define SPARE_PLAN                                                                                    \
	"An accelerator is down when it, its server or the supply of its server is down; parts fail " \
	"independently. The answer is the least number of spares so that more accelerators are "      \
	"down at most for the rest of the time, and for comparison the published rule, which counts " \
	"as many too. The accelerators include the spares, because spares fail too. The servers are " \
	"those of the fabric, of --profile, or of --servers and --accelerators. Of a fabric the "     \
	"answer also has the spares that it holds. Exit status 1 when the fabric has too few "        \
	"spares, or when the target leaves no accelerator to tenants."

#define SCHEDULE                                                                                        \
	"FILE is YAML or JSON; '-' reads standard input. It has circuits, and steps that hold them by " \
	"their places in the list, from 0:"                                                             \
	"\n\n"                                                                                          \
	"  loop: true\n"                                                                                \
	"  circuits:\n"                                                                                 \
	"  - {src-rank: 0, dst-rank: 1, lanes-count: 2}\n"                                              \
	"  - {src-rank: 1, dst-rank: 0, lanes: 1, src-plane: 0, dst-plane: 0, guide: [5, 40, 7]}\n"     \
	"  steps:\n"                                                                                    \
	"  - {circuits: [0]}\n"                                                                         \
	"  - {circuits: [0, 1], begin: barrier, deadline-ns: 2000000}\n"                                \
	"  - {circuits: [1], begin: time, after-ns: 1000000}\n\n"                                       \
	"A step is begun by a call unless 'begin' says otherwise. generation and profile-checksum are " \
	"those that the steps were planned for. From now on the slice has all that any step needs; "    \
	"nothing is lit before 'schedule start'."

struct alias {
	const char *object, *verb; /* of the command */
};

#define ALIAS(object_, verb_, of_object_, of_verb_) \
	{                                           \
		.object = object_,                  \
		.verb = verb_,                      \
	},
struct command commands[] = {
#define COMMAND(object_, verb_, function_, arguments_, fewest_, most_, options_, help_, detail_, \
		examples_)                                                                       \
	{                                                                                        \
		.object = object_,                                                               \
		.verb = verb_,                                                                   \
		.function = function_,                                                           \
		.arguments = arguments_,                                                         \
		.fewest = fewest_,                                                               \
		.most = most_,                                                                   \
		.options = (options_) | OPT(HELP),                                               \
		.help = help_,                                                                   \
		.detail = detail_,                                                               \
		.examples = examples_,                                                           \
	},
#include "morphctl/command/commands.def"
#undef ALIAS
#undef COMMAND
};

const size_t commands_count = sizeof(commands) / sizeof(commands[0]);

static const struct alias aliases[] = {
#define COMMAND(...)
#define ALIAS(object_, verb_, of_object_, of_verb_) { .object = of_object_, .verb = of_verb_ },
#include "morphctl/command/commands.def"
#undef ALIAS
#undef COMMAND
};

#define ALIASES (sizeof(aliases) / sizeof(aliases[0]))

static bool is_same_word(const char *one, const char *other)
{
	return one && other ? !strcmp(one, other) : one == other;
}

void resolve_aliases(void)
{
	struct command *alias = &commands[commands_count - ALIASES];

	for (size_t i = 0; i < ALIASES; i++, alias++) {
		const char *object = alias->object, *verb = alias->verb;
		const struct command *command = commands;

		while (strcmp(command->object, aliases[i].object) ||
		       !is_same_word(command->verb, aliases[i].verb))
			command++;
		*alias = *command;
		alias->object = object;
		alias->verb = verb;
		alias->alias_of = command;
	}
}

const struct command *command_find(const char *object, const char *verb)
{
	for (size_t i = 0; i < commands_count; i++) {
		const struct command *command = &commands[i];

		if (strcmp(command->object, object))
			continue;
		if (!command->verb || (verb && !strcmp(command->verb, verb)))
			return command;
	}
	return NULL;
}

const char *command_name(const struct command *command)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s%s%s", command->object, command->verb ? " " : "",
		 command->verb ? command->verb : "");
	return name;
}

const struct command *object_alias_of(const char *object)
{
	for (size_t i = 0; i < commands_count; i++)
		if (!strcmp(commands[i].object, object))
			return commands[i].alias_of;
	return NULL;
}

const struct object_spec objects[] = {
#define OBJECT(name_, help_) { .name = name_, .help = help_ },
#include "morphctl/command/objects.def"
#undef OBJECT
};

const size_t objects_count = sizeof(objects) / sizeof(objects[0]);

const struct option_spec option_specs[OPTION_COUNT_OF] = {
#define OPTION(id, name_, letter_, argument_, help_) \
	[OPTION_##id] = { .name = name_, .letter = letter_, .argument = argument_, .help = help_ },
#include "morphctl/command/options.def"
#undef OPTION
};

_Static_assert(OPTION_COUNT_OF <= 8 * sizeof(option_set),
	       "struct command keeps an option in a bit");

const struct exit_spec exit_specs[] = {
#define EXIT(id, code_, meaning_) { .code = code_, .meaning = meaning_ },
#include "morphctl/command/exits.def"
#undef EXIT
};

const size_t exits_count = sizeof(exit_specs) / sizeof(exit_specs[0]);
