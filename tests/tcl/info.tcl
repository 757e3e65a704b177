# INFO, TIME, DBSIZE, MEMORY, DEBUG, SHUTDOWN.

# Fields of a section (or of all that INFO says) as a dict.
proc fields {args} {
	set out {}
	foreach line [split [r info {*}$args] \n] {
		set line [string trimright $line \r]
		if {[regexp {^([^#:]+):(.*)$} $line - name value]} {
			dict set out $name $value
		}
	}
	return $out
}

test "INFO is made of sections with CRLF lines" {
	set text [r info]
	assert_match "# Server\r\n*" $text
	foreach section {Server Clients Memory Persistence Stats Replication CPU Keyspace} {
		assert_match "*# $section\r\n*" $text
	}
	assert {![string match "*# Commandstats*" $text]}
	foreach line [split [string trimright $text \n] \n] {
		assert_equal \r [string index $line end] "line [list $line]"
	}
	assert_match "# Server\r\n*" [r info server]
	assert {![string match "*# Clients*" [r info server]]}
	assert_match "*# Commandstats\r\n*" [r info all]
	assert_match "*# Commandstats\r\n*" [r info everything]
	assert_equal "" [r info nosuchsection]
	set two [r info server clients]
	assert_match "*# Server*# Clients*" $two
	assert {![string match "*# Memory*" $two]}
	assert_equal [lsort [dict keys [fields server]]] [lsort [dict keys [fields SERVER]]]
}

test "INFO as verbatim text in RESP3" {
	set c [client]
	$c hello 3
	$c -send info server
	set v [$c -typed]
	assert_equal verbatim [lindex $v 0]
	assert_match "txt:# Server*" [lindex $v 1]
}

test "INFO server" {
	set f [fields server]
	assert_match "7.*" [dict get $f redis_version]
	foreach name {redis_git_sha1 redis_git_dirty redis_build_id redis_mode os arch_bits monotonic_clock multiplexing_api
		atomicvar_api gcc_version process_id process_supervised run_id tcp_port server_time_usec uptime_in_seconds
		uptime_in_days hz configured_hz lru_clock executable config_file io_threads_active} {
		assert [dict exists $f $name] "no $name"
	}
	assert_equal [server_pid [here]] [dict get $f process_id]
	assert_equal [server_port [here]] [dict get $f tcp_port]
	assert_equal standalone [dict get $f redis_mode]
	assert_equal 64 [dict get $f arch_bits]
	assert_equal 40 [string length [dict get $f run_id]]
	assert_equal 16 [string length [dict get $f server_time_usec]]
}

test "INFO server says who it is" -only perdure {
	set f [fields server]
	assert_match "7.2.*" [dict get $f redis_version]
	assert_equal perdure [dict get $f server_name]
	assert [regexp {^\d+\.\d+\.\d+} [dict get $f perdure_version]]
}

test "INFO clients" {
	set a [client]
	$a ping
	set f [fields clients]
	foreach name {connected_clients cluster_connections maxclients client_recent_max_input_buffer
		client_recent_max_output_buffer blocked_clients tracking_clients clients_in_timeout_table} {
		assert [dict exists $f $name] "no $name"
	}
	assert_equal 2 [dict get $f connected_clients]
	assert_equal 10000 [dict get $f maxclients]
	$a -close
	wait_until 2000 {expr {[dict get [fields clients] connected_clients] == 1}}
}

test "INFO memory" {
	set f [fields memory]
	foreach name {used_memory used_memory_human used_memory_rss used_memory_rss_human used_memory_peak
		used_memory_peak_human used_memory_peak_perc used_memory_overhead used_memory_startup used_memory_dataset
		used_memory_dataset_perc allocator_allocated allocator_active allocator_resident total_system_memory
		total_system_memory_human used_memory_lua maxmemory maxmemory_human maxmemory_policy allocator_frag_ratio
		mem_fragmentation_ratio mem_fragmentation_bytes mem_not_counted_for_evict mem_clients_normal mem_allocator
		active_defrag_running lazyfree_pending_objects} {
		assert [dict exists $f $name] "no $name"
	}
	assert_range 100000 1e12 [dict get $f used_memory]
	assert [regexp {^[0-9.]+[BKMG]$} [dict get $f used_memory_human]]
	assert_equal noeviction [dict get $f maxmemory_policy]
}

test "INFO persistence and replication have the fields that tools read" {
	set f [fields persistence]
	foreach name {loading rdb_changes_since_last_save rdb_bgsave_in_progress rdb_last_save_time
		rdb_last_bgsave_status aof_enabled aof_rewrite_in_progress aof_last_write_status} {
		assert [dict exists $f $name] "no $name"
	}
	assert_equal 0 [dict get $f loading]
	set f [fields replication]
	foreach name {role connected_slaves master_failover_state master_replid master_repl_offset} {
		assert [dict exists $f $name] "no $name"
	}
	assert_equal master [dict get $f role]
	assert_equal 40 [string length [dict get $f master_replid]]
}

test "INFO persistence names medium and durability" -only perdure {
	set f [fields persistence]
	assert_equal [expr {$server::medium eq "pmem" ? "pmem (emulated)" : "file"}] [dict get $f pool_medium]
	assert_equal [expr {$server::medium eq "pmem" ? "always" : "everysec"}] [dict get $f durability]
	assert_match "*# Pool\r\n*" [r info]
}

test "INFO stats counts" {
	r config resetstat
	r set k v
	r get k
	r get nosuch
	r get k
	r set e v px 1
	wait_until 3000 {expr {[dict get [fields stats] expired_keys] == 1}}
	set f [fields stats]
	assert_equal 2 [dict get $f keyspace_hits]
	assert_equal 1 [dict get $f keyspace_misses]
	assert_equal 1 [dict get $f expired_keys]
	foreach name {total_connections_received total_commands_processed instantaneous_ops_per_sec total_net_input_bytes
		total_net_output_bytes instantaneous_input_kbps instantaneous_output_kbps rejected_connections sync_full
		expired_stale_perc expired_time_cap_reached_count evicted_keys evicted_clients pubsub_channels pubsub_patterns
		latest_fork_usec total_forks tracking_total_keys unexpected_error_replies total_error_replies
		total_reads_processed total_writes_processed dump_payload_sanitizations} {
		assert [dict exists $f $name] "no $name"
	}
	set n [dict get [fields stats] total_commands_processed]
	for {set i 0} {$i < 10} {incr i} {
		r ping
	}
	assert_equal [expr {$n + 11}] [dict get [fields stats] total_commands_processed]
	catch {r nosuch}
	assert_equal 1 [dict get [fields stats] total_error_replies]
}

test "INFO commandstats and errorstats" {
	r config resetstat
	r set a 1
	r set b 2
	catch {r incr}
	r set s text
	catch {r incr s}
	set f [fields commandstats]
	assert_match "calls=3,usec=*,usec_per_call=*,rejected_calls=0,failed_calls=0" [dict get $f cmdstat_set]
	assert_match "calls=1,usec=*,usec_per_call=*,rejected_calls=1,failed_calls=1" [dict get $f cmdstat_incr]
	assert [dict exists $f cmdstat_config|resetstat]
	assert_equal count=2 [dict get [fields errorstats] errorstat_ERR]
}

test "INFO keyspace" {
	assert_equal {} [fields keyspace]
	r set a 1
	r set b 2 ex 1000
	r select 3
	r set c 3
	set f [fields keyspace]
	assert_match "keys=2,expires=1,avg_ttl=*" [dict get $f db0]
	assert_match "keys=1,expires=0,avg_ttl=0*" [dict get $f db3]
	assert_equal {db0 db3} [dict keys $f]
	regexp {avg_ttl=(\d+)} [dict get $f db0] - ttl
	assert_range 0 1000000 $ttl
}

test "DBSIZE and TIME" {
	assert_equal 0 [r dbsize]
	r mset a 1 b 2 c 3
	assert_equal 3 [r dbsize]
	set before [clock microseconds]
	lassign [r time] s us
	set after [clock microseconds]
	assert_range $before $after [expr {$s * 1000000 + $us}]
}

test "MEMORY USAGE, STATS, DOCTOR, MALLOC-STATS, PURGE" {
	assert_equal "" [r memory usage nosuch]
	r set small 1
	r set big [string repeat x 100000]
	assert_range 1 200 [r memory usage small]
	assert_range 100000 140000 [r memory usage big]
	assert_range 100000 140000 [r memory usage big samples 0]
	assert_error "ERR syntax error" {r memory usage big sample 5}
	assert_error "ERR value is not an integer or out of range" {r memory usage big samples x}
	set stats [r memory stats]
	foreach name {peak.allocated total.allocated startup.allocated clients.normal overhead.total keys.count
		keys.bytes-per-key dataset.bytes dataset.percentage peak.percentage allocator.allocated fragmentation} {
		assert [dict exists $stats $name] "no $name"
	}
	assert_equal 2 [dict get $stats keys.count]
	assert {[string length [r memory doctor]] > 20}
	assert {[string length [r memory malloc-stats]] > 20}
	assert_equal OK [r memory purge]
	assert_error "ERR unknown subcommand 'nonsense'. Try MEMORY HELP." {r memory nonsense}
	assert_match "MEMORY <subcommand> *" [lindex [r memory help] 0]
}

test "DEBUG subcommands that test suites rely on" {
	set start [clock milliseconds]
	assert_equal OK [r debug sleep 0.1]
	assert_range 95 3000 [expr {[clock milliseconds] - $start}]
	r set k v
	assert_match "Value at:* refcount:* encoding:embstr *" [r debug object k]
	assert_error "ERR no such key" {r debug object nosuch}
	assert_equal OK [r debug set-active-expire 0]
	assert_equal OK [r debug set-active-expire 1]
	assert_equal OK [r debug change-repl-id]
	assert_error "ERR *" {r debug nonsense}
	assert_match "DEBUG <subcommand> *" [lindex [r debug help] 0]
}

test "DEBUG JMAP is unknown, as to Redis" {
	assert_error "ERR unknown subcommand or wrong number of arguments for 'jmap'. Try DEBUG HELP." {r debug jmap}
}

test "DEBUG DIGEST depends on the data and on nothing else" {
	assert_equal 0000000000000000000000000000000000000000 [r debug digest]
	r set a 1
	set one [r debug digest]
	assert_equal 40 [string length $one]
	r set b text
	set two [r debug digest]
	assert {$one ne $two}
	r del b
	assert_equal $one [r debug digest]
	r flushall
	r set b text
	r set a 1
	assert_equal $two [r debug digest]
	r append b ""
	assert_equal $two [r debug digest]
	r expire a 1000
	assert {[r debug digest] ne $two}
	assert_equal [list [lindex [r debug digest-value a b] 0] [lindex [r debug digest-value b] 0]] [r debug digest-value a b]
	assert_equal 0000000000000000000000000000000000000000 [r debug digest-value nosuch]
}

test "DEBUG DIGEST knows databases" {
	r set a 1
	set zero [r debug digest]
	r select 1
	r set a 1
	r select 0
	r del a
	assert {[r debug digest] ne $zero}
}

test "DEBUG RELOAD closes the data and opens it again" {
	for {set i 0} {$i < 1000} {incr i} {
		r set key:$i [string repeat $i 20]
	}
	r set ttl v ex 1000
	r select 7
	r set seven 7
	set digest [r debug digest]
	assert_equal OK [r debug reload]
	assert_equal $digest [r debug digest]
	assert_equal 7 [r get seven]
	r select 0
	assert_range 900 1000 [r ttl ttl]
	assert_equal 1001 [r dbsize]
}

test "DEBUG STRINGMATCH-LEN ends in time" -only perdure {
	set start [clock milliseconds]
	r debug stringmatch-len 10000 [string repeat a* 2000]b
	assert_range 0 5000 [expr {[clock milliseconds] - $start}]
}

test "DEBUG POOLCHECK" -only perdure {
	for {set i 0} {$i < 500} {incr i} {
		r set key:$i [string repeat x [expr {$i * 37}]]
	}
	for {set i 0} {$i < 500} {incr i 3} {
		r del key:$i
	}
	r -send debug poolcheck
	set v [r -typed]
	assert {[lindex $v 0] ne "error"} $v
}

with_server {enable-debug-command no} {
	test "DEBUG can be switched off" {
		assert_error "ERR DEBUG command not allowed. *" {r debug sleep 0}
	}
}

# ---- SHUTDOWN, each on a server of its own ----

proc shut_down {how {ended 1}} {
	set s [server_start]
	try {
		set c [server_client $s]
		$c set k v
		$c -send {*}$how
		if {$ended} {
			assert [$c -eof]
			assert [server_ended $s]
		} else {
			set answer [$c -typed]
			assert_equal error [lindex $answer 0]
			assert [server_alive $s]
			assert_equal PONG [$c ping]
		}
		catch {$c -close}
	} finally {
		server_remove $s
	}
}

test "SHUTDOWN ends the server without an answer" {
	shut_down {shutdown}
	shut_down {shutdown nosave}
	shut_down {shutdown now}
	shut_down {shutdown nosave now force}
	shut_down {shutdown nonsense} 0
	shut_down {shutdown save nosave} 0
	shut_down {shutdown abort nosave} 0
	shut_down {shutdown abort} 0
}

test "SIGTERM and SIGINT end the server cleanly" {
	foreach signal {TERM INT} {
		set s [server_start]
		set c [server_client $s]
		$c set k v
		server_signal $s $signal
		assert [server_ended $s]
		assert [$c -eof]
		server_remove $s
	}
}
