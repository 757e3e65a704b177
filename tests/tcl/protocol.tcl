# media: pmem file
# Bytes on the wire: well-formed, odd and malformed.

# Sends bytes on a connection of its own; the reply must be these bytes, then the server must close.
proc breaks {bytes reply} {
	set c [client]
	$c -write $bytes
	assert_equal $reply [$c -bytes [string length $reply]] "to [shown $bytes]"
	assert [$c -eof] "still open after [shown $bytes]"
	assert_equal PONG [r ping]
}

# The same, but the connection goes on.
proc answers {bytes reply} {
	set c [client]
	$c -write $bytes
	assert_equal $reply [$c -bytes [string length $reply]] "to [shown $bytes]"
	assert_equal marker [$c echo marker]
	$c -close
}

test "a command as an array of bulk strings" {
	answers "*1\r\n\$4\r\nPING\r\n" "+PONG\r\n"
	answers "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$5\r\na\r\nbc\r\n*2\r\n\$3\r\nGET\r\n\$1\r\nk\r\n" "+OK\r\n\$5\r\na\r\nbc\r\n"
}

test "inline commands, with CRLF and with LF alone" {
	answers "PING\r\n" "+PONG\r\n"
	answers "PING\n" "+PONG\r\n"
	answers "  ping   hello  \r\n" "\$5\r\nhello\r\n"
	answers "\r\n\n\r\nPING\r\n" "+PONG\r\n"
	answers "   \r\nPING\r\n" "+PONG\r\n"
}

test "inline commands with quotes and escapes" {
	answers "ECHO \"a b\"\r\n" "\$3\r\na b\r\n"
	answers "ECHO 'a \"b'\r\n" "\$4\r\na \"b\r\n"
	answers "ECHO 'it\\'s'\r\n" "\$4\r\nit's\r\n"
	answers "ECHO \"\\x41\\x00\\n\\r\\t\\a\\b\\\"\\q\"\r\n" "\$9\r\nA\x00\n\r\t\a\b\"q\r\n"
	answers "ECHO \"\"\r\n" "\$0\r\n\r\n"
	answers "ECHO \\x41\r\n" "\$4\r\n\\x41\r\n"
}

test "unbalanced quotes in an inline command end the connection" {
	breaks "ECHO \"a\r\n" "-ERR Protocol error: unbalanced quotes in request\r\n"
	breaks "ECHO 'a\r\n" "-ERR Protocol error: unbalanced quotes in request\r\n"
	breaks "ECHO \"a\"b\r\n" "-ERR Protocol error: unbalanced quotes in request\r\n"
}

test "an inline command without end is refused at 64 KiB" {
	breaks [string repeat x 70000] "-ERR Protocol error: too big inline request\r\n"
}

test "empty and negative arrays are skipped" {
	answers "*0\r\nPING\r\n" "+PONG\r\n"
	answers "*-1\r\nPING\r\n" "+PONG\r\n"
	answers "*-10\r\n*1\r\n\$4\r\nPING\r\n" "+PONG\r\n"
}

test "malformed array lengths end the connection" {
	set e "-ERR Protocol error: invalid multibulk length\r\n"
	breaks "*abc\r\n" $e
	breaks "*\r\n" $e
	breaks "*3000000000\r\n" $e
	breaks "*20000000000000000000000\r\n" $e
	breaks "*1.5\r\n" $e
	breaks "*1 \r\n" $e
	breaks "*+1\r\n" $e
	breaks "*[string repeat 1 70000]" "-ERR Protocol error: too big mbulk count string\r\n"
}

test "malformed bulk lengths end the connection" {
	set e "-ERR Protocol error: invalid bulk length\r\n"
	breaks "*1\r\n\$-1\r\n" $e
	breaks "*1\r\n\$abc\r\n" $e
	breaks "*1\r\n\$\r\n" $e
	breaks "*2\r\n\$4\r\nECHO\r\n\$536870913\r\n" $e
	breaks "*2\r\n\$4\r\nECHO\r\n\$99999999999999999999999\r\n" $e
	breaks "*1\r\n\$[string repeat 1 70000]" "-ERR Protocol error: too big bulk count string\r\n"
}

test "something else where a bulk string must stand ends the connection" {
	breaks "*1\r\n!4\r\nPING\r\n" "-ERR Protocol error: expected '\$', got '!'\r\n"
	breaks "*1\r\n*1\r\n" "-ERR Protocol error: expected '\$', got '*'\r\n"
	breaks "*2\r\n\$4\r\nECHO\r\n:5\r\n" "-ERR Protocol error: expected '\$', got ':'\r\n"
	breaks "*1\r\n\r\n" "-ERR Protocol error: expected '\$', got ' '\r\n"
}

test "commands before a protocol error are answered" {
	breaks "PING\r\n*2\r\n\$4\r\nECHO\r\n\$2\r\nhi\r\n*x\r\nPING\r\n" \
		"+PONG\r\n\$2\r\nhi\r\n-ERR Protocol error: invalid multibulk length\r\n"
}

