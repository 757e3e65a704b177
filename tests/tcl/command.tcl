# COMMAND and its subcommands: what clients learn about commands.

test "COMMAND COUNT and LIST agree" {
	set count [r command count]
	assert_range 60 1000 $count
	set names [r command list]
	assert_equal [llength $names] [llength [lsort -unique $names]]
	# Subcommands are listed as container|name and are not counted.
	assert_equal $count [llength [lsearch -all -inline -not $names *|*]]
	assert_equal $count [llength [r command]]
	foreach name {get set mset del expire multi exec watch config client info command scan bitfield ping hello reset} {
		assert {$name in $names} "no $name"
	}
}

test "COMMAND INFO of GET" {
	set info [lindex [r command info get] 0]
	lassign $info name arity flags first last step acl tips keyspecs subs
	assert_equal get $name
	assert_equal 2 $arity
	assert_same_set {readonly fast} $flags
	assert_equal {1 1 1} [list $first $last $step]
	assert_same_set {@read @string @fast} $acl
	assert_equal {} $tips
	assert_equal {} $subs
	assert_equal {{flags {RO access} begin_search {type index spec {index 1}} find_keys {type range spec {lastkey 0 keystep 1 limit 0}}}} \
		$keyspecs
}

test "COMMAND INFO of commands with other shapes" {
	lassign [lindex [r command info mset] 0] name arity flags first last step acl
	assert_equal {mset -3 1 -1 2} [list $name $arity $first $last $step]
	assert_same_set {write denyoom} $flags
	assert_same_set {@write @string @slow} $acl
	lassign [lindex [r command info bitop] 0] name arity flags first last step
	assert_equal {bitop -4 2 -1 1} [list $name $arity $first $last $step]
	lassign [lindex [r command info ping] 0] name arity flags first last step acl
	assert_equal {ping -1 0 0 0} [list $name $arity $first $last $step]
	assert_same_set {@fast @connection} $acl
	lassign [lindex [r command info config] 0] name arity flags first last step acl tips keyspecs subs
	assert_equal {config -2} [list $name $arity]
	set subnames {}
	foreach s $subs {
		lappend subnames [lindex $s 0]
	}
	assert_same_set {config|get config|set config|rewrite config|resetstat config|help} $subnames
	lassign [lindex [r command info client|kill] 0] name arity
	assert_equal {client|kill -3} [list $name $arity]
	assert_equal {{} {}} [r command info nosuchcommand get|x]
	assert_equal {{}} [r command info nosuchcommand]
	r -send command info nosuchcommand
	assert_equal "*1\r\n\$-1\r\n" [r -raw]
}

test "every row of COMMAND has the parts that clients parse" {
	foreach row [r command] {
		assert_equal 10 [llength $row] [lindex $row 0]
		lassign $row name arity flags first last step acl
		assert [string is integer -strict $arity] $name
		assert {$arity != 0} $name
		assert {$name eq [string tolower $name]}
		foreach category $acl {
			assert_match "@*" $category
		}
		assert {("@fast" in $acl) != ("@slow" in $acl)} "$name: $acl"
		assert {("write" in $flags) == ("@write" in $acl) || "@write" ni $acl} "$name"
	}
}

test "COMMAND INFO in RESP3 uses sets and maps" {
	set c [client]
	$c hello 3
	$c -send command info get
	set row [lindex [$c -typed] 1 0 1]
	assert_equal set [lindex $row 2 0]
	assert_equal set [lindex $row 6 0]
	assert_equal map [lindex $row 8 1 0 0]
}

