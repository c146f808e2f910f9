/*
 * A VCP or MPCP router at tc: counts the packets that arrive for a device, and raises the code in
 * the ECN field of each to that of the device's load level. User space computes the level from the
 * counts and writes it into the map "level".
 *
 * A packet that is not to be marked passes as it is. So does one that cannot be read: one that is
 * not a whole IP packet with right lengths and checksum, a fragment, a VLAN's frame. All count as
 * load.
 *
 * No other byte is ever changed but those of the ECN field and of IPv4's checksum.
 */

static __always_inline __u32 compared(__u32 a, __u32 b)
{
    return a < b ? LESS : a == b ? EQUAL : GREATER;
}

static __always_inline __u32 digit(__u32 digits, __u32 place)
{
    return digits >> (16 - DIGIT_BITS * (place + 1)) & 3;
}

/* The code of a packet after the router, given the one before it: see Rust's `Marker::mark`. */
static __always_inline __u32 code_after(const struct packet *packet, __u32 carried)
{
    __u32 zero = 0, index, order, place = packet->place, ours;
    __u32 *now = bpf_map_lookup_elem(&level, &zero);
    __u64 hash, state, flow, *slot;

    if (!now)
        return carried;
    if (chain_packets == 1) {
        ours = digit(*now, 0);
        return ours > carried ? ours : carried;
    }
    flow = packet->flow & FLOW_BITS;
    hash = flow * 0x9e3779b97f4a7c15ULL;
    /* The high word of the product with the number of slots. */
    index = ((hash >> 32) * flow_slots + ((hash & 0xffffffff) * flow_slots >> 32)) >> 32;
    slot = bpf_map_lookup_elem(&chains, &index);
    if (!slot)
        return carried;
    if (place == 0) {
        state = flow | (*now & 0xffff);
        ours = digit(state, 0);
        *(volatile __u64 *)slot = state | (__u64)compared(ours, carried) << ORDER_SHIFT;
        return ours > carried ? ours : carried;
    }
    state = *(volatile __u64 *)slot;
    order = state >> ORDER_SHIFT & 3;
    if ((state & FLOW_BITS) != flow || order == 0) {
        /* Another flow has the slot. */
        state = *now;
        order = EQUAL;
        slot = 0;
    }
    ours = digit(state & 0xffff, place & 7);
    if (ours == 0 || order == LESS)
        return carried;
    if (order == GREATER)
        return ours;
    if (slot)
        *(volatile __u64 *)slot =
            (state & ~(3ULL << ORDER_SHIFT)) | (__u64)compared(ours, carried) << ORDER_SHIFT;
    return ours > carried ? ours : carried;
}

/* Counts the packet, and returns its code after the router. */
static __always_inline __u32 marked(struct __sk_buff *skb, struct packet *packet,
                                    struct counters *count, __u32 carried)
{
    __u32 code;

    count->coded++;
    if (chain_packets > 1 && !read_transport(skb, packet)) {
        count->unreadable++;
        return carried;
    }
    code = code_after(packet, carried);
    count->raised += code != carried;
    return code;
}

/* Makes the first bytes of the frame accessible, if there are so many. */
static __always_inline void make_linear(struct __sk_buff *skb, __u32 length)
{
    void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

    if (data + length > end)
        bpf_skb_pull_data(skb, length);
}

static __always_inline void pass_v4(struct __sk_buff *skb, struct counters *count)
{
    void *end = (void *)(long)skb->data_end;
    struct iphdr *ip = (void *)(long)skb->data + link_header;
    struct packet packet = {};
    __u32 *words = (__u32 *)ip;
    __u64 sum;
    __u32 header, total, carried, code;

    if ((void *)(ip + 1) > end || ip->version != 4)
        return;
    carried = ip->tos & 3;
    if (carried == NOT_ECT)
        return;
    header = ip->ihl * 4;
    total = bpf_ntohs(ip->tot_len);
    if (ip->ihl < 5 || total < header || link_header + total > skb->len)
        return;
    sum = (__u64)words[0] + words[1] + words[2] + words[3] + words[4];
    for (__u32 at = sizeof(*ip); at < header && at < MOST_HEADER; at += sizeof(__u32)) {
        __u32 option;

        if (bpf_skb_load_bytes(skb, link_header + at, &option, sizeof(option)))
            return;
        sum += option;
    }
    if (folded(sum) != 0xffff)
        return;
    /* An offset, or More Fragments. */
    if (ip->frag_off & bpf_htons(0x3fff))
        return;
    packet.payload = link_header + header;
    packet.end = link_header + total;
    packet.protocol = ip->protocol;
    packet.identification = bpf_ntohs(ip->id);
    packet.flow = mixed(0, (__u64)words[3] << 32 | words[4]);
    packet.sum = (__u64)words[3] + words[4];
    if (!skip_extensions(skb, &packet, 0))
        return;
    code = marked(skb, &packet, count, carried);
    if (code == carried)
        return;
    /* RFC 1624, equation 3. The field is in the second byte of a word in network byte order. */
    sum = (__u16)~ip->check + (__u16)~bpf_htons(carried) + bpf_htons(code);
    ip->check = ~folded(sum);
    ip->tos = (ip->tos & ~3) | code;
}

static __always_inline void pass_v6(struct __sk_buff *skb, struct counters *count)
{
    void *end = (void *)(long)skb->data_end;
    struct ipv6hdr *ip = (void *)(long)skb->data + link_header;
    struct packet packet = {};
    __u32 *words = (__u32 *)ip;
    __u32 length, carried, code, before;

    if ((void *)(ip + 1) > end || ip->version != 6)
        return;
    before = words[0];
    carried = bpf_ntohl(before) >> 20 & 3;
    if (carried == NOT_ECT)
        return;
    length = bpf_ntohs(ip->payload_len);
    packet.payload = link_header + sizeof(*ip);
    /* A jumbogram has no length here. */
    packet.end = length ? packet.payload + length : skb->len;
    if (packet.end > skb->len)
        return;
    packet.protocol = ip->nexthdr;
    for (int index = 2; index < 10; index += 2)
        packet.flow = mixed(packet.flow, (__u64)words[index] << 32 | words[index + 1]);
    for (int index = 2; index < 10; index++)
        packet.sum += words[index];
    if (!skip_extensions(skb, &packet, 1))
        return;
    code = marked(skb, &packet, count, carried);
    if (code == carried)
        return;
    words[0] = (before & ~bpf_htonl(3 << 20)) | bpf_htonl(code << 20);
    /* The device may have added up the packet's bytes. IPv4's checksum makes up for the change. */
    bpf_csum_update(skb, bpf_csum_diff(&before, sizeof(before), words, sizeof(before), 0));
}

SEC("classifier")
int router(struct __sk_buff *skb)
{
    __u32 zero = 0, segments = skb->gso_segs;
    struct counters *count = bpf_map_lookup_elem(&counters, &zero);

    if (!count)
        return TC_ACT_UNSPEC;
    count->bytes += skb->wire_len;
    count->packets += segments > 1 ? segments : 1;
    if (skb->vlan_present)
        return TC_ACT_UNSPEC;
    if (skb->protocol == bpf_htons(ETH_P_IP)) {
        make_linear(skb, link_header + sizeof(struct iphdr));
        pass_v4(skb, count);
    } else if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
        make_linear(skb, link_header + sizeof(struct ipv6hdr));
        pass_v6(skb, count);
    }
    return TC_ACT_UNSPEC;
}

char LICENSE[] SEC("license") = "Apache-2.0 OR MIT";
