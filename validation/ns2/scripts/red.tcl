# RED under a driven pattern of arrivals: what its average is after each, and which are dropped.
# usage: ns red.tcl out=FILE [thresh=0 maxthresh=0 linterm=10 weight=-1 gentle=1 wait=1 bytes=0 queue_in_bytes=0
#        use_mark_p=1 adaptive=0 limit=25 seed=7]; weight is ns-2's q_weight_.
# usage: ns red.tcl draws=FILE [seed=7 count=1000]: the uniform draws of that seed, which RED compares with its
#        drop probability, one for each packet for which chance decides.
# A line is: time of arrival in ns, bytes, ave_ after it, 1 if it was dropped, cur_max_p_ after it. The link has
# 1 Mbps and 10 ms. Times follow from a generator of their own, in phases of underload, overload and silence.
array set opt {out "" draws "" count 1000 thresh 0 maxthresh 0 linterm 10 weight -1 gentle 1 wait 1 bytes 0
               queue_in_bytes 0 use_mark_p 1 adaptive 0 limit 25 seed 7}
foreach pair $argv {
    foreach {key value} [split $pair =] break
    if {![info exists opt($key)]} { puts stderr "unknown argument $key"; exit 1 }
    set opt($key) $value
}
# The settings of each stored answer are its first line: call the script with them to make it anew.
set ns [new Simulator]
ns-random 0
global defaultRNG
$defaultRNG seed $opt(seed)
if {$opt(draws) != ""} {
    set f [open $opt(draws) w]
    for {set i 0} {$i < $opt(count)} {incr i} { puts $f [format %.16f [$defaultRNG uniform 0 1]] }
    close $f
    exit 0
}
foreach {name key} {thresh_ thresh maxthresh_ maxthresh linterm_ linterm q_weight_ weight gentle_ gentle wait_ wait
                    bytes_ bytes queue_in_bytes_ queue_in_bytes use_mark_p_ use_mark_p adaptive_ adaptive} {
    Queue/RED set $name $opt($key)
}
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 1Mb 10ms RED
$ns queue-limit $a $b $opt(limit)
set red [[$ns link $a $b] queue]
set monitor [$ns monitor-queue $a $b ""]
set source [new Agent/UDP]
set sink [new Agent/Null]
$source set packetSize_ 10000
$ns attach-agent $a $source
$ns attach-agent $b $sink
$ns connect $source $sink
set f [open $opt(out) w]
set names {thresh maxthresh linterm weight gentle wait bytes queue_in_bytes use_mark_p adaptive limit}
set pairs {}
foreach key $names { lappend pairs "$key=$opt($key)" }
puts $f "# [join $pairs]"
set dropped 0
proc arrive {nanos size} {
    global source red monitor f dropped
    $source send $size
    set drops [$monitor set pdrops_]
    puts $f "$nanos,$size,[$red set ave_],[expr $drops - $dropped],[$red set cur_max_p_]"
    set dropped $drops
}
# Park and Miller's generator; a phase is a number of packets and their mean distance in microseconds.
set state 20100817
proc next {below} {
    global state
    set state [expr wide($state) * 16807 % 2147483647]
    return [expr $state % $below]
}
set nanos 100000000
foreach {packets gap} {40 9000 60 4500 1 400000 60 3000 40 7000 1 900000 80 2500 60 5200 30 12000 80 3900} {
    for {set i 0} {$i < $packets} {incr i} {
        set nanos [expr $nanos + $gap * 500 + [next [expr $gap * 1000]]]
        set size [lindex {1000 1000 1000 500 120} [next 5]]
        $ns at [format %.9f [expr $nanos * 1e-9]] "arrive $nanos $size"
    }
}
$ns at [expr $nanos * 1e-9 + 1] "close $f; exit 0"
$ns run
