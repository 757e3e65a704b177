# Include lines against src/rooms.txt (the first file named): a room includes only rooms that it may use, and a
# library's header stands only in the library's door.
BEGIN {
	header["jemalloc"] = "^jemalloc/"
	header["libcrypto"] = "^openssl/"
	header["libuv"] = "^uv(\\.h|/)"
	header["libpmem"] = "^libpmem\\.h"
	header["libpmemobj"] = "^libpmemobj"
	header["xxhash"] = "^xxh"
	header["lz4"] = "^lz4"
}

FNR == 1 {
	room = FILENAME
	if (room !~ /^src\//)
		room = "" # utils: composed like main, no arrows of their own
	else if (sub(/^src\//, "", room) && !sub(/\/.*/, "", room))
		room = "main"
}

FILENAME ~ /rooms\.txt$/ {
	if (/^#/ || split($0, col, "|") < 3)
		next
	gsub(/ /, "", col[1])
	known[col[1]] = 1
	n = split(col[2], word, " ")
	for (i = 1; i <= n; i++)
		may[col[1], word[i]] = 1
	n = split(col[3], word, " ")
	for (i = 1; i <= n; i++)
		door[word[i]] = col[1]
	next
}

room == "" { next }

/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	to = part[2]
	if (!sub(/\/.*/, "", to))
		next # a neighbour in the same folder
	if (!(room in known))
		print FILENAME ":" FNR ": room '" room "' is not in src/rooms.txt"
	else if (to != room && !((room, to) in may))
		print FILENAME ":" FNR ": " room " may not use " to
}

/^[ \t]*#[ \t]*include[ \t]*</ {
	split($0, part, /[<>]/)
	for (lib in header)
		if (part[2] ~ header[lib] && door[lib] != room)
			print FILENAME ":" FNR ": <" part[2] "> belongs to the door of " lib " (" door[lib] ")"
}
