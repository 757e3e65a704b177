#!/usr/bin/env tclsh
# Pools that something has happened to: refused with the reason, or recovered; never a crash, never a wrong answer.
if {[info commands test] eq ""} {
	lappend argv [info script]
	source [file join [file dirname [info script]] ../tcl/run.tcl]
}
source [file join [file dirname [info script]] lib faults.tcl]

# Puts the pool's files aside, and back.
proc keep {} {
	upvar 1 s s
	file delete -force [file join [server_dir $s] kept]
	exec cp -a [pool] [file join [server_dir $s] kept]
}

proc bring_back {} {
	upvar 1 s s
	file delete -force [pool]
	exec cp -a [file join [server_dir $s] kept] [pool]
}

# The tool must answer too, without dying.
proc tool_refuses {words} {
	upvar 1 s s
	assert [catch {exec [beside pool-check] [pool] 2>@1} out options] "pool-check accepts it"
	assert_equal CHILDSTATUS [lindex [dict get $options -errorcode] 0] $out
	assert_match *[string tolower $words]* [string tolower $out]
}

foreach medium {pmem file} {
	foreach how {stop kill} {
		test "a pool of another format version ($medium, $how)" {
			on $medium {} {
				put $c 0 50
				server_$how $s
				set first [lindex [parts] 0]
				set at [superblock $first]
				overwrite $first [expr {$at + 8}] [binary format i 7]
				refused {"format version 7" "version 1"}
				tool_refuses "format version 7"
				overwrite $first [expr {$at + 8}] [binary format i 1]
				start
				there $c 0 50
			}
		}

		test "a damaged superblock ($medium, $how)" {
			on $medium {} {
				put $c 0 50
				server_$how $s
				set first [lindex [parts] 0]
				set at [superblock $first]
				keep
				foreach {offset data words} {
					0 NOTAPOOL "superblock"
					12 \x00\x00\x02\x00 "superblock"
					16 \x01 "superblock"
					24 xxxxxxxx "superblock"
					56 xxxxxxxx "superblock"
					72 xx "superblock"
					80 xxxxxxxx "superblock"
				} {
					overwrite $first [expr {$at + $offset}] $data
					refused [list $words "backup"]
					tool_refuses $words
					bring_back
				}
				start
				there $c 0 50
			}
		}

		test "a damaged extent table or head ($medium, $how)" {
			on $medium {} {
				put $c 0 200
				server_$how $s
				set first [lindex [parts] 0]
				set at [superblock $first]
				keep
				# The table's second entry: where the first data extent stands.
				binary scan [bytes_at $first [expr {$at + 4096 + 16}] 16] ww uuid off
				foreach {what place data} [list \
					"offset beyond the pool" [expr {$at + 4096 + 24}] [binary format w 0x7fffffff0000] \
					"odd offset" [expr {$at + 4096 + 24}] [binary format w [expr {$off + 7}]] \
					"offset of nothing" [expr {$at + 4096 + 24}] [binary format w 64] \
					"another pool's id" [expr {$at + 4096 + 16}] [binary format w 99] \
					"no offset" [expr {$at + 4096 + 24}] [binary format w 0] \
				] {
					overwrite $first $place $data
					refused {"pool" "backup"}
					assert [catch {exec [beside pool-check] [pool] 2>@1} out options] "$what: $out"
					assert_equal CHILDSTATUS [lindex [dict get $options -errorcode] 0] "$what: $out"
					bring_back
				}
				# The head of that extent, at its first 64 KiB boundary.
				set head [expr {($off + 65535) / 65536 * 65536}]
				overwrite $first $head [string repeat \xff 128]
				refused {"extent 1" "backup"}
				bring_back
				start
				there $c 0 200
			}
		}

		test "parts that are truncated, missing, strange ($medium, $how)" {
			on $medium {pool-grow 4mb} {
				put $c 0 50
				while {[llength [parts]] < 3} {
					put $c 50 1500
					$c set big:[incr n] [string repeat b 1000000]
				}
				server_$how $s
				keep
				set parts [parts]
				set last [lindex $parts end]
				foreach {part to} [list [lindex $parts 0] 1048576 [lindex $parts 0] 12582912 [lindex $parts 1] 100000 \
					[lindex $parts 1] 2500000 $last 2500000 [lindex $parts 0] 0] {
					truncate_to $part $to
					refused {"truncated" "backup"}
					bring_back
				}
				# A last part below libpmemobj's least is taken for a growth step that a death cut short, but what
				# stood in it is missed.
				truncate_to $last 100000
				refused {"pool"}
				bring_back
				file delete [lindex $parts 1]
				refused {"000001.pmem" "missing"}
				bring_back
				file delete [lindex $parts 0]
				refused {"000000.pmem" "missing"}
				bring_back
				file delete {*}$parts
				refused {"parts" "backup"}
				bring_back
				file copy $last [file join [pool] copy.pmem]
				refused {"copy.pmem"}
				bring_back
				start
				there $c 0 50
				$c -close
				server_stop $s
				sound
			}
		}

		test "libpmemobj's own structures are damaged ($medium, $how)" {
			on $medium {} {
				put $c 0 50
				server_$how $s
				keep
				set first [lindex [parts] 0]
				foreach {at data} [list 0 [string repeat \0 4096] 0 GARBAGE! 4096 [string repeat \xa5 4096] \
					8 [string repeat \xff 16]] {
					overwrite $first $at $data
					refused {"pool"}
					bring_back
				}
				start
				there $c 0 50
			}
		}
	}

	# What a cut of power cannot do but a bad disk can: bytes of the log are not those written.
	test "a damaged log gives a beginning of what was written, or is refused ($medium)" {
		on $medium {log-size 1mb pool-size 64mb} {
			for {set i 1} {$i <= 300} {incr i} {
				$c set n $i
				$c set of:$i [string repeat $i 20]
			}
			server_kill $s
			keep
			set outcomes {recovered 0 refused 0}
			for {set round 0} {$round < 24} {incr round} {
				set ranges {}
				if {$medium eq "file"} {
					set path [file join [pool] log]
					set size [file size $path]
					set at [expr {$round < 4 ? $round * 2048 : int(rand() * min($size, 200000))}]
				} else {
					set path [lindex [parts] 0]
					set base [superblock $path]
					binary scan [bytes_at $path [expr {$base + 4096 + 8}] 8] w off
					set head [expr {($off + 65535) / 65536 * 65536 + 65536}]
					set at [expr {$head + int(rand() * ($round < 12 ? 4096 : 40000))}]
				}
				set n [expr {1 + int(rand() * ($round % 2 ? 8 : 3000))}]
				overwrite $path $at [random_bytes $n $round]
				set ok [expr {![catch {start} why]}]
				dict incr outcomes [expr {$ok ? "recovered" : "refused"}]
				if {$ok} {
					set n [$c get n]
					assert_range 0 300 [expr {$n eq "" ? 0 : $n}]
					# The line log replays its newest record only: all else is home already.
					if {$medium eq "pmem"} {
						assert_range 298 300 $n
					}
					for {set i 1} {$i <= 300} {incr i} {
						set v [$c get of:$i]
						if {$i < $n} {
							assert_equal [string repeat $i 20] $v
						} elseif {$i > $n} {
							assert_equal "" $v
						}
					}
					$c -close
					server_stop $s
					sound
				} else {
					assert {![server_alive $s]}
					assert_match "*log*" $why
				}
				bring_back
			}
			assert {[dict get $outcomes recovered] > 0} $outcomes
			start
			assert_equal 300 [$c get n]
		}
	}
}

