# Bit commands over the wire, against the same computed in Tcl.

set bad_offset "ERR bit offset is not an integer or out of range"

# The bits of a string as a string of 0 and 1.
proc bits_of {s} {
	binary scan $s B* bits
	return $bits
}

test "SETBIT and GETBIT" {
	set bits [string repeat 0 2000]
	expr {srand(11)}
	for {set i 0} {$i < 500} {incr i} {
		set at [expr {int(rand() * 2000)}]
		set on [expr {rand() < 0.6}]
		assert_equal [string index $bits $at] [r setbit a $at $on]
		set bits [string replace $bits $at $at $on]
	}
	set n [expr {[r strlen a] * 8}]
	assert_equal [string range $bits 0 [expr {$n - 1}]] [bits_of [r get a]]
	for {set at 0} {$at < 2010} {incr at 67} {
		assert_equal [expr {$at < 2000 ? [string index $bits $at] : 0}] [r getbit a $at]
	}
	assert_equal 0 [r getbit none 5]
	r set n 12
	assert_equal 1 [r getbit n 2]
	assert_error $bad_offset {r setbit a -1 1}
	assert_error $bad_offset {r setbit a x 1}
	assert_error $bad_offset {r setbit a 4294967296 1}
	assert_error $bad_offset {r getbit a 4294967296}
	assert_error "ERR bit is not an integer or out of range" {r setbit a 0 2}
	assert_error "ERR bit is not an integer or out of range" {r setbit a 0 x}
}

test "the last bit that a string can have" {
	assert_equal 0 [r setbit far 4294967295 1]
	assert_equal 536870912 [r strlen far]
	assert_equal 1 [r bitcount far]
	assert_equal 4294967295 [r bitpos far 1]
	assert_equal 1 [r getbit far 4294967295]
	assert_error "ERR string exceeds maximum allowed size (proto-max-bulk-len)" {r append far x}
	r del far
}

test "BITCOUNT and BITPOS of ranges in bytes and bits" {
	foreach n {1 2 7 40 3000} {
		set value [random_bytes $n $n]
		set bits [bits_of $value]
		r set a $value
		assert_equal [string length [string map {0 ""} $bits]] [r bitcount a]
		assert_equal [string first 1 $bits] [r bitpos a 1]
		expr {srand($n)}
		for {set i 0} {$i < 60} {incr i} {
			set from [expr {int(rand() * $n * 8)}]
			set to [expr {$from + int(rand() * ($n * 8 - $from))}]
			set part [string range $bits $from $to]
			assert_equal [string length [string map {0 ""} $part]] [r bitcount a $from $to bit]
			assert_equal [string length [string map {0 ""} $part]] [r bitcount a [expr {$from - $n * 8}] [expr {$to - $n * 8}] bit]
			foreach bit {0 1} {
				set at [string first $bit $part]
				assert_equal [expr {$at < 0 ? -1 : $at + $from}] [r bitpos a $bit $from $to bit]
			}
			set from [expr {$from / 8}]
			set to [expr {$to / 8}]
			set part [string range $bits [expr {$from * 8}] [expr {$to * 8 + 7}]]
			assert_equal [string length [string map {0 ""} $part]] [r bitcount a $from $to]
			set at [string first 1 $part]
			assert_equal [expr {$at < 0 ? -1 : $at + $from * 8}] [r bitpos a 1 $from $to byte]
		}
	}
}

test "BITCOUNT and BITPOS at the edges" {
	assert_equal 0 [r bitcount none]
	assert_equal 0 [r bitpos none 0]
	assert_equal -1 [r bitpos none 1]
	r set ones [string repeat \xff 20000]
	assert_equal 160000 [r bitcount ones]
	assert_equal 160000 [r bitpos ones 0]
	assert_equal 160000 [r bitpos ones 0 5]
	assert_equal -1 [r bitpos ones 0 5 -1]
	assert_equal -1 [r bitpos ones 0 30000]
	r set zeros [string repeat \0 20000]
	assert_equal 0 [r bitcount zeros]
	assert_equal -1 [r bitpos zeros 1]
	assert_equal 0 [r bitcount ones 5 4]
	assert_equal 0 [r bitcount ones -1 -5]
	assert_equal 160000 [r bitcount ones -9223372036854775808 9223372036854775807]
	assert_error "ERR syntax error" {r bitcount ones 0}
	assert_error "ERR syntax error" {r bitcount ones 0 1 byte x}
	assert_error "ERR syntax error" {r bitpos ones 0 0 1 nibble}
	assert_error "ERR The bit argument must be 1 or 0." {r bitpos ones 2}
}

