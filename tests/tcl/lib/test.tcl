# Tests and assertions.
#
#   test "SET then GET gives it back" {
#       assert_equal OK [r set key value]
#       assert_equal value [r get key]
#   }
#
# `r` talks to the current server over the default connection. Before each test the server is emptied and the
# connection made anew where the last test lost it. `test name -only perdure {...}`: where Redis 7.0 differs.
# `with_server {directives} {tests}` runs tests against a server of their own.

namespace eval test {
	variable passed 0
	variable failed 0
	variable skipped 0
	variable only *
	variable verbose 0
	variable file ""
	variable current "" ;# server of `r`
	variable client ""
	variable opened {}
	variable slow {}
	variable spoilt 0 ;# the last test failed: what it left is unknown
}

# The command every test uses. Starts the server of the file when it is first needed.
proc r {args} {
	if {$test::client eq "" || [llength [info commands $test::client]] == 0} {
		test::connect
	}
	tailcall $test::client {*}$args
}

proc test::connect {} {
	variable current
	variable client
	if {$current eq ""} {
		set current [server_start $::file_config]
	}
	set client [server_client $current]
	set config [dict get $server::all($current) config]
	if {[dict exists $config requirepass]} {
		$client auth [dict get $config requirepass]
	}
}

# Another connection to the current server, closed at the end of the test.
proc client {} {
	r -alive
	set c [server_client $test::current]
	lappend test::opened $c
	return $c
}

# The current server, for server_* commands.
proc here {} {
	r -alive
	return $test::current
}

proc test::clean {} {
	variable current
	variable client
	variable opened
	variable spoilt
	foreach c $opened {
		catch {$c -close}
	}
	set opened {}
	if {$current ne "" && ($spoilt || ![server_alive $current])} {
		catch {$client -close}
		set client ""
		server_kill $current
		server_again $current
	}
	set spoilt 0
	# A connection that the last test left in an odd state answers something else, or nothing.
	if {$client ne "" && [catch {
		set resp::timeout 2000
		$client -send reset
		set answer [$client -typed]
		if {$answer ne "status RESET" || [$client -push] ne ""} {
			error "left over: $answer"
		}
		set config [dict get $server::all($current) config]
		if {[dict exists $config requirepass]} {
			$client auth [dict get $config requirepass]
		}
	}]} {
		catch {$client -close}
		set client ""
	}
	set resp::timeout 20000
}

proc test {name args} {
	variable test::only
	set body [lindex $args end]
	set target ""
	if {[llength $args] == 3 && [lindex $args 0] eq "-only"} {
		set target [lindex $args 1]
	} elseif {[llength $args] != 1} {
		error "test name ?-only target? body"
	}
	if {![string match $test::only $name]} {
		return
	}
	if {$target ne "" && $target ne $server::target} {
		incr test::skipped
		return
	}
	set start [clock milliseconds]
	set bad [catch {
		test::clean
		r flushall
		uplevel 1 $body
	} problem options]
	if {!$bad && $test::current ne "" && ![server_alive $test::current]} {
		set bad 1
		set problem "the server has died"
		set options {-errorcode ASSERT -errorinfo ""}
	}
	set ms [expr {[clock milliseconds] - $start}]
	lappend test::slow [list $ms $name]
	if {!$bad} {
		incr test::passed
		if {$test::verbose} {
			puts "ok    $name ($ms ms)"
		}
		return
	}
	incr test::failed
	set test::spoilt 1
	puts "FAIL  $test::file: $name ($ms ms)"
	puts "      [string map [list \n "\n      "] $problem]"
	if {$test::verbose || ![string match ASSERT* [dict get $options -errorcode]]} {
		puts "      [string map [list \n "\n      "] [dict get $options -errorinfo]]"
	} else {
		# The line of the test is enough.
		if {[regexp {\(uplevel[^)]*body line (\d+)\)} [dict get $options -errorinfo] - line]} {
			puts "      in line $line of the test"
		}
	}
	if {$test::current ne "" && ![server_alive $test::current]} {
		puts "      the server has died; the end of its log:"
		foreach line [lrange [split [server_log $test::current] \n] end-40 end] {
			puts "      | $line"
		}
	}
	flush stdout
}

