// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of commands and options, generated from the .def files. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "morphctl/command/command.h"

#define MANY INT_MAX
/*
 * A set of options is a bit for each value of enum option_id, in OPTION_WORDS integers. An
 * expression of a command's options has the value of one of them, WORD, which the tables of
 * takes_option() define.
 */
typedef unsigned __int128 option_bits;

#define WORD_BITS (8 * sizeof(option_bits))
#define OPTION_WORDS 2
#define OPT(id) (OPTION_##id / WORD_BITS == WORD ? (option_bits)1 << OPTION_##id % WORD_BITS : 0)
#define PRINTED (OPT(JSON) | OPT(WIDE))
#define LISTING (OPT(FABRIC) | PRINTED | OPT(FIELDS) | OPT(NOHEADINGS))
#define QUEUED (OPT(WAIT) | OPT(NO_WAIT) | OPT(TIMEOUT))
#define TOKEN (OPT(CONTROLLER) | OPT(EPOCH))
#define CHANGES \
	(QUEUED | OPT(DRY_RUN) | OPT(EACH) | OPT(PREPARE) | OPT(LEASE) | OPT(GENERATION) | TOKEN)
#define SHAPE (OPT(LANES) | OPT(LANE_MASK) | OPT(SRC_PLANE) | OPT(DST_PLANE) | OPT(GUIDES))
#define REQUEST                                                                           \
	(OPT(COUNT) | OPT(TORUS) | OPT(RING_OF) | OPT(MESH) | OPT(GRAPH) | OPT(SIMPLEX) | \
	 OPT(WHOLE_SERVERS) | OPT(STEPS) | OPT(BANDWIDTH) | OPT(LANES) | OPT(TRANSIT) |   \
	 OPT(PROFILE))
#define FAULTY (OPT(INSTANCE) | PRINTED | OPT(FIELDS) | OPT(NOHEADINGS))
#define FOLLOW (OPT(FABRIC) | OPT(ONCE) | OPT(TIMEOUT) | OPT(BANNER) | OPT(DUMP) | OPT(BUFFER))

#define PARTS                                                                                \
	"PART is accelerator, laser, receiver, element, guide or edge. INDEX of a laser or " \
	"receiver may be ACCELERATOR.PLANE."

#define OWN_SLICES                                                                                     \
	"Without CAP_NET_ADMIN or netlink, the command finds the slices whose node /dev/morph/sliceN " \
	"you may open."

#define MONITOR                                                                                           \
	"Each line is an object {\"name\": ..., \"msg\": ...}; the name is that of the "                  \
	"notification in the netlink specification. If notifications were lost, a line "                  \
	"{\"name\": \"resync\"} follows, and then the current state: lines whose names end in "           \
	"'-get'. With --once and --timeout the exit status is 6 if nothing happened in time. "            \
	"Without a fabric, the command waits for one. "                                                   \
	"Without CAP_NET_ADMIN or netlink, the command prints the events of the slices whose node "       \
	"/dev/morph/sliceN you may open, and ends with the last of these slices. It keeps them open, so " \
	"that deleting one needs --force."

#define APPLY                                                                                     \
	"FILE is YAML or JSON; '-' reads standard input. It describes slices and their circuits:" \
	"\n\n"                                                                                    \
	"  slices:\n"                                                                             \
	"  - name: train\n"                                                                       \
	"    owner: alice\n"                                                                      \
	"    mode: 0660\n"                                                                        \
	"    ranks-count: 4\n"                                                                    \
	"    failover: automatic\n"                                                               \
	"    transit: any\n"                                                                      \
	"    spare-policy: host\n"                                                                \
	"    reserved: false\n"                                                                   \
	"    ring: {lanes-count: 2, both: true}\n"                                                \
	"    circuits:\n"                                                                         \
	"    - {src-rank: 0, dst-rank: 2, lanes-count: 1, src-plane: 4, dst-plane: 4}\n\n"        \
	"Aliases and tags are not supported. The key 'accelerators' replaces 'ranks-count' "      \
	"and lists accelerators by number, PCI address or UUID. 'spares' lists the spares of "    \
	"the policy 'list'. Slices that the file does not "                                       \
	"name stay unchanged. A slice with neither ring nor circuits keeps its circuits. The "    \
	"command prints the differences and creates new slices. It prepares all changes of "      \
	"circuits under a lease, commits them, then confirms them. On any failure it reverts "    \
	"them and deletes the new slices. With --dry-run the kernel validates the changes and "   \
	"changes nothing; for a slice that does not exist yet, it can validate only a ring. "     \
	"With --controller and --epoch that controller makes the changes and gets the new "       \
	"slices."

