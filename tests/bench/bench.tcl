# The bench: what is measured, in which order. Started by `run`, which prepares folders and the probe.
set here [file dirname [file normalize [info script]]]
source [file join $here .. tcl lib resp.tcl]
source [file join $here lib servers.tcl]
source [file join $here lib measure.tcl]
source [file join $here lib report.tcl]
source [file join $here lib parts.tcl]

set usage {tests/bench/run [options] [WHAT...]

  full      everything below (without any WHAT); some 40 minutes
  quick     64-byte values on the pmem medium, fewer commands: a minute or two
  pmem      speed with the pool on /dev/shm, against redis-server without persistence
  disk      speed with the pool on a disk, against redis-server with appendonly
  memory    bytes per key at 1 M and 5 M keys
  restart   kill -9, then the time to the first GET answered, at 1 M and 10 M keys
  line OP SIZE PIPE
            one line of pmem: OP is SET, SET=, GET, INCR or MSET

  --rounds N     rounds (3); the medians count
  --scale F      commands a round, times F (1)
  --keys N       keys of 64 B and 1 KiB values (1000000), for a first look: the bars are for 1 M
  --no-save      do not keep the result in tests/bench/results

  PERDURE_SERVER       the server (build/perdure-server)
  PERDURE_BENCH_DISK   a folder on the disk to measure (/var/tmp)}

set what {}
set save 1
while {[llength $argv] > 0} {
	set argv [lassign $argv a]
	switch -- $a {
		help - --help { puts $usage; exit 0 }
		--rounds { set argv [lassign $argv measure::rounds] }
		--scale { set argv [lassign $argv measure::scale] }
		--keys { set argv [lassign $argv measure::keys] }
		--no-save { set save 0 }
		full - quick - pmem - disk - memory - restart { lappend what $a }
		line {
			set argv [lassign $argv op size pipe]
			if {$op ni {SET SET= GET INCR MSET} || ![string is integer -strict $size] || ![string is integer -strict $pipe]} {
				puts stderr "bench: line OP SIZE PIPE, as in: line SET 64 16"
				exit 2
			}
			lappend what [list line $op $size $pipe]
			set save 0
		}
		default { puts stderr "bench: '$a' is not known\n\n$usage"; exit 2 }
	}
}
if {$what eq ""} {
	set what full
}

report::open_result [join $what -]
report::head
try {
	foreach w $what {
		switch -- [lindex $w 0] {
			full {
				part_pmem
				part_memory
				part_disk
				part_restart
			}
			quick { part_quick }
			line { part_line {*}[lrange $w 1 end] }
			default { part_$w }
		}
	}
	report::verdicts
	if {$save} {
		report::keep [file join $here results]
	}
} finally {
	servers::stop_all
}
