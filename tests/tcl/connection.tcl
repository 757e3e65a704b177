# PING ECHO SELECT AUTH HELLO RESET QUIT and CLIENT.

test "PING and ECHO" {
	assert_raw "+PONG\r\n" ping
	assert_raw "\$5\r\nhello\r\n" ping hello
	assert_raw "\$0\r\n\r\n" ping ""
	assert_error "ERR wrong number of arguments for 'ping' command" {r ping a b}
	assert_equal "a\r\nb" [r echo "a\r\nb"]
	assert_error "ERR wrong number of arguments for 'echo' command" {r echo}
}

test "SELECT keeps databases apart" {
	r set k zero
	assert_equal OK [r select 9]
	assert_equal "" [r get k]
	r set k nine
	assert_equal OK [r select 0]
	assert_equal zero [r get k]
	assert_equal OK [r select 15]
	assert_error "ERR DB index is out of range" {r select 16}
	assert_error "ERR DB index is out of range" {r select -1}
	assert_error "ERR value is not an integer or out of range" {r select x}
	assert_error "ERR value is not an integer or out of range" {r select 99999999999999999999}
	assert_equal "" [r get k]
}

test "QUIT answers and closes; what follows is not run" {
	set c [client]
	$c -write "SET k 1\r\nQUIT\r\nSET k 2\r\n"
	assert_equal "+OK\r\n" [$c -raw]
	assert_equal "+OK\r\n" [$c -raw]
	assert [$c -eof]
	assert_equal 1 [r get k]
}

test "RESET puts the connection back to its beginning" {
	set c [client]
	$c select 3
	$c client setname me
	$c hello 3
	$c multi
	assert_equal QUEUED [$c set k v]
	$c -send reset
	assert_equal "+RESET\r\n" [$c -raw]
	assert_error "ERR EXEC without MULTI" {$c exec}
	assert_equal "" [$c client getname]
	$c -send get k
	assert_equal "\$-1\r\n" [$c -raw]
	assert_match "* db=0 *" [$c client info]
}

test "AUTH without a password set" {
	assert_error "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?" \
		{r auth anything}
	assert_equal OK [r auth default anything]
	assert_error "WRONGPASS *" {r auth nobody anything}
	assert_error "ERR syntax error" {r auth a b c}
}

test "HELLO tells about the server" {
	set c [client]
	$c -send hello 2
	set reply [$c -typed]
	assert_equal array [lindex $reply 0]
	set facts [resp::plain $reply]
	assert_equal {server version proto id mode role modules} [dict keys $facts]
	assert_equal redis [dict get $facts server]
	assert_match "7.*" [dict get $facts version]
	assert_equal 2 [dict get $facts proto]
	assert_equal standalone [dict get $facts mode]
	assert_equal master [dict get $facts role]
	assert_equal "" [dict get $facts modules]
	assert_equal [$c client id] [dict get $facts id]
	$c -send hello 3
	set reply [$c -typed]
	assert_equal map [lindex $reply 0]
	assert_equal 3 [dict get [resp::plain $reply] proto]
	$c -send hello
	assert_equal 3 [dict get [resp::plain [$c -typed]] proto]
}

test "HELLO refuses what it does not know" {
	set c [client]
	assert_error "NOPROTO unsupported protocol version" {$c hello 4}
	assert_error "NOPROTO unsupported protocol version" {$c hello 1}
	assert_error "ERR Protocol version is not an integer or out of range" {$c hello x}
	assert_error "ERR Syntax error in HELLO option 'nonsense'" {$c hello 3 nonsense}
	assert_error "ERR Syntax error in HELLO option 'auth'" {$c hello 3 auth default}
	assert_error "ERR Syntax error in HELLO option 'setname'" {$c hello 3 setname}
	# Still RESP2: nothing of a failed HELLO stays.
	$c -send get nothing
	assert_equal "\$-1\r\n" [$c -raw]
	$c hello 3 setname someone
	assert_equal someone [$c client getname]
	assert_error "ERR Client names cannot contain spaces, newlines or special characters." {$c hello 3 setname "a b"}
}

