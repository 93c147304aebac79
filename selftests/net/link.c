// SPDX-License-Identifier: GPL-2.0-only
/* Devices of ranks by rtnetlink, and datagrams between their namespaces. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/morph_net.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fabric.h"
#include "link.h"

#define PORT 4000
#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

/* --------------------------------------------------------------------- modules */

static int load(const char *module, const char *parameters)
{
	char path[512];
	int file, ret;

	snprintf(path, sizeof(path), "%s/%s.ko", getenv("MORPH_KMOD"), module);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	ret = syscall(SYS_finit_module, file, parameters, 0) ? -errno : 0;
	close(file);
	return ret == -EEXIST ? 0 : ret;
}

static int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? -errno : 0;
}

int load_net(const char *parameters)
{
	return load("morph_net", parameters);
}

int unload_net(void)
{
	return unload("morph_net");
}

int load_sample(const char *parameters)
{
	return load("kmod/samples/null_provider", parameters);
}

int unload_sample(void)
{
	return unload("null_provider");
}

/* ------------------------------------------------------------------- rtnetlink */

struct message {
	struct nlmsghdr head;
	struct ifinfomsg info;
	char attributes[512];
};

static struct rtattr *tail(struct message *message)
{
	return (void *)((char *)message + NLMSG_ALIGN(message->head.nlmsg_len));
}

static void add(struct message *message, unsigned int type, const void *data, size_t bytes)
{
	struct rtattr *attribute = tail(message);

	attribute->rta_type = type;
	attribute->rta_len = RTA_LENGTH(bytes);
	if (bytes)
		memcpy(RTA_DATA(attribute), data, bytes);
	message->head.nlmsg_len =
		NLMSG_ALIGN(message->head.nlmsg_len) + RTA_ALIGN(RTA_LENGTH(bytes));
}

static void add_u32(struct message *message, unsigned int type, uint32_t value)
{
	add(message, type, &value, sizeof(value));
}

static struct rtattr *begin(struct message *message, unsigned int type)
{
	struct rtattr *nest = tail(message);

	add(message, type, NULL, 0);
	return nest;
}

static void end(struct message *message, struct rtattr *nest)
{
	nest->rta_len = (char *)tail(message) - (char *)nest;
}

static void start(struct message *message, unsigned int type, unsigned int flags, const char *name)
{
	memset(message, 0, sizeof(*message));
	message->head.nlmsg_len = NLMSG_LENGTH(sizeof(message->info));
	message->head.nlmsg_type = type;
	message->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	add(message, IFLA_IFNAME, name, strlen(name) + 1);
}

char link_refusal[128];

/* Copy the text of an answer that has no copy of the request. */
static void keep_refusal(struct nlmsghdr *head)
{
	struct rtattr *attribute = (void *)((struct nlmsgerr *)NLMSG_DATA(head) + 1);
	int left = head->nlmsg_len - NLMSG_LENGTH(sizeof(struct nlmsgerr));

	link_refusal[0] = '\0';
	for (; head->nlmsg_flags & NLM_F_ACK_TLVS && RTA_OK(attribute, left);
	     attribute = RTA_NEXT(attribute, left))
		if (attribute->rta_type == NLMSGERR_ATTR_MSG)
			snprintf(link_refusal, sizeof(link_refusal), "%s",
				 (char *)RTA_DATA(attribute));
}

/* Send a request. Return the error of the answer. */
static int request(struct message *message)
{
	char answer[1024];
	struct nlmsghdr *head = (void *)answer;
	int file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), yes = 1, ret;

	CHECK(file >= 0);
	CHECK(!setsockopt(file, SOL_NETLINK, NETLINK_CAP_ACK, &yes, sizeof(yes)));
	CHECK(!setsockopt(file, SOL_NETLINK, NETLINK_EXT_ACK, &yes, sizeof(yes)));
	CHECK(send(file, message, message->head.nlmsg_len, 0) == (ssize_t)message->head.nlmsg_len);
	CHECK(recv(file, answer, sizeof(answer), 0) > 0);
	CHECK(head->nlmsg_type == NLMSG_ERROR);
	ret = ((struct nlmsgerr *)NLMSG_DATA(head))->error;
	keep_refusal(head);
	close(file);
	return ret;
}

