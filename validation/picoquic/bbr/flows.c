/* Flows of picoquic over one simulated link, on picoquic's virtual clock.
 *
 * usage: flows TREE name=value ...
 *   TREE       picoquic's work tree (its test certificates are used)
 *   rate       bits per second of the link, in both directions                 10e6
 *   rtt        propagation delays of both directions together, in us           40000
 *   queue      the longest queueing delay of the forward link, in us           40000
 *   loss       share of the packets that the forward link loses at random      0
 *   duration   in s                                                            60
 *   from       the steady state is from here to the end, in s                  10
 *   seed       of losses, of BBR's random choices and of the second start      1
 *   cc1, cc2   the control of each flow (bbr, cubic, reno, ...; no second flow by default)    bbr
 *   opt1, opt2 picoquic's option string of the control (README.md says what those of BBR do)
 *   start2     when the second flow starts, in us; by default drawn from the seed, at most 100 ms
 *   trace      a file for the goodput of each flow in each 100 ms, and its cwnd at the end of them
 *
 * Clients send one endless stream each to one server. The links are those of picoquic/sim_link.c; a packet counts with
 * its UDP payload. Output: a CSV line for each flow; `header` as the only argument prints the names.
 *
 * goodput_mbps   payload of the stream that reached the server's application in order, in the steady state
 * rtt_*          of each packet that the link accepted in the steady state: propagation, queue and its own transmission,
 *                without the delay of the acknowledgement
 * sample_*       picoquic's latest RTT sample at each packet that arrives at the client in the steady state
 * sent_packets, declared_lost (by the sender), spurious (declared lost, acknowledged later), queue_drops, random_drops
 *                in the steady state; all_*: since the start
 * time_1mb_s     from the start of the flow until 1 MB of its stream has arrived in order
 * time_80pct_s   from the start of the flow to the end of the first 100 ms (one round-trip time, rounded up to 100 ms, if
 *                that is longer) in which UDP payload arrives at 80 % of the link's rate
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include "picoquic.h"
#include "picoquic_internal.h"
#include "picoquic_utils.h"
#include "tls_api.h"

#define ALPN "flows"
#define FLOWS 2
#define BINS 100000 /* us */
#define STEADY_HEADER "cc,options,seed,start_s,goodput_mbps,rtt_mean_ms,rtt_p95_ms,sample_mean_ms,sample_p95_ms,sent_packets," \
    "declared_lost,spurious,queue_drops,random_drops,all_sent_packets,all_declared_lost,all_queue_drops," \
    "time_1mb_s,time_80pct_s,packet_bytes,min_rtt_ms"

typedef struct { double* values; size_t count, room; } samples_t;

static void add(samples_t* s, double value) {
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 4096;
        s->values = realloc(s->values, s->room * sizeof(double));
        if (s->values == NULL) exit(1);
    }
    s->values[s->count++] = value;
}

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double mean(samples_t* s) {
    double sum = 0;
    for (size_t i = 0; i < s->count; i++) sum += s->values[i];
    return s->count ? sum / (double)s->count : NAN;
}

static double percentile(samples_t* s, double share) {
    if (s->count == 0) return NAN;
    qsort(s->values, s->count, sizeof(double), ascending);
    size_t rank = (size_t)ceil(share * (double)s->count);
    return s->values[rank ? rank - 1 : 0];
}

typedef struct {
    picoquic_cnx_t* cnx;
    struct sockaddr_in address;
    const char *cc, *options;
    uint64_t start;
    uint64_t received;         /* bytes of the stream, in order, at the server's application */
    uint64_t received_at_from;
    uint64_t time_1mb;
    uint64_t sent, sent_at_from, sent_bytes, lost_at_from, spurious_at_from;
    uint64_t queue_drops, queue_drops_at_from, random_drops, random_drops_at_from;
    uint64_t* bins;            /* bytes of UDP payload that arrived at the server in each 100 ms */
    uint64_t *received_then, *cwnd_then; /* `received`, and cwnd in bytes, at the end of each 100 ms */
    samples_t rtt, samples;
} flow_t;

static flow_t flows[FLOWS];
static int flow_count;
static uint64_t now;

static uint64_t random_state;
static double uniform(void) { /* xorshift64* */
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)((random_state * 2685821657736338717ull) >> 11) / 9007199254740992.0;
}

static flow_t* flow_of(const struct sockaddr* address) {
    for (int i = 0; i < flow_count; i++)
        if (((const struct sockaddr_in*)address)->sin_port == flows[i].address.sin_port) return &flows[i];
    return NULL;
}

