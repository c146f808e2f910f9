# What ns-2's random sources and its replay of a trace send (ns-2 2.35).
# usage: ns sources.tcl out=FILE source=exponential|pareto|poisson [seconds=2000 seed=1]
#   The header names the columns. above_X is the number of pauses longer than X ms.
# usage: ns sources.tcl out=FILE source=trace trace=FILE seconds=0.3
#   A line for each packet: its time in seconds since the start, and its bytes.
# Packets have 1000 bytes, and a burst 8 Mbps: 1 ms a packet. Bursts last 100 ms and pauses 20 ms on average;
# Pareto's shape is 3. The Poisson source has bursts of one packet, which takes no time,
# and sends 100 packets a second.
set common [file join [file dirname [info script]] common.tcl]
source $common
getargs {out "" source exponential trace "" seconds 2000 seed 1}
set ns [new Simulator]
ns-random 0
global defaultRNG
$defaultRNG seed $opt(seed)
set log $opt(out).tr
set f [open $log w]
$ns trace-all $f
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 100Gb 0ms DropTail
$ns queue-limit $a $b 1000000
set agent [new Agent/UDP]
$agent set packetSize_ 65000
$ns attach-agent $a $agent
set sink [new Agent/Null]
$ns attach-agent $b $sink
$ns connect $agent $sink
switch $opt(source) {
    exponential - pareto {
        set app [new Application/Traffic/[string totitle $opt(source)]]
        $app set rate_ 8Mb
        $app set burst_time_ 100ms
        $app set idle_time_ 20ms
        if {$opt(source) == "pareto"} { $app set shape_ 3 }
    }
    poisson {
        set app [new Application/Traffic/Exponential]
        $app set rate_ 1e15
        $app set burst_time_ 0
        $app set idle_time_ 10ms
    }
    trace {
        set file [new Tracefile]
        $file filename $opt(trace)
        set app [new Application/Traffic/Trace]
        $app attach-tracefile $file
    }
}
if {$opt(source) != "trace"} { $app set packetSize_ 1000 }
$app attach-agent $agent
$ns at 0 "$app start"
$ns at $opt(seconds) "$ns flush-trace; close $f; report"
proc report {} {
    global opt log
    set in [open $log]
    set out [open $opt(out) w]
    set limits {5 10 20 40 80 160}
    foreach limit $limits { set above($limit) 0 }
    set interval [expr {$opt(source) == "poisson" ? 0 : 0.001}]
    set packets 0
    set bursts 0
    set last 0
    if {$opt(source) == "trace"} { puts $out "time_s,bytes" }
    while {[gets $in line] >= 0} {
        if {[string index $line 0] != "+"} { continue }
        set time [lindex $line 1]
        if {$opt(source) == "trace"} {
            puts $out [format %.6f,%d $time [lindex $line 5]]
            continue
        }
        set pause [expr {$time - $last - $interval}]
        if {$packets > 0 && $pause > 1e-7} {
            incr bursts
            foreach limit $limits { if {$pause > $limit / 1000.0} { incr above($limit) } }
        }
        set last $time
        incr packets
    }
    if {$opt(source) != "trace"} {
        puts -nonewline $out "source,seconds,packets,pauses"
        foreach limit $limits { puts -nonewline $out ",above_$limit" }
        puts -nonewline $out "\n$opt(source),$opt(seconds),$packets,$bursts"
        foreach limit $limits { puts -nonewline $out ",$above($limit)" }
        puts $out ""
    }
    close $out
    file delete $log
    exit 0
}
$ns run
