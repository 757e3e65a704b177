#!/usr/bin/env tclsh
# Disks that fail while the server runs: what was answered is there afterwards, what cannot be answered waits or is
# refused, and all goes on when the disk does. The disk is preload/disk.c.
if {[info commands test] eq ""} {
	lappend argv [info script]
	source [file join [file dirname [info script]] ../tcl/run.tcl]
}
source [file join [file dirname [info script]] lib faults.tcl]

set EIO 5
set ENOSPC 28

# A second connection whose answer does not come.
proc waits {d ms} {
	assert {[$d -quiet $ms]} "an answer came although the log is not written"
}

foreach call {write sync} {
	test "an error of the log's $call stops answers, not the server; all is there when it works again (always)" {
		on file {durability always log-size 1mb} -disk {
			put $c 0 50
			disk "$call log $::EIO"
			set d [server_client $s]
			$d -send set during 1
			waits $d 400
			# Who writes now is told why nothing can be promised.
			wait_until 5000 {string match "*Input/output error*" [server_log $s]}
			assert [server_alive $s]
			disk ""
			assert_equal OK [$d -read]
			assert_equal 1 [$d get during]
			put $c 50 100
			assert_match "*written again*" [server_log $s]
			again kill
			there $c 0 100
			assert_equal 1 [$c get during]
			$d -close
		}
	}

	test "killed while the log's $call fails: what was answered is there ($call, always)" {
		on file {durability always log-size 1mb} -disk {
			put $c 0 50
			disk "$call log $::EIO"
			$c -send set during 1
			waits $c 300
			disk ""
			server_kill $s
			start
			there $c 0 50
			# The write in between may be there or not: it was not answered.
			assert {[$c get during] in {"" 1}}
			put $c 50 60
			again kill
			there $c 0 60
		}
	}
}

test "errors now and then, of every kind, cost nothing (always)" {
	on file {durability always log-size 1mb} -disk {
		disk "write log $::EIO 3 1" "sync log $::EIO 5 2" "write log short 9 5" "write part $::EIO 4 3" "sync part $::EIO 0 2" \
			"write part short 20 9"
		for {set i 0} {$i < 1000} {incr i} {
			# Where checkpoints fail and the log is small, it may be full for a moment.
			wait_until 10000 {expr {![catch {$c set key:$i [value_of $i]} reply] || ![string match MISCONF* $reply]}}
			assert_equal OK $reply
		}
		wait_until 10000 {expr {[field $c pool_checkpoints] > 0}}
		set digest [$c debug digest]
		again kill
		assert_equal $digest [$c debug digest]
		there $c 0 1000
		$c -close
		server_stop $s
		sound
	}
}

foreach {durability error} {everysec 5 always 28} {
	test "the pool's files cannot be written: writes go on until the log is full, then MISCONF ($durability, errno $error)" {
		on file [list durability $durability log-size 1mb] -disk {
			put $c 0 50
			disk "write part $error"
			set n 0
			set reply OK
			set value [string repeat v 20000]
			while {$n < 2000 && ![catch {$c set late:$n $value} reply]} {
				incr n
			}
			assert_match "MISCONF*" $reply
			assert {$n > 10}
			# Reading goes on, and says what is wrong.
			assert_equal $value [$c get late:[expr {$n - 1}]]
			assert_equal err [field $c pool_write_status]
			assert_match "*checkpoint*" [server_log $s]
			set digest [$c debug digest]
			# With the disk as it is, a death loses nothing.
			server_kill $s
			disk ""
			start
			assert_equal $digest [$c debug digest]
			there $c 0 50
			assert_equal ok [field $c pool_write_status]
			disk "write part $error"
			catch {
				for {set k 0} {$k < 2000} {incr k} {
					$c set later:$k $value
				}
			} reply
			assert_match "MISCONF*" $reply
			disk ""
			wait_until 10000 {expr {![catch {$c set healed 1}]}}
			set digest [$c debug digest]
			again kill
			assert_equal $digest [$c debug digest]
			assert_equal 1 [$c get healed]
			$c -close
			server_stop $s
			sound
		}
	}
}

test "the pool's files cannot be synced: the log keeps what is not home" {
	on file {durability always log-size 1mb} -disk {
		put $c 0 50
		disk "sync part $::EIO"
		catch {
			for {set k 0} {$k < 2000} {incr k} {
				$c set late:$k [string repeat v 20000]
			}
		} reply
		assert_match "MISCONF*" $reply
		assert_equal 0 [field $c pool_checkpoints]
		set digest [$c debug digest]
		disk ""
		wait_until 10000 {expr {![catch {$c set healed 1}]}}
		wait_until 10000 {expr {[field $c pool_checkpoints] > 0}}
		$c del healed
		assert_equal $digest [$c debug digest]
		again kill
		assert_equal $digest [$c debug digest]
	}
}

