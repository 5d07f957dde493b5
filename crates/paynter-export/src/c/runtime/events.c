/* ---- switches ------------------------------------------------------------------------------------------------ */

#define SWITCH_NOISE R_SWITCH_NOISE /* a switch value this small against what it was is zero but for rounding */
#define FLOOR_BAND (R(4500.0) * EPSILON)
#define MAX_ROUNDS 20
#define ROUNDS_TOGETHER 8

/* The mode at a value. With a mode held already, rounding does not move a floor. */
HELPER real mode_at(int kind, real value, const real *held)
{
    const real band = FLOOR_BAND * (R(1.0) + absolute(value));
    switch (kind) {
    case KIND_LESS: return value < R(0.0) ? R(1.0) : R(0.0);
    case KIND_LESS_EQUAL: return value <= R(0.0) ? R(1.0) : R(0.0);
    case KIND_GREATER: return value > R(0.0) ? R(1.0) : R(0.0);
    case KIND_GREATER_EQUAL: return value >= R(0.0) ? R(1.0) : R(0.0);
    case KIND_EQUAL: return value == R(0.0) ? R(1.0) : R(0.0);
    case KIND_NOT_EQUAL: return value != R(0.0) ? R(1.0) : R(0.0);
    case KIND_FLOOR:
        return held && value >= *held - band && value <= *held + R(1.0) + band ? *held : R_FLOOR(value);
    default: return value > R(0.0) ? R(1.0) : (value < R(0.0) ? R(-1.0) : R(0.0));
    }
}

/* How many guards watch a mode. A whole number has one for each of its bounds. */
HELPER int n_guards(int kind) { return kind == KIND_SIGN || kind == KIND_FLOOR ? 2 : 1; }

/* On which side of zero a - b lies while a relation has this truth. */
HELPER int is_positive_side(int kind, real truth)
{
    switch (kind) {
    case KIND_LESS: case KIND_LESS_EQUAL: return truth == R(0.0);
    case KIND_GREATER: case KIND_GREATER_EQUAL: return truth != R(0.0);
    default: return 1;
    }
}

HELPER real truth_on_side(int kind, int is_positive)
{
    switch (kind) {
    case KIND_LESS: case KIND_LESS_EQUAL: return is_positive ? R(0.0) : R(1.0);
    case KIND_GREATER: case KIND_GREATER_EQUAL: return is_positive ? R(1.0) : R(0.0);
    default: return kind == KIND_EQUAL ? R(0.0) : R(1.0);
    }
}

/* Roundings by which two values or instants may differ and still be the same. */
#define LINE_ROUNDINGS (R(8.0) * EPSILON)

/* Whether the instant has come at which slope * t + offset is at a level, to the roundings of its terms. */
HELPER int has_reached(real slope, real offset, real level, real t)
{
    const real at = (level - offset) / slope;
    const real rounding = LINE_ROUNDINGS * (absolute(at) + (absolute(offset) + absolute(level)) / absolute(slope));
    return t >= at - (is_finite(rounding) ? rounding : R(0.0));
}

/* The mode that holds from t on where slope * t + offset decides: by comparing instants, never values near zero. */
HELPER real mode_on_line(int kind, real slope, real offset, real t)
{
    int is_after;
    if (slope == R(0.0) || !is_finite(slope) || !is_finite(offset))
        return mode_at(kind, slope * t + offset, (const real *)0);
    if (kind == KIND_FLOOR) {
        real f = R_FLOOR(slope * t + offset);
        if (absolute(f) > R(2.0) / EPSILON)
            return f;
        if (slope > R(0.0)) {
            while (has_reached(slope, offset, f + R(1.0), t))
                f += R(1.0);
            while (!has_reached(slope, offset, f, t))
                f -= R(1.0);
        } else {
            while (has_reached(slope, offset, f, t))
                f -= R(1.0);
            while (!has_reached(slope, offset, f + R(1.0), t))
                f += R(1.0);
        }
        return f;
    }
    is_after = has_reached(slope, offset, R(0.0), t);
    if (kind == KIND_SIGN)
        return is_after == (slope > R(0.0)) ? R(1.0) : R(-1.0);
    return truth_on_side(kind, is_after == (slope > R(0.0)));
}

