# media: pmem file
# MULTI EXEC DISCARD WATCH UNWATCH.

test "MULTI queues, EXEC runs all" {
	assert_equal OK [r multi]
	assert_equal QUEUED [r set a 1]
	assert_equal QUEUED [r incr a]
	assert_equal QUEUED [r get a]
	assert_equal QUEUED [r ping]
	assert_equal {OK 2 2 PONG} [r exec]
	assert_equal 2 [r get a]
}

test "an empty transaction" {
	r multi
	assert_raw "*0\r\n" exec
}

test "EXEC, DISCARD and nested MULTI out of place" {
	assert_error "ERR EXEC without MULTI" {r exec}
	assert_error "ERR DISCARD without MULTI" {r discard}
	r multi
	assert_error "ERR MULTI calls can not be nested" {r multi}
	assert_equal QUEUED [r set k v]
	assert_equal OK [list [r exec]]
}

test "DISCARD drops what was queued, and watches" {
	r set k before
	r watch k
	r multi
	r set k inside
	assert_equal OK [r discard]
	assert_equal before [r get k]
	set other [client]
	$other set k changed
	r multi
	assert_equal QUEUED [r ping]
	assert_equal PONG [r exec]
}

test "an error while queueing aborts EXEC" {
	foreach bad {{nosuchcommand a} {get} {config nonsense} {set k}} {
		r multi
		assert_equal QUEUED [r set k v]
		assert_error "ERR *" {r {*}$bad}
		assert_equal QUEUED [r set k w]
		assert_error "EXECABORT Transaction discarded because of previous errors." {r exec}
		assert_equal 0 [r exists k]
	}
	assert_error "ERR EXEC without MULTI" {r exec}
}

test "an error while running does not stop the others" {
	r set s text
	r multi
	r set a 1
	r incr s
	r set b 2
	r -send exec
	assert_equal {array {{status OK} {error {ERR value is not an integer or out of range}} {status OK}}} [r -typed]
	assert_equal {1 2} [r mget a b]
}

test "commands that may not be queued" {
	r multi
	assert_error "ERR WATCH inside MULTI is not allowed" {r watch k}
	assert_equal QUEUED [r ping]
	assert_equal PONG [r exec]
}

test "UNWATCH and SELECT inside a transaction" {
	r multi
	r select 5
	r set k five
	r unwatch
	assert_equal {OK OK OK} [r exec]
	assert_equal five [r get k]
	r select 0
	assert_equal "" [r get k]
}

test "WATCH: a change by another client aborts" {
	set other [client]
	foreach change {
		{set k new} {append k x} {del k} {incrby n 1} {rename k2 k} {expire k 1000} {pexpireat k 1} {flushall} {flushdb}
		{setrange k 0 z} {setbit k 0 1} {append k ""} {getdel k} {move k 1} {copy k2 k replace} {swapdb 0 1} {set k old}
	} {
		r flushall
		r mset k old n 5 k2 two
		r watch k n
		$other {*}$change
		r multi
		r set result ran
		r -send exec
		assert_equal {nullarray {}} [r -typed] "after $change"
		assert_equal 0 [r exists result]
	}
}

test "WATCH: what does not change the key does not abort" {
	set other [client]
	foreach harmless {
		{get k} {set other 1} {del nosuch} {expire nosuch 10} {persist k} {setnx k x} {set k x nx} {touch k} {exists k} {type k} {ttl k}
		{object encoding k} {strlen k} {setbit k 7 1} {select 3} {getrange k 0 1} {expire k 10 xx} {msetnx k 1 z 2}
	} {
		r flushall
		r set k old
		r watch k
		$other {*}$harmless
		$other select 0
		r multi
		r set result ran
		assert_equal OK [r exec] "after $harmless"
	}
}

test "WATCH: the client's own change aborts too" {
	r set k 1
	r watch k
	r set k 2
	r multi
	r ping
	assert_equal "" [r exec]
}

test "WATCH ends with EXEC" {
	set other [client]
	r watch k
	$other set k 1
	r multi
	r ping
	assert_equal "" [r exec]
	r multi
	r ping
	assert_equal PONG [r exec]
}

test "UNWATCH forgets the change" {
	set other [client]
	r watch a b
	$other set a 1
	assert_equal OK [r unwatch]
	r multi
	r ping
	assert_equal PONG [r exec]
}

