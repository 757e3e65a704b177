#include "err.h"

#include <stdarg.h>
#include <stdio.h>

const char *err_text(enum err e)
{
	static const char *const texts[] = {
#define X(name, text) [ERR_##name] = text,
		ERR_LIST(X)
#undef X
	};

	if ((unsigned)e >= sizeof(texts) / sizeof(texts[0]))
		return "unknown error";
	return texts[e];
}

enum err err_set(struct errinfo *ei, enum err code, const char *fmt, ...)
{
	va_list ap;

	if (!ei || ei->code != ERR_OK)
		return code;
	ei->code = code;
	va_start(ap, fmt);
	vsnprintf(ei->msg, sizeof(ei->msg), fmt, ap);
	va_end(ap);
	return code;
}
