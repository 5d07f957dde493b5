/* ---- the start -------------------------------------------------------------------------------------------------- */

/* Sets every mode as the values at the present point say, or only the first that is wrong. */
HELPER int evaluate_modes(M *m, int is_one_by_one, int *has_changed)
{
#if N_MODES > 0
    const int by_time = settle_by_time(m);
    int k, status;
    if (by_time < 0)
        return STATUS_EVENT_LOOP;
    *has_changed = by_time;
    if ((status = run_switches(m)) != STATUS_OK)
        return status;
    for (k = 0; k < N_MODES; ++k)
        if (modes[k].guard >= 0) {
            const real mode = mode_at(modes[k].kind, m->value[modes[k].output], (const real *)0);
            if (mode == m->mode[k])
                continue;
            m->mode[k] = mode;
            *has_changed = 1;
            if (is_one_by_one)
                break;
        }
#else
    (void)m, (void)is_one_by_one;
    *has_changed = 0;
#endif
    return STATUS_OK;
}

/* Gives every quantity the value it has in the model. */
void @P@_defaults(@P@ *m)
{
    unsigned char *bytes = (unsigned char *)m;
    unsigned long i;
    int k;
    for (i = 0; i < sizeof *m; ++i)
        bytes[i] = 0;
    m->p = default_parameters;
    for (k = 0; k < N_VARIABLES; ++k)
        *variable(m, k) = variable_start[k];
}

/* Finds the values of states that demands on the start leave open. */
HELPER int find_start(M *m)
{
    int k, round, status, has_changed = 0;
#if N_STARTS > 0
    if ((status = routine_starts(m, m->start_value)) != STATUS_OK)
        return status;
    for (k = 0; k < N_STARTS; ++k) {
        const real given = m->start_value[starts[k].value], value = starts[k].is_negated ? -given : given;
        if (starts[k].kind == START_VARIABLE)
            *variable(m, starts[k].target) = value;
        else if (starts[k].kind == START_DISCRETE)
            m->d[starts[k].target] = value;
    }
#endif
    for (round = 0;; ++round) {
        if (round == MAX_ROUNDS + (8 * N_MODES < 2000 ? 8 * N_MODES : 2000))
            return STATUS_EVENT_LOOP;
        status = evaluate_modes(m, round >= ROUNDS_TOGETHER, &has_changed);
        /* The very first modes are guesses: a block may be singular under them. */
        if (round > 0 && status != STATUS_OK)
            return status;
        if (round > 0 && !has_changed)
            break;
#if N_HARD > 0
        for (k = 0; k < N_VARIABLES; ++k)
            m->is_free[k] = variable_is_sought[k];
        if ((status = meet(m, routine_demands, tangent_demands, (const int *)0, (const real *)0, N_HARD, 80)) != STATUS_OK)
            return status == STATUS_UNMET ? STATUS_START : status;
#endif
    }
#if N_LATE > 0
    if ((status = routine_late(m, m->late)) != STATUS_OK)
        return status;
    for (k = 0; k < N_LATE; ++k)
        *variable(m, late[k].variable) = late[k].is_negated ? -m->late[k] : m->late[k];
#endif
    (void)k;
    return STATUS_OK;
}