HELPER void keep_discrete(M *m)
{
    int k;
    for (k = 0; k < N_BEFORE; ++k)
        m->before[k] = m->d[before_of[k]];
}

/* Sets the modes that time alone decides. Gives -1 where they do not settle, else whether one changed. */
HELPER int settle_by_time(M *m)
{
    int has_changed = 0;
#if N_LINES > 0
    int round, k;
    for (round = 0; round <= MAX_ROUNDS; ++round) {
        int again = 0;
        if (routine_timing(m, m->line) != STATUS_OK)
            return -1;
        for (k = 0; k < N_MODES; ++k)
            if (modes[k].guard < 0) {
                const real *line = m->line + modes[k].output;
                const real mode = mode_on_line(modes[k].kind, line[0], line[1], m->t);
                again |= mode != m->mode[k];
                m->mode[k] = mode;
            }
        if (!again)
            return has_changed;
        has_changed = 1;
    }
    return -1;
#else
    (void)m;
    return has_changed;
#endif
}

HELPER int run_switches(M *m)
{
#if N_SWITCHES > 0
    int k;
    const int status = routine_switches(m, m->value);
    for (k = 0; k < N_SWITCHES && status == STATUS_OK; ++k)
        if (is_finite(m->value[k]))
            m->value_size[k] = larger(m->value_size[k], absolute(m->value[k]));
    return status;
#else
    (void)m;
    return STATUS_OK;
#endif
}

#if N_MODES > 0 && N_SWITCHES > 0
HELPER int is_equality(int kind, real mode)
{
    return (kind == KIND_EQUAL && mode != R(0.0)) || (kind == KIND_NOT_EQUAL && mode == R(0.0));
}

HELPER int is_on_bound(int kind, real value) { return kind == KIND_FLOOR ? value == R_FLOOR(value) : value == R(0.0); }

/* Whether another switch may have put the value of mode k on its bound, to stay there or to leave it. */
HELPER int may_rest(const M *m, int k, int n_switched)
{
    const int kind = modes[k].kind;
    if (modes[k].guard < 0 || m->is_resting[k] || n_switched <= (m->mode[k] != m->mode_before[k]))
        return 0;
    if (is_equality(kind, m->mode[k]))
        return 1;
    return is_on_bound(kind, m->value[modes[k].output]) && mode_at(kind, m->value[modes[k].output], 0) != m->mode[k];
}

/* Switch values with time and states a little elsewhere: what does not move then, rests. */
HELPER int run_switches_nearby(M *m)
{
    const real t = m->t, part = R(1.0) / R(1048576.0);
    int i, status;
    for (i = 0; i < N_X; ++i) {
        m->x_at_rest[i] = m->x[i];
        m->x[i] += part * (R(1.0) + absolute(m->x[i])) * (R(1.0) + R(0.1) * (real)(i % 7));
    }
    m->t += part * (R(1.0) + absolute(t));
    status = routine_switches(m, m->moved_value);
    m->t = t;
    for (i = 0; i < N_X; ++i)
        m->x[i] = m->x_at_rest[i];
    return status;
}

/* Sets the modes of values that another switch has put on their bound to stay there: x of min(x, 1) > 1 goes across
   together with the switch of min, but the difference rests at zero. An equality ends where its value moves on. Each is
   set once in an event. */
HELPER int settle_what_rests(M *m)
{
    int k, n_switched = 0, any = 0, has_changed = 0;
    for (k = 0; k < N_MODES; ++k)
        n_switched += m->mode[k] != m->mode_before[k];
    for (k = 0; k < N_MODES && n_switched > 0; ++k)
        any |= may_rest(m, k, n_switched);
    if (!any)
        return 0;
    any = run_switches_nearby(m) == STATUS_OK;
    if (routine_switches(m, m->value) != STATUS_OK || !any)
        return 0;
    for (k = 0; k < N_MODES; ++k) {
        const int at = modes[k].output;
        real mode = m->mode[k];
        if (!may_rest(m, k, n_switched))
            continue;
        if (m->moved_value[at] != m->value[at]) {
            if (is_equality(modes[k].kind, mode))
                mode = truth_on_side(modes[k].kind, 1);
        } else if (is_on_bound(modes[k].kind, m->value[at])) {
            mode = mode_at(modes[k].kind, m->value[at], 0);
        }
        if (mode != m->mode[k]) {
            m->is_resting[k] = has_changed = 1;
            m->mode[k] = mode;
        }
    }
    return has_changed;
}
#endif

