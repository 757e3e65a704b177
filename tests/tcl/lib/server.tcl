# Servers that tests run against. Each has a port and a folder of its own; only processes started here are stopped.
#
#   set s [server_start {maxclients 100 databases 4}]     directives and values
#   server_port $s, server_pid $s, server_dir $s, server_log $s
#   server_stop $s             SIGTERM; server_kill $s: SIGKILL; either leaves its data
#   server_again $s ?config?   starts it again on the same data
#   server_remove $s           stops it and removes its folder
#   server_client $s           a new connection
#
# The target is Perdure, or redis-server to see that an expectation is what Redis answers; directives that only
# Perdure knows are left out for redis-server.

namespace eval server {
	variable next 0
	variable all
	variable target perdure
	variable medium pmem
	variable program ""
	variable own {pool pool-size pool-grow pool-medium log-size durability}
}

proc server::base {} {
	variable medium
	variable target
	if {$target eq "perdure" && $medium eq "pmem"} {
		if {[info exists ::env(PERDURE_SHM)]} {
			return $::env(PERDURE_SHM)
		}
		if {[file isdirectory /dev/shm] && [file writable /dev/shm]} {
			return /dev/shm
		}
	}
	if {[info exists ::env(TMPDIR)]} {
		return $::env(TMPDIR)
	}
	return /tmp
}

# Below the range that the system takes for outgoing connections. Tests run side by side: the start is random.
proc server::free_port {} {
	for {set try 0} {$try < 200} {incr try} {
		set port [expr {20000 + int(rand() * 12000)}]
		if {![catch {socket -server {} -myaddr 127.0.0.1 $port} s]} {
			close $s
			return $port
		}
	}
	error "no free port"
}
expr {srand([clock microseconds] % 1000000 * 7 + [pid])}

proc server_start {{config {}} {wait 1}} {
	set id [incr server::next]
	set dir [file join [server::base] perdure-tcl-[pid]-$id]
	file delete -force $dir
	file mkdir $dir
	set server::all($id) [dict create dir $dir port 0 pid 0 config $config runs 0]
	server_again $id $config $wait
	return $id
}

proc server::arguments {id} {
	variable all
	variable target
	variable medium
	variable program
	variable own
	set dir [dict get $all($id) dir]
	set config [dict create bind 127.0.0.1 port [dict get $all($id) port] dir $dir enable-debug-command yes \
		logfile ""]
	if {$target eq "redis"} {
		dict set config save ""
		dict set config appendonly no
	} else {
		dict set config pool [file join $dir pool]
		dict set config pool-size 1gb
		dict set config pool-medium $medium
		dict set config durability [expr {$medium eq "pmem" ? "always" : "everysec"}]
	}
	foreach {name value} [dict get $all($id) config] {
		dict set config $name $value
	}
	set args {}
	dict for {name value} $config {
		if {$target eq "redis" && $name in $own} {
			continue
		}
		lappend args --$name
		if {[llength $value] > 1 && [string index $value 0] ne "\""} {
			lappend args {*}$value
		} else {
			lappend args $value
		}
	}
	return [concat [list $program] $args]
}

# Starts (again); with wait, until it answers. A server that ends instead is an error that quotes its log.
proc server_again {id {config ""} {wait 1}} {
	if {$config ne ""} {
		dict set server::all($id) config $config
	}
	for {set try 0} {$try < 5} {incr try} {
		if {$try > 0 || [dict get $server::all($id) port] == 0} {
			dict set server::all($id) port [server::free_port]
		}
		dict incr server::all($id) runs
		set log [file join [dict get $server::all($id) dir] log.[dict get $server::all($id) runs]]
		dict set server::all($id) log $log
		# A server whose test dies is to die with it.
		set pid [exec setpriv --pdeathsig KILL {*}[server::arguments $id] </dev/null >&$log &]
		dict set server::all($id) pid $pid
		if {!$wait} {
			return
		}
		if {[server::answers $id]} {
			return
		}
		if {![string match "*ddress already in use*" [server_log $id]]} {
			break
		}
	}
	error "the server did not start; its log:\n[server_log $id]"
}

proc server::answers {id} {
	variable all
	set port [dict get $all($id) port]
	set deadline [expr {[clock milliseconds] + 60000}]
	set pause 2
	while {[clock milliseconds] < $deadline} {
		if {![catch {client_open 127.0.0.1 $port} c]} {
			set config [dict get $all($id) config]
			set bad [catch {
				if {[dict exists $config requirepass]} {
					$c auth [dict get $config requirepass]
				}
				$c info server
			} answer]
			$c -close
			# It may be another's server, where that one took the port first.
			if {!$bad && [regexp "process_id:[dict get $all($id) pid]\r" $answer]} {
				return 1
			}
		}
		if {![server_alive $id]} {
			return 0
		}
		after $pause
		set pause [expr {min(50, $pause * 2)}]
	}
	return 0
}

proc server_alive {id} {
	set pid [dict get $server::all($id) pid]
	if {$pid == 0 || [catch {open /proc/$pid/stat} f]} {
		return 0
	}
	set stat [read $f]
	close $f
	if {[lindex [string range $stat [string last ")" $stat] end] 1] ni {Z X}} {
		return 1
	}
	# Its threads may still be on their way out, and the pool open with them.
	return [expr {[llength [glob -nocomplain /proc/$pid/task/*]] > 1}]
}

# Waits for the end of the process; returns 1 when it has ended.
proc server_ended {id {ms 20000}} {
	set deadline [expr {[clock milliseconds] + $ms}]
	while {[server_alive $id]} {
		if {[clock milliseconds] > $deadline} {
			return 0
		}
		after 5
	}
	dict set server::all($id) pid 0
	return 1
}

proc server_signal {id signal} {
	set pid [dict get $server::all($id) pid]
	if {$pid != 0} {
		catch {exec kill -$signal $pid}
	}
}

proc server_stop {id} {
	server_signal $id TERM
	if {![server_ended $id]} {
		server_kill $id
		error "the server did not stop on SIGTERM within 20 s; its log:\n[server_log $id]"
	}
}

proc server_kill {id} {
	server_signal $id KILL
	server_ended $id
}

proc server_remove {id} {
	if {![info exists server::all($id)]} {
		return
	}
	server_kill $id
	file delete -force [dict get $server::all($id) dir]
	unset server::all($id)
}

proc server_remove_all {} {
	foreach id [array names server::all] {
		catch {server_remove $id}
	}
}

proc server_client {id} {
	client_open 127.0.0.1 [dict get $server::all($id) port]
}

proc server_port {id} { dict get $server::all($id) port }
proc server_pid {id} { dict get $server::all($id) pid }
proc server_dir {id} { dict get $server::all($id) dir }

# What the last run of the server printed, the end of it.
proc server_log {id} {
	set f [open [dict get $server::all($id) log]]
	set text [read $f]
	close $f
	return [string range $text end-6000 end]
}
