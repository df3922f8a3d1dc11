/* The expressions of benchmarks/sweeps.py in C: a ring allreduce over four axes, and the best of
   seven allreduce algorithms with step time and efficiency over six. Formulas as in
   scalemath/kernels; the compiler may hoist what it can. */
#include <math.h>
#include <stdint.h>

static inline double ring(double s, double n, double b, double a, double g) {
  double k = n - 1.0;
  return 2.0 * k * a + 2.0 * k * s / (n * b) + k * s / (n * g);
}

void ring_grid(int nn, int ns, int nb, int na, const double *n, const double *s, const double *b,
               const double *a, double g, double *restrict out) {
  for (int i = 0; i < nn; i++)
    for (int j = 0; j < ns; j++)
      for (int k = 0; k < nb; k++) {
        double *restrict row = out + (((long)i * ns + j) * nb + k) * na;
        for (int l = 0; l < na; l++) row[l] = ring(s[j], n[i], b[k], a[l], g);
      }
}

static inline double floor_log2(double x) { int e; frexp(x, &e); return e - 1.0; }
static inline double ceil_log2(double x) { int e; return frexp(x, &e) == 0.5 ? e - 1.0 : e; }
static inline double below(double x) { int e; frexp(x, &e); return ldexp(1.0, e - 1); }

static inline double pipeline(double f, double s, double b, double a, double m) {
  double w = s / b, st = f * a;
  if (f * w > m * m * a) return st + w + 2.0 * (sqrt(f) * sqrt(a) * sqrt(w));
  return st + m * a + w + f * w / m;
}
static inline double pipeline_reduced(double f, double s, double b, double a, double g, double m) {
  double wi = s / b, ar = s / g, w = wi + ar, wait = m * a, x = f / m;
  if (f * w > m * m * a) {
    double st = sqrt(f) * sqrt(a);
    wait = st * sqrt(w);
    x = st * (1.0 / sqrt(w));
  }
  return f * a + wait + (wi + wi * x) + (ar + ar * x);
}
static inline double chain(double s, double n, double b, double a, double g) {
  return n < 2.0 ? 0.0 : pipeline_reduced(n - 2.0, s, b, a, g, 1.0) + pipeline(n - 2.0, s, b, a, 1.0);
}
/* what depends on the ranks alone is computed once per rank count */
struct logs { double floor, ceil, above, below; };

static inline double doubling(struct logs g2, double s, double n, double b, double a, double g) {
  double r = g2.floor, q = r;
  if (g2.below < n) { r += 2.0; q += 1.0; }
  return r * a + r * s / b + q * s / g;
}
static inline double rabenseifner(struct logs g2, double s, double n, double b, double a, double g) {
  double c = g2.below, sh = (c - 1.0) * s / c, mv = 2.0 * sh, r = 2.0 * g2.floor;
  if (c < n) { r += 2.0; mv += 2.0 * s; sh += s; }
  return r * a + mv / b + sh / g;
}
static inline double binomial(struct logs g2, double s, double b, double a, double g) {
  double r = g2.ceil;
  return 2.0 * r * a + 2.0 * r * s / b + r * s / g;
}
static inline double binary(struct logs g2, double s, double n, double b, double a, double g) {
  if (n < 3.0) return chain(s, n, b, a, g);
  double f = g2.above - 2.0;
  return 2.0 * (pipeline_reduced(f, s, b, a, g, 1.0) + pipeline(f, s, b, a, 1.0));
}
static inline double twin(struct logs g2, double s, double n, double b, double a, double g) {
  if (n < 3.0) return chain(s, n, b, a, g);
  double f = 2.0 * g2.ceil;
  return pipeline_reduced(f, s, b, a, g, 2.0) + pipeline(f, s, b, a, 2.0);
}

void best_grid(int nn, int ns, int nb, int nw, int no, int na, const double *n, const double *s,
               const double *b, const double *w, const double *o, const double *a, double g,
               double *restrict time, double *restrict efficiency, uint8_t *restrict code) {
  for (int i = 0; i < nn; i++) {
    const struct logs g2 = {floor_log2(n[i]), ceil_log2(n[i]), ceil_log2(n[i] + 1.0), below(n[i])};
    for (int j = 0; j < ns; j++)
      for (int k = 0; k < nb; k++)
        for (int u = 0; u < nw; u++)
          for (int v = 0; v < no; v++) {
            long at = ((((long)i * ns + j) * nb + k) * nw + u) * no + v;
            double *restrict t_row = time + at * na, *restrict e_row = efficiency + at * na;
            uint8_t *restrict c_row = code + at * na;
            double N = n[i], S = s[j], B = b[k] * w[u] / o[v], W = 0.1, O = 0.5;
            for (int l = 0; l < na; l++) {
              double A = a[l], t = ring(S, N, B, A, g), x;
              int c = 0;
              x = doubling(g2, S, N, B, A, g);     if (x < t) { t = x; c = 1; }
              x = rabenseifner(g2, S, N, B, A, g); if (x < t) { t = x; c = 2; }
              x = binomial(g2, S, B, A, g);     if (x < t) { t = x; c = 3; }
              x = chain(S, N, B, A, g);        if (x < t) { t = x; c = 4; }
              x = binary(g2, S, N, B, A, g);       if (x < t) { t = x; c = 5; }
              x = twin(g2, S, N, B, A, g);         if (x < t) { t = x; c = 6; }
              double compute = W / N, hidden = fmin(O * t, compute), step = compute + (t - hidden);
              t_row[l] = step;
              e_row[l] = W / (N * step);
              c_row[l] = (uint8_t)c;
            }
          }
  }
}