#if N_WHENS > 0 && N_LINES > 0
/* The mode at the very instant t, by the value there: at t = 0, time > 0 does not hold yet. */
HELPER real mode_at_instant(int kind, real slope, real offset, real t)
{
    const real value = slope * t + offset, bound = kind == KIND_FLOOR ? R_FLOOR(value + R(0.5)) : R(0.0);
    const real rounding = LINE_ROUNDINGS * (absolute(slope * t) + absolute(offset));
    return mode_at(kind, absolute(value - bound) <= rounding ? bound : value, (const real *)0);
}
#endif

#if N_WHENS > 0
/* What holds at the very start has not become true, and nothing acts; what a line of time makes true right after it acts
   there. */
HELPER int hold_first_conditions(M *m)
{
    int k, status;
#if N_LINES > 0
    real after[N_MODES];
    for (k = 0; k < N_MODES; ++k) {
        after[k] = m->mode[k];
        if (modes[k].guard < 0) {
            const real *line = m->line + modes[k].output;
            m->mode[k] = mode_at_instant(modes[k].kind, line[0], line[1], m->t);
        }
    }
#endif
    if ((status = routine_conditions(m, m->condition)) != STATUS_OK)
        return status;
    for (k = 0; k < N_WHENS; ++k)
        m->held_condition[k] = m->condition[k] != R(0.0);
#if N_LINES > 0
    for (k = 0; k < N_MODES; ++k)
        m->mode[k] = after[k];
    if ((status = routine_conditions(m, m->condition)) != STATUS_OK)
        return status;
    for (k = 0; k < N_WHENS; ++k)
        m->is_when_due |= m->condition[k] != R(0.0) && !m->held_condition[k];
#endif
    return STATUS_OK;
}
#endif

/* Lets modes follow values that have jumped, until they agree. */
HELPER int settle_modes(M *m)
{
#if N_MODES > 0
    const int n_rounds = MAX_ROUNDS + (8 * N_MODES < 2000 ? 8 * N_MODES : 2000);
    int round, k, status;
    for (k = 0; k < N_SWITCHES; ++k)
        m->has_jumped[k] = 0;
    for (round = 0; round < n_rounds; ++round) {
        const int has_moved = m->has_moved, by_time = settle_by_time(m);
        int again = by_time > 0;
        m->has_moved = 0;
        if (by_time < 0)
            return STATUS_EVENT_LOOP;
        for (k = 0; k < N_SWITCHES; ++k)
            m->value_before[k] = m->value[k];
        if ((status = run_switches(m)) != STATUS_OK)
            return status;
#if N_SWITCHES > 0
        if (settle_what_rests(m))
            continue;
#endif
        for (k = 0; k < N_MODES; ++k) {
            const int at = modes[k].output;
            real value, mode;
            int has_leapt;
            if (modes[k].guard < 0 || m->is_resting[k])
                continue;
            value = m->value[at];
            if (value != m->value_before[at])
                m->has_jumped[at] = 1;
            /* What did not jump is where the guards saw it. */
            if (value == m->value_before[at] && !(round >= ROUNDS_TOGETHER && m->has_jumped[at]))
                continue;
            if (absolute(value) <= SWITCH_NOISE * m->value_size[at] && (value != R(0.0) || m->has_crossed[at]) &&
                !(has_moved && absolute(value) <= R_TINY))
                continue;
            /* A whole number that another switch has put there, as in floor(floor(x)/2), is no noise of a crossing. */
            has_leapt = absolute(value - m->value_before[at]) > FLOOR_BAND * (R(1.0) + absolute(value));
            mode = mode_at(modes[k].kind, value, m->has_crossed[at] || !has_leapt ? &m->mode[k] : 0);
            if (mode != m->mode[k]) {
                m->mode[k] = mode;
                again = 1;
                if (round >= ROUNDS_TOGETHER)
                    break;
            }
        }
        if (!again)
            return STATUS_OK;
    }
    return STATUS_EVENT_LOOP;
#else
    (void)m;
    return STATUS_OK;
#endif
}

