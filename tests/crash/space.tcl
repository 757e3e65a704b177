#!/usr/bin/env tclsh
# No room: in the pool, on the disk.
if {[info commands test] eq ""} {
	lappend argv [info script]
	source [file join [file dirname [info script]] ../tcl/run.tcl]
}
source [file join [file dirname [info script]] lib faults.tcl]

foreach medium {pmem file} {
	foreach size {16 300 60000} {
		test "a full pool refuses writes, and nothing else ($medium, values of $size bytes)" {
			on $medium {pool-size 32mb} {
				put $c 0 200
				lassign [fill $c $size] n error
				assert_match "OOM*" $error
				assert {$n > 5}
				assert_equal [string repeat x $size] [$c get fill:[expr {$n - 1}]]
				assert_error "OOM*" {$c set more [string repeat x $size]}
				assert_error "*OOM*" {
					$c multi
					$c set a 1
					$c set more [string repeat x $size]
					$c exec
				}
				assert_equal "" [$c get a]
				there $c 0 200
				# Deletes go on.
				assert_equal 1 [$c del fill:0]
				assert_equal [string repeat x $size] [$c getdel fill:1]
				assert_equal 2 [$c unlink fill:2 fill:3]
				set digest [$c debug digest]
				again kill
				assert_equal $digest [$c debug digest]
				assert_equal "" [$c get fill:0]
				there $c 0 200
				for {set i 0} {$i < $n} {incr i} {
					$c -send del fill:$i
				}
				for {set i 0} {$i < $n} {incr i} {
					$c -read
				}
				assert_equal 200 [$c dbsize]
				wait_until 10000 {expr {[field $c pool_reclaim_pending] == 0}}
				lassign [fill $c $size again] second error
				assert_match "OOM*" $error
				assert_range [expr {$n * 0.8 - 3}] [expr {$n * 1.2 + 3}] $second
				assert_equal OK [$c flushall]
				wait_until 10000 {expr {[field $c pool_reclaim_pending] == 0}}
				assert_equal OK [$c set a b]
				again stop
				assert_equal b [$c get a]
				assert_equal 1 [$c dbsize]
				$c -close
				server_stop $s
				sound
			}
		}
	}

	test "keys expire in a full pool, which makes room ($medium)" {
		on $medium {pool-size 32mb} {
			for {set i 0} {$i < 200} {incr i} {
				$c set short:$i [string repeat y 20000] px 1500
			}
			lassign [fill $c 1000] n error
			assert_match "OOM*" $error
			wait_until 20000 {expr {[$c dbsize] == $n}}
			wait_until 10000 {expr {[field $c pool_reclaim_pending] == 0}}
			put $c 0 100
			again kill
			there $c 0 100
			assert_equal [expr {$n + 100}] [$c dbsize]
		}
	}

	test "a transaction that does not fit is undone whole ($medium)" {
		on $medium {pool-size 32mb} {
			put $c 0 100
			lassign [fill $c 1000] n error
			for {set i 0} {$i < 100} {incr i} {
				$c del fill:$i
			}
			set digest [$c debug digest]
			$c multi
			$c set first 1
			for {set i 0} {$i < 40} {incr i} {
				$c set big:$i [string repeat z 500000]
			}
			$c set key:1 changed
			set failed [catch {$c exec} reply]
			# Either the block is refused as a whole, or single commands of it answer OOM.
			if {$failed} {
				assert_match "*OOM*" $reply
				assert_equal $digest [$c debug digest]
			} else {
				assert_match "*OOM*" $reply
			}
			set digest [$c debug digest]
			again kill
			assert_equal $digest [$c debug digest]
			$c -close
			server_stop $s
			sound
		}
	}

	# ENOSPC from where parts are made, whatever the disk.
	test "the disk is full while the pool grows ($medium)" {
		on $medium {pool-size 256mb pool-grow 4mb} -disk {
			put $c 0 300
			disk "allocate part 28"
			lassign [fill $c 4000] n error
			assert_match "OOM*" $error
			assert_match "*disk is full*" [server_log $s]
			assert_error "OOM*" {$c set more [string repeat x 4000]}
			there $c 0 300
			$c del fill:0 fill:1
			set digest [$c debug digest]
			again kill
			assert_equal $digest [$c debug digest]
			there $c 0 300
			# Once there is space again the pool grows, without a restart.
			disk ""
			after 1100
			$c set more [string repeat x 4000]
			lassign [fill $c 4000 more] more error
			assert {$more > $n}
			$c -close
			server_stop $s
			sound
			start
			there $c 0 300
			assert_equal [string repeat x 4000] [$c get more:[expr {$more - 1}]]
		}
	}
}

# ---- a real file system that is full ----

# A small tmpfs, where this may be mounted.
proc on_small_disk {medium size config script} {
	upvar 1 s s c c dir dir
	set dir [file join [server::base] perdure-small-[pid]]
	file mkdir $dir
	if {[catch {exec mount -t tmpfs -o size=$size tmpfs $dir 2>@1} out]} {
		puts "no small file system can be mounted here ($out)"
		file delete -force $dir
		return
	}
	try {
		on $medium $config {
			server_stop $s
			configure $s pool [file join $dir pool]
			uplevel 1 $script
		}
	} finally {
		exec umount -l $dir
		file delete -force $dir
	}
}

foreach medium {pmem file} {
	test "a file system that is full ($medium)" {
		on_small_disk $medium 48m {pool-size 512mb pool-grow 4mb log-size 4mb} {
			start
			put $c 0 200
			lassign [fill $c 3000] n error
			assert_match "OOM*" $error
			there $c 0 200
			set digest [$c debug digest]
			again kill
			assert_equal $digest [$c debug digest]
			exec mount -o remount,size=96m $dir
			after 1100
			$c set more [string repeat x 4000]
			lassign [fill $c 3000 more] more error
			assert {$more > $n / 2}
			there $c 0 200
			set digest [$c debug digest]
			again stop
			assert_equal $digest [$c debug digest]
			$c -close
			server_stop $s
			exec [beside pool-check] [file join $dir pool] 2>@1
		}
	}

	test "a file system too small for a pool ($medium)" {
		on_small_disk $medium 8m {pool-size 512mb pool-grow 4mb} {
			refused {"disk is full"}
			exec mount -o remount,size=96m $dir
			start log-size 4mb
			put $c 0 100
			again kill
			there $c 0 100
		}
	}
}

test "a file system too small for the log" {
	on_small_disk file 64m {pool-size 512mb pool-grow 4mb log-size 256mb} {
		refused {"making the log" "disk" "log-size"}
		start log-size 4mb
		put $c 0 100
		again kill
		there $c 0 100
		# A larger one does not fit either; nothing is lost by trying.
		$c -close
		server_kill $s
		refused {"making the log" "disk" "log-size"} log-size 256mb
		start log-size 8mb
		there $c 0 100
	}
}
