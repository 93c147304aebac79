/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A schedule that goes on without some ports, inside. The old one stays as it is but for time that is put in at *gaps*: moments
 * at which all that was sent at once has arrived. To be later by all gaps before is to be in the same order still, and
 * each hold and send lasts at least as long: so what is legal stays so. In a gap goes what went over circuits that are lost.
 */
#ifndef LM_SCHEDULE_REPLAN_H
#define LM_SCHEDULE_REPLAN_H

#include "schedule.h"

/* What holds a circuit: a hold of the old schedule, or with this bit a piece. */
#define PIECE (1U << 31)
#define NOTHING UINT32_MAX

/* A time of the new schedule: one of the old, after the gap there or before it, and so much later. */
struct moment {
	uint64_t ps, later_ps;
	bool after;
};

/* A circuit that is held by itself. What is sent over a circuit of the old hold goes over the last of its pieces by then. */
struct piece {
	uint32_t plane;
	struct morph_rank_pair circuit;
	uint32_t hold, next; /* of the old schedule, and the piece of it before this; or NOTHING */
	uint64_t from_ps, lit_ps, until_ps; /* of the old schedule: what it is for */
	struct moment set, dark;
	uint64_t takes_ps; /* to be set */
	bool absent; /* nothing is held */
	uint32_t number; /* of its hold in the new schedule */
};

/* A circuit of a hold that goes over a port that is lost. */
struct lost {
	uint32_t hold;
	struct morph_rank_pair circuit;
	bool used; /* something is sent over it that has not arrived by then */
	bool moved;
	uint32_t set; /* circuits, in its place and again */
	uint32_t uses; /* that are still to go another way */
	uint32_t stamp; /* when a circuit was set for it last */
	uint64_t planes; /* on which both ports are free as long as it is held */
};

/* A transfer that a send has, and that is to go another way. */
struct use {
	uint32_t send, transfer; /* of the round */
	uint32_t lost;
	uint64_t gap_ps; /* when all that is sent beside it has arrived */
	bool waits; /* for a circuit that is set for it */
};

/* Time that is put in. */
struct gap {
	uint64_t ps, length_ps, before_ps; /* length of those before */
};

/* A transfer, or a part of it, that is sent in a gap. */
struct resend {
	uint32_t round, transfer, ways_first, hops;
	uint64_t bytes;
	uint64_t gap_ps, from_ps, until_ps; /* within the gap */
};

/* A transfer of a send that lasts to the end of the gap, for what comes of it must not be there before. */
struct stretch {
	uint32_t send, transfer;
	uint64_t gap_ps;
};

/* What has a port, and the rank at the other end. */
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
	uint64_t *dark_before; /* as plane_holds: the latest dark of these up to it */
	uint32_t *hold_first, *hold_sends; /* by hold: sends over it */
	uint32_t *round_first; /* by round: its first send; one more for the end */
	uint32_t *pieces_of; /* by hold: the last piece, or NOTHING */
	ARRAY_OF(struct piece) pieces;
	ARRAY_OF(struct lost) losts;
	ARRAY_OF(struct use) uses;
	ARRAY_OF(struct gap) gaps;
	ARRAY_OF(struct resend) resends;
	ARRAY_OF(struct stretch) stretches;
	ARRAY_OF(uint32_t) ways; /* holds and pieces of hops */
	struct morph_replanned count;
	char why[160]; /* not "": it can't be done */
	uint32_t verdict; /* then */
};

/* replan.c */
int lm_replan_index(struct replan *replan);
/* The piece over which goes what is sent over a circuit of an old hold from some time on; NOTHING: it is in the hold still. */
uint32_t lm_replan_piece(const struct replan *replan, uint32_t hold, uint32_t src,
			 uint64_t from_ps);
/* Holds and pieces of a transfer's way, as it is by now; false where it is lost. @refs has room for its hops. */
bool lm_replan_way(const struct replan *replan, const struct send *send, uint32_t transfer,
		   uint32_t *refs);
/* Whether a transfer's way has a circuit of a hold. */
bool lm_replan_passes(const struct replan *replan, const struct send *send, uint32_t transfer,
		      uint32_t hold, uint32_t src);
/* The first of a plane's holds, in replan->plane_holds, of which one up to it is dark after that time. O(log holds). */
uint32_t lm_replan_first_after(const struct replan *replan, uint32_t plane, uint64_t ps);
/* No circuit has either port between these times. */
bool lm_replan_free(const struct replan *replan, uint32_t plane,
		    const struct morph_rank_pair *circuit, uint64_t from_ps, uint64_t until_ps);