/* Which guard stands for which switch, and how far its value may be off zero without meaning anything. */
#if N_GUARDS > 0
HELPER real guard_band(const M *m, int output) { return R_HYSTERESIS * m->value_size[output]; }

/* Guards at the present point: positive or negative, never zero; the side is that of the present modes. */
HELPER int compute_guards(M *m, real *guards, signed char *sides)
{
    int k;
    const int status = run_switches(m);
    if (status != STATUS_OK)
        return status;
    for (k = 0; k < N_MODES; ++k) {
        const int g = modes[k].guard;
        real value;
        if (g < 0)
            continue;
        value = m->value[modes[k].output];
        switch (modes[k].kind) {
        case KIND_EQUAL: case KIND_NOT_EQUAL:
            /* What is equal is so until it moves, either way. */
            if (is_equality(modes[k].kind, m->mode[k])) {
                guards[g] = value == R(0.0) ? R_TINY : -absolute(value);
                sides[g] = 1;
                break;
            }
            guards[g] = value;
            sides[g] = 0;
            break;
        case KIND_FLOOR: {
            const real band = FLOOR_BAND * (R(1.0) + absolute(value));
            const real below = m->mode[k] - value, above = value - (m->mode[k] + R(1.0));
            guards[g] = absolute(below) <= band ? -R_TINY : below;
            guards[g + 1] = absolute(above) <= band ? -R_TINY : above;
            sides[g] = sides[g + 1] = -1;
            break;
        }
        case KIND_SIGN:
            sides[g] = (signed char)(m->mode[k] > R(0.0) ? 1 : -1);
            sides[g + 1] = (signed char)(m->mode[k] >= R(0.0) ? 1 : -1);
            guards[g] = value != R(0.0) ? value : (real)sides[g] * R_TINY;
            guards[g + 1] = value != R(0.0) ? value : (real)sides[g + 1] * R_TINY;
            break;
        default:
            sides[g] = (signed char)(is_positive_side(modes[k].kind, m->mode[k]) ? 1 : -1);
            guards[g] = value != R(0.0) ? value : (real)sides[g] * R_TINY;
        }
    }
    return STATUS_OK;
}

/* Sets modes by the direction in which their guards crossed. */
HELPER void cross(M *m, const signed char *fired)
{
    int k;
    for (k = 0; k < N_MODES; ++k) {
        const int g = modes[k].guard;
        const real before = m->mode[k];
        if (g < 0)
            continue;
        if (modes[k].kind == KIND_SIGN) {
            int positive = before > R(0.0), negative = before < R(0.0);
            if (fired[g]) {
                positive = fired[g] > 0;
                negative = before < R(0.0) && fired[g] < 0;
            }
            if (fired[g + 1]) {
                positive = (fired[g] ? positive : before > R(0.0)) && fired[g + 1] > 0;
                negative = fired[g + 1] < 0;
            }
            if (fired[g] || fired[g + 1]) {
                m->has_crossed[modes[k].output] = 1;
                m->mode[k] = (real)(positive - negative);
            }
            continue;
        }
        if (modes[k].kind == KIND_FLOOR) {
            m->has_crossed[modes[k].output] |= fired[g] || fired[g + 1];
            m->mode[k] += (real)((fired[g + 1] > 0) - (fired[g] > 0));
            continue;
        }
        if (!fired[g])
            continue;
        m->has_crossed[modes[k].output] = 1;
        m->mode[k] = truth_on_side(modes[k].kind, fired[g] > 0);
    }
}

