/* Every element but * takes exactly one byte of text. So once what follows a star has matched somewhere, no
 * other length of an earlier star can help, and only the last star is ever tried again: the work is at
 * most pattern times text. */
#include "glob.h"

static int fold(char c, bool nocase)
{
	/* Plain char on purpose: ranges compare as Redis does on the same machine. */
	return nocase && c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* The set whose text begins at *at, behind its '['. Moves *at behind the set. A set never closed ends with the
 * pattern. */
static bool in_set(struct bytes pat, size_t *at, char c, bool nocase)
{
	size_t i = *at;
	bool negate = i < pat.n && pat.p[i] == '^';
	bool found = false;
	int x = fold(c, nocase);

	i += negate;
	for (; i < pat.n && pat.p[i] != ']'; i++) {
		if (pat.p[i] == '\\' && i + 1 < pat.n) {
			/* An escaped byte is compared as it is, whatever nocase says. */
			found |= pat.p[++i] == c;
		} else if (i + 2 < pat.n && pat.p[i + 1] == '-') {
			char lo = pat.p[i], hi = pat.p[i + 2];

			if (lo > hi) {
				lo = pat.p[i + 2];
				hi = pat.p[i];
			}
			/* Folded behind the exchange, so that [Z-_] without case is empty, as in Redis. */
			found |= x >= fold(lo, nocase) && x <= fold(hi, nocase);
			i += 2;
		} else {
			found |= fold(pat.p[i], nocase) == x;
		}
	}
	*at = i < pat.n ? i + 1 : i;
	return found != negate;
}

/* One element (not a star) at *at against one byte; moves *at behind it. */
static bool one(struct bytes pat, size_t *at, char c, bool nocase)
{
	switch (pat.p[*at]) {
	case '?':
		++*at;
		return true;
	case '[':
		++*at;
		return in_set(pat, at, c, nocase);
	case '\\':
		if (*at + 1 < pat.n)
			++*at;
		break;
	}
	return fold(pat.p[(*at)++], nocase) == fold(c, nocase);
}

bool glob_match(struct bytes pattern, struct bytes text, bool nocase)
{
	size_t i = 0, j = 0;           /* pattern, text */
	size_t star_i = 0, star_j = 0; /* behind the last star, and where it was tried */
	bool star = false;

	/* "**" does not match an empty name where "*" does: so Redis answers, in KEYS for one. */
	if (text.n == 0)
		return pattern.n == 0 || (pattern.n == 1 && pattern.p[0] == '*');
	while (j < text.n) {
		if (i < pattern.n && pattern.p[i] == '*') {
			while (i < pattern.n && pattern.p[i] == '*')
				i++;
			if (i == pattern.n)
				return true;
			star = true;
			star_i = i;
			star_j = j;
		} else if (i < pattern.n && one(pattern, &i, text.p[j], nocase)) {
			j++;
		} else if (star) {
			i = star_i;
			j = ++star_j;
		} else {
			return false;
		}
	}
	while (i < pattern.n && pattern.p[i] == '*')
		i++;
	return i == pattern.n;
}
