/* Test FMUs of costep with variables of all types. MIT OR Apache-2.0. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { OK, WARNING, DISCARD, ERROR };
enum { START, INITIALISING, STEPPING, EVENT, CONTINUOUS };
/* Inputs 1 to 19; an output is the input before the last step, at 100 more. */
enum { INPUTS = 20, OUTPUTS = 100, GAP = 90, STEPS = 130, SETS = 131, GETS = 132, CHECK = 133, X = 140, RATE = 141, LEVEL = 142, ROOM = 150 };
enum { REAL = 1, WHOLE = 9, TRUTH = 11, WIDE = 12 };

typedef union { double f; int64_t i; uint64_t u; } Any;
typedef struct {
    Any v[ROOM];
    int mode, sets, gets;
    double time;
    /* Input and output. */
    char text[2][64];
    uint8_t bytes[2][64];
    size_t size[2];
} Data;

static inline int set_text(Data *d, uint32_t vr, const char *value) {
    if (vr != 91 || strlen(value) >= 64) return ERROR;
    strcpy(d->text[0], value);
    return OK;
}
static inline int get_text(Data *d, uint32_t vr, const char **value) {
    if (vr != 92) return ERROR;
    *value = d->text[1];
    return OK;
}

/* All outputs follow; those of 64 bits with a gap on top. */
static inline void step(Data *d) {
    for (int k = 1; k < INPUTS; k++) d->v[OUTPUTS + k] = d->v[k];
    d->v[OUTPUTS + WHOLE].i += d->v[GAP].i;
    memcpy(d->text[1], d->text[0], 64);
    memcpy(d->bytes[1], d->bytes[0], 64);
    d->size[1] = d->size[0];
    /* Something to see of them in numbers. */
    d->v[CHECK].i = 0;
    for (const char *c = d->text[1]; *c; c++) d->v[CHECK].i += (unsigned char)*c;
    for (size_t k = 0; k < d->size[1]; k++) d->v[CHECK].i += 1000 * d->bytes[1][k];
    d->v[STEPS].i++;
    d->v[SETS].i = d->sets;
    d->v[GETS].i = d->gets;
    d->sets = d->gets = 0;
}

#define VARIABLES(GET, SET, T, MEMBER, IS_REAL, EXTRA, CHECK)                                                         \
    EXPORT int GET(void *c, const uint32_t *vr, size_t n, T *v EXTRA) {                                               \
        Data *d = c;                                                                                                  \
        d->gets += !IS_REAL;                                                                                          \
        for (size_t k = 0; k < n; k++) {                                                                              \
            if (vr[k] >= ROOM || (CHECK)) return ERROR;                                                               \
            v[k] = (T)d->v[vr[k]].MEMBER;                                                                             \
        }                                                                                                             \
        return OK;                                                                                                    \
    }                                                                                                                 \
    EXPORT int SET(void *c, const uint32_t *vr, size_t n, const T *v EXTRA) {                                         \
        Data *d = c;                                                                                                  \
        d->sets += !IS_REAL;                                                                                          \
        /* Between events discrete inputs cannot be set. */                                                           \
        if (d->mode == CONTINUOUS && !IS_REAL) return ERROR;                                                          \
        for (size_t k = 0; k < n; k++) {                                                                              \
            if (vr[k] >= OUTPUTS || (CHECK)) return ERROR;                                                            \
            d->v[vr[k]].MEMBER = v[k];                                                                                \
        }                                                                                                             \
        return OK;                                                                                                    \
    }
