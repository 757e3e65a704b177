# White space and line lengths: tabs for indentation, no blanks at the end of a line, at most 120 columns (a tab is 4).
{
	if (/[ \t]$/)
		print FILENAME ":" FNR ": blank at the end of the line"
	if (/\r/)
		print FILENAME ":" FNR ": carriage return"
	if (/^\t*  +[^ *]/ || /^ [^*]/)
		print FILENAME ":" FNR ": indented with spaces"
	if (length($0) > 90) {
		line = $0
		n = gsub(/\t/, "", line)
		if (length(line) + 4 * n > 120)
			print FILENAME ":" FNR ": " length(line) + 4 * n " columns (at most 120)"
	}
}
