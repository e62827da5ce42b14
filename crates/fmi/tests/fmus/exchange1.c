/* Test FMUs of costep for Model Exchange: the functions of FMI 1.0. MIT OR Apache-2.0.
   FMI(name) puts the identifier of the model before a name. */
#include "exchange.h"

typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);
/* Model Exchange has three callbacks. */
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
} Callbacks;
typedef struct { char converged, references, values, terminate, upcoming; double next; } EventInfo;

static void write_log(void *at, int status, const char *message) {
    Instance *i = at;
    ((Callbacks *)i->callbacks)->logger(i, i->name, status, "logStatusError", message);
}
static void tell(const Update *u, EventInfo *info) {
    EventInfo all = {!u->again, u->nominals, u->values, u->terminate, u->defined, u->next};
    *info = all;
}

EXPORT const char *FMI(GetModelTypesPlatform)(void) { return "standard32"; }
EXPORT const char *FMI(GetVersion)(void) { return "1.0"; }
EXPORT void *FMI(InstantiateModel)(const char *name, const char *guid, Callbacks c, char logging) {
    if ((logging & ~1) || strcmp(guid, GUID) != 0) return NULL;
    Instance *i = c.allocate(1, sizeof(Instance));
    i->callbacks = c.allocate(1, sizeof c);
    *(Callbacks *)i->callbacks = c;
    i->log = write_log;
    snprintf(i->name, sizeof i->name, "%s", name);
    start_values(&i->d);
    return i;
}
EXPORT void FMI(FreeModelInstance)(void *c) {
    Callbacks *callbacks = ((Instance *)c)->callbacks, copy = *callbacks;
    copy.release(callbacks);
    copy.release(c);
}
EXPORT int FMI(SetDebugLogging)(void *c, char on) { (void)c; (void)on; return OK; }
EXPORT int FMI(Initialize)(void *c, char controlled, double tolerance, EventInfo *info) {
    Instance *i = c;
    Update u = {0};
    if (controlled != (tolerance > 0.0)) return ERROR;
    int status = common_enter(i, i->d.time);
    if (status == OK) status = common_exit(i);
    if (status == OK) status = common_update(i, &u);
    if (status == OK) status = common_enter_continuous(i);
    tell(&u, info);
    return status;
}
EXPORT int FMI(Terminate)(void *c) { ((Instance *)c)->d.mode = TERMINATED; return OK; }
EXPORT int FMI(GetReal)(void *c, const uint32_t *vr, size_t n, double *v) {
    if (((Instance *)c)->d.mode == INSTANTIATED) return ERROR;
    return common_get(c, vr, n, v);
}
EXPORT int FMI(SetReal)(void *c, const uint32_t *vr, size_t n, const double *v) {
    Instance *i = c;
    /* There is no mode for discrete inputs: an update of an event follows. */
    int mode = i->d.mode;
    if (mode == CONTINUOUS) i->d.mode = EVENT;
    int status = common_set(i, vr, n, v);
    i->d.mode = mode;
    return status;
}
EXPORT int FMI(SetInteger)(void *c, const uint32_t *vr, size_t n, const int *v) {
    if (n != 1 || vr[0] != 100) return ERROR;
    ((Instance *)c)->d.fault = v[0];
    return OK;
}
EXPORT int FMI(SetTime)(void *c, double t) {
    Instance *i = c;
    if (i->d.mode == INSTANTIATED) { i->d.time = t; return OK; }
    return common_set_time(c, t);
}
EXPORT int FMI(EventUpdate)(void *c, char intermediate, EventInfo *info) {
    Update u = {0};
    if (intermediate) return ERROR;
    int status = common_enter_event(c);
    if (status == OK) status = common_update(c, &u);
    if (status == OK) status = common_enter_continuous(c);
    tell(&u, info);
    return status;
}
EXPORT int FMI(CompletedIntegratorStep)(void *c, char *event) {
    int wanted = 0, end = 0;
    int status = common_completed(c, &wanted, &end);
    *event = wanted;
    return status;
}
EXPORT int FMI(SetContinuousStates)(void *c, const double *x, size_t n) { return common_set_states(c, x, n); }
EXPORT int FMI(GetContinuousStates)(void *c, double *x, size_t n) { return common_get_states(c, x, n); }
EXPORT int FMI(GetDerivatives)(void *c, double *x, size_t n) { return common_rates(c, x, n); }
EXPORT int FMI(GetEventIndicators)(void *c, double *z, size_t n) { return common_indicators(c, z, n); }
#ifndef NO_NOMINALS
EXPORT int FMI(GetNominalContinuousStates)(void *c, double *x, size_t n) { return common_nominals(c, x, n); }
#endif
EXPORT int FMI(GetStateValueReferences)(void *c, uint32_t *vr, size_t n) {
    (void)c;
    size_t k = 0;
    for (uint32_t reference = 0; reference < REALS && k < n; reference++) if (is_state(reference)) vr[k++] = reference;
    return k == n ? OK : ERROR;
}
