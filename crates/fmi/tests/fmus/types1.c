/* Test FMU of costep with variables of all types of FMI 1.0. MIT OR Apache-2.0. */
#include "types.h"

typedef struct { void *functions[4]; } Callbacks;

EXPORT const char *Types_fmiGetTypesPlatform(void) { return "standard32"; }
EXPORT const char *Types_fmiGetVersion(void) { return "1.0"; }
EXPORT void *Types_fmiInstantiateSlave(const char *name, const char *guid, const char *place, const char *kind, double timeout,
                                       char visible, char interactive, Callbacks callbacks, char logging) {
    (void)name; (void)guid; (void)place; (void)kind; (void)timeout; (void)visible; (void)interactive; (void)logging;
    return callbacks.functions[0] ? calloc(1, sizeof(Data)) : NULL;
}
EXPORT void Types_fmiFreeSlaveInstance(void *c) { free(c); }
EXPORT int Types_fmiInitializeSlave(void *c, double start, char stop_defined, double stop) {
    (void)stop_defined; (void)stop;
    ((Data *)c)->time = start;
    ((Data *)c)->mode = STEPPING;
    return OK;
}
EXPORT int Types_fmiTerminateSlave(void *c) { (void)c; return OK; }
EXPORT int Types_fmiResetSlave(void *c) { memset(c, 0, sizeof(Data)); return OK; }
#define NOTHING
VARIABLES(Types_fmiGetReal, Types_fmiSetReal, double, f, 1, NOTHING, false)
VARIABLES(Types_fmiGetInteger, Types_fmiSetInteger, int, i, 0, NOTHING, false)
/* Any number but 0 is true. */
VARIABLES(Types_getTruth, Types_fmiSetBoolean, char, i, 0, NOTHING, false)
EXPORT int Types_fmiGetBoolean(void *c, const uint32_t *vr, size_t n, char *v) {
    int status = Types_getTruth(c, vr, n, v);
    for (size_t k = 0; k < n; k++) v[k] *= -7;
    return status;
}
EXPORT int Types_fmiSetString(void *c, const uint32_t *vr, size_t n, const char *const *v) {
    for (size_t k = 0; k < n; k++) if (set_text(c, vr[k], v[k])) return ERROR;
    return OK;
}
EXPORT int Types_fmiGetString(void *c, const uint32_t *vr, size_t n, const char **v) {
    for (size_t k = 0; k < n; k++) if (get_text(c, vr[k], v + k)) return ERROR;
    return OK;
}
EXPORT int Types_fmiDoStep(void *c, double start, double h, char new_step) {
    (void)start; (void)h; (void)new_step;
    step(c);
    return OK;
}
