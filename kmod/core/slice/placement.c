// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement: choose the accelerators of a slice. Each host lists its free accelerators, and hosts
 * are listed by their number of free accelerators. So the cost depends on the request, not on the
 * fabric. Callers hold fabric->lock. A placement on several hosts drops it at times, and begins
 * again if another slice has taken some of its accelerators meanwhile.
 */
#include <linux/slab.h>
#include <linux/sort.h>

#include "core/base/base.h"
#include "core/slice/slice.h"

/* Number of hosts to search: a multiple of the least number needed, plus a constant. */
#define WINDOW_FACTOR	4u
#define WINDOW_EXTRA	16u

static u32 chip_index(struct morph_fabric *fabric, const struct morph_chip *chip)
{
	return chip - ledger_of(fabric)->chips;
}

/* Distance of two tiles in the grid, in steps. */
static u32 grid_distance(struct morph_fabric *fabric, u32 one, u32 other)
{
	const struct optics_accelerator *a = &fabric->graph->accelerators[one];
	const struct optics_accelerator *b = &fabric->graph->accelerators[other];

	return abs((int)a->x - b->x) + abs((int)a->y - b->y) + abs((int)a->z - b->z);
}

/* ---------------------------------------------------------------- one host */

static bool is_chosen(const u32 *chosen, u32 count, u32 accelerator)
{
	while (count--)
		if (chosen[count] == accelerator)
			return true;
	return false;
}

/*
 * Append up to @count free accelerators of a host to the @done chosen ones. Each is the nearest to
 * its predecessor, so that neighbouring ranks are close to each other.
 */
static u32 take_from_host(struct morph_fabric *fabric, struct morph_host *host, u32 *chosen,
			  u32 done, u32 count)
{
	u32 first = done, best, best_distance, distance, index;
	struct morph_chip *chip;

	count = min(count, host->free_count);
	while (done - first < count) {
		best = MORPH_ANY;
		best_distance = U32_MAX;
		list_for_each_entry(chip, &host->free, host_node) {
			index = chip_index(fabric, chip);
			if (is_chosen(chosen + first, done - first, index))
				continue;
			distance = done ? grid_distance(fabric, chosen[done - 1], index) : index;
			if (distance < best_distance ||
			    (distance == best_distance && index < best)) {
				best = index;
				best_distance = distance;
			}
		}
		if (best == MORPH_ANY)
			break;
		chosen[done++] = best;
	}
	return done - first;
}

/* The host with the fewest free accelerators that has enough, or NULL. */
static struct morph_host *best_fit(struct morph_fabric *fabric, u32 count)
{
	u32 free;

	for (free = count; free <= ledger_of(fabric)->hosts_max; free++)
		if (!list_empty(&ledger_of(fabric)->hosts_by_free[free]))
			return list_first_entry(&ledger_of(fabric)->hosts_by_free[free],
						struct morph_host, bucket);
	return NULL;
}

/* ------------------------------------------------------------- several hosts */

struct candidate {
	u32 distance;
	u32 host;
};

static int by_distance(const void *a, const void *b)
{
	const struct candidate *one = a, *other = b;

	if (one->distance != other->distance)
		return one->distance < other->distance ? -1 : 1;
	return one->host < other->host ? -1 : one->host > other->host;
}

static struct morph_host *emptiest_host(struct morph_fabric *fabric)
{
	u32 free;

	for (free = ledger_of(fabric)->hosts_max; free; free--)
		if (!list_empty(&ledger_of(fabric)->hosts_by_free[free]))
			return list_first_entry(&ledger_of(fabric)->hosts_by_free[free],
						struct morph_host, bucket);
	return NULL;
}

/* A range of host numbers around the seed. */
struct window {
	u32 first;
	u32 last;	/* first host behind the range */
};

static u32 window_reach(struct morph_fabric *fabric, u32 count)
{
	u32 reach = DIV_ROUND_UP(count, ledger_of(fabric)->hosts_max) * WINDOW_FACTOR +
		    WINDOW_EXTRA;

	return min(reach, fabric->graph->hosts_count);
}

static struct window window_around(struct morph_fabric *fabric, u32 host, u32 count)
{
	u32 hosts = fabric->graph->hosts_count, reach = window_reach(fabric, count);
	struct window window;