/* Finds the guards that are on the other side than the modes say, by more than rounding. */
HELPER int find_crossings(M *m, signed char *fired)
{
    int k;
    const int status = compute_guards(m, m->guard, m->side);
    for (k = 0; k < N_GUARDS; ++k)
        fired[k] = 0;
    if (status != STATUS_OK)
        return status;
    for (k = 0; k < N_MODES; ++k) {
        const int g = modes[k].guard, n = n_guards(modes[k].kind);
        int i;
        for (i = g; g >= 0 && i < g + n; ++i) {
            const int side = m->guard[i] > R(0.0) ? 1 : -1;
            const real band = modes[k].kind == KIND_FLOOR ? R(0.0) : R(0.5) * guard_band(m, modes[k].output);
            if (m->side[i] != 0 && side != m->side[i] && absolute(m->guard[i]) > band)
                fired[i] = (signed char)side;
        }
    }
    return STATUS_OK;
}
#endif

/* ---- ticks ----------------------------------------------------------------------------------------------------- */

#if N_CLOCKS > 0
HELPER real tick_time(int clock, tick_count tick)
{
    return (real)((double)tick * clocks[clock].denominator / clocks[clock].numerator);
}

/* An instant that differs from that of a tick by a few roundings is that of the tick. */
HELPER int is_due(const M *m, int clock)
{
    return tick_time(clock, m->tick[clock]) <= m->t + R(8.0) * EPSILON * absolute(m->t);
}
#endif

