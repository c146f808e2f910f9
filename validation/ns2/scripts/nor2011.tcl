# Nor et al. 2011: DCCP TCP-like initial ssthresh over a long-delay link.
# usage: ns nor2011.tcl name=value ...      output: CSV series file and a one-line summary on stdout
source [file join [file dirname [info script]] common.tcl]
getargs {ssth 20 dur 200 tcpstart 0.5 dstart 10 win 20 tsize 1000 dsize 500 cbr 2Mb qlim 20
         bw 2Mb delay 300ms abw 100Mb adelay 1ms from 20 to 180 out "" tcp Newreno tcpsink TCPSink
         ackratio 2 sb 1000 usecn 1 every 1 traceall 0}
set ns [new Simulator]
# traceall=1: count trace-file events of the DCCP data packets the way an awk script over a trace-all file would
if {$opt(traceall)} { set tr [open "| python3 [file join [file dirname [info script]] trace_count.py] >@stdout" w]; $ns trace-all $tr }
foreach n {s1 s2 r1 r2 d1 d2} { set $n [$ns node] }
foreach {a b} [list $s1 $r1 $s2 $r1 $r2 $d1 $r2 $d2] { $ns duplex-link $a $b $opt(abw) $opt(adelay) DropTail }
$ns duplex-link $r1 $r2 $opt(bw) $opt(delay) DropTail
$ns queue-limit $r1 $r2 $opt(qlim); $ns queue-limit $r2 $r1 $opt(qlim)
set fm [mkfmon $r1 $r2]
# DCCP
set D [new Agent/DCCP/TCPlike]; set DS [new Agent/DCCP/TCPlike]
foreach a "$D $DS" { $a set packetSize_ $opt(dsize); $a set initial_ssthresh_ $opt(ssth); $a set fid_ 1
  $a set sb_size_ $opt(sb); $a set ack_ratio_local_ $opt(ackratio); $a set ack_ratio_remote_ $opt(ackratio)
  $a set use_ecn_local_ $opt(usecn); $a set use_ecn_remote_ $opt(usecn) }
$ns attach-agent $s1 $D; $ns attach-agent $d1 $DS; $ns connect $D $DS
set cbr [new Application/Traffic/CBR]; $cbr set packetSize_ $opt(dsize); $cbr set rate_ $opt(cbr); $cbr attach-agent $D
$ns at 0.0 "$DS listen"
if {$opt(dstart) >= 0} { $ns at $opt(dstart) "$cbr start" }
# TCP
set T [new Agent/TCP/$opt(tcp)]; set TS [new Agent/$opt(tcpsink)]
$T set window_ $opt(win); $T set packetSize_ $opt(tsize); $T set fid_ 2; $TS set fid_ 2
$ns attach-agent $s2 $T; $ns attach-agent $d2 $TS; $ns connect $T $TS
set ftp [new Application/FTP]; $ftp attach-agent $T
if {$opt(tcpstart) >= 0} { $ns at $opt(tcpstart) "$ftp start" }
# sampling
foreach v {bdepartures_ parrivals_ pdrops_ pdepartures_} { foreach f {1 2} { set last($v,$f) 0 } }
set rows {}
set maxq 0
proc sample {} {
    global ns fm last rows opt D T
    set now [$ns now]
    set r [list [format %g $now]]
    foreach f {1 2} {
        foreach v {bdepartures_ parrivals_ pdrops_ pdepartures_} { set c($v,$f) [fstat $fm $f $v] }
        lappend r [format %.1f [expr ($c(bdepartures_,$f)-$last(bdepartures_,$f))*8e-3/$opt(every)]] [expr $c(parrivals_,$f)-$last(parrivals_,$f)] [expr $c(pdrops_,$f)-$last(pdrops_,$f)]
        foreach v {bdepartures_ parrivals_ pdrops_ pdepartures_} { set last($v,$f) $c($v,$f) }
    }
    lappend r [$D set cwnd_] [$D set ssthresh_] [format %.2f [$T set cwnd_]] [$D set pipe_]
    lappend rows $r
    $ns at [expr $now+$opt(every)] sample
}
$ns at $opt(every) sample
proc snap {tag} { global fm S
    foreach f {1 2} { foreach v {parrivals_ pdrops_ bdepartures_ pdepartures_} { set S($tag,$f,$v) [fstat $fm $f $v] } } }
$ns at $opt(from) "snap a"; $ns at $opt(to) "snap b"; $ns at [expr $opt(dur)-0.0001] "snap e"; 
set firstdrop -1
proc done {} {
    sample   ;# the last one: this runs before the sample of the same instant
    global rows opt S
    if {$opt(out) != ""} {
        set f [open $opt(out) w]
        puts $f "t_s,dccp_kbps,dccp_arr,dccp_drop,tcp_kbps,tcp_arr,tcp_drop,dccp_cwnd,dccp_ssthresh,tcp_cwnd,dccp_pipe"
        foreach r $rows { puts $f [join $r ,] }
        close $f
    }
    # time measures on 1 s samples
    set peak 0; set tpeak -1; set tfull -1; set t1drop -1; set n 0; set t95 -1
    set caps {}
    foreach r $rows {
        foreach {t dk da dd tk ta td} $r break
        if {$dk > $peak} { set peak $dk; set tpeak $t }
        if {$tfull < 0 && $t > $opt(dstart) && $dk+$tk >= 1980} { set tfull $t }
        if {$t1drop < 0 && $dd+$td > 0} { set t1drop $t }
    }
    # last CA climb: first time from which DCCP >= 95 % of its peak
    foreach r $rows { foreach {t dk} $r break; if {$dk >= 0.95*$peak} { set t95 $t; break } }
    set a 0; set d 0; set o {}
    foreach f {1 2} { foreach v {parrivals_ pdrops_ bdepartures_} {
        set x($f,$v) [expr $S(b,$f,$v)-$S(a,$f,$v)]; set y($f,$v) [expr $S(e,$f,$v)] } }
    set w [expr double($opt(to)-$opt(from))]
    puts "ssth=$opt(ssth) win=$opt(win) tsize=$opt(tsize) dsize=$opt(dsize) ar=$opt(ackratio) | $opt(from)-$opt(to)s: dccp_arr=$x(1,parrivals_) dccp_drop=$x(1,pdrops_) dccp_loss%=[format %.4f [expr 100.0*$x(1,pdrops_)/($x(1,parrivals_)+1e-9)]] tcp_arr=$x(2,parrivals_) tcp_drop=$x(2,pdrops_) all_loss%=[format %.4f [expr 100.0*($x(1,pdrops_)+$x(2,pdrops_))/($x(1,parrivals_)+$x(2,parrivals_)+1e-9)]] dccp_kbps=[format %.1f [expr $x(1,bdepartures_)*8e-3/$w]] tcp_kbps=[format %.1f [expr $x(2,bdepartures_)*8e-3/$w]] | whole run: dccp_drop=$y(1,pdrops_) of $y(1,parrivals_) = [format %.4f [expr 100.0*$y(1,pdrops_)/($y(1,parrivals_)+1e-9)]]% tcp_drop=$y(2,pdrops_) of $y(2,parrivals_) | peak=$peak@$tpeak t95=$t95 tfull(sum>=1.98Mb)=$tfull t_firstdrop=$t1drop"
    if {$opt(traceall)} { $::ns flush-trace; close $::tr }
    exit 0
}
$ns at $opt(dur) done
$ns run
