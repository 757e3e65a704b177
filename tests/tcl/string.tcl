# String commands over the wire: values of all sizes and bytes, conditions, numbers, LCS.

set not_integer "ERR value is not an integer or out of range"
set too_long "ERR string exceeds maximum allowed size (proto-max-bulk-len)"

test "SET and GET of values around every border of size" {
	foreach n {0 1 19 20 21 43 44 45 127 128 511 512 513 1023 1024 4096 8175 8176 8177 16383 16384 16385 65536 1000000} {
		set value [random_bytes $n [expr {$n + 1}]]
		assert_equal OK [r set key:$n $value]
		assert_equal $value [r get key:$n] "of $n bytes"
		assert_equal $n [r strlen key:$n]
		# Over what was there, longer and shorter.
		assert_equal OK [r set one $value]
		assert_equal $value [r get one]
	}
	foreach n {1000000 16385 16384 8177 1024 512 44 20 0} {
		set value [random_bytes $n [expr {$n + 2}]]
		r set one $value
		assert_equal $value [r get one]
		assert_equal [random_bytes $n [expr {$n + 1}]] [r get key:$n]
	}
}

test "keys and values of any bytes" {
	set all ""
	for {set i 0} {$i < 256} {incr i} {
		append all [binary format c $i]
	}
	foreach key [list $all "" "\r\n" "\0" " " "\xff\xfe"] {
		r set $key "v$key"
		assert_equal "v$key" [r get $key]
		assert_equal 1 [r exists $key]
	}
	assert_equal 6 [r dbsize]
}

test "SET with conditions and GET" {
	assert_raw "\$-1\r\n" set a 1 xx
	assert_raw "\$-1\r\n" set a 1 nx get
	assert_equal 1 [r get a]
	assert_raw "\$-1\r\n" set a 2 nx
	assert_equal 1 [r set a 3 NX Get]
	assert_equal 1 [r set a 4 xx get]
	assert_equal 4 [r get a]
	assert_error "ERR syntax error" {r set a 1 nx xx}
	assert_error "ERR syntax error" {r set a 1 ex 1 px 1}
	assert_error "ERR syntax error" {r set a 1 keepttl ex 1}
	assert_error "ERR syntax error" {r set a 1 ex}
	assert_error "ERR syntax error" {r set a 1 sideways}
	assert_error $not_integer {r set a 1 ex soon}
	foreach {unit time} {ex 0 px -1 exat 0 pxat -5 ex 9223372036854775807 px 9223372036854775807 exat 9223372036854776} {
		assert_error "ERR invalid expire time in 'set' command" {r set a 1 $unit $time}
	}
	assert_equal 4 [r get a]
}

test "SET sets, keeps and removes the deadline" {
	r set a 1 ex 100
	assert_range 99 100 [r ttl a]
	r set a 2 keepttl
	assert_range 99 100 [r ttl a]
	r set a 3
	assert_equal -1 [r ttl a]
	r set a 1 px 50000
	assert_range 49000 50000 [r pttl a]
	r set a 1 exat 4102444800
	assert_equal 4102444800 [r expiretime a]
	r set a 1 pxat 4102444800123
	assert_equal 4102444800123 [r pexpiretime a]
	r setex a 100 v
	assert_range 99 100 [r ttl a]
	r psetex a 100000 v
	assert_range 99000 100000 [r pttl a]
	r set a v pxat 1
	assert_equal 0 [r exists a]
	assert_error "ERR invalid expire time in 'setex' command" {r setex a 0 v}
	assert_error "ERR invalid expire time in 'psetex' command" {r psetex a 0 v}
}

test "SETNX GETSET GETDEL GETEX" {
	assert_equal 1 [r setnx a 1]
	assert_equal 0 [r setnx a 2]
	r expire a 100
	assert_equal 1 [r getset a 2]
	assert_equal -1 [r ttl a]
	assert_equal 2 [r getex a ex 100]
	assert_range 99 100 [r ttl a]
	assert_equal 2 [r getex a]
	assert_range 99 100 [r ttl a]
	assert_equal 2 [r getex a persist]
	assert_equal -1 [r ttl a]
	assert_equal 2 [r getex a exat 4102444800]
	assert_equal 4102444800 [r expiretime a]
	assert_error "ERR syntax error" {r getex a keepttl}
	assert_error "ERR invalid expire time in 'getex' command" {r getex a px 0}
	assert_raw "\$-1\r\n" getex none px 0
	assert_equal 2 [r getex a pxat 1]
	assert_equal 0 [r exists a]
	assert_raw "\$-1\r\n" getdel a
	r set a x
	assert_equal x [r getdel a]
	assert_equal 0 [r dbsize]
}

