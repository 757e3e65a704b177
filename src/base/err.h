/* Reasons why something at open or in I/O failed, and the sentence the operator reads. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#define ERR_LIST(X) \
	X(OK, "ok") \
	X(MEMORY, "out of memory") \
	X(FULL, "no space left in the pool") \
	X(IO, "input/output error") \
	X(CORRUPT, "damaged") \
	X(VERSION, "another format version") \
	X(LOCKED, "in use by another process") \
	X(MISSING, "a needed file is missing") \
	X(MEDIUM, "last used on another medium") \
	X(PERMISSION, "permission denied") \
	X(ARGUMENT, "bad argument")

enum err {
#define X(name, text) ERR_##name,
	ERR_LIST(X)
#undef X
};

const char *err_text(enum err e);

/* What failed and what to do about it. The first error set wins; clean-up does not overwrite it. */
struct errinfo {
	enum err code;
	char msg[512];
};

/* Returns code, so that "return err_set(...)" reads well. ei may be NULL. */
enum err err_set(struct errinfo *ei, enum err code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
