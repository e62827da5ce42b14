/* Test FMUs of costep: the functions of FMI 1.0 for Co-Simulation. MIT OR Apache-2.0.
   FMI(name) puts the identifier of the model before a name. */
#include "common.h"
#include <stdio.h>

typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
} Callbacks;

/* In the place of an environment FMI 1.0 has the component of the FMU. */
static void write_log(void *at, int status, const char *message) {
    Instance *i = at;
    ((Callbacks *)i->callbacks)->logger(i, i->name, status, "logStatusError", message, 1, 2.0, "three");
}

EXPORT const char *FMI(GetTypesPlatform)(void) { return "standard32"; }
EXPORT const char *FMI(GetVersion)(void) { return "1.0"; }
EXPORT void *FMI(InstantiateSlave)(const char *name, const char *guid, const char *place, const char *kind, double timeout,
                                   char visible, char interactive, Callbacks c, char logging) {
    ALIVE;
    (void)timeout; (void)logging;
    if (visible || interactive || strcmp(kind, "application/x-fmu-sharedlibrary") != 0) return NULL;
    Instance *i = c.allocate(1, sizeof(Instance));
    Callbacks *kept = c.allocate(1, sizeof c);
    *kept = c;
    i->callbacks = kept;
    i->log = write_log;
    snprintf(i->name, sizeof i->name, "%s", name);
    int wrong = strcmp(guid, GUID) != 0 || strncmp(place, "file:///", 8) != 0;
    /* Before it is handed out nobody knows the component. */
    if (wrong) i->log(i, ERROR, "the GUID is wrong");
    if (wrong || strncmp(name, "null", 4) == 0) { c.release(i); c.release(kept); return NULL; }
    if (strncmp(name, "crash", 5) == 0) crash();
    start_values(i);
    return i;
}
EXPORT void FMI(FreeSlaveInstance)(void *c) {
    ALIVE;
    misbehave(c, AT_FREE);
    Callbacks *callbacks = ((Instance *)c)->callbacks, copy = *callbacks;
    copy.release(callbacks);
    copy.release(c);
}
EXPORT int FMI(SetDebugLogging)(void *c, char on) { (void)c; (void)on; return OK; }
EXPORT int FMI(InitializeSlave)(void *c, double start, char stop_defined, double stop) {
    ALIVE;
    if (((Instance *)c)->stepping || stop_defined != 1 || stop < start) return ERROR;
    ((Instance *)c)->stop = stop;
    int status = common_enter(c, start);
    if (status == OK) status = common_exit(c);
    /* No step yet. */
    ((Instance *)c)->events = 1;
    return status;
}
EXPORT int FMI(TerminateSlave)(void *c) { ALIVE; misbehave(c, AT_TERMINATE); ((Instance *)c)->stepping = 0; return OK; }
#ifndef NO_RESET
EXPORT int FMI(ResetSlave)(void *c) {
    ALIVE;
    Instance *i = c;
#ifdef BAD_RESET
    return ERROR;
#endif
    memset(&i->d, 0, sizeof i->d);
    i->stepping = i->dirty = 0;
    start_values(i);
    return OK;
}
#endif
EXPORT int FMI(GetReal)(void *c, const uint32_t *vr, size_t n, double *v) {
    ALIVE;
    Instance *i = c;
    if (!i->stepping) { i->log(i, ERROR, "nothing can be read before the initialisation"); return ERROR; }
    if (!i->events) return common_get(c, vr, n, v);
    if (i->dirty) { i->log(i, ERROR, "an input was set and no step done before a get"); return ERROR; }
    /* Faults come after the first step. */
    i->stepping = 0;
    int status = common_get(c, vr, n, v);
    i->stepping = 1;
    return status;
}
EXPORT int FMI(SetReal)(void *c, const uint32_t *vr, size_t n, const double *v) { ALIVE; return common_set(c, vr, n, v); }
EXPORT int FMI(SetInteger)(void *c, const uint32_t *vr, size_t n, const int *v) {
    ALIVE;
    if (n != 1 || vr[0] != 100) return ERROR;
    ((Instance *)c)->d.fault = v[0];
    return OK;
}
EXPORT int FMI(SetBoolean)(void *c, const uint32_t *vr, size_t n, const char *v) {
    ALIVE;
    if (n != 1 || vr[0] != 101 || (v[0] != 0 && v[0] != 1)) return ERROR;
    ((Instance *)c)->d.flag = v[0];
    return OK;
}
EXPORT int FMI(GetBoolean)(void *c, const uint32_t *vr, size_t n, char *v) {
    ALIVE;
    for (size_t k = 0; k < n; k++) {
        if (vr[k] != 101) return ERROR;
        v[k] = ((Instance *)c)->d.flag ? -1 : 0;
    }
    return OK;
}
EXPORT int FMI(SetString)(void *c, const uint32_t *vr, size_t n, const char *const *v) {
    ALIVE;
    if (n != 1 || vr[0] != 102) return ERROR;
    snprintf(((Instance *)c)->text, 64, "%s", v[0]);
    return OK;
}
EXPORT int FMI(SetRealInputDerivatives)(void *c, const uint32_t *vr, size_t n, const int *order, const double *v) {
    ALIVE;
    for (size_t k = 0; k < n; k++) {
        if (vr[k] >= REALS || !is_input(vr[k]) || refuses(vr[k]) || order[k] < 1 || order[k] > ORDERS) return ERROR;
        ((Instance *)c)->d.du[order[k] - 1][vr[k]] = v[k];
    }
    return OK;
}
EXPORT int FMI(GetRealOutputDerivatives)(void *c, const uint32_t *vr, size_t n, const int *orders, double *v) {
    ALIVE;
    return common_output_derivatives(c, vr, n, orders, v);
}
#ifndef NO_STEP
EXPORT int FMI(DoStep)(void *c, double start, double h, char new_step) {
    ALIVE;
    if (new_step != 1 || !((Instance *)c)->stepping) return ERROR;
    ((Instance *)c)->events = 0;
    return common_step(c, start, h);
}
#endif
EXPORT int FMI(CancelStep)(void *c) { ALIVE; (void)c; return OK; }
EXPORT int FMI(GetRealStatus)(void *c, int kind, double *v) {
    ALIVE;
    if (kind != 2 || ((Instance *)c)->d.fault == DISCARD_MUTE) return DISCARD;
    *v = ((Instance *)c)->reached;
    return OK;
}
EXPORT int FMI(GetBooleanStatus)(void *c, int kind, char *v) { ALIVE; (void)c; (void)kind; (void)v; return DISCARD; }
EXPORT int FMI(GetStringStatus)(void *c, int kind, const char **v) { ALIVE; (void)c; (void)kind; (void)v; return DISCARD; }
