# What the bench measures, part by part. The bars and aims beside the figures are those the project set itself.

variable MiB 1048576

# Both servers side by side, with `count` keys of `size` bytes each (and counters, when asked for).
proc pair {place size count p_config r_config script {counters 0}} {
	upvar 1 p p r r
	report::doing "loading $count keys of [report::size $size] into both servers"
	set p [servers::up perdure $place $p_config]
	set r [servers::up redis $place $r_config]
	try {
		foreach s [list $p $r] {
			measure::load $s key: 0 $count $size
			if {$counters} {
				measure::load $s counter: 0 $count 0
			}
		}
		uplevel 1 $script
	} finally {
		servers::gone $p
		servers::gone $r
	}
}

# Lines of one table: {op pipe commands} each.
proc lines {p r size keys list {disk 0}} {
	set out {}
	foreach {op pipe n} $list {
		report::doing "$op of [report::size $size], pipeline $pipe"
		set m [measure::line $p $r $op $size $pipe $keys $n]
		report::row $m $disk
		dict set out $op-$pipe $m
	}
	return $out
}

# ---- pmem ----

variable pmem_config {durability always}
variable plain_redis {appendonly no}

proc bars_64 {rows} {
	foreach {row bar aim} {SET-16 0.40 0.28 GET-16 0.40 0.28 SET-1 0.92 0.82 GET-1 0.92 0.82} {
		if {[dict exists $rows $row]} {
			report::bar "[string map {- { 64 B, pipeline }} $row]: CPU per command, / Redis" \
				[dict get $rows $row ratio_cpu] $bar $aim
		}
	}
	if {[dict exists $rows SET-16]} {
		report::bar "pool bytes written per overwriting SET of 64 B" [report::written [dict get $rows SET-16]] 300 200
	}
}

proc part_pmem {} {
	report::table "pmem medium (/dev/shm), durability always, against redis-server without persistence"
	set keys $measure::keys
	pair pmem 64 $keys $::pmem_config $::plain_redis {
		set rows [lines $p $r 64 $keys {
			SET 16 1500000 GET 16 1500000 SET 1 400000 GET 1 400000
			INCR 16 1500000 INCR 1 400000 MSET 16 150000 MSET 1 60000 SET= 16 1500000
		}]
	} 1
	bars_64 $rows
	pair pmem 1024 $keys $::pmem_config $::plain_redis {
		lines $p $r 1024 $keys {SET 16 600000 GET 16 600000 SET 1 250000 GET 1 250000 MSET 16 60000 MSET 1 30000}
	}
	pair pmem 65536 16384 $::pmem_config $::plain_redis {
		lines $p $r 65536 16384 {SET 16 30000 GET 16 30000 SET 1 30000 GET 1 30000 MSET 1 3000}
	}
	pair pmem $::MiB 512 $::pmem_config $::plain_redis {
		set rows [lines $p $r $::MiB 512 {SET 1 3000 GET 1 3000}]
	}
	report::bar "SET 1 MiB, pipeline 1: CPU per command, / Redis" [dict get $rows SET-1 ratio_cpu] 1.3 1.0
	report::bar "GET 1 MiB, pipeline 1: CPU per command, / Redis" [dict get $rows GET-1 ratio_cpu] 0.9 0.6
	report::say "64 KiB with 16,384 keys (1 GiB a server), 1 MiB with 512 (0.5 GiB), so that both servers fit the memory.\
		SET= is\n`redis-benchmark -t set`, the same 64 bytes for every key: nothing changes, and a server that compares\
		writes nothing."
	part_memtier
}

proc part_quick {} {
	report::table "pmem medium (/dev/shm), durability always, against redis-server without persistence"
	set keys $measure::keys
	pair pmem 64 $keys $::pmem_config $::plain_redis {
		bars_64 [lines $p $r 64 $keys {SET 16 500000 GET 16 500000 SET 1 150000 GET 1 150000}]
	}
}

proc part_line {op size pipe} {
	set keys [expr {$size <= 4096 ? $measure::keys : max(64, min($measure::keys, (1 << 30) / $size))}]
	set n [expr {int(1500000 / (1 + $size / 2000.0) / ($pipe < 4 ? 4 : 1) / ($op eq "MSET" ? 10 : 1))}]
	report::table "pmem medium (/dev/shm), durability always, against redis-server without persistence; $keys keys"
	pair pmem $size $keys $::pmem_config $::plain_redis {
		lines $p $r $size $keys [list $op $pipe $n]
	} [expr {$op eq "INCR"}]
}

