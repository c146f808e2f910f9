# The benchmark dumbbell, in ns-2: N long-lived TCP NewReno flows over one DropTail bottleneck.
# usage: ns dumbbell.tcl n=200 bw=45Mb buf=800 dur=120   (data 1024 B on the wire, RTT 60..220 ms in 10 steps)
source [file join [file dirname [info script]] common.tcl]
getargs {n 200 bw 45Mb buf 800 dur 120 psize 1024 win 1000 rtmin 60 rtmax 220 nsub 10 abw 100Mb stagger 0.1 tcp Newreno}
set ns [new Simulator]
ns-random 1
set A [$ns node]; set B [$ns node]
$ns duplex-link $A $B $opt(bw) 10ms DropTail
$ns queue-limit $A $B $opt(buf); $ns queue-limit $B $A 100000
set qm [$ns monitor-queue $A $B ""]
for {set k 0} {$k < $opt(nsub)} {incr k} {
    set rtt [expr $opt(rtmin)+($opt(rtmax)-$opt(rtmin))*double($k)/($opt(nsub)-1)]
    set d [expr ($rtt/2.0-10.0)/2.0]
    set S($k) [$ns node]; set D($k) [$ns node]
    $ns duplex-link $S($k) $A $opt(abw) ${d}ms DropTail; $ns duplex-link $B $D($k) $opt(abw) ${d}ms DropTail
    foreach {x y} [list $S($k) $A $A $S($k) $B $D($k) $D($k) $B] { $ns queue-limit $x $y 100000 }
}
set rs [new RNG]
for {set i 0} {$i < $opt(n)} {incr i} {
    set k [expr $i % $opt(nsub)]
    set a [new Agent/TCP/$opt(tcp)]; set b [new Agent/TCPSink]
    $a set packetSize_ $opt(psize); $a set useHeaders_ 0; $a set window_ $opt(win); $a set fid_ $i
    $ns attach-agent $S($k) $a; $ns attach-agent $D($k) $b; $ns connect $a $b
    set app [new Application/FTP]; $app attach-agent $a
    $ns at [expr $opt(stagger)*[$rs uniform 0 1]] "$app start"
}
proc done {} { global qm opt
    puts "n=$opt(n) bw=$opt(bw) buf=$opt(buf) dur=$opt(dur) arrivals=[$qm set parrivals_] departures=[$qm set pdepartures_] drops=[$qm set pdrops_]"
    exit 0 }
$ns at $opt(dur) done
$ns run