int @P@_init(@P@ *m, real t0)
{
    int k, status, has_changed;
    m->t = t0;
    m->events = m->evaluations = m->iterations = 0;
    m->where = -1;
    m->is_when_due = 0;
    for (k = 0; k < N_DISCRETE; ++k)
        m->d[k] = discrete_start[k];
    for (k = 0; k < N_MODES; ++k)
        m->mode[k] = mode_start[k];
    for (k = 0; k < N_SWITCHES; ++k)
        m->value_size[k] = R(0.0);
    for (k = 0; k < N_BLOCKS; ++k) {
        int i;
        for (i = 0; i < block_size[k]; ++i) {
            block_vector(m, k, B_LAST)[i] = block_guess[block_row_at[k] + i];
            block_vector(m, k, B_LARGEST)[i] = R(0.0);
            block_vector(m, k, B_SHIFT)[i] = R(0.0);
        }
        m->block_has_last[k] = m->block_may_jump[k] = 1;
    }
    if ((status = @P@_parameters_changed(m)) != STATUS_OK || (status = find_start(m)) != STATUS_OK)
        return status;
#if N_CLOCKS > 0
    for (k = 0; k < N_CLOCKS; ++k) {
        const double guess = (double)t0 * clocks[k].numerator / clocks[k].denominator;
        m->tick[k] = (tick_count)guess - 1;
        while (tick_time(k, m->tick[k]) < t0)
            ++m->tick[k];
    }
#endif
    if ((status = routine_left_limits(m)) != STATUS_OK)
        return status;
    keep_discrete(m);
    if ((status = run_ticks(m)) != STATUS_OK || (status = run_switches(m)) != STATUS_OK ||
        (status = evaluate_modes(m, 0, &has_changed)) != STATUS_OK)
        return status;
    for (k = 0; k < N_MODES; ++k) {
        m->mode_before[k] = m->mode[k];
        m->is_resting[k] = 0;
    }
    if ((status = settle_modes(m)) != STATUS_OK)
        return status;
#if N_WHENS > 0
    if ((status = hold_first_conditions(m)) != STATUS_OK)
        return status;
#endif
    return STATUS_OK;
}

int @P@_parameters_changed(@P@ *m) { return routine_setup(m); }

/* ---- what a simulator asks for ------------------------------------------------------------------------------------ */

int @P@_derivatives(@P@ *m, real *dx)
{
    ++m->evaluations;
    return routine_rates(m, dx);
}

int @P@_outputs(@P@ *m, real *y) { return routine_outputs(m, y); }

real @P@_next_event(@P@ *m) { return next_instant(m); }

int @P@_event(@P@ *m) { return react(m, (const signed char *)0); }

int @P@_sample(@P@ *m, int clock)
{
#if N_CLOCKS > 0
    int due[N_CLOCKS], c, status;
    if (clock < 0 || clock >= N_CLOCKS)
        return STATUS_CALL;
    for (c = 0; c < N_CLOCKS; ++c)
        due[c] = c == clock;
    if ((status = routine_left_limits(m)) != STATUS_OK)
        return status;
    keep_discrete(m);
    status = routine_samples(m, due);
    ++m->tick[clock];
    return status;
#else
    (void)m, (void)clock;
    return STATUS_CALL;
#endif
}

int @P@_guards(@P@ *m, real *guards)
{
#if N_GUARDS > 0
    int k;
    const int status = compute_guards(m, guards, m->side);
    if (status != STATUS_OK)
        return status;
    /* A little beyond zero, so that the value is clearly on the other side when the sign changes. */
    for (k = 0; k < N_MODES; ++k) {
        const int g = modes[k].guard, n = n_guards(modes[k].kind);
        int i;
        for (i = g; g >= 0 && i < g + n; ++i)
            if (modes[k].kind != KIND_FLOOR)
                guards[i] = (guards[i] == (real)m->side[i] * R_TINY ? R(0.0) : guards[i]) +
                            (real)m->side[i] * (guard_band(m, modes[k].output) + R_TINY);
    }
#else
    (void)m, (void)guards;
#endif
    return STATUS_OK;
}

/* ---- fixed steps --------------------------------------------------------------------------------------------------- */

