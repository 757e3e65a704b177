# media: pmem file
# The main job: a dictionary loaded through redis-cli --pipe, the server killed, restarted, every key compared.

if {$server::target ne "perdure"} {
	incr test::skipped
	return
}

proc dictionary {} {
	foreach path {/usr/share/dict/american-english /usr/share/dict/words} {
		if {[file readable $path]} {
			set f [open $path]
			fconfigure $f -translation binary
			set words [split [string trimright [read $f] \n] \n]
			close $f
			return $words
		}
	}
	fail "no word list: the package wamerican is missing"
}

# What a word is stored under: long enough to differ in size, and different for each word.
proc meaning {word i} {
	return "$i:$word:[string repeat [string reverse $word] [expr {$i % 9}]]"
}

proc load {port words file} {
	set f [open $file w]
	fconfigure $f -translation binary
	set i 0
	foreach word $words {
		puts -nonewline $f [resp::encode set $word [meaning $word $i]]
		incr i
	}
	close $f
	return [exec redis-cli -p $port --pipe <$file 2>@1]
}

proc compare {c words} {
	assert_equal [llength $words] [$c dbsize]
	set n [llength $words]
	for {set i 0} {$i < $n} {incr i 500} {
		$c -send mget {*}[lrange $words $i [expr {$i + 499}]]
	}
	for {set i 0} {$i < $n} {incr i 500} {
		set j $i
		foreach word [lrange $words $i [expr {$i + 499}]] value [$c -read] {
			if {$value ne [meaning $word $j]} {
				fail "[list $word] (word $j) holds [shown $value]"
			}
			incr j
		}
	}
}

test "the dictionary survives kill -9" {
	set words [dictionary]
	assert {[llength $words] > 50000}
	set s [server_start]
	try {
		set out [load [server_port $s] $words [file join [server_dir $s] words.resp]]
		assert_match "*errors: 0, replies: [llength $words]*" $out
		server_kill $s
		server_again $s
		set c [server_client $s]
		compare $c $words
		# The other half of life: half of them go, the rest changes, and again.
		set n [llength $words]
		for {set i 0} {$i < $n} {incr i 2} {
			$c -send del [lindex $words $i]
		}
		for {set i 0} {$i < $n} {incr i 2} {
			assert_equal 1 [$c -read]
		}
		for {set i 1} {$i < $n} {incr i 2} {
			$c -send append [lindex $words $i] !
		}
		for {set i 1} {$i < $n} {incr i 2} {
			$c -read
		}
		set digest [$c debug digest]
		$c -close
		server_kill $s
		server_again $s
		set c [server_client $s]
		assert_equal $digest [$c debug digest]
		assert_equal [expr {$n / 2}] [$c dbsize]
		assert_equal [meaning [lindex $words 4321] 4321]! [$c get [lindex $words 4321]]
		assert_equal 0 [$c exists [lindex $words 4322]]
		# SCAN meets each of them.
		set cursor 0
		set seen {}
		while 1 {
			lassign [$c scan $cursor count 1000] cursor keys
			lappend seen {*}$keys
			if {$cursor == 0} {
				break
			}
		}
		assert_equal [expr {$n / 2}] [llength [lsort -unique $seen]]
		$c -close
	} finally {
		server_remove $s
	}
}