test "what follows an array is read as a new command, whatever it is" {
	answers "*1\r\n\$4\r\nPING\r\nECHO x\r\n*1\r\n\$4\r\nPING\r\n" "+PONG\r\n\$1\r\nx\r\n+PONG\r\n"
}

test "commands arriving byte by byte" {
	set c [client]
	set bytes "*3\r\n\$3\r\nSET\r\n\$3\r\nkey\r\n\$6\r\nva\r\nue\r\nGET key\r\n*2\r\n\$3\r\nGET\r\n\$3\r\nkey\r\n"
	foreach b [split $bytes ""] {
		$c -write $b
		after 1
	}
	assert_equal OK [$c -read]
	assert_equal "va\r\nue" [$c -read]
	assert_equal "va\r\nue" [$c -read]
}

test "commands cut at every place" {
	set bytes "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$12\r\n0123\r\n789012\r\nPING\r\n"
	for {set cut 1} {$cut < [string length $bytes]} {incr cut} {
		set c [client]
		$c -write [string range $bytes 0 [expr {$cut - 1}]]
		after 2
		$c -write [string range $bytes $cut end]
		assert_equal OK [$c -read]
		assert_equal PONG [$c -read]
		$c -close
	}
	assert_equal "0123\r\n789012" [r get k]
}

test "a client that leaves in the middle of a command harms nobody" {
	foreach part {"*3\r\n\$3\r\nSET\r\n" "*3\r\n\$3\r\nSET\r\n\$100\r\nabc" "SET k" "*" "\$" "*1000000\r\n"} {
		set c [client]
		$c -write $part
		$c -close
	}
	for {set i 0} {$i < 50} {incr i} {
		set c [client]
		$c -write [string repeat "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$3\r\nabc\r\n*2\r\n\$3\r\nGET\r\n\$1\r\nk\r\n" 200]
		$c -close
	}
	assert_equal PONG [r ping]
}

test "unknown commands name what came, shortened" {
	assert_error "ERR unknown command 'nosuch', with args beginning with: " {r nosuch}
	assert_error "ERR unknown command 'nosuch', with args beginning with: 'a' 'b c' " {r nosuch a "b c"}
	assert_error "ERR unknown command '', with args beginning with: " {r ""}
	set long [string repeat x 300]
	r -send $long $long second
	set e [lindex [r -typed] 1]
	assert_equal "ERR unknown command '[string repeat x 128]', with args beginning with: '[string repeat x 128]' " $e
	assert_error "ERR unknown command 'a  b', with args*" {r "a\r\nb"}
}

test "the wrong number of arguments" {
	assert_error "ERR wrong number of arguments for 'get' command" {r get}
	assert_error "ERR wrong number of arguments for 'get' command" {r GET a b}
	assert_error "ERR wrong number of arguments for 'set' command" {r set a}
	assert_error "ERR wrong number of arguments for 'config|get' command" {r config get}
}

test "command names in any case" {
	assert_equal OK [r SeT Key Value]
	assert_equal Value [r gEt Key]
}

test "keys and values of any bytes" {
	set all ""
	for {set i 0} {$i < 256} {incr i} {
		append all [format %c $i]
	}
	assert_equal OK [r set $all $all$all]
	assert_equal $all$all [r get $all]
	assert_equal OK [r set "" empty]
	assert_equal empty [r get ""]
	assert_equal OK [r set k ""]
	assert_raw "\$0\r\n\r\n" get k
}

test "a hundred thousand commands in one write" {
	set c [client]
	$c -write [string repeat "*2\r\n\$4\r\nINCR\r\n\$1\r\nn\r\n" 100000]
	for {set i 1} {$i <= 100000} {incr i} {
		set last [$c -read]
		if {$last != $i} {
			fail "reply $i was $last"
		}
	}
	assert_equal 100000 [r get n]
}

test "a command of a hundred thousand arguments" {
	set words {}
	for {set i 0} {$i < 50000} {incr i} {
		lappend words key:$i value:$i
	}
	assert_equal OK [r mset {*}$words]
	assert_equal 50000 [r dbsize]
	assert_equal value:49999 [r get key:49999]
	set keys {}
	set values {}
	for {set i 0} {$i < 50000} {incr i} {
		lappend keys key:$i
		lappend values value:$i
	}
	assert_equal $values [r mget {*}$keys]
	assert_equal 50000 [r del {*}$keys]
}

test "big values there and back" {
	foreach n {16383 16384 16385 65535 65536 1048576 20000003} {
		set v [random_bytes 4096 $n]
		set v [string range [string repeat $v [expr {$n / 4096 + 1}]] 0 [expr {$n - 1}]]
		assert_equal OK [r set big $v]
		assert_equal $n [r strlen big]
		assert [expr {[r get big] eq $v}] "$n bytes differ"
	}
}

test "big values between small commands in one pipeline" {
	set c [client]
	set v [string repeat [random_bytes 1000] 3000]
	for {set i 0} {$i < 5} {incr i} {
		$c -send set big:$i $v
		$c -send get big:$i
		$c -send ping
	}
	for {set i 0} {$i < 5} {incr i} {
		assert_equal OK [$c -read]
		assert [expr {[$c -read] eq $v}]
		assert_equal PONG [$c -read]
	}
}

