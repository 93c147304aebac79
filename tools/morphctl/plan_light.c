// SPDX-License-Identifier: GPL-2.0-or-later
/* morphctl plan --profile: does what is planned have ways on an empty fabric? */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "profile.h"

static const char *const verdicts[] = { "", "feasible", "infeasible", "undecided" };

/* A comma with nothing before or after it. */
static bool has_gap(const char *list)
{
	size_t length = strlen(list);

	return !length || *list == ',' || list[length - 1] == ',' || strstr(list, ",,");
}

/* As --at says, one after the other, or from the first accelerator on. */
static enum exit_code ask_accelerators(struct run *run, uint32_t ranks, uint32_t *accelerators)
{
	char *copy, *place = NULL;
	enum exit_code code = EXIT_CODE_OK;
	uint32_t count = 0;

	for (uint32_t rank = 0; rank < ranks; rank++)
		accelerators[rank] = rank;
	if (!given(run, OPTION_AT))
		return EXIT_CODE_OK;
	if (has_gap(run->option[OPTION_AT]))
		return usage_error(run, "--at wants a number on each side of a comma, not '%s'",
				   run->option[OPTION_AT]);
	copy = needed(strdup(run->option[OPTION_AT]));
	for (char *word = strtok_r(copy, ",", &place); word && !code && count <= ranks;
	     word = strtok_r(NULL, ",", &place), count++)
		if (count < ranks)
			code = resolve_number(run, "accelerator", word, &accelerators[count]);
	free(copy);
	if (!code && count != ranks)
		return usage_error(run,
				   "--at wants the accelerators of %u rank%s, divided by commas",
				   ranks, PLURAL(ranks));
	return code;
}

static enum exit_code light(struct planning *planning, struct morph_model *model)
{
	MORPH_OPTS(morph_light_opts, opts, .count_planes = true);
	struct run *run = planning->run;
	uint32_t ranks = planning->wanted.ranks;
	uint32_t *accelerators = needed(calloc(ranks + 1UL, sizeof(*accelerators)));
	struct morph_ledger *ledger = NULL;
	enum exit_code code = ask_accelerators(run, ranks, accelerators);
	int error = 0;

	if (!code && (!option_u32(run, OPTION_LANES, &opts.lanes) ||
		      !option_word(run, OPTION_BEGIN, &opts.begin)))
		code = EXIT_CODE_USAGE;
	if (!code)
		code = profile_ledger(run, MORPH_ANY, 0, model, &ledger);
	if (!code)
		error = morph_schedule_light(planning->schedule, ledger, accelerators, ranks, &opts,
					     planning->steps, &planning->light);
	morph_ledger_free(ledger);
	free(accelerators);
	return error < 0 ? plan_error(run, error) : code;
}

enum exit_code plan_light(struct planning *planning)
{
	struct run *run = planning->run;
	struct morph_model *model = NULL;
	uint32_t fabric;
	enum exit_code code;

	if (morph_schedule_verdict(planning->schedule) != MORPH_FEASIBLE)
		return EXIT_CODE_OK;
	if (planning->target.slice)
		return target_light(planning);
	if (!given(run, OPTION_PROFILE))
		return EXIT_CODE_OK;
	code = profile_model(run, &fabric, &model);
	if (!code)
		code = light(planning, model);
	morph_model_put(model);
	return code;
}

void plan_light_write(const struct morph_light *light)
{
	if (light->verdict == MORPH_FEASIBLE)
		printf("its light has ways: %u step%s of %u circuit%s\n\n", light->steps,
		       PLURAL(light->steps), light->circuits, PLURAL(light->circuits));
	else if (light->verdict)
		printf("its light is %s: %s\n%s", verdicts[light->verdict], light->why,
		       light->planes ? "" : "\n");
	if (light->verdict && light->verdict != MORPH_FEASIBLE && light->planes == 1)
		printf("of its planes the first has ways, alone\n\n");
	else if (light->verdict && light->verdict != MORPH_FEASIBLE && light->planes)
		printf("of its planes the first %u go together\n\n", light->planes);
}

void plan_light_add(const struct morph_light *light, json_t *report)
{
	json_t *record;

	if (!light->verdict)
		return;
	record = json_pack("{s:s, s:i}", "verdict", verdicts[light->verdict], "planes-count",
			   (int)light->planes);
	if (light->verdict == MORPH_FEASIBLE) {
		json_object_set_new(record, "steps-count", json_integer(light->steps));
		json_object_set_new(record, "circuits-count", json_integer(light->circuits));
	} else {
		json_object_set_new(record, "text", json_string(light->why));
		if (light->step != MORPH_ANY)
			json_object_set_new(record, "step", json_integer(light->step));
		json_object_set_new(record, "have", json_integer(light->have));
		json_object_set_new(record, "need", json_integer(light->need));
	}
	json_object_set_new(report, "light", record);
}