test "BITOP of strings of unequal length" {
	set lengths {0 1 8 33 500 9000 40000}
	foreach n $lengths {
		r set s$n [random_bytes $n [expr {$n + 5}]]
	}
	foreach {x y} {0 8 1 8 33 8 500 33 9000 500 40000 9000 40000 40000} {
		set a [random_bytes $x [expr {$x + 5}]]
		set b [random_bytes $y [expr {$y + 5}]]
		set n [expr {max($x, $y)}]
		binary scan $a[string repeat \0 [expr {$n - $x}]] cu* av
		binary scan $b[string repeat \0 [expr {$n - $y}]] cu* bv
		foreach {op expression} {and {$p & $q} or {$p | $q} xor {$p ^ $q}} {
			set want {}
			foreach p $av q $bv {
				lappend want [expr $expression]
			}
			assert_equal $n [r bitop $op d s$x s$y]
			assert_equal [binary format c* $want] [r get d] "$op $x $y"
		}
		assert_equal $x [r bitop not d s$x]
		if {$x} {
			set want {}
			foreach p [lrange $av 0 $x-1] {
				lappend want [expr {255 - $p}]
			}
			assert_equal [binary format c* $want] [r get d]
		}
	}
}

test "BITOP onto one of its sources, and onto nothing" {
	set a [random_bytes 50000 1]
	r set a $a ex 100
	r set b ""
	assert_equal 50000 [r bitop xor a a b]
	assert_equal $a [r get a]
	assert_equal -1 [r ttl a]
	assert_equal 50000 [r bitop not a a]
	assert_equal 50000 [r bitop not a a]
	assert_equal $a [r get a]
	assert_equal 50000 [r bitop xor a a a]
	assert_equal 0 [r bitcount a]
	assert_equal 0 [r bitop or a none none]
	assert_equal 0 [r exists a]
	assert_error "ERR syntax error" {r bitop nand d a}
	assert_error "ERR BITOP NOT must be called with a single source key." {r bitop not d a b}
}

# Signed or unsigned number in so many bits from a bit on.
proc field {bits type at} {
	set n [string range $type 1 end]
	set part [string range $bits$::zeros $at [expr {$at + $n - 1}]]
	set v [expr 0b$part]
	if {[string index $type 0] eq "i" && [string index $part 0]} {
		set v [expr {$v - (1 << $n)}]
	}
	return $v
}
set zeros [string repeat 0 200]

test "BITFIELD reads and writes every width" {
	set value [random_bytes 40 8]
	r set a $value
	set bits [bits_of $value]
	expr {srand(2)}
	for {set n 1} {$n <= 64} {incr n} {
		foreach sign {i u} {
			if {$sign eq "u" && $n == 64} continue
			set at [expr {int(rand() * 300)}]
			assert_equal [field $bits $sign$n $at] [r bitfield_ro a get $sign$n $at]
			set v [expr {int(rand() * 1e15) % (1 << ($n - ($sign eq "i")))}]
			assert_equal [list [field $bits $sign$n $at] $v] [r bitfield a set $sign$n $at $v get $sign$n $at]
			if {$at + $n > [string length $bits]} {
				append bits [string repeat 0 [expr {([r strlen a] * 8) - [string length $bits]}]]
			}
			set bits [string replace $bits $at [expr {$at + $n - 1}] [format %0${n}llb $v]]
			assert_equal $bits [bits_of [r get a]]
		}
	}
}

test "BITFIELD: # offsets, overflow, nothing written by reads" {
	assert_equal {0 5 5} [r bitfield a set u8 #3 5 get u8 24 get u8 #3]
	assert_equal 4 [r strlen a]
	assert_equal {250 4} [r bitfield a incrby u8 0 250 incrby u8 0 10]
	assert_equal {255 0} [r bitfield a overflow sat incrby u8 0 300 incrby u8 0 -300]
	r -send bitfield a overflow fail incrby u8 0 300 overflow wrap incrby u8 0 300
	assert_equal "*2\r\n\$-1\r\n:44\r\n" [r -raw]
	# SET answers what was there.
	assert_equal {44 -128 -128 -1} [r bitfield a set i8 0 127 incrby i8 0 1 set i8 0 -1 get i8 0]
	assert_equal {0 0} [r bitfield none get u8 0 get i64 1000]
	assert_equal 0 [r exists none]
	assert_error "ERR BITFIELD_RO only supports the GET subcommand" {r bitfield_ro a set u8 0 1}
	assert_error "ERR Invalid bitfield type.*" {r bitfield a get u64 0}
	assert_error "ERR Invalid OVERFLOW type specified" {r bitfield a overflow bounce}
	assert_error $bad_offset {r bitfield a get u8 -1}
	assert_error $bad_offset {r bitfield a get u8 #536870912}
}

test "bits of long values, restarted" -only perdure {
	r setbit a 3000000 1
	r setbit a 70000 1
	r bitfield a set u16 #10000 65535
	r bitop not b a
	set sha [r debug digest-value a b]
	server_kill [here]
	server_again [here]
	set c [client]
	assert_equal 18 [$c bitcount a]
	assert_equal [expr {3000008 - 18}] [$c bitcount b]
	assert_equal $sha [$c debug digest-value a b]
}
