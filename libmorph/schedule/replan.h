/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The internals of a schedule that continues without some ports. The old schedule stays unchanged,
 * except for time that is inserted at *gaps*: moments at which all data of simultaneous sends has
 * arrived. Everything after gaps is later by their total length. So the order stays, each hold and
 * send lasts at least as long, and a valid schedule stays valid. Data for lost circuits is sent in
 * gaps.
 */
#ifndef LM_SCHEDULE_REPLAN_H
#define LM_SCHEDULE_REPLAN_H

#include "schedule.h"

/* The holder of a circuit: a hold of the old schedule or, with this bit, a piece. */
#define PIECE (1U << 31)
#define NOTHING UINT32_MAX

/*
 * A time of the new schedule: a time of the old one, before or after a gap at that time, and an
 * offset.
 */
struct moment {
	uint64_t ps, later_ps;
	bool after;
};

/*
 * A circuit that is held alone. A send over a circuit of the old hold uses the last piece of that
 * time.
 */
struct piece {
	uint32_t plane;
	struct morph_rank_pair circuit;
	uint32_t hold, next; /* in the old schedule, and the previous piece of it; or NOTHING */
	uint64_t from_ps, lit_ps, until_ps; /* times of the old schedule that it covers */
	struct moment set, dark;
	uint64_t takes_ps; /* duration of setting it */
	bool absent; /* no circuit is held */
	uint32_t number; /* number of its hold in the new schedule */
};

/* A circuit of a hold that uses a lost port. */
struct lost {
	uint32_t hold;
	struct morph_rank_pair circuit;
	bool used; /* a send over it has not ended by then */
	bool moved;
	uint32_t set; /* circuits set in its place, and set again */
	uint32_t uses; /* remaining transfers that need another path */
	uint32_t stamp; /* when a circuit was last set for it */
	uint64_t planes; /* planes on which both ports are free as long as it is held */
};

/* A transfer of a send that needs another path. */
struct use {
	uint32_t send, transfer; /* in the round */
	uint32_t lost;
	uint64_t gap_ps; /* when all data of simultaneous sends has arrived */
	bool waits; /* for a circuit to be set for it */
};

/* Inserted time. */
struct gap {
	uint64_t ps, length_ps, before_ps; /* total length of earlier gaps */
};

/* A transfer, or a part of it, that is sent in a gap. */
struct resend {
	uint32_t round, transfer, ways_first, hops;
	uint64_t bytes;
	uint64_t gap_ps, from_ps, until_ps; /* within the gap */
};

/*
 * A transfer of a send that lasts to the end of the gap, because its result must not arrive
 * earlier.
 */
struct stretch {
	uint32_t send, transfer;
	uint64_t gap_ps;
};

/* The holder of a port, and the rank at the other end. */
struct seat {
	uint32_t ref, other;
};

struct replan {
	struct morph_schedule *schedule;
	const struct morph_schedule *old;
	const struct morph_collective *collective;
	uint64_t lost_ps;
	uint64_t *sends_lost, *receives_lost; /* by rank: planes */
	uint32_t *plane_first, *plane_holds; /* by plane: its holds, in order */
	uint64_t *dark_before; /* as plane_holds: the latest end of these up to it */
	uint32_t *hold_first, *hold_sends; /* by hold: sends over it */
	uint32_t *round_first; /* by round: first send, and the end of the last */
	uint32_t *pieces_of; /* by hold: the last piece, or NOTHING */
	ARRAY_OF(struct piece) pieces;
	ARRAY_OF(struct lost) losts;
	ARRAY_OF(struct use) uses;
	ARRAY_OF(struct gap) gaps;
	ARRAY_OF(struct resend) resends;
	ARRAY_OF(struct stretch) stretches;
	ARRAY_OF(uint32_t) ways; /* paths: holds and pieces of their hops */
	struct morph_replanned count;
	char why[160]; /* not "": the reason why it is impossible */
	uint32_t verdict; /* the verdict in that case */
};

/* replan.c */
int lm_replan_index(struct replan *replan);
/*
 * The piece that carries the sends over a circuit of an old hold from a time on; NOTHING: still the
 * hold.
 */
uint32_t lm_replan_piece(const struct replan *replan, uint32_t hold, uint32_t src,
			 uint64_t from_ps);
/*
 * List the holds and pieces of a transfer's present path. False: the path is lost. @refs has space
 * for its hops.
 */
bool lm_replan_way(const struct replan *replan, const struct send *send, uint32_t transfer,
		   uint32_t *refs);
/* Does the path of a transfer use a circuit of a hold? */
bool lm_replan_passes(const struct replan *replan, const struct send *send, uint32_t transfer,
		      uint32_t hold, uint32_t src);
/*
 * The first of a plane's holds, in replan->plane_holds, up to which one ends after that time. O(log
 * holds).
 */
uint32_t lm_replan_first_after(const struct replan *replan, uint32_t plane, uint64_t ps);
/* Are both ports of a circuit free between these times? */
bool lm_replan_free(const struct replan *replan, uint32_t plane,
		    const struct morph_rank_pair *circuit, uint64_t from_ps, uint64_t until_ps);
