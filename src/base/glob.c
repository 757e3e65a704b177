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

static inline bool special(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

/* The first place from j on where what follows a star, beginning with c, can match. */
static size_t candidate(char c, struct bytes text, size_t j, bool nocase)
{
	const char *at;

	if (nocase || special(c) || j == text.n)
		return j;
	at = memchr(text.p + j, c, text.n - j);
	return at ? (size_t)(at - text.p) : text.n;
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
		char c = i < pattern.n ? pattern.p[i] : '\0';

		/* A plain byte is the usual case; a NUL of the pattern goes the long way, as its end does. */
		if (c == text.p[j] && c != '\0' && !special(c)) {
			i++;
			j++;
		} else if (c == '*') {
			while (i < pattern.n && pattern.p[i] == '*')
				i++;
			if (i == pattern.n)
				return true;
			star = true;
			star_i = i;
			star_j = j = candidate(pattern.p[i], text, j, nocase);
		} else if (i < pattern.n && one(pattern, &i, text.p[j], nocase)) {
			j++;
		} else if (star) {
			i = star_i;
			star_j = j = candidate(pattern.p[i], text, star_j + 1, nocase);
		} else {
			return false;
		}
	}
	while (i < pattern.n && pattern.p[i] == '*')
		i++;
	return i == pattern.n;
}