test "COMMAND DOCS" {
	set docs [r command docs get]
	assert_equal get [lindex $docs 0]
	set doc [lindex $docs 1]
	assert_equal 1.0.0 [dict get $doc since]
	assert_equal string [dict get $doc group]
	assert_equal "O(1)" [dict get $doc complexity]
	assert {[string length [dict get $doc summary]] > 10}
	set argument [lindex [dict get $doc arguments] 0]
	assert_equal key [dict get $argument name]
	assert_equal key [dict get $argument type]
	assert_equal 0 [dict get $argument key_spec_index]
	assert_equal {} [r command docs nosuchcommand]
	assert_same_set {get set} [dict keys [r command docs get set nosuch]]
	set all [r command docs]
	assert_equal [r command count] [dict size $all]
	dict for {name doc} $all {
		foreach part {summary since group} {
			assert [dict exists $doc $part] "$name has no $part"
		}
	}
	set set [dict get [r command docs set] set]
	set names {}
	foreach a [dict get $set arguments] {
		lappend names [dict get $a name]
	}
	assert_equal {key value condition get expiration} $names
	set config [dict get [r command docs config] config]
	assert [dict exists $config subcommands]
	assert_match "*config|get*" [dict keys [dict get $config subcommands]]
}

test "COMMAND GETKEYS" {
	assert_equal a [r command getkeys get a]
	assert_equal {a c} [r command getkeys mset a b c d]
	assert_equal {dest a b} [r command getkeys bitop and dest a b]
	assert_equal {a b c} [r command getkeys del a b c]
	assert_equal {a b} [r command getkeys rename a b]
	assert_equal {a b} [r command getkeys copy a b replace]
	assert_equal k [r command getkeys set k v ex 10 get]
	assert_equal k [r command getkeys object encoding k]
	assert_equal k [r command getkeys memory usage k]
	assert_error "ERR The command has no key arguments" {r command getkeys ping x}
	assert_error "ERR The command has no key arguments" {r command getkeys config get x}
	assert_error "ERR Invalid command specified" {r command getkeys nosuchcommand x}
	assert_error "ERR Invalid number of arguments specified for command" {r command getkeys get a b}
	assert_error "ERR wrong number of arguments for 'command|getkeys' command" {r command getkeys get}
}

test "COMMAND GETKEYSANDFLAGS" {
	assert_equal {{k {OW update}}} [r command getkeysandflags mset k v]
	assert_equal {{k {RW access update}}} [r command getkeysandflags getset k v]
	assert_equal {{a {RO access}} {b {OW update}}} [r command getkeysandflags copy a b]
}

test "COMMAND LIST with filters" {
	assert_same_set {get getdel getex getrange getset} [lsearch -all -inline -not \
		[r command list filterby pattern get*] getbit]
	set strings [r command list filterby aclcat string]
	foreach name {get set incr append setrange} {
		assert {$name in $strings}
	}
	assert {"ping" ni $strings}
	assert_equal {} [r command list filterby module nosuchmodule]
	assert_equal {} [r command list filterby aclcat nosuchcategory]
	assert_error "ERR syntax error" {r command list filterby nonsense x}
	assert_error "ERR syntax error" {r command list filterby aclcat}
}

test "COMMAND with subcommands that are not there" {
	assert_error "ERR unknown subcommand 'nonsense'. Try COMMAND HELP." {r command nonsense}
	assert_match "COMMAND <subcommand> *" [lindex [r command help] 0]
	assert_error "ERR wrong number of arguments for 'command|count' command" {r command count x}
}

test "the arity that COMMAND tells is the arity that holds" {
	foreach row [r command] {
		lassign $row name arity
		if {$name in {shutdown quit reset monitor sync psync subscribe psubscribe ssubscribe replconf multi exec discard restore-asking asking}} {
			continue
		}
		set least [expr {abs($arity)}]
		if {$least > 1} {
			set arguments [lrepeat [expr {$least - 2}] x]
			r -send $name {*}$arguments
			set reply [r -typed]
			assert_equal [list error "ERR wrong number of arguments for '$name' command"] $reply
		}
		if {$arity > 0} {
			set arguments [lrepeat $arity x]
			r -send $name {*}$arguments
			assert_match "error {ERR wrong number of arguments for '*' command}" [r -typed]
		}
	}
}
