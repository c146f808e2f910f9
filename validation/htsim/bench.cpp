// The benchmark dumbbell in htsim: long-lived TCP flows over one drop-tail bottleneck, with the
// rates, delays, packet sizes and buffer of validation/ns2/scripts/dumbbell.tcl.
//
// usage: bench FLOWS MBPS BUFFER SECONDS ACCESS_MBPS FULL
//   FLOWS        number of TCP flows; flow i takes subnet i modulo 10
//   MBPS         rate of the bottleneck in Mbit/s
//   BUFFER       bottleneck buffer in packets, including the one in transmission
//   SECONDS      simulated time in seconds
//   ACCESS_MBPS  rate of the access links in Mbit/s
//   FULL         1: a queue and a pipe on each of the six hops of a packet and its acknowledgement
//                0: the bottleneck queue, and one pipe each way
//
// The last line of its output is "events E delivered P drops D": events processed, packets that
// reached the sinks (retransmissions included), and packets dropped by the bottleneck. Before it,
// htsim prints a line for each timeout.

#include <cerrno>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <string>
#include <vector>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

namespace {

const int SUBNETS = 10;
const double LEAST_RTT_MS = 60;
const double MOST_RTT_MS = 220;
const int BOTTLENECK_DELAY_MS = 10;
// A data packet, in bytes on the wire. htsim has no headers: all of it is data.
const int PACKET_BYTES = 1024;
// The largest cwnd, in place of a receive window.
const int WINDOW_PACKETS = 1000;
// Buffers that never overflow: those of all other links.
const int AMPLE_PACKETS = 100000;
// Flows start at random times up to this.
const double STAGGER_MS = 100;
// One timer looks at all flows for timeouts, at this interval.
const double TIMER_SCAN_MS = 10;

// The access links of one subnet. Without them, one pipe each way has all of the delay.
struct Subnet {
    Queue source_out, sink_in, sink_out, source_in;
    Pipe source_out_pipe, sink_in_pipe, sink_out_pipe, source_in_pipe;
    Pipe whole_way, whole_way_back;

    Subnet(EventList& events, linkspeed_bps rate, double rtt_ms)
        : source_out(rate, memFromPkt(AMPLE_PACKETS), events, NULL),
          sink_in(rate, memFromPkt(AMPLE_PACKETS), events, NULL),
          sink_out(rate, memFromPkt(AMPLE_PACKETS), events, NULL),
          source_in(rate, memFromPkt(AMPLE_PACKETS), events, NULL),
          source_out_pipe(access_delay(rtt_ms), events),
          sink_in_pipe(access_delay(rtt_ms), events),
          sink_out_pipe(access_delay(rtt_ms), events),
          source_in_pipe(access_delay(rtt_ms), events),
          whole_way(timeFromMs(rtt_ms / 2), events),
          whole_way_back(timeFromMs(rtt_ms / 2), events) {}

    static simtime_picosec access_delay(double rtt_ms) {
        return timeFromMs((rtt_ms / 2 - BOTTLENECK_DELAY_MS) / 2);
    }
};

// Appends hops to a route.
void append(route_t& route, std::initializer_list<PacketSink*> hops) {
    for (PacketSink* hop : hops) {
        route.push_back(hop);
    }
}

// Reads a positive number, or ends the program.
double positive(const char* name, const char* text) {
    char* end = NULL;
    errno = 0;
    double value = std::strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !(value > 0)) {
        std::cerr << name << ": " << text << " is not a positive number" << std::endl;
        std::exit(2);
    }
    return value;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 7 || (string(argv[6]) != "0" && string(argv[6]) != "1")) {
        std::cerr << "usage: bench FLOWS MBPS BUFFER SECONDS ACCESS_MBPS FULL(0|1)" << std::endl;
        return 2;
    }
    const int flows = positive("FLOWS", argv[1]);
    const linkspeed_bps rate = speedFromMbps(positive("MBPS", argv[2]));
    const double buffer = positive("BUFFER", argv[3]);
    const simtime_picosec end = timeFromSec(positive("SECONDS", argv[4]));
    const linkspeed_bps access = speedFromMbps(positive("ACCESS_MBPS", argv[5]));
    const bool full = string(argv[6]) == "1";

    srand(1);
    EventList events;
    events.setEndtime(end);
    Packet::set_packet_size(PACKET_BYTES);

    Queue bottleneck(rate, memFromPkt(buffer), events, NULL);
    Queue bottleneck_back(rate, memFromPkt(AMPLE_PACKETS), events, NULL);
    Pipe pipe(timeFromMs(BOTTLENECK_DELAY_MS), events);
    Pipe pipe_back(timeFromMs(BOTTLENECK_DELAY_MS), events);
    std::vector<Subnet*> subnets;
    for (int i = 0; i < SUBNETS; i++) {
        const double rtt_ms = LEAST_RTT_MS + (MOST_RTT_MS - LEAST_RTT_MS) * i / (SUBNETS - 1);
        subnets.push_back(new Subnet(events, access, rtt_ms));
    }

    TcpRtxTimerScanner scanner(timeFromMs(TIMER_SCAN_MS), events);
    std::vector<TcpSink*> sinks;
    for (int i = 0; i < flows; i++) {
        Subnet& at = *subnets[i % SUBNETS];
        TcpSrc* source = new TcpSrc(NULL, NULL, events);
        TcpSink* sink = new TcpSink();
        sinks.push_back(sink);
        scanner.registerTcp(*source);
        source->_maxcwnd = WINDOW_PACKETS * PACKET_BYTES;
        route_t* out = new route_t();
        route_t* back = new route_t();
        if (full) {
            append(*out, {&at.source_out, &at.source_out_pipe, &bottleneck, &pipe, &at.sink_in,
                          &at.sink_in_pipe});
            append(*back, {&at.sink_out, &at.sink_out_pipe, &bottleneck_back, &pipe_back,
                           &at.source_in, &at.source_in_pipe});
        } else {
            append(*out, {&bottleneck, &at.whole_way});
            append(*back, {&at.whole_way_back});
        }
        out->push_back(sink);
        back->push_back(source);
        source->connect(*out, *back, *sink, drand() * timeFromMs(STAGGER_MS));
    }

    uint64_t processed = 0;
    while (events.doNextEvent()) {
        processed++;
    }
    uint64_t delivered_bytes = 0;
    for (const TcpSink* sink : sinks) {
        delivered_bytes += sink->_packets;  // bytes, despite its name
    }
    std::cout << "events " << processed << " delivered " << delivered_bytes / PACKET_BYTES
              << " drops " << bottleneck.num_drops() << std::endl;
    return 0;
}
