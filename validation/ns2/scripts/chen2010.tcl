# Chen, Yang and Hong 2010, the schemes with RED: 200 long-lived flows (10 subnets of 20) and web sources over 45 Mbps.
# usage: ns chen2010.tcl proto=tcp|dccp tcp=Newreno buf=200 bg=50 psize=1024 seed=1 dur=120 out=x.csv
# psize is what packets have on the wire for TCP; DCCP adds 32 B.  out has a line for each second; the last line printed has
# the whole run: the share of packets dropped, and of intervals of 10 ms the mean of that and, up to 5 s, the most.
source [file join [file dirname [info script]] common.tcl]
getargs {proto tcp tcp Newreno bw 45Mb rtmin 60 rtmax 220 nsub 10 per 20 psize 1024 buf 200 minth 150 maxth 700
         linterm 10 wq 0.002 win 1000 dur 120 bg 50 abw 100Mb seed 1 out "" stagger 0.1}
set ns [new Simulator]
ns-random 0; global defaultRNG; $defaultRNG seed [expr 1234+$opt(seed)]
set rs [new RNG]; for {set i 1} {$i < $opt(seed)} {incr i} { $rs next-substream }
Queue/RED set gentle_ 0
Queue/RED set bytes_ 0
Queue/RED set queue_in_bytes_ false
Queue/RED set thresh_ $opt(minth); Queue/RED set maxthresh_ $opt(maxth)
Queue/RED set q_weight_ $opt(wq); Queue/RED set linterm_ $opt(linterm); Queue/RED set setbit_ 0
Queue/RED set mean_pktsize_ 1024
set A [$ns node]; set B [$ns node]
$ns duplex-link $A $B $opt(bw) 10ms RED
$ns queue-limit $A $B $opt(buf); $ns queue-limit $B $A 100000
set rback [[$ns link $B $A] queue]; $rback set thresh_ 90000; $rback set maxthresh_ 99000
set qm [$ns monitor-queue $A $B ""]
set fm [mkfmon $A $B]
# access links: the whole propagation time is 2*(10 ms + 2 d)
for {set k 0} {$k < $opt(nsub)} {incr k} {
    set rtt [expr $opt(rtmin)+($opt(rtmax)-$opt(rtmin))*double($k)/($opt(nsub)-1)]
    set d [expr ($rtt/2.0-10.0)/2.0]
    set S($k) [$ns node]; set D($k) [$ns node]
    $ns duplex-link $S($k) $A $opt(abw) ${d}ms DropTail; $ns duplex-link $B $D($k) $opt(abw) ${d}ms DropTail
    $ns queue-limit $S($k) $A 100000; $ns queue-limit $A $S($k) 100000; $ns queue-limit $B $D($k) 100000; $ns queue-limit $D($k) $B 100000
}
set fid 0
for {set k 0} {$k < $opt(nsub)} {incr k} { for {set j 0} {$j < $opt(per)} {incr j} {
    incr fid
    # only the flows of subnet 0 have an id each; the others share 1000+k (which keeps the monitor small)
    set id [expr {$k == 0 ? $fid : 1000+$k}]
    if {$opt(proto) == "tcp"} {
        set a [new Agent/TCP/$opt(tcp)]
        set b [new Agent/[expr {$opt(tcp) == "Sack1" ? "TCPSink/Sack1" : "TCPSink"}]]
        $a set packetSize_ $opt(psize); $a set window_ $opt(win); $a set useHeaders_ 0
    } else {
        set a [new Agent/DCCP/TCPlike]; set b [new Agent/DCCP/TCPlike]
        foreach x "$a $b" { $x set packetSize_ $opt(psize); $x set fid_ $id }
        $ns at 0.0 "$b listen"
    }
    set app [new Application/FTP]
    $a set fid_ $id; $b set fid_ $id
    $ns attach-agent $S($k) $a; $ns attach-agent $D($k) $b; $ns connect $a $b
    set t0 [expr $opt(stagger)*[$rs uniform 0 1]]
    $app attach-agent $a; $ns at $t0 "$app start"
} }
# web sources: a think time, then a file, over TCP; fid 2000
proc tail2 {p1 s1 e1 p2 s2 e2} { # the inverse of P{T>t}, by bisection
    global rs
    set u [$rs uniform 0 1]; if {$u < 1e-6} { set u 1e-6 }
    set lo 0.0; set hi 1.0
    while {$p1/(1+pow($hi/$s1,$e1))+$p2/(1+pow($hi/$s2,$e2)) > $u} { set hi [expr $hi*2] }
    for {set i 0} {$i < 40} {incr i} { set m [expr ($lo+$hi)/2]; if {$p1/(1+pow($m/$s1,$e1))+$p2/(1+pow($m/$s2,$e2)) > $u} { set lo $m } else { set hi $m } }
    return $lo
}
proc think {} { return [tail2 0.4953916 1.0 1.243437 0.5046084 0.0245032 3.252665] }
proc flen {} { global rs; set u [$rs uniform 0 1]; if {$u < 1e-6} { set u 1e-6 }; return [expr 2190*pow(1/$u-1,1/1.15066)] }
proc bgnext {i} { global ns; $ns at [expr [$ns now]+[think]] "bgsend $i" }
proc bgsend {i} {
    global BA BS
    set p [expr int(ceil([flen]/1024))]
    $BA($i) reset; $BA($i) set maxpkts_ 0
    $BS($i) reset
    $BA($i) advanceby $p
}
Agent/TCP instproc done {} { global bgid; if {[info exists bgid($self)]} { bgnext $bgid($self) } }
for {set i 0} {$i < $opt(bg)} {incr i} {
    set k [expr $i % $opt(nsub)]
    set BA($i) [new Agent/TCP/$opt(tcp)]; set BS($i) [new Agent/[expr {$opt(tcp) == "Sack1" ? "TCPSink/Sack1" : "TCPSink"}]]
    $BA($i) set packetSize_ 1024; $BA($i) set useHeaders_ 0; $BA($i) set window_ $opt(win); $BA($i) set fid_ 2000; $BS($i) set fid_ 2000
    $ns attach-agent $S($k) $BA($i); $ns attach-agent $D($k) $BS($i); $ns connect $BA($i) $BS($i)
    set bgid($BA($i)) $i
    $ns at [expr [$rs uniform 0 1]] "bgnext $i"
}
# every 10 ms: the queue, and drops over arrivals; every second a line
foreach v {pa pd pa10 pd10 b1} { set last($v) 0 }
set qn 0; set qs 0.0; set qall 0.0; set nall 0; set ratios 0.0; set nratios 0; set peak 0.0; set rows {}
proc sample {} {
    global ns qm fm last qn qs qall nall ratios nratios peak
    set q [$qm set pkts_]; set qs [expr $qs+$q]; incr qn; set qall [expr $qall+$q]; incr nall
    set pa [$fm set parrivals_]; set pd [$fm set pdrops_]
    set da [expr $pa-$last(pa10)]
    if {$da > 0} {
        set r [expr 100.0*($pd-$last(pd10))/$da]; set ratios [expr $ratios+$r]; incr nratios
        if {[$ns now] <= 5.001 && $r > $peak} { set peak $r }
    }
    set last(pa10) $pa; set last(pd10) $pd
    $ns at [expr [$ns now]+0.01] sample
}
$ns at 0.01 sample
proc second {} {
    global ns fm rows last qn qs
    set now [$ns now]; set pa [$fm set parrivals_]; set pd [$fm set pdrops_]; set b1 [fstat $fm 1 barrivals_]
    lappend rows [list [format %g $now] [format %.1f [expr $qs/$qn]] [expr $pa-$last(pa)] [expr $pd-$last(pd)] [format %.1f [expr ($b1-$last(b1))*8e-3]]]
    foreach v {pa pd b1} { set last($v) [set $v] }
    set qn 0; set qs 0.0
    $ns at [expr $now+1] second
}
$ns at 1 second
proc done {} {
    global opt rows fm qall nall ratios nratios peak
    if {$opt(out) != ""} { set f [open $opt(out) w]; puts $f "t_s,queue_mean_pkts,arrivals,drops,flow1_kbps"; foreach r $rows { puts $f [join $r ,] }; close $f }
    puts "queue_pkts,drop_pct,interval_drop_pct,peak_pct,utilisation"
    puts [join [list [format %.2f [expr $qall/$nall]] [format %.3f [expr 100.0*[$fm set pdrops_]/[$fm set parrivals_]]] [format %.3f [expr $ratios/$nratios]] [format %.2f $peak] [format %.4f [expr [$fm set bdepartures_]*8.0/$opt(dur)/45e6]]] ,]
    exit 0
}
$ns at [expr $opt(dur)+0.0001] done
$ns run