test "the log of the file medium: missing, cut, another pool's, headers damaged" {
	on file {log-size 1mb} {
		put $c 0 300
		# A checkpoint has moved the start, so both headers are in use.
		for {set i 0} {[field $c pool_checkpoints] == 0} {incr i} {
			$c set more:[expr {$i % 10}] [string repeat $i 5000]
		}
		set digest [$c debug digest]
		server_kill $s
		keep
		set log [file join [pool] log]
		file delete $log
		refused {"log" "missing" "not closed cleanly"}
		tool_refuses "log"
		bring_back
		# Cut in the headers.
		foreach n {0 100 3000 8192} {
			truncate_to $log $n
			refused {"log" "damaged"}
			bring_back
		}
		overwrite $log 0 [string repeat \xee 8192]
		refused {"log" "damaged"}
		tool_refuses "log"
		bring_back
		# One header is enough, where both have been written.
		set recovered 0
		foreach at {0 4096} {
			overwrite $log $at [string repeat \xee 4096]
			set ok [expr {![catch {start} why]}]
			if {$ok} {
				assert_equal $digest [$c debug digest]
				$c -close
				server_kill $s
			} else {
				assert_match "*the log*damaged*" $why
			}
			incr recovered $ok
			bring_back
		}
		assert {$recovered > 0}
		# Another pool's log.
		set mine $s
		on file {log-size 1mb} {
			put $c 0 10
			server_kill $s
			file copy -force [file join [pool] log] $log
		}
		set s $mine
		refused {"log" "another pool"}
		bring_back
		start
		assert_equal $digest [$c debug digest]
		# After a clean stop the log is not needed.
		$c -close
		server_stop $s
		file delete $log
		start
		assert_equal $digest [$c debug digest]
		$c set more 1
		again kill
		assert_equal 1 [$c get more]
		there $c 0 300
		$c -close
		server_stop $s
		sound
	}
}

