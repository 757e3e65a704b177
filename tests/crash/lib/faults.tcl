# Helpers of the tests of media faults.
#
#   on pmem|file {config} { ... }    a server `s` on that medium, with a connection `c`; it goes afterwards
#   again kill|stop                  ends and starts it, connects
#   refused {pattern ...} ?words?    it must not start: exit code 1, and the log says all of these
#   sound                            pool-check finds nothing wrong
#   disk rules                       how the disk fails from now on (preload/disk.c); servers under `on ... -disk`
#
# Values follow from their names, so that what is there can be judged without the server that wrote it.

proc pool {} {
	upvar 1 s s
	file join [server_dir $s] pool
}

proc beside {name} {
	set tool [file join [file dirname $server::program] $name]
	if {![file exists $tool]} {
		fail "no $tool"
	}
	return $tool
}

proc on {medium config args} {
	upvar 1 s s c c
	set script [lindex $args end]
	set old $server::medium
	set server::medium $medium
	dict set config databases 4
	if {![dict exists $config pool-size]} {
		dict set config pool-size 256mb
	}
	if {[lindex $args 0] eq "-disk"} {
		set ::env(PERDURE_DISK) [file join [server::base] perdure-disk-[pid]-[incr ::disks]]
		disk ""
	}
	try {
		set s [server_start $config 0]
		server_kill $s
		start
		uplevel 1 $script
	} finally {
		catch {$c -close}
		catch {server_remove $s}
		set server::medium $old
		if {[info exists ::env(PERDURE_DISK)]} {
			file delete $::env(PERDURE_DISK)
			unset ::env(PERDURE_DISK)
		}
	}
}

# Starts the server of `on` (again) and connects. What it is given stays for later starts.
proc start {args} {
	upvar 1 s s c c
	catch {$c -close}
	configure $s {*}$args
	preloaded {
		server_again $s
	}
	set c [server_client $s]
}

proc configure {s args} {
	set config [dict get $server::all($s) config]
	foreach {name value} $args {
		dict set config $name $value
	}
	dict set server::all($s) config $config
}

proc preloaded {script} {
	if {![info exists ::env(PERDURE_DISK)]} {
		return [uplevel 1 $script]
	}
	set ::env(LD_PRELOAD) [file normalize [beside tests/crash/disk.so]]
	set options [expr {[info exists ::env(ASAN_OPTIONS)] ? $::env(ASAN_OPTIONS) : ""}]
	set ::env(ASAN_OPTIONS) "$options:verify_asan_link_order=0"
	try {
		uplevel 1 $script
	} finally {
		unset ::env(LD_PRELOAD)
		set ::env(ASAN_OPTIONS) $options
	}
}

set disks 0
proc disk {args} {
	set f [open $::env(PERDURE_DISK).new w]
	puts $f [join $args \n]
	close $f
	file rename -force $::env(PERDURE_DISK).new $::env(PERDURE_DISK)
}

proc again {how args} {
	upvar 1 s s c c
	catch {$c -close}
	server_$how $s
	uplevel 1 [list start {*}$args]
}

# The words of the log of a start that must fail.
proc refused {patterns args} {
	upvar 1 s s
	configure $s {*}$args
	set code 0
	preloaded {
		if {[catch {exec timeout 60 {*}[server::arguments $s] </dev/null 2>@1} out options]} {
			set code [lindex [dict get $options -errorcode] 2]
		}
	}
	assert_equal 1 $code "exit code; it said:\n$out"
	foreach p $patterns {
		if {![string match -nocase *$p* $out]} {
			fail "expected the words [shown $p] in\n[shown $out]"
		}
	}
	return $out
}

proc sound {} {
	upvar 1 s s
	if {[catch {exec [beside pool-check] [pool] 2>@1} out]} {
		fail "pool-check: $out"
	}
	return $out
}

# ---- data ----

# Writes key:from .. key:to-1, one a tick or so; the values have many sizes, some are ropes.
proc value_of {i} {
	set n [expr {($i * 7919) % 13 == 0 ? ($i * 104729) % 40000 : ($i * 7919) % 600}]
	return $i:[string repeat [format %c [expr {97 + $i % 26}]] $n]
}

proc put {c from to} {
	for {set i $from} {$i < $to} {incr i} {
		$c -send set key:$i [value_of $i]
	}
	for {set i $from} {$i < $to} {incr i} {
		assert_equal OK [$c -read] "SET key:$i"
	}
}

proc there {c from to} {
	for {set i $from} {$i < $to} {incr i} {
		$c -send get key:$i
	}
	for {set i $from} {$i < $to} {incr i} {
		if {[$c -read] ne [value_of $i]} {
			fail "key:$i is not there, or not as it was written"
		}
	}
}

# Sends SETs of n bytes until one is refused: how many there are then, and the refusal. What a tick has to hold counts
# as well, so the last ones are sent one by one.
proc fill {c n {prefix fill} {from 0}} {
	set value [string repeat x $n]
	set i $from
	for {set error ""} {$error eq ""} {} {
		for {set k 0} {$k < 64} {incr k} {
			$c -send set $prefix:[expr {$i + $k}] $value
		}
		for {set k 0} {$k < 64} {incr k} {
			if {[catch {$c -read} reply]} {
				set error $reply
			} elseif {$error eq ""} {
				incr i
			}
		}
	}
	for {set k 0} {$k < 64} {incr k} {
		$c del $prefix:[expr {$i + $k}]
	}
	while {![catch {$c set $prefix:$i $value} error]} {
		incr i
	}
	return [list $i $error]
}

proc field {c name} {
	foreach line [split [$c info everything] \n] {
		if {[regexp "^$name:(.*)\r?$" $line - value]} {
			return [string trimright $value \r]
		}
	}
	return ""
}

# ---- files ----

# The part files of the pool, in order.
proc parts {} {
	upvar 1 s s
	lsort [glob [file join [pool] *.pmem]]
}

proc bytes_at {path at n} {
	set f [open $path rb]
	seek $f $at
	set data [read $f $n]
	close $f
	return $data
}

proc overwrite {path at data} {
	set f [open $path r+b]
	seek $f $at
	puts -nonewline $f $data
	close $f
}

proc truncate_to {path n} {
	set f [open $path r+b]
	chan truncate $f $n
	close $f
}

# Where the superblock stands in the first part.
proc superblock {path} {
	set f [open $path rb]
	set at [string first PERDURE1 [read $f 8388608]]
	close $f
	assert {$at > 0}
	return $at
}