	window.first = host > reach ? host - reach : 0;
	window.last = min(hosts, host + reach + 1);
	return window;
}

/* List the hosts of the window with free accelerators. */
static u32 list_window(struct morph_fabric *fabric, struct window window, u32 seed,
		       struct candidate *candidates)
{
	u32 host, count = 0;

	for (host = window.first; host < window.last; host++) {
		struct morph_host *entry = &ledger_of(fabric)->hosts[host];
		struct morph_chip *chip;

		if (!entry->free_count)
			continue;
		chip = list_first_entry(&entry->free, struct morph_chip, host_node);
		candidates[count].host = host;
		candidates[count++].distance = grid_distance(fabric, seed,
							     chip_index(fabric, chip));
	}
	return count;
}

/* Take the remaining accelerators outside the window, from the hosts with the most free ones. */
static u32 take_from_rest(struct morph_fabric *fabric, struct window window, u32 *chosen,
			  u32 done, u32 count)
{
	struct morph_host *host;
	u32 free;

	for (free = ledger_of(fabric)->hosts_max; free && done < count; free--) {
		list_for_each_entry(host, &ledger_of(fabric)->hosts_by_free[free], bucket) {
			if (host->index >= window.first && host->index < window.last)
				continue;
			done += take_from_host(fabric, host, chosen, done, count - done);
			if (done == count)
				break;
		}
	}
	return done;
}

/* Memory for the hosts of a window. May drop fabric->lock, so accelerators may be taken. */
static struct candidate *alloc_candidates(struct morph_fabric *fabric, u32 hosts)
{
	struct candidate *candidates = kvmalloc_array(hosts, sizeof(*candidates), MORPH_GFP_LOCKED);

	if (candidates)
		return candidates;
	morph_fabric_unlock(fabric);
	candidates = kvmalloc_array(hosts, sizeof(*candidates), GFP_KERNEL_ACCOUNT);
	morph_fabric_lock(fabric);
	return candidates;
}

/* @pause: drop fabric->lock at times, so that the chosen accelerators may be taken at the end. */
static int place_on_hosts(struct morph_fabric *fabric, u32 count, u32 *chosen, bool pause)
{
	struct candidate *candidates;
	struct morph_host *seed_host;
	struct window window;
	u32 seed, hosts, i, done = 0;

	candidates = alloc_candidates(fabric, 2 * window_reach(fabric, count) + 1);
	if (!candidates)
		return -ENOMEM;
	seed_host = emptiest_host(fabric);
	if (!seed_host) {
		kvfree(candidates);
		return -EAGAIN;
	}
	seed = chip_index(fabric, list_first_entry(&seed_host->free, struct morph_chip,
						   host_node));
	window = window_around(fabric, seed_host->index, count);
	hosts = list_window(fabric, window, seed, candidates);
	if (pause)
		morph_fabric_unlock(fabric);
	sort(candidates, hosts, sizeof(*candidates), by_distance, NULL);
	if (pause)
		morph_fabric_lock(fabric);
	for (i = 0; i < hosts && done < count; i++) {
		if (pause)
			morph_fabric_pause_after(fabric, i);
		done += take_from_host(fabric, &ledger_of(fabric)->hosts[candidates[i].host],
				       chosen, done, count - done);
	}
	kvfree(candidates);
	done = take_from_rest(fabric, window, chosen, done, count);
	return done == count ? 0 : -EAGAIN;
}

int morph_place_possible(struct morph_fabric *fabric, u32 count, struct morph_refusal *refusal)
{
	u32 all = fabric->graph->accelerators_count;

	if (!count || (count > MORPH_MAX_RANKS && count <= all))
		return morph_refuse_numbers(refusal, -EINVAL, MORPH_REASON_ARGUMENT,
					    MORPH_PART_ACCELERATOR, MORPH_ANY,
					    min(MORPH_MAX_RANKS, all), count,
					    "{need} accelerators requested, a slice has 1 to {have}");
	if (count <= all)
		return 0;
	return morph_refuse_numbers(refusal, -ENOSPC, MORPH_REASON_ACCELERATORS,
				    MORPH_PART_ACCELERATOR, MORPH_ANY, all, count,
				    "not enough accelerators: {need} requested, the fabric has {have}");
}

