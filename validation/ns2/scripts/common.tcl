# Small helpers shared by these scripts (ns-2 2.35).  Sourced by path relative to the script.
proc getargs {defs} {
    # defs: list of name default; command line: name=value ...
    global argv opt
    array set opt $defs
    foreach a $argv {
        set i [string first = $a]
        if {$i < 1} { puts stderr "bad argument $a (want name=value)"; exit 1 }
        set k [string range $a 0 [expr $i-1]]
        if {![info exists opt($k)]} { puts stderr "unknown option $k; known: [lsort [array names opt]]"; exit 1 }
        set opt($k) [string range $a [expr $i+1] end]
    }
}
# flow monitor on the simplex link a->b, flows classified by fid
proc mkfmon {a b} {
    global ns
    set fm [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $a $b] $fm 0
    return $fm
}
proc fstat {fm fid what} {
    set cl [$fm classifier]
    set f [$cl lookup auto 0 0 $fid]
    if {$f == ""} { return 0 }
    return [$f set $what]
}
proc f3 {x} { return [format %.3f $x] }
proc f6 {x} { return [format %.6f $x] }
