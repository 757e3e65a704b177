# Files over 1,000 lines and functions over 100. The first file named lists functions that may be longer.
# A function's body starts with a brace alone in column 0 and ends with the next one.
function finish_file() {
	if (last != "" && lines > 1000)
		print last ":1: " lines " lines (at most 1,000)"
}

FILENAME ~ /allow-long-functions\.txt$/ {
	if (!/^#/ && NF >= 2)
		allowed[$1, $2] = 1
	next
}

FNR == 1 {
	finish_file()
	last = FILENAME
	start = 0
	head = ""
}

{ lines = FNR }

/^[A-Za-z_].*\(/ && !start { head = $0 }

/^\{/ {
	start = FNR
	name = head
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
}

/^\}/ && start {
	n = FNR - start - 1
	if (n > 100 && !((FILENAME, name) in allowed))
		print FILENAME ":" start ": " name " has " n " lines (at most 100)"
	start = 0
}

END { finish_file() }
