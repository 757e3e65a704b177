# Keys as such: DEL, EXISTS, TYPE, RENAME, COPY, MOVE, RANDOMKEY, OBJECT, whole databases.

set not_integer "ERR value is not an integer or out of range"

test "DEL UNLINK EXISTS TOUCH TYPE" {
	r mset a 1 b 2 c 3 d [string repeat x 100000]
	assert_equal 4 [r exists a b a c none]
	assert_equal 2 [r touch a none b]
	assert_equal string [r type d]
	assert_raw "+none\r\n" type none
	assert_equal 2 [r del a b a none]
	assert_equal 2 [r unlink c d]
	assert_equal 0 [r dbsize]
	assert_error "ERR wrong number of arguments for 'del' command" {r del}
}

test "DEL of thousands of keys at once" {
	set keys {}
	for {set i 0} {$i < 5000} {incr i} {
		r -send set k:$i [string repeat v [expr {$i % 300}]]
		lappend keys k:$i
	}
	for {set i 0} {$i < 5000} {incr i} {
		r -read
	}
	assert_equal 5000 [r exists {*}$keys]
	assert_equal 2500 [r del {*}[lrange $keys 0 2499]]
	assert_equal 2500 [r unlink {*}$keys]
	assert_equal 0 [r dbsize]
}

test "RENAME and RENAMENX" {
	assert_error "ERR no such key" {r rename a b}
	assert_error "ERR no such key" {r renamenx a a}
	r set a 1 ex 100
	r set b 2
	assert_equal 0 [r renamenx a b]
	assert_equal OK [r rename a b]
	assert_equal 1 [r get b]
	assert_range 99 100 [r ttl b]
	assert_equal 0 [r exists a]
	assert_equal OK [r rename b b]
	assert_equal 0 [r renamenx b b]
	assert_equal 1 [r renamenx b a]
	assert_equal 1 [r dbsize]
	# Long values move without being copied; the old target goes.
	set long [random_bytes 200000 4]
	r mset x $long y [random_bytes 200000 5]
	assert_equal OK [r rename x y]
	assert_equal $long [r get y]
	# An expired target is no target.
	r set t 1 px 1
	after 20
	assert_equal 1 [r renamenx a t]
}

test "COPY within and between databases" {
	assert_equal 0 [r copy none b]
	assert_error "ERR source and destination objects are the same" {r copy none none}
	r set a 1 ex 100
	assert_equal 1 [r copy a b]
	assert_equal 1 [r get b]
	assert_range 99 100 [r ttl b]
	assert_equal 0 [r copy a b]
	r set a 2
	assert_equal 1 [r copy a b replace]
	assert_equal -1 [r ttl b]
	assert_equal 1 [r copy a a DB 5]
	assert_equal 0 [r copy a a DB 5]
	assert_equal 1 [r copy a a REPLACE DB 5]
	assert_error "ERR DB index is out of range" {r copy a b db 16}
	assert_error $not_integer {r copy a b db x}
	assert_error "ERR syntax error" {r copy a b onto}
	# The copy is one of its own.
	set long [random_bytes 100000 6]
	r set long $long
	r copy long twin
	r setrange long 50000 changed
	r append twin x
	assert_equal ${long}x [r get twin]
	assert_equal [string replace $long 50000 50006 changed] [r get long]
	r select 5
	assert_equal 2 [r get a]
	r select 0
}

test "MOVE" {
	assert_equal 0 [r move a 1]
	r set a 1 ex 100
	assert_equal 1 [r move a 1]
	assert_equal 0 [r exists a]
	r set a 2
	assert_equal 0 [r move a 1]
	assert_error "ERR source and destination objects are the same" {r move a 0}
	assert_error "ERR DB index is out of range" {r move a 16}
	assert_error $not_integer {r move a x}
	assert_error "ERR value is out of range, value must between -2147483648 and 2147483647" {r move a 99999999999}
	r select 1
	assert_equal 1 [r get a]
	assert_range 99 100 [r ttl a]
	r select 0
}

