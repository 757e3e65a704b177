# What is printed, and kept as a file: the machine, tables, and how the figures stand to what was asked for.

namespace eval report {
	variable kept ""   ;# everything said so far
	variable name ""
	variable noisy 0   ;# lines during which somebody else used the processors
	variable bars {}   ;# {what got bar aim sense unit}
	variable top_load 0
}

proc report::say {{text ""}} {
	variable kept
	set text [string trimright $text]
	append kept $text \n
	puts $text
	flush stdout
}

# Said to who is watching, not kept.
proc report::doing {text} {
	puts stderr "... $text"
}

proc report::open_result {what} {
	variable name
	set name [regsub -all {[^a-z0-9-]+} [string tolower $what] -]
}

proc report::first_line {args} {
	if {[catch {exec {*}$args} out]} {
		return ""
	}
	return [string trim [lindex [split $out \n] 0]]
}

proc report::file_text {path} {
	if {[catch {open $path} f]} {
		return ""
	}
	set text [read $f]
	close $f
	return $text
}

proc report::load {} {
	variable top_load
	set l [lrange [file_text /proc/loadavg] 0 2]
	set top_load [expr {max($top_load, [lindex $l 0])}]
	return $l
}

proc report::head {} {
	regexp -line {^model name\s*: (.*)$} [file_text /proc/cpuinfo] -> cpu
	regexp -line {^MemTotal:\s*(\d+)} [file_text /proc/meminfo] -> total
	regexp -line {^MemAvailable:\s*(\d+)} [file_text /proc/meminfo] -> free
	set commit [first_line git rev-parse --short HEAD]
	if {$commit ne "" && [first_line git status --porcelain -- src] ne ""} {
		append commit ", sources changed since"
	}
	say "Perdure bench: [join $::what {, }]   [clock format [clock seconds] -format {%Y-%m-%d %H:%M}]"
	say
	say "machine      $cpu, [exec nproc] processors, [expr {$total / 1048576}] GiB ([expr {$free / 1048576}] GiB available)"
	say "system       [exec uname -sr]"
	say "perdure      commit $commit; compiled [clock format [file mtime $::env(PERDURE_SERVER)] -format {%Y-%m-%d %H:%M}]"
	say "redis        [first_line redis-server --version]"
	say "load from    [first_line redis-benchmark --version]"
	say "disk         $::env(BENCH_DISK): [first_line stat -f -c %T $::env(BENCH_DISK)],\
		[lindex [split [exec df -P $::env(BENCH_DISK)] \n] 1 0]"
	say "load average [load] at the start"
	say "servers on processor $servers::cpu, load on processor $servers::load_cpu, $measure::clients clients,\
		medians of $measure::rounds rounds in turn; ratios are Perdure / Redis"
	say
}

proc report::number {x} {
	if {$x >= 1000} {
		return [format %.0f $x]
	}
	if {$x >= 100} {
		return [format %.1f $x]
	}
	return [format [expr {$x >= 10 ? "%.1f" : "%.2f"}] $x]
}

proc report::size {n} {
	if {$n >= 1048576} {
		return "[expr {$n / 1048576}] MiB"
	}
	return [expr {$n >= 1024 ? "[expr {$n / 1024}] KiB" : "$n B"}]
}

variable report::columns "%-5s %7s %4s | %8s %8s %6s | %8s %8s %8s %6s %-13s | %s"

proc report::table {title {last "pool bytes/command: all = log + fresh + home"}} {
	variable columns
	say
	say $title
	say [format $columns "" "" "" kcmd/s kcmd/s "" "CPU us" first "CPU us" "" "" ""]
	say [format $columns cmd size pipe Perdure Redis ratio Perdure thread Redis ratio "low..high" $last]
}

# A remark when more wants to run than the two processors that the bench uses by itself.
proc report::others {} {
	variable noisy
	set load [lindex [load] 0]
	if {$load < 2.5} {
		return ""
	}
	incr noisy
	return "  load average $load"
}

# A line of measure::line, and what speaks against trusting it.
proc report::row {m {disk 0}} {
	variable columns
	variable noisy
	if {$disk} {
		set last "[number [dict get $m p_disk]] / [number [dict get $m r_disk]]"
		if {[dict get $m checkpoints] > 0} {
			append last "  ([dict get $m checkpoints] checkpoints)"
		}
	} else {
		foreach part {log fresh home} {
			lappend parts [number [dict get $m p_$part]]
		}
		set last "[number [written $m]] = [join $parts { + }]"
	}
	if {[dict get $m grown] > 0} {
		append last "  (heap grew)"
	}
	if {[dict get $m others] > 0.2 || [dict get $m others_client] > 0.2} {
		incr noisy
		append last [format "  others had %.0f %% / %.0f %% of the processors" \
			[expr {100 * [dict get $m others]}] [expr {100 * [dict get $m others_client]}]]
	}
	dict with m {
		say [format $columns $op [size $size] $pipe [number [expr {$p_rps / 1000}]] [number [expr {$r_rps / 1000}]] \
			[number $ratio_rps] [number $p_cpu] [number $p_main] [number $r_cpu] [number $ratio_cpu] \
			"[number $low_cpu]..[number $high_cpu]" $last]
	}
	load
}

proc report::written {m} {
	return [expr {[dict get $m p_log] + [dict get $m p_fresh] + [dict get $m p_home]}]
}

# Keeps a figure for the verdicts. Sense: "most" when it should be at most the bar, "least" when at least.
proc report::bar {what got bar aim {sense most} {unit ""}} {
	variable bars
	lappend bars [list $what $got $bar $aim $sense $unit]
}

proc report::verdict {got bar aim sense} {
	if {$sense eq "least"} {
		set off [expr {1 - $got / double($bar)}]
		set off_aim [expr {1 - $got / double($aim)}]
	} else {
		set off [expr {$got / double($bar) - 1}]
		set off_aim [expr {$got / double($aim) - 1}]
	}
	if {$off_aim <= 0} {
		set text "aim met"
	} elseif {$off <= 0} {
		set text [format "bar met, aim missed by %.0f %%" [expr {100 * $off_aim}]]
	} else {
		set text [format "MISSED by %.0f %%" [expr {100 * $off}]]
	}
	if {abs($off) < 0.1} {
		append text " (within a tenth of the bar: drift)"
	}
	return $text
}

proc report::verdicts {} {
	variable bars
	variable noisy
	variable top_load
	if {[llength $bars] > 0} {
		say
		say "what was asked for"
		say [format "%-64s %9s %8s %8s  %s" "" measured bar aim ""]
		foreach b $bars {
			lassign $b what got bar aim sense unit
			set sign [expr {$sense eq "most" ? "<=" : ">="}]
			say [format "%-64s %9s %8s %8s  %s" $what "[number $got]$unit" "$sign$bar" $aim [verdict $got $bar $aim $sense]]
		}
	}
	say
	say "load average [load] at the end, at most $top_load meanwhile"
	if {$noisy > 0} {
		say "WARNING: at $noisy lines others used a processor for more than a fifth of the time. Ratios of processor time stand;"
		say "throughput, and restart times by the clock, do not."
	}
}

# Files the result under the day and what was measured.
proc report::keep {dir} {
	variable kept
	variable name
	set base [file join $dir "[clock format [clock seconds] -format %Y-%m-%d]-$name"]
	set path $base.txt
	for {set i 2} {[file exists $path]} {incr i} {
		set path $base-$i.txt
	}
	set f [open $path w]
	puts -nonewline $f $kept
	close $f
	puts "kept as $path"
}
