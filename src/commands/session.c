/* Sessions: birth, death, reset, names and the password. */
#include "commands/internal.h"

#include "base/mem.h"

void session_init(struct session *s, struct engine *e, const struct session_ops *ops)
{
	memset(s, 0, sizeof(*s));
	s->e = e;
	s->ops = ops;
	s->id = e->next_id++;
	s->resp = 2;
	s->authenticated = !e->locked;
	s->user = "default";
	s->created_ms = s->last_ms = e->now_ms;
	s->prev = e->sessions_last;
	if (s->prev != NULL)
		s->prev->next = s;
	else
		e->sessions = s;
	e->sessions_last = s;
	e->session_count++;
}

void session_fini(struct session *s)
{
	struct engine *e = s->e;
	multi__discard(s);
	buf_free(&s->name);
	buf_free(&s->lib_name);
	buf_free(&s->lib_ver);
	if (s->prev != NULL)
		s->prev->next = s->next;
	else
		e->sessions = s->next;
	if (s->next != NULL)
		s->next->prev = s->prev;
	else
		e->sessions_last = s->prev;
	s->prev = s->next = NULL;
	e->session_count--;
}

void session_reset(struct session *s)
{
	multi__discard(s);
	s->flags &= ~(uint32_t)(SESSION_READONLY | SESSION_NO_EVICT | SESSION_NO_TOUCH);
	s->db = 0;
	s->resp = 2;
	s->reply_mode = REPLY_ON;
	s->authenticated = !s->e->locked;
	buf_free(&s->name);
	if (s->ops != NULL && s->ops->reset != NULL)
		s->ops->reset(s);
}

struct session *engine_sessions(const struct engine *e)
{
	return e->sessions;
}

uint64_t engine_session_count(const struct engine *e)
{
	return e->session_count;
}

const char *session_set_name(struct session *s, struct bytes name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] < '!' || name.p[i] > '~')
			return "ERR Client names cannot contain spaces, newlines or special characters.";
	s->name.n = 0;
	if (name.n == 0)
		buf_free(&s->name);
	else
		buf_add(&s->name, name.p, name.n);
	return NULL;
}

void engine_set_password(struct engine *e, struct bytes password)
{
	e->locked = password.n > 0;
	memset(e->password, 0, sizeof(e->password));
	if (e->locked)
		sha256_of(password.p, password.n, e->password);
}

bool engine_password_needed(const struct engine *e)
{
	return e->locked;
}

bool session_auth(struct session *s, struct bytes user, struct bytes password)
{
	if (!bytes_eq(user, BYTES_LIT("default")))
		return false;
	if (s->e->locked) {
		uint8_t digest[SHA256_BYTES];
		sha256_of(password.p, password.n, digest);
		if (!sha_same(digest, s->e->password, sizeof(digest)))
			return false;
	}
	s->authenticated = true;
	return true;
}