int link_create(const struct link_request *wanted)
{
	struct message message;
	struct rtattr *info, *data;

	start(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, wanted->name);
	if (wanted->net >= 0)
		add_u32(&message, IFLA_NET_NS_FD, wanted->net);
	if (wanted->address)
		add(&message, IFLA_ADDRESS, wanted->address, 6);
	info = begin(&message, IFLA_LINKINFO);
	add(&message, IFLA_INFO_KIND, "morph", strlen("morph") + 1);
	data = begin(&message, IFLA_INFO_DATA);
	add_u32(&message, IFLA_MORPH_FABRIC, wanted->fabric);
	add_u32(&message, IFLA_MORPH_SLICE, wanted->slice);
	if (!wanted->no_rank)
		add_u32(&message, IFLA_MORPH_RANK, wanted->rank);
	if (wanted->delay_ms)
		add_u32(&message, IFLA_MORPH_CARRIER_DELAY_MS, wanted->delay_ms);
	end(&message, data);
	end(&message, info);
	return request(&message);
}

int link_delete(const char *name)
{
	struct message message;

	start(&message, RTM_DELLINK, 0, name);
	return request(&message);
}

static int link_set(const char *name, unsigned int type, uint32_t value)
{
	struct message message;
	struct rtattr *info, *data;

	start(&message, RTM_NEWLINK, 0, name);
	info = begin(&message, IFLA_LINKINFO);
	add(&message, IFLA_INFO_KIND, "morph", strlen("morph") + 1);
	data = begin(&message, IFLA_INFO_DATA);
	add_u32(&message, type, value);
	end(&message, data);
	end(&message, info);
	return request(&message);
}

int link_set_delay(const char *name, unsigned int delay_ms)
{
	return link_set(name, IFLA_MORPH_CARRIER_DELAY_MS, delay_ms);
}

int link_set_rank(const char *name, unsigned int rank)
{
	return link_set(name, IFLA_MORPH_RANK, rank);
}

/* ------------------------------------------------------------------ namespaces */

static int current_net(void)
{
	int net = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	CHECK(net >= 0);
	return net;
}

int enter(int net)
{
	int previous = current_net();

	CHECK(!setns(net, CLONE_NEWNET));
	return previous;
}

void leave(int previous)
{
	CHECK(!setns(previous, CLONE_NEWNET));
	close(previous);
}

static void set_address(struct ifreq *ifreq, unsigned int rank)
{
	struct sockaddr_in *address = (void *)&ifreq->ifr_addr;

	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(0x0a000001 + rank);
}

/* Give the device its address, set it up, and bind a socket. In the device's namespace. */
static void set_up(struct place *place)
{
	struct ifreq ifreq = {};
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	strcpy(ifreq.ifr_name, place->name);
	place->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(place->socket >= 0);
	set_address(&ifreq, place->rank);
	CHECK(!ioctl(place->socket, SIOCSIFADDR, &ifreq));
	((struct sockaddr_in *)&ifreq.ifr_netmask)->sin_addr.s_addr = htonl(0xffffff00);
	CHECK(!ioctl(place->socket, SIOCSIFNETMASK, &ifreq));
	memset(&ifreq.ifr_flags, 0, sizeof(ifreq.ifr_flags));
	ifreq.ifr_flags = IFF_UP | IFF_RUNNING;
	CHECK(!ioctl(place->socket, SIOCSIFFLAGS, &ifreq));
	/* Reports of the driver to senders pass over lo. */
	strcpy(ifreq.ifr_name, "lo");
	CHECK(!ioctl(place->socket, SIOCSIFFLAGS, &ifreq));
	CHECK(!bind(place->socket, (void *)&here, sizeof(here)));
}