proc with_server {config body} {
	set old_current $test::current
	set old_client $test::client
	set test::current ""
	set test::client ""
	set bad [catch {
		set test::current [server_start $config]
		uplevel 1 $body
	} problem options]
	if {$test::client ne ""} {
		catch {$test::client -close}
	}
	if {$test::current ne ""} {
		server_remove $test::current
	}
	set test::current $old_current
	set test::client $old_client
	if {$bad} {
		incr test::failed
		puts "FAIL  $test::file: with_server {$config}"
		puts "      [string map [list \n "\n      "] $problem]"
	}
}

# ---- assertions: the expected value first ----

proc fail {message} {
	return -code error -errorcode ASSERT $message
}

proc shown {value} {
	if {[string length $value] > 600} {
		return "[list [string range $value 0 300]] ... ([string length $value] bytes) ... [list [string range $value end-100 end]]"
	}
	return [list $value]
}

proc assert {condition {message ""}} {
	if {![uplevel 1 [list expr $condition]]} {
		fail "not true: $condition $message"
	}
}

proc assert_equal {expected actual {message ""}} {
	if {$expected ne $actual} {
		fail "expected [shown $expected]\n     got [shown $actual] $message"
	}
}

proc assert_match {pattern actual} {
	if {![string match $pattern $actual]} {
		fail "expected like [shown $pattern]\n          got [shown $actual]"
	}
}

# Numbers, both ends allowed.
proc assert_range {low high actual} {
	if {![string is double -strict $actual] || $actual < $low || $actual > $high} {
		fail "expected $low .. $high\n     got [shown $actual]"
	}
}

# The script must end with an error reply whose text is like the pattern.
proc assert_error {pattern script} {
	if {![catch {uplevel 1 $script} problem options]} {
		fail "expected the error [shown $pattern]\n             got [shown $problem]"
	}
	if {[lindex [dict get $options -errorcode] 0] ne "RESP"} {
		return -options $options $problem
	}
	if {![string match $pattern $problem]} {
		fail "expected the error [shown $pattern]\n             got [shown $problem]"
	}
}

# The very bytes of the reply to a command.
proc assert_raw {expected args} {
	r -send {*}$args
	assert_equal $expected [r -raw] "to [shown $args]"
}

# {type value} of the reply, see resp.tcl.
proc assert_typed {expected args} {
	r -send {*}$args
	assert_equal $expected [r -typed] "to [shown $args]"
}

# Lists, in any order.
proc assert_same_set {expected actual} {
	assert_equal [lsort $expected] [lsort $actual]
}

# Tries the script until it is true.
proc wait_until {ms script} {
	set deadline [expr {[clock milliseconds] + $ms}]
	while 1 {
		if {[uplevel 1 $script]} {
			return
		}
		if {[clock milliseconds] > $deadline} {
			fail "not within $ms ms: $script"
		}
		after 5
	}
}

# ---- small helpers ----

# A field of INFO.
proc info_field {name {section default}} {
	foreach line [split [r info $section] \n] {
		if {[regexp "^$name:(.*)\r?$" $line - value]} {
			return [string trimright $value \r]
		}
	}
	return ""
}

proc config_get {name} {
	lindex [r config get $name] 1
}

# Random bytes that are the same in each run.
proc random_bytes {n {seed 1}} {
	expr {srand($seed)}
	set out {}
	while {[llength $out] * 3 < $n} {
		lappend out [expr {int(rand() * 16777216)}]
	}
	set data ""
	foreach x $out {
		append data [binary format Scu [expr {$x >> 8}] [expr {$x & 255}]]
	}
	return [string range $data 0 [expr {$n - 1}]]
}
