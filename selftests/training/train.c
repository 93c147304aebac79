// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data-parallel training: each rank computes the gradients of its share of a batch, and MPI adds
 * them up. The model is a perceptron with one hidden layer, which learns to read digits.
 *
 * 	train STEPS DIRECTORY [CHECKPOINT]
 *
 * Rank 0 writes a checkpoint into DIRECTORY every EVERY steps. The training continues from
 * CHECKPOINT if it is given. SIGUSR1 reports that the memory of the rank's accelerator is lost. The
 * rank then drops its parameters, and the ranks agree on this in the next sum. They go back to the
 * parameters from before the loss, which the rank receives from the lowest rank that has them.
 *
 * Each message is a sum by a ring, so circuits between neighbours are sufficient. The programs of
 * two runs with equal numbers of ranks compute the same losses, bit by bit. Lines of the output:
 *
 * 	process RANK PID
 * 	step STEP LOSS COMPUTED-NS ENDED-NS	of rank 0; times of CLOCK_MONOTONIC
 * 	lost RANK STEP NS			the ranks know that RANK has lost its memory
 * 	rejoined RANK STEP NS			RANK has parameters again; STEP is the next one
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

/* The model: SIDE x SIDE pixels, one hidden layer, ten digits. */
#define SIDE 16
#define INPUTS (SIDE * SIDE)
#define HIDDEN 64
#define CLASSES 10
#define PARAMETERS (INPUTS * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES)

/* The training. */
#define MOST_RANKS 16
#define BATCH 8 /* samples of a rank in a step */
#define SAMPLES 1024
#define EVERY 10 /* steps between checkpoints */
#define RATE 0.2f /* of learning */

/* The drawn digits: a glyph in pixels, and how many pixels of a sample are flipped. */
#define NOISE_PERCENT 4
#define GLYPH_WIDTH 5
#define GLYPH_HEIGHT 7

/* The parts of the model, in the order in which a sum carries them. */
struct model {
	float hidden[INPUTS][HIDDEN];
	float hidden_bias[HIDDEN];
	float out[HIDDEN][CLASSES];
	float out_bias[CLASSES];
};

/* What the ranks add up in a step. */
struct message {
	struct model gradients;
	float loss;
	float lost[MOST_RANKS]; /* by rank */
};

struct checkpoint {
	uint32_t step;
	struct model model;
};

static const uint8_t glyphs[CLASSES][GLYPH_HEIGHT] = {
	{ 14, 17, 19, 21, 25, 17, 14 }, { 4, 12, 4, 4, 4, 4, 14 },  { 14, 17, 1, 2, 4, 8, 31 },
	{ 31, 2, 4, 2, 1, 17, 14 },	{ 2, 6, 10, 18, 31, 2, 2 }, { 31, 16, 30, 1, 1, 17, 14 },
	{ 6, 8, 16, 30, 17, 17, 14 },	{ 31, 1, 2, 4, 8, 8, 8 },   { 14, 17, 17, 14, 17, 17, 14 },
	{ 14, 17, 17, 15, 1, 2, 12 },
};

static uint8_t pixels[SAMPLES][INPUTS];
static struct model model, before; /* before: to go back to */
static uint32_t before_step;
static struct message mine, sum;
static int rank, size;
static volatile sig_atomic_t memory_is_lost;

