# media: pmem file
# What is there after a restart: clean, or after kill -9. An answered write is there, on either medium.

if {$server::target ne "perdure"} {
	# redis-server runs without persistence here.
	incr test::skipped
	return
}

# Runs the script with `s` (server) and `c` (client); the server goes afterwards.
proc on_server {script {config {}}} {
	upvar 1 s s c c
	set s [server_start $config]
	set c [server_client $s]
	try {
		uplevel 1 $script
	} finally {
		catch {$c -close}
		server_remove $s
	}
}

# Ends the server as told (kill or stop), starts it again and connects.
proc again {how} {
	upvar 1 s s c c
	catch {$c -close}
	server_$how $s
	server_again $s
	set c [server_client $s]
}

proc check_pool {c} {
	$c -send debug poolcheck
	set answer [$c -typed]
	assert {[lindex $answer 0] ne "error"} $answer
}

# Strings of many sizes, numbers, deadlines, several databases.
proc fill {c} {
	foreach n {0 1 10 63 64 65 255 256 511 512 513 1000 1024 4000 4096 8176 8177 16384 16385 20000 65536 70000 300000} {
		$c set size:$n [string range [string repeat [random_bytes 997 [expr {$n + 1}]] [expr {$n / 997 + 1}]] 0 [expr {$n - 1}]]
	}
	foreach n {0 1 -1 42 9223372036854775807 -9223372036854775808} {
		$c set int:$n $n
	}
	for {set i 0} {$i < 2000} {incr i} {
		$c -send set key:$i value:$i
	}
	for {set i 0} {$i < 2000} {incr i} {
		$c -read
	}
	$c set ttl:far v exat 4102444800
	$c set ttl:ms v pxat 4102444800123
	$c append size:16385 tail
	$c setrange sparse 500000 end
	$c setbit bits 100000 1
	$c incrbyfloat float 3.25
	$c select 5
	$c set five 5
	$c set key:1 other
	$c select 0
	for {set i 0} {$i < 2000} {incr i 7} {
		$c -send del key:$i
	}
	for {set i 0} {$i < 2000} {incr i 7} {
		$c -read
	}
}

foreach how {stop kill} {
	test "everything is there after $how and restart" {
		on_server {
			fill $c
			set digest [$c debug digest]
			set size [$c dbsize]
			again $how
			assert_equal $size [$c dbsize]
			assert_equal $digest [$c debug digest]
			assert_equal 4102444800 [$c expiretime ttl:far]
			assert_equal 4102444800123 [$c pexpiretime ttl:ms]
			assert_equal 500003 [$c strlen sparse]
			assert_equal 1 [$c getbit bits 100000]
			assert_equal 3.25 [$c get float]
			assert_equal "" [$c get key:7]
			assert_equal value:8 [$c get key:8]
			$c select 5
			assert_equal {5 other} [$c mget five key:1]
			check_pool $c
		}
	}
}

test "many restarts of both kinds, with writes between" {
	on_server {
		set expected {}
		for {set round 0} {$round < 8} {incr round} {
			for {set i 0} {$i < 50} {incr i} {
				$c set r$round:$i [string repeat "$round " [expr {$i * $i}]]
			}
			$c incrby rounds 1
			$c append log "$round,"
			$c del r[expr {$round - 3}]:7
			set digest [$c debug digest]
			again [expr {$round % 3 == 1 ? "stop" : "kill"}]
			assert_equal $digest [$c debug digest] "round $round"
			assert_equal [expr {$round + 1}] [$c get rounds]
		}
		assert_equal 0,1,2,3,4,5,6,7, [$c get log]
		check_pool $c
	}
}

test "kill -9 in the middle of a stream of writes leaves a beginning of it" {
	on_server {
		for {set round 0} {$round < 5} {incr round} {
			$c flushall
			set n 20000
			for {set i 1} {$i <= $n} {incr i} {
				$c -send set k:$i [string repeat $i 10]
			}
			set acked 0
			set stop_at [expr {1 + $round * 3000}]
			while {$acked < $stop_at} {
				assert_equal OK [$c -read]
				incr acked
			}
			server_signal $s KILL
			while {![catch {$c -read} answer]} {
				assert_equal OK $answer
				incr acked
			}
			again kill
			set there [$c dbsize]
			assert {$there >= $acked} "$acked were answered, $there are there"
			for {set i 1} {$i <= $there} {incr i} {
				$c -send get k:$i
			}
			for {set i 1} {$i <= $there} {incr i} {
				assert_equal [string repeat $i 10] [$c -read]
			}
		}
		check_pool $c
	}
}