/* Whether a hold has a circuit that stays in the next on its plane. */
bool lm_replan_stays(const struct replan *replan, uint32_t hold,
		     const struct morph_rank_pair *circuit);
/* Of all ways by hops, the longest that there can be. */
uint32_t lm_replan_most_hops(const struct replan *replan);
int lm_replan_add_piece(struct replan *replan, const struct piece *piece, uint32_t *number);
/* It can't be done. Returns -ECANCELED. */
int lm_replan_refuse(struct replan *replan, uint32_t verdict, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

/* replan_move.c: circuits that are lost go to other planes. */
int lm_replan_move(struct replan *replan);
/* replan_gaps.c: what is left is sent in gaps. */
int lm_replan_gaps(struct replan *replan);

/* What ports have at a gap, and what is decided there. */
struct gapping {
	struct replan *replan;
	struct seat *out, *in; /* by plane and rank: what has the port, or had it last */
	uint32_t swept; /* holds that have had their seats */
	uint64_t ps; /* when the gap is */
	uint32_t round;
	uint64_t later_ps; /* since the gap began */
	uint64_t closed; /* planes on which nothing is sent now */
	uint64_t busy; /* planes whose ports are programmed now, where that takes time */
	uint64_t changed; /* planes on which something is set in the gap */
	uint32_t stamp; /* of the gap, and of what is sent at once in it */
	bool taken; /* something was set for what is sent next */
	uint32_t *taken_out, *taken_in; /* by plane and rank: stamp of a circuit that was set */
	uint32_t *wanted_at,
		*wanted; /* by plane and rank that sends: stamp of the answer, which is 0 or 1 */
	uint32_t *passed; /* by plane and rank that sends: the gap, plus one, that used the circuit */
	uint32_t *lasting; /* the same, of what lasts to the end of the gap */
	uint64_t *loads; /* by plane and rank that sends */
	struct step {
		uint32_t rank, ref,
			plane; /* where from, over what; NOTHING: over what is to be set */
		uint32_t set; /* circuits so far */
		bool done;
	} * steps; /* by rank */
	uint32_t *queue;
	uint32_t *coming, *coming_next; /* by rank, and by transfer of the round: transfers to it */
	uint32_t coming_round;
	uint32_t first_resend, first_turn, first_stolen; /* of the gap */
	ARRAY_OF(uint32_t) links; /* that have loads */
	ARRAY_OF(uint32_t) turns; /* pieces */
	ARRAY_OF(struct stolen {
		struct piece piece; /* as it is to be set again */
		uint32_t lost; /* for what */
	})
	stolen;
};

/* replan_turn.c: holds that were set before the gap have their seats. */
void lm_replan_come_to(struct gapping *gapping, uint64_t ps);
/* Wait until what is set when the gap begins is lit. Whether there was anything to wait for. */
bool lm_replan_wait(struct gapping *gapping);
/* replan_turn.c: what circuits take that are set at once, so many on each plane. */
uint64_t lm_replan_takes(const struct replan *replan, const uint32_t *set);
/* A circuit that is lost is set for a turn; 0, -ENOSPC (no port now) or what was noted. */
int lm_replan_turn(struct gapping *gapping, uint32_t lost);
/* The same of what makes a way between ranks, whatever else has one then. */
int lm_replan_turn_between(struct gapping *gapping, uint32_t lost, uint32_t src, uint32_t dst);
/* Whether it can be for the rest of its hold, or for a turn, without anything that is set again. */
bool lm_replan_turn_stays(struct gapping *gapping, const struct lost *lost);
bool lm_replan_turn_is_free(struct gapping *gapping, const struct lost *lost);
/* Turns are over: what is wanted later on is set again. */
int lm_replan_turns_end(struct gapping *gapping);
/* What has a port carries something by now. */
bool lm_replan_lit(const struct gapping *gapping, const struct seat *seat, uint32_t plane);
/* replan_layout.c: what comes of the round does not come to ranks before they have sent what they had. */
int lm_replan_order(struct gapping *gapping);
/* replan_layout.c: the new schedule. */
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

/* Each port takes time to be programmed, after those of its plane that are programmed before it. */
static inline bool replan_queues(const struct replan *replan)
{
	return replan->old->costs.scope == MORPH_DELAY_PORT_SCOPE && replan->old->costs.port_ps;
}

#define REPLAN_GROW(replan, array, more) \
	ARRAY_GROW((replan)->schedule->ctx, (replan)->array, more, "plan a schedule again")

#endif /* LM_SCHEDULE_REPLAN_H */
