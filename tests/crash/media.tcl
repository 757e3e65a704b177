#!/usr/bin/env tclsh
# Pools that go from one medium to the other; pools that must not be written, or are in use.
if {[info commands test] eq ""} {
	lappend argv [info script]
	source [file join [file dirname [info script]] ../tcl/run.tcl]
}
source [file join [file dirname [info script]] lib faults.tcl]

foreach {from to} {pmem file file pmem} {
	foreach how {stop kill} {
		test "a pool last used on the $from medium opens on the $to medium, after $how" {
			# On tmpfs both are possible.
			on pmem [list pool-medium $from log-size 1mb] {
				assert_match $from* [field $c pool_medium]
				put $c 0 400
				$c set n 1
				$c multi
				$c incr n
				$c set pair 1
				$c exec
				set digest [$c debug digest]
				again $how pool-medium $to
				assert_match $to* [field $c pool_medium]
				assert_equal $digest [$c debug digest]
				there $c 0 400
				put $c 400 500
				$c del key:7
				$c incr n
				set digest [$c debug digest]
				again kill
				assert_equal $digest [$c debug digest]
				# And back, without a clean stop.
				again kill pool-medium $from
				assert_match $from* [field $c pool_medium]
				assert_equal $digest [$c debug digest]
				assert_equal 3 [$c get n]
				$c -close
				server_stop $s
				sound
			}
		}
	}
}

test "from medium to medium, many times, ended in every way" {
	on pmem {log-size 1mb} {
		for {set i 0} {$i < 16} {incr i} {
			put $c [expr {$i * 20}] [expr {$i * 20 + 20}]
			$c incr rounds
			$c del key:[expr {$i * 13}]
			set digest [$c debug digest]
			again [expr {$i % 3 ? "kill" : "stop"}] pool-medium [expr {$i / 2 % 2 ? "pmem" : "file"}]
			assert_equal $digest [$c debug digest] "round $i"
		}
		assert_equal 16 [$c get rounds]
		$c -close
		server_kill $s
		sound
	}
}

test "auto takes the medium of the file system: tmpfs is no persistent memory" {
	on pmem {pool-medium auto} {
		assert_equal file [field $c pool_medium]
		put $c 0 20
		again kill pool-medium pmem
		there $c 0 20
		again kill pool-medium auto
		assert_equal file [field $c pool_medium]
		there $c 0 20
	}
}

test "a pool that died on the file medium needs its log, whatever the medium it shall open on" {
	on pmem {pool-medium file log-size 1mb} {
		put $c 0 100
		server_kill $s
		set log [file join [pool] log]
		file rename $log $log.away
		refused {"log" "missing"} pool-medium pmem
		refused {"log" "missing"} pool-medium file
		file rename $log.away $log
		start pool-medium pmem
		there $c 0 100
		# What the log said is home: nobody needs it now.
		$c -close
		server_kill $s
		file delete $log
		start pool-medium file
		there $c 0 100
	}
}

test "the pmem medium on a disk is refused" {
	on file {} {
		put $c 0 20
		server_kill $s
		set where [exec stat -f -c %T [pool]]
		if {$where eq "tmpfs"} {
			puts "the folder for temporary files is a tmpfs"
			return
		}
		refused {"not on persistent memory" "pool-medium"} pool-medium pmem
		start pool-medium file
		there $c 0 20
	}
}

# ---- rights ----

# As a user who has no right to override them; root gives that up.
proc refused_without_rights {patterns} {
	upvar 1 s s
	set program $server::program
	set code 0
	set words {}
	if {[exec id -u] == 0} {
		set words {setpriv --bounding-set -dac_override,-dac_read_search,-fowner --inh-caps -dac_override}
	}
	if {[catch {exec timeout 60 {*}$words {*}[server::arguments $s] </dev/null 2>@1} out options]} {
		set code [lindex [dict get $options -errorcode] 2]
	}
	assert_equal 1 $code "exit code; it said:\n$out"
	foreach p $patterns {
		assert_match *$p* $out
	}
}