int place_create(struct place *place, unsigned int fabric, unsigned int slice, unsigned int rank,
		 unsigned int delay_ms)
{
	struct link_request wanted = {
		.fabric = fabric,
		.slice = slice,
		.rank = rank,
		.delay_ms = delay_ms,
		.name = place->name,
	};
	int previous = current_net(), ret;

	place->rank = rank;
	place->socket = -1;
	snprintf(place->name, sizeof(place->name), "morph%u", rank);
	CHECK(!unshare(CLONE_NEWNET));
	place->net = current_net();
	leave(previous);
	wanted.net = place->net;
	ret = link_create(&wanted);
	if (ret)
		return ret;
	previous = enter(place->net);
	set_up(place);
	leave(previous);
	return 0;
}

void place_close(struct place *place)
{
	if (place->socket >= 0)
		close(place->socket);
	close(place->net);
	place->socket = -1;
}

/* -------------------------------------------------------------------- devices */

/* Find an attribute in the data of the kind, in IFLA_LINKINFO. Or return NULL. */
static struct rtattr *find_inside(struct rtattr *outer, unsigned int type)
{
	struct rtattr *attribute = RTA_DATA(outer);
	int left = RTA_PAYLOAD(outer);

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		if (attribute->rta_type == type)
			return attribute;
	return NULL;
}

static unsigned int read_delay(struct rtattr *info)
{
	struct rtattr *data = find_inside(info, IFLA_INFO_DATA), *delay;

	delay = data ? find_inside(data, IFLA_MORPH_CARRIER_DELAY_MS) : NULL;
	return delay ? *(uint32_t *)RTA_DATA(delay) : 0;
}

static int read_state(const char *name, struct link_state *state)
{
	char answer[16384];
	struct nlmsghdr *head = (void *)answer;
	struct ifinfomsg *info = NLMSG_DATA(head);
	struct rtnl_link_stats64 stats;
	struct rtattr *attribute;
	struct message message;
	int file, left;

	start(&message, RTM_GETLINK, 0, name);
	message.head.nlmsg_flags = NLM_F_REQUEST;
	file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	CHECK(file >= 0);
	CHECK(send(file, &message, message.head.nlmsg_len, 0) > 0);
	CHECK(recv(file, answer, sizeof(answer), 0) > 0);
	close(file);
	if (head->nlmsg_type == NLMSG_ERROR)
		return ((struct nlmsgerr *)NLMSG_DATA(head))->error;
	memset(state, 0, sizeof(*state));
	state->index = info->ifi_index;
	left = head->nlmsg_len - NLMSG_LENGTH(sizeof(*info));
	for (attribute = IFLA_RTA(info); RTA_OK(attribute, left);
	     attribute = RTA_NEXT(attribute, left)) {
		switch (attribute->rta_type) {
		case IFLA_ADDRESS:
			memcpy(state->address, RTA_DATA(attribute), sizeof(state->address));
			break;
		case IFLA_CARRIER:
			state->carrier = *(uint8_t *)RTA_DATA(attribute);
			break;
		case IFLA_CARRIER_CHANGES:
			state->carrier_changes = *(uint32_t *)RTA_DATA(attribute);
			break;
		case IFLA_LINKINFO:
			state->delay_ms = read_delay(attribute);
			break;
		case IFLA_STATS64:
			memcpy(&stats, RTA_DATA(attribute), sizeof(stats));
			state->dark = stats.tx_carrier_errors;
			break;
		}
	}
	return 0;
}

int place_state(const struct place *place, struct link_state *state)
{
	int previous = enter(place->net), ret;

	ret = read_state(place->name, state);
	leave(previous);
	return ret;
}