static int place_once(struct morph_fabric *fabric, u32 count, u32 *chosen, bool pause)
{
	struct morph_host *host = best_fit(fabric, count);

	if (!host)
		return place_on_hosts(fabric, count, chosen, pause);
	take_from_host(fabric, host, chosen, 0, count);
	return 0;
}

int morph_place(struct morph_fabric *fabric, u32 count, u32 *chosen,
		struct morph_refusal *refusal)
{
	bool pause = count > MORPH_HOLD_PARTS;
	struct morph_refusal why;
	u32 restarts = 0;
	int ret;

	lockdep_assert_held(&fabric->lock);
	do {
		if (count > ledger_of(fabric)->free)
			return morph_refuse_numbers(refusal, -ENOSPC, MORPH_REASON_ACCELERATORS,
						    MORPH_PART_ACCELERATOR, MORPH_ANY,
						    ledger_of(fabric)->free, count,
						    "not enough accelerators: {need} requested, {have} free");
		ret = place_once(fabric, count, chosen, pause);
		if (!ret && pause && restarts < MORPH_MOST_RESTARTS)
			ret = morph_place_check_again(fabric, chosen, count, false, &why);
	} while (ret && ret != -ENOMEM && restarts++ < MORPH_MOST_RESTARTS);
	if (ret == -EAGAIN)
		return morph_refuse(refusal, ret, MORPH_REASON_STATE, 0, 0,
				    "other slices took accelerators meanwhile; try again");
	return ret;
}

u32 morph_place_any(struct morph_fabric *fabric)
{
	struct morph_host *host = emptiest_host(fabric);

	lockdep_assert_held(&fabric->lock);
	if (!host)
		return MORPH_ANY;
	return chip_index(fabric, list_first_entry(&host->free, struct morph_chip, host_node));
}

/* ----------------------------------------------------------- an explicit list */

static int by_number(const void *a, const void *b)
{
	u32 one = *(const u32 *)a, other = *(const u32 *)b;

	return one < other ? -1 : one > other;
}

int morph_place_distinct(const u32 *accelerators, u32 count, struct morph_refusal *refusal)
{
	u32 *sorted, i;
	int ret = 0;

	sorted = kvmalloc_array(count, sizeof(*sorted), GFP_KERNEL_ACCOUNT);
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, accelerators, array_size(count, sizeof(*sorted)));
	sort(sorted, count, sizeof(*sorted), by_number, NULL);
	for (i = 1; i < count && !ret; i++)
		if (sorted[i] == sorted[i - 1])
			ret = morph_refuse_numbers(refusal, -EINVAL, MORPH_REASON_ARGUMENT,
						   MORPH_PART_ACCELERATOR, sorted[i], 0, 0,
						   "accelerator {index} is listed twice");
	kvfree(sorted);
	return ret;
}

static int refuse_accelerator(u32 accelerator, int error, u32 reason, const char *fixed,
			      struct morph_refusal *refusal)
{
	return morph_refuse_numbers(refusal, error, reason, MORPH_PART_ACCELERATOR, accelerator,
				    0, 0, fixed);
}

/*
 * Check use before health, so that a request does not reveal the health of another tenant's
 * hardware.
 */
static int check_one(struct morph_fabric *fabric, u32 accelerator, bool lend,
		     struct morph_refusal *refusal)
{
	const struct morph_chip *chip;

