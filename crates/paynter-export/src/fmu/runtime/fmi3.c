
/* ---- FMI 3.0 -------------------------------------------------------------------------------------------------------- */

#include <stdbool.h>
#include <stdint.h>

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3Callback)(void);

#ifdef FMI3_FUNCTION_PREFIX
#define FMI3_PASTE2(a, b) a##b
#define FMI3_PASTE(a, b) FMI3_PASTE2(a, b)
#define FMI3(name) FMI3_PASTE(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI3(name) name
#endif
#define RUNNING (INITIALIZING | EVENT_MODE | CONTINUOUS | STEPPING)
#define ANYTIME (INSTANTIATED | RUNNING | TERMINATED)
#define GOOD(condition) ((condition) ? fmi3OK : fmi3Error)

/* A function pointer and a pointer to data need not be of one size. */
typedef struct {
    fmi3LogMessageCallback log;
} callbacks3;

static void log_message(component *c, int level, const char *text)
{
    static const fmi3Status statuses[3] = {fmi3Error, fmi3Warning, fmi3OK};
    static const char *const categories[3] = {"logStatusError", "logStatusWarning", "logAll"};
    const callbacks3 *callbacks = (const callbacks3 *)c->callbacks;
    if (callbacks && callbacks->log)
        callbacks->log(c->environment, statuses[level], categories[level], text);
}

#define NEEDS(phases, function)                                                                                        \
    component *c = (component *)instance;                                                                              \
    if (!c || !allowed(c, phases, function))                                                                           \
        return fmi3Error

FMI_EXPORT const char *FMI3(fmi3GetVersion)(void) { return "3.0"; }

FMI_EXPORT fmi3Status FMI3(fmi3SetDebugLogging)(fmi3Instance instance, fmi3Boolean on, size_t n, const fmi3String names[])
{
    NEEDS(~0, "fmi3SetDebugLogging");
    (void)n, (void)names;
    c->is_logging = on;
    return fmi3OK;
}

static fmi3Instance instantiate3(fmi3String name, fmi3String token, int is_cosimulation, fmi3Boolean logging,
                                 fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    callbacks3 *callbacks = (callbacks3 *)malloc(sizeof *callbacks);
    component *c;
    if (!callbacks)
        return (fmi3Instance)0;
    callbacks->log = log;
    c = make_component(name, token, is_cosimulation, log_message, callbacks, environment, logging);
    if (!c)
        free(callbacks);
    return c;
}

FMI_EXPORT fmi3Instance FMI3(fmi3InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                           fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                                           fmi3LogMessageCallback log)
{
    (void)resources, (void)visible;
    return instantiate3(name, token, 0, logging, environment, log);
}

FMI_EXPORT fmi3Instance FMI3(fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                          fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
                                                          const fmi3ValueReference required[], size_t n_required,
                                                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                          fmi3Callback intermediate)
{
    component *c = (component *)instantiate3(name, token, 1, logging, environment, log);
    (void)resources, (void)visible, (void)event_mode, (void)required, (void)n_required, (void)intermediate;
    if (c)
        c->early_return = early_return;
    return c;
}

FMI_EXPORT fmi3Instance FMI3(fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                                fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                                                fmi3LogMessageCallback log, fmi3Callback update, fmi3Callback lock,
                                                                fmi3Callback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)update, (void)lock, (void)unlock;
    if (log)
        log(environment, fmi3Error, "logStatusError", "Scheduled Execution is not supported");
    return (fmi3Instance)0;
}

FMI_EXPORT void FMI3(fmi3FreeInstance)(fmi3Instance instance)
{
    component *c = (component *)instance;
    if (c)
        free(c->callbacks);
    free_component(c);
}

FMI_EXPORT fmi3Status FMI3(fmi3EnterInitializationMode)(fmi3Instance instance, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                                        fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop)
{
    NEEDS(INSTANTIATED, "fmi3EnterInitializationMode");
    if (!is_finite(start) || (has_stop && !(stop > start)))
        return GOOD(complain(c, LOG_ERROR, "fmi3EnterInitializationMode: the stop time must lie after the start time"));
    if (has_tolerance && tolerance > 0 && tolerance < 1)
        c->in.rtol = larger(tolerance, 1e-13);
    c->start = start;
    c->has_stop = has_stop;
    c->stop = stop;
    return GOOD(enter_initialization(c));
}

FMI_EXPORT fmi3Status FMI3(fmi3ExitInitializationMode)(fmi3Instance instance)
{
    NEEDS(INITIALIZING, "fmi3ExitInitializationMode");
    return GOOD(exit_initialization(c));
}

FMI_EXPORT fmi3Status FMI3(fmi3EnterEventMode)(fmi3Instance instance)
{
    NEEDS(CONTINUOUS | EVENT_MODE, "fmi3EnterEventMode");
    c->phase = EVENT_MODE;
    return fmi3OK;
}

