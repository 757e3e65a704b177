# KEYS and SCAN.

# All names that a whole SCAN tells, with these options.
proc scan_all {args} {
	set cursor 0
	set names {}
	set calls 0
	while 1 {
		lassign [r scan $cursor {*}$args] cursor found
		lappend names {*}$found
		incr calls
		if {$cursor == 0} {
			return [lsort -unique $names]
		}
		assert {$calls < 100000} "SCAN does not end"
	}
}

proc fill {n {prefix key:}} {
	for {set i 0} {$i < $n} {incr i} {
		r -send set $prefix$i $i
	}
	for {set i 0} {$i < $n} {incr i} {
		r -read
	}
}

test "KEYS with patterns" {
	assert_equal {} [r keys *]
	r mset one 1 two 2 three 3 four 4 "sp ace" 5 {br[ack} 6
	assert_same_set {one two three four "sp ace" {br[ack}} [r keys *]
	assert_equal one [r keys o*]
	assert_same_set {two three} [r keys t*]
	assert_equal two [r keys {t[v-x]o}]
	assert_same_set {one four} [r keys {[fo]*[er]}]
	assert_same_set {one four "sp ace" {br[ack}} [r keys {[^t]*}]
	assert_equal {{br[ack}} [r keys {br\[*}]
	assert_equal four [r keys f??r]
	assert_equal {} [r keys ""]
	assert_equal {} [r keys ONE]
}

test "a hostile pattern does not stop the server" {
	r set [string repeat a 200] x
	set start [clock milliseconds]
	assert_equal {} [r keys [string repeat a* 100]b]
	assert_equal {} [lindex [r scan 0 match [string repeat *a 150]b] 1]
	assert {[clock milliseconds] - $start < 2000}
}

test "SCAN's arguments" {
	r mset a 1 b 2
	assert_equal 0 [lindex [r scan 0] 0]
	assert_same_set {a b} [lindex [r scan 0] 1]
	assert_equal a [lindex [r scan 0 MATCH a] 1]
	assert_same_set {a b} [lindex [r scan 0 type string count 100] 1]
	assert_equal {} [lindex [r scan 0 type zset] 1]
	assert_equal {} [lindex [r scan 0 type nosuchtype] 1]
	assert_error "ERR invalid cursor" {r scan x}
	assert_error "ERR invalid cursor" {r scan 0x}
	assert_error "ERR invalid cursor" {r scan 99999999999999999999}
	assert_error "ERR syntax error" {r scan 0 count 0}
	assert_error "ERR syntax error" {r scan 0 count -5}
	assert_error "ERR value is not an integer or out of range" {r scan 0 count x}
	assert_error "ERR syntax error" {r scan 0 match}
	assert_error "ERR syntax error" {r scan 0 backwards yes}
	# Any number is a cursor.
	foreach cursor {1 12345 9007199254740993 18446744073709551615} {
		assert_equal 2 [llength [r scan $cursor]]
	}
}

test "a whole SCAN tells every key, whatever COUNT" {
	fill 3000
	set want {}
	for {set i 0} {$i < 3000} {incr i} {
		lappend want key:$i
	}
	set want [lsort $want]
	foreach count {1 10 1000 100000} {
		assert_equal $want [scan_all count $count]
	}
	assert_equal 100 [llength [scan_all match key:1?? count 100]]
	assert_equal 3000 [llength [scan_all type string count 500]]
	assert_equal 0 [llength [scan_all type list count 500]]
}

test "cursors are safe for clients with 53-bit numbers" -only perdure {
	fill 20000
	set cursor 0
	while 1 {
		lassign [r scan $cursor count 500] cursor
		assert {$cursor < (1 << 53)}
		if {$cursor == 0} break
	}
}

test "SCAN tells what stays while the database grows and shrinks" {
	fill 2000 stay:
	set cursor 0
	set seen {}
	set round 0
	while 1 {
		lassign [r scan $cursor count 20] cursor found
		lappend seen {*}$found
		if {$cursor == 0} break
		if {$round % 40 < 20} {
			fill 100 come:$round:
		} else {
			set old [expr {$round - 20}]
			set names {}
			for {set i 0} {$i < 100} {incr i} {
				lappend names come:$old:$i
			}
			r del {*}$names
		}
		incr round
		assert {$round < 3000}
	}
	set stayed [lsearch -all -inline [lsort -unique $seen] stay:*]
	assert_equal 2000 [llength $stayed]
}

test "SCAN in another database, and of one that is empty" {
	fill 100
	r select 3
	assert_equal {0 {}} [r scan 0]
	r set x 1
	assert_equal x [scan_all]
	r select 0
	assert_equal 100 [llength [scan_all]]
}
