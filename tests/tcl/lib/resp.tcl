# A client of the protocol, RESP2 and RESP3, binary safe.
#
#   set c [client_open 127.0.0.1 $port]
#   $c set key value          sends, reads the reply, returns it plain; an error reply is a Tcl error (code RESP)
#   $c -send get key          sends only; any number may be under way
#   $c -read                  the next reply, plain
#   $c -typed                 the next reply as {type value}; aggregates hold such pairs
#   $c -raw                   the next reply as the bytes that came
#   $c -write bytes           any bytes at all
#   $c -bytes n               the next n bytes
#   $c -eof                   1 when the server has closed and nothing is left to read
#   $c -quiet ms              1 when nothing arrives within so many milliseconds
#   $c -push                  out-of-band messages met so far while reading replies (RESP3), taken out
#   $c -close
#
# Plain: strings, integers and doubles as they are, null as "", true and false as 1 and 0, lists and sets as lists,
# maps as flat lists, errors inside aggregates as their text.

namespace eval resp {
	variable next 0
	variable fd
	variable raw
	variable pushes
	variable timeout 20000
}

proc client_open {host port {path ""}} {
	if {$path ne ""} {
		error "unix sockets: use redis-cli -s"
	}
	set sock [socket $host $port]
	fconfigure $sock -translation binary -blocking 0 -buffering none -buffersize 65536
	set id [incr resp::next]
	set name ::client$id
	set resp::fd($name) $sock
	set resp::raw($name) ""
	set resp::pushes($name) {}
	interp alias {} $name {} resp::dispatch $name
	return $name
}

proc resp::dispatch {c word args} {
	variable fd
	if {![info exists fd($c)]} {
		error "client is closed"
	}
	switch -- $word {
		-send { send $c {*}$args }
		-read { plain [reply $c] }
		-typed { reply $c }
		-raw {
			variable raw
			set raw($c) ""
			reply $c
			return $raw($c)
		}
		-write { put $c [lindex $args 0] }
		-bytes { bytes $c [lindex $args 0] }
		-eof { at_end $c }
		-quiet { quiet $c [lindex $args 0] }
		-push {
			variable pushes
			set p $pushes($c)
			set pushes($c) {}
			return $p
		}
		-close { shut $c }
		-alive { return 1 }
		-socket { return $fd($c) }
		default {
			send $c $word {*}$args
			plain [reply $c]
		}
	}
}

proc resp::shut {c} {
	variable fd
	variable raw
	variable pushes
	catch {close $fd($c)}
	unset -nocomplain fd($c) raw($c) pushes($c)
	catch {interp alias {} $c {}}
	return
}

# The bytes of a command.
proc resp::encode {args} {
	set out "*[llength $args]\r\n"
	foreach a $args {
		if {[string is ascii $a]} {
			append out "\$[string length $a]\r\n$a\r\n"
		} else {
			# Characters above 255 travel as UTF-8, everything else as the byte it is.
			if {[regexp {[^\u0000-\u00ff]} $a]} {
				set a [encoding convertto utf-8 $a]
			}
			append out "\$[string length $a]\r\n$a\r\n"
		}
	}
	return $out
}

proc resp::send {c args} {
	put $c [encode {*}$args]
}

# Writing never waits for the server to read: what the socket does not take at once goes out in the background.
proc resp::put {c data} {
	variable fd
	if {[catch {
		puts -nonewline $fd($c) $data
		flush $fd($c)
	} problem]} {
		return -code error -errorcode CLOSED "connection closed while writing: $problem"
	}
	return
}

proc resp::wait {sock ms} {
	variable ready
	set ready($sock) 0
	fileevent $sock readable [list set resp::ready($sock) 1]
	set timer [after $ms [list set resp::ready($sock) 2]]
	vwait resp::ready($sock)
	after cancel $timer
	fileevent $sock readable {}
	return [expr {$ready($sock) == 1}]
}