test "a stop while the disk fails ends, says so, and loses nothing" {
	on file {durability everysec log-size 1mb} -disk {
		put $c 0 200
		set digest [$c debug digest]
		disk "write part $::EIO" "sync part $::EIO"
		$c -close
		server_stop $s
		assert_match "*could not be written whole*" [server_log $s]
		disk ""
		start
		assert_equal 0 [field $c pool_was_clean]
		assert_equal $digest [$c debug digest]
		there $c 0 200
		# The same with the log itself.
		put $c 200 220
		after 1100
		set digest [$c debug digest]
		disk "any log $::EIO"
		$c -close
		server_stop $s
		disk ""
		start
		assert_equal $digest [$c debug digest]
		$c -close
		server_stop $s
		sound
	}
}

test "errors while the pool opens: refused, and nothing is lost" {
	on file {log-size 1mb} -disk {
		put $c 0 200
		set digest [$c debug digest]
		server_kill $s
		foreach rule {"read log 5" "open log 5" "open log 13" "open part 5" "open part 13" "map part 12" "sync log 5"} {
			disk $rule
			refused {"pool"}
			assert {![file exists [file join [pool] new]]} $rule
		}
		disk ""
		start
		assert_equal $digest [$c debug digest]
		there $c 0 200
	}
}

test "errors while a pool is made: refused, and made at the next start" {
	foreach medium {pmem file} {
		on $medium {log-size 1mb} -disk {
			server_stop $s
			set dir [server_dir $s]
			set k 0
			foreach rule {"allocate part 28" "allocate part 5" "rename part 5" "sync dir 5" "rename set 28" "write set 5"} {
				configure $s pool [file join $dir pool[incr k]]
				disk $rule
				refused {"pool"}
				disk ""
				start
				put $c 0 10
				$c -close
				server_stop $s
				exec [beside pool-check] [file join $dir pool$k] 2>@1
			}
		}
	}
}

# ---- growth ----

foreach medium {pmem file} {
	test "errors while the pool grows: refused until it can ($medium)" {
		foreach rule {"allocate part 5" "rename part 5" "sync dir 5" "open part 24" "map part 12"} {
			on $medium {pool-size 56mb pool-grow 4mb log-size 1mb} -disk {
				put $c 0 100
				after 500 ;# a step ahead of need may be under way
				disk $rule
				lassign [fill $c 20000] n error
				assert_match "OOM*" $error
				there $c 0 100
				set digest [$c debug digest]
				assert_match "*pool: cannot*" [server_log $s]
				# libpmemobj loses count of its parts where it cannot map one: then it takes a new start.
				if {[incr restarts] % 2 || [string match "map*" $rule]} {
					server_kill $s
					disk ""
					start
				} else {
					disk ""
					after 1100
				}
				assert_equal $digest [$c debug digest]
				$c set more [string repeat x 20000]
				lassign [fill $c 20000 more] more error
				assert {$more > $n} "$rule: $more values after, $n before"
				set digest [$c debug digest]
				again kill
				assert_equal $digest [$c debug digest]
				$c -close
				server_stop $s
				sound
			}
		}
	}

	# The process dies instead of the k-th call that has to do with the pool's files, from the first growth step on.
	test "death in the middle of growth, at every call ($medium)" {
		on $medium {pool-size 256mb pool-grow 4mb log-size 4mb durability always} -disk {
			set deaths 0
			set next 0
			set value [string repeat g 50000]
			for {set k 0} {$k < 36} {incr k} {
				disk "any notlog kill $k 1"
				set from $next
				set died [catch {
					for {set i 0} {$i < 150} {incr i} {
						$c -send set g:[expr {$from + $i}] $value
					}
					for {set i 0} {$i < 150} {incr i} {
						assert_equal OK [$c -read]
						incr next
					}
				} problem]
				if {$died} {
					assert {[server_ended $s]} $problem
					incr deaths
				}
				disk ""
				if {!$died} {
					$c -close
					server_kill $s
				}
				if {$k % 4 == 0} {
					sound
				}
				start
				for {set i 0} {$i < $next} {incr i 17} {
					assert_equal $value [$c get g:$i] "death $k: g:$i of $next"
				}
				# One that was not answered may be there.
				assert_range $next [expr {$next + 150}] [$c dbsize]
				for {set i $next} {$i < $from + 150} {incr i} {
					$c del g:$i
				}
				if {$next > 2500} { ;# it has grown as far as it may, nearly: a new one
					$c -close
					server_stop $s
					sound
					file delete -force [pool]
					start
					set next 0
				}
			}
			assert {$deaths >= ($medium eq "pmem" ? 8 : 16)} "$deaths deaths"
			$c -close
			server_stop $s
			sound
		}
	}
}
