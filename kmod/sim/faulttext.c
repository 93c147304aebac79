// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse, print and randomly generate faults.
 */
#include <linux/ctype.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "sim.h"

#define COMMON_ARGUMENTS \
	(BIT(SIM_ARGUMENT_AFTER) | BIT(SIM_ARGUMENT_AT_OP) | BIT(SIM_ARGUMENT_FOR))
#define MOST_RANDOM	256
#define MOST_MDB	200000

struct knob {
	const char *name;
	enum sim_target target;
	enum sim_argument argument;
	const char *hook;
	const char *meaning;
};

static const struct knob knobs[] = {
#define SIM_FAULT(name, target, argument, hook, meaning) \
	[SIM_FAULT_##name] = { #name, SIM_TARGET_##target, SIM_ARGUMENT_##argument, hook, meaning },
#include "fault_table.h"
#undef SIM_FAULT
};

static const char * const target_texts[] = {
	[SIM_TARGET_ACCELERATOR] = "accelerator",
	[SIM_TARGET_LASER] = "accelerator.plane[.lanes]",
	[SIM_TARGET_ELEMENT] = "element",
	[SIM_TARGET_GUIDE] = "guide",
	[SIM_TARGET_RECEIVER] = "accelerator.plane",
	[SIM_TARGET_DEVICE] = "-",
};

static const char * const argument_names[SIM_ARGUMENTS_COUNT] = {
	[SIM_ARGUMENT_STATE] = "state",
	[SIM_ARGUMENT_MDB] = "mdb",
	[SIM_ARGUMENT_NS] = "ns",
	[SIM_ARGUMENT_PERIOD] = "period",
	[SIM_ARGUMENT_COUNT] = "count",
	[SIM_ARGUMENT_EVERY] = "every",
	[SIM_ARGUMENT_LATE] = "late",
	[SIM_ARGUMENT_DONE] = "done",
	[SIM_ARGUMENT_AFTER] = "after",
	[SIM_ARGUMENT_AT_OP] = "at_op",
	[SIM_ARGUMENT_FOR] = "for",
};

/* Store the reason for refusing a line. */
__printf(2, 3)
static int refuse(struct sim_hardware *hw, const char *format, ...)
{
	va_list arguments;

	lockdep_assert_held(&hw->control_mutex);
	va_start(arguments, format);
	vsnprintf(hw->refusal.text, sizeof(hw->refusal.text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* The arguments that a knob takes besides its target. */
static u32 arguments_of(const struct knob *knob)
{
	switch ((enum sim_fault_type)(knob - knobs)) {
	case SIM_FAULT_accelerator_flapping:
		return BIT(SIM_ARGUMENT_PERIOD) | BIT(SIM_ARGUMENT_COUNT) |
		       BIT(SIM_ARGUMENT_AFTER) | BIT(SIM_ARGUMENT_AT_OP);
	case SIM_FAULT_guide_drifting:
		return BIT(SIM_ARGUMENT_MDB) | BIT(SIM_ARGUMENT_PERIOD) |
		       BIT(SIM_ARGUMENT_AFTER) | BIT(SIM_ARGUMENT_AT_OP);
	case SIM_FAULT_programming_error:
		return BIT(SIM_ARGUMENT_EVERY) | BIT(SIM_ARGUMENT_DONE) | COMMON_ARGUMENTS;
	case SIM_FAULT_programming_timeout:
		return BIT(SIM_ARGUMENT_EVERY) | BIT(SIM_ARGUMENT_LATE) | BIT(SIM_ARGUMENT_DONE) |
		       COMMON_ARGUMENTS;
	default:
		if (knob->argument == SIM_ARGUMENT_NONE)
			return COMMON_ARGUMENTS;
		return BIT(knob->argument) | COMMON_ARGUMENTS;
	}
}

static int check_argument(struct sim_hardware *hw, const struct sim_fault_spec *spec,
			  enum sim_argument argument, u64 value)
{
	const struct sim_optics *o = &hw->optics;
	u32 states;

	switch (argument) {
	case SIM_ARGUMENT_STATE:
		states = o->kinds[o->elements[spec->index].kind].states;
		if (value >= states)
			return refuse(hw, "state=%llu: element %u has the states 0 to %u", value,
				      spec->index, states - 1);
		return 0;
	case SIM_ARGUMENT_MDB:
		if (!value || value > MOST_MDB)
			return refuse(hw, "mdb=%llu: must be 1 to %u", value, MOST_MDB);
		return 0;
	case SIM_ARGUMENT_COUNT:
		if (!value || value > 1000)
			return refuse(hw, "count=%llu: must be 1 to 1000", value);
		return 0;
	case SIM_ARGUMENT_PERIOD:
		if (value < 2 || value > SIM_MAX_NS)
			return refuse(hw, "period=%llu: must be 2 to %llu", value, SIM_MAX_NS);
		return 0;
	case SIM_ARGUMENT_NS:
	case SIM_ARGUMENT_LATE:
	case SIM_ARGUMENT_FOR:
		if (value > SIM_MAX_NS)
			return refuse(hw, "%s=%llu: must be at most %llu",
				      argument_names[argument], value, SIM_MAX_NS);
		return 0;
	default:
		return 0;
	}
}

/* Parse one name=value. */
static int parse_argument(struct sim_hardware *hw, const struct knob *knob, char *word,
			  struct sim_fault_spec *spec)
{
	char *value = strchr(word, '=');
	int argument;

	if (!value)
		return refuse(hw, "'%s' is not name=value", word);
	*value++ = '\0';
	argument = match_string(argument_names, ARRAY_SIZE(argument_names), word);
	if (argument < 0 || !(arguments_of(knob) & BIT(argument)))
		return refuse(hw, "'%s' takes no '%s'; see knobs", knob->name, word);
	if (kstrtou64(value, 0, &spec->arguments[argument]))
		return refuse(hw, "%s='%s' is not a number", word, value);
	spec->given |= BIT(argument);
	return check_argument(hw, spec, argument, spec->arguments[argument]);
}

static int parse_index(struct sim_hardware *hw, const char *word, const char *what, u32 count,
		       u32 *index)
{
	if (kstrtou32(word, 0, index) || *index >= count)
		return refuse(hw, "'%s' is not a %s: must be a number below %u", word, what, count);
	return 0;
}

/* Parse accelerator.plane, and for lasers .lanes. */
static int parse_port(struct sim_hardware *hw, char *word, bool lanes, struct sim_fault_spec *spec)
{
	const struct sim_optics *o = &hw->optics;
	char *rest = word, *part = strsep(&rest, ".");
	u32 accelerator, plane;
	int err;

	err = parse_index(hw, part, "accelerator", o->accelerators_count, &accelerator);
	if (err)
		return err;
	part = strsep(&rest, ".");
	err = parse_index(hw, part ?: "", "plane", o->planes, &plane);
	if (err)
		return err;
	spec->index = accelerator * o->planes + plane;
	spec->lanes = o->all_lanes;
	if (!rest)
		return 0;
	if (!lanes)
		return refuse(hw, "a receiver is <accelerator>.<plane>, without lanes");
	if (kstrtou64(rest, 16, &spec->lanes) || !spec->lanes || spec->lanes & ~o->all_lanes)
		return refuse(hw, "'%s' is not a mask of lanes: hexadecimal, at most 0x%llx", rest,
			      o->all_lanes);
	return 0;
}

static int parse_target(struct sim_hardware *hw, const struct knob *knob, char *word,
			struct sim_fault_spec *spec)
{
	const struct sim_optics *o = &hw->optics;
	int err;

	switch (knob->target) {
	case SIM_TARGET_ACCELERATOR:
		return parse_index(hw, word, "accelerator", o->accelerators_count, &spec->index);
	case SIM_TARGET_LASER:
		return parse_port(hw, word, true, spec);
	case SIM_TARGET_ELEMENT:
		return parse_index(hw, word, "element", o->elements_count, &spec->index);
	case SIM_TARGET_GUIDE:
		err = parse_index(hw, word, "guide", o->guides_count, &spec->index);
		if (!err && spec->type == SIM_FAULT_fibre_cut &&
		    o->guides[spec->index].class < MORPH_GUIDE_FIBRE)
			err = refuse(hw, "guide %u is not a fibre: its class is %u, not 2 or 3",
				     spec->index, o->guides[spec->index].class);
		return err;
	case SIM_TARGET_RECEIVER:
		return parse_port(hw, word, false, spec);
	default:
		return 0;
	}
}

static char *next_word(char **rest)
{
	char *word;

	do {
		word = strsep(rest, " \t\n");
	} while (word && !*word);
	return word;
}

static int parse_fault(struct sim_hardware *hw, const char *name, char *rest,
		       struct sim_fault_spec *spec)
{
	const struct knob *knob;
	char *word;
	int err;

	for (knob = knobs; knob < knobs + ARRAY_SIZE(knobs); knob++)
		if (!strcmp(knob->name, name))
			break;
	if (knob == knobs + ARRAY_SIZE(knobs))
		return refuse(hw, "'%s' is not a fault; see knobs", name);
	memset(spec, 0, sizeof(*spec));
	spec->type = knob - knobs;
	word = next_word(&rest);
	if (knob->target != SIM_TARGET_DEVICE || (word && !strcmp(word, "-"))) {
		if (!word)
			return refuse(hw, "'%s' needs a target: %s", name,
				      target_texts[knob->target]);
		err = parse_target(hw, knob, word, spec);
		if (err)
			return err;
		word = next_word(&rest);
	}
	for (; word; word = next_word(&rest)) {
		err = parse_argument(hw, knob, word, spec);
		if (err)
			return err;
	}
	return 0;
}

/* Choose a fault by a pseudo-random number. */
static int random_fault(struct sim_hardware *hw, u64 number, u64 over,
			struct sim_fault_spec *spec)
{
	const struct sim_optics *o = &hw->optics;
	u64 target = sim_mix(number), value = sim_mix(target);
	const u32 counts[] = {
		[SIM_TARGET_ACCELERATOR] = o->accelerators_count,
		[SIM_TARGET_LASER] = o->ports_count,
		[SIM_TARGET_ELEMENT] = o->elements_count,
		[SIM_TARGET_GUIDE] = o->guides_count,
		[SIM_TARGET_RECEIVER] = o->ports_count,
		[SIM_TARGET_DEVICE] = 1,
	};
	const struct knob *knob;
	u64 rest;

	memset(spec, 0, sizeof(*spec));
	div64_u64_rem(number, SIM_FAULT_provider_removed, &rest);
	spec->type = rest;
	knob = &knobs[spec->type];
	if (!counts[knob->target])
		return -EAGAIN;
	div64_u64_rem(target, counts[knob->target], &rest);
	spec->index = rest;
	if (knob->target == SIM_TARGET_LASER)
		spec->lanes = BIT_ULL((u32)value % o->wavelengths);
	if (spec->type == SIM_FAULT_fibre_cut && o->guides[rest].class < MORPH_GUIDE_FIBRE)
		return -EAGAIN;
	if (knob->argument == SIM_ARGUMENT_MDB) {
		spec->given = BIT(SIM_ARGUMENT_MDB);
		spec->arguments[SIM_ARGUMENT_MDB] = 1000 + (u32)value % 20000;
	}
	spec->given |= BIT(SIM_ARGUMENT_AFTER);
	if (over) {
		div64_u64_rem(sim_mix(value), over, &rest);
		spec->arguments[SIM_ARGUMENT_AFTER] = 1 + rest;
	}
	return 0;
}

/* Execute "random <seed> <count> [over=<operations>]". */
static int random_line(struct sim_hardware *hw, char *rest)
{
	char *seed_word = next_word(&rest), *count_word = next_word(&rest);
	char *over_word = next_word(&rest);
	struct sim_fault_spec spec;
	u64 seed, over = 0;
	u32 count, done = 0;
	int err;

	if (!seed_word || !count_word || kstrtou64(seed_word, 0, &seed) ||
	    kstrtou32(count_word, 0, &count) || count > MOST_RANDOM)
		return refuse(hw, "must be: random <seed> <count up to %u> [over=<operations>]",
			      MOST_RANDOM);
	if (over_word && (strncmp(over_word, "over=", 5) || kstrtou64(over_word + 5, 0, &over)))
		return refuse(hw, "'%s' is not over=<operations>", over_word);
	while (done < count) {
		seed = sim_mix(seed);
		if (random_fault(hw, seed, over, &spec))
			continue;
		err = sim_fault_add(hw, &spec);
		if (err)
			return err;
		done++;
	}
	return 0;
}

/**
 * sim_fault_line() - inject the fault that a line describes
 * @hw: hardware; its control_mutex is held
 * @line: "<name> <target> [name=value]..." or "random <seed> <count> ..."; modified
 *
 * Return: 0, or a negative errno with the reason in the hardware's refusal.
 */
int sim_fault_line(struct sim_hardware *hw, char *line)
{
	struct sim_fault_spec spec;
	char *name = next_word(&line);
	int err;

	if (!name)
		return refuse(hw, "an empty line; see knobs");
	if (!strcmp(name, "random"))
		return random_line(hw, line);
	err = parse_fault(hw, name, line, &spec);
	if (err)
		return err;
	err = sim_fault_add(hw, &spec);
	if (err == -ENOSPC)
		refuse(hw, "%u faults are active, the maximum; clear some", SIM_MAX_FAULTS);
	return err;
}

/* Clear all faults ("all"), or one by its number. */
int sim_clear_line(struct sim_hardware *hw, char *line)
{
	char *word = next_word(&line);
	u32 id;
	int err;

	if (word && !strcmp(word, "all")) {
		sim_fault_clear_all(hw);
		return 0;
	}
	if (!word || kstrtou32(word, 0, &id))
		return refuse(hw, "must be 'all', or the number of a line of fault");
	err = sim_fault_clear(hw, id);
	if (err)
		refuse(hw, "no fault %u", id);
	return err;
}

/* Execute "<element> <state>". */
int sim_flip_line(struct sim_hardware *hw, char *line)
{
	const struct sim_optics *o = &hw->optics;
	char *element_word = next_word(&line), *state_word = next_word(&line);
	u32 element, state, states;
	int err;

	if (!element_word || !state_word)
		return refuse(hw, "must be: <element> <state>");
	err = parse_index(hw, element_word, "element", o->elements_count, &element);
	if (err)
		return err;
	states = o->kinds[o->elements[element].kind].states;
	err = parse_index(hw, state_word, "state of that element", states, &state);
	if (err)
		return err;
	err = sim_flip(hw, element, state);
	if (err)
		refuse(hw, "element %u is stuck", element);
	return err;
}

/* Execute "<accelerator> <UUID>". */
int sim_swap_line(struct sim_hardware *hw, char *line)
{
	char *accelerator_word = next_word(&line), *uuid_word = next_word(&line);
	u32 accelerator;
	uuid_t uuid;
	int err;

	if (!accelerator_word || !uuid_word || uuid_parse(uuid_word, &uuid))
		return refuse(hw, "must be: <accelerator> <UUID>");
	err = parse_index(hw, accelerator_word, "accelerator", hw->optics.accelerators_count,
			  &accelerator);
	if (!err)
		sim_swap(hw, accelerator, &uuid);
	return err;
}

/* Print a fault in the notation of sim_fault_line(). */
void sim_fault_format(const struct sim_hardware *hw, const struct sim_fault_spec *spec,
		      char *text, size_t size)
{
	const struct knob *knob = &knobs[spec->type];
	const u32 planes = hw->optics.planes;
	int at, i;

	at = scnprintf(text, size, "%s ", knob->name);
	switch (knob->target) {
	case SIM_TARGET_LASER:
		at += scnprintf(text + at, size - at, "%u.%u.0x%llx", spec->index / planes,
				spec->index % planes, spec->lanes);
		break;
	case SIM_TARGET_RECEIVER:
		at += scnprintf(text + at, size - at, "%u.%u", spec->index / planes,
				spec->index % planes);
		break;
	case SIM_TARGET_DEVICE:
		at += scnprintf(text + at, size - at, "-");
		break;
	default:
		at += scnprintf(text + at, size - at, "%u", spec->index);
		break;
	}
	for (i = 0; i < SIM_ARGUMENTS_COUNT; i++)
		if (spec->given & BIT(i))
			at += scnprintf(text + at, size - at, " %s=%llu", argument_names[i],
					spec->arguments[i]);
}

/* Print the faults: name, target, arguments, affected operations, meaning. */
void sim_knobs_show(struct seq_file *file)
{
	const struct knob *knob;
	u32 arguments, i;

	for (knob = knobs; knob < knobs + ARRAY_SIZE(knobs); knob++) {
		char separator = '\t';

		seq_printf(file, "%s\t%s", knob->name, target_texts[knob->target]);
		arguments = arguments_of(knob);
		for (i = 0; i < SIM_ARGUMENTS_COUNT; i++) {
			if (!(arguments & BIT(i)))
				continue;
			seq_printf(file, "%c%s", separator, argument_names[i]);
			separator = ',';
		}
		seq_printf(file, "\t%s\t%s\n", knob->hook, knob->meaning);
	}
}
