/* Test FMU of costep with variables of all types of FMI 2.0. MIT OR Apache-2.0. */
#include "types.h"

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *resources, const void *callbacks,
                             int visible, int logging) {
    (void)name; (void)guid; (void)resources; (void)callbacks; (void)visible; (void)logging;
    return kind == 1 ? calloc(1, sizeof(Data)) : NULL;
}
EXPORT void fmi2FreeInstance(void *c) { free(c); }
EXPORT int fmi2SetupExperiment(void *c, int td, double tol, double start, int sd, double stop) {
    (void)td; (void)tol; (void)sd; (void)stop;
    ((Data *)c)->time = start;
    return OK;
}
EXPORT int fmi2EnterInitializationMode(void *c) { ((Data *)c)->mode = INITIALISING; return OK; }
EXPORT int fmi2ExitInitializationMode(void *c) { ((Data *)c)->mode = STEPPING; return OK; }
EXPORT int fmi2Terminate(void *c) { (void)c; return OK; }
EXPORT int fmi2Reset(void *c) { memset(c, 0, sizeof(Data)); return OK; }
#define NOTHING
VARIABLES(fmi2GetReal, fmi2SetReal, double, f, 1, NOTHING, false)
VARIABLES(fmi2GetInteger, fmi2SetInteger, int, i, 0, NOTHING, false)
/* Any number but 0 is true. */
VARIABLES(fmi2GetTruth, fmi2SetBoolean, int, i, 0, NOTHING, false)
EXPORT int fmi2GetBoolean(void *c, const uint32_t *vr, size_t n, int *v) {
    int status = fmi2GetTruth(c, vr, n, v);
    for (size_t k = 0; k < n; k++) v[k] *= -7;
    return status;
}
EXPORT int fmi2SetString(void *c, const uint32_t *vr, size_t n, const char *const *v) {
    for (size_t k = 0; k < n; k++) if (set_text(c, vr[k], v[k])) return ERROR;
    return OK;
}
EXPORT int fmi2GetString(void *c, const uint32_t *vr, size_t n, const char **v) {
    for (size_t k = 0; k < n; k++) if (get_text(c, vr[k], v + k)) return ERROR;
    return OK;
}
EXPORT int fmi2DoStep(void *c, double start, double h, int no_return) {
    (void)start; (void)h; (void)no_return;
    step(c);
    return OK;
}
