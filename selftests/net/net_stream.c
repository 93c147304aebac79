// SPDX-License-Identifier: GPL-2.0-only
/*
 * A TCP stream keeps its bytes while its circuit goes dark again and again. The sender keeps the
 * frames that it may have to send again, and they share their data with the frames that pass. So no
 * receiver may change this data.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"
#include "kselftest_harness.h"
#include "link.h"

#define PORT 4002
#define CHUNK_BYTES 16384u
#define FLAPS 150
#define MOST_CIRCUITS 2

FIXTURE(stream)
{
	struct sim sim;
	int slice, file;
	pid_t sender;
	struct place places[2];
	uint64_t received;
	bool wrong;
};

static struct sockaddr_in address_of(unsigned int rank)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(0x0a000001 + rank),
	};
}

/* The byte at a place of the stream. No two segments have the same bytes. */
static uint8_t byte_at(uint64_t place)
{
	return place ^ place >> 8 ^ place >> 16;
}

static void __attribute__((noreturn)) send_stream(const struct place *place)
{
	struct sockaddr_in to = address_of(1);
	uint8_t bytes[CHUNK_BYTES];
	uint64_t sent = 0;
	ssize_t done;
	unsigned int i;
	int file;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	enter(place->net);
	file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (file < 0 || connect(file, (void *)&to, sizeof(to)))
		_exit(1);
	for (;;) {
		for (i = 0; i < CHUNK_BYTES; i++)
			bytes[i] = byte_at(sent + i);
		done = send(file, bytes, CHUNK_BYTES, MSG_NOSIGNAL);
		if (done < 0)
			_exit(1);
		sent += done;
	}
}

/* Receive and compare what has come. */
static void receive(FIXTURE_DATA(stream) * self)
{
	uint8_t bytes[CHUNK_BYTES];
	ssize_t got, i;

	while ((got = recv(self->file, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		for (i = 0; i < got; i++)
			self->wrong |= bytes[i] != byte_at(self->received + i);
		self->received += got;
	}
}

static bool receives_more(FIXTURE_DATA(stream) * self, uint64_t than)
{
	receive(self);
	return self->received > than;
}

FIXTURE_SETUP(stream)
{
	struct sockaddr_in here = address_of(1);
	struct morph_change changes[] = { change_add(0, 1), change_add(1, 0) };
	struct morph_slice_info info;
	int listener, previous;
	unsigned int rank;

	sim_start(&self->sim, "server8", NULL);
	/* So slow that several frames wait for the receiver. */
	ASSERT_EQ(0, load_net("scale=1000"));
	self->slice = slice_create(self->sim.fd, 2);
	ASSERT_LE(0, self->slice);
	ASSERT_EQ(0, slice_info(self->slice, &info));
	ASSERT_EQ(0, txn_run(self->slice, changes, 2, NULL));
	for (rank = 0; rank < 2; rank++)
		ASSERT_EQ(0,
			  place_create(&self->places[rank], self->sim.number, info.slice, rank, 0));
	previous = enter(self->places[1].net);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ASSERT_EQ(0, bind(listener, (void *)&here, sizeof(here)));
	ASSERT_EQ(0, listen(listener, 1));
	leave(previous);
	self->sender = fork();
	if (!self->sender)
		send_stream(&self->places[0]);
	self->file = accept(listener, NULL, NULL);
	ASSERT_LE(0, self->file);
	close(listener);
}

FIXTURE_TEARDOWN(stream)
{
	unsigned int rank;

	kill(self->sender, SIGKILL);
	waitpid(self->sender, NULL, 0);
	close(self->file);
	for (rank = 0; rank < 2; rank++)
		place_close(&self->places[rank]);
	close(self->slice);
	sim_stop(&self->sim);
	ASSERT_EQ(0, unload_net());
}

/* The circuit from rank 0 to rank 1, or 0. */
static uint32_t forward_circuit(int slice)
{
	struct morph_circuit_info circuits[MOST_CIRCUITS];
	struct morph_slice_info info;
	unsigned int i;

	if (slice_read(slice, &info, NULL, 0, circuits, MOST_CIRCUITS))
		return 0;
	for (i = 0; i < info.circuits.count && i < MOST_CIRCUITS; i++)
		if (!circuits[i].src_rank)
			return circuits[i].circuit;
	return 0;
}

TEST_F_TIMEOUT(stream, keeps_its_bytes_while_its_circuit_goes_dark, 300)
{
	struct morph_change change;
	uint64_t before;
	unsigned int i;

	for (i = 0; i < FLAPS; i++) {
		change = change_remove(forward_circuit(self->slice));
		ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
		change = change_add(0, 1);
		ASSERT_EQ(0, txn_run(self->slice, &change, 1, NULL));
		before = self->received;
		ASSERT_TRUE(WAIT_UNTIL(receives_more(self, before)));
		ASSERT_FALSE(self->wrong);
	}
	TH_LOG("%llu bytes received", (unsigned long long)self->received);
}

TEST_HARNESS_MAIN
