/* Test FMU of costep with variables of all types of FMI 3.0. MIT OR Apache-2.0. */
#include "types.h"

typedef void (*LogMessage)(void *, int, const char *, const char *);

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                         bool logging, bool events, bool early, const uint32_t *vr, size_t n,
                                         void *environment, LogMessage log, void *intermediate) {
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)events; (void)early; (void)vr; (void)n;
    (void)environment; (void)log; (void)intermediate;
    return calloc(1, sizeof(Data));
}
EXPORT void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                          bool logging, void *environment, LogMessage log) {
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)environment; (void)log;
    return calloc(1, sizeof(Data));
}
EXPORT void fmi3FreeInstance(void *c) { free(c); }
EXPORT int fmi3EnterInitializationMode(void *c, bool td, double tol, double start, bool sd, double stop) {
    (void)td; (void)tol; (void)sd; (void)stop;
    ((Data *)c)->time = start;
    ((Data *)c)->mode = INITIALISING;
    return OK;
}
EXPORT int fmi3ExitInitializationMode(void *c) { ((Data *)c)->mode = EVENT; return OK; }
EXPORT int fmi3Terminate(void *c) { (void)c; return OK; }
EXPORT int fmi3Reset(void *c) { memset(c, 0, sizeof(Data)); return OK; }

#define COUNT , size_t count
#define PAIR(NAME, T, MEMBER, IS_REAL) VARIABLES(fmi3Get##NAME, fmi3Set##NAME, T, MEMBER, IS_REAL, COUNT, n != count)
PAIR(Float64, double, f, 1)
PAIR(Float32, float, f, 0)
PAIR(Int8, int8_t, i, 0)
PAIR(UInt8, uint8_t, u, 0)
PAIR(Int16, int16_t, i, 0)
PAIR(UInt16, uint16_t, u, 0)
PAIR(Int32, int32_t, i, 0)
PAIR(UInt32, uint32_t, u, 0)
PAIR(Int64, int64_t, i, 0)
PAIR(UInt64, uint64_t, u, 0)
PAIR(Boolean, bool, i, 0)

EXPORT int fmi3SetString(void *c, const uint32_t *vr, size_t n, const char *const *v, size_t count) {
    for (size_t k = 0; k < n; k++) if (n != count || set_text(c, vr[k], v[k])) return ERROR;
    return OK;
}
EXPORT int fmi3GetString(void *c, const uint32_t *vr, size_t n, const char **v, size_t count) {
    for (size_t k = 0; k < n; k++) if (n != count || get_text(c, vr[k], v + k)) return ERROR;
    return OK;
}
EXPORT int fmi3SetBinary(void *c, const uint32_t *vr, size_t n, const size_t *sizes, const uint8_t *const *v, size_t count) {
    Data *d = c;
    if (n != 1 || count != 1 || vr[0] != 93 || sizes[0] > 64) return ERROR;
    memcpy(d->bytes[0], v[0], sizes[0]);
    d->size[0] = sizes[0];
    return OK;
}
EXPORT int fmi3GetBinary(void *c, const uint32_t *vr, size_t n, size_t *sizes, const uint8_t **v, size_t count) {
    Data *d = c;
    if (n != 1 || count != 1 || vr[0] != 94) return ERROR;
    sizes[0] = d->size[1];
    v[0] = d->bytes[1];
    return OK;
}
EXPORT int fmi3DoStep(void *c, double start, double h, bool no_return, bool *event, bool *end, bool *early, double *last) {
    (void)no_return;
    step(c);
    *event = *end = *early = false;
    *last = start + h;
    return OK;
}

/* Model Exchange: x' = truth ? real : 0; the level is 10 times the 64-bit integer. */
EXPORT int fmi3EnterEventMode(void *c) { ((Data *)c)->mode = EVENT; return OK; }
EXPORT int fmi3UpdateDiscreteStates(void *c, bool *again, bool *end, bool *nominals, bool *values, bool *defined, double *next) {
    Data *d = c;
    if (d->mode != EVENT) return ERROR;
    d->v[LEVEL].i = 10 * d->v[WHOLE].i;
    *again = *end = *nominals = *values = *defined = false;
    *next = 0.0;
    return OK;
}
EXPORT int fmi3EnterContinuousTimeMode(void *c) { ((Data *)c)->mode = CONTINUOUS; return OK; }
EXPORT int fmi3CompletedIntegratorStep(void *c, bool no_return, bool *event, bool *end) {
    (void)c; (void)no_return;
    *event = *end = false;
    return OK;
}
EXPORT int fmi3SetTime(void *c, double t) { ((Data *)c)->time = t; return OK; }
EXPORT int fmi3SetContinuousStates(void *c, const double *x, size_t n) { (void)n; ((Data *)c)->v[X].f = x[0]; return OK; }
EXPORT int fmi3GetContinuousStates(void *c, double *x, size_t n) { (void)n; x[0] = ((Data *)c)->v[X].f; return OK; }
EXPORT int fmi3GetContinuousStateDerivatives(void *c, double *x, size_t n) {
    Data *d = c;
    (void)n;
    x[0] = d->v[TRUTH].i ? d->v[REAL].f : 0.0;
    return OK;
}
EXPORT int fmi3GetEventIndicators(void *c, double *z, size_t n) { (void)c; (void)z; (void)n; return OK; }
EXPORT int fmi3GetNominalsOfContinuousStates(void *c, double *x, size_t n) { (void)c; (void)n; x[0] = 1.0; return OK; }