#define DIFF                                                                                      \
	"FILE is a file of 'morphctl slice apply'; '-' reads standard input. Each line is one "   \
	"change: '+' adds a slice or a circuit, '-' removes a circuit, '~' moves a circuit or "   \
	"changes an attribute of a slice. The command changes nothing, and the kernel does not "  \
	"validate the changes; 'slice apply --dry-run' asks it to. Exit status 0 when the state " \
	"is as described, 11 when it differs, 1 when no change can make it so, such as for "      \
	"other accelerators of an existing slice. Needs CAP_NET_ADMIN."

#define PLACE                                                                                   \
	"The request is --count, without circuits, or a torus, ring, mesh or the links of a "   \
	"file. Each link has a circuit each way unless --simplex is given. The file of "        \
	"--graph has one link in each line: two ranks, numbered from 0. '#' begins a remark; "  \
	"a pair that appears twice has two links. The kernel reports which resources are "      \
	"free. A plan lists the accelerator of each rank, the fibres of each circuit, the "     \
	"numbers of servers and fibres, and their minimums. A refusal gives the reason for "    \
	"each rack: too few free accelerators, or too few fibres out of the listed servers. "   \
	"Exit status 0 when there is a plan, 1 when there is none or the search was "           \
	"undecided. The answer also reports the result with the other transit policy. With "    \
	"--apply the slice NAME is created and its circuits are lit on exactly these fibres, "  \
	"in transactions of up to 1024 circuits. If one fails, the slice is deleted again. "    \
	"The profile is read from the kernel's firmware directory unless --profile gives its "  \
	"file. With --controller and --epoch the plan may use that controller's reservations, " \
	"and the slice is assigned to it. With --protect and --apply the slice may have any "   \
	"spare, and the kernel prefers those of the protection."

#define WHY_NOT                                                                                    \
	"With --count or --accelerators, and --transit, --ring without a number and --lanes, "     \
	"the kernel answers. All other requests are planned as by 'morphctl slice place'. If "     \
	"such a request does not fit, the command lifts one constraint at a time and names "       \
	"the first without which it fits. The order is: transit, whole servers, bandwidth, "       \
	"wavelengths and tier of the request; failed or cordoned hardware; spares; fibres "        \
	"kept for failover; circuits of other slices; other slices. For a rack with too few "      \
	"fibres, the answer names the set of servers with the worst shortage. "                    \
	"Without CAP_NET_ADMIN or netlink, --count and --accelerators are tried through the node " \
	"/dev/morph/fabricN, with your own quota and without --ring. Exit status 0 "               \
	"when the request would be granted, 1 when not."

#define DEFRAG                                                                                  \
	"If 'morphctl slice place' finds too few fibres, rerouting circuits of running slices " \
	"may free them. Ranks keep their accelerators. The answer lists the moves of each "     \
	"transaction and their effect on each tenant. A circuit that is lit on its new path "   \
	"before the old path goes dark has no dark time. A circuit without a free port or "     \
	"without other fibres is dark while its light settles and its receiver locks. Slices "  \
	"that cannot move are listed with the reason. Without --apply nothing is changed. "     \
	"With --apply the command creates the slice NAME, runs the steps and lights the "       \
	"slice's circuits. If a step fails, earlier moves stay, dark circuits are lit again "   \
	"and the slice is deleted. Exit status 0 when the slice fits, 1 when not. The options " \
	"are those of 'morphctl slice place', except that --objective is about the moves."

#define TRAFFIC                                                                               \
	"FILE is YAML or JSON; '-' reads standard input:"                                     \
	"\n\n"                                                                                \
	"  decision-epoch: 3\n"                                                               \
	"  ways: 4\n"                                                                         \
	"  demands:\n"                                                                        \
	"  - {src-host: 0, dst-host: 5, amount-lanes: 12.5, weight: 2, controller: 7}\n\n"    \
	"'src-host' and 'dst-host' are numbers of servers. A demand uses up to 'ways' of "    \
	"the shortest paths (default: 4). 'lambda' weighs the quadratic term. The default "   \
	"of 'weight' is 1. A threshold that follows from the epoch and the order of the "     \
	"demands rounds lanes to "                                                            \
	"whole numbers, so that equal files give equal results. For a fabric of the kernel, " \
	"the current reservations of controllers count as their last decision: paths whose "  \
	"flow differs by less than 0.6 lanes keep their lanes."

