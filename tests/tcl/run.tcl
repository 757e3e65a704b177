# Runs Tcl tests: tclsh tests/tcl/run.tcl [options] [FILE...]
#   --medium pmem|file     medium of the pools (pmem: in /dev/shm)
#   --target redis         against /usr/bin/redis-server instead of Perdure
#   --server PATH          the program to start
#   --only PATTERN         only tests whose name is like this glob pattern
#   --verbose              name each test, whole stack traces
#   --slowest N            at the end, the N tests that took longest
# Without files: all of tests/tcl. Last line: the counts; exit 1 when any failed.

set here [file dirname [file normalize [info script]]]
foreach part {resp server test} {
	source [file join $here lib $part.tcl]
}
encoding system utf-8
fconfigure stdout -buffering line

set files {}
set slowest 0
for {set i 0} {$i < [llength $argv]} {incr i} {
	set word [lindex $argv $i]
	switch -- $word {
		--medium { set server::medium [lindex $argv [incr i]] }
		--target { set server::target [lindex $argv [incr i]] }
		--server { set server::program [lindex $argv [incr i]] }
		--only { set test::only [lindex $argv [incr i]] }
		--verbose { set test::verbose 1 }
		--slowest { set slowest [lindex $argv [incr i]] }
		default {
			if {[string match -* $word]} {
				puts stderr "run.tcl: unknown option $word"
				exit 2
			}
			lappend files $word
		}
	}
}
if {$server::program eq ""} {
	if {$server::target eq "redis"} {
		set server::program /usr/bin/redis-server
	} elseif {[info exists env(PERDURE_SERVER)]} {
		set server::program $env(PERDURE_SERVER)
	} else {
		set build [expr {[info exists env(PERDURE_BUILD)] ? $env(PERDURE_BUILD) : "build"}]
		set server::program [file join $build perdure-server]
	}
}
set server::program [file normalize $server::program]
if {![file executable $server::program]} {
	puts stderr "run.tcl: no program $server::program"
	exit 2
}
if {$files eq ""} {
	set files [lsort [glob [file join $here *.tcl]]]
	set files [lsearch -inline -all -not $files */run.tcl]
}

foreach f $files {
	set test::file [file tail $f]
	set file_config {}
	if {[catch {source $f} problem options]} {
		incr test::failed
		puts "FAIL  $test::file: [dict get $options -errorinfo]"
	}
	if {$test::client ne ""} {
		catch {$test::client -close}
	}
	if {$test::current ne "" && [server_alive $test::current] && [catch {server_stop $test::current} problem]} {
		incr test::failed
		puts "FAIL  $test::file: stopping the server: $problem"
	}
	set test::client ""
	set test::current ""
	server_remove_all
}

foreach entry [lrange [lsort -integer -decreasing -index 0 $test::slow] 0 [expr {$slowest - 1}]] {
	puts "slow  [lindex $entry 0] ms  [lindex $entry 1]"
}
puts "$test::passed passed, $test::failed failed[expr {$test::skipped ? ", $test::skipped skipped" : ""}]"
exit [expr {$test::failed > 0 || $test::passed == 0}]
