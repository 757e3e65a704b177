/* What the keyspace keeps in the pool, byte by byte. README.md draws it; tests/unit/types/test_layout.c holds it.
 * Little-endian; references are st_off, 0 is none. Reserved bytes are zero. */
#ifndef TYPES_LAYOUT_H
#define TYPES_LAYOUT_H

#include "struct/bt.h"
#include "struct/hx.h"

#define KS__DATASET_VERSION 1u

/* The dataset: ST_KIND_DATASET, the store's root. All that is versioned hangs here. */
struct ks__dataset_layout {
	struct st_obj obj;
	uint32_t version;
	uint32_t databases;     /* length of db[] */
	uint64_t next_identity; /* what the next new or flushed database gets; never used twice */
	uint64_t reserved[5];
	uint64_t db[];          /* ST_KIND_DB; 0: nothing was ever stored in it */
};

/* A database: ST_KIND_DB. */
struct ks__db_layout {
	struct st_obj obj;
	uint64_t identity;      /* names these contents: moves with SWAPDB, new after a flush */
	struct hx_root keys;    /* of records */
	struct bt_root ttl;     /* of struct ks__ttl_layout */
	uint64_t expires;       /* records with a deadline */
	int64_t first;          /* deadline of the first entry of ttl, INT64_MAX: it is empty */
	uint64_t reserved[7];
};

/* An entry of a TTL tree, ordered by (filed, hash). One stands for every record of the database with this key hash
 * that is filed under this deadline: nearly always one record, and never none. */
struct ks__ttl_layout {
	int64_t filed;          /* Unix ms */
	uint64_t hash;
};

/* A record: ST_KIND_RECORD, one key with its value. After this header, without gaps:
 *   struct ks__deadline_layout   when REC_DEADLINE
 *   the fixed part               8 bytes of integer, or struct rope_root, or nothing: by the form
 *   the key                      klen bytes
 *   the value's bytes            vlen bytes (REC_BYTES)
 * Bytes beyond, up to the size of the object, mean nothing. */
struct ks__record_layout {
	struct st_obj obj;      /* flags: below */
	uint32_t vlen;          /* REC_BYTES: of the value; else 0 */
	uint16_t klen;
	uint16_t reserved;
};

/* Flags: bits 0-3 type (enum ks_type), 4-6 form, 7 deadline part, 8-10 label, 11-15 zero. */
#define REC_TYPE 0x000fu
#define REC_FORM_SHIFT 4
#define REC_FORM 0x0070u
#define REC_DEADLINE 0x0080u
#define REC_LABEL_SHIFT 8
#define REC_LABEL 0x0700u
#define REC_FLAGS 0x07ffu

/* How the value is held. */
enum rec_form { REC_INT = 0, REC_BYTES = 1, REC_ROPE = 2, REC_FORMS = 3 };

/* What OBJECT ENCODING says of a string. */
enum rec_label_string { REC_LABEL_INT = 0, REC_LABEL_EMBSTR = 1, REC_LABEL_RAW = 2 };

/* KS__NONE in both: the key has no deadline at present. Otherwise filed <= deadline. */
#define KS__NONE (-1)
struct ks__deadline_layout {
	int64_t deadline;       /* Unix ms */
	int64_t filed;          /* where the TTL tree has it */
};

#endif
