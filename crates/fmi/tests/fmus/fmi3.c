/* Test FMUs of costep: the functions of FMI 3.0. MIT OR Apache-2.0. */
#include "common.h"
#include <stdio.h>

typedef void (*LogMessage)(void *, int, const char *, const char *);

static void write_log(void *at, int status, const char *message) {
    Instance *i = at;
    if (i->callbacks) ((LogMessage)i->callbacks)(i->environment, status, "logStatusError", message);
}

typedef void (*Update)(void *, double, bool, bool, bool, bool, bool *, double *);
static void between(void *at, double time) {
    Instance *i = at;
    bool early = false;
    double when = 0.0;
    i->inside = 1;
    ((Update)i->update)(i->environment, time, true, true, true, false, &early, &when);
    i->inside = 0;
    if (early) abort();
}

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                         bool logging, bool events, bool early, const uint32_t *vr, size_t n,
                                         void *environment, LogMessage log, void *intermediate) {
    ALIVE;
    (void)visible; (void)early; (void)vr; (void)resources; 
    Instance *i = calloc(1, sizeof(Instance));
    i->environment = environment;
    i->callbacks = logging ? (void *)log : NULL;
    i->log = write_log;
    snprintf(i->name, sizeof i->name, "%s", name);
    i->update = intermediate;
    i->between = intermediate && n ? between : NULL;
    i->events = events;
    if (strcmp(token, GUID) != 0) {
        i->log(i, ERROR, "the token is wrong");
        free(i);
        return NULL;
    }
    if (strncmp(name, "crash", 5) == 0) crash();
    if (strncmp(name, "null", 4) == 0) { free(i); return NULL; }
    start_values(i);
    return i;
}
EXPORT void fmi3FreeInstance(void *c) { ALIVE; misbehave(c, AT_FREE); free(c); }
EXPORT int fmi3EnterInitializationMode(void *c, bool td, double tol, double start, bool sd, double stop) {
    ALIVE; (void)td; (void)tol; (void)sd;
    ((Instance *)c)->stop = stop;
    return common_enter(c, start);
}
EXPORT int fmi3ExitInitializationMode(void *c) {
    ALIVE;
    Instance *i = c;
    int status = common_exit(i);
    /* 2: in event mode. */
    if (status == OK && i->events) i->stepping = 2;
    return status;
}
EXPORT int fmi3Terminate(void *c) { ALIVE; misbehave(c, AT_TERMINATE); ((Instance *)c)->stepping = 0; return OK; }
EXPORT int fmi3Reset(void *c) {
    ALIVE;
    Instance *i = c;
    memset(&i->d, 0, sizeof i->d);
    i->stepping = i->dirty = 0;
    start_values(i);
    return OK;
}
EXPORT int fmi3GetFloat64(void *c, const uint32_t *vr, size_t n, double *v, size_t count) {
    ALIVE;
    Instance *i = c;
    if (i->inside == 2) { i->log(i, ERROR, "a value is got after one was set in the same update"); return ERROR; }
    return n == count ? common_get(c, vr, n, v) : ERROR;
}
EXPORT int fmi3SetFloat64(void *c, const uint32_t *vr, size_t n, const double *v, size_t count) {
    ALIVE;
    Instance *i = c;
    if (i->inside) i->inside = 2;
    return n == count ? common_set(c, vr, n, v) : ERROR;
}
EXPORT int fmi3SetInt32(void *c, const uint32_t *vr, size_t n, const int32_t *v, size_t count) {
    ALIVE;
    if (n != 1 || count != 1 || vr[0] != 100) return ERROR;
    ((Instance *)c)->d.fault = v[0];
    return OK;
}
EXPORT int fmi3SetBoolean(void *c, const uint32_t *vr, size_t n, const bool *v, size_t count) {
    ALIVE;
    if (n != 1 || count != 1 || vr[0] != 101) return ERROR;
    ((Instance *)c)->d.flag = v[0];
    return OK;
}
EXPORT int fmi3SetString(void *c, const uint32_t *vr, size_t n, const char *const *v, size_t count) {
    ALIVE;
    if (n != 1 || count != 1 || vr[0] != 102) return ERROR;
    snprintf(((Instance *)c)->text, 64, "%s", v[0]);
    return OK;
}
#ifndef NO_STEP
EXPORT int fmi3DoStep(void *c, double start, double h, bool no_return, bool *event, bool *end, bool *early, double *last) {
    ALIVE;
    (void)no_return;
    Instance *i = c;
    int status = MOVES(no_return) ? common_step(i, start, h) : (i->reached = start + h, OK);
    int now = start >= i->d.r[12] - 1e-9;
    *event = i->event;
    *end = (i->d.fault == END_SIMULATION || i->d.fault == END_AT_POINT) && now;
    *early = (i->d.fault == EARLY_RETURN && now) || i->event;
#if defined(ZERO_LAST)
    *last = 0.0;
#elif !defined(NO_LAST)
    *last = i->reached;
#endif
    return *end || *early ? OK : status;
}
#endif
EXPORT int fmi3EnterEventMode(void *c) { ALIVE; ((Instance *)c)->stepping = 2; return OK; }
EXPORT int fmi3UpdateDiscreteStates(void *c, bool *again, bool *end, bool *nominals, bool *values, bool *time, double *next) {
    ALIVE;
    Instance *i = c;
    if (i->stepping != 2) return ERROR;
    /* The state jumps by one; a second round finds nothing to do. */
    *again = i->event;
    if (i->event) i->d.x[0] += 1.0;
    *values = i->event;
    i->event = 0;
    *end = *nominals = *time = false;
    *next = 0.0;
    outputs(i);
    return OK;
}
EXPORT int fmi3EnterStepMode(void *c) { ALIVE; ((Instance *)c)->stepping = 1; return OK; }
EXPORT int fmi3GetFMUState(void *c, void **s) { ALIVE; *s = common_get_state(c, *s); return OK; }
EXPORT int fmi3SetFMUState(void *c, void *s) { ALIVE; common_set_state(c, s); return OK; }
EXPORT int fmi3FreeFMUState(void *c, void **s) { ALIVE; (void)c; free(*s); *s = NULL; return OK; }
EXPORT int fmi3SerializedFMUStateSize(void *c, void *s, size_t *n) { ALIVE; (void)c; (void)s; *n = sizeof(Data); return OK; }
EXPORT int fmi3SerializeFMUState(void *c, void *s, uint8_t *b, size_t n) {
    ALIVE; (void)c;
    if (n != sizeof(Data)) return ERROR;
    memcpy(b, s, n);
    return OK;
}
EXPORT int fmi3DeserializeFMUState(void *c, const uint8_t *b, size_t n, void **s) {
    ALIVE; (void)c;
    if (n != sizeof(Data)) { ((Instance *)c)->log(c, ERROR, "not a state of this FMU"); return ERROR; }
    if (!*s) *s = malloc(n);
    memcpy(*s, b, n);
    return OK;
}
#ifndef NO_DIRECTIONAL
EXPORT int fmi3GetDirectionalDerivative(void *c, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx,
                                        const double *seed, size_t ns, double *out, size_t no) {
    ALIVE;
    return ns == nx && no == ny ? common_directional(c, y, ny, x, nx, seed, out) : ERROR;
}
#endif
EXPORT int fmi3GetAdjointDerivative(void *c, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx,
                                    const double *seed, size_t ns, double *out, size_t no) {
    ALIVE;
    if (ns != ny || no != nx) return ERROR;
    for (size_t k = 0; k < nx; k++) {
        double one = 1.0, change[REALS];
        if (ny > REALS || common_directional(c, y, ny, &x[k], 1, &one, change) != OK) return ERROR;
        out[k] = 0.0;
        for (size_t j = 0; j < ny; j++) out[k] += seed[j] * change[j];
    }
    return OK;
}
EXPORT int fmi3GetOutputDerivatives(void *c, const uint32_t *vr, size_t n, const int32_t *orders, double *v, size_t count) {
    ALIVE;
    return n == count ? common_output_derivatives(c, vr, n, orders, v) : ERROR;
}
