# White space and line lengths: tabs for indentation, no blanks at the end of a line, at most 120 columns (a tab is 4),
# 160 in Tcl tests, whose expected texts are long.
{
	if (/[ \t]$/)
		print FILENAME ":" FNR ": blank at the end of the line"
	if (/\r/)
		print FILENAME ":" FNR ": carriage return"
	if (/^ +[^ *]/ && FILENAME !~ /\.tcl$/)
		print FILENAME ":" FNR ": indented with spaces"
	if (length($0) > 90) {
		line = $0
		n = gsub(/\t/, "", line)
		most = FILENAME ~ /\.tcl$/ ? 160 : 120
		if (length(line) + 4 * n > most)
			print FILENAME ":" FNR ": " length(line) + 4 * n " columns (at most " most ")"
	}
}
