# CONFIG, the configuration file and the command line.

test "CONFIG GET by name, pattern and several at once" {
	assert_equal {maxclients 10000} [r config get maxclients]
	assert_equal 10000 [lindex [r config get MAXCLIENTS] 1]
	assert_equal {} [r config get nosuchdirective]
	set found [r config get "client-*"]
	assert [dict exists $found client-query-buffer-limit]
	assert [dict exists $found client-output-buffer-limit]
	assert_same_set {maxclients timeout} [dict keys [r config get maxclients timeout "maxcl*"]]
	assert_error "ERR wrong number of arguments for 'config|get' command" {r config get}
	foreach name {port bind databases maxmemory maxmemory-policy save appendonly appendfsync dir logfile loglevel requirepass
		tcp-keepalive tcp-backlog unixsocket protected-mode proto-max-bulk-len slowlog-log-slower-than lazyfree-lazy-eviction
		hz notify-keyspace-events enable-debug-command daemonize pidfile} {
		assert_equal $name [lindex [r config get $name] 0]
	}
}

test "CONFIG SET and its units" {
	foreach {value shown} {100 100 100b 100 1k 1000 1kb 1024 2m 2000000 2MB 2097152 1g 1000000000 1gb 1073741824} {
		assert_equal OK [r config set maxmemory $value]
		assert_equal $shown [config_get maxmemory]
	}
	r config set maxmemory 0
	assert_equal OK [r config set timeout 77 hz 20]
	assert_equal {timeout 77} [r config get timeout]
	assert_equal {hz 20} [r config get hz]
	r config set timeout 0 hz 10
	foreach {value shown} {yes yes no no YES yes No no} {
		assert_equal OK [r config set protected-mode $value]
		assert_equal $shown [config_get protected-mode]
	}
	assert_equal OK [r config set loglevel verbose]
	assert_equal verbose [config_get loglevel]
	r config set loglevel notice
	assert_equal OK [r config set client-output-buffer-limit "normal 100mb 50mb 60"]
	assert_match "normal 104857600 52428800 60 slave * pubsub *" [config_get client-output-buffer-limit]
	r config set client-output-buffer-limit "normal 0 0 0"
}

test "CONFIG SET refuses nonsense and changes nothing" {
	assert_error "ERR Unknown option or number of arguments for CONFIG SET - 'nosuchdirective'" {r config set nosuchdirective 1}
	assert_error "ERR CONFIG SET failed (possibly related to argument 'timeout') - argument couldn't be parsed into an integer" \
		{r config set timeout abc}
	assert_error "ERR CONFIG SET failed (possibly related to argument 'timeout') - argument must be between 0 and 2147483647 inclusive" \
		{r config set timeout -1}
	assert_error "ERR CONFIG SET failed (possibly related to argument 'protected-mode') - argument must be 'yes' or 'no'" \
		{r config set protected-mode maybe}
	assert_error "ERR CONFIG SET failed (possibly related to argument 'loglevel') - argument(s) must be one of the following: *" \
		{r config set loglevel chatty}
	assert_error "ERR CONFIG SET failed (possibly related to argument 'maxmemory') - argument must be a memory value" \
		{r config set maxmemory 10zb}
	assert_error "ERR CONFIG SET failed (possibly related to argument 'databases') - can't set immutable config" \
		{r config set databases 4}
	assert_error "ERR CONFIG SET failed (possibly related to argument 'timeout') - duplicate parameter" \
		{r config set timeout 1 timeout 2}
	assert_error "ERR wrong number of arguments for 'config|set' command" {r config set timeout}
	assert_error "ERR syntax error" {r config set timeout 1 hz}
	r config set timeout 5
	assert_error "ERR CONFIG SET failed*" {r config set timeout 6 hz abc}
	assert_equal 5 [config_get timeout]
	r config set timeout 0
}

test "CONFIG RESETSTAT" {
	r get a
	assert {[info_field total_commands_processed] > 1}
	assert_equal OK [r config resetstat]
	assert_range 0 5 [info_field total_commands_processed]
	assert_equal 0 [info_field keyspace_misses]
	assert_equal "" [info_field cmdstat_get commandstats]
}