#define BANDWIDTH_PLAN                                                                            \
	"FILE is YAML or JSON; '-' reads standard input:"                                         \
	"\n\n"                                                                                    \
	"  wavelengths-count: 4\n"                                                                \
	"  ports-count: 2\n"                                                                      \
	"  guides: {west: 2}\n"                                                                   \
	"  groups:\n"                                                                             \
	"  - {name: tensor, ring: [0, 1, 2, 3], least-lanes-count: 1}\n"                          \
	"  - name: pipeline\n"                                                                    \
	"    hops:\n"                                                                             \
	"    - {src-accelerator: 0, dst-accelerator: 4, guide-names: [west]}\n"                   \
	"    - {src-accelerator: 4, dst-accelerator: 0, circuits-count: 2}\n\n"                   \
	"'ports-count' is the number of ports of each accelerator; 'transmit' and 'receive' set " \
	"them separately. 'guides' gives the number of fibres of each guide. Each fibre and "     \
	"port has a lane of every wavelength. A group gets the same number of lanes on all of "   \
	"its hops: at least 'least-lanes-count' (default: 0) and at most 'most-lanes-count' "     \
	"(default: no limit). A "                                                                 \
	"hop has 'circuits-count' circuits (default: 1) for each lane of its group. The planner " \
	"maximises the smallest bandwidth of all groups, then the next, and so on. The answer "   \
	"has the lanes of each group, the resource that limits it, and the wavelengths of "       \
	"each hop. With --profile or --fabric, ports and wavelengths are those of the profile "   \
	"unless the file gives others. A guide 0-1 is then the set of fibres from server 0 to "   \
	"server 1; with --fabric, only the free ones. Exit status 1 when a group cannot have "    \
	"its least lanes."

#define MATCHINGS_FIND                                                                          \
	"An endpoint is a port of a hexagonal mesh, a transmit and a receive port of it, or "   \
	"port 0 of an accelerator. In each round all circuits are lit at the same time, and "   \
	"no element needs two states. For a fabric, the driver's validator also judges power, " \
	"margin and isolation of each round. The search minimises the number of rounds, then "  \
	"the longest route and all routes together, then the elements written between rounds. " \
	"The answer has a lower bound on the rounds and its proof: degree, distance, or a "     \
	"fractional flow. If the search chooses the ports, the bound holds for any ports. A "   \
	"refusal names two endpoints without a route, or the lower bound. Without --profile "   \
	"and --mesh-size, the endpoints are healthy accelerators of the fabric, and elements "  \
	"that are not healthy pass no light. --steps limits the search, in moves: a move "      \
	"exchanges circuits of two rounds and routes both. With --targets the rounds have the " \
	"circuits to the targets only, mostly one round, as a switch has. An endpoint of a "    \
	"mesh then needs the ports of its circuits only: --ports 4: sends and --ports :22 "     \
	"receives. The same options give the same "                                             \
	"answer on every machine. Exit status 0 when there are rounds, 1 when there are none "  \
	"or the search was undecided."