test "FLUSHDB FLUSHALL DBSIZE SWAPDB" {
	foreach db {0 1 2} {
		r select $db
		for {set i 0} {$i <= $db} {incr i} {
			r set k$i $db
		}
		assert_equal [expr {$db + 1}] [r dbsize]
	}
	assert_equal OK [r swapdb 1 2]
	assert_equal 2 [r dbsize]
	assert_equal 1 [r get k0]
	assert_equal OK [r swapdb 2 2]
	assert_equal OK [r flushdb SYNC]
	assert_equal 0 [r dbsize]
	r select 1
	assert_equal 3 [r dbsize]
	assert_equal OK [r flushall ASYNC]
	foreach db {0 1 2} {
		r select $db
		assert_equal 0 [r dbsize]
	}
	r select 0
	assert_error "ERR syntax error" {r flushall now}
	assert_error "ERR syntax error" {r flushdb sync async}
	assert_error "ERR invalid first DB index" {r swapdb x 0}
	assert_error "ERR invalid second DB index" {r swapdb 0 x}
	assert_error "ERR DB index is out of range" {r swapdb 0 16}
	assert_equal OK [r set k 1]
}

test "FLUSHALL while the keys of the last one are still being given back" {
	for {set round 0} {$round < 5} {incr round} {
		for {set i 0} {$i < 2000} {incr i} {
			r -send set k:$i [string repeat $round 200]
		}
		for {set i 0} {$i < 2000} {incr i} {
			r -read
		}
		assert_equal 2000 [r dbsize]
		assert_equal [string repeat $round 200] [r get k:1999]
		r flushall
		assert_equal 0 [r dbsize]
		assert_equal "" [r get k:7]
	}
}

test "RANDOMKEY" {
	assert_raw "\$-1\r\n" randomkey
	for {set i 0} {$i < 20} {incr i} {
		r set k$i x
	}
	array set seen {}
	for {set i 0} {$i < 2000 && [array size seen] < 20} {incr i} {
		set seen([r randomkey]) 1
	}
	assert_equal 20 [array size seen]
	foreach key [array names seen] {
		r pexpire $key 1
	}
	r set live 1
	after 20
	assert_equal live [r randomkey]
}

test "OBJECT" {
	assert_raw "\$-1\r\n" object encoding none
	assert_raw "\$-1\r\n" object freq none
	foreach {value encoding} {
		1 int -5 int 9223372036854775807 int 9223372036854775808 embstr 1.5 embstr "" embstr 01 embstr
	} {
		r set a $value
		assert_equal $encoding [r object encoding a] $value
	}
	r set a [string repeat x 44]
	assert_equal embstr [r object encoding a]
	r set a [string repeat x 45]
	assert_equal raw [r object encoding a]
	assert_equal 1 [r object refcount a]
	assert_equal 0 [r object idletime a]
	after 1100
	assert_range 1 3 [r object idletime a]
	assert_equal -1 [r ttl a]
	assert_range 1 3 [r object idletime a]
	r get a
	assert_equal 0 [r object idletime a]
	assert_error "ERR An LFU maxmemory policy is not selected*" {r object freq a}
	assert_error "ERR unknown subcommand 'x'. Try OBJECT HELP." {r object x a}
	assert_error "ERR wrong number of arguments for 'object|encoding' command" {r object encoding}
	assert_match "OBJECT <subcommand> *" [lindex [r object help] 0]
}

test "keys that are longer than a pool can hold" -only perdure {
	set key [string repeat k 32769]
	assert_error "ERR key is longer than*" {r set $key v}
	assert_error "ERR key is longer than*" {r mset a 1 $key v}
	r set a 1
	assert_error "ERR key is longer than*" {r rename a $key}
	assert_error "ERR key is longer than*" {r copy a $key}
	assert_equal "" [r get $key]
	assert_equal 0 [r exists $key]
	r set [string range $key 1 end] v
	assert_equal v [r get [string range $key 1 end]]
}