	if (accelerator >= fabric->graph->accelerators_count)
		return morph_refuse_index(refusal, MORPH_PART_ACCELERATOR, accelerator,
					  fabric->graph->accelerators_count);
	chip = &ledger_of(fabric)->chips[accelerator];
	if (chip->use == MORPH_USE_SPARE && !lend)
		return refuse_accelerator(accelerator, -EBUSY, MORPH_REASON_ACCELERATOR_HELD,
					  "accelerator {index} is held back as a spare", refusal);
	if (morph_chip_use(chip) == MORPH_USE_DRAINING)
		return refuse_accelerator(accelerator, -EBUSY, MORPH_REASON_ACCELERATOR_HELD,
					  "accelerator {index} was released and is not dark yet",
					  refusal);
	if (chip->use != MORPH_USE_FREE && chip->use != MORPH_USE_SPARE)
		return refuse_accelerator(accelerator, -EBUSY, MORPH_REASON_ACCELERATOR_HELD,
					  "accelerator {index} is held by another tenant", refusal);
	if (chip->testing)
		return refuse_accelerator(accelerator, -EAGAIN, MORPH_REASON_ACCELERATOR_UNFIT,
					  "accelerator {index} is being tested; try again",
					  refusal);
	if (!morph_chip_fit(fabric, accelerator))
		return refuse_accelerator(accelerator, -EIO, MORPH_REASON_ACCELERATOR_UNFIT,
					  "accelerator {index} is not healthy, or cordoned",
					  refusal);
	return 0;
}

int morph_place_check_again(struct morph_fabric *fabric, const u32 *accelerators, u32 count,
			    bool lend, struct morph_refusal *refusal)
{
	u32 i;
	int ret = 0;

	lockdep_assert_held(&fabric->lock);
	for (i = 0; i < count && !ret; i++)
		ret = check_one(fabric, accelerators[i], lend, refusal);
	return ret;
}

/* ------------------------------------------------------------------- spares */

/* A walk over spares in order of preference, up to the wanted one. */
struct spare_walk {
	struct morph_fabric *fabric;
	u32 preferred;	/* spare that was visited first, or MORPH_ANY */
	bool lent;	/* visit lent spares instead of free ones */
	u32 skip;	/* number of candidates still to skip */
	u32 seen;	/* number of visited spares */
	u32 found;
};

/* Count a candidate; return whether it is the wanted one. */
static bool walk_take(struct spare_walk *walk, u32 accelerator)
{
	if (walk->skip) {
		walk->skip--;
		return false;
	}
	walk->found = accelerator;
	return true;
}

/* Return whether the host of this spare also has accelerators for tenants. */
static bool host_has_tenants(struct morph_fabric *fabric, u32 spare)
{
	const struct optics_accelerator *places = fabric->graph->accelerators;
	u32 host = places[spare].host, i;

	/* The numbers of a host's accelerators are consecutive. */
	for (i = spare; i < fabric->graph->accelerators_count && places[i].host == host; i++)
		if (!ledger_of(fabric)->chips[i].spare)
			return true;
	for (i = spare; i-- && places[i].host == host;)
		if (!ledger_of(fabric)->chips[i].spare)
			return true;
	return false;
}

static bool walk_host(struct spare_walk *walk, u32 host, bool spare_hosts_only)
{
	struct morph_fabric *fabric = walk->fabric;
	struct morph_host *entry = &ledger_of(fabric)->hosts[host];
	struct morph_chip *chip;
	u32 index;

	list_for_each_entry(chip, walk->lent ? &entry->lent : &entry->spares, host_node) {
		index = chip_index(fabric, chip);
		walk->seen++;
		if (index == walk->preferred ||
		    (spare_hosts_only && host_has_tenants(fabric, index)))
			continue;
		if (walk_take(walk, index))
			return true;
	}
	return false;
}

/* Visit hosts alternately on both sides of one, until all spares are visited. */
static bool walk_neighbours(struct spare_walk *walk, u32 host, bool spare_hosts_only)
{
	struct morph_fabric *fabric = walk->fabric;
	u32 total = walk->lent ? ledger_of(fabric)->lent : ledger_of(fabric)->spares;
	u32 hosts = fabric->graph->hosts_count, step;

	for (step = 1; step < hosts && walk->seen < total; step++) {
		if (step <= host && walk_host(walk, host - step, spare_hosts_only))
			return true;
		if (host + step < hosts && walk_host(walk, host + step, spare_hosts_only))
			return true;
	}
	return false;
}

/* Accelerators on a slice's list need not be spares. */
static bool is_free(struct morph_fabric *fabric, u32 accelerator)
{
	u32 use = ledger_of(fabric)->chips[accelerator].use;

	return (use == MORPH_USE_SPARE || use == MORPH_USE_FREE) &&
	       morph_chip_fit(fabric, accelerator);
}