static int ask_ethtool(const struct place *place, void *request)
{
	struct ifreq ifreq = { .ifr_data = request };

	strcpy(ifreq.ifr_name, place->name);
	return ioctl(place->socket, SIOCETHTOOL, &ifreq);
}

int64_t place_counter(const struct place *place, const char *name)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} set = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS } };
	struct ethtool_gstrings *names;
	struct ethtool_stats *values;
	int64_t value = -1;
	uint32_t i;

	CHECK(!ask_ethtool(place, &set));
	names = calloc(1, sizeof(*names) + set.count * ETH_GSTRING_LEN);
	values = calloc(1, sizeof(*values) + set.count * sizeof(uint64_t));
	CHECK(names && values);
	*names = (struct ethtool_gstrings){ ETHTOOL_GSTRINGS, ETH_SS_STATS, set.count };
	*values = (struct ethtool_stats){ ETHTOOL_GSTATS, set.count };
	CHECK(!ask_ethtool(place, names) && !ask_ethtool(place, values));
	for (i = 0; i < set.count; i++)
		if (!strncmp((char *)names->data + i * ETH_GSTRING_LEN, name, ETH_GSTRING_LEN))
			value = (int64_t)values->data[i];
	free(names);
	free(values);
	return value;
}

unsigned int place_speed(const struct place *place)
{
	struct ethtool_cmd settings = { .cmd = ETHTOOL_GSET };

	CHECK(!ask_ethtool(place, &settings));
	return ethtool_cmd_speed(&settings);
}

/* ------------------------------------------------------------------- datagrams */

static struct arpreq arp_entry(const struct place *place, unsigned int rank)
{
	struct arpreq entry = { .arp_ha.sa_family = ARPHRD_ETHER };
	struct sockaddr_in *protocol = (void *)&entry.arp_pa;

	protocol->sin_family = AF_INET;
	protocol->sin_addr.s_addr = htonl(0x0a000001 + rank);
	strcpy(entry.arp_dev, place->name);
	return entry;
}

int place_know(const struct place *place, unsigned int rank, const uint8_t *address)
{
	struct arpreq entry = arp_entry(place, rank);

	entry.arp_flags = ATF_COM | ATF_PERM;
	memcpy(entry.arp_ha.sa_data, address, 6);
	return ioctl(place->socket, SIOCSARP, &entry) ? -errno : 0;
}

int place_neighbour(const struct place *place, unsigned int rank, uint8_t *address)
{
	struct arpreq entry = arp_entry(place, rank);

	if (ioctl(place->socket, SIOCGARP, &entry))
		return -errno;
	if (!(entry.arp_flags & ATF_COM))
		return -ENXIO;
	memcpy(address, entry.arp_ha.sa_data, 6);
	return 0;
}

int place_socket(const struct place *place)
{
	int previous = enter(place->net), file;

	file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(file >= 0);
	leave(previous);
	return file;
}

int place_send(const struct place *from, unsigned int to_rank, uint32_t number)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(0x0a000001 + to_rank),
	};

	return sendto(from->socket, &number, sizeof(number), MSG_DONTWAIT, (void *)&to,
		      sizeof(to)) < 0 ?
		       -errno :
		       0;
}

int64_t place_receive(const struct place *place, int timeout_ms)
{
	struct pollfd pollfd = { .fd = place->socket, .events = POLLIN };
	uint32_t number;

	if (poll(&pollfd, 1, timeout_ms) != 1 ||
	    recv(place->socket, &number, sizeof(number), MSG_DONTWAIT) != sizeof(number))
		return -1;
	return number;
}

bool place_reaches(const struct place *from, const struct place *to, int timeout_ms)
{
	long long until = now_ms() + timeout_ms;
	static uint32_t number;
	int64_t got;

	number++;
	do {
		place_send(from, to->rank, number);
		while ((got = place_receive(to, 20)) >= 0)
			if (got == number)
				return true;
	} while (now_ms() < until);
	return false;
}
