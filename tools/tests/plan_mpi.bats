#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles that Open MPI writes of a running program, and the plans made from them.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
	command -v mpicc mpirun >/dev/null || skip "there is no Open MPI: openmpi-bin and libopenmpi-dev"
	[[ $(ompi_info --parsable 2>/dev/null) == *"mca:pml:monitoring:"* ]] || skip "this Open MPI has no pml_monitoring"
	cat > ring.c <<-END
		#include <mpi.h>

		static char out[8192], in[8192];

		/* Each has as many thousands of bytes for the next as its rank is, and one; with an argument each has also a block for each. */
		int main(int count, char **arguments)
		{
			int rank, ranks;

			MPI_Init(&count, &arguments);
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
			MPI_Comm_size(MPI_COMM_WORLD, &ranks);
			MPI_Sendrecv(out, (rank + 1) * 1000, MPI_BYTE, (rank + 1) % ranks, 0, in, sizeof(in), MPI_BYTE,
				     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (count > 1)
				MPI_Alltoall(out, 512, MPI_BYTE, in, 512, MPI_BYTE, MPI_COMM_WORLD);
			MPI_Finalize();
			return 0;
		}
	END
	mpicc ring.c -o ring
}

# profile ARGUMENT...: the traffic of four ranks of the program, in phase.RANK.prof
profile() {
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout $((60 * ${SLOWNESS:-1})) \
		mpirun -n 4 --oversubscribe --mca btl self,vader --mca pml ^ucx,cm --mca pml_monitoring_enable 2 \
		--mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename "$PWD/phase" ./ring "$@"
}

@test "a profile of Open MPI has the bytes that the program sends" {
	profile
	[[ $(echo phase.*.prof) == "phase.0.prof phase.1.prof phase.2.prof phase.3.prof" ]]
	expect 0 morphctl schedule plan --from-ompi-prof phase --algorithm direct --policy matchings --json
	[[ $(jq -c '[.verdict, ."ranks-count", ."involved-ranks-count"]' <<<"$output") == '["feasible",4,4]' ]]
	[[ $(jq -c '[.matchings[].circuits[] | [."src-rank", ."dst-rank"]] | unique' <<<"$output") == '[[0,1],[1,2],[2,3],[3,0]]' ]]
	# 4000 bytes of the last rank at 100 Gb/s.
	[[ $(jq '."bound-ns"' <<<"$output") == 320 ]]
	rm phase.2.prof
	expect 3 morphctl schedule plan --from-ompi-prof phase
	holds "$stderr" "phase.2.prof: No such file or directory"
}

@test "a profile of Open MPI has the sends of a collective" {
	profile all
	expect 0 morphctl schedule plan --from-ompi-prof phase --algorithm direct --json
	[[ $(jq -c '[.verdict, ."ranks-count"]' <<<"$output") == '["feasible",4]' ]]
	[[ $(jq '[.matchings[].circuits[] | [."src-rank", ."dst-rank"]] | unique | length' <<<"$output") -gt 4 ]]
	[[ $(jq '."bound-ns" > 320' <<<"$output") == true ]]
}
