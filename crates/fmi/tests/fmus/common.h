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
    EARLY_RETURN, NO_STATE,
    /* From here on in fault.c, at the time `at` where they happen in a step. */
    SEGV_STEP, SEGV_INIT, SEGV_GET, SEGV_SET, SEGV_TERMINATE, SEGV_FREE, SEGV_STATE, ABORT_STEP, EXIT_STEP,
    STACK_OVERFLOW, DIVIDE_STEP, EXIT_INIT, LOOP_STEP, SLEEP_STEP, HANG_INIT, HANG_TERMINATE, HANG_FREE, EAT_MEMORY,
    PRINT_LINES, PRINT_FLOOD, CLOSE_STDOUT, FLUSH_DENORMALS, ROUND_UP, ENABLE_TRAPS, CHANGE_FOLDER, SIGNAL_HANDLERS,
    LEAVE_CHILD, LEAVE_THREAD, CRASH_IN_THREAD, INFINITE_OUTPUT, DENORMAL_OUTPUT, LOG_AND_SEGV, DISCARD_LONG, EVENT_STEP,
    EXCEPTION_STEP, CHANGE_LOCALE, WRONG_RESTORE, PRINT_ERRORS, TRAPS_STEP, CHANGE_UMASK,
    DISCARD_GET,
    /* Asks for the end when the step is done; says it is a hundredth, and a fifth, of the step beyond its end. */
    END_AT_POINT, MISSES_A_LITTLE, MISSES_MUCH,
    /* Crashes in a step shorter than the usual ones. */
    SEGV_SHORT,
    /* Goes to the root folder as soon as it is initialised. */
    CHANGE_FOLDER_INIT,
    /* Does not return from a step shorter than the usual ones. */
    HANG_SHORT
};

/* Where something can go wrong. */
enum { AT_INIT, AT_STEP, AT_GET, AT_SET, AT_TERMINATE, AT_FREE, AT_STATE };

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
    int inside; /* in intermediate update mode; 2: and an input was set there */
    void (*between)(void *instance, double time);
    void *update;
    int dirty; /* an input was set since the last step */
    double reached;
    double stop; /* as told */
    double length; /* of the first step */
    int event; /* event handling is needed */
    int events; /* event mode is used */
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
/* A variable that must not be set (-DREFUSED=...). */
int refuses(uint32_t reference);

/* Whether a step is done by an FMU that stands still while it may have to go back (-DSTANDS_STILL). */
#ifdef STANDS_STILL
#define MOVES(no_return) (no_return)
#else
#define MOVES(no_return) 1
#endif

/* Called after Fatal: the importer must not do that. */
extern int dead;
#define ALIVE do { if (dead) abort(); } while (0)

void misbehave(void *instance, int place);
void throw_exception(void);
void crash(void);

int common_enter(Instance *i, double start);
int common_exit(Instance *i);
int common_get(Instance *i, const uint32_t *vr, size_t n, double *values);
int common_set(Instance *i, const uint32_t *vr, size_t n, const double *values);
int common_step(Instance *i, double start, double h);
int common_directional(Instance *i, const uint32_t *y, size_t ny, const uint32_t *x, size_t nx, const double *seed, double *out);
/* Of the outputs that are states, 1 and 2: their derivatives are 20 and 21. */
int common_output_derivatives(Instance *i, const uint32_t *vr, size_t n, const int *orders, double *out);
void *common_get_state(Instance *i, void *old);
void common_set_state(Instance *i, const void *state);