static int client_callback(picoquic_cnx_t* cnx, uint64_t stream, uint8_t* bytes, size_t length,
    picoquic_call_back_event_t event, void* context, void* stream_context) {
    (void)stream; (void)context; (void)stream_context;
    if (event == picoquic_callback_ready) return picoquic_mark_active_stream(cnx, 0, 1, NULL);
    if (event == picoquic_callback_prepare_to_send) {
        uint8_t* data = picoquic_provide_stream_data_buffer(bytes, length, 0, 1);
        if (data == NULL) return -1;
        memset(data, 0x5a, length);
    }
    return 0;
}

static int server_callback(picoquic_cnx_t* cnx, uint64_t stream, uint8_t* bytes, size_t length,
    picoquic_call_back_event_t event, void* context, void* stream_context) {
    (void)stream; (void)bytes; (void)context; (void)stream_context;
    if (event == picoquic_callback_stream_data) {
        struct sockaddr* peer;
        picoquic_get_peer_addr(cnx, &peer);
        flow_t* f = flow_of(peer);
        if (f == NULL) return -1;
        f->received += length;
        if (f->time_1mb == 0 && f->received >= 1000000) f->time_1mb = now;
    }
    return 0;
}

static const char* argument(int argc, char** argv, const char* name, const char* otherwise) {
    size_t length = strlen(name);
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') return argv[i] + length + 1;
    return otherwise;
}