test "counters are exact after kill -9 under load from several clients" {
	on_server {
		set clients {}
		for {set j 0} {$j < 5} {incr j} {
			lappend clients [server_client $s]
		}
		for {set i 0} {$i < 2000} {incr i} {
			foreach d $clients {
				$d -send incr total
				$d -send incr of:$d
			}
		}
		set least 0
		foreach d $clients {
			for {set i 0} {$i < 500} {incr i} {
				set least [expr {max($least, [$d -read])}]
				set own($d) [$d -read]
			}
		}
		server_signal $s KILL
		foreach d $clients {
			catch {
				while 1 {
					set least [expr {max($least, [$d -read])}]
					set own($d) [$d -read]
				}
			}
			$d -close
		}
		again kill
		set total [$c get total]
		assert {$total >= $least} "$least was answered, $total is there"
		set sum 0
		foreach d $clients {
			set there [$c get of:$d]
			assert {$there >= $own($d)}
			incr sum $there
		}
		# Each client sends the two in turn, and a tick may end between them.
		assert_range [expr {$sum - 5}] [expr {$sum + 5}] $total
	}
}

test "transactions are whole after kill -9" {
	on_server {
		for {set round 0} {$round < 4} {incr round} {
			set d [server_client $s]
			for {set i 0} {$i < 3000} {incr i} {
				$d -write "MULTI\r\nSET a $round.$i\r\nSET b $round.$i\r\nINCR n\r\nSET big [string repeat $i 500]\r\nSET c $round.$i\r\nEXEC\r\n"
			}
			for {set i 0} {$i < 700 * ($round + 1)} {incr i} {
				$d -read
			}
			server_signal $s KILL
			catch {$d -close}
			again kill
			lassign [$c mget a b c big] a b c3 big
			assert {$a eq $b && $b eq $c3} "a $a, b $b, c $c3"
			assert_equal [string repeat [lindex [split $a .] 1] 500] $big
		}
		check_pool $c
	}
}

test "FLUSHALL and SWAPDB hold after kill -9" {
	on_server {
		fill $c
		$c swapdb 0 5
		set zero [$c debug digest]
		again kill
		assert_equal $zero [$c debug digest]
		assert_equal 5 [$c get five]
		$c flushall
		$c set only this
		again kill
		assert_equal 1 [$c dbsize]
		assert_equal this [$c get only]
		check_pool $c
	}
}

test "deadlines pass while the server is away" {
	on_server {
		$c set short v px 200
		$c set long v px 1000000
		server_kill $s
		after 300
		server_again $s
		set c [server_client $s]
		assert_equal "" [$c get short]
		assert_equal 0 [$c exists short]
		assert_range 900000 1000000 [$c pttl long]
		wait_until 3000 {expr {[$c dbsize] == 1}}
	}
}

test "a big value is whole after kill -9" {
	on_server {
		set big [string repeat [random_bytes 10007] 2000]
		$c set big $big
		again kill
		assert {[$c get big] eq $big}
		$c setrange big 10000000 changed
		$c append big end
		again kill
		set expected [string replace $big 10000000 10000006 changed]end
		assert {[$c get big] eq $expected}
	}
}

test "SHUTDOWN of any kind loses nothing" {
	on_server {
		foreach how {{shutdown} {shutdown nosave} {shutdown save} {shutdown now force}} {
			$c set k $how
			$c incr n
			set digest [$c debug digest]
			$c -send {*}$how
			assert [$c -eof]
			assert [server_ended $s]
			$c -close
			server_again $s
			set c [server_client $s]
			assert_equal $digest [$c debug digest]
		}
	}
}

test "two servers on one pool: the second says so and ends" {
	on_server {
		$c set k v
		set pool [lindex [$c config get pool] 1]
		set port [server::free_port]
		assert [catch {
			exec timeout 20 $server::program --port $port --pool $pool --pool-medium $server::medium </dev/null 2>@1
		} out options]
		assert_equal 1 [lindex [dict get $options -errorcode] 2] $out
		assert_match "*in use*" $out
		assert_equal v [$c get k]
	}
}

test "the pool passes the offline check after a clean stop and after kill -9" {
	set tool [file join [file dirname $server::program] pool-check]
	if {![file executable $tool]} {
		fail "no $tool"
	}
	on_server {
		fill $c
		set pool [lindex [$c config get pool] 1]
		$c -close
		server_stop $s
		exec $tool $pool 2>@1
		server_again $s
		set c [server_client $s]
		$c set more data
		$c -close
		server_kill $s
		exec $tool $pool 2>@1
		server_again $s
		set c [server_client $s]
		assert_equal data [$c get more]
	}
}

test "opening does not depend on the number of keys" {
	on_server {
		$c set warm up
		again kill
		set d [server_client $s]
		for {set i 0} {$i < 200000} {incr i 100} {
			set words {}
			for {set j $i} {$j < $i + 100} {incr j} {
				lappend words key:$j value:$j
			}
			$d -send mset {*}$words
		}
		for {set i 0} {$i < 2000} {incr i} {
			assert_equal OK [$d -read]
		}
		$d -close
		$c -close
		server_kill $s
		set start [clock milliseconds]
		server_again $s
		set ms [expr {[clock milliseconds] - $start}]
		set c [server_client $s]
		assert_equal 200001 [$c dbsize]
		assert_equal value:123456 [$c get key:123456]
		assert_range 0 2500 $ms
	}
}