test "CLIENT ID grows with each connection" {
	set a [[client] client id]
	set b [[client] client id]
	assert {$b > $a}
}

test "CLIENT SETNAME and GETNAME" {
	set c [client]
	assert_raw "\$-1\r\n" client getname
	assert_equal OK [$c client setname worker-1]
	assert_equal worker-1 [$c client getname]
	assert_match "*name=worker-1 *" [r client list]
	foreach bad {"with space" "new\nline" "caf\u00e9" "\x01"} {
		assert_error "ERR Client names cannot contain spaces, newlines or special characters." {$c client setname $bad}
	}
	assert_equal worker-1 [$c client getname]
	$c client setname ""
	assert_equal "" [$c client getname]
}

test "CLIENT SETINFO" -only perdure {
	set c [client]
	assert_equal OK [$c client setinfo lib-name testlib]
	assert_equal OK [$c client setinfo LIB-VER 1.2.3]
	assert_match "*lib-name=testlib lib-ver=1.2.3*" [$c client info]
	assert_error "ERR Unrecognized option 'what'" {$c client setinfo what 1}
	assert_error "ERR lib-name cannot contain spaces, newlines or special characters." {$c client setinfo lib-name "a b"}
	assert_error "ERR wrong number of arguments for 'client|setinfo' command" {$c client setinfo lib-name}
}

test "CLIENT INFO and LIST have the fields that tools read" {
	set c [client]
	$c select 2
	$c client setname lister
	set info [$c client info]
	foreach field {id addr laddr fd name age idle flags db sub psub multi qbuf qbuf-free argv-mem obl oll omem tot-mem events cmd user redir resp} {
		assert [regexp "(^| )$field=" $info] "no $field in $info"
	}
	assert_match "* name=lister *" $info
	assert_match "* db=2 *" $info
	assert_match "* flags=N *" $info
	assert_match "* user=default *" $info
	assert_match "* cmd=client|info *" $info
	assert_match "* resp=2*" $info
	assert_match "* multi=-1 *" $info
	set id [$c client id]
	assert_equal 1 [llength [split [string trim [r client list id $id]] \n]]
	assert_match "id=$id *" [r client list id $id]
	assert_equal 2 [llength [split [string trim [r client list id $id [r client id]]] \n]]
	assert_equal "" [string trim [r client list id 99999999]]
	assert_error "ERR Invalid client ID" {r client list id x}
	assert_match "*lister*" [r client list type normal]
	assert_equal "" [string trim [r client list type replica]]
	assert_error "ERR Unknown client type 'x'" {r client list type x}
	assert_error "ERR syntax error" {r client list nonsense}
	$c multi
	$c ping
	assert_match "* flags=x * multi=1 *" [r client list id $id]
}

test "CLIENT KILL by address, ID and the rest" {
	set c [client]
	regexp {addr=(\S+)} [$c client info] - addr
	assert_equal OK [r client kill $addr]
	assert [$c -eof]
	assert_error "ERR No such client" {r client kill 127.0.0.1:1}
	set c [client]
	set id [$c client id]
	assert_equal 1 [r client kill id $id]
	assert [$c -eof]
	assert_equal 0 [r client kill id $id]
	set c [client]
	assert_equal 1 [r client kill type normal skipme yes]
	assert [$c -eof]
	set c [client]
	assert_equal 1 [r client kill user default]
	assert [$c -eof]
	set c [client]
	regexp { laddr=(\S+)} [$c client info] - laddr
	assert_equal 1 [r client kill laddr $laddr]
	assert [$c -eof]
	assert_error "ERR No such client" {r client kill id}
	assert_error "ERR syntax error" {r client kill id 1 nonsense}
	assert_error "ERR client-id should be greater than 0" {r client kill id 0}
	assert_error "ERR client-id should be greater than 0" {r client kill id x}
	assert_error "ERR Unknown client type 'x'" {r client kill type x}
	assert_error "ERR No such user 'x'" {r client kill user x}
	assert_error "ERR syntax error" {r client kill id 1 skipme maybe}
}

