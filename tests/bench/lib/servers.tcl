# Perdure and redis-server, each on processor 0, with folders of their own.
#
#   set s [servers::up perdure pmem {durability always}]    medium: pmem (/dev/shm) or disk
#   servers::down $s                                        stops it; its data stay
#   servers::again $s                                       starts it again on the same data
#   servers::gone $s                                        stops it and removes its data
#   servers::get $s pid|port|kind|dir|log
#   servers::log_end $s                                     the last it printed
#   servers::info $s SECTION                                a dict of what INFO says

namespace eval servers {
	variable next 0
	variable of
	variable cpu 0
	variable load_cpu 1
}

proc servers::free_port {} {
	set sock [socket -server {} -myaddr 127.0.0.1 0]
	set port [lindex [fconfigure $sock -sockname] 2]
	close $sock
	return $port
}

proc servers::get {s field} {
	variable of
	return [dict get $of($s) $field]
}

# What starts it.
proc servers::command {s} {
	variable of
	dict with of($s) {
		set common [list --port $port --bind 127.0.0.1 --dir $dir]
		if {$kind eq "perdure"} {
			set medium [expr {$place eq "pmem" ? "pmem" : "file"}]
			set cmd [list $::env(PERDURE_SERVER) {*}$common --pool [file join $dir pool] --pool-size 16gb --pool-medium $medium]
		} else {
			set cmd [list redis-server {*}$common --daemonize no --save ""]
		}
		foreach {name value} $config {
			lappend cmd --$name $value
		}
		return $cmd
	}
}

proc servers::up {kind place {config {}}} {
	variable of
	variable next
	set s s[incr next]
	set dir [file join [expr {$place eq "pmem" ? $::env(BENCH_SHM) : $::env(BENCH_DISK)}] $s]
	file mkdir $dir
	set of($s) [dict create kind $kind place $place config $config dir $dir port [free_port] pid 0 \
		log [file join $::env(BENCH_DISK) $s.log]]
	again $s
	return $s
}

proc servers::again {s} {
	variable of
	variable cpu
	dict set of($s) pid [exec $::env(BENCH_PROBE) exec $cpu {*}[command $s] >>[get $s log] 2>@1 &]
	for {set i 0} {$i < 1200} {incr i} {
		if {![catch {set c [client_open 127.0.0.1 [get $s port]]}]} {
			set ok [expr {![catch {$c ping}]}]
			$c -close
			if {$ok} {
				return
			}
		}
		if {![alive [get $s pid]]} {
			break
		}
		after 50
	}
	error "[get $s kind] does not start: [command $s]\n[log_end $s]"
}

proc servers::log_end {s} {
	set f [open [get $s log]]
	set text [read $f]
	close $f
	return [string range $text end-2000 end]
}

# A killed process is gone when its last thread is: until then it holds its files, and the lock on its pool.
proc servers::alive {pid} {
	if {[catch {open /proc/$pid/stat} f]} {
		return 0
	}
	set text [read $f]
	close $f
	return [expr {![regexp {\) Z } $text] || [llength [glob -nocomplain /proc/$pid/task/*]] > 1}]
}

# Ends it with a signal and waits until it has ended.
proc servers::down {s {signal TERM}} {
	variable of
	set pid [get $s pid]
	if {$pid == 0} {
		return
	}
	catch {exec kill -$signal $pid}
	for {set i 0} {$i < 2400 && [alive $pid]} {incr i} {
		if {$i == 2000} {
			catch {exec kill -KILL $pid}
		}
		after 25
	}
	dict set of($s) pid 0
	catch {exec true} ;# lets Tcl collect the child
}

proc servers::gone {s} {
	variable of
	down $s
	file delete -force [get $s dir]
	unset of($s)
}

proc servers::stop_all {} {
	variable of
	foreach s [array names of] {
		down $s KILL
	}
}

proc servers::call {s args} {
	set c [client_open 127.0.0.1 [get $s port]]
	try {
		return [$c {*}$args]
	} finally {
		$c -close
	}
}

proc servers::info {s section} {
	set out {}
	foreach line [split [call $s info $section] \n] {
		if {[regexp {^([a-z_0-9]+):(.*?)\r?$} $line -> name value]} {
			dict set out $name $value
		}
	}
	return $out
}
