// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of topologies, by CBC. */
#include <stdio.h>
#include <stdlib.h>

#include <Cbc_C_Interface.h>

#include "segments_program.h"

#define PS_PER_UNIT 1e6 /* so that costs have a good range for floating point */
#define EPSILON 1e-6 /* of the cost: an equal plan is below the limit */

/* Number of columns, because columns without rows would not count. */
struct segments_program {
	const struct segments_problem *problem;
	Cbc_Model *model;
	int columns;
	int *where; /* of the present row */
	double *times;
};

static int add_column(struct segments_program *program, double most, uint64_t ps, bool whole)
{
	char name[16];

	/* CBC matches columns of a start by name. */
	snprintf(name, sizeof(name), "c%d", program->columns);
	Cbc_addCol(program->model, name, 0, most, (double)ps / PS_PER_UNIT, whole, 0, NULL, NULL);
	return program->columns++;
}

/* Each round has one topology. Columns are by round, then by topology. */
static void add_rounds(struct segments_program *program)
{
	const struct segments_problem *problem = program->problem;
	int count = (int)problem->topologies;
	uint64_t *row = calloc(problem->topologies, sizeof(*row));

	for (uint32_t round = 0; round < problem->rounds; round++) {
		problem->price(problem, round, NEVER_PS, row);
		for (int at = 0; at < count; at++) {
			bool goes = row[at] != NEVER_PS;

			program->where[at] =
				add_column(program, goes ? 1 : 0, goes ? row[at] : 0, true);
			program->times[at] = 1;
		}
		Cbc_addRow(program->model, "", count, program->where, program->times, 'E', 1);
	}
	free(row);
}

/* The gain of a topology in a round is at most the change before it. */
static void add_changes(struct segments_program *program, int round)
{
	int count = (int)program->problem->topologies;
	int change = add_column(program, 1, program->problem->change_ps, true);

	for (int at = 0; at < count; at++) {
		const int where[] = { change, round * count + at, (round - 1) * count + at };
		const double times[] = { 1, -1, 1 };

		Cbc_addRow(program->model, "", 3, where, times, 'G', 0);
	}
}

/* The flow out of a topology, with @into the flow into it: equal to its part of the round. */
static void add_flow(struct segments_program *program, int first, int round, int at, bool into)
{
	int count = (int)program->problem->topologies;

	for (int other = 0; other < count; other++) {
		program->where[other] = first + (into ? other * count + at : at * count + other);
		program->times[other] = 1;
	}
	program->where[count] = round * count + at;
	program->times[count] = -1;
	Cbc_addRow(program->model, "", count + 1, program->where, program->times, 'E', 0);
}

static void add_flows(struct segments_program *program, int round)
{
	const struct segments_problem *problem = program->problem;
	int count = (int)problem->topologies, first = program->columns;

	for (int pair = 0; pair < count * count; pair++)
		add_column(program, 1, problem->changes[pair], false);
	for (int at = 0; at < count; at++) {
		add_flow(program, first, round - 1, at, false);
		add_flow(program, first, round, at, true);
	}
}

/* The topology of each round, and the changes; flows follow from these. */
static void begin_with(struct segments_program *program, const uint16_t *start)
{
	const struct segments_problem *problem = program->problem;
	int count = (int)problem->topologies, columns = (int)problem->rounds * count;
	int *where = calloc((size_t)program->columns + 1, sizeof(*where));
	double *values = calloc((size_t)program->columns + 1, sizeof(*values));
	int given = columns;

	for (int at = 0; at < columns; at++) {
		where[at] = at;
		values[at] = start[at / count] == at % count;
	}
	for (uint32_t round = 1; !problem->changes && round < problem->rounds; round++) {
		where[given] = given;
		values[given++] = start[round] != start[round - 1];
	}
	Cbc_setMIPStartI(program->model, given, where, values);
	free(where);
	free(values);
}

static void set_effort(struct segments_program *program, const struct segments_effort *effort)
{
	char text[32];

	Cbc_setParameter(program->model, "logLevel", "0");
	Cbc_setParameter(program->model, "timeMode", "cpu");
	snprintf(text, sizeof(text), "%g", effort->seconds);
	Cbc_setParameter(program->model, "seconds", text);
	if (effort->start)
		begin_with(program, effort->start);
	if (!effort->enough_ps)
		return;
	snprintf(text, sizeof(text), "%.12g",
		 (double)effort->enough_ps / PS_PER_UNIT * (1 + EPSILON));
	Cbc_setParameter(program->model, "cutoff", text);
	Cbc_setParameter(program->model, "maxSolutions", "1");
}

struct segments_answer segments_by_program(const struct segments_problem *problem,
					   const struct segments_effort *effort)
{
	size_t room = problem->topologies + 1;
	struct segments_program program = { .problem = problem,
					    .model = Cbc_newModel(),
					    .where = calloc(room, sizeof(int)),
					    .times = calloc(room, sizeof(double)) };
	struct segments_answer answer = { .found = false };

	add_rounds(&program);
	for (int round = 1; round < (int)problem->rounds; round++) {
		if (problem->changes)
			add_flows(&program, round);
		else
			add_changes(&program, round);
	}
	set_effort(&program, effort);
	Cbc_solve(program.model);
	answer.found = Cbc_numberSavedSolutions(program.model) > 0;
	answer.proved = answer.found && Cbc_isProvenOptimal(program.model) && !effort->enough_ps;
	if (answer.found)
		answer.ps = Cbc_getObjValue(program.model) * PS_PER_UNIT;
	Cbc_deleteModel(program.model);
	free(program.where);
	free(program.times);
	return answer;
}