test "CONFIG with subcommands that are not there" {
	assert_error "ERR unknown subcommand 'nonsense'. Try CONFIG HELP." {r config nonsense}
	assert_match "CONFIG <subcommand> *" [lindex [r config help] 0]
	assert_error "ERR The server is running without a config file" {r config rewrite}
}

# Writes a configuration file into a new folder; returns its path.
proc write_config {text} {
	set dir [server_dir [here]]
	set path [file join $dir conf-[clock microseconds].conf]
	set f [open $path w]
	puts -nonewline $f $text
	close $f
	return $path
}

# Starts a server with a configuration file and command-line arguments; runs the script with `c` connected to it.
proc with_file {text arguments script} {
	upvar 1 c c
	set path [write_config $text]
	set port [server::free_port]
	set dir [server_dir [here]]
	set own {}
	if {$server::target eq "perdure"} {
		set own [list --pool [file join $dir pool-$port] --pool-size 256mb --pool-medium $server::medium]
	}
	set log [file join $dir log-$port]
	set pid [exec setpriv --pdeathsig KILL $server::program $path --port $port --dir $dir {*}$own {*}$arguments \
		</dev/null >&$log &]
	try {
		set c ""
		wait_until 20000 {
			if {[catch {exec kill -0 $pid}]} {
				set f [open $log]
				fail "the server ended: [read $f]"
			}
			expr {![catch {
				set c [client_open 127.0.0.1 $port]
				catch {$c ping}
			}]}
		}
		uplevel 1 $script
	} finally {
		catch {$c -close}
		catch {exec kill -TERM $pid}
		wait_until 20000 {catch {exec kill -0 $pid}}
	}
}

# The same where it must not start: returns what it printed; it must have exited with an error.
proc refused {text arguments} {
	set path [write_config $text]
	set port [server::free_port]
	set dir [server_dir [here]]
	set bad [catch {exec timeout 20 $server::program $path --port $port --dir $dir {*}$arguments </dev/null 2>@1} out options]
	assert $bad "it started"
	set code [dict get $options -errorcode]
	assert_equal CHILDSTATUS [lindex $code 0] $out
	assert {[lindex $code 2] == 1} "exit code [lindex $code 2]: $out"
	return $out
}

test "a configuration file: comments, quotes, blank lines, case" {
	with_file "# comment\n\n   maxclients 123\nTIMEOUT 45\nrequirepass \"a b\\x41\"\nloglevel 'verbose'\n\tsave \"\"\n" {} {
		$c auth "a bA"
		assert_equal 123 [lindex [$c config get maxclients] 1]
		assert_equal 45 [lindex [$c config get timeout] 1]
		assert_equal "a bA" [lindex [$c config get requirepass] 1]
		assert_equal verbose [lindex [$c config get loglevel] 1]
	}
}

test "the command line wins over the file" {
	with_file "maxclients 123\ntimeout 9\n" {--maxclients 77} {
		assert_equal 77 [lindex [$c config get maxclients] 1]
		assert_equal 9 [lindex [$c config get timeout] 1]
	}
}

test "directives of several values on the command line" {
	with_file "" {--client-output-buffer-limit normal 1mb 0 0 --timeout 3} {
		assert_match "normal 1048576 0 0 *" [lindex [$c config get client-output-buffer-limit] 1]
		assert_equal 3 [lindex [$c config get timeout] 1]
	}
}

test "include" {
	set inner [write_config "maxclients 55\ntimeout 5\n"]
	with_file "timeout 1\ninclude $inner\n" {} {
		assert_equal 55 [lindex [$c config get maxclients] 1]
		assert_equal 5 [lindex [$c config get timeout] 1]
	}
}

