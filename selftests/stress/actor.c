// SPDX-License-Identifier: GPL-2.0-only
/*
 * Somebody who acts by chance, for selftests/stress/campaign:
 *
 *	actor tenant SEED LOG COUNT FABRIC UID GIVE TAKE
 *	actor admin SEED LOG COUNT FABRIC ACCELERATOR GUIDE ELEMENT SPARE
 *	actor coordinator SEED LOG COUNT SLICE SLICE EDGE
 *	actor list ROLE SEED FIRST NUMBER     the acts that a seed leads to, and nothing else
 *
 * LOG is a file that is appended to, COUNT a file whose first word counts acts, GIVE and TAKE the
 * ends of a socket. Reads from its input how many acts to do, or what a coordinator is to do, and
 * answers each line with one.
 */
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stress.h"

static struct actor actor;

static void answer(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

/* ------------------------------------------------------------------- tenants */

static struct tenant tenants[2];
static unsigned int wanted;

/*
 * Each of two threads runs half of the acts. If there is no fabric, the caller tries again later.
 */
static void *act_as_tenant(void *data)
{
	struct tenant *t = data;
	unsigned int i;

	for (i = 0; i < wanted && tenant_act(t); i++)
		;
	return NULL;
}

/* If the fabric has gone, drop all of it and look for the next fabric of that name. */
static void attend(struct tenant *t, const char *fabric)
{
	struct morph_slice_info slice;
	struct morph_fabric_info info;

	/* The sibling may have received a slice of the old fabric after the fabric had gone. */
	if (t->slice >= 0 && slice_info(t->slice, &slice))
		tenant_drop(t);
	if (t->fabric >= 0 && !fabric_info(t->fabric, &info))
		return;
	tenant_drop(t);
	if (t->fabric >= 0)
		close(t->fabric);
	t->fabric = find_fabric(fabric, NULL);
}

static void be_tenant(char **argv)
{
	uid_t uid = atoi(argv[1]);
	unsigned int acts, i;
	pthread_t thread;

	/* Both tenants write to one log. The parity of their serial numbers distinguishes them. */
	for (i = 0; i < 2; i++)
		tenants[i] = (struct tenant){
			.actor = actor,
			.fabric = -1,
			.slice = -1,
			.ranks = 1,
			.sibling = &tenants[!i],
			.give = atoi(argv[2]),
			.take = atoi(argv[3]),
			.serial = 1000000 * i,
		};
	tenants[1].actor.seed = tenants[1].actor.chance = ~actor.seed;
	tenants[1].actor.done = 1000000;
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(1);
	while (scanf("%u", &acts) == 1) {
		wanted = acts / 2;
		for (i = 0; i < 2; i++)
			attend(&tenants[i], argv[0]);
		pthread_create(&thread, NULL, act_as_tenant, &tenants[1]);
		act_as_tenant(&tenants[0]);
		pthread_join(thread, NULL);
		for (i = 0; i < 2; i++) {
			tenant_listen(&tenants[i]);
			if (acts)
				schedule_leave(&tenants[i]);
			else
				rings_settle(&tenants[i]);
		}
		answer("done");
	}
}

/* -------------------------------------------------------------------- other roles */

static void be_admin(char **argv)
{
	const unsigned int barred[] = { atoi(argv[1]), atoi(argv[2]), atoi(argv[3]),
					atoi(argv[4]) };
	struct admin *admin = admin_new(actor, argv[0], barred);
	unsigned int acts;

	while (scanf("%u", &acts) == 1) {
		while (acts--)
			admin_act(admin);
		answer("done");
	}
}

static void be_coordinator(char **argv)
{
	unsigned long long cookie;
	unsigned int steps;
	char verb[16];

	if (!actor.count)
		exit(1);
	while (scanf("%15s %llu %u", verb, &cookie, &steps) == 3) {
		int error = coordinate(&actor, argv, atoi(argv[2]), cookie, verb, steps);

		answer(error ? strerrorname_np(error) : "done");
	}
}

static int list(const char *role, const char *seed, unsigned int first, unsigned int number)
{
	const struct act *acts = strcmp(role, "admin") ? tenant_acts : admin_acts;
	struct actor one = { .seed = strtoull(seed, NULL, 0), .done = first };

	while (number--) {
		const char *name = actor_choose(&one, acts)->name;

		printf("%u %s\n", one.done, name);
	}
	return 0;
}

static _Atomic unsigned int *open_count(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *page = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	if (page == MAP_FAILED)
		return NULL;
	return page; /* valid as long as the process lives */
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "list"))
		return list(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]));
	if (argc < 8)
		return 2;
	actor.seed = actor.chance = strtoull(argv[2], NULL, 0);
	actor.log = open(argv[3], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	actor.count = open_count(argv[4]);
	if (!strcmp(argv[1], "tenant"))
		be_tenant(argv + 5);
	else if (!strcmp(argv[1], "admin"))
		be_admin(argv + 5);
	else
		be_coordinator(argv + 5);
	return 0;
}