HELPER int run_ticks(M *m)
{
#if N_CLOCKS > 0
    int due[N_CLOCKS], any = 0, c, status;
    for (c = 0; c < N_CLOCKS; ++c)
        any |= due[c] = is_due(m, c);
    if (!any)
        return STATUS_OK;
    if ((status = routine_samples(m, due)) != STATUS_OK)
        return status;
    for (c = 0; c < N_CLOCKS; ++c)
        while (is_due(m, c))
            ++m->tick[c];
#else
    (void)m;
#endif
    return STATUS_OK;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

#if N_WHENS > 0
/* Lets two values for one place be one if they agree to rounding. */
HELPER int agree(real *held, int *has, real value)
{
    if (*has && *held != value && absolute(*held - value) > R(4500.0) * EPSILON * larger(absolute(*held), absolute(value)))
        return 0;
    *held = *has ? smaller(*held, value) : value;
    *has = 1;
    return 1;
}

/* Performs the actions of the `when`s that have become true, all with values from before any of them. */
HELPER int act(M *m, const int *rising, int *stop)
{
    int k, n_aims = 0, has_moved = 0, status;
    keep_discrete(m);
    if ((status = routine_assigned(m, m->assigned)) != STATUS_OK)
        return status;
    for (k = 0; k < N_VARIABLES; ++k)
        m->is_set[k] = 0;
    for (k = 0; k < N_DISCRETE; ++k)
        m->is_assigned[k] = 0;
    for (k = 0; k < N_ACTIONS; ++k) {
        const action_row *a = &actions[k];
        if (!rising[a->when])
            continue;
        switch (a->kind) {
        case ACTION_SET: {
            const real value = a->is_negated ? -m->reinit[a->value] : m->reinit[a->value];
            if (!agree(&m->new_x[a->target], &m->is_set[a->target], value))
                return fail(m, STATUS_CONFLICT, a->when);
            has_moved = 1;
            break;
        }
        case ACTION_AIM:
            m->aim_row[n_aims] = a->target;
            m->aim_value[n_aims++] = m->reinit[a->value];
            has_moved = 1;
            break;
        case ACTION_ASSIGN:
            if (!agree(&m->new_d[a->target], &m->is_assigned[a->target], m->assigned[a->value]))
                return fail(m, STATUS_CONFLICT, a->when);
            break;
        default:
            if (*stop < 0)
                *stop = a->target;
        }
    }
    for (k = 0; k < N_DISCRETE; ++k)
        if (m->is_assigned[k])
            m->d[k] = m->new_d[k];
    for (k = 0; k < N_VARIABLES; ++k)
        if (m->is_set[k])
            *variable(m, k) = m->new_x[k];
    if (has_moved) {
        for (k = 0; k < N_VARIABLES; ++k)
            m->is_free[k] = !m->is_set[k] && !variable_is_input[k];
        if (n_aims > 0 && (status = meet_targets(m, n_aims)) != STATUS_OK)
            return status;
        if ((status = project(m)) != STATUS_OK)
            return status;
        m->has_moved = 1;
    }
    return STATUS_OK;
}
#endif

/* Reacts to what happens at the present instant. `fired`: direction of each guard that crossed, or none given. */
HELPER int react(M *m, const signed char *fired)
{
    int k, status;
    for (k = 0; k < N_SWITCHES; ++k)
        m->has_crossed[k] = 0;
    for (k = 0; k < N_MODES; ++k) {
        m->mode_before[k] = m->mode[k];
        m->is_resting[k] = 0;
    }
    m->has_moved = m->is_when_due = 0;
    ++m->events;
#if N_GUARDS > 0
    if (!fired) {
        if ((status = find_crossings(m, m->fired)) != STATUS_OK)
            return status;
        fired = m->fired;
    }
#endif
    if ((status = run_switches(m)) != STATUS_OK || (status = routine_left_limits(m)) != STATUS_OK)
        return status;
    keep_discrete(m);
    if (settle_by_time(m) < 0)
        return STATUS_EVENT_LOOP;
    if ((status = run_ticks(m)) != STATUS_OK)
        return status;
#if N_REINIT > 0
    if ((status = routine_reinit(m, m->reinit)) != STATUS_OK)
        return status;
#endif
#if N_GUARDS > 0
    cross(m, fired);
#else
    (void)fired;
#endif
    for (k = 0; k < N_BLOCKS; ++k)
        m->block_may_jump[k] = 1;
#if N_WHENS > 0
    {
        int round, stop = -1;
        for (round = 0;; ++round) {
            int rising[N_WHENS], any = 0;
            if (round == MAX_ROUNDS)
                return STATUS_EVENT_LOOP;
            if ((status = settle_modes(m)) != STATUS_OK || (status = routine_conditions(m, m->condition)) != STATUS_OK)
                return status;
            for (k = 0; k < N_WHENS; ++k) {
                const int holds = m->condition[k] != R(0.0);
                any |= rising[k] = holds && !m->held_condition[k];
                m->held_condition[k] = holds;
            }
            if (!any)
                break;
#if N_REINIT > 0
            if (round > 0 && (status = routine_reinit(m, m->reinit)) != STATUS_OK)
                return status;
#endif
            if ((status = act(m, rising, &stop)) != STATUS_OK)
                return status;
        }
        if (stop >= 0)
            return fail(m, STATUS_STOP, stop);
    }
    return STATUS_OK;
#else
    return settle_modes(m);
#endif
}

/* The first tick, switch by the clock or corner after the present instant; infinite if there is none. */
HELPER real next_instant(M *m)
{
    real next = R_INFINITY;
    if (m->is_when_due)
        return m->t;
#if N_CLOCKS > 0
    {
        int c;
        for (c = 0; c < N_CLOCKS; ++c) {
            tick_count tick = m->tick[c];
            while (tick_time(c, tick) <= m->t)
                ++tick;
            next = smaller(next, tick_time(c, tick));
        }
    }
#endif
#if N_LINES > 0
    {
        int k, i;
        if (routine_timing(m, m->line) != STATUS_OK)
            return next;
        for (k = 0; k < N_MODES; ++k) {
            const real *line = m->line + modes[k].output;
            real level = R(0.0), at;
            if (modes[k].guard >= 0 || line[0] == R(0.0) || !is_finite(line[0]) || !is_finite(line[1]))
                continue;
            if (modes[k].kind == KIND_FLOOR)
                level = line[0] > R(0.0) ? m->mode[k] + R(1.0) : m->mode[k];
            at = (level - line[1]) / line[0];
            if (at > m->t)
                next = smaller(next, at);
        }
        for (i = 0; i < N_CORNERS; ++i) {
            const real *line = m->line + corners[i].line;
            const real at = (corners[i].level - line[1]) / line[0];
            if (line[0] != R(0.0) && at > m->t)
                next = smaller(next, at);
        }
    }
#endif
    (void)m;
    return next;
}