test "CLIENT KILL of oneself answers first" {
	set c [client]
	set id [$c client id]
	assert_equal 1 [$c client kill id $id skipme no]
	assert [$c -eof]
}

test "CLIENT KILL MAXAGE" -only perdure {
	set c [client]
	assert_error "ERR syntax error" {r client kill maxage 1 skipme}
	$c ping
	assert_equal 0 [r client kill maxage 1000]
	assert_equal PONG [$c ping]
}

test "a killed client's waiting commands are not run" {
	set c [client]
	set id [$c client id]
	r client pause 100000 write
	$c -write [string repeat "INCR n\r\n" 100]
	after 50
	assert_equal 1 [r client kill id $id]
	r client unpause
	assert [$c -eof]
	assert_equal "" [r get n]
}

test "CLIENT REPLY" {
	set c [client]
	$c -send client reply off
	$c -send set a 1
	$c -send get a
	$c -send client reply on
	assert_equal OK [$c -read]
	$c -send client reply skip
	$c -send get a
	$c -send get a
	assert_equal 1 [$c -read]
	assert_error "ERR syntax error" {$c client reply maybe}
}

test "CLIENT PAUSE holds clients up until it ends" {
	set c [client]
	r client pause 300
	set start [clock milliseconds]
	assert_equal OK [$c set k v]
	assert_range 200 5000 [expr {[clock milliseconds] - $start}]
	# Everybody is held up, the one who asked as well.
	r client pause 200
	$c -send get k
	assert [$c -quiet 50]
	set start [clock milliseconds]
	assert_equal OK [r client unpause]
	assert_range 50 5000 [expr {[clock milliseconds] - $start}]
	assert_equal v [$c -read]
	assert_error "ERR timeout is not an integer or out of range" {r client pause x}
	assert_error "ERR timeout is negative" {r client pause -1}
	assert_error "ERR CLIENT PAUSE mode must be WRITE or ALL" {r client pause 1 nonsense}
}

test "CLIENT PAUSE WRITE lets readers pass" {
	set c [client]
	r set k old
	r client pause 100000 write
	assert_equal old [$c get k]
	$c -send set k new
	assert [$c -quiet 50]
	assert_equal old [r get k]
	r client unpause
	assert_equal OK [$c -read]
	assert_equal new [r get k]
	$c multi
	$c set k newer
	r client pause 100000 write
	$c -send exec
	assert [$c -quiet 50]
	r client unpause
	assert_equal OK [$c -read]
	# Where writes wait, they wait before they are queued.
	r client pause 100000 write
	$c multi
	$c -send set k newest
	assert [$c -quiet 50]
	r client unpause
	assert_equal QUEUED [$c -read]
	assert_equal OK [$c exec]
}

test "keys do not expire while writes are paused" {
	r set k v px 30
	r client pause 100000 write
	after 60
	assert_equal "" [r get k]
	assert_equal 1 [r dbsize]
	r client unpause
	wait_until 3000 {expr {[r dbsize] == 0}}
}

test "CLIENT UNBLOCK, GETREDIR, TRACKINGINFO, NO-EVICT, NO-TOUCH" {
	assert_equal 0 [r client unblock [r client id]]
	assert_equal 0 [r client unblock 999999 error]
	assert_error "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR" {r client unblock 1 x}
	assert_error "ERR value is not an integer or out of range" {r client unblock x}
	assert_equal -1 [r client getredir]
	assert_equal {flags off redirect -1 prefixes {}} [r client trackinginfo]
	assert_equal OK [r client no-evict on]
	assert_match "* flags=e *" [r client info]
	assert_equal OK [r client no-evict off]
	assert_error "ERR syntax error" {r client no-evict maybe}
}

