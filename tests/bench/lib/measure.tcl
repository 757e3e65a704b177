# One line of a table: the same commands to both servers, in turn, round by round; medians.

namespace eval measure {
	variable rounds 3
	variable scale 1.0
	variable keys 1000000
	variable clients 50
}

proc measure::median {list} {
	set list [lsort -real $list]
	return [lindex $list [expr {[llength $list] / 2}]]
}

# Sets `count` keys from `first`, each to a value of its own, through one connection.
proc measure::load {s prefix first count size} {
	exec taskset -c $servers::load_cpu $::env(BENCH_PROBE) load [servers::get $s port] $prefix $first $count $size 1
}

# A value for redis-benchmark, which puts 12 random digits in place of each __rand_int__: small values, which a server
# may change in place, differ in every 8-byte word from one command to the next. (`redis-benchmark -t set` sends the
# same bytes for all keys in every run: a server that compares before it writes would have nothing to write.)
proc measure::value {size} {
	set n [expr {$size <= 512 ? $size / 12 : 1}]
	return [string repeat __rand_int__ $n][string repeat x [expr {$size - 12 * $n}]]
}

# The arguments of redis-benchmark for a command, and what it reads on its standard input.
proc measure::commands {op size} {
	switch -- $op {
		SET { return [list [list -x SET key:__rand_int__] [value $size]] }
		SET= { return [list [list -d $size -t set] ""] }
		GET { return [list [list -t get] ""] }
		INCR { return [list [list INCR counter:__rand_int__] ""] }
		MSET { return [list [list MSET {*}[lrepeat 10 key:__rand_int__ [value $size]]] ""] }
	}
	error "no such command: $op"
}

# Runs n commands against a server. Gives a dict: rps, cpu (us a command, all threads), main (the first thread alone),
# others and others_client (share of the two processors that somebody else had), pool bytes a command: log, fresh, home,
# disk (bytes the kernel wrote for the process, a command), grown (the heap grew), checkpoints.
proc measure::run {s op size pipe keys n} {
	variable clients
	lassign [commands $op $size] args input
	set perdure [expr {[servers::get $s kind] eq "perdure"}]
	set stats [servers::info $s stats]
	set pool [expr {$perdure ? [servers::info $s pool] : {}}]
	set bench [list redis-benchmark -p [servers::get $s port] -c $clients -n $n -r $keys -P $pipe --csv {*}$args]
	set out [exec -ignorestderr $::env(BENCH_PROBE) run [servers::get $s pid] $servers::load_cpu $servers::cpu {*}$bench << $input]
	set lines [split $out \n]
	set spent [lindex $lines end]
	if {![regexp {","([0-9.]+)","[0-9.]+","[0-9.]+","[0-9.]+","[0-9.]+","[0-9.]+","[0-9.]+"$} [lindex $lines end-1] -> rps]} {
		error "redis-benchmark says: [string range $out 0 2000]"
	}
	set after [servers::info $s stats]
	if {[since $stats $after total_commands_processed] < $n || [since $stats $after total_error_replies] != 0} {
		error "[servers::get $s kind]: not all of $n $op commands were carried out"
	}
	set elapsed [dict get $spent elapsed]
	set result [dict create rps $rps grown 0 checkpoints 0 log 0 fresh 0 home 0]
	dict set result cpu [expr {double([dict get $spent cpu]) / $n}]
	dict set result main [expr {double([dict get $spent main]) / $n}]
	dict set result disk [expr {double([dict get $spent written]) / $n}]
	dict set result others [expr {max(0.0, double([dict get $spent others]) / $elapsed)}]
	dict set result others_client [expr {max(0.0, double([dict get $spent others_client]) / $elapsed)}]
	if {$perdure} {
		set after [servers::info $s pool]
		foreach {name field} {log pool_log_bytes fresh pool_fresh_bytes home pool_apply_bytes} {
			dict set result $name [expr {[since $pool $after $field] / double($n)}]
		}
		dict set result grown [since $pool $after pool_growths]
		dict set result checkpoints [since $pool $after pool_checkpoints]
	}
	return $result
}

proc measure::since {before after field} {
	return [expr {[dict get $after $field] - [dict get $before $field]}]
}

# Both servers, warmed by a quarter of the commands (again, while the pool grows from it: freed memory comes back after a
# while, so that big values need some room to turn round in), then measured in turn. Gives the medians of each (p_ and r_ fields),
# the ratios Perdure / Redis with the lowest and highest of the rounds, and what the machine did meanwhile.
proc measure::line {p r op size pipe keys n} {
	variable rounds
	variable scale
	set n [expr {max(100, int($n * $scale))}]
	foreach s [list $p $r] {
		for {set i 0} {$i < 6} {incr i} {
			if {[dict get [run $s $op $size $pipe $keys [expr {max(50, $n / 4)}]] grown] == 0} {
				break
			}
		}
	}
	for {set i 0} {$i < $rounds} {incr i} {
		foreach {who s} [expr {$i % 2 == 0 ? [list p $p r $r] : [list r $r p $p]}] {
			set got($who) [run $s $op $size $pipe $keys $n]
			dict for {name value} $got($who) {
				lappend all(${who}_$name) $value
			}
		}
		foreach name {rps cpu} {
			lappend all(ratio_$name) [expr {[dict get $got(p) $name] / max(1e-9, [dict get $got(r) $name])}]
		}
	}
	set result [dict create op $op size $size pipe $pipe n $n]
	foreach {name values} [array get all] {
		dict set result $name [median $values]
	}
	foreach name {rps cpu} {
		set sorted [lsort -real $all(ratio_$name)]
		dict set result low_$name [lindex $sorted 0]
		dict set result high_$name [lindex $sorted end]
	}
	dict set result others [expr {max([dict get $result p_others], [dict get $result r_others])}]
	dict set result others_client [expr {max([dict get $result p_others_client], [dict get $result r_others_client])}]
	dict set result grown [lindex [lsort -integer $all(p_grown)] end]
	dict set result checkpoints [tcl::mathop::+ {*}$all(p_checkpoints)]
	return $result
}
