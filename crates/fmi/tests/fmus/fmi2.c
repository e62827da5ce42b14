/* Test FMUs of costep: the functions of FMI 2.0. MIT OR Apache-2.0. */
#include "common.h"
#include <stdio.h>

typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

static void write_log(void *at, int status, const char *message) {
    Instance *i = at;
    const Callbacks *callbacks = i->callbacks;
#ifdef FOREIGN_ENVIRONMENT
    void *environment = (void *)16;
#else
    void *environment = callbacks->environment;
#endif
    callbacks->logger(environment, i->name, status, "logStatusError", message, 1, 2.0, "three");
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *resources, const Callbacks *c,
                             int visible, int logging) {
    ALIVE;
    (void)visible;
    if (strncmp(name, "shy", 3) == 0 && !logging) return NULL;
    Instance *i = c->allocate(1, sizeof(Instance));
    i->callbacks = (void *)c;
    i->log = write_log;
    snprintf(i->name, sizeof i->name, "%s", name);
    if (kind != 1 || strcmp(guid, GUID) != 0 || strncmp(resources, "file:///", 8) != 0) {
        i->log(i, ERROR, "the GUID is wrong");
        c->release(i);
        return NULL;
    }
    if (strncmp(name, "crash", 5) == 0) crash();
    if (strncmp(name, "null", 4) == 0) { c->release(i); return NULL; }
    start_values(i);
    return i;
}
EXPORT void fmi2FreeInstance(void *c) { ALIVE; misbehave(c, AT_FREE); ((Callbacks *)((Instance *)c)->callbacks)->release(c); }
EXPORT int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *names) { (void)c; (void)on; (void)n; (void)names; return OK; }
EXPORT int fmi2SetupExperiment(void *c, int td, double tol, double start, int sd, double stop) {
    ALIVE; (void)td; (void)tol; (void)sd;
    ((Instance *)c)->stop = stop;
    ((Instance *)c)->d.time = start;
    return OK;
}
EXPORT int fmi2EnterInitializationMode(void *c) { ALIVE; return common_enter(c, ((Instance *)c)->d.time); }
EXPORT int fmi2ExitInitializationMode(void *c) { ALIVE; return common_exit(c); }
EXPORT int fmi2Terminate(void *c) { ALIVE; misbehave(c, AT_TERMINATE); ((Instance *)c)->stepping = 0; return OK; }
EXPORT int fmi2Reset(void *c) {
    ALIVE;
    Instance *i = c;
    memset(&i->d, 0, sizeof i->d);
    i->stepping = i->dirty = 0;
    start_values(i);
    return OK;
}
EXPORT int fmi2GetReal(void *c, const uint32_t *vr, size_t n, double *v) { ALIVE; return common_get(c, vr, n, v); }
EXPORT int fmi2SetReal(void *c, const uint32_t *vr, size_t n, const double *v) { ALIVE; return common_set(c, vr, n, v); }
EXPORT int fmi2SetInteger(void *c, const uint32_t *vr, size_t n, const int *v) {
    ALIVE;
    if (n != 1 || vr[0] != 100) return ERROR;
    ((Instance *)c)->d.fault = v[0];
    return OK;
}
EXPORT int fmi2SetBoolean(void *c, const uint32_t *vr, size_t n, const int *v) {
    ALIVE;
    if (n != 1 || vr[0] != 101) return ERROR;
    ((Instance *)c)->d.flag = v[0];
    return OK;
}
EXPORT int fmi2SetString(void *c, const uint32_t *vr, size_t n, const char *const *v) {
    ALIVE;
    if (n != 1 || vr[0] != 102) return ERROR;
    snprintf(((Instance *)c)->text, 64, "%s", v[0]);
    return OK;
}
EXPORT int fmi2SetRealInputDerivatives(void *c, const uint32_t *vr, size_t n, const int *order, const double *v) {
    ALIVE;
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= REALS || !is_input(vr[k]) || refuses(vr[k]) || order[k] < 1 || order[k] > ORDERS) return ERROR;
#ifndef IGNORES_DERIVATIVES
        ((Instance *)c)->d.du[order[k] - 1][vr[k]] = v[k];
#else
        (void)v;
#endif
    }
    return OK;
}
#ifndef NO_STEP
EXPORT int fmi2DoStep(void *c, double start, double h, int no_return) {
    ALIVE;
    (void)no_return;
    return MOVES(no_return) ? common_step(c, start, h) : OK;
}
#endif
EXPORT int fmi2CancelStep(void *c) { ALIVE; (void)c; return OK; }
EXPORT int fmi2GetRealStatus(void *c, int kind, double *v) {
    ALIVE;
    if (kind != 2 || ((Instance *)c)->d.fault == DISCARD_MUTE) return DISCARD;
    *v = ((Instance *)c)->reached;
    return OK;
}
EXPORT int fmi2GetBooleanStatus(void *c, int kind, int *v) {
    ALIVE;
    if (kind != 3 || ((Instance *)c)->d.fault == DISCARD_MUTE) return DISCARD;
    int fault = ((Instance *)c)->d.fault;
    *v = fault == END_SIMULATION || fault == END_AT_POINT;
    return OK;
}
EXPORT int fmi2GetFMUstate(void *c, void **s) { ALIVE; *s = common_get_state(c, *s); return OK; }
EXPORT int fmi2SetFMUstate(void *c, void *s) { ALIVE; common_set_state(c, s); return OK; }
EXPORT int fmi2FreeFMUstate(void *c, void **s) { ALIVE; (void)c; free(*s); *s = NULL; return OK; }
EXPORT int fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { ALIVE; (void)c; (void)s; *n = sizeof(Data); return OK; }
EXPORT int fmi2SerializeFMUstate(void *c, void *s, char *b, size_t n) {
    ALIVE; (void)c;
    if (n != sizeof(Data)) return ERROR;
    memcpy(b, s, n);
    return OK;
}
EXPORT int fmi2DeSerializeFMUstate(void *c, const char *b, size_t n, void **s) {
    ALIVE; (void)c;
    if (n != sizeof(Data)) { ((Instance *)c)->log(c, ERROR, "not a state of this FMU"); return ERROR; }
    if (!*s) *s = malloc(n);
    memcpy(*s, b, n);
    return OK;
}
EXPORT int fmi2GetDirectionalDerivative(void *c, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx, const double *seed, double *out) {
    ALIVE;
    return common_directional(c, y, ny, x, nx, seed, out);
}
EXPORT int fmi2GetRealOutputDerivatives(void *c, const uint32_t *vr, size_t n, const int *orders, double *v) {
    ALIVE;
    return common_output_derivatives(c, vr, n, orders, v);
}