static bool walk_list(struct spare_walk *walk, struct morph_slice *slice)
{
	const struct morph_slice_tenancy *tenancy = slice_tenancy(slice);
	u32 i, index;
	bool usable;

	for (i = 0; i < tenancy->spare_list_count; i++) {
		index = tenancy->spare_list[i];
		usable = walk->lent ? ledger_of(walk->fabric)->chips[index].listed ==
					      MORPH_LISTED_LENT :
				      is_free(walk->fabric, index);
		if (index != walk->preferred && usable && walk_take(walk, index))
			return true;
	}
	return false;
}

/* Visit the spares that the slice allows. */
static void walk_spares(struct spare_walk *walk, struct morph_slice *slice, u32 host)
{
	bool spare_hosts_only = slice_tenancy(slice)->spare_policy == MORPH_SPARES_HOST;

	walk->seen = 0;
	if (slice_tenancy(slice)->spare_policy == MORPH_SPARES_LIST)
		walk_list(walk, slice);
	else if (!walk_host(walk, host, false))
		walk_neighbours(walk, host, spare_hosts_only);
}

bool morph_place_allows(struct morph_slice *slice, u32 accelerator, u32 spare)
{
	const struct morph_fabric *fabric = slice->fabric;
	const struct morph_slice_tenancy *tenancy = slice_tenancy(slice);
	const struct optics_accelerator *places = fabric->graph->accelerators;
	const struct morph_chip *chip = &ledger_of(fabric)->chips[spare];
	u32 i;

	lockdep_assert_held(&fabric->lock);
	if (spare == tenancy->own_spare)
		return morph_chip_fit(slice->fabric, spare);
	if (tenancy->spare_policy != MORPH_SPARES_LIST)
		return chip->use == MORPH_USE_SPARE && chip->listed &&
		       (tenancy->spare_policy == MORPH_SPARES_ANY ||
			places[spare].host == places[accelerator].host ||
			!host_has_tenants(slice->fabric, spare));
	for (i = 0; i < tenancy->spare_list_count; i++)
		if (tenancy->spare_list[i] == spare)
			return is_free(slice->fabric, spare);
	return false;
}

static u32 find_spare(struct morph_slice *slice, u32 accelerator, u32 preferred, u32 skip,
		      bool lent)
{
	struct morph_fabric *fabric = slice->fabric;
	struct spare_walk walk = {
		.fabric = fabric, .preferred = preferred, .skip = skip, .found = MORPH_ANY,
	};
	u32 host = fabric->graph->accelerators[accelerator].host;
	u32 own = slice_tenancy(slice)->own_spare;

	lockdep_assert_held(&fabric->lock);
	if (own != MORPH_ANY && morph_chip_fit(fabric, own) && walk_take(&walk, own))
		return walk.found;
	if (preferred != MORPH_ANY && preferred != own &&
	    morph_place_allows(slice, accelerator, preferred) && walk_take(&walk, preferred))
		return walk.found;
	walk_spares(&walk, slice, host);
	if (walk.found == MORPH_ANY && lent) {
		/* The preferred spare was visited only if it is idle. */
		walk.preferred = MORPH_ANY;
		walk.lent = true;
		walk_spares(&walk, slice, host);
	}
	return walk.found;
}

u32 morph_place_spare(struct morph_slice *slice, u32 accelerator, u32 preferred, u32 skip)
{
	return find_spare(slice, accelerator, preferred, skip, false);
}

u32 morph_place_any_spare(struct morph_slice *slice, u32 accelerator, u32 preferred, u32 skip)
{
	return find_spare(slice, accelerator, preferred, skip, true);
}

bool morph_place_wait(struct morph_fabric *fabric, int *ret)
{
	u32 ended = slices_of(fabric)->tests_ended;
	int signalled;

	lockdep_assert_held(&fabric->lock);
	if (!slices_of(fabric)->testing)
		return false;
	morph_fabric_unlock(fabric);
	signalled = wait_event_interruptible(slices_of(fabric)->test_end,
					     READ_ONCE(slices_of(fabric)->tests_ended) != ended);
	morph_fabric_lock(fabric);
	if (signalled)
		*ret = -EINTR;
	return !signalled;
}