test "CLIENT NO-TOUCH" -only perdure {
	assert_equal OK [r client no-touch on]
	assert_match "* flags=T *" [r client info]
	assert_equal OK [r client no-touch off]
	assert_error "ERR syntax error" {r client no-touch maybe}
}

test "CLIENT with subcommands that are not there" {
	assert_error "ERR unknown subcommand 'nonsense'. Try CLIENT HELP." {r client nonsense}
	assert_error "ERR wrong number of arguments for 'client' command" {r client}
	assert_error "ERR wrong number of arguments for 'client|getname' command" {r client getname x}
	assert_match "CLIENT <subcommand> *" [lindex [r client help] 0]
}

with_server {requirepass secret} {
	test "with requirepass, nothing works before AUTH" {
		set c [client]
		foreach command {{ping} {get k} {set k v} {config get *} {client id} {select 1} {multi} {flushall}} {
			assert_error "NOAUTH Authentication required." {$c {*}$command}
		}
		assert_error "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO *AUTH\
			<user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time" \
			{$c hello 3}
		assert_error "WRONGPASS invalid username-password pair or user is disabled." {$c auth wrong}
		assert_error "WRONGPASS invalid username-password pair or user is disabled." {$c auth default ""}
		assert_error "WRONGPASS invalid username-password pair or user is disabled." {$c auth other secret}
		assert_error "NOAUTH Authentication required." {$c ping}
		assert_equal OK [$c auth secret]
		assert_equal PONG [$c ping]
		assert_equal RESET [$c reset]
		assert_error "NOAUTH Authentication required." {$c ping}
		assert_equal OK [$c auth default secret]
		assert_equal PONG [$c ping]
		set c [client]
		assert_equal 3 [dict get [$c hello 3 auth default secret setname x] proto]
		assert_equal x [$c client getname]
	}

	test "AUTH and the command behind it in one write" {
		set c [client]
		$c -write "AUTH secret\r\nSET k [string repeat x 20000]\r\n*3\r\n\$3\r\nSET\r\n\$1\r\nk\r\n\$20000\r\n[string repeat y 20000]\r\n"
		assert_equal OK [$c -read]
		assert_equal OK [$c -read]
		assert_equal OK [$c -read]
	}

	test "QUIT and RESET work before AUTH" {
		set c [client]
		assert_equal RESET [$c reset]
		assert_equal OK [$c quit]
		assert [$c -eof]
	}

	test "the password changes at run time" {
		assert_equal OK [r config set requirepass other]
		set c [client]
		assert_error "WRONGPASS*" {$c auth secret}
		assert_equal OK [$c auth other]
		assert_equal PONG [r ping]
		assert_equal OK [r config set requirepass ""]
		set c [client]
		assert_equal PONG [$c ping]
		assert_equal OK [r config set requirepass secret]
	}
}

with_server {databases 3} {
	test "the number of databases is configured" {
		assert_equal OK [r select 2]
		assert_error "ERR DB index is out of range" {r select 3}
		assert_error "ERR invalid second DB index" {r swapdb 0 x}
		assert_error "ERR DB index is out of range" {r swapdb 0 3}
	}
}

test "unix sockets" {
	set path [file join [server_dir [here]] s.sock]
	set s [server_start [list unixsocket $path unixsocketperm 700]]
	try {
		assert [file exists $path]
		assert_match "*0700" [file attributes $path -permissions]
		assert_equal PONG [exec redis-cli -s $path ping]
		assert_equal OK [exec redis-cli -s $path set k v]
		assert_match "*addr=$path:0*" [exec redis-cli -s $path client list]
		set c [server_client $s]
		assert_equal v [$c get k]
		$c -close
	} finally {
		server_remove $s
	}
}