test "a big record's file is missing or damaged" {
	on file {log-size 1mb durability always} {
		put $c 0 50
		# One tick that outgrows the ring by far.
		$c multi
		for {set i 0} {$i < 20} {incr i} {
			$c set big:$i [string repeat $i 100000]
		}
		assert_equal [lrepeat 20 OK] [$c exec]
		server_kill $s
		set big [glob -nocomplain [file join [pool] log.*]]
		assert_equal 1 [llength $big] "the log is [file size [file join [pool] log]] bytes"
		keep
		file delete $big
		refused {"part of the log"}
		tool_refuses "part of the log"
		bring_back
		overwrite $big [expr {[file size $big] / 2}] damage
		refused {"part of the log" "damaged"}
		bring_back
		truncate_to $big [expr {[file size $big] / 2}]
		refused {"part of the log" "damaged"}
		bring_back
		start
		there $c 0 50
		assert_equal [string repeat 19 100000] [$c get big:19]
		# It goes with the checkpoint of a clean stop.
		$c -close
		server_stop $s
		assert_equal {} [glob -nocomplain [file join [pool] log.*]]
		sound
	}
}

foreach medium {pmem file} {
	test "random damage anywhere in a pool: refused, or served, but the server ends only as told ($medium)" {
		on $medium {log-size 1mb pool-size 32mb} {
			put $c 0 400
			$c set goes away px 100000
			server_kill $s
			keep
			expr {srand(11)}
			for {set round 0} {$round < 25} {incr round} {
				set path [lindex [parts] 0]
				set base [superblock $path]
				binary scan [bytes_at $path [expr {$base + 4096 + 24}] 8] w off
				set head [expr {($off + 65535) / 65536 * 65536}]
				for {set k 0} {$k < 6} {incr k} {
					set at [expr {$head + int(rand() * ($k < 3 ? 40000 : 700000))}]
					overwrite $path $at [random_bytes [expr {1 + int(rand() * 40)}] [expr {$round * 10 + $k}]]
				}
				catch {exec timeout 60 [beside pool-check] [pool] 2>@1} out options
				if {[dict exists $options -errorcode] && [dict get $options -errorcode] ne "NONE"} {
					assert_equal CHILDSTATUS [lindex [dict get $options -errorcode] 0] "round $round: pool-check: $out"
					assert_range 1 2 [lindex [dict get $options -errorcode] 2]
				}
				bring_back
			}
			start
			there $c 0 400
		}
	}
}
