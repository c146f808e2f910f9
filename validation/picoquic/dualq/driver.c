/* Feeds a sequence of arrivals through picoquic's DualPI2 (picoquic/dualq_aqm.c on a link of picoquic/sim_link.c).
 *
 * usage: driver RATE_BPS BUFFER_US < arrivals.csv > packets.csv
 *
 * arrivals.csv: header, then time_us,bytes,ecn with ecn the two bits of the IP header (0 Not-ECT, 1 ECT(1), 2 ECT(0),
 * 3 CE), in the order of time. BUFFER_US is the capacity of both queues, as a time at RATE_BPS.
 * packets.csv: one line a packet, in the order of arrival: time_us,bytes,ecn,class,fate,departure_us,wait_us
 *   class        L or C, by the arriving codepoint
 *   fate         sent, marked (sent with CE, arrived without), tail (dropped since the buffer is full), dropped (by
 *                the AQM at dequeue)
 *   departure_us when its last bit has left; 0 if dropped
 *   wait_us      departure less the time that the link takes for it, less arrival; 0 if dropped
 * The propagation delay of the link is zero. At equal times an admission goes before an arrival, as in
 * picoquic/picohttp/picoquic_ns.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "picoquic_internal.h"
#include "picoquic_utils.h"
#include "picoquictest_dualq.h"

/* sim_link.c needs these for jitter, which is zero here. */
uint64_t picoquic_test_random(uint64_t* c) { (void)c; abort(); }
uint64_t picoquic_test_uniform_random(uint64_t* c, uint64_t m) { (void)c; (void)m; abort(); }
double picoquic_test_gauss_random(uint64_t* c) { (void)c; abort(); }
uint64_t picoquic_test_poisson_random(uint64_t* c, uint64_t e) { (void)c; (void)e; abort(); }

typedef struct { uint64_t time, departure; size_t bytes; uint8_t ecn, ecn_out; char fate; } record_t;

static record_t* records;
static size_t count;

static void deliver(picoquictest_sim_link_t* link, uint64_t now) {
    picoquictest_sim_packet_t* packet;
    while ((packet = picoquictest_sim_link_dequeue(link, now)) != NULL) {
        uint64_t index;
        memcpy(&index, packet->bytes, sizeof(index));
        records[index].departure = packet->arrival_time;
        records[index].ecn_out = packet->ecn_mark;
        records[index].fate = 's';
        free(packet);
    }
}

/* Everything that the link does before `until`, and at `until` if `inclusive`. */
static uint64_t advance(picoquictest_sim_link_t* link, uint64_t now, uint64_t until) {
    for (;;) {
        uint64_t admission = picoquictest_sim_link_next_admission(link, now, UINT64_MAX);
        if (admission < now) admission = now;
        if (admission == UINT64_MAX || admission > until) break;
        now = admission;
        deliver(link, now);
        picoquictest_sim_link_admit_pending(link, now);
    }
    deliver(link, until);
    return until;
}

int main(int argc, char** argv) {
    if (argc != 3) { fprintf(stderr, "usage: %s RATE_BPS BUFFER_US\n", argv[0]); return 2; }
    double rate = atof(argv[1]);
    double buffer = atof(argv[2]);
    picoquictest_sim_link_t* link = picoquictest_sim_link_create(rate / 1e9, 0, NULL, (uint64_t)buffer, 0);
    if (link == NULL || dualq_configure(link, 0) != 0) return 1;
    dualq_state_t* q = (dualq_state_t*)link->aqm_state;
    /* The link rounds the time of a byte down, and then that of a packet to microseconds: 1500 B at 10 Mbps would take
     * 1199 us. Rounding the former up gives 1200 us. */
    link->picosec_per_byte += 1;
    /* dualq_configure divides by the time of a byte, which the link holds in units of 10^6/2^20 ps: 4.6 % too little. */
    q->limit = (uint64_t)(buffer * rate / 8e6);
    fprintf(stderr, "limit %" PRIu64 " B, target %" PRIu64 " us, Tupdate %" PRIu64 " us, alpha %g Hz, beta %g Hz, "
        "minTh %" PRIu64 " us, range %" PRIu64 " us, k %g, p_Cmax %g, p_Lmax %g\n", q->limit, q->target, q->Tupdate,
        q->pi2_alpha * 1e6, q->pi2_beta * 1e6, q->minTh, q->range, q->k, q->p_Cmax, q->p_Lmax);

    char line[128];
    size_t room = 0;
    uint64_t now = 0;
    if (fgets(line, sizeof(line), stdin) == NULL) return 1;
    while (fgets(line, sizeof(line), stdin) != NULL) {
        uint64_t time;
        unsigned bytes, ecn;
        if (sscanf(line, "%" SCNu64 ",%u,%u", &time, &bytes, &ecn) != 3 || time < now || bytes > PICOQUIC_MAX_PACKET_SIZE || bytes < 8) {
            fprintf(stderr, "bad line: %s", line);
            return 1;
        }
        if (count == room) {
            room = room ? 2 * room : 4096;
            records = realloc(records, room * sizeof(*records));
            if (records == NULL) return 1;
        }
        now = advance(link, now, time);
        int full = q->cq.queue_bytes + q->lq.queue_bytes + bytes > q->limit;
        records[count] = (record_t){ .time = time, .bytes = bytes, .ecn = (uint8_t)ecn, .fate = full ? 't' : 'd' };
        picoquictest_sim_packet_t* packet = picoquictest_sim_link_create_packet();
        if (packet == NULL) return 1;
        uint64_t index = count++;
        packet->length = bytes;
        packet->ecn_mark = (uint8_t)ecn;
        memcpy(packet->bytes, &index, sizeof(index));
        picoquictest_sim_link_submit(link, packet, now);
    }
    /* Until both queues are empty. */
    advance(link, now, now + 60000000);

    printf("time_us,bytes,ecn,class,fate,departure_us,wait_us\n");
    for (size_t i = 0; i < count; i++) {
        record_t* r = &records[i];
        uint64_t serialization = (link->picosec_per_byte * (uint64_t)r->bytes) >> 20;
        const char* fate = r->fate == 't' ? "tail" : r->fate == 'd' ? "dropped" : r->ecn_out != r->ecn ? "marked" : "sent";
        printf("%" PRIu64 ",%zu,%u,%c,%s,%" PRIu64 ",%" PRIu64 "\n", r->time, r->bytes, r->ecn, r->ecn & 1 ? 'L' : 'C', fate,
            r->fate == 's' ? r->departure : 0, r->fate == 's' ? r->departure - serialization - r->time : 0);
    }
    picoquictest_sim_link_delete(link);
    free(records);
    return 0;
}
