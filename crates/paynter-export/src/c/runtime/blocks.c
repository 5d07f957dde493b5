/* ---- equations solved together ----------------------------------------------------------------------------- */

/* Room of block b in m->block: matrix, copy, then vectors of n numbers. */
enum { B_SCALE, B_X, B_Z, B_STEP, B_LAST, B_LARGEST, B_SHIFT, B_R, B_BEGIN, B_FROM, B_VECTORS };
HELPER real *block_matrix(M *m, int b) { return m->block + block_at[b]; }
HELPER real *block_vector(M *m, int b, int which)
{
    const int n = block_size[b];
    return m->block + block_at[b] + 2 * n * n + which * n;
}

HELPER int fail(M *m, int status, int where)
{
    m->where = where;
    return status;
}

HELPER int factor_block(M *m, int b)
{
    const int n = block_size[b];
    real *a = block_matrix(m, b);
    const int status = factor_matrix(n, a, a + n * n, block_vector(m, b, B_SCALE), m->block_row + block_row_at[b]);
    return status == STATUS_OK ? status : fail(m, status, b);
}

/* Solves for what stands in the vector B_X. */
HELPER void solve_block(M *m, int b)
{
    solve_rows(block_size[b], block_matrix(m, b), block_vector(m, b, B_SCALE), m->block_row + block_row_at[b],
               block_vector(m, b, B_X));
}

#if N_NEWTON > 0
/* One place where equations are solved by Newton's method. */
typedef struct {
    int block;
    const int *unknown; /* places in m->w */
    const real *nominal;
    int (*body)(M *, real *r, real *loose);
    int (*slopes)(M *, real *a);
    int n_loose;
    const int *loose_mode;
} newton_place;
static const newton_place newton_places[N_NEWTON];

HELPER real mode_at(int kind, real value, const real *held);

#define NEWTON_DONE (R(45.0) * EPSILON) /* corrections below this share are rounding */
#define NEWTON_NOISE R_NOISE            /* a correction this small that no longer shrinks is noise */
#define NEWTON_ROUNDING (R(4500.0) * EPSILON)
#define NEWTON_ITERATIONS 1000
#define NEWTON_STRIDES 200

HELPER int newton_evaluate(M *m, const newton_place *p, int is_loose)
{
    real *r = block_vector(m, p->block, B_R);
    int round, k, status = p->body(m, r, m->loose);
    for (round = 0; is_loose && status == STATUS_OK && round <= p->n_loose; ++round) {
        int has_changed = 0;
        for (k = 0; k < p->n_loose; ++k) {
            const int at = p->loose_mode[k];
            const real mode = mode_at(modes[at].kind, m->loose[k], (const real *)0);
            has_changed |= mode != m->mode[at];
            m->mode[at] = mode;
        }
        if (!has_changed)
            break;
        status = p->body(m, r, m->loose);
    }
    return status;
}

HELPER int newton_factor(M *m, const newton_place *p)
{
    const int n = block_size[p->block];
    real *a = block_matrix(m, p->block);
    int i, status;
    for (i = 0; i < n * n; ++i)
        a[i] = R(0.0);
    status = p->slopes(m, a);
    return status == STATUS_OK ? factor_block(m, p->block) : status;
}

/* Computes the correction -J^-1 r; gives its size against z. */
HELPER real newton_correct(M *m, const newton_place *p)
{
    const int b = p->block, n = block_size[b];
    real *x = block_vector(m, b, B_X), size = R(0.0);
    const real *r = block_vector(m, b, B_R), *shift = block_vector(m, b, B_SHIFT), *z = block_vector(m, b, B_Z);
    int k;
    for (k = 0; k < n; ++k)
        x[k] = shift[k] - r[k];
    solve_block(m, b);
    for (k = 0; k < n; ++k) {
        const real nominal = p->nominal[k] > R(0.0) ? p->nominal[k] : R(1e-3);
        size = larger(size, absolute(x[k]) / (absolute(z[k]) + nominal));
    }
    return size;
}