test "MSET MGET MSETNX of many keys" {
	set pairs {}
	set keys {}
	set values {}
	for {set i 0} {$i < 3000} {incr i} {
		lappend pairs k$i [string repeat $i [expr {$i % 7 + 1}]]
		lappend keys k$i
		lappend values [string repeat $i [expr {$i % 7 + 1}]]
	}
	assert_equal OK [r mset {*}$pairs]
	assert_equal $values [r mget {*}$keys]
	assert_equal 3000 [r dbsize]
	assert_equal 0 [r msetnx new 1 k2999 2]
	assert_equal 0 [r exists new]
	assert_equal 1 [r msetnx new 1 newer 2]
	assert_equal {1 {} 2} [r mget new none newer]
	assert_equal OK [r mset a 1 a 2 a 3]
	assert_equal 3 [r get a]
	assert_error "ERR wrong number of arguments for 'mset' command" {r mset a 1 b}
	assert_error "ERR wrong number of arguments for 'msetnx' command" {r msetnx a 1 b}
	assert_equal 3000 [r del {*}$keys]
}

test "APPEND from nothing to a long value" {
	set want ""
	for {set i 0} {$i < 400} {incr i} {
		set piece [random_bytes [expr {$i % 97}] $i]
		append want $piece
		assert_equal [string length $want] [r append a $piece]
	}
	assert_equal $want [r get a]
	set piece [random_bytes 200000 5]
	append want $piece
	assert_equal [string length $want] [r append a $piece]
	assert_equal $want [r get a]
	assert_equal 2 [r append n 12]
	assert_equal int [r object encoding n]
	assert_equal 3 [r append n 3]
	assert_equal raw [r object encoding n]
	assert_equal 124 [r incr n]
	assert_equal int [r object encoding n]
}

test "GETRANGE and SUBSTR" {
	r set a "Hello, world"
	foreach {start end want} {
		0 4 Hello 7 -1 world -5 -1 world 0 0 H 0 -1 "Hello, world" 5 3 "" -1 -3 "" 100 200 "" -100 2 Hel 0 -100 H
		3 9223372036854775807 "lo, world" -9223372036854775808 1 He
	} {
		assert_equal $want [r getrange a $start $end] "$start $end"
		assert_equal $want [r substr a $start $end]
	}
	assert_raw "\$0\r\n\r\n" getrange none 0 -1
	assert_error $not_integer {r getrange a 0 x}
	set long [random_bytes 50000 9]
	r set long $long
	foreach {start end} {0 0 8175 8176 8176 8176 0 49999 12345 33333 -1 -1 -20000 -10000 16352 24528} {
		set from [expr {$start < 0 ? $start + 50000 : $start}]
		set to [expr {$end < 0 ? $end + 50000 : $end}]
		assert_equal [string range $long $from $to] [r getrange long $start $end]
	}
}

test "SETRANGE inside, at the end and beyond it" {
	r set a "Hello, world"
	assert_equal 12 [r setrange a 7 WORLD]
	assert_equal "Hello, WORLD" [r get a]
	assert_equal 14 [r setrange a 12 "!!"]
	assert_equal 20 [r setrange a 19 x]
	assert_equal "Hello, WORLD!!\0\0\0\0\0x" [r get a]
	assert_equal 6 [r setrange new 5 x]
	assert_equal "\0\0\0\0\0x" [r get new]
	assert_equal 0 [r setrange none 5 ""]
	assert_equal 0 [r exists none]
	assert_error "ERR offset is out of range" {r setrange a -1 x}
	assert_error $not_integer {r setrange a x x}
	assert_error $too_long {r setrange a 536870912 x}
	assert_error $too_long {r setrange a 9223372036854775807 x}
	set want [random_bytes 30000 3]
	r set long $want
	foreach {at n} {0 10 8170 20 16000 9000 29990 10 29990 20 40000 100} {
		set piece [random_bytes $n $at]
		while {[string length $want] < $at + $n} {
			append want "\0"
		}
		set want [string replace $want $at [expr {$at + $n - 1}] $piece]
		assert_equal [string length $want] [r setrange long $at $piece]
	}
	assert_equal $want [r get long]
}

test "a string of nearly nothing, 400 MB long" {
	assert_equal 419430401 [r setrange far 419430400 x]
	assert_equal "\0x" [r getrange far 419430399 419430400]
	assert_equal 419430401 [r strlen far]
	assert_equal 1 [r del far]
}

test "INCR DECR INCRBY DECRBY" {
	assert_equal 1 [r incr a]
	assert_equal -9 [r decrby a 10]
	assert_equal -8 [r incr a]
	assert_equal 2 [r incrby a 10]
	assert_equal 1 [r decr a]
	r set a 9223372036854775807
	assert_error "ERR increment or decrement would overflow" {r incr a}
	assert_error "ERR increment or decrement would overflow" {r incrby a 1}
	assert_equal 0 [r incrby a -9223372036854775807]
	assert_error "ERR decrement would overflow" {r decrby a -9223372036854775808}
	assert_error $not_integer {r incrby a 9223372036854775808}
	foreach bad {x "" " 1" "1 " 1.0 0x1 01 +1 9223372036854775808} {
		r set b $bad
		assert_error $not_integer {r incr b}
		assert_equal $bad [r get b]
	}
	r set c [string repeat 9 20000]
	assert_error $not_integer {r incr c}
	r set d 5 ex 100
	r incr d
	assert_range 99 100 [r ttl d]
}

