/* ---- rows that must have values: constraints, starts, what `reinit` aims at ------------------------------------- */

#if N_ROWS > 0
typedef int (*rows_function)(M *, real *);

/* J scaled by the sizes of the variables, row by row; its rows' sums are what each row is small against. */
HELPER int row_slopes(M *m, rows_function tangent, int n_all, const int *rows, int n_rows)
{
    int i, k, status;
    m->time_seed = R(0.0);
    for (k = 0; k < N_VARIABLES; ++k)
        *seed(m, k) = R(0.0);
    for (i = 0; i < n_rows; ++i)
        m->row_weight[i] = R(0.0);
    for (k = 0; k < N_VARIABLES; ++k) {
        const real size = larger(absolute(*variable(m, k)), variable_size[k]);
        if (!m->is_free[k]) {
            for (i = 0; i < n_rows; ++i)
                m->row_slope[i * N_VARIABLES + k] = R(0.0);
            continue;
        }
        *seed(m, k) = R(1.0);
        status = tangent(m, m->row_dot);
        *seed(m, k) = R(0.0);
        if (status != STATUS_OK)
            return status;
        for (i = 0; i < n_rows; ++i) {
            const real slope = m->row_dot[rows ? rows[i] : i] * size;
            m->row_slope[i * N_VARIABLES + k] = slope;
            m->row_weight[i] += absolute(slope);
        }
    }
    (void)n_all;
    return STATUS_OK;
}

/* The shortest scaled step with J step = gap, rows in the order of their pivots (Cholesky of J J^T); rows that
   others imply are left to them. */
HELPER void shortest_step(M *m, int n_rows)
{
    real *g = m->row_matrix, *y = m->row_solution;
    int *order = m->row_order;
    int i, j, k, rank = n_rows;
    for (i = 0; i < n_rows; ++i) {
        order[i] = i;
        for (j = 0; j <= i; ++j) {
            real sum = R(0.0);
            for (k = 0; k < N_VARIABLES; ++k)
                sum += m->row_slope[i * N_VARIABLES + k] * m->row_slope[j * N_VARIABLES + k];
            sum = m->row_weight[i] > R(0.0) && m->row_weight[j] > R(0.0)
                      ? sum / m->row_weight[i] / m->row_weight[j] : R(0.0);
            g[i * n_rows + j] = g[j * n_rows + i] = sum;
        }
    }
    for (k = 0; k < n_rows; ++k) {
        int best = k;
        for (i = k + 1; i < n_rows; ++i)
            if (g[order[i] * n_rows + order[i]] > g[order[best] * n_rows + order[best]])
                best = i;
        i = order[k], order[k] = order[best], order[best] = i;
        if (!(g[order[k] * n_rows + order[k]] > R(450.0) * EPSILON)) {
            rank = k;
            break;
        }
        for (i = k + 1; i < n_rows; ++i) {
            const real factor = g[order[i] * n_rows + order[k]] / g[order[k] * n_rows + order[k]];
            for (j = k + 1; j < n_rows; ++j)
                g[order[i] * n_rows + order[j]] -= factor * g[order[k] * n_rows + order[j]];
            g[order[i] * n_rows + order[k]] = factor;
        }
    }
    for (i = 0; i < rank; ++i) {
        y[order[i]] = m->row_gap[order[i]] / m->row_weight[order[i]];
        for (j = 0; j < i; ++j)
            y[order[i]] -= g[order[i] * n_rows + order[j]] * y[order[j]];
    }
    for (i = rank - 1; i >= 0; --i) {
        y[order[i]] /= g[order[i] * n_rows + order[i]];
        for (j = i + 1; j < rank; ++j)
            y[order[i]] -= g[order[j] * n_rows + order[i]] * y[order[j]];
    }
    for (i = rank; i < n_rows; ++i)
        y[order[i]] = R(0.0);
    for (k = 0; k < N_VARIABLES; ++k) {
        const real size = larger(absolute(*variable(m, k)), variable_size[k]);
        real sum = R(0.0);
        for (i = 0; i < n_rows; ++i)
            if (m->row_weight[i] > R(0.0))
                sum += m->row_slope[i * N_VARIABLES + k] * y[i] / m->row_weight[i];
        m->row_step[k] = sum * size;
    }
}