HELPER void newton_move(M *m, const newton_place *p, real share)
{
    const real *z = block_vector(m, p->block, B_Z), *step = block_vector(m, p->block, B_STEP);
    int k;
    for (k = 0; k < block_size[p->block]; ++k)
        m->w[p->unknown[k]] = z[k] + share * step[k];
}

HELPER void newton_take(M *m, const newton_place *p, int from, int to)
{
    const real *source = block_vector(m, p->block, from);
    real *target = block_vector(m, p->block, to);
    int k;
    for (k = 0; k < block_size[p->block]; ++k)
        target[k] = source[k];
}

HELPER void newton_accept(M *m, const newton_place *p)
{
    real *z = block_vector(m, p->block, B_Z);
    int k;
    for (k = 0; k < block_size[p->block]; ++k)
        z[k] = m->w[p->unknown[k]];
}

HELPER int newton_finish(M *m, const newton_place *p)
{
    const int b = p->block, n = block_size[b];
    const real *shift = block_vector(m, b, B_SHIFT);
    real *last = block_vector(m, b, B_LAST), *largest = block_vector(m, b, B_LARGEST);
    int k;
    for (k = 0; k < n; ++k)
        if (shift[k] != R(0.0))
            return STATUS_OK; /* a point on the way, not a solution */
    for (k = 0; k < n; ++k) {
        last[k] = m->w[p->unknown[k]];
        largest[k] = larger(largest[k], absolute(last[k]));
    }
    m->block_has_last[b] = 1;
    m->block_may_jump[b] = 0;
    return STATUS_OK;
}

HELPER int newton_is_rounding(M *m, const newton_place *p)
{
    const int b = p->block;
    const real *step = block_vector(m, b, B_STEP), *x = block_vector(m, b, B_X);
    const real *largest = block_vector(m, b, B_LARGEST);
    int k;
    for (k = 0; k < block_size[b]; ++k) {
        const real allowed = NEWTON_ROUNDING * larger(largest[k], p->nominal[k]);
        if (!(absolute(step[k]) <= allowed && absolute(x[k]) <= allowed))
            return 0;
    }
    return 1;
}

/* Damped Newton from the point in m->w, with the monotonicity test of Deuflhard (2004, 3.3.1). */
HELPER int newton_search(M *m, const newton_place *p, int is_loose)
{
    const int b = p->block;
    real size, damping = R(1.0);
    int k, status;
    newton_accept(m, p);
    if ((status = newton_evaluate(m, p, is_loose)) != STATUS_OK || (status = newton_factor(m, p)) != STATUS_OK)
        return status;
    size = newton_correct(m, p);
    if (!is_finite(size))
        return fail(m, STATUS_NOT_FINITE, b);
    for (k = 0; k < NEWTON_ITERATIONS; ++k) {
        const real step = damping;
        real next;
        if (size <= NEWTON_DONE)
            return newton_finish(m, p);
        newton_take(m, p, B_X, B_STEP);
        newton_move(m, p, step);
        ++m->iterations;
        if ((status = newton_evaluate(m, p, is_loose)) != STATUS_OK)
            return status;
        next = newton_correct(m, p);
        if (!(is_finite(next) && next <= (R(1.0) - R(0.25) * step) * size)) {
            if (size <= NEWTON_NOISE && next <= R(10.0) * NEWTON_NOISE)
                return newton_finish(m, p);
            if (newton_is_rounding(m, p)) {
                newton_move(m, p, R(0.0));
                status = newton_evaluate(m, p, is_loose);
                return status == STATUS_OK ? newton_finish(m, p) : status;
            }
            damping *= R(0.5);
            if (damping < R(1e-10))
                return fail(m, STATUS_NO_SOLUTION, b);
            newton_take(m, p, B_STEP, B_X);
            continue;
        }
        newton_accept(m, p);
        if (step == R(1.0) && next * next <= NEWTON_DONE * size) {
            if (next > NEWTON_DONE) {
                newton_take(m, p, B_X, B_STEP);
                newton_move(m, p, R(1.0));
                if ((status = newton_evaluate(m, p, is_loose)) != STATUS_OK)
                    return status;
                newton_accept(m, p);
            }
            return newton_finish(m, p);
        }
        if (step < R(1.0) || next > R(0.03) * size) {
            if ((status = newton_factor(m, p)) != STATUS_OK)
                return status;
            size = newton_correct(m, p);
            damping = smaller(R(2.0) * damping, R(1.0));
        } else {
            size = next;
        }
    }
    return fail(m, STATUS_NO_SOLUTION, b);
}