/* Does a circuit of a hold stay in the next hold of its plane? */
bool lm_replan_stays(const struct replan *replan, uint32_t hold,
		     const struct morph_rank_pair *circuit);
/* Upper bound for the hops of a path. */
uint32_t lm_replan_most_hops(const struct replan *replan);
int lm_replan_add_piece(struct replan *replan, const struct piece *piece, uint32_t *number);
/* Note that it is impossible. Returns -ECANCELED. */
int lm_replan_refuse(struct replan *replan, uint32_t verdict, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

/* replan_move.c: move lost circuits to other planes. */
int lm_replan_move(struct replan *replan);
/* replan_gaps.c: send the rest in gaps. */
int lm_replan_gaps(struct replan *replan);

/* The ports at a gap, and the decisions there. */
struct gapping {
	struct replan *replan;
	struct seat *out, *in; /* by plane and rank: present or last holder of the port */
	uint32_t swept; /* holds that were applied to the ports */
	uint64_t ps; /* time of the gap */
	uint32_t round;
	uint64_t later_ps; /* time since the begin of the gap */
	uint64_t closed; /* planes without sends now */
	uint64_t busy; /* planes that are programming, if that takes time */
	uint64_t changed; /* planes on which the gap sets circuits */
	uint32_t stamp; /* of the gap, and of simultaneous sends in it */
	bool taken; /* a circuit was set for the next send */
	uint32_t *taken_out, *taken_in; /* by plane and rank: stamp of a circuit that was set */
	uint32_t *wanted_at, *wanted; /* by plane and sending rank: stamp of the answer, 0 or 1 */
	uint32_t *passed; /* by plane and sending rank: last gap that used the circuit, plus one */
	uint32_t *lasting; /* the same for transfers that last to the end of the gap */
	uint64_t *loads; /* by plane and sending rank */
	struct step {
		uint32_t rank, ref,
			plane; /* origin, and plane; NOTHING: a circuit that must be set */
		uint32_t set; /* circuits set so far */
		bool done;
	} * steps; /* by rank */
	uint32_t *queue;
	uint32_t *coming, *coming_next; /* by rank, and by transfer of the round: transfers to it */
	uint32_t coming_round;
	uint32_t first_resend, first_turn, first_stolen; /* of the gap */
	ARRAY_OF(uint32_t) links; /* that have loads */
	ARRAY_OF(uint32_t) turns; /* pieces */
	ARRAY_OF(struct stolen {
		struct piece piece; /* as it must be set again */
		uint32_t lost; /* the lost circuit */
	})
	stolen;
};

/* replan_turn.c: apply the holds that were set before the gap to the ports. */
void lm_replan_come_to(struct gapping *gapping, uint64_t ps);
/*
 * Wait until circuits that are being set at the begin of the gap are lit. Return whether there were
 * any.
 */
bool lm_replan_wait(struct gapping *gapping);
/* replan_turn.c: duration of setting circuits at one moment, by their number on each plane. */
uint64_t lm_replan_takes(const struct replan *replan, const uint32_t *set);
/* Set a lost circuit for one turn. Return 0, -ENOSPC (no port is free now) or the noted error. */
int lm_replan_turn(struct gapping *gapping, uint32_t lost);
/* Set the circuits of a path between ranks, whatever holds their ports. Return as above. */
int lm_replan_turn_between(struct gapping *gapping, uint32_t lost, uint32_t src, uint32_t dst);
/* Can it be set for the rest of its hold, or for one turn, without setting other circuits again? */
bool lm_replan_turn_stays(struct gapping *gapping, const struct lost *lost);
bool lm_replan_turn_is_free(struct gapping *gapping, const struct lost *lost);
/* End the turns: set circuits again that later sends need. */
int lm_replan_turns_end(struct gapping *gapping);
/* Is the holder of a port in use at this time? */
bool lm_replan_lit(const struct gapping *gapping, const struct seat *seat, uint32_t plane);
/*
 * replan_layout.c: delay data of the round so that it arrives after ranks have sent their old data.
 */
int lm_replan_order(struct gapping *gapping);
/* replan_layout.c: build the new schedule. */
int lm_replan_lay(struct replan *replan);

static inline const struct transfer *replan_transfer(const struct replan *replan, uint32_t round,
						     uint32_t transfer)
{
	const struct morph_collective *collective = replan->collective;

	return &collective->transfers.list[collective->rounds.list[round].first + transfer];
}

static inline size_t replan_port(const struct gapping *gapping, uint32_t plane, uint32_t rank)
{
	return (size_t)plane * gapping->replan->old->ranks + rank;
}

/* Does each port take time to be programmed, after others of its plane? */
static inline bool replan_queues(const struct replan *replan)
{
	return replan->old->costs.scope == MORPH_DELAY_PORT_SCOPE && replan->old->costs.port_ps;
}

#define REPLAN_GROW(replan, array, more) \
	ARRAY_GROW((replan)->schedule->ctx, (replan)->array, more, "plan a schedule again")

#endif /* LM_SCHEDULE_REPLAN_H */
