/* Reading strings. */
#include "types/tstr.h"

#include "base/num.h"
#include "types/internal.h"

void tstr_view(const struct ks_ref *r, struct tstr *out)
{
	const struct ks__record_layout *rec = ks__ref_record(r);

	DCHECK2(rec_type(rec) == KS_STRING, rec_type(rec), 0);
	switch (rec_form(rec)) {
	case REC_INT:
		out->form = TSTR_INT;
		out->i = rec_int(rec);
		out->len = num_put_i64(out->digits, out->i);
		out->b = (struct bytes){out->digits, out->len};
		return;
	case REC_ROPE:
		out->form = TSTR_ROPE;
		out->rope = *rec_rope(rec);
		out->len = out->rope.len;
		return;
	default:
		out->form = TSTR_BYTES;
		out->b = rec_value(rec);
		out->len = out->b.n;
	}
}

void tstr_read(const struct ks_ref *r, const struct tstr *v, uint64_t at, void *out, size_t n)
{
	DCHECK2(at + n <= v->len, at, n);
	if (v->form == TSTR_ROPE)
		rope_read(r->ks->st, &v->rope, at, out, n);
	else if (n)
		memcpy(out, v->b.p + at, n);
}

void tstr_each(const struct ks_ref *r, const struct tstr *v, uint64_t at, uint64_t n, rope_piece_fn fn, void *ctx)
{
	DCHECK2(at + n <= v->len, at, n);
	if (n == 0)
		return;
	if (v->form == TSTR_ROPE)
		rope_each(r->ks->st, &v->rope, at, n, fn, ctx);
	else
		fn(ctx, v->b.p + at, n, 0);
}

bool tstr_i64(const struct ks_ref *r, const struct tstr *v, int64_t *out)
{
	(void)r;
	if (v->form == TSTR_INT) {
		*out = v->i;
		return true;
	}
	return v->form == TSTR_BYTES && num_i64(v->b, out);
}

bool tstr_held_i64(const struct ks_ref *r, int64_t *out)
{
	const struct ks__record_layout *rec = ks__ref_record(r);

	if (rec_form(rec) != REC_INT)
		return false;
	*out = rec_int(rec);
	return true;
}