/* How far the rows are from their targets, in their own measure; infinite where they have no value. */
HELPER real row_gaps(M *m, rows_function values, const int *rows, const real *target, int n_rows)
{
    real worst = R(0.0);
    int i;
    if (values(m, m->row_value) != STATUS_OK)
        return R_INFINITY;
    for (i = 0; i < n_rows; ++i) {
        const real aim = target ? target[i] : R(0.0);
        const real weight = m->row_weight[i] + absolute(aim);
        m->row_gap[i] = aim - m->row_value[rows ? rows[i] : i];
        worst = larger(worst, weight > R(0.0) ? absolute(m->row_gap[i]) / weight
                                              : (m->row_gap[i] == R(0.0) ? R(0.0) : R_INFINITY));
    }
    return worst == worst ? worst : R_INFINITY;
}

/* Moves the free variables as little as possible until the rows have their values. Bounded work: at most
   `max_steps` steps, each cut at most 20 times. */
HELPER int meet(M *m, rows_function values, rows_function tangent, const int *rows, const real *target, int n_rows,
                int max_steps)
{
    const real done = R(45.0) * EPSILON, enough = R_MET;
    real gap = R_INFINITY;
    int step, k, cut, status;
    for (step = 0; step < max_steps; ++step) {
        real next = R_INFINITY, share = R(1.0);
        if ((status = values(m, m->row_value)) != STATUS_OK ||
            (status = row_slopes(m, tangent, n_rows, rows, n_rows)) != STATUS_OK)
            return status;
        gap = row_gaps(m, values, rows, target, n_rows);
        if (gap <= done)
            return STATUS_OK;
        if (!is_finite(gap))
            return STATUS_NOT_FINITE;
        shortest_step(m, n_rows);
        for (k = 0; k < N_VARIABLES; ++k)
            m->row_from[k] = *variable(m, k);
        for (cut = 0; cut < 20; ++cut, share *= R(0.5)) {
            for (k = 0; k < N_VARIABLES; ++k)
                if (m->is_free[k])
                    *variable(m, k) = m->row_from[k] + share * m->row_step[k];
            next = row_gaps(m, values, rows, target, n_rows);
            if (next < gap)
                break;
        }
        if (!(next < gap)) {
            for (k = 0; k < N_VARIABLES; ++k)
                *variable(m, k) = m->row_from[k];
            break;
        }
        gap = next;
        if (gap <= done)
            return STATUS_OK;
    }
    return gap <= enough ? STATUS_OK : STATUS_UNMET;
}
#endif

/* Moves the state to the nearest one that meets the constraints. */
HELPER int project(M *m)
{
#if N_CONSTRAINTS > 0
    int k, status;
    for (k = 0; k < N_VARIABLES; ++k)
        m->is_free[k] = !variable_is_input[k];
    status = meet(m, routine_constraints, tangent_constraints, (const int *)0, (const real *)0, N_CONSTRAINTS, 8);
    return status == STATUS_UNMET ? STATUS_CONSTRAINTS : status;
#else
    (void)m;
    return STATUS_OK;
#endif
}

#if N_WHENS > 0
HELPER int meet_targets(M *m, int n_aims)
{
#if N_AIMS > 0
    const int status = meet(m, routine_targets, tangent_targets, m->aim_row, m->aim_value, n_aims, 30);
    return status == STATUS_UNMET ? STATUS_REINIT : status;
#else
    (void)m, (void)n_aims;
    return STATUS_OK;
#endif
}
#endif
