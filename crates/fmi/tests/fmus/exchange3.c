/* Test FMUs of costep for Model Exchange: the functions of FMI 3.0. MIT OR Apache-2.0. */
#include "exchange.h"

typedef void (*LogMessage)(void *, int, const char *, const char *);

static void write_log(void *at, int status, const char *message) {
    Instance *i = at;
    if (i->callbacks) ((LogMessage)i->callbacks)(i->environment, status, "logStatusError", message);
}

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                          bool logging, void *environment, LogMessage log) {
    (void)visible; (void)resources;
    if (strcmp(token, GUID) != 0) return NULL;
    Instance *i = calloc(1, sizeof(Instance));
    i->environment = environment;
    i->callbacks = logging ? (void *)log : NULL;
    i->log = write_log;
    snprintf(i->name, sizeof i->name, "%s", name);
    start_values(&i->d);
    return i;
}
EXPORT void fmi3FreeInstance(void *c) { free(c); }
EXPORT int fmi3EnterInitializationMode(void *c, bool td, double tol, double start, bool sd, double stop) {
    (void)td; (void)tol; (void)sd; (void)stop;
    return common_enter(c, start);
}
EXPORT int fmi3ExitInitializationMode(void *c) { return common_exit(c); }
EXPORT int fmi3Terminate(void *c) { ((Instance *)c)->d.mode = TERMINATED; return OK; }
EXPORT int fmi3Reset(void *c) {
    Instance *i = c;
    memset(&i->d, 0, sizeof i->d);
    start_values(&i->d);
    return OK;
}
EXPORT int fmi3GetFloat64(void *c, const uint32_t *vr, size_t n, double *v, size_t count) { return n == count ? common_get(c, vr, n, v) : ERROR; }
EXPORT int fmi3SetFloat64(void *c, const uint32_t *vr, size_t n, const double *v, size_t count) { return n == count ? common_set(c, vr, n, v) : ERROR; }
EXPORT int fmi3SetInt32(void *c, const uint32_t *vr, size_t n, const int32_t *v, size_t count) {
    if (n != 1 || count != 1 || vr[0] != 100) return ERROR;
    ((Instance *)c)->d.fault = v[0];
    return OK;
}
EXPORT int fmi3EnterEventMode(void *c) { return common_enter_event(c); }
EXPORT int fmi3UpdateDiscreteStates(void *c, bool *again, bool *end, bool *nominals, bool *values, bool *defined, double *next) {
    Update u = {0};
    int status = common_update(c, &u);
    *again = u.again; *end = u.terminate; *nominals = u.nominals; *values = u.values; *defined = u.defined; *next = u.next;
    return status;
}
EXPORT int fmi3EnterContinuousTimeMode(void *c) { return common_enter_continuous(c); }
EXPORT int fmi3CompletedIntegratorStep(void *c, bool no_return, bool *event, bool *end) {
    (void)no_return;
    int wants = 0, ends = 0;
    int status = common_completed(c, &wants, &ends);
    *event = wants; *end = ends;
    return status;
}
EXPORT int fmi3SetTime(void *c, double t) { return common_set_time(c, t); }
EXPORT int fmi3SetContinuousStates(void *c, const double *x, size_t n) { return common_set_states(c, x, n); }
EXPORT int fmi3GetContinuousStates(void *c, double *x, size_t n) { return common_get_states(c, x, n); }
EXPORT int fmi3GetContinuousStateDerivatives(void *c, double *x, size_t n) { return common_rates(c, x, n); }
EXPORT int fmi3GetEventIndicators(void *c, double *z, size_t n) { return common_indicators(c, z, n); }
#ifndef NO_NOMINALS
EXPORT int fmi3GetNominalsOfContinuousStates(void *c, double *x, size_t n) { return common_nominals(c, x, n); }
#endif
EXPORT int fmi3GetFMUState(void *c, void **s) { *s = common_get_state(c, *s); return OK; }
EXPORT int fmi3SetFMUState(void *c, void *s) { ((Instance *)c)->d = *(Data *)s; return OK; }
EXPORT int fmi3FreeFMUState(void *c, void **s) { (void)c; free(*s); *s = NULL; return OK; }
EXPORT int fmi3SerializedFMUStateSize(void *c, void *s, size_t *n) { (void)c; (void)s; *n = sizeof(Data); return OK; }
EXPORT int fmi3SerializeFMUState(void *c, void *s, uint8_t *b, size_t n) { (void)c; memcpy(b, s, n); return OK; }
EXPORT int fmi3DeserializeFMUState(void *c, const uint8_t *b, size_t n, void **s) {
    (void)c;
    if (n != sizeof(Data)) return ERROR;
    if (!*s) *s = malloc(n);
    memcpy(*s, b, n);
    return OK;
}
EXPORT int fmi3GetDirectionalDerivative(void *c, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx,
                                        const double *seed, size_t ns, double *out, size_t no) {
    return ns == nx && no == ny ? common_directional(c, y, ny, x, nx, seed, out) : ERROR;
}
