/* ---- arithmetic ------------------------------------------------------------------------------------------ */

/* What the compiler knows of a rounding error: two sides closer than this are equal. */
#define EPSILON R_EPSILON

HELPER real absolute(real x) { return x < R(0.0) ? -x : x; }
HELPER real square(real x) { return x * x; }
HELPER real smaller(real a, real b) { return a != a || b != b ? a + b : (b < a ? b : a); }
HELPER real larger(real a, real b) { return a != a || b != b ? a + b : (b > a ? b : a); }
HELPER real signum(real x) { return x > R(0.0) ? R(1.0) : (x < R(0.0) ? R(-1.0) : x * R(0.0)); }
HELPER real modulo(real a, real b) { return a - b * R_FLOOR(a / b); }
HELPER int is_finite(real x) { return x - x == R(0.0); }

/* Whole powers by repeated squaring, as the interpreter does. */
HELPER real whole_power(real x, int n)
{
    real base = x, result = R(1.0);
    int left = n < 0 ? -n : n;
    while (left > 0) {
        if (left & 1)
            result *= base;
        base *= base;
        left >>= 1;
    }
    return n < 0 ? R(1.0) / result : result;
}

HELPER real power(real x, real n)
{
    if (n == R_FLOOR(n) && absolute(n) <= R(64.0))
        return whole_power(x, (int)n);
    return R_POW(x, n);
}

#if REAL_IS_DOUBLE
/* Sine and cosine by additions and multiplications alone: the same digits on every machine. Quarter turns are taken
   off in three parts (Cody & Waite 1980); angles of a million and more go to the C library. */
HELPER real turned(real angle, int quarters)
{
    const real rounder = 6755399441055744.0;
    const real sum = angle * 0.6366197723675814 + rounder;
    const real n = sum - rounder;
    const real coarse = angle - n * 1.5707963267341256;
    const real middle = n * 6.077100506303966e-11;
    const real r = coarse - middle;
    const real tail = ((coarse - r) - middle) - n * 2.0222662487959506e-21;
    const real z = r * r, zz = z * z, half = 0.5 * z, near_one = 1.0 - half;
    const int quarter = ((int)n + quarters) & 3;
    real value;
    if (quarter & 1) {
        const real p = ((0.0416666666666666 + -0.001388888888887411 * z) +
                        zz * (2.4801587289472525e-5 + -2.7557314349418464e-7 * z)) +
                       (zz * zz) * (2.0875722861261843e-9 + -1.135962569943083e-11 * z);
        value = near_one + (((1.0 - near_one) - half) + (zz * p - r * tail));
    } else {
        const real p = ((-0.16666666666666632 + 0.008333333333322403 * z) +
                        zz * (-0.00019841269829798654 + 2.755731368860649e-6 * z)) +
                       (zz * zz) * (-2.5050757576898397e-8 + 1.5896763363134004e-10 * z);
        value = r + ((z * r) * p + tail * near_one);
    }
    return quarter & 2 ? -value : value;
}
HELPER real sine(real x) { return absolute(x) < 1e6 ? turned(x, 0) : sin(x); }
HELPER real cosine(real x) { return absolute(x) < 1e6 ? turned(x, 1) : cos(x); }
#else
HELPER real sine(real x) { return sinf(x); }
HELPER real cosine(real x) { return cosf(x); }
#endif

