# Calls that this code does without, each with what to use instead. Comments and strings do not count.
BEGIN {
	ban("sprintf vsprintf", "snprintf or buf_addf")
	ban("strcpy strcat stpcpy strncat", "struct buf or memcpy with a bound")
	ban("strncpy", "memcpy with a bound")
	ban("gets", "nothing")
	ban("atoi atol atoll atof", "num_i64 and friends")
	ban("strtok", "resp_split_line or strtok_r")
	ban("alloca", "struct buf or mem_alloc")
	ban("system popen", "nothing")
	ban("rand srand random srandom", "base/rng.h")
	ban("malloc calloc realloc free strdup strndup asprintf vasprintf aligned_alloc posix_memalign", "base/mem.h")
	ban("gettimeofday clock_gettime time", "base/clock.h")
	ban("_mm_clwb _mm_clflush _mm_clflushopt _mm_sfence _mm_stream_si64", "the medium (store/)")
	except["src/base/mem.c"] = " malloc calloc realloc free aligned_alloc posix_memalign "
	except["src/base/clock.c"] = " gettimeofday clock_gettime time "
}

function ban(names, instead,    n, i, word) {
	n = split(names, word, " ")
	for (i = 1; i <= n; i++)
		use[word[i]] = instead
}

FNR == 1 { in_comment = 0 }

{
	line = $0
	if (in_comment) {
		if (!match(line, /\*\//))
			next
		line = substr(line, RSTART + 2)
		in_comment = 0
	}
	if (line !~ /\(/ && line !~ /\/\*/)
		next
	gsub(/\\./, "", line)
	gsub(/"[^"]*"/, "\"\"", line)
	gsub(/\/\*([^*]|\*[^\/])*\*\//, " ", line)
	sub(/\/\/.*/, "", line)
	if (match(line, /\/\*/)) {
		line = substr(line, 1, RSTART - 1)
		in_comment = 1
	}
	while (match(line, /[A-Za-z_][A-Za-z0-9_]*[ ]*\(/)) {
		before = RSTART > 1 ? substr(line, RSTART - 1, 1) : ""
		word = substr(line, RSTART, RLENGTH - 1)
		sub(/ +$/, "", word)
		line = substr(line, RSTART + RLENGTH)
		if (!(word in use) || before == "." || before == ">")
			continue
		if (FILENAME in except && index(except[FILENAME], " " word " "))
			continue
		print FILENAME ":" FNR ": " word "() is not used here; use " use[word]
	}
}
