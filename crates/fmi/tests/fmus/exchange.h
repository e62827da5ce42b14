/* Test FMUs of costep for Model Exchange: what the models and both versions of FMI share. MIT OR Apache-2.0. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define REALS 32

enum { OK, WARNING, DISCARD, ERROR, FATAL };
enum { INSTANTIATED, INITIALIZATION, EVENT, CONTINUOUS, TERMINATED };

enum {
    NO_FAULT, NAN_RATE, DISCARD_RATE, ERROR_RATE, DISCARD_ABOVE, BAD_NOMINALS, PAST_EVENT, NAN_EVENT, END_AT_EVENT,
    END_AFTER_STEP, ENDLESS_EVENT, NAN_INDICATOR, ERROR_EVENT, NO_STATE, INFINITE_STATE, NEW_NOMINALS
};

/* Everything that belongs to the state. */
typedef struct {
    double r[REALS]; /* by value reference */
    double x[2];
    double time;
    double last_event, completed[2]; /* there is no way back over these */
    double next;                     /* time of the next event, if it is not infinite */
    int mode;
    int relation;
    int samples;
    int steps;
    int32_t fault;
} Data;

/* What an update of the discrete states says. */
typedef struct { int again, terminate, nominals, values, defined; double next; } Update;

typedef struct {
    Data d;
    void *environment;
    void (*log)(void *instance, int status, const char *message);
    void *callbacks;
    char name[64];
    double shown[REALS]; /* outputs of an FMU that gives old ones after derivatives (-DSTALE_OUTPUTS) */
    int current;         /* it counts as up to date */
} Instance;

/* The model. */
extern const int states, indicators;
void start_values(Data *d);
void initialise(Data *d);
void rates(const Data *d, double rate[2]);
void outputs(Data *d);
double indicator(const Data *d);
void event(Data *d, Update *u);
void sensitivity(const Data *d, uint32_t known, double seed, double change[REALS]);
int is_input(uint32_t reference), is_discrete(uint32_t reference), is_state(uint32_t reference);

/* Calls, with a check of the mode in each. */
int common_enter(Instance *i, double start);
int common_exit(Instance *i);
int common_enter_event(Instance *i);
int common_update(Instance *i, Update *u);
int common_enter_continuous(Instance *i);
int common_completed(Instance *i, int *event, int *end);
int common_set_time(Instance *i, double t);
int common_set_states(Instance *i, const double *x, size_t n);
int common_get_states(Instance *i, double *x, size_t n);
int common_rates(Instance *i, double *rate, size_t n);
int common_indicators(Instance *i, double *z, size_t n);
int common_nominals(Instance *i, double *nominals, size_t n);
int common_get(Instance *i, const uint32_t *vr, size_t n, double *values);
int common_set(Instance *i, const uint32_t *vr, size_t n, const double *values);
int common_directional(Instance *i, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx, const double *seed, double *out);
void *common_get_state(Instance *i, void *old);