#define JOBS                                                                                      \
	"FILE is YAML or JSON; '-' reads standard input:"                                         \
	"\n\n"                                                                                    \
	"  bandwidth-mbps: 40000\n"                                                               \
	"  dark-ns: 50000000\n"                                                                   \
	"  sites:\n"                                                                              \
	"  - {sites-count: 64, ports-count: 24, slots-count: 4}\n"                                \
	"  jobs:\n"                                                                               \
	"  - name: llama\n"                                                                       \
	"    push-bytes: 552000000\n"                                                             \
	"    iterations-count: 90\n"                                                              \
	"    parts:\n"                                                                            \
	"    - {site: 0, workers-count: 4}\n"                                                     \
	"    - {site: 7, workers-count: 2}\n\n"                                                   \
	"A site is a server or a rack. 'bandwidth-mbps' is the bandwidth of a circuit, "          \
	"'dark-ns' the time for which a new circuit is dark. An entry of 'sites' describes "      \
	"'sites-count' sites (default: 1). A site has ports for circuits, slots for "             \
	"aggregation in the network, and CPU aggregators: 'aggregators-count' (default: no "      \
	"limit) with 'aggregator-mbps' each. In each iteration a job computes for 'compute-ns' "  \
	"(default: 0), and each worker pushes 'push-bytes' to the root and pulls as many. "       \
	"'root-site' is the site with the most workers by default. 'arrival-ns' is its arrival "  \
	"(default: 0).\n\n"                                                                       \
	"The state of a running system has further keys: 'now-ns', and 'changed-ns' for the "     \
	"last change of circuits; 'circuits' and 'limits' with entries {a-site: 0, b-site: 1, "   \
	"circuits-count: 2}, where limits have 'circuits-limit'; for a part 'left-bytes' (of "    \
	"each worker), 'slot' and, if the policy lets jobs hold circuits, 'circuits-count'. "     \
	"Conditions of the decision are 'gap-ns', the least time between two changes of "         \
	"circuits; 'age-ns', after which a waiting job precedes younger ones; 'dark-fabric', if " \
	"a change darkens all circuits; and 'all-slots', if a job uses slots at all its sites "   \
	"or at none.\n\n"                                                                         \
	"A trace in CSV has the columns arrival_s, workers, bytes, iterations, compute_s and "    \
	"sites, with these names in its first line. 'sites' is the site of each worker, "         \
	"separated by blanks. '#' begins a comment."

#define SPARE_PLAN                                                                              \
	"An accelerator is down when it, its server or the power supply of its server is "      \
	"down. Parts fail independently. The answer is the smallest number of spares with "     \
	"which the target is met, and for comparison the number by the published rule. The "    \
	"number of accelerators includes the spares, because spares fail too. The servers are " \
	"those of the fabric, of --profile, or of --servers and --accelerators. For a fabric "  \
	"the answer also has the number of its spares. Exit status 1 when the fabric has too "  \
	"few spares, or when the target leaves no accelerator to tenants."

#define SCHEDULE                                                                                     \
	"FILE is YAML or JSON; '-' reads standard input. It has a list of circuits, and steps that " \
	"name circuits by their position in the list, from 0:"                                       \
	"\n\n"                                                                                       \
	"  loop: true\n"                                                                             \
	"  circuits:\n"                                                                              \
	"  - {src-rank: 0, dst-rank: 1, lanes-count: 2}\n"                                           \
	"  - {src-rank: 1, dst-rank: 0, lane-mask: 1, src-plane: 0, dst-plane: 0,\n"                 \
	"     guides: [5, 40, 7]}\n"                                                                 \
	"  steps:\n"                                                                                 \
	"  - {circuits: [0]}\n"                                                                      \
	"  - {circuits: [0, 1], begin: barrier, deadline-ns: 2000000}\n"                             \
	"  - {circuits: [1], begin: time, after-ns: 1000000}\n\n"                                    \
	"A call begins a step unless 'begin' is given. 'generation' and 'profile-checksum' "         \
	"are those of the plan of the steps. The slice reserves everything that any step "           \
	"needs; nothing is lit before 'schedule start'."

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

_Static_assert(OPTION_COUNT_OF <= OPTION_WORDS * WORD_BITS, "an option has no bit");

#define COMMAND(object, verb, function, arguments, fewest, most, options, ...) \
	(options) | OPT(HELP),
#define ALIAS(...)
static const option_bits option_table[OPTION_WORDS][sizeof(commands) / sizeof(commands[0])] = {
	{
#define WORD 0
#include "morphctl/command/commands.def"
#undef WORD
	},
	{
#define WORD 1
#include "morphctl/command/commands.def"
#undef WORD
	},
};
#undef ALIAS
#undef COMMAND

bool takes_option(const struct command *command, size_t id)
{
	size_t at = (size_t)((command->alias_of ? command->alias_of : command) - commands);

	return option_table[id / WORD_BITS][at] >> id % WORD_BITS & 1;
}

const struct exit_spec exit_specs[] = {
#define EXIT(id, code_, meaning_) { .code = code_, .meaning = meaning_ },
#include "morphctl/command/exits.def"
#undef EXIT
};

const size_t exits_count = sizeof(exit_specs) / sizeof(exit_specs[0]);