/* One step of the classical Runge-Kutta method from (t, x0) to t + h; the result is in m->x. */
HELPER int runge_kutta(M *m, real t, real h)
{
#if N_X > 0
    static const real part[4] = {R(0.0), R(0.5), R(0.5), R(1.0)};
    static const real weight[4] = {R(1.0), R(2.0), R(2.0), R(1.0)};
    int s, i, status;
    for (i = 0; i < N_X; ++i)
        m->rk_sum[i] = R(0.0);
    for (s = 0; s < 4; ++s) {
        m->t = t + part[s] * h;
        for (i = 0; i < N_X; ++i)
            m->x[i] = s == 0 ? m->rk_x0[i] : m->rk_x0[i] + part[s] * h * m->rk_k[i];
        ++m->evaluations;
        if ((status = routine_rates(m, m->rk_k)) != STATUS_OK)
            return status;
        for (i = 0; i < N_X; ++i)
            m->rk_sum[i] += weight[s] * m->rk_k[i];
    }
    for (i = 0; i < N_X; ++i)
        m->x[i] = m->rk_x0[i] + h / R(6.0) * m->rk_sum[i];
#endif
    m->t = t + h;
    return STATUS_OK;
}

/* Tells which guards are on the other side than at the beginning of the step. */
HELPER int has_crossed(M *m, int *any)
{
    *any = 0;
#if N_GUARDS > 0
    {
        int k;
        const int status = compute_guards(m, m->guard, m->side);
        if (status != STATUS_OK)
            return status;
        for (k = 0; k < N_GUARDS; ++k) {
            const int side = m->guard[k] > R(0.0) ? 1 : -1;
            m->fired[k] = (signed char)(m->side[k] != 0 && side != m->side[k] ? side : 0);
            *any |= m->fired[k] != 0;
        }
    }
#else
    (void)m;
#endif
    return STATUS_OK;
}

/* A step of h seconds. Instants known ahead are met exactly; crossings of guards are bisected. At most
   STEP_EVENTS events, each with at most STEP_HALVINGS steps to find it. */
int @P@_step(@P@ *m, real h)
{
    const real end = m->t + h;
    int count, i, status, any;
    if (!(h > R(0.0)) || !is_finite(h))
        return STATUS_CALL;
    for (count = 0; count <= STEP_EVENTS; ++count) {
        const real begin = m->t, next = next_instant(m);
        const int is_timed = next <= end + R(8.0) * EPSILON * absolute(end);
        real span = (is_timed ? next : end) - begin;
        for (i = 0; i < N_X; ++i)
            m->rk_x0[i] = m->x[i];
        if ((status = runge_kutta(m, begin, span)) != STATUS_OK || (status = has_crossed(m, &any)) != STATUS_OK)
            return status;
        if (any) {
            real low = R(0.0), high = span;
            for (i = 0; i < STEP_HALVINGS; ++i) {
                const real middle = R(0.5) * (low + high);
                if ((status = runge_kutta(m, begin, middle)) != STATUS_OK ||
                    (status = has_crossed(m, &any)) != STATUS_OK)
                    return status;
                if (any)
                    high = middle;
                else
                    low = middle;
            }
            if ((status = runge_kutta(m, begin, high)) != STATUS_OK || (status = has_crossed(m, &any)) != STATUS_OK)
                return status;
            span = high;
        } else {
            m->t = is_timed ? next : end;
        }
        if ((status = project(m)) != STATUS_OK)
            return status;
        for (i = 0; i < N_X; ++i)
            if (!is_finite(m->x[i]))
                return fail(m, STATUS_NOT_FINITE, -1);
        if (any || is_timed) {
            if ((status = react(m, any ? m->fired : (const signed char *)0)) != STATUS_OK)
                return status;
        }
        if (m->t >= end)
            return STATUS_OK;
    }
    return STATUS_TOO_MANY_EVENTS;
}

const char *@P@_message(const @P@ *m, int status)
{
    if ((status == STATUS_SINGULAR || status == STATUS_NO_SOLUTION) && m->where >= 0 && m->where < N_BLOCKS)
        return block_message[2 * m->where + (status == STATUS_NO_SOLUTION)];
    if (status == STATUS_STOP && m->where >= 0 && m->where < N_STOPS)
        return stop_message[m->where];
    return status >= 0 && status < STATUS_COUNT ? status_message[status] : "unknown status";
}