/* Straight lines between points; ends hold, and of two points at one x the later counts. */
HELPER int piece_of(const real *x, int n, real u)
{
    int low = 0, high = n; /* the first point beyond u */
    while (low < high) {
        const int middle = (low + high) / 2;
        if (x[middle] <= u)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
HELPER real table_value(const real *x, const real *y, int n, real u)
{
    const int after = piece_of(x, n, u);
    if (u != u)
        return u;
    if (after > 0 && after < n) {
        const real part = (u - x[after - 1]) / (x[after] - x[after - 1]);
        return y[after - 1] * (R(1.0) - part) + y[after] * part;
    }
    return after == 0 ? y[0] : y[n - 1];
}
HELPER real table_slope(const real *x, const real *y, int n, real u)
{
    const int after = piece_of(x, n, u);
    return after > 0 && after < n ? (y[after] - y[after - 1]) / (x[after] - x[after - 1]) : R(0.0);
}

/* ---- linear equations ------------------------------------------------------------------------------------ */

/* Factors in place, rows scaled by their largest entry and exchanged. `terms` holds, where it is given, what each
   entry is made of without signs: a pivot is noise only against that. Gives 0, SINGULAR or NOT_FINITE. */
HELPER int factor_rows(int n, real *a, real *terms, real *scale, int *row_at)
{
    const real smallest = R(4.0) * EPSILON * (real)n;
    int i, j, k;
    for (i = 0; i < n; ++i) {
        real largest = R(0.0);
        for (j = 0; j < n; ++j) {
            if (!is_finite(a[i * n + j]))
                return STATUS_NOT_FINITE;
            largest = larger(largest, absolute(a[i * n + j]));
        }
        if (largest == R(0.0))
            return STATUS_SINGULAR;
        scale[i] = R(1.0) / largest;
        for (j = 0; j < n; ++j)
            a[i * n + j] *= scale[i];
    }
    if (terms)
        for (i = 0; i < n * n; ++i)
            terms[i] = absolute(a[i]);
    for (k = 0; k < n; ++k) {
        real column = R(0.0), pivot;
        int best = k;
        for (i = 0; i < n; ++i)
            column = larger(column, absolute(a[i * n + k]));
        for (i = k + 1; i < n; ++i)
            if (absolute(a[i * n + k]) > absolute(a[best * n + k]))
                best = i;
        pivot = a[best * n + k];
        if (pivot != pivot)
            return STATUS_NOT_FINITE;
        if (absolute(pivot) <= smallest * (terms ? terms[best * n + k] : column) || pivot == R(0.0))
            return STATUS_SINGULAR;
        row_at[k] = best;
        if (best != k)
            for (j = 0; j < n; ++j) {
                const real held = a[k * n + j];
                a[k * n + j] = a[best * n + j];
                a[best * n + j] = held;
                if (terms) {
                    const real term = terms[k * n + j];
                    terms[k * n + j] = terms[best * n + j];
                    terms[best * n + j] = term;
                }
            }
        for (i = k + 1; i < n; ++i) {
            const real factor = a[i * n + k] / pivot;
            a[i * n + k] = factor;
            if (factor == R(0.0))
                continue;
            for (j = k + 1; j < n; ++j) {
                a[i * n + j] -= factor * a[k * n + j];
                if (terms)
                    terms[i * n + j] += absolute(factor) * terms[k * n + j];
            }
        }
    }
    return STATUS_OK;
}

/* As above; `copy` (n × n) keeps the matrix for a second look where conductances lie decades apart. */
HELPER int factor_matrix(int n, real *a, real *copy, real *scale, int *row_at)
{
    int i, status;
    for (i = 0; i < n * n; ++i)
        copy[i] = a[i];
    status = factor_rows(n, a, (real *)0, scale, row_at);
    if (status != STATUS_SINGULAR)
        return status;
    for (i = 0; i < n * n; ++i)
        a[i] = copy[i];
    return factor_rows(n, a, copy, scale, row_at);
}

HELPER void solve_rows(int n, const real *a, const real *scale, const int *row_at, real *x)
{
    int i, j, k;
    for (i = 0; i < n; ++i)
        x[i] *= scale[i];
    for (k = 0; k < n; ++k) {
        const real held = x[k];
        x[k] = x[row_at[k]];
        x[row_at[k]] = held;
    }
    for (i = 0; i < n; ++i)
        for (j = 0; j < i; ++j)
            x[i] -= a[i * n + j] * x[j];
    for (i = n - 1; i >= 0; --i) {
        for (j = i + 1; j < n; ++j)
            x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
}

#if MATRIX_N > 0
/* A^-1 for columns = 0, else A^-1 B; `in` holds A, then B, row by row. */
HELPER int matrix_factor(int n, const real *in, real *a, real *copy, real *scale, int *row_at)
{
    int i;
    for (i = 0; i < n * n; ++i)
        a[i] = in[i];
    return factor_matrix(n, a, copy, scale, row_at);
}

HELPER int matrix_values(const M *m, int n, int columns, const real *in, real *out)
{
    real a[MATRIX_N * MATRIX_N], copy[MATRIX_N * MATRIX_N], scale[MATRIX_N], x[MATRIX_N];
    int row_at[MATRIX_N], i, j, wide = columns > 0 ? columns : n;
    const int status = matrix_factor(n, in, a, copy, scale, row_at);
    for (j = 0; j < wide && status == STATUS_OK; ++j) {
        for (i = 0; i < n; ++i)
            x[i] = columns > 0 ? in[n * n + i * columns + j] : (i == j ? R(1.0) : R(0.0));
        solve_rows(n, a, scale, row_at, x);
        for (i = 0; i < n; ++i)
            out[i * wide + j] = x[i];
    }
    (void)m;
    return status;
}

/* Slopes of every result by every input: dX = -A^-1 dA X + A^-1 dB. */
HELPER int matrix_slopes(const M *m, int n, int columns, const real *in, real *out)
{
    real inverse[MATRIX_N * MATRIX_N], x[MATRIX_N * MATRIX_WIDE];
    const int wide = columns > 0 ? columns : n, n_in = n * n + n * columns;
    int i, j, k, l, status = matrix_values(m, n, 0, in, inverse);
    if (status == STATUS_OK)
        status = matrix_values(m, n, columns, in, x);
    for (i = 0; i < n * wide * n_in; ++i)
        out[i] = R(0.0);
    for (i = 0; i < n && status == STATUS_OK; ++i)
        for (j = 0; j < wide; ++j)
            for (k = 0; k < n; ++k) {
                for (l = 0; l < n; ++l)
                    out[(i * wide + j) * n_in + k * n + l] = -inverse[i * n + k] * x[l * wide + j];
                if (columns > 0)
                    out[(i * wide + j) * n_in + n * n + k * columns + j] = inverse[i * n + k];
            }
    return status;
}
#endif
