// SPDX-License-Identifier: GPL-2.0-only
/* Traffic for tests: datagrams to all ranks, and a TCP stream to the next one. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "traffic.h"

#define STREAM_PORT 4001
#define STREAM_TIMEOUT_MS 3000u /* without acknowledgements */
#define SEND_BYTES 16384
#define PAUSE_MS 1
#define SOCKET 3 /* the file that the process keeps */

static void __attribute__((noreturn)) give_up(const char *what)
{
	perror(what);
	_exit(1);
}

static struct sockaddr_in address_of(unsigned int rank)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(STREAM_PORT),
		.sin_addr.s_addr = htonl(0x0a000001 + rank),
	};
}

static int stream_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int listen_at(unsigned int rank)
{
	struct sockaddr_in here = address_of(rank);
	int file = stream_socket();

	if (file < 0 || bind(file, (void *)&here, sizeof(here)) || listen(file, 4))
		give_up("listen");
	return file;
}

/* Send a part of the stream. Return its socket, or -1 if it has broken. */
static int stream_send(int file, unsigned int to_rank)
{
	static const char bytes[SEND_BYTES];
	unsigned int timeout_ms = STREAM_TIMEOUT_MS;
	struct sockaddr_in to = address_of(to_rank);

	if (file < 0) {
		file = stream_socket();
		if (file < 0)
			return -1;
		setsockopt(file, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
		if (!connect(file, (void *)&to, sizeof(to)) || errno == EINPROGRESS)
			return file;
	} else if (send(file, bytes, sizeof(bytes), MSG_NOSIGNAL) >= 0 || errno == EAGAIN) {
		return file;
	}
	close(file);
	return -1;
}

/* Receive what has come over the newest connection. Return its socket, or -1. */
static int stream_receive(int file, int listener, struct traffic_count *count)
{
	char bytes[SEND_BYTES];
	int next = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	ssize_t got;

	if (next >= 0) {
		if (file >= 0)
			close(file);
		file = next;
	}
	if (file < 0)
		return -1;
	while ((got = recv(file, bytes, sizeof(bytes), 0)) > 0)
		count->stream_bytes += got;
	if (got < 0 && errno == EAGAIN)
		return file;
	close(file);
	return -1;
}

static void __attribute__((noreturn)) run(const struct place *places, unsigned int count,
					  unsigned int index, struct traffic_count *counted)
{
	struct place own = { .rank = places[index].rank, .socket = SOCKET };
	unsigned int next = places[(index + 1) % count].rank, other;
	int listener, to = -1, from = -1;
	uint32_t number;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	enter(places[index].net);
	/* A namespace and a slice end with the last file. */
	if (dup2(places[index].socket, SOCKET) < 0 || close_range(SOCKET + 1, ~0u, 0))
		give_up("files");
	listener = listen_at(own.rank);
	for (number = 0;; number++) {
		for (other = 0; other < count; other++)
			if (other != index)
				place_send(&own, places[other].rank, number);
		while (place_receive(&own, 0) >= 0)
			counted->datagrams++;
		to = stream_send(to, next);
		from = stream_receive(from, listener, counted);
		poll(NULL, 0, PAUSE_MS);
	}
}

void traffic_start(struct traffic *traffic, const struct place *places, unsigned int count)
{
	unsigned int i;

	traffic->counts = mmap(NULL, count * sizeof(*traffic->counts), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (traffic->counts == MAP_FAILED)
		give_up("mmap");
	traffic->count = count;
	for (i = 0; i < count; i++) {
		traffic->processes[i] = fork();
		if (traffic->processes[i] < 0)
			give_up("fork");
		if (!traffic->processes[i])
			run(places, count, i, &traffic->counts[i]);
	}
}

void traffic_stop(struct traffic *traffic)
{
	unsigned int i;

	for (i = 0; i < traffic->count; i++)
		kill(traffic->processes[i], SIGKILL);
	for (i = 0; i < traffic->count; i++)
		waitpid(traffic->processes[i], NULL, 0);
	munmap(traffic->counts, traffic->count * sizeof(*traffic->counts));
	traffic->count = 0;
}

unsigned int read_setting(const char *name, unsigned int normal)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 0) : normal;
}
