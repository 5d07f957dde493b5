#include <math.h>

#if defined(__GNUC__) || defined(__clang__)
#define HELPER static __attribute__((unused))
#else
#define HELPER static
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

typedef @P@ M;
typedef @P@_real real;

#if REAL_IS_DOUBLE
#define R(x) x
#define R_EPSILON 2.220446049250313e-16
#define R_TINY 1e-300
#define R_NOISE 1e-9
#define R_SWITCH_NOISE 1e-10
#define R_HYSTERESIS 1e-12
#define R_MET 1e-9
#define R_FLOOR floor
#define R_CEIL ceil
#define R_ROUND round
#define R_SQRT sqrt
#define R_EXP exp
#define R_LOG log
#define R_LOG10 log10
#define R_POW pow
#define R_TAN tan
#define R_ASIN asin
#define R_ACOS acos
#define R_ATAN atan
#define R_ATAN2 atan2
#define R_SINH sinh
#define R_COSH cosh
#define R_TANH tanh
#define R_HYPOT hypot
#else
#define R(x) x##F
#define R_EPSILON 1.1920929e-7F
#define R_TINY 1e-37F
#define R_NOISE 1e-4F
#define R_SWITCH_NOISE 1e-5F
#define R_HYSTERESIS 1e-6F
#define R_MET 1e-4F
#define R_FLOOR floorf
#define R_CEIL ceilf
#define R_ROUND roundf
#define R_SQRT sqrtf
#define R_EXP expf
#define R_LOG logf
#define R_LOG10 log10f
#define R_POW powf
#define R_TAN tanf
#define R_ASIN asinf
#define R_ACOS acosf
#define R_ATAN atanf
#define R_ATAN2 atan2f
#define R_SINH sinhf
#define R_COSH coshf
#define R_TANH tanhf
#define R_HYPOT hypotf
#endif
#define R_INFINITY ((real)INFINITY)
#define R_NAN ((real)NAN)

enum {
    STATUS_OK,
    STATUS_SINGULAR,
    STATUS_NO_SOLUTION,
    STATUS_NOT_FINITE,
    STATUS_EVENT_LOOP,
    STATUS_REINIT,
    STATUS_CONSTRAINTS,
    STATUS_STOP,
    STATUS_CONFLICT,
    STATUS_TOO_MANY_EVENTS,
    STATUS_START,
    STATUS_STEP_TOO_SMALL,
    STATUS_CALL,
    STATUS_UNMET,
    STATUS_COUNT
};
static const char *const status_message[STATUS_COUNT] = {
    "all is well",
    "equations solved together no longer fix their unknowns",
    "no solution of equations solved together was found",
    "a value is not a finite number",
    "switches drive each other in a circle",
    "a value that `reinit` gives cannot be reached",
    "the constraints cannot be met",
    "the model ends the run",
    "two `when`s give one quantity different values",
    "too many events in one step: the model chatters, or the step is too long",
    "no state meets the demands on the start",
    "the step has become too small",
    "the call makes no sense here",
    "rows could not be met"};

/* Kinds of switches: how a value compares with zero, the whole number below it, its sign. */
enum {
    KIND_LESS,
    KIND_LESS_EQUAL,
    KIND_GREATER,
    KIND_GREATER_EQUAL,
    KIND_EQUAL,
    KIND_NOT_EQUAL,
    KIND_FLOOR,
    KIND_SIGN
};
enum { ACTION_SET, ACTION_AIM, ACTION_ASSIGN, ACTION_STOP };
enum { START_VARIABLE, START_DISCRETE, START_OTHER };
enum { STEP_EVENTS = 64, STEP_HALVINGS = 40 };
