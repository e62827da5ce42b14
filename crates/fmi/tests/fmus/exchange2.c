/* Test FMUs of costep for Model Exchange: the functions of FMI 2.0. MIT OR Apache-2.0. */
#include "exchange.h"

typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;
typedef struct { int again, terminate, nominals, values, defined; double next; } EventInfo;

static void write_log(void *at, int status, const char *message) {
    Instance *i = at;
    const Callbacks *callbacks = i->callbacks;
    callbacks->logger(callbacks->environment, i->name, status, "logStatusError", message);
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *resources, const Callbacks *c,
                             int visible, int logging) {
    (void)visible; (void)logging; (void)resources;
    if (kind != 0 || strcmp(guid, GUID) != 0) return NULL;
    Instance *i = c->allocate(1, sizeof(Instance));
    i->callbacks = (void *)c;
    i->log = write_log;
    snprintf(i->name, sizeof i->name, "%s", name);
    start_values(&i->d);
    return i;
}
EXPORT void fmi2FreeInstance(void *c) { ((Callbacks *)((Instance *)c)->callbacks)->release(c); }
EXPORT int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *names) { (void)c; (void)on; (void)n; (void)names; return OK; }
EXPORT int fmi2SetupExperiment(void *c, int td, double tol, double start, int sd, double stop) {
    (void)td; (void)tol; (void)sd; (void)stop;
    ((Instance *)c)->d.time = start;
    return OK;
}
EXPORT int fmi2EnterInitializationMode(void *c) { return common_enter(c, ((Instance *)c)->d.time); }
EXPORT int fmi2ExitInitializationMode(void *c) { return common_exit(c); }
EXPORT int fmi2Terminate(void *c) { ((Instance *)c)->d.mode = TERMINATED; return OK; }
EXPORT int fmi2Reset(void *c) {
    Instance *i = c;
    memset(&i->d, 0, sizeof i->d);
    start_values(&i->d);
    return OK;
}
EXPORT int fmi2GetReal(void *c, const uint32_t *vr, size_t n, double *v) { return common_get(c, vr, n, v); }
EXPORT int fmi2SetReal(void *c, const uint32_t *vr, size_t n, const double *v) { return common_set(c, vr, n, v); }
EXPORT int fmi2SetInteger(void *c, const uint32_t *vr, size_t n, const int *v) {
    if (n != 1 || vr[0] != 100) return ERROR;
    ((Instance *)c)->d.fault = v[0];
    return OK;
}
EXPORT int fmi2EnterEventMode(void *c) { return common_enter_event(c); }
EXPORT int fmi2NewDiscreteStates(void *c, EventInfo *info) {
    Update u = {0};
    int status = common_update(c, &u);
    EventInfo all = {u.again, u.terminate, u.nominals, u.values, u.defined, u.next};
    *info = all;
    return status;
}
EXPORT int fmi2EnterContinuousTimeMode(void *c) { return common_enter_continuous(c); }
EXPORT int fmi2CompletedIntegratorStep(void *c, int no_return, int *event, int *end) { (void)no_return; return common_completed(c, event, end); }
EXPORT int fmi2SetTime(void *c, double t) { return common_set_time(c, t); }
EXPORT int fmi2SetContinuousStates(void *c, const double *x, size_t n) { return common_set_states(c, x, n); }
EXPORT int fmi2GetContinuousStates(void *c, double *x, size_t n) { return common_get_states(c, x, n); }
EXPORT int fmi2GetDerivatives(void *c, double *x, size_t n) { return common_rates(c, x, n); }
EXPORT int fmi2GetEventIndicators(void *c, double *z, size_t n) { return common_indicators(c, z, n); }
#ifndef NO_NOMINALS
EXPORT int fmi2GetNominalsOfContinuousStates(void *c, double *x, size_t n) { return common_nominals(c, x, n); }
#endif
EXPORT int fmi2GetFMUstate(void *c, void **s) { *s = common_get_state(c, *s); return OK; }
EXPORT int fmi2SetFMUstate(void *c, void *s) { ((Instance *)c)->d = *(Data *)s; return OK; }
EXPORT int fmi2FreeFMUstate(void *c, void **s) { (void)c; free(*s); *s = NULL; return OK; }
EXPORT int fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { (void)c; (void)s; *n = sizeof(Data); return OK; }
EXPORT int fmi2SerializeFMUstate(void *c, void *s, char *b, size_t n) { (void)c; memcpy(b, s, n); return OK; }
EXPORT int fmi2DeSerializeFMUstate(void *c, const char *b, size_t n, void **s) {
    (void)c;
    if (n != sizeof(Data)) return ERROR;
    if (!*s) *s = malloc(n);
    memcpy(*s, b, n);
    return OK;
}
EXPORT int fmi2GetDirectionalDerivative(void *c, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx, const double *seed, double *out) {
    return common_directional(c, y, ny, x, nx, seed, out);
}
