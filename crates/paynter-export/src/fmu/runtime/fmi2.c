
/* ---- FMI 2.0 -------------------------------------------------------------------------------------------------------- */

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged,
        valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

#ifdef FMI2_FUNCTION_PREFIX
#define FMI2_PASTE2(a, b) a##b
#define FMI2_PASTE(a, b) FMI2_PASTE2(a, b)
#define FMI2(name) FMI2_PASTE(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI2(name) name
#endif
#define RUNNING (INITIALIZING | EVENT_MODE | CONTINUOUS | STEPPING)
#define GOOD(condition) ((condition) ? fmi2OK : fmi2Error)

static void log_message(component *c, int level, const char *text)
{
    static const fmi2Status statuses[3] = {fmi2Error, fmi2Warning, fmi2OK};
    static const char *const categories[3] = {"logStatusError", "logStatusWarning", "logAll"};
    const fmi2CallbackFunctions *callbacks = (const fmi2CallbackFunctions *)c->callbacks;
    if (callbacks && callbacks->logger)
        callbacks->logger(callbacks->componentEnvironment, c->name ? c->name : "", statuses[level], categories[level],
                          "%s", text);
}

#define NEEDS(phases, function)                                                                                        \
    component *c = (component *)instance;                                                                              \
    if (!c || !allowed(c, phases, function))                                                                           \
        return fmi2Error

FMI_EXPORT const char *FMI2(fmi2GetTypesPlatform)(void) { return "default"; }
FMI_EXPORT const char *FMI2(fmi2GetVersion)(void) { return "2.0"; }

FMI_EXPORT fmi2Status FMI2(fmi2SetDebugLogging)(fmi2Component instance, fmi2Boolean on, size_t n, const fmi2String names[])
{
    component *c = (component *)instance;
    (void)n, (void)names;
    if (!c)
        return fmi2Error;
    c->is_logging = on;
    return fmi2OK;
}

FMI_EXPORT fmi2Component FMI2(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                               const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)resources, (void)visible;
    return make_component(name, guid, type == fmi2CoSimulation, log_message, (void *)(size_t)callbacks, (void *)0, logging);
}

FMI_EXPORT void FMI2(fmi2FreeInstance)(fmi2Component instance) { free_component((component *)instance); }

FMI_EXPORT fmi2Status FMI2(fmi2SetupExperiment)(fmi2Component instance, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                                fmi2Real start, fmi2Boolean has_stop, fmi2Real stop)
{
    NEEDS(INSTANTIATED, "fmi2SetupExperiment");
    if (!is_finite(start) || (has_stop && !(stop > start)))
        return GOOD(complain(c, LOG_ERROR, "fmi2SetupExperiment: the stop time must lie after the start time"));
    if (has_tolerance && tolerance > 0 && tolerance < 1)
        c->in.rtol = larger(tolerance, 1e-13);
    c->start = c->m.t = start;
    c->has_stop = has_stop;
    c->stop = stop;
    return fmi2OK;
}

FMI_EXPORT fmi2Status FMI2(fmi2EnterInitializationMode)(fmi2Component instance)
{
    NEEDS(INSTANTIATED, "fmi2EnterInitializationMode");
    return GOOD(enter_initialization(c));
}

FMI_EXPORT fmi2Status FMI2(fmi2ExitInitializationMode)(fmi2Component instance)
{
    NEEDS(INITIALIZING, "fmi2ExitInitializationMode");
    return GOOD(exit_initialization(c));
}

FMI_EXPORT fmi2Status FMI2(fmi2Terminate)(fmi2Component instance)
{
    NEEDS(EVENT_MODE | CONTINUOUS | STEPPING, "fmi2Terminate");
    tell_work(c);
    c->phase = TERMINATED;
    return fmi2OK;
}

FMI_EXPORT fmi2Status FMI2(fmi2Reset)(fmi2Component instance)
{
    NEEDS(~0, "fmi2Reset");
    set_defaults(c);
    return fmi2OK;
}