test "INCRBYFLOAT" {
	assert_equal 10.5 [r incrbyfloat a 10.50]
	assert_equal 10.6 [r incrbyfloat a 0.1]
	assert_equal 5.6 [r incrbyfloat a -5]
	assert_equal 5200 [r incrbyfloat b 5.2e3]
	assert_equal 5200.00000000001 [r incrbyfloat b 1e-11]
	r set c 3
	assert_equal 3 [r incrbyfloat c 0]
	assert_equal embstr [r object encoding c]
	assert_equal 4 [r incr c]
	foreach bad {x "" " 1" nan 1e5000} {
		assert_error "ERR value is not a valid float" {r incrbyfloat c $bad}
	}
	assert_error "ERR increment would produce NaN or Infinity" {r incrbyfloat c inf}
	r set d x
	assert_error "ERR value is not a valid float" {r incrbyfloat d 1}
	r set e [string repeat 1 20000]
	assert_error "ERR value is not a valid float" {r incrbyfloat e 1}
	r set f 1.5 ex 100
	assert_equal 2.5 [r incrbyfloat f 1]
	assert_range 99 100 [r ttl f]
}

# What LCS answers, by the table of the textbook, ties as Redis breaks them.
proc lcs_of {a b} {
	set n [string length $a]
	set m [string length $b]
	for {set j 0} {$j <= $m} {incr j} {
		set t(0,$j) 0
	}
	for {set i 1} {$i <= $n} {incr i} {
		set t($i,0) 0
		for {set j 1} {$j <= $m} {incr j} {
			if {[string index $a $i-1] eq [string index $b $j-1]} {
				set t($i,$j) [expr {$t([expr {$i - 1}],[expr {$j - 1}]) + 1}]
			} else {
				set t($i,$j) [expr {max($t([expr {$i - 1}],$j), $t($i,[expr {$j - 1}]))}]
			}
		}
	}
	set out ""
	set i $n
	set j $m
	while {$i > 0 && $j > 0} {
		if {[string index $a $i-1] eq [string index $b $j-1]} {
			set out [string index $a $i-1]$out
			incr i -1
			incr j -1
		} elseif {$t([expr {$i - 1}],$j) > $t($i,[expr {$j - 1}])} {
			incr i -1
		} else {
			incr j -1
		}
	}
	return $out
}

test "LCS finds what the table finds" {
	for {set round 0} {$round < 30} {incr round} {
		set a ""
		set b ""
		expr {srand($round + 1)}
		for {set i 0} {$i < 20 + $round * 3} {incr i} {
			append a [string index "abcd" [expr {int(rand() * (2 + $round % 3))}]]
			append b [string index "abcd" [expr {int(rand() * (2 + $round % 3))}]]
		}
		append b $a
		r mset x $a y $b
		set want [lcs_of $a $b]
		assert_equal $want [r lcs x y]
		assert_equal [string length $want] [r lcs x y len]
	}
}

test "LCS with IDX" {
	r mset x rnatranslation y transfer z ""
	assert_equal trans [r lcs x y]
	assert_equal {matches {{{3 7} {0 4}}} len 5} [r lcs x y idx]
	assert_equal {matches {{{3 7} {0 4} 5}} len 5} [r lcs x y idx withmatchlen]
	assert_equal {matches {} len 5} [r lcs x y idx minmatchlen 6]
	assert_equal {matches {} len 0} [r lcs x z idx]
	assert_equal 0 [r lcs x none len]
	assert_raw "\$0\r\n\r\n" lcs none none
	assert_error "ERR If you want both the length and indexes, please just use IDX." {r lcs x y len idx}
	assert_error "ERR syntax error" {r lcs x y minmatchlen}
	assert_error $not_integer {r lcs x y idx minmatchlen x}
	r set big [string repeat a 20000]
	assert_error "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len" {r lcs big big len}
}

test "RESP3 answers of string commands" {
	r hello 3
	assert_raw "_\r\n" get none
	assert_raw "*2\r\n_\r\n_\r\n" mget none none
	r mset x ab y b
	assert_raw "%2\r\n\$7\r\nmatches\r\n*1\r\n*2\r\n*2\r\n:1\r\n:1\r\n*2\r\n:0\r\n:0\r\n\$3\r\nlen\r\n:1\r\n" lcs x y idx
	assert_raw "*1\r\n_\r\n" bitfield x overflow fail incrby u1 0 2
}

test "a value is answered as it was when its command ran, whatever follows in the pipeline" {
	set one [random_bytes 300000 1]
	set two [random_bytes 300000 2]
	r set a $one
	r -send get a
	r -send set a $two
	r -send getset a short
	r -send get a
	r -send append a er
	r -send getdel a
	assert_equal $one [r -read]
	assert_equal OK [r -read]
	assert_equal $two [r -read]
	assert_equal short [r -read]
	assert_equal 7 [r -read]
	assert_equal shorter [r -read]
}