test "WATCH is of the selected database" {
	set other [client]
	r select 1
	r set k one
	r watch k
	$other set k zero
	r multi
	r get k
	assert_equal one [r exec]
	r watch k
	$other select 1
	$other set k changed
	r multi
	r get k
	assert_equal "" [r exec]
	# SELECT between WATCH and EXEC does not move the watch.
	r watch k
	r select 2
	$other set k again
	r multi
	r ping
	assert_equal "" [r exec]
}

test "WATCH: expiry of a watched key aborts" {
	r set k v px 40
	r watch k
	after 80
	r multi
	r ping
	assert_equal "" [r exec]
}

test "WATCH: a key already expired when watched does not abort" {
	r debug set-active-expire 0
	r set k v px 1
	after 20
	r watch k
	r multi
	r ping
	assert_equal PONG [r exec]
	r debug set-active-expire 1
}

test "WATCH: a missing key that is created aborts; FLUSHALL of nothing does not" {
	set other [client]
	r watch nosuch
	$other flushall
	r multi
	r ping
	assert_equal PONG [r exec]
	r watch nosuch
	$other set nosuch 1
	r multi
	r ping
	assert_equal "" [r exec]
}

test "WATCH of the same key twice, and of many keys" {
	set other [client]
	r watch a a a
	assert_equal OK [r unwatch]
	set keys {}
	for {set i 0} {$i < 1000} {incr i} {
		lappend keys k$i
	}
	r watch {*}$keys
	$other set k777 x
	r multi
	r ping
	assert_equal "" [r exec]
	assert_error "ERR wrong number of arguments for 'watch' command" {r watch}
}

test "a transaction is seen whole or not at all" {
	set reader [client]
	set writer [client]
	for {set i 0} {$i < 300} {incr i} {
		$writer -write "MULTI\r\nSET a $i\r\nSET b $i\r\nSET c $i\r\nEXEC\r\n"
		$reader -send mget a b c
	}
	for {set i 0} {$i < 300} {incr i} {
		lassign [$reader -read] a b c
		assert {$a eq $b && $b eq $c} "saw $a $b $c"
		for {set j 0} {$j < 5} {incr j} {
			$writer -read
		}
	}
}

test "a pipelined transaction among others, cut in the middle" {
	set c [client]
	$c -write "MULTI\r\nSET x 1\r\nINC"
	set d [client]
	$d -write "SET x 5\r\n"
	assert_equal OK [$d -read]
	$c -write "R x\r\nEXEC\r\nGET x\r\n"
	assert_equal {OK QUEUED QUEUED} [list [$c -read] [$c -read] [$c -read]]
	assert_equal {OK 2} [$c -read]
	assert_equal 2 [$c -read]
}

test "ten thousand commands in a transaction" {
	set c [client]
	$c -send multi
	for {set i 0} {$i < 10000} {incr i} {
		$c -send set key:$i [string repeat v 50]$i
	}
	$c -send exec
	assert_equal OK [$c -read]
	for {set i 0} {$i < 10000} {incr i} {
		$c -read
	}
	assert_equal 10000 [llength [$c -read]]
	assert_equal 10000 [r dbsize]
	assert_equal [string repeat v 50]9999 [r get key:9999]
}

test "big values in a transaction" {
	set big [random_bytes 3000000]
	r multi
	r set a $big
	r get a
	r append a tail
	r strlen a
	assert_equal [list OK $big 3000004 3000004] [r exec]
}

test "a client that leaves in MULTI leaves nothing" {
	set c [client]
	$c watch k
	$c multi
	$c set k v
	$c -close
	assert_equal 0 [r exists k]
	assert_equal OK [r set k w]
}

test "QUIT in MULTI closes" {
	set c [client]
	$c multi
	assert_equal OK [$c quit]
	assert [$c -eof]
}

test "transactions in RESP3" {
	set c [client]
	$c hello 3
	$c watch k
	r set k 1
	$c multi
	$c get k
	$c -send exec
	assert_equal "_\r\n" [$c -raw]
	$c multi
	$c get nosuch
	$c config get maxclients
	$c -send exec
	assert_match "*2\r\n_\r\n%1\r\n*" [$c -raw]
}
