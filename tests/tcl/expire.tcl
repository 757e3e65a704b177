# Deadlines: EXPIRE and its relatives, what survives which command, and keys going when their time is over.

set not_integer "ERR value is not an integer or out of range"

test "EXPIRE PEXPIRE EXPIREAT PEXPIREAT and what TTL and EXPIRETIME tell" {
	assert_equal -2 [r ttl a]
	assert_equal -2 [r pexpiretime a]
	assert_equal 0 [r expire a 100]
	r set a 1
	assert_equal -1 [r pttl a]
	assert_equal -1 [r expiretime a]
	assert_equal 1 [r expire a 100]
	assert_range 99 100 [r ttl a]
	assert_equal 1 [r pexpire a 100000]
	assert_range 99000 100000 [r pttl a]
	assert_equal 1 [r expireat a 4102444800]
	assert_equal 4102444800 [r expiretime a]
	assert_equal 4102444800000 [r pexpiretime a]
	assert_equal 1 [r pexpireat a 4102444800499]
	assert_equal 4102444800 [r expiretime a]
	assert_equal 1 [r pexpireat a 4102444800500]
	assert_equal 4102444801 [r expiretime a]
	assert_equal 1 [r persist a]
	assert_equal 0 [r persist a]
	assert_equal -1 [r ttl a]
}

test "a time in the past deletes at once" {
	foreach {cmd time} {expire 0 expire -1 pexpire -9223372036854775808 expireat 1 pexpireat 0} {
		r set a 1
		assert_equal 1 [r $cmd a $time]
		assert_equal 0 [r dbsize]
	}
}

test "NX XX GT LT" {
	r set a 1
	assert_equal 0 [r expire a 100 xx]
	assert_equal 0 [r expire a 100 gt]
	assert_equal 1 [r expire a 100 lt]
	assert_equal 0 [r expire a 200 nx]
	assert_equal 0 [r expire a 50 gt]
	assert_equal 1 [r expire a 200 GT]
	assert_equal 0 [r expire a 300 LT]
	assert_equal 1 [r expire a 100 lt xx]
	assert_range 99 100 [r ttl a]
	assert_error "ERR Unsupported option zz" {r expire a 100 zz}
	assert_error "ERR NX and XX, GT or LT options at the same time are not compatible" {r expire a 1 nx lt}
	assert_error "ERR GT and LT options at the same time are not compatible" {r expire a 1 gt lt}
	assert_error $not_integer {r expire a 1.5}
	assert_error "ERR invalid expire time in 'expire' command" {r expire a 9223372036854775807}
	assert_error "ERR invalid expire time in 'pexpire' command" {r pexpire a 9223372036854775807}
	assert_error "ERR invalid expire time in 'expireat' command" {r expireat a -9223372036854775808}
	assert_range 99 100 [r ttl a]
}

test "which commands keep the deadline" {
	foreach {command keeps} {
		{incr a} 1 {append a 1} 1 {setrange a 0 9} 1 {setbit a 7 1} 1 {incrbyfloat a 1} 1 {bitfield a set u8 0 50} 1
		{getex a} 1 {set a 1 keepttl} 1 {rename a a} 1
		{set a 1} 0 {getset a 1} 0 {mset a 1} 0 {bitop not a a} 0 {persist a} 0 {getex a persist} 0
	} {
		r set a 5 ex 100
		r {*}$command
		if {$keeps} {
			assert_range 99 100 [r ttl a]
		} else {
			assert_equal -1 [r ttl a] "after $command"
		}
	}
}

test "a key is gone a moment after its deadline" {
	r set a 1 px 100
	r set b 1
	r pexpire b 100
	assert_equal 1 [r get a]
	after 150
	assert_equal "" [r get a]
	assert_equal 0 [r exists b]
	assert_equal -2 [r pttl b]
	assert_equal 1 [r setnx a 2]
	assert_equal -1 [r ttl a]
}

test "keys go without being touched" {
	for {set i 0} {$i < 1000} {incr i} {
		r -send set k:$i v px [expr {50 + $i % 100}]
	}
	for {set i 0} {$i < 1000} {incr i} {
		r -read
	}
	r set stays 1
	wait_until 3000 {expr {[r dbsize] == 1}}
	assert_equal stays [r keys *]
}

test "a deadline put off is the one that counts" {
	r set a 1 px 60
	r pexpire a 100000
	r set b 1 px 60
	r persist b
	r set c 1 px 60
	r set c 2
	after 150
	assert_equal 3 [r exists a b c]
	assert_range 90000 100000 [r pttl a]
}

test "a reader sees no expired key even when active expiry is off" {
	r debug set-active-expire 0
	r set a 1 px 1
	r set b 1 px 1
	after 30
	assert_equal 2 [r dbsize]
	assert_equal {} [r keys *]
	assert_equal {0 {}} [r scan 0]
	assert_equal "" [r randomkey]
	assert_equal 0 [r exists a]
	assert_equal "" [r get b]
	assert_equal 0 [r dbsize]
	r debug set-active-expire 1
}

test "the time stands still inside a transaction" {
	r set a 1 px 60
	r multi
	r get a
	for {set i 0} {$i < 10} {incr i} {
		r set filler:$i [string repeat x 1000]
	}
	r pttl a
	set answers [r exec]
	assert_equal 1 [lindex $answers 0]
	assert {[lindex $answers end] > 0}
}

test "deadlines survive a restart" -only perdure {
	r set a 1 ex 1000
	r set b 1 pxat 4102444800123
	r set c 1 px 200
	r set d 1
	server_kill [here]
	after 250
	server_again [here]
	set c [client]
	assert_range 990 1000 [$c ttl a]
	assert_equal 4102444800123 [$c pexpiretime b]
	assert_equal 0 [$c exists c]
	assert_equal -1 [$c ttl d]
	wait_until 3000 {expr {[$c dbsize] == 3}}
}