static void report_loss_of_memory(int number)
{
	(void)number;
	memory_is_lost = 1;
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static uint32_t mix(uint32_t value)
{
	value = (value ^ value >> 16) * 0x7feb352d;
	value = (value ^ value >> 15) * 0x846ca68b;
	return value ^ value >> 16;
}

static int class_of(uint32_t sample)
{
	return (int)(sample % CLASSES);
}

/* Draw a digit of double size at a random place, and turn some pixels. */
static void draw(uint32_t sample)
{
	const uint8_t *glyph = glyphs[class_of(sample)];
	uint32_t chance = mix(sample + 1);
	int left = (int)(chance % (SIDE - 2 * GLYPH_WIDTH + 1));
	int top = (int)(chance / 16 % (SIDE - 2 * GLYPH_HEIGHT + 1));

	for (int y = 0; y < 2 * GLYPH_HEIGHT; y++)
		for (int x = 0; x < 2 * GLYPH_WIDTH; x++)
			pixels[sample][(top + y) * SIDE + left + x] =
				glyph[y / 2] >> (GLYPH_WIDTH - 1 - x / 2) & 1;
	for (uint32_t at = 0; at < INPUTS; at++)
		pixels[sample][at] ^= mix(chance + at) % 100 < NOISE_PERCENT;
}

static void begin(void)
{
	float *value = (float *)&model;

	for (uint32_t sample = 0; sample < SAMPLES; sample++)
		draw(sample);
	for (uint32_t at = 0; at < PARAMETERS; at++)
		value[at] = ((float)(mix(at + 77) % 2001) / 1000 - 1) / 8;
	memset(model.hidden_bias, 0, sizeof(model.hidden_bias));
	memset(model.out_bias, 0, sizeof(model.out_bias));
}

/* Add the gradients of a sample, and its loss. */
static void learn(uint32_t sample)
{
	float active[HIDDEN], delta[CLASSES], back, total = 0, most = -1e30f;
	const uint8_t *input = pixels[sample];

	memcpy(active, model.hidden_bias, sizeof(active));
	for (int i = 0; i < INPUTS; i++)
		for (int h = 0; input[i] && h < HIDDEN; h++)
			active[h] += model.hidden[i][h];
	memcpy(delta, model.out_bias, sizeof(delta));
	for (int h = 0; h < HIDDEN; h++) {
		active[h] = active[h] > 0 ? active[h] : 0;
		for (int c = 0; c < CLASSES; c++)
			delta[c] += active[h] * model.out[h][c];
	}
	for (int c = 0; c < CLASSES; c++)
		most = delta[c] > most ? delta[c] : most;
	for (int c = 0; c < CLASSES; c++)
		total += delta[c] = expf(delta[c] - most);
	for (int c = 0; c < CLASSES; c++)
		delta[c] /= total;
	mine.loss -= logf(delta[class_of(sample)] + 1e-9f);
	delta[class_of(sample)] -= 1;
	for (int c = 0; c < CLASSES; c++)
		mine.gradients.out_bias[c] += delta[c];
	for (int h = 0; h < HIDDEN; h++) {
		if (active[h] <= 0)
			continue;
		back = 0;
		for (int c = 0; c < CLASSES; c++) {
			mine.gradients.out[h][c] += active[h] * delta[c];
			back += model.out[h][c] * delta[c];
		}
		mine.gradients.hidden_bias[h] += back;
		active[h] = back;
	}
	for (int i = 0; i < INPUTS; i++)
		for (int h = 0; input[i] && h < HIDDEN; h++)
			mine.gradients.hidden[i][h] += active[h];
}

static void add_up(void)
{
	MPI_Allreduce(&mine, &sum, sizeof(mine) / sizeof(float), MPI_FLOAT, MPI_SUM,
		      MPI_COMM_WORLD);
}

static void step_down(void)
{
	const float *gradient = (const float *)&sum.gradients;
	float *value = (float *)&model, scale = RATE / (float)(BATCH * size);

	before = model;
	for (uint32_t at = 0; at < PARAMETERS; at++)
		value[at] -= scale * gradient[at];
}

/* The rank that had lost its memory, or -1. */
static int find_lost(void)
{
	for (int at = 0; at < size; at++)
		if (sum.lost[at] > 0)
			return at;
	return -1;
}

/* All ranks take the parameters of the lowest rank that has them. */
static void share(void)
{
	int source = 0;

	while (source < size && sum.lost[source] > 0)
		source++;
	if (source == size)
		MPI_Abort(MPI_COMM_WORLD, 3);
	memset(&mine, 0, sizeof(mine));
	if (rank == source)
		mine.gradients = before;
	add_up();
	model = before = sum.gradients;
}

static void forget(void)
{
	memset(&model, 0, sizeof(model));
	memset(&before, 0, sizeof(before));
}

static void save(const char *directory, uint32_t step)
{
	static struct checkpoint checkpoint;
	char name[256];
	FILE *file;

	checkpoint.step = step;
	checkpoint.model = model;
	snprintf(name, sizeof(name), "%s/step-%u", directory, step);
	file = fopen(name, "w");
	if (!file || fwrite(&checkpoint, sizeof(checkpoint), 1, file) != 1 || fclose(file)) {
		perror(name);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

static uint32_t load(const char *name)
{
	static struct checkpoint checkpoint;
	FILE *file = fopen(name, "r");

	if (!file || fread(&checkpoint, sizeof(checkpoint), 1, file) != 1) {
		perror(name);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	fclose(file);
	model = before = checkpoint.model;
	before_step = checkpoint.step;
	return checkpoint.step;
}

/* Go back to the step that a rank lost. */
static void go_back(int lost)
{
	if (!rank)
		printf("lost %d %u %lld\n", lost, before_step, now_ns());
	share();
	if (!rank)
		printf("rejoined %d %u %lld\n", lost, before_step, now_ns());
}

/* Returns the next step. The loss of memory may come at any time. */
static uint32_t take_step(uint32_t step)
{
	uint32_t first = (step * (uint32_t)size + (uint32_t)rank) * BATCH;
	int is_lost = memory_is_lost, lost;
	long long computed_ns;

	memset(&mine, 0, sizeof(mine));
	for (uint32_t at = 0; !is_lost && at < BATCH; at++)
		learn((first + at) % SAMPLES);
	mine.lost[rank] = (float)is_lost;
	computed_ns = now_ns();
	add_up();
	lost = find_lost();
	if (lost >= 0) {
		if (is_lost)
			memory_is_lost = 0;
		go_back(lost);
		return before_step;
	}
	before_step = step;
	if (memory_is_lost)
		forget();
	else
		step_down();
	if (!rank) {
		printf("step %u %.9g %lld %lld\n", step + 1, sum.loss / (float)(BATCH * size),
		       computed_ns, now_ns());
		fflush(stdout);
	}
	return step + 1;
}

int main(int argc, char **argv)
{
	uint32_t step = 0, steps = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	const char *directory = argc > 2 ? argv[2] : ".";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size > MOST_RANKS)
		MPI_Abort(MPI_COMM_WORLD, 2);
	signal(SIGUSR1, report_loss_of_memory);
	printf("process %d %d\n", rank, (int)getpid());
	fflush(stdout);
	begin();
	before = model;
	if (argc > 3)
		step = load(argv[3]);
	while (step < steps) {
		step = take_step(step);
		if (!rank && step % EVERY == 0)
			save(directory, step);
	}
	MPI_Finalize();
	return 0;
}