# The same with another load generator, where it is installed.
proc part_memtier {} {
	if {[auto_execok memtier_benchmark] eq ""} {
		report::say "memtier_benchmark is not on the PATH: not run."
		return
	}
	report::say
	report::say "memtier_benchmark, 64 B, pipeline 16, random data"
	report::say [format "%-5s | %12s %12s %6s | %8s %8s %6s" cmd "kcmd/s Perd." "kcmd/s Redis" ratio "CPU us" "Redis" ratio]
	pair pmem 64 $measure::keys $::pmem_config $::plain_redis {
		foreach {op ratio} {SET 1:0 GET 0:1} {
			foreach name {rps cpu} {
				array unset all *_$name
			}
			for {set i 0} {$i <= $measure::rounds} {incr i} {
				foreach {who s} [expr {$i % 2 ? [list p $p r $r] : [list r $r p $p]}] {
					lassign [memtier $s $ratio] rps cpu
					if {$i > 0} { ;# the first is for warming
						lappend all(${who}_rps) [expr {$rps / 1000}]
						lappend all(${who}_cpu) $cpu
					}
				}
			}
			foreach name [array names all] {
				set $name [measure::median $all($name)]
			}
			report::say [format "%-5s | %12s %12s %6s | %8s %8s %6s" $op [report::number $p_rps] [report::number $r_rps] \
				[report::number [expr {$p_rps / $r_rps}]] [report::number $p_cpu] [report::number $r_cpu] \
				[report::number [expr {$p_cpu / $r_cpu}]]]
		}
	}
}

# Throughput and processor time a command of one run of memtier_benchmark.
proc memtier {s ratio} {
	set each [expr {int(20000 * $measure::scale)}]
	set out [exec -ignorestderr $::env(BENCH_PROBE) run [servers::get $s pid] $servers::load_cpu $servers::cpu \
		memtier_benchmark -s 127.0.0.1 -p [servers::get $s port] -t 1 -c $measure::clients -n $each --pipeline 16 \
		--ratio $ratio -d 64 -R --key-prefix key: --key-minimum 1 --key-maximum $measure::keys --key-pattern R:R \
		--hide-histogram 2>/dev/null]
	if {![regexp -line {^Totals\s+([0-9.]+)} $out -> rps]} {
		error "memtier_benchmark says: $out"
	}
	set spent [lindex [split $out \n] end]
	return [list $rps [expr {[dict get $spent cpu] / double($each * $measure::clients)}]]
}

# ---- disk ----

# Redis does not rewrite its log meanwhile: that would be a burst that a run may meet or not. Perdure's checkpoints count.
proc part_disk {} {
	set keys $measure::keys
	foreach {level list} {
		always {SET 1 200000 SET 16 600000 GET 1 200000}
		everysec {SET 1 300000 SET 16 4000000}
	} {
		report::table "disk: file medium, durability $level, against appendonly yes, appendfsync $level" \
			"disk bytes/command: Perdure / Redis"
		pair disk 64 $keys [list durability $level] [list appendonly yes appendfsync $level \
			auto-aof-rewrite-percentage 0] {
			set rows [lines $p $r 64 $keys $list 1]
		}
		if {$level eq "always"} {
			report::bar "disk, SET 64 B, always, pipeline 1: throughput, x Redis" [dict get $rows SET-1 ratio_rps] 1.5 2.5 least
			report::bar "disk, SET 64 B, always, pipeline 1: CPU per command, / Redis" [dict get $rows SET-1 ratio_cpu] 0.8 0.6
		}
	}
	report::say "Disk bytes are what the kernel counts for the process (write_bytes), after the last command included."
}

# ---- memory ----

# Bytes in use: the pool's objects and DRAM for Perdure, used_memory for Redis.
proc in_use {s} {
	set dram [dict get [servers::info $s memory] used_memory]
	if {[servers::get $s kind] eq "redis"} {
		return [list $dram $dram 0 0]
	}
	set pool [servers::info $s pool]
	set objects [dict get $pool pool_object_bytes]
	return [list [expr {$dram + $objects}] $dram $objects [dict get $pool pool_used_bytes]]
}

