/* Test FMUs of costep: what the models and both versions of FMI share. MIT OR Apache-2.0. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define REALS 32
#define ORDERS 4

enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING };

enum {
    NO_FAULT, ERROR_ENTER, ERROR_EXIT, ERROR_STEP, ERROR_GET, NAN_OUTPUT, DISCARD_STEP, WARN_STEP, FORMAT_TEXT,
    FATAL_STEP, PENDING_STEP, ERROR_SET, DISCARD_MUTE, END_SIMULATION, TIME_STANDS, STRANGE_STATUS, LOG_FLOOD,
    EARLY_RETURN, NO_STATE
};

/* Everything that belongs to the state. */
typedef struct {
    double r[REALS];         /* by value reference */
    double du[ORDERS][REALS]; /* derivatives of inputs */
    double x[2];
    double time;
    int32_t fault;
    int32_t flag;
} Data;

typedef struct {
    Data d;
    int stepping;
    int inside; /* in intermediate update mode */
    void (*between)(void *instance, double time);
    void *update;
    int dirty; /* an input was set since the last step */
    double reached;
    char text[64];
    void *environment;
    void (*log)(void *instance, int status, const char *message);
    void *callbacks;
    char name[64];
} Instance;

void start_values(Instance *i);
void initialise(Instance *i);
void advance(Instance *i, double h);
void outputs(Instance *i);
/* Derivatives of all variables when `known` changes by `seed`, added to `change`. */
void sensitivity(const Instance *i, uint32_t known, double seed, double change[REALS]);
int is_input(uint32_t reference);

/* Called after Fatal: the importer must not do that. */
extern int dead;
#define ALIVE do { if (dead) abort(); } while (0)

int common_enter(Instance *i, double start);
int common_exit(Instance *i);
int common_get(Instance *i, const uint32_t *vr, size_t n, double *values);
int common_set(Instance *i, const uint32_t *vr, size_t n, const double *values);
int common_step(Instance *i, double start, double h);
int common_directional(Instance *i, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx, const double *seed, double *out);
void *common_get_state(Instance *i, void *old);
void common_set_state(Instance *i, const void *state);
