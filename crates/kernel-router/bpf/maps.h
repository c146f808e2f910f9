/* What the program shares with user space: its configuration and its maps. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* The configuration. The loader writes it before the verifier runs, which then drops what a
 * configuration does not need. */

/* The length of the link-layer header: 14 with Ethernet, else 0. */
const volatile __u32 link_header = ETH_HLEN;
/* The packets in a chain: 1 with VCP, at most 8. */
const volatile __u32 chain_packets = 1;
/* The entries of the map "chains". */
const volatile __u32 flow_slots = 1;
/* Whether IPv4's identification field has the position of a packet in its chain, not TCP's header. */
const volatile __u32 by_identification = 0;
/* The UDP port of DCCP in UDP; 0 for none. */
const volatile __u32 dccp_udp_port = 6511;

enum { NOT_ECT, LOW, HIGH, OVER };

/* What has been counted. Rust's `Counters` must be the same. */
struct counters {
    __u64 bytes;      /* as the queue discipline counts them */
    __u64 packets;
    __u64 coded;      /* packets with a code */
    __u64 raised;     /* packets whose code was raised */
    __u64 unreadable; /* packets with a code, but without a position in a chain that can be read */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct counters);
} counters SEC(".maps");

/* The digits of the load level, two bits each, the first in the highest bits of 16. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} level SEC(".maps");

/* The chains that are passing through: the flow (46 bits), how the router's level compares with the
 * packets' (2 bits), and the level with which the chain began (16 bits). One word each, so that
 * processors need no lock. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} chains SEC(".maps");

/* A part of a segment, for its checksum. */
#define PART 512
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u8[PART + 4]);
} parts SEC(".maps");

#define FLOW_BITS (~0x3ffffULL)
#define ORDER_SHIFT 16
#define DIGIT_BITS 2
/* The longest segment whose checksum is computed: 32 parts. */
#define MOST_PARTS 32
/* The largest position that a checksum encodes. */
#define MOST_PLACE 7
#define MOST_EXTENSIONS 8
/* The longest header of IPv4. */
#define MOST_HEADER 60

/* How a router's digits compare with a packet's. A slot without a chain has 0. */
enum { LESS = 1, EQUAL, GREATER };