FMI_EXPORT fmi3Status FMI3(fmi3Terminate)(fmi3Instance instance)
{
    NEEDS(EVENT_MODE | CONTINUOUS | STEPPING, "fmi3Terminate");
    tell_work(c);
    c->phase = TERMINATED;
    return fmi3OK;
}

FMI_EXPORT fmi3Status FMI3(fmi3Reset)(fmi3Instance instance)
{
    NEEDS(~0, "fmi3Reset");
    set_defaults(c);
    return fmi3OK;
}

FMI_EXPORT fmi3Status FMI3(fmi3GetFloat64)(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 value[], size_t n_values)
{
    size_t k;
    NEEDS(ANYTIME, "fmi3GetFloat64");
    if (n_values != n)
        return GOOD(complain(c, LOG_ERROR, "fmi3GetFloat64: all variables are scalars"));
    for (k = 0; k < n; ++k)
        if (!get_value(c, vr[k], &value[k]))
            return fmi3Error;
    return fmi3OK;
}

FMI_EXPORT fmi3Status FMI3(fmi3SetFloat64)(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Float64 value[], size_t n_values)
{
    size_t k;
    NEEDS(INSTANTIATED | RUNNING, "fmi3SetFloat64");
    if (n_values != n)
        return GOOD(complain(c, LOG_ERROR, "fmi3SetFloat64: all variables are scalars"));
    for (k = 0; k < n; ++k)
        if (!set_value(c, vr[k], value[k]))
            return fmi3Error;
    return fmi3OK;
}