FMI_EXPORT fmi2Status FMI2(fmi2GetReal)(fmi2Component instance, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    size_t k;
    NEEDS(INSTANTIATED | RUNNING | TERMINATED, "fmi2GetReal");
    for (k = 0; k < n; ++k)
        if (!get_value(c, vr[k], &value[k]))
            return fmi2Error;
    return fmi2OK;
}

FMI_EXPORT fmi2Status FMI2(fmi2SetReal)(fmi2Component instance, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    size_t k;
    NEEDS(INSTANTIATED | RUNNING, "fmi2SetReal");
    for (k = 0; k < n; ++k)
        if (!set_value(c, vr[k], value[k]))
            return fmi2Error;
    return fmi2OK;
}

/* All variables are real. */
static fmi2Status no_such(component *c, size_t n, const char *function)
{
    return n == 0 ? fmi2OK : GOOD(complain(c, LOG_ERROR, "%s: the model has no such variables", function));
}
#define OTHER(name, type, is_const)                                                                                    \
    FMI_EXPORT fmi2Status FMI2(name)(fmi2Component instance, const fmi2ValueReference vr[], size_t n, is_const type value[]) \
    {                                                                                                                  \
        NEEDS(INSTANTIATED | RUNNING | TERMINATED, #name);                                                             \
        (void)vr, (void)value;                                                                                         \
        return no_such(c, n, #name);                                                                                   \
    }
#define NOTHING
OTHER(fmi2GetInteger, fmi2Integer, NOTHING)
OTHER(fmi2GetBoolean, fmi2Boolean, NOTHING)
OTHER(fmi2GetString, fmi2String, NOTHING)
OTHER(fmi2SetInteger, fmi2Integer, const)
OTHER(fmi2SetBoolean, fmi2Boolean, const)
OTHER(fmi2SetString, fmi2String, const)

FMI_EXPORT fmi2Status FMI2(fmi2GetFMUstate)(fmi2Component instance, fmi2FMUstate *state)
{
    NEEDS(INSTANTIATED | RUNNING | TERMINATED, "fmi2GetFMUstate");
    return GOOD(save_state(c, state));
}
FMI_EXPORT fmi2Status FMI2(fmi2SetFMUstate)(fmi2Component instance, fmi2FMUstate state)
{
    NEEDS(INSTANTIATED | RUNNING | TERMINATED, "fmi2SetFMUstate");
    return GOOD(restore_state(c, state));
}
FMI_EXPORT fmi2Status FMI2(fmi2FreeFMUstate)(fmi2Component instance, fmi2FMUstate *state)
{
    if (!instance || !state)
        return fmi2Error;
    free(*state);
    *state = (void *)0;
    return fmi2OK;
}
FMI_EXPORT fmi2Status FMI2(fmi2SerializedFMUstateSize)(fmi2Component instance, fmi2FMUstate state, size_t *size)
{
    if (!instance || !state)
        return fmi2Error;
    *size = sizeof(component);
    return fmi2OK;
}
FMI_EXPORT fmi2Status FMI2(fmi2SerializeFMUstate)(fmi2Component instance, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    if (!instance || !state || size < sizeof(component))
        return fmi2Error;
    memcpy(bytes, state, sizeof(component));
    return fmi2OK;
}
FMI_EXPORT fmi2Status FMI2(fmi2DeSerializeFMUstate)(fmi2Component instance, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    if (!instance || size < sizeof(component))
        return fmi2Error;
    *state = malloc(sizeof(component));
    if (!*state)
        return fmi2Error;
    memcpy(*state, bytes, sizeof(component));
    return fmi2OK;
}

FMI_EXPORT fmi2Status FMI2(fmi2GetDirectionalDerivative)(fmi2Component instance, const fmi2ValueReference unknown[], size_t n_unknown,
                                                         const fmi2ValueReference known[], size_t n_known,
                                                         const fmi2Real seeds[], fmi2Real out[])
{
    NEEDS(RUNNING, "fmi2GetDirectionalDerivative");
    return GOOD(directional(c, unknown, n_unknown, known, n_known, seeds, out));
}

FMI_EXPORT fmi2Status FMI2(fmi2EnterEventMode)(fmi2Component instance)
{
    NEEDS(CONTINUOUS | EVENT_MODE, "fmi2EnterEventMode");
    c->phase = EVENT_MODE;
    return fmi2OK;
}

FMI_EXPORT fmi2Status FMI2(fmi2NewDiscreteStates)(fmi2Component instance, fmi2EventInfo *info)
{
    int has_moved = 0, has_ended = 0;
    NEEDS(EVENT_MODE, "fmi2NewDiscreteStates");
    if (!handle_event(c, &has_moved, &has_ended))
        return fmi2Error;
    info->newDiscreteStatesNeeded = 0;
    info->terminateSimulation = has_ended;
    info->nominalsOfContinuousStatesChanged = 0;
    info->valuesOfContinuousStatesChanged = has_moved;
    info->nextEventTime = next_instant(&c->m);
    info->nextEventTimeDefined = is_finite(info->nextEventTime);
    return fmi2OK;
}

FMI_EXPORT fmi2Status FMI2(fmi2SetRealInputDerivatives)(fmi2Component instance, const fmi2ValueReference vr[], size_t n,
                                                        const fmi2Integer order[], const fmi2Real value[])
{
    NEEDS(STEPPING, "fmi2SetRealInputDerivatives");
    (void)vr, (void)order, (void)value;
    return no_such(c, n, "fmi2SetRealInputDerivatives");
}
FMI_EXPORT fmi2Status FMI2(fmi2GetRealOutputDerivatives)(fmi2Component instance, const fmi2ValueReference vr[], size_t n,
                                                         const fmi2Integer order[], fmi2Real value[])
{
    NEEDS(STEPPING, "fmi2GetRealOutputDerivatives");
    (void)vr, (void)order, (void)value;
    return no_such(c, n, "fmi2GetRealOutputDerivatives");
}

FMI_EXPORT fmi2Status FMI2(fmi2DoStep)(fmi2Component instance, fmi2Real point, fmi2Real step, fmi2Boolean no_prior)
{
    int has_event, has_ended;
    double reached;
    NEEDS(STEPPING, "fmi2DoStep");
    (void)no_prior;
    if (!communication_step(c, point, step, &has_event, &has_ended, &reached))
        return fmi2Error;
    return has_ended ? fmi2Discard : fmi2OK;
}

FMI_EXPORT fmi2Status FMI2(fmi2CancelStep)(fmi2Component instance)
{
    component *c = (component *)instance;
    return c ? GOOD(complain(c, LOG_ERROR, "fmi2CancelStep: steps are never pending")) : fmi2Error;
}
FMI_EXPORT fmi2Status FMI2(fmi2GetStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)kind;
    *value = fmi2OK;
    return instance ? fmi2OK : fmi2Error;
}
FMI_EXPORT fmi2Status FMI2(fmi2GetRealStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2Real *value)
{
    component *c = (component *)instance;
    if (!c || kind != fmi2LastSuccessfulTime)
        return fmi2Discard;
    *value = c->m.t;
    return fmi2OK;
}
FMI_EXPORT fmi2Status FMI2(fmi2GetIntegerStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)instance, (void)kind, (void)value;
    return fmi2Discard;
}
FMI_EXPORT fmi2Status FMI2(fmi2GetBooleanStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2Boolean *value)
{
    component *c = (component *)instance;
    if (!c || kind != fmi2Terminated)
        return fmi2Discard;
    *value = c->has_ended;
    return fmi2OK;
}
FMI_EXPORT fmi2Status FMI2(fmi2GetStringStatus)(fmi2Component instance, const fmi2StatusKind kind, fmi2String *value)
{
    (void)instance, (void)kind;
    *value = "";
    return fmi2Discard;
}

/* What `exchange.c` is written in. */
#define STATUS fmi2Status
#define BOOLEAN fmi2Boolean
#define NAME(name) FMI2(fmi2##name)
#define TEXT(name) "fmi2" #name
#define RATES FMI2(fmi2GetDerivatives)
#define RATES_NAME "fmi2GetDerivatives"