test "a configuration from standard input" {
	set port [server::free_port]
	set dir [server_dir [here]]
	set own {}
	if {$server::target eq "perdure"} {
		set own [list --pool [file join $dir pool-$port] --pool-size 256mb --pool-medium $server::medium]
	}
	set pid [exec setpriv --pdeathsig KILL $server::program - --port $port --dir $dir {*}$own << "maxclients 66\n" \
		>&[file join $dir log-$port] &]
	try {
		wait_until 20000 {expr {![catch {
			set c [client_open 127.0.0.1 $port]
			$c ping
		}]}}
		assert_equal 66 [lindex [$c config get maxclients] 1]
		$c -close
	} finally {
		catch {exec kill -TERM $pid}
		wait_until 20000 {catch {exec kill -0 $pid}}
	}
}

test "a bad configuration does not start, and says which line" {
	assert_match "*nosuchdirective 1*" [refused "nosuchdirective 1\n" {}]
	assert_match "*line 2*timeout abc*" [refused "hz 10\ntimeout abc\n" {}]
	assert_match "*maxclients*" [refused "maxclients\n" {}]
	assert_match "*databases 0*" [refused "databases 0\n" {}]
	assert_match "*nonsense*" [refused "" {--nonsense 1}]
	assert_match "*nowhere*" [refused "include /nowhere/at/all.conf\n" {}]
	assert_match "*requirepass*" [refused "requirepass \"unbalanced\n" {}]
}

test "a missing configuration file" {
	assert [catch {exec timeout 20 $server::program /nowhere/at/all.conf 2>@1} out]
	assert_match "*/nowhere/at/all.conf*" $out
}

test "--version and --help" {
	assert_match "*v=*" [exec $server::program --version]
	assert_match "*v=*" [exec $server::program -v]
	set bad [catch {exec $server::program --help 2>@1} out]
	assert_match "*Usage:*" $out
}

test "CONFIG REWRITE keeps what was changed, and comments" {
	with_file "# a comment of mine\nmaxclients 100\ntimeout 1\n" {} {
		$c config set timeout 8 maxmemory 5mb
		$c config rewrite
		set path [string trim [regexp -inline -line {^config_file:.*$} [$c info server]]]
		set path [string trim [string range $path [string first : $path]+1 end] "\r\n\}"]
		set f [open $path]
		set text [read $f]
		close $f
		assert_match "*# a comment of mine\n*" $text
		assert_match "*\ntimeout 8\n*" $text
		assert_match "*\nmaxmemory 5mb\n*" $text
		assert_match "*\nmaxclients 100\n*" $text
		assert_equal 1 [regexp -all -line {^timeout } $text]
		# It is a configuration that starts.
		set again $text
	}
	with_file $again {} {
		assert_equal 8 [lindex [$c config get timeout] 1]
		assert_equal 5242880 [lindex [$c config get maxmemory] 1]
	}
}

test "an unmodified redis.conf starts the server" {
	set path /etc/redis/redis.conf
	if {[file readable $path]} {
		set f [open $path]
		set text [read $f]
		close $f
		# Its paths belong to a system service; everything else stays.
		regsub -all -line {^(pidfile|logfile|dir|daemonize|unixsocket).*$} $text "" text
		with_file $text {} {
			assert_equal PONG [$c ping]
			assert_equal OK [$c set k v]
			assert_equal yes [lindex [$c config get protected-mode] 1]
		}
	}
}

test "pool directives are checked" -only perdure {
	assert_match "*pool-medium*" [refused "pool-medium tape\n" {}]
	assert_match "*durability*" [refused "durability sometimes\n" {}]
	assert_match "*pool-size*" [refused "pool-size lots\n" {}]
	assert_match "*log-size*" [refused "log-size 12\n" {}]
}

test "pool directives are shown" -only perdure {
	assert_equal $server::medium [config_get pool-medium]
	assert_equal [expr {$server::medium eq "pmem" ? "always" : "everysec"}] [config_get durability]
	assert_equal 1073741824 [config_get pool-size]
	assert_match "*/pool" [config_get pool]
	foreach d {always everysec no always} {
		assert_equal OK [r config set durability $d]
		assert_equal $d [config_get durability]
		assert_equal OK [r set k $d]
	}
}