foreach medium {pmem file} {
	test "files and directories without the right to write ($medium)" {
		on $medium {log-size 1mb} {
			put $c 0 50
			set digest [$c debug digest]
			server_kill $s
			set names [glob [file join [pool] *]]
			foreach f $names {
				file attributes $f -permissions 0444
			}
			refused_without_rights {"permission denied"}
			foreach f $names {
				file attributes $f -permissions 0600
			}
			file attributes [pool] -permissions 0000
			refused_without_rights {"permission denied"}
			file attributes [pool] -permissions 0700
			start
			assert_equal $digest [$c debug digest]
			$c -close
			server_stop $s
			# A directory in which nothing can be made.
			set empty [file join [server_dir $s] empty]
			file mkdir $empty
			file attributes $empty -permissions 0555
			set old [dict get $server::all($s) config]
			configure $s pool $empty
			refused_without_rights {"permission denied"}
			configure $s pool [file join $empty new]
			refused_without_rights {"permission denied"}
			assert_equal {} [glob -nocomplain [file join $empty *]]
			file attributes $empty -permissions 0700
		}
	}

	test "a file system mounted read-only ($medium)" {
		set dir [file join [server::base] perdure-ro-[pid]]
		file mkdir $dir
		if {[catch {exec mount -t tmpfs -o size=128m tmpfs $dir 2>@1} out]} {
			puts "nothing can be mounted here ($out)"
			file delete -force $dir
			return
		}
		try {
			on $medium [list pool [file join $dir pool] log-size 1mb] {
				put $c 0 50
				set digest [$c debug digest]
				server_kill $s
				exec mount -o remount,ro $dir
				refused {"read-only"}
				assert [catch {exec [beside pool-check] [file join $dir pool] 2>@1} out]
				assert_match "*read-only*" $out
				refused {"read-only"} pool [file join $dir other]
				exec mount -o remount,rw $dir
				configure $s pool [file join $dir pool]
				start
				assert_equal $digest [$c debug digest]
			}
		} finally {
			exec umount -l $dir
			file delete -force $dir
		}
	}

	test "two servers, or a server and a tool, on one pool ($medium)" {
		on $medium {} {
			put $c 0 50
			set port [dict get $server::all($s) port]
			dict set server::all($s) port [server::free_port]
			refused {"in use"}
			refused {"in use"} pool-medium [expr {$medium eq "pmem" ? "file" : "pmem"}]
			dict set server::all($s) port $port
			assert [catch {exec [beside pool-check] [pool] 2>@1} out]
			assert_match "*in use*" $out
			there $c 0 50
			configure $s pool-medium $medium
			again kill
			there $c 0 50
			# While one holds it, killing the other changes nothing.
			again kill
			$c -close
			server_stop $s
			sound
		}
	}
}

test "what is not a pool: a file, somebody else's directory, a path that cannot be made" {
	on file {} {
		server_stop $s
		set dir [server_dir $s]
		set f [open [file join $dir plain] w]
		puts $f "not a pool"
		close $f
		refused {"not a directory"} pool [file join $dir plain]
		refused {"not"} pool [file join $dir plain below]
		refused {"exist"} pool [file join $dir a b c]
		refused {"blank"} pool [file join $dir a#b]
		assert {![file exists [file join $dir a]]}
		# Another program's libpmemobj pool, or garbage under a part's name.
		file mkdir [file join $dir garbage]
		set f [open [file join $dir garbage 000000.pmem] wb]
		puts -nonewline $f [random_bytes 16777216]
		close $f
		refused {"pool"} pool [file join $dir garbage]
		assert_equal 16777216 [file size [file join $dir garbage 000000.pmem]]
		assert_equal [random_bytes 4096] [bytes_at [file join $dir garbage 000000.pmem] 0 4096]
	}
}
