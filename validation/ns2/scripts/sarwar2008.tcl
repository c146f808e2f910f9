# Sarwar et al. 2008 (seed 003): TFRC feedback frequency over a satellite link.  s - r - d
# usage: ns sarwar2008.tcl agent=tfrc|dccp nfb=1 rtt=1.0 bw=1Mb per=0 drops="" out=x.csv
source [file join [file dirname [info script]] common.tcl]
getargs {agent tfrc nfb 1 rtt 1.0 bw 1Mb psize 1000 q 50 per 0 seed 1 dur 200 start 0.1 abw 10Mb adelay 10ms out "" step 1.0
         drops "" warm 0 pacc 1 discount 1 ss 2 osc 1 osgran 0.01 wc 4 ca 1 minlc 4 initr 2 usecn 0 rinit 2}
set ns [new Simulator]
set rs [new RNG]; for {set i 1} {$i < $opt(seed)} {incr i} { $rs next-substream }
set s [$ns node]; set r [$ns node]; set d [$ns node]
set half [expr ($opt(rtt)-0.020)/2.0]
$ns duplex-link $s $r $opt(abw) $opt(adelay) DropTail
$ns duplex-link $r $d $opt(bw) $half DropTail
$ns queue-limit $s $r 100000; $ns queue-limit $r $d $opt(q); $ns queue-limit $d $r 100000; $ns queue-limit $r $s 100000
set fm [mkfmon $r $d]
set nerr 0; set narr 0
if {$opt(per) > 0} {
    set em [new ErrorModel]; $em unit pkt; $em set rate_ $opt(per)
    set rv [new RandomVariable/Uniform]; $rv use-rng $rs; $em ranvar $rv
    $em drop-target [new Agent/Null]
    $ns link-lossmodel $em $r $d
}
if {$opt(drops) != ""} {
    # deterministic losses: packet ordinal numbers (0-based, data packets on the satellite link)
    set em [new ErrorModel/List]; $em droplist $opt(drops); $em drop-target [new Agent/Null]
    $ns link-lossmodel $em $r $d
}
if {$opt(agent) == "tfrc"} {
    set a [new Agent/TFRC]; set b [new Agent/TFRCSink]
    $a set packetSize_ $opt(psize); $a set ca_ $opt(ca); $a set ssmult_ $opt(ss); $a set rate_init_option_ $opt(initr); $a set rate_init_ $opt(rinit)
    $b set NumFeedback_ $opt(nfb); $b set discount_ $opt(discount); $b set PreciseLoss_ $opt(pacc); $b set minlc_ $opt(minlc)
    $ns attach-agent $s $a; $ns attach-agent $d $b; $ns connect $a $b
    set app [new Application/FTP]; $app attach-agent $a
    proc rate {} { global a; return [expr [$a set rate_]*8e-3] }
} else {
    set a [new Agent/DCCP/TFRC]; set b [new Agent/DCCP/TFRC]
    foreach x "$a $b" { $x set packetSize_ $opt(psize); $x set s_s_ $opt(psize); $x set r_s_ $opt(psize); $x set s_initial_x_ $opt(psize).0; $x set s_use_osc_prev_ $opt(osc); $x set s_os_time_gran_ $opt(osgran); $x set win_count_per_rtt_ $opt(wc); $x set use_ecn_local_ $opt(usecn); $x set use_ecn_remote_ $opt(usecn) }
    $ns attach-agent $s $a; $ns attach-agent $d $b; $ns connect $a $b
    $ns at 0.0 "$b listen"
    set app [new Application/FTP]; $app attach-agent $a
    proc rate {} { global a; return [expr [$a set s_x_]*8e-3] }
}
$a set fid_ 1; $b set fid_ 1
$ns at $opt(start) "$app start"
set fmr [mkfmon $d $r]
set rows {}; set last(b) 0; set last(e) 0; set maxrate 0; set tdrop -1; set last(m) 0
# sink side: departures of the link less error drops
proc sample {} {
    global ns fm fmr rows last opt em
    set bb [fstat $fm 1 bdepartures_]; set dd [fstat $fm 1 pdrops_]; set ff [fstat $fmr 1 pdepartures_]
    lappend rows [list [format %g [$ns now]] [format %.1f [rate]] [format %.1f [expr ($bb-$last(b))*8e-3/$opt(step)]] [fstat $fm 1 parrivals_] $dd $ff]
    set last(b) $bb
    $ns at [expr [$ns now]+$opt(step)] sample
}
$ns at $opt(step) sample
proc watch {} {
    global ns fm tdrop opt
    if {[fstat $fm 1 pdrops_] > 0} { set tdrop [$ns now]; return }
    $ns at [expr [$ns now]+0.01] watch
}
$ns at 0.01 watch
set prev 0; set tdec -1; set peakr 0
proc watchr {} { # first decrease of the sender's allowed rate = slow-start exit seen at the sender
    global ns prev tdec peakr
    set x [rate]
    if {$x < $prev*0.999 && $tdec < 0 && [$ns now] > 5} { set tdec [$ns now]; set peakr $prev; return }
    set prev $x
    $ns at [expr [$ns now]+0.01] watchr
}
$ns at 0.01 watchr
set sb 0
$ns at [expr $opt(warm)+0.001] { set sb [list [fstat $fm 1 bdepartures_] [fstat $fm 1 parrivals_] [fstat $fm 1 pdrops_]] }
proc done {} {
    global rows opt fm fmr tdrop tdec peakr sb
    if {$opt(out) != ""} { set f [open $opt(out) w]; puts $f "t_s,sender_rate_kbps,link_kbps,arrivals,queue_drops,feedback_pkts"; foreach r $rows { puts $f [join $r ,] }; close $f }
    # minimum after the exit and the time to climb back to 50/80/95 % of the link
    set lnk 1000.0; if {[regexp {^([0-9.]+)Mb} $opt(bw) x m]} { set lnk [expr $m*1000] }
    set tmin -1; set vmin 1e9; foreach f {0.5 0.8 0.95} { set rec($f) -1 }
    foreach r $rows { foreach {t x y} $r break; if {$t > $tdec && $t < $tdec+60 && $y < $vmin} { set vmin $y; set tmin $t } }
    foreach r $rows { foreach {t x y} $r break; if {$t > $tmin} { foreach f {0.5 0.8 0.95} { if {$rec($f) < 0 && $y >= $f*$lnk} { set rec($f) $t } } } }
    set w [expr $opt(dur)-$opt(warm)]
    set n [fstat $fm 1 parrivals_]; 
    puts "agent=$opt(agent) nfb=$opt(nfb) rtt=$opt(rtt) q=$opt(q) per=$opt(per) seed=$opt(seed) | first_queue_drop=[format %.2f $tdrop] ss_exit(sender rate first falls)=[format %.2f $tdec] peak_rate=[format %.0f $peakr]kbps min_link_after=$vmin@$tmin t50=$rec(0.5) t80=$rec(0.8) t95=$rec(0.95) | avg_link=[format %.1f [expr ([fstat $fm 1 bdepartures_]-[lindex $sb 0])*8e-3/$w]]kbps queue_loss%=[format %.3f [expr 100.0*([fstat $fm 1 pdrops_]-[lindex $sb 2])/([fstat $fm 1 parrivals_]-[lindex $sb 1]+1e-9)]] queue_drops=[fstat $fm 1 pdrops_] sent=$n feedback=[fstat $fmr 1 pdepartures_]"
    exit 0
}
$ns at [expr $opt(dur)+0.0001] done
$ns run