proc part_memory {} {
	report::say
	report::say "bytes per key, 16-byte keys, 64-byte values"
	report::say [format "%8s | %8s %8s %6s | %s" keys Perdure Redis ratio \
		"Perdure: objects in the pool + DRAM; slabs that hold the objects"]
	set p [servers::up perdure pmem $::pmem_config]
	set r [servers::up redis pmem $::plain_redis]
	try {
		foreach s [list $p $r] {
			set empty($s) [in_use $s]
		}
		set have 0
		foreach keys [list $measure::keys [expr {5 * $measure::keys}]] {
			foreach s [list $p $r] {
				report::doing "memory: $keys keys into [servers::get $s kind]"
				measure::load $s key: $have [expr {$keys - $have}] 64
				set got($s) [lmap now [in_use $s] before $empty($s) {expr {($now - $before) / double($keys)}}]
			}
			set have $keys
			lassign $got($p) all dram objects slabs
			set redis [lindex $got($r) 0]
			report::say [format "%8d | %8.1f %8.1f %6.2f | %.1f + %.1f; %.1f" $keys $all $redis [expr {$all / $redis}] \
				$objects $dram $slabs]
			report::bar "bytes per key, 64 B values, [expr {$keys / 1e6}] M keys" $all 115 108
		}
	} finally {
		servers::gone $p
		servers::gone $r
	}
}

# ---- restart ----

# Milliseconds from exec to the first GET answered, and of processor time by then: a pair for each time.
proc reopen {s times} {
	if {[catch {exec taskset -c $servers::load_cpu $::env(BENCH_PROBE) reopen [servers::get $s port] key:000000000007 \
		$times $servers::cpu [servers::get $s log] {*}[servers::command $s]} us]} {
		error "$us; the last [servers::get $s kind] printed:\n[servers::log_end $s]"
	}
	return [lmap {t cpu} $us {list [expr {$t / 1000.0}] [expr {$cpu / 1000.0}]}]
}

proc say_reopen {what pairs} {
	set ms [lmap pair $pairs {lindex $pair 0}]
	set cpu [measure::median [lmap pair $pairs {lindex $pair 1}]]
	report::say [format "%-72s %8s ms  CPU %6s ms  (%s)%s" $what \
		[report::number [measure::median $ms]] [report::number $cpu] [join [lmap t $ms {format %.1f $t}] { }] [report::others]]
	return [measure::median $ms]
}

# kill -9 after a load, then reopened after kill -9 some times more.
proc restart_pmem {keys} {
	set s [servers::up perdure pmem $::pmem_config]
	try {
		report::doing "restart: loading $keys keys"
		measure::load $s key: 0 $keys 64
		servers::down $s KILL
		return [say_reopen "pmem medium, $keys keys, killed" [reopen $s 5]]
	} finally {
		servers::gone $s
	}
}

# Random SETs since a clean start, then kill -9: what is in the log must be replayed.
proc restart_file {keys sets} {
	set s [servers::up perdure disk]
	set ms {}
	try {
		report::doing "restart: loading $keys keys"
		measure::load $s key: 0 $keys 64
		for {set i 0} {$i < $measure::rounds} {incr i} {
			servers::down $s
			servers::again $s
			measure::run $s SET 64 16 $keys $sets
			set log [dict get [servers::info $s pool] pool_log_used]
			servers::down $s KILL
			lappend ms {*}[reopen $s 1]
			servers::again $s
		}
		report::doing "the log held $log bytes"
		return [say_reopen "file medium, $keys keys, $sets random SETs since the start, killed" $ms]
	} finally {
		servers::gone $s
	}
}

proc restart_redis {keys} {
	set s [servers::up redis disk $::plain_redis]
	try {
		report::doing "restart: loading $keys keys into Redis"
		measure::load $s key: 0 $keys 64
		servers::call $s save
		servers::down $s KILL
		say_reopen "redis-server, $keys keys, from its RDB file, killed after SAVE" [reopen $s 3]
	} finally {
		servers::gone $s
	}
}

proc part_restart {} {
	report::say
	report::say "restart: from exec to the first GET answered, after kill -9; median (each); CPU: the server's processor time by then"
	set one [restart_pmem 1000000]
	set ten [restart_pmem 10000000]
	report::bar "pmem medium: reopen 10 M keys after kill -9" $ten 100 20 most " ms"
	report::bar "pmem medium: reopen 10 M keys, / 1 M keys" [expr {$ten / $one}] 1.3 1.3
	report::bar "file medium: reopen 1 M keys after 1 M SETs and kill -9" [restart_file 1000000 1000000] 1500 300 most " ms"
	restart_redis 1000000
}