proc resp::line {c} {
	variable fd
	variable raw
	variable timeout
	set sock $fd($c)
	while {[gets $sock line] < 0} {
		if {[eof $sock]} {
			return -code error -errorcode CLOSED "connection closed by the server"
		}
		if {![wait $sock $timeout]} {
			return -code error -errorcode TIMEOUT "no reply within $timeout ms"
		}
	}
	append raw($c) $line "\n"
	if {[string index $line end] ne "\r"} {
		return -code error "a line without CR: [list $line]"
	}
	return [string range $line 0 end-1]
}

proc resp::bytes {c n} {
	variable fd
	variable raw
	variable timeout
	set sock $fd($c)
	set data ""
	while {[string length $data] < $n} {
		set got [read $sock [expr {$n - [string length $data]}]]
		if {$got eq ""} {
			if {[eof $sock]} {
				return -code error -errorcode CLOSED "connection closed by the server"
			}
			if {![wait $sock $timeout]} {
				return -code error -errorcode TIMEOUT "no reply within $timeout ms"
			}
		}
		append data $got
	}
	append raw($c) $data
	return $data
}

proc resp::bulk {c n} {
	set data [bytes $c [expr {$n + 2}]]
	if {[string range $data end-1 end] ne "\r\n"} {
		return -code error "a bulk string of $n bytes does not end with CRLF"
	}
	return [string range $data 0 end-2]
}

proc resp::many {c n} {
	set out {}
	for {set i 0} {$i < $n} {incr i} {
		lappend out [value $c]
	}
	return $out
}

# One value, as {type value}.
proc resp::value {c} {
	set line [line $c]
	set rest [string range $line 1 end]
	switch -- [string index $line 0] {
		+ { return [list status $rest] }
		- { return [list error $rest] }
		: { return [list int $rest] }
		$ {
			if {$rest == -1} {
				return [list null ""]
			}
			return [list bulk [bulk $c $rest]]
		}
		* {
			if {$rest == -1} {
				return [list nullarray ""]
			}
			return [list array [many $c $rest]]
		}
		_ { return [list null3 ""] }
		, { return [list double $rest] }
		# { return [list bool [string equal $rest t]] }
		( { return [list bignum $rest] }
		! { return [list error [bulk $c $rest]] }
		= { return [list verbatim [bulk $c $rest]] }
		% { return [list map [many $c [expr {2 * $rest}]]] }
		~ { return [list set [many $c $rest]] }
		> { return [list push [many $c $rest]] }
		| {
			many $c [expr {2 * $rest}]
			return [value $c]
		}
		default { return -code error "not RESP: [list $line]" }
	}
}

# The next value that is a reply; pushes before it are put aside.
proc resp::reply {c} {
	variable pushes
	while 1 {
		set v [value $c]
		if {[lindex $v 0] ne "push"} {
			return $v
		}
		lappend pushes($c) [plain $v]
	}
}

proc resp::plain {v {inner 0}} {
	lassign $v type data
	switch -- $type {
		error {
			if {$inner} {
				return $data
			}
			return -code error -errorcode [list RESP $data] $data
		}
		array - set - push - map {
			set out {}
			foreach x $data {
				lappend out [plain $x 1]
			}
			return $out
		}
		verbatim { return [string range $data 4 end] }
		default { return $data }
	}
}

proc resp::at_end {c} {
	variable fd
	variable timeout
	set sock $fd($c)
	set deadline [expr {[clock milliseconds] + $timeout}]
	while {[clock milliseconds] < $deadline} {
		if {[catch {read $sock 65536} got]} {
			return 1
		}
		if {$got ne ""} {
			return 0
		}
		if {[eof $sock]} {
			return 1
		}
		wait $sock 100
	}
	return 0
}

proc resp::quiet {c ms} {
	variable fd
	set sock $fd($c)
	if {[fblocked $sock] || ![eof $sock]} {
		wait $sock $ms
	}
	set got [read $sock 1]
	if {$got ne ""} {
		return -code error "something came: [list $got]"
	}
	return 1
}