static void fail(const char* text) { fprintf(stderr, "%s\n", text); exit(1); }

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "header") == 0) { puts(STEADY_HEADER); return 0; }
    if (argc < 2) fail("usage: flows TREE name=value ...");
    double rate = atof(argument(argc, argv, "rate", "10e6"));
    uint64_t rtt = strtoull(argument(argc, argv, "rtt", "40000"), NULL, 10);
    uint64_t queue = strtoull(argument(argc, argv, "queue", "40000"), NULL, 10);
    double loss = atof(argument(argc, argv, "loss", "0"));
    uint64_t end = (uint64_t)(1e6 * atof(argument(argc, argv, "duration", "60")));
    uint64_t from = (uint64_t)(1e6 * atof(argument(argc, argv, "from", "10")));
    uint64_t seed = strtoull(argument(argc, argv, "seed", "1"), NULL, 10);
    const char* cc[FLOWS] = { argument(argc, argv, "cc1", "bbr"), argument(argc, argv, "cc2", NULL) };
    const char* options[FLOWS] = { argument(argc, argv, "opt1", ""), argument(argc, argv, "opt2", "") };
    const char* start2 = argument(argc, argv, "start2", NULL);
    const char* trace = argument(argc, argv, "trace", NULL);
    flow_count = cc[1] != NULL ? 2 : 1;
    random_state = seed * 0x9e3779b97f4a7c15ull + 1;
    for (int i = 0; i < 8; i++) uniform();

    picoquic_register_all_congestion_control_algorithms();
    char cert[512], key[512], store[512];
    if (picoquic_get_input_path(cert, sizeof(cert), argv[1], PICOQUIC_TEST_FILE_SERVER_CERT) != 0 ||
        picoquic_get_input_path(key, sizeof(key), argv[1], PICOQUIC_TEST_FILE_SERVER_KEY) != 0 ||
        picoquic_get_input_path(store, sizeof(store), argv[1], PICOQUIC_TEST_FILE_CERT_STORE) != 0) fail("no certificates");
    picoquic_quic_t* server = picoquic_create(8, cert, key, NULL, ALPN, server_callback, NULL, NULL, NULL, NULL, now, &now, NULL, NULL, 0);
    picoquic_quic_t* client = picoquic_create(8, NULL, NULL, store, ALPN, client_callback, NULL, NULL, NULL, NULL, now, &now, NULL, NULL, 0);
    if (server == NULL || client == NULL) fail("no context");
    /* Flow control never limits: 60 s at 50 Mbps are 375 MB. */
    picoquic_set_default_tp_value(server, picoquic_tp_initial_max_data, 1ull << 40);
    picoquic_set_default_tp_value(server, picoquic_tp_initial_max_stream_data_bidi_remote, 1ull << 40);
    /* Repeatable runs: no seeds from the system. */
    server->use_predictable_random = 1;
    client->use_predictable_random = 1;
    picoquic_public_random_seed_64(seed, 1);

    picoquictest_sim_link_t* forward = picoquictest_sim_link_create(rate / 1e9, rtt / 2, NULL, queue, 0);
    picoquictest_sim_link_t* back = picoquictest_sim_link_create(rate / 1e9, rtt / 2, NULL, 0, 0);
    if (forward == NULL || back == NULL) fail("no link");
    struct sockaddr_in server_address = { .sin_family = AF_INET, .sin_port = htons(4433), .sin_addr.s_addr = htonl(0x0a000001) };
    for (int i = 0; i < flow_count; i++) {
        flow_t* f = &flows[i];
        f->address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)(1001 + i)), .sin_addr.s_addr = htonl(0x0a000002) };
        f->cc = cc[i];
        char with_seed[128];
        /* "S" sets the seed of BBR's random choices; the other controls ignore it. */
        snprintf(with_seed, sizeof(with_seed), "%s:S%" PRIu64 ":", options[i], seed);
        f->options = strcmp(cc[i], "bbr") == 0 ? strdup(with_seed) : strdup(options[i]);
        f->start = i == 0 ? 0 : start2 != NULL ? strtoull(start2, NULL, 10) : (uint64_t)(100000 * uniform());
        f->bins = calloc(end / BINS + 2, sizeof(uint64_t));
        f->received_then = calloc(end / BINS + 2, sizeof(uint64_t));
        f->cwnd_then = calloc(end / BINS + 2, sizeof(uint64_t));
    }

    int snapshot = 0;
    uint64_t samples = 0;
    while (now < end) {
        /* The earliest event: a start, an arrival at one of the ends, or something to send. */
        uint64_t time = end;
        enum { none, start, arrival_forward, arrival_back, send_client, send_server } event = none;
        int starting = -1;
        for (int i = 0; i < flow_count; i++)
            if (flows[i].cnx == NULL && flows[i].start < time) { time = flows[i].start; event = start; starting = i; }
        uint64_t next = picoquictest_sim_link_next_arrival(forward, time);
        if (next < time) { time = next; event = arrival_forward; }
        next = picoquictest_sim_link_next_arrival(back, time);
        if (next < time) { time = next; event = arrival_back; }
        next = picoquic_get_next_wake_time(client, now);
        if (next < time) { time = next; event = send_client; }
        next = picoquic_get_next_wake_time(server, now);
        if (next < time) { time = next; event = send_server; }
        if (time > now) now = time;
        for (; samples < end / BINS && (samples + 1) * BINS <= now; samples++)
            for (int i = 0; i < flow_count; i++) {
                flows[i].received_then[samples] = flows[i].received;
                flows[i].cwnd_then[samples] = flows[i].cnx != NULL ? flows[i].cnx->path[0]->cwin : 0;
            }
        if (!snapshot && now >= from) {
            snapshot = 1;
            for (int i = 0; i < flow_count; i++) {
                flow_t* f = &flows[i];
                f->received_at_from = f->received;
                f->sent_at_from = f->sent;
                f->queue_drops_at_from = f->queue_drops;
                f->random_drops_at_from = f->random_drops;
                if (f->cnx != NULL) {
                    f->lost_at_from = f->cnx->nb_retransmission_total;
                    f->spurious_at_from = f->cnx->nb_spurious;
                }
            }
        }
        if (event == none) break;
        if (event == start) {
            flow_t* f = &flows[starting];
            picoquic_connection_id_t id = { { 0xf1, 0x05, (uint8_t)starting, (uint8_t)seed, 5, 6, 7, 8 }, 8 };
            picoquic_congestion_algorithm_t const* algorithm = picoquic_get_congestion_algorithm(f->cc);
            if (algorithm == NULL) fail("no such control");
            f->cnx = picoquic_create_cnx(client, id, picoquic_null_connection_id, (struct sockaddr*)&server_address, now, 0,
                PICOQUIC_TEST_SNI, ALPN, 1);
            if (f->cnx == NULL) fail("no connection");
            picoquic_set_congestion_algorithm_ex(f->cnx, algorithm, f->options);
            if (picoquic_start_client_cnx(f->cnx) != 0) fail("cannot start");
        } else if (event == arrival_forward || event == arrival_back) {
            picoquictest_sim_packet_t* packet = picoquictest_sim_link_dequeue(event == arrival_forward ? forward : back, now);
            picoquic_cnx_t* cnx = NULL;
            if (event == arrival_forward) {
                flow_t* f = flow_of((struct sockaddr*)&packet->addr_from);
                f->bins[now / BINS] += packet->length;
            }
            (void)picoquic_incoming_packet_ex(event == arrival_forward ? server : client, packet->bytes, packet->length,
                (struct sockaddr*)&packet->addr_from, (struct sockaddr*)&packet->addr_to, 0, packet->ecn_mark, &cnx, now);
            if (event == arrival_back && now >= from) {
                flow_t* f = flow_of((struct sockaddr*)&packet->addr_to);
                add(&f->samples, (double)f->cnx->path[0]->rtt_sample);
            }
            free(packet);
        } else {
            picoquictest_sim_packet_t* packet = picoquictest_sim_link_create_packet();
            if (packet == NULL) fail("no packet");
            int interface = 0;
            picoquic_cnx_t* cnx = NULL;
            memset(&packet->addr_from, 0, sizeof(packet->addr_from));
            int ret = picoquic_prepare_next_packet_ex(event == send_client ? client : server, now, packet->bytes,
                sizeof(packet->bytes), &packet->length, &packet->addr_to, &packet->addr_from, &interface, NULL, &cnx, NULL);
            if (ret != 0 || packet->length == 0) { free(packet); continue; }
            if (event == send_server) {
                picoquic_store_addr(&packet->addr_from, (struct sockaddr*)&server_address);
                picoquictest_sim_link_submit(back, packet, now);
                continue;
            }
            flow_t* f = NULL;
            for (int i = 0; i < flow_count; i++) if (flows[i].cnx == cnx) f = &flows[i];
            if (f == NULL) fail("a packet of no flow");
            picoquic_store_addr(&packet->addr_from, (struct sockaddr*)&f->address);
            f->sent++;
            f->sent_bytes += packet->length;
            if (loss > 0 && uniform() < loss) { f->random_drops++; free(packet); continue; }
            uint64_t drops = forward->packets_dropped;
            double path_rtt = (double)(rtt + picoquictest_sim_link_queue_delay(forward, now) +
                picoquictest_sim_link_transmit_time(forward, packet));
            picoquictest_sim_link_submit(forward, packet, now);
            if (forward->packets_dropped != drops) f->queue_drops++;
            else if (now >= from) add(&f->rtt, path_rtt);
        }
    }

    uint64_t window = (rtt > BINS ? (rtt + BINS - 1) / BINS : 1); /* bins: 100 ms, or the round-trip time if longer */
    for (int i = 0; i < flow_count; i++) {
        flow_t* f = &flows[i];
        double time_80 = NAN;
        for (uint64_t b = f->start / BINS; b + window <= end / BINS; b++) {
            uint64_t sum = 0;
            for (uint64_t j = 0; j < window; j++) sum += f->bins[b + j];
            if ((double)sum * 8e6 / (double)(window * BINS) >= 0.8 * rate) {
                time_80 = (double)((b + window) * BINS - f->start) / 1e6;
                break;
            }
        }
        if (f->cnx == NULL || f->cnx->cnx_state != picoquic_state_ready) fprintf(stderr, "flow %d is not connected at the end\n", i);
        printf("%s,%s,%" PRIu64 ",%.4f,%.4f,%.3f,%.3f,%.3f,%.3f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
            ",%" PRIu64 ",%" PRIu64 ",%.4f,%.1f,%.0f,%.3f\n",
            f->cc, options[i], seed, (double)f->start / 1e6, (double)(f->received - f->received_at_from) * 8 / (double)(end - from), mean(&f->rtt) / 1000,
            percentile(&f->rtt, 0.95) / 1000, mean(&f->samples) / 1000, percentile(&f->samples, 0.95) / 1000,
            f->sent - f->sent_at_from, f->cnx->nb_retransmission_total - f->lost_at_from, f->cnx->nb_spurious - f->spurious_at_from,
            f->queue_drops - f->queue_drops_at_from, f->random_drops - f->random_drops_at_from, f->sent,
            f->cnx->nb_retransmission_total, f->queue_drops, f->time_1mb ? (double)(f->time_1mb - f->start) / 1e6 : NAN, time_80,
            (double)f->sent_bytes / (double)f->sent, (double)f->cnx->path[0]->rtt_min / 1000);
    }
    if (trace != NULL) {
        FILE* file = fopen(trace, "w");
        if (file == NULL) fail("cannot write the trace");
        fprintf(file, "time_s");
        for (int i = 0; i < flow_count; i++) fprintf(file, ",flow%d_goodput_mbps,flow%d_cwnd_bytes", i + 1, i + 1);
        fprintf(file, "\n");
        for (uint64_t b = 0; b < end / BINS; b++) {
            fprintf(file, "%.1f", (double)((b + 1) * BINS) / 1e6);
            for (int i = 0; i < flow_count; i++) {
                uint64_t before = b > 0 ? flows[i].received_then[b - 1] : 0;
                fprintf(file, ",%.4f,%" PRIu64, (double)(flows[i].received_then[b] - before) * 8 / BINS, flows[i].cwnd_then[b]);
            }
            fprintf(file, "\n");
        }
        fclose(file);
    }
    return 0;
}
