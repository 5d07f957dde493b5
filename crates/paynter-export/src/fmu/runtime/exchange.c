
/* ---- Model Exchange: what both versions of the standard have, under names of their own -------------------------------- */

FMI_EXPORT STATUS NAME(EnterContinuousTimeMode)(void *instance)
{
    NEEDS(EVENT_MODE, TEXT(EnterContinuousTimeMode));
    c->phase = CONTINUOUS;
    return GOOD(1);
}

FMI_EXPORT STATUS NAME(CompletedIntegratorStep)(void *instance, BOOLEAN no_prior, BOOLEAN *enter_event_mode,
                                                        BOOLEAN *terminate)
{
    NEEDS(CONTINUOUS, TEXT(CompletedIntegratorStep));
    (void)no_prior;
    *enter_event_mode = has_drifted(c) != 0;
    *terminate = 0;
    return GOOD(1);
}

FMI_EXPORT STATUS NAME(SetTime)(void *instance, double t)
{
    NEEDS(EVENT_MODE | CONTINUOUS, TEXT(SetTime));
    if (!is_finite(t))
        return GOOD(complain(c, LOG_ERROR, TEXT(SetTime) ": the time is not a finite number"));
    c->m.t = t;
    c->is_stale = 1;
    return GOOD(1);
}

FMI_EXPORT STATUS NAME(SetContinuousStates)(void *instance, const double x[], size_t n)
{
    size_t k;
    NEEDS(EVENT_MODE | CONTINUOUS, TEXT(SetContinuousStates));
    if (n != N_X)
        return GOOD(complain(c, LOG_ERROR, TEXT(SetContinuousStates) ": the model has %d states", N_X));
    for (k = 0; k < n; ++k)
        c->m.x[k] = x[k];
    c->is_stale = 1;
    return GOOD(1);
}

FMI_EXPORT STATUS RATES(void *instance, double dx[], size_t n)
{
    NEEDS(RUNNING, RATES_NAME);
    if (n != N_X || !refresh(c))
        return GOOD(0);
    memcpy(dx, c->dx, n * sizeof *dx);
    return GOOD(1);
}

FMI_EXPORT STATUS NAME(GetEventIndicators)(void *instance, double z[], size_t n)
{
    NEEDS(RUNNING, TEXT(GetEventIndicators));
    return GOOD(n == N_GUARDS && (c->phase != INITIALIZING || find_consistent_start(c)) && event_indicators(c, z));
}

FMI_EXPORT STATUS NAME(GetContinuousStates)(void *instance, double x[], size_t n)
{
    NEEDS(RUNNING, TEXT(GetContinuousStates));
    if (n != N_X || (c->phase == INITIALIZING && !find_consistent_start(c)))
        return GOOD(0);
    memcpy(x, c->m.x, n * sizeof *x);
    return GOOD(1);
}

FMI_EXPORT STATUS NAME(GetNominalsOfContinuousStates)(void *instance, double nominal[], size_t n)
{
    size_t k;
    NEEDS(RUNNING, TEXT(GetNominalsOfContinuousStates));
    for (k = 0; k < n && k < N_X; ++k)
        nominal[k] = state_nominal[k] > 0 ? state_nominal[k] : 1.0;
    return GOOD(1);
}