/* All variables are Float64. */
static fmi3Status no_such(component *c, size_t n, const char *function)
{
    return n == 0 ? fmi3OK : GOOD(complain(c, LOG_ERROR, "%s: the model has no such variables", function));
}
#define OTHER(name, type, is_const)                                                                                    \
    FMI_EXPORT fmi3Status FMI3(name)(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, is_const type value[], \
                                     size_t n_values)                                                                  \
    {                                                                                                                  \
        NEEDS(ANYTIME, #name);                                                                                         \
        (void)vr, (void)value, (void)n_values;                                                                         \
        return no_such(c, n, #name);                                                                                   \
    }
#define NOTHING
OTHER(fmi3GetFloat32, fmi3Float32, NOTHING)
OTHER(fmi3GetInt8, int8_t, NOTHING)
OTHER(fmi3GetUInt8, uint8_t, NOTHING)
OTHER(fmi3GetInt16, int16_t, NOTHING)
OTHER(fmi3GetUInt16, uint16_t, NOTHING)
OTHER(fmi3GetInt32, int32_t, NOTHING)
OTHER(fmi3GetUInt32, uint32_t, NOTHING)
OTHER(fmi3GetInt64, int64_t, NOTHING)
OTHER(fmi3GetUInt64, uint64_t, NOTHING)
OTHER(fmi3GetBoolean, fmi3Boolean, NOTHING)
OTHER(fmi3GetString, fmi3String, NOTHING)
OTHER(fmi3SetFloat32, fmi3Float32, const)
OTHER(fmi3SetInt8, int8_t, const)
OTHER(fmi3SetUInt8, uint8_t, const)
OTHER(fmi3SetInt16, int16_t, const)
OTHER(fmi3SetUInt16, uint16_t, const)
OTHER(fmi3SetInt32, int32_t, const)
OTHER(fmi3SetUInt32, uint32_t, const)
OTHER(fmi3SetInt64, int64_t, const)
OTHER(fmi3SetUInt64, uint64_t, const)
OTHER(fmi3SetBoolean, fmi3Boolean, const)
OTHER(fmi3SetString, fmi3String, const)

FMI_EXPORT fmi3Status FMI3(fmi3GetBinary)(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary value[], size_t n_values)
{
    NEEDS(ANYTIME, "fmi3GetBinary");
    (void)vr, (void)sizes, (void)value, (void)n_values;
    return no_such(c, n, "fmi3GetBinary");
}
FMI_EXPORT fmi3Status FMI3(fmi3SetBinary)(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const size_t sizes[], const fmi3Binary value[], size_t n_values)
{
    NEEDS(ANYTIME, "fmi3SetBinary");
    (void)vr, (void)sizes, (void)value, (void)n_values;
    return no_such(c, n, "fmi3SetBinary");
}
#define CLOCKED(name, arguments, ...)                                                                                  \
    FMI_EXPORT fmi3Status FMI3(name) arguments                                                                         \
    {                                                                                                                  \
        NEEDS(ANYTIME, #name);                                                                                         \
        __VA_ARGS__;                                                                                                   \
        return no_such(c, n, #name);                                                                                   \
    }
/* Tells whether a clock ticks at the present instant, once for each tick. */
static int get_clock(component *c, unsigned reference, int *is_active)
{
    const variable_row *v = reference < N_REFERENCES ? &references[reference] : (const variable_row *)0;
    *is_active = 0;
    if (!v || v->kind != OF_CLOCK)
        return complain(c, LOG_ERROR, "the variable with reference %u is no clock", reference);
#if N_CLOCKS > 0
    *is_active = is_due(&c->m, v->index) && !c->is_told[v->index];
    if (*is_active)
        c->is_told[v->index] = 1;
#endif
    return 1;
}

FMI_EXPORT fmi3Status FMI3(fmi3GetClock)(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Clock value[])
{
    size_t k;
    NEEDS(EVENT_MODE, "fmi3GetClock");
    for (k = 0; k < n; ++k) {
        int is_active = 0;
        if (!get_clock(c, vr[k], &is_active))
            return fmi3Error;
        value[k] = is_active != 0;
    }
    return fmi3OK;
}
CLOCKED(fmi3SetClock, (fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Clock value[]), (void)vr, (void)value)
CLOCKED(fmi3GetIntervalDecimal, (fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 value[], int kinds[]), (void)vr, (void)value, (void)kinds)
CLOCKED(fmi3GetIntervalFraction, (fmi3Instance instance, const fmi3ValueReference vr[], size_t n, uint64_t value[], uint64_t resolution[], int kinds[]), (void)vr, (void)value, (void)resolution, (void)kinds)
CLOCKED(fmi3GetShiftDecimal, (fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 value[]), (void)vr, (void)value)
CLOCKED(fmi3GetShiftFraction, (fmi3Instance instance, const fmi3ValueReference vr[], size_t n, uint64_t value[], uint64_t resolution[]), (void)vr, (void)value, (void)resolution)
CLOCKED(fmi3SetIntervalDecimal, (fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Float64 value[]), (void)vr, (void)value)
CLOCKED(fmi3SetIntervalFraction, (fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const uint64_t value[], const uint64_t resolution[]), (void)vr, (void)value, (void)resolution)
CLOCKED(fmi3SetShiftDecimal, (fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Float64 value[]), (void)vr, (void)value)
CLOCKED(fmi3SetShiftFraction, (fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const uint64_t value[], const uint64_t resolution[]), (void)vr, (void)value, (void)resolution)

FMI_EXPORT fmi3Status FMI3(fmi3GetNumberOfVariableDependencies)(fmi3Instance instance, fmi3ValueReference vr, size_t *n)
{
    component *c = (component *)instance;
    (void)vr, (void)n;
    return c ? GOOD(complain(c, LOG_ERROR, "dependencies are in the model description")) : fmi3Error;
}
FMI_EXPORT fmi3Status FMI3(fmi3GetVariableDependencies)(fmi3Instance instance, fmi3ValueReference dependent, size_t a[], fmi3ValueReference b[], size_t d[], int kinds[], size_t n)
{
    component *c = (component *)instance;
    (void)dependent, (void)a, (void)b, (void)d, (void)kinds, (void)n;
    return c ? GOOD(complain(c, LOG_ERROR, "dependencies are in the model description")) : fmi3Error;
}

FMI_EXPORT fmi3Status FMI3(fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    NEEDS(ANYTIME, "fmi3GetFMUState");
    return GOOD(save_state(c, state));
}
FMI_EXPORT fmi3Status FMI3(fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState state)
{
    NEEDS(ANYTIME, "fmi3SetFMUState");
    return GOOD(restore_state(c, state));
}
FMI_EXPORT fmi3Status FMI3(fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    if (!instance || !state)
        return fmi3Error;
    free(*state);
    *state = (void *)0;
    return fmi3OK;
}
FMI_EXPORT fmi3Status FMI3(fmi3SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    if (!instance || !state)
        return fmi3Error;
    *size = sizeof(component);
    return fmi3OK;
}
FMI_EXPORT fmi3Status FMI3(fmi3SerializeFMUState)(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (!instance || !state || size < sizeof(component))
        return fmi3Error;
    memcpy(bytes, state, sizeof(component));
    return fmi3OK;
}
FMI_EXPORT fmi3Status FMI3(fmi3DeserializeFMUState)(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    if (!instance || size < sizeof(component))
        return fmi3Error;
    *state = malloc(sizeof(component));
    if (!*state)
        return fmi3Error;
    memcpy(*state, bytes, sizeof(component));
    return fmi3OK;
}

FMI_EXPORT fmi3Status FMI3(fmi3GetDirectionalDerivative)(fmi3Instance instance, const fmi3ValueReference unknown[], size_t n_unknown,
                                                         const fmi3ValueReference known[], size_t n_known, const fmi3Float64 seeds[],
                                                         size_t n_seeds, fmi3Float64 out[], size_t n_out)
{
    NEEDS(RUNNING, "fmi3GetDirectionalDerivative");
    if (n_seeds != n_known || n_out != n_unknown)
        return GOOD(complain(c, LOG_ERROR, "fmi3GetDirectionalDerivative: all variables are scalars"));
    return GOOD(directional(c, unknown, n_unknown, known, n_known, seeds, out));
}
FMI_EXPORT fmi3Status FMI3(fmi3GetAdjointDerivative)(fmi3Instance instance, const fmi3ValueReference unknown[], size_t n_unknown,
                                                     const fmi3ValueReference known[], size_t n_known, const fmi3Float64 seeds[],
                                                     size_t n_seeds, fmi3Float64 out[], size_t n_out)
{
    component *c = (component *)instance;
    (void)unknown, (void)n_unknown, (void)known, (void)n_known, (void)seeds, (void)n_seeds, (void)out, (void)n_out;
    return c ? GOOD(complain(c, LOG_ERROR, "fmi3GetAdjointDerivative is not supported")) : fmi3Error;
}

FMI_EXPORT fmi3Status FMI3(fmi3EnterConfigurationMode)(fmi3Instance instance)
{
    component *c = (component *)instance;
    return c ? GOOD(complain(c, LOG_ERROR, "the model has no structural parameters")) : fmi3Error;
}
FMI_EXPORT fmi3Status FMI3(fmi3ExitConfigurationMode)(fmi3Instance instance)
{
    component *c = (component *)instance;
    return c ? GOOD(complain(c, LOG_ERROR, "the model has no structural parameters")) : fmi3Error;
}

FMI_EXPORT fmi3Status FMI3(fmi3EvaluateDiscreteStates)(fmi3Instance instance)
{
    NEEDS(INITIALIZING | EVENT_MODE, "fmi3EvaluateDiscreteStates");
    return GOOD(refresh(c));
}

FMI_EXPORT fmi3Status FMI3(fmi3UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate,
                                                     fmi3Boolean *nominals_changed, fmi3Boolean *values_changed,
                                                     fmi3Boolean *has_next, fmi3Float64 *next)
{
    int has_moved = 0, has_ended = 0;
    NEEDS(EVENT_MODE, "fmi3UpdateDiscreteStates");
    if (!handle_event(c, &has_moved, &has_ended))
        return fmi3Error;
    *again = *nominals_changed = false;
    *terminate = has_ended != 0;
    *values_changed = has_moved != 0;
    *next = next_instant(&c->m);
    *has_next = is_finite(*next) != 0;
    return fmi3OK;
}

FMI_EXPORT fmi3Status FMI3(fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *n)
{
    *n = N_GUARDS;
    return instance ? fmi3OK : fmi3Error;
}
FMI_EXPORT fmi3Status FMI3(fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *n)
{
    *n = N_X;
    return instance ? fmi3OK : fmi3Error;
}

FMI_EXPORT fmi3Status FMI3(fmi3EnterStepMode)(fmi3Instance instance)
{
    NEEDS(STEPPING | EVENT_MODE, "fmi3EnterStepMode");
    c->phase = STEPPING;
    return fmi3OK;
}

FMI_EXPORT fmi3Status FMI3(fmi3GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const int32_t orders[],
                                                     fmi3Float64 value[], size_t n_values)
{
    NEEDS(STEPPING, "fmi3GetOutputDerivatives");
    (void)vr, (void)orders, (void)value, (void)n_values;
    return no_such(c, n, "fmi3GetOutputDerivatives");
}

FMI_EXPORT fmi3Status FMI3(fmi3DoStep)(fmi3Instance instance, fmi3Float64 point, fmi3Float64 step, fmi3Boolean no_prior,
                                       fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached)
{
    int has_event = 0, has_ended = 0;
    NEEDS(STEPPING, "fmi3DoStep");
    (void)no_prior;
    *event_needed = *terminate = *early = false;
    if (!communication_step(c, point, step, &has_event, &has_ended, reached))
        return fmi3Error;
    *terminate = has_ended != 0;
    *early = *reached < point + step - 8 * EPSILON * absolute(point + step);
    return fmi3OK;
}

FMI_EXPORT fmi3Status FMI3(fmi3ActivateModelPartition)(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 t)
{
    component *c = (component *)instance;
    (void)clock, (void)t;
    return c ? GOOD(complain(c, LOG_ERROR, "Scheduled Execution is not supported")) : fmi3Error;
}

/* What `exchange.c` is written in. */
#define STATUS fmi3Status
#define BOOLEAN fmi3Boolean
#define NAME(name) FMI3(fmi3##name)
#define TEXT(name) "fmi3" #name
#define RATES FMI3(fmi3GetContinuousStateDerivatives)
#define RATES_NAME "fmi3GetContinuousStateDerivatives"