test "a reader that does not read holds up nobody" {
	r set big [string repeat x 1000000]
	set slow [client]
	for {set i 0} {$i < 100} {incr i} {
		$slow -send get big
	}
	set start [clock milliseconds]
	for {set i 0} {$i < 200} {incr i} {
		assert_equal PONG [r ping]
		assert_equal OK [r set k$i v]
	}
	assert_range 0 5000 [expr {[clock milliseconds] - $start}]
	r set big small
	# Each answer is what the key held when its turn came: the old value, from some point on the new one.
	set changed 0
	for {set i 0} {$i < 100} {incr i} {
		set value [$slow -read]
		if {$value eq "small"} {
			set changed 1
		} else {
			assert {!$changed && [string length $value] == 1000000} "answer $i has [string length $value] bytes"
		}
	}
	assert_equal small [$slow get big]
}

test "HTTP is turned away" {
	foreach line {"POST / HTTP/1.1" "Host: example.org" "post /"} {
		set c [client]
		$c -write "$line\r\nSET stolen 1\r\n\r\n"
		assert [$c -eof] "$line was answered"
	}
	assert_equal 0 [r exists stolen]
}

test "hundreds of clients at once" {
	set clients {}
	for {set i 0} {$i < 400} {incr i} {
		lappend clients [client]
	}
	foreach c $clients {
		$c -send incr n
	}
	set seen {}
	foreach c $clients {
		lappend seen [$c -read]
	}
	assert_equal 400 [r get n]
	assert_equal 400 [llength [lsort -unique $seen]]
}

test "RESP3 values after HELLO 3" {
	set c [client]
	$c hello 3
	$c -send get nothing
	assert_equal "_\r\n" [$c -raw]
	$c -send config get maxclients
	assert_match "%1\r\n\$10\r\nmaxclients\r\n\$*" [$c -raw]
	$c -send mget a b
	assert_equal "*2\r\n_\r\n_\r\n" [$c -raw]
	$c hello 2
	$c -send get nothing
	assert_equal "\$-1\r\n" [$c -raw]
}

with_server {proto-max-bulk-len 1mb} {
	test "proto-max-bulk-len bounds an argument" {
		assert_equal OK [r set k [string repeat x 1048576]]
		breaks "*2\r\n\$4\r\nECHO\r\n\$1048577\r\n" "-ERR Protocol error: invalid bulk length\r\n"
		assert_equal OK [r config set proto-max-bulk-len 2mb]
		answers "*2\r\n\$4\r\nECHO\r\n\$1048577\r\n[string repeat y 1048577]\r\n" \
			"\$1048577\r\n[string repeat y 1048577]\r\n"
	}
}

with_server {requirepass secret} {
	test "before authentication arguments are few and short" {
		set c [client]
		$c -write "*11\r\n"
		assert_equal "-ERR Protocol error: unauthenticated multibulk length\r\n" [$c -raw]
		assert [$c -eof]
		set c [client]
		$c -write "*2\r\n\$4\r\nECHO\r\n\$16385\r\n"
		assert_equal "-ERR Protocol error: unauthenticated bulk length\r\n" [$c -raw]
		assert [$c -eof]
		r auth secret
	}
}

with_server {client-query-buffer-limit 1mb} {
	test "client-query-buffer-limit ends a client whose command does not fit" {
		assert_equal OK [r set k [string repeat x 900000]]
		set c [client]
		catch {$c -write "*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$4000000\r\n[string repeat x 3000000]"}
		assert [$c -eof]
		assert_equal 900000 [r strlen k]
		assert_equal PONG [r ping]
	}
}

with_server {client-output-buffer-limit {normal 1mb 0 0}} {
	test "client-output-buffer-limit ends a client that does not read" {
		r set big [string repeat x 300000]
		set c [client]
		for {set i 0} {$i < 200} {incr i} {
			catch {$c -send get big}
		}
		wait_until 10000 {
			catch {r client list} list
			expr {[llength [split [string trim $list] \n]] == 1}
		}
		$c -close
	}
}

with_server {maxclients 5} {
	test "maxclients turns the next client away with a reason" {
		assert_equal PONG [r ping]
		set kept {}
		for {set i 0} {$i < 4} {incr i} {
			lappend kept [client]
			assert_equal PONG [[lindex $kept end] ping]
		}
		set c [client]
		assert_equal "-ERR max number of clients reached\r\n" [$c -raw]
		assert [$c -eof]
		[lindex $kept 0] -close
		wait_until 5000 {
			set c [client]
			expr {![catch {$c ping}]}
		}
		assert_equal 5 [config_get maxclients]
		assert_equal OK [r config set maxclients 50]
		for {set i 0} {$i < 20} {incr i} {
			assert_equal PONG [[client] ping]
		}
	}
}

with_server {timeout 1} {
	test "timeout closes idle clients only" {
		set idle [client]
		assert_equal PONG [$idle ping]
		set start [clock milliseconds]
		while {[clock milliseconds] - $start < 2500} {
			assert_equal PONG [r ping]
			after 100
		}
		assert [$idle -eof]
	}
}