/* Follows r(z) = (1 - s) r(z0) from the present point to s = 1. */
HELPER int newton_follow(M *m, const newton_place *p, int is_loose)
{
    const int b = p->block, n = block_size[b];
    real *shift = block_vector(m, b, B_SHIFT), *begin = block_vector(m, b, B_BEGIN), *from = block_vector(m, b, B_FROM);
    const real *r = block_vector(m, b, B_R);
    real done = R(0.0), stride = R(0.25);
    int i, k, status = newton_evaluate(m, p, is_loose);
    if (status != STATUS_OK)
        return status;
    for (i = 0; i < n; ++i) {
        begin[i] = r[i];
        from[i] = m->w[p->unknown[i]];
        if (!is_finite(begin[i]))
            return fail(m, STATUS_NOT_FINITE, b);
    }
    status = fail(m, STATUS_NO_SOLUTION, b);
    for (k = 0; k < NEWTON_STRIDES; ++k) {
        const real aim = smaller(done + stride, R(1.0));
        for (i = 0; i < n; ++i) {
            shift[i] = (R(1.0) - aim) * begin[i];
            m->w[p->unknown[i]] = from[i];
        }
        status = newton_search(m, p, is_loose);
        if (status == STATUS_OK) {
            if (aim == R(1.0))
                break;
            for (i = 0; i < n; ++i)
                from[i] = m->w[p->unknown[i]];
            done = aim;
            stride *= R(2.0);
            status = fail(m, STATUS_NO_SOLUTION, b);
        } else {
            stride *= R(0.25);
            if (stride < R(1e-4))
                break;
        }
    }
    for (i = 0; i < n; ++i)
        shift[i] = R(0.0);
    return status;
}

/* Finds z near the last solution. Only at a start or after an event may it jump to another one. */
HELPER int newton_solve(M *m, int place)
{
    const newton_place *p = &newton_places[place];
    const int b = p->block, n = block_size[b];
    const real *last = block_vector(m, b, B_LAST);
    static const real shares[3] = {R(0.0), R(1.0), R(-1.0)};
    int i, share, attempt, way, status = fail(m, STATUS_NO_SOLUTION, b);
    if (m->block_has_last[b])
        for (way = 0; way < 2 && status != STATUS_OK; ++way) {
            for (i = 0; i < n; ++i)
                m->w[p->unknown[i]] = last[i];
            status = way == 0 ? newton_search(m, p, 0) : newton_follow(m, p, 0);
        }
    if (status == STATUS_OK || !(m->block_may_jump[b] || status == STATUS_NOT_FINITE))
        return status;
    for (i = 0; i < p->n_loose; ++i)
        m->loose_before[i] = m->mode[p->loose_mode[i]];
    for (attempt = p->n_loose > 0 && m->block_may_jump[b] ? 0 : 1; attempt < 2; ++attempt)
        for (share = 0; share < 3; ++share)
            for (way = 0; way < 2; ++way) {
                for (i = 0; i < n; ++i)
                    m->w[p->unknown[i]] = shares[share] * (p->nominal[i] > R(0.0) ? p->nominal[i] : R(1.0));
                if ((way == 0 ? newton_search(m, p, attempt == 0) : newton_follow(m, p, attempt == 0)) == STATUS_OK)
                    return STATUS_OK;
                for (i = 0; i < p->n_loose; ++i)
                    m->mode[p->loose_mode[i]] = m->loose_before[i];
            }
    return fail(m, status, b);
}
#endif
