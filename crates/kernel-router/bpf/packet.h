/* What a router reads from a packet. It comes after maps.h. */

/* An IP packet whose header has been read. Offsets are from the start of the frame. */
struct packet {
    __u64 flow;
    __u64 sum; /* of the addresses, as in the pseudo-header of TCP's checksum */
    __u32 payload;
    __u32 end;
    __u32 place; /* in its chain */
    __u16 identification;
    __u8 protocol;
};

static __always_inline __u64 mixed(__u64 hash, __u64 word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    return hash ^ hash >> 32;
}

static __always_inline __u32 folded(__u64 sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

/* Skips IPv6's extension headers, or IPv4's Authentication Header, as Rust's `Forwarded` does. */
static __always_inline int skip_extensions(struct __sk_buff *skb, struct packet *packet, int is_v6)
{
    for (int count = 0; count < MOST_EXTENSIONS; count++) {
        __u8 head[4];
        __u32 length;

        switch (packet->protocol) {
        case IPPROTO_HOPOPTS:
            /* Anywhere else it is an error. */
            if (is_v6 && count > 0)
                return 0;
        case IPPROTO_ROUTING:
        case IPPROTO_DSTOPTS:
        case IPPROTO_FRAGMENT:
            if (!is_v6)
                return 1;
            break;
        case IPPROTO_AH:
            if (!is_v6 && count > 0)
                return 1;
            break;
        default:
            return 1;
        }
        if (packet->payload + 8 > packet->end)
            return 0;
        if (bpf_skb_load_bytes(skb, packet->payload, head, sizeof(head)))
            return 0;
        if (packet->protocol == IPPROTO_AH) {
            length = (head[1] + 2) * 4;
            if (head[1] == 0)
                return 0;
        } else if (packet->protocol == IPPROTO_FRAGMENT) {
            length = 8;
            /* The offset of 13 bits, two reserved bits, and More Fragments. */
            if (head[2] | (head[3] & 0xf9))
                return 0;
        } else {
            length = (head[1] + 1) * 8;
        }
        packet->payload += length;
        if (packet->payload > packet->end)
            return 0;
        packet->protocol = head[0];
    }
    return 0;
}

/* The place in its chain of a DCCP packet, by its sequence number. */
static __always_inline int read_dccp(struct __sk_buff *skb, struct packet *packet, __u32 at)
{
    __u8 head[16] = {};
    __u64 number;
    __u32 ports;

    if (at + 16 <= packet->end) {
        if (bpf_skb_load_bytes(skb, at, head, 16))
            return 0;
    } else if (at + 12 > packet->end || bpf_skb_load_bytes(skb, at, head, 12) || head[8] & 1) {
        return 0;
    }
    if (head[8] & 1) {
        number = (__u64)head[10] << 40 | (__u64)head[11] << 32 | (__u64)head[12] << 24 |
                 head[13] << 16 | head[14] << 8 | head[15];
    } else {
        number = head[9] << 16 | head[10] << 8 | head[11];
    }
    __builtin_memcpy(&ports, head, sizeof(ports));
    packet->flow = mixed(packet->flow, (__u64)IPPROTO_DCCP << 32 | ports);
    packet->place = number % chain_packets;
    return 1;
}

/* By how much the checksum of the TCP segment from `at` to `end` is too large, if at most by
 * MOST_PLACE; otherwise -1. `sum` is that of the pseudo-header. The verifier looks at a global
 * function once, not once for each way that leads to it. */
__noinline int checksum_offset(struct __sk_buff *skb, __u32 at, __u32 end, __u32 sum)
{
    __u32 zero = 0, rest, excess;
    __u8 *part = bpf_map_lookup_elem(&parts, &zero);

    if (!part)
        return -1;
    for (int count = 0; count < MOST_PARTS && at + PART <= end; count++) {
        if (bpf_skb_load_bytes(skb, at, part, PART))
            return -1;
        sum = bpf_csum_diff(0, 0, (__be32 *)part, PART, sum);
        at += PART;
    }
    rest = end - at;
    if (rest >= PART)
        return -1;
    /* The compiler would forget the bound. */
    barrier_var(rest);
    if (rest > 0) {
        /* The last part is padded to whole words. */
        *(__u32 *)(part + (rest & (PART - 4))) = 0;
        if (bpf_skb_load_bytes(skb, at, part, rest))
            return -1;
        sum = bpf_csum_diff(0, 0, (__be32 *)part, (rest + 3) & ~3U, sum);
    }
    excess = bpf_ntohs(~folded(sum));
    return excess <= MOST_PLACE ? (int)excess : -1;
}

static __always_inline int read_tcp(struct __sk_buff *skb, struct packet *packet)
{
    struct tcphdr tcp;
    __u32 ports;

    if (packet->payload + sizeof(tcp) > packet->end ||
        bpf_skb_load_bytes(skb, packet->payload, &tcp, sizeof(tcp)))
        return 0;
    if (tcp.doff < 5 || packet->payload + tcp.doff * 4 > packet->end)
        return 0;
    __builtin_memcpy(&ports, &tcp, sizeof(ports));
    packet->flow = mixed(packet->flow, (__u64)IPPROTO_TCP << 32 | ports);
    if (by_identification)
        packet->place = packet->identification & MOST_PLACE;
    else if (chain_packets == 2)
        packet->place = bpf_ntohl(tcp.seq) <= bpf_ntohl(tcp.ack_seq);
    else {
        __u32 length = packet->end - packet->payload;
        __u32 sum = folded(packet->sum + bpf_htons(IPPROTO_TCP) + bpf_htons(length));
        int place = checksum_offset(skb, packet->payload, packet->end, sum);

        if (place < 0)
            return 0;
        packet->place = place;
    }
    return 1;
}

/* Reads the place of a packet in its chain. */
static __always_inline int read_transport(struct __sk_buff *skb, struct packet *packet)
{
    __u32 ports = 0;

    /* What was joined has the place of its first packet only. */
    if (skb->gso_segs > 1)
        return 0;
    switch (packet->protocol) {
    case IPPROTO_TCP:
        return read_tcp(skb, packet);
    case IPPROTO_DCCP:
        return read_dccp(skb, packet, packet->payload);
    case IPPROTO_UDP:
    case IPPROTO_UDPLITE:
    case IPPROTO_SCTP:
        if (packet->payload + 4 <= packet->end)
            bpf_skb_load_bytes(skb, packet->payload, &ports, sizeof(ports));
    }
    packet->flow = mixed(packet->flow, (__u64)packet->protocol << 32 | ports);
    if (packet->protocol == IPPROTO_UDP && dccp_udp_port != 0) {
        __u32 port = bpf_htons(dccp_udp_port);

        if ((ports & 0xffff) == port || ports >> 16 == port)
            return read_dccp(skb, packet, packet->payload + sizeof(struct udphdr));
    }
    packet->place = by_identification ? packet->identification & MOST_PLACE : 0;
    return 1;
}
