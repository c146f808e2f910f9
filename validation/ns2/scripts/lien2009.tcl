# Lien & Ding 2009 (seed 004): VoIP over DCCP CCID3 or UDP against TCP.  chain n0 - n1 - n2 - n3.
# usage: ns lien2009.tcl tcp=Newreno voip=dccp bw=0.25Mb scen=1 out=x.csv ...
source [file join [file dirname [info script]] common.tcl]
getargs {tcp Newreno voip dccp bw 0.25Mb delay 50ms abw 10Mb adelay 10ms qlim 20 tsize 1460 win 20
         vsize 80 vint 0.030 s 80 sb 1000 scen 1 gap 10 ntcp 5 dur 60 voipon 0 voipoff -1 order voipfirst
         out lien.csv tcpout "" sack TCPSink jit 0 osgran 0.01 initx -1 usehdr 1 rs -1 maxburst 0 minrto 0.2 tick 0.01 seed 1 stagger 0 osc 1 overhead 0 cbrrand 0 usecn 0}
set here [file dirname [info script]]
set ns [new Simulator]
ns-random $opt(seed)
set jr [new RNG]; for {set i 1} {$i < $opt(seed)} {incr i} { $jr next-substream }
foreach n {n0 n1 n2 n3} { set $n [$ns node] }
$ns duplex-link $n0 $n1 $opt(abw) $opt(adelay) DropTail
$ns duplex-link $n1 $n2 $opt(bw) $opt(delay) DropTail
$ns duplex-link $n2 $n3 $opt(abw) $opt(adelay) DropTail
foreach {a b} [list $n0 $n1 $n1 $n2 $n2 $n3] { $ns queue-limit $a $b $opt(qlim); $ns queue-limit $b $a $opt(qlim) }
set fm [mkfmon $n1 $n2]
if {$opt(scen) == 2} { set opt(voipon) 20; set opt(voipoff) 80; set opt(dur) 100 }
set von $opt(voipon); set voff [expr {$opt(voipoff) < 0 ? $opt(dur) : $opt(voipoff)}]
set tr [open "| python3 [file join $here lien2009_periods.py] $opt(out) $opt(vint) 10 [expr {$opt(scen)==2 ? $von : 0}] [expr {$opt(scen)==2 ? $voff : $opt(dur)}] [$n0 id] [$n3 id] $von $voff >@stdout" w]
$ns trace-queue $n0 $n1 $tr
$ns trace-queue $n2 $n3 $tr
# VoIP
if {$opt(voip) == "dccp" || $opt(voip) == "dccp2"} {
    set cls [expr {$opt(voip) == "dccp" ? "Agent/DCCP/TFRC" : "Agent/DCCP/TCPlike"}]
    set V [new $cls]; set VS [new $cls]
    foreach a "$V $VS" { $a set packetSize_ $opt(vsize); $a set fid_ 1; $a set sb_size_ $opt(sb); $a set use_ecn_local_ $opt(usecn); $a set use_ecn_remote_ $opt(usecn)
      if {$opt(voip) == "dccp"} { $a set s_s_ $opt(s); $a set r_s_ [expr {$opt(rs) < 0 ? $opt(s) : $opt(rs)}]; $a set s_os_time_gran_ $opt(osgran); $a set s_use_osc_prev_ $opt(osc)
         if {$opt(initx) > 0} { $a set s_initial_x_ $opt(initx) } else { $a set s_initial_x_ $opt(s).0 } } }
    $ns at 0.0 "$VS listen"
} elseif {$opt(voip) == "tfrc"} {
    set V [new Agent/TFRC]; set VS [new Agent/TFRCSink]; $V set packetSize_ $opt(s); $V set fid_ 1; $VS set fid_ 1
} else { set V [new Agent/UDP]; set VS [new Agent/Null]; $V set packetSize_ 1500; $V set fid_ 1 }
$ns attach-agent $n0 $V; $ns attach-agent $n3 $VS; $ns connect $V $VS
set cbr [new Application/Traffic/CBR]; $cbr set packetSize_ $opt(vsize); $cbr set interval_ $opt(vint); $cbr set random_ $opt(cbrrand); $cbr attach-agent $V
$ns at $von "$cbr start"; $ns at $voff "$cbr stop"
# TCPs
for {set i 1} {$i <= $opt(ntcp)} {incr i} {
    set T($i) [new Agent/TCP[expr {$opt(tcp) == "Tahoe" ? "" : "/$opt(tcp)"}]]
    set TS($i) [new Agent/[expr {$opt(tcp) == "Sack1" ? "TCPSink/Sack1" : "TCPSink"}]]
    $T($i) set packetSize_ $opt(tsize); $T($i) set window_ $opt(win); $T($i) set fid_ [expr $i+1]; $TS($i) set fid_ [expr $i+1]
    $T($i) set useHeaders_ $opt(usehdr); $T($i) set maxburst_ $opt(maxburst); $T($i) set minrto_ $opt(minrto); $T($i) set tcpTick_ $opt(tick); $T($i) set overhead_ $opt(overhead)
    $ns attach-agent $n0 $T($i); $ns attach-agent $n3 $TS($i); $ns connect $T($i) $TS($i)
    set F($i) [new Application/FTP]; $F($i) attach-agent $T($i)
    set t0 [expr {$opt(scen) == 2 ? $opt(stagger)*($i-1) : ($opt(order) == "tcpfirst" ? $opt(gap)*($i-1) : $opt(gap)*$i)}]
    if {$opt(jit) > 0} { set t0 [expr $t0+$opt(jit)*[$jr uniform 0 1]] }
    $ns at $t0 "$F($i) start"
}
set nf [expr $opt(ntcp)+1]
for {set f 1} {$f <= $nf} {incr f} { set last($f) 0 }
set rows {}
proc sample {} {
    global ns fm last rows nf
    set r [format %g [$ns now]]
    for {set f 1} {$f <= $nf} {incr f} { set c [fstat $fm $f bdepartures_]; lappend r [format %.1f [expr ($c-$last($f))*8e-3]]; set last($f) $c }
    lappend rows $r
    $ns at [expr [$ns now]+1] sample
}
$ns at 1.0 sample
proc done {} {
    global opt rows tr ns fm nf
    $ns flush-trace
    if {$opt(tcpout) != ""} {
        set f [open $opt(tcpout) w]; set h t_s,voip_kbps
        for {set i 1} {$i <= $opt(ntcp)} {incr i} { append h ,tcp${i}_kbps }
        puts $f $h; foreach r $rows { puts $f [join $r ,] }; close $f
    }
    close $tr
    exit 0
}
$ns at [expr $opt(dur)+0.001] done
$ns run
