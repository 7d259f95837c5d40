#include "fibres_page.h"

#include <math.h>
#include <stdio.h>

#define PI 3.14159265358979323846

/* A slice shows two axes of the volume, right and up, at one index of the third. */
typedef struct slice {
  int across, up, through;
  int64_t index;
} slice;

static const char *const axis_name[3] = {"x", "y", "z"};

double fibres_value(const fibres *f, int64_t voxel, const double g[3]) {
  const float *a = f->tensors + f->entries * voxel;
  double sum = 0.0;
  int64_t r, k;
  int axis;
  for (r = 0; r < f->entries; r++) {
    double term = (double)f->multinomials[r] * a[r];
    for (axis = 0; axis < 3; axis++)
      for (k = 0; k < f->exponents[3 * r + axis]; k++) term *= g[axis];
    sum += term;
  }
  return sum;
}

static const float *peak(const fibres *f, int64_t voxel, int64_t k) { return f->peaks + 4 * (k + f->most * voxel); }

double fibres_angle(const fibres *f, int64_t voxel, int64_t a, int64_t b) {
  const float *p = peak(f, voxel, a), *q = peak(f, voxel, b);
  double cosine = fabs((double)p[0] * q[0] + (double)p[1] * q[1] + (double)p[2] * q[2]);
  return acos(cosine < 1.0 ? cosine : 1.0) * 180.0 / PI;
}

static int64_t voxel_at(const fibres *f, const slice *s, int64_t across, int64_t up) {
  int64_t at[3];
  at[s->across] = across;
  at[s->up] = up;
  at[s->through] = s->index;
  return at[0] + f->dims[0] * (at[1] + f->dims[1] * at[2]);
}

/* How well the first two peaks of a voxel show as a crossing in a slice: near right angles, of like height, flat. */
static double crossing_score(const fibres *f, int64_t voxel, const slice *s) {
  const float *p, *q;
  if (f->count[voxel] != 2) return 0.0;
  p = peak(f, voxel, 0);
  q = peak(f, voxel, 1);
  return sin(fibres_angle(f, voxel, 0, 1) * PI / 180.0) * (q[3] / p[3]) * (1.0 - fabs(p[s->through])) *
         (1.0 - fabs(q[s->through])) * f->gfa[voxel];
}

/* The slice of the plane with the clearest crossings, and the clearest of them. */
static slice best_slice(const fibres *f, int64_t *voxel) {
  slice best = {1, 2, 0, 0}, s = best;
  double highest = -1.0;
  int64_t a, u;
  for (s.index = 0; s.index < f->dims[s.through]; s.index++) {
    double sum = 0.0, largest = -1.0;
    int64_t where = 0;
    for (u = 0; u < f->dims[s.up]; u++)
      for (a = 0; a < f->dims[s.across]; a++) {
        int64_t v = voxel_at(f, &s, a, u);
        double score = crossing_score(f, v, &s);
        sum += score;
        if (score > largest) {
          largest = score;
          where = v;
        }
      }
    if (sum > highest) {
      highest = sum;
      best = s;
      *voxel = where;
    }
  }
  return best;
}

/* The colour of a direction: red, green and blue are the parts along x, y and z. */
static void colour(FILE *out, double x, double y, double z) {
  double g[3], largest = 0.0;
  int k;
  g[0] = fabs(x), g[1] = fabs(y), g[2] = fabs(z);
  for (k = 0; k < 3; k++) largest = g[k] > largest ? g[k] : largest;
  /* Brightened a little towards full saturation, so that oblique directions do not look dull. */
  for (k = 0; k < 3; k++) g[k] *= 0.45 + 0.55 / (largest > 0.0 ? largest : 1.0);
  fprintf(out, "#%02x%02x%02x", (unsigned)(fmin(g[0], 1.0) * 235.0 + 20.0), (unsigned)(fmin(g[1], 1.0) * 235.0 + 20.0),
          (unsigned)(fmin(g[2], 1.0) * 235.0 + 20.0));
}

static double largest_b0(const fibres *f) {
  int64_t v, count = f->dims[0] * f->dims[1] * f->dims[2];
  double largest = 0.0;
  for (v = 0; v < count; v++) largest = f->b0[v] > largest ? f->b0[v] : largest;
  return largest > 0.0 ? largest : 1.0;
}

/* Grey image of the unweighted signal. */
static void write_ground(FILE *out, const fibres *f, const slice *s, double cell) {
  double brightest = largest_b0(f);
  int64_t a, u, columns = f->dims[s->across], rows = f->dims[s->up];
  for (u = 0; u < rows; u++)
    for (a = 0; a < columns; a++) {
      /* The root lifts the white matter, which is dark in this image, from the black. */
      int grey = (int)(14.0 + 92.0 * sqrt(f->b0[voxel_at(f, s, a, u)] / brightest));
      fprintf(out, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%02x%02x%02x\"/>\n", (double)a * cell,
              (double)(rows - 1 - u) * cell, cell + 0.3, cell + 0.3, grey, grey, grey + 4);
    }
}

/* The plane's section through a voxel's orientation function, radius growing with the value above its minimum. */
static void write_section(FILE *out, const fibres *f, int64_t voxel, const double right[3], const double up[3],
                          double size, const char *style) {
  enum { POINTS = 96 };
  double value[POINTS], low = 1e300, high = -1e300;
  int k, axis;
  for (k = 0; k < POINTS; k++) {
    double g[3], phi = 2.0 * PI * k / POINTS;
    for (axis = 0; axis < 3; axis++) g[axis] = cos(phi) * right[axis] + sin(phi) * up[axis];
    value[k] = fibres_value(f, voxel, g);
    low = fmin(low, value[k]);
    high = fmax(high, value[k]);
  }
  if (low > 0.0) low = 0.0; /* the true shape where the function is positive, as a density is */
  if (!(high > low)) return;
  fprintf(out, "<path %s d=\"", style);
  for (k = 0; k < POINTS; k++) {
    double phi = 2.0 * PI * k / POINTS, r = size * (value[k] - low) / (high - low);
    fprintf(out, "%c%.1f %.1f", k == 0 ? 'M' : 'L', r * cos(phi), -r * sin(phi));
  }
  fprintf(out, "Z\"/>\n");
}

/* The peaks of a slice's voxels as sticks, as long as their value is high against the voxel's highest. */
static void write_sticks(FILE *out, const fibres *f, const slice *s, double cell, double width) {
  int64_t a, u, k, rows = f->dims[s->up];
  for (u = 0; u < rows; u++)
    for (a = 0; a < f->dims[s->across]; a++) {
      int64_t v = voxel_at(f, s, a, u);
      double x = ((double)a + 0.5) * cell, y = ((double)(rows - 1 - u) + 0.5) * cell;
      for (k = f->count[v] - 1; k >= 0; k--) {
        const float *p = peak(f, v, k);
        double reach = 0.47 * cell * p[3] / peak(f, v, 0)[3];
        double dx = reach * p[s->across], dy = -reach * p[s->up];
        fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke-width=\"%.1f\" stroke=\"", x - dx, y - dy,
                x + dx, y + dy, width * (0.6 + 0.4 * p[3] / peak(f, v, 0)[3]));
        colour(out, p[0], p[1], p[2]);
        fprintf(out, "\"/>\n");
      }
    }
}

static void write_slice(FILE *out, const fibres *f, const slice *s, double cell, int sections, int64_t marked) {
  int64_t a, u, columns = f->dims[s->across], rows = f->dims[s->up];
  double right[3] = {0, 0, 0}, up[3] = {0, 0, 0};
  right[s->across] = 1.0;
  up[s->up] = 1.0;
  fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"fibre directions, slice %s = %ld\">\n",
          (double)columns * cell, (double)rows * cell, axis_name[s->through], (long)s->index);
  write_ground(out, f, s, cell);
  if (sections)
    for (u = 0; u < rows; u++)
      for (a = 0; a < columns; a++) {
        int64_t v = voxel_at(f, s, a, u);
        if (f->count[v] == 0) continue;
        fprintf(out, "<g transform=\"translate(%.1f %.1f)\">", ((double)a + 0.5) * cell,
                ((double)(rows - 1 - u) + 0.5) * cell);
        write_section(out, f, v, right, up, 0.47 * cell, "fill=\"#fff\" fill-opacity=\".13\"");
        fprintf(out, "</g>\n");
      }
  fprintf(out, "<g stroke-linecap=\"round\">\n");
  write_sticks(out, f, s, cell, sections ? 0.085 * cell : 0.13 * cell);
  fprintf(out, "</g>\n");
  for (u = 0; u < rows; u++)
    for (a = 0; a < columns; a++)
      if (voxel_at(f, s, a, u) == marked)
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#fff\" stroke-width=\"2\"/>\n",
                (double)a * cell + 1.0, (double)(rows - 1 - u) * cell + 1.0, cell - 2.0, cell - 2.0);
  fprintf(out, "</svg>\n");
}

/* One voxel in the plane of its first two peaks: the section through its orientation function, and the peaks. */
static void write_close_up(FILE *out, const fibres *f, int64_t voxel) {
  enum { SEGMENTS = 180 };
  const double size = 150.0;
  const float *p = peak(f, voxel, 0), *q = peak(f, voxel, 1);
  double right[3], up[3], dot = 0.0, norm = 0.0, highest = p[3];
  int axis, k;
  for (axis = 0; axis < 3; axis++) dot += (double)p[axis] * q[axis];
  for (axis = 0; axis < 3; axis++) {
    right[axis] = p[axis];
    up[axis] = q[axis] - dot * p[axis];
    norm += up[axis] * up[axis];
  }
  for (axis = 0; axis < 3; axis++) up[axis] /= sqrt(norm);
  fprintf(out, "<svg viewBox=\"-200 -200 400 400\" role=\"img\" aria-label=\"orientation function of one voxel\">\n");
  fprintf(out, "<rect x=\"-200\" y=\"-200\" width=\"400\" height=\"400\" fill=\"#101116\"/>\n");
  fprintf(out, "<circle r=\"%.0f\" fill=\"none\" stroke=\"#34363f\"/><circle r=\"%.0f\" fill=\"none\" stroke=\"#26282f\"/>\n", size,
          size / 2.0);
  write_section(out, f, voxel, right, up, size, "fill=\"#fff\" fill-opacity=\".08\"");
  fprintf(out, "<g stroke-width=\"4\" stroke-linecap=\"round\">\n");
  for (k = 0; k < SEGMENTS; k++) {
    double x[2], y[2], g[3] = {0, 0, 0};
    int end;
    for (end = 0; end < 2; end++) {
      double phi = 2.0 * PI * (k + end) / SEGMENTS, r;
      for (axis = 0; axis < 3; axis++) g[axis] = cos(phi) * right[axis] + sin(phi) * up[axis];
      r = size * fmax(fibres_value(f, voxel, g), 0.0) / highest;
      x[end] = r * cos(phi);
      y[end] = -r * sin(phi);
    }
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"", x[0], y[0], x[1], y[1]);
    colour(out, g[0], g[1], g[2]);
    fprintf(out, "\"/>\n");
  }
  fprintf(out, "</g>\n<g stroke=\"#fff\" stroke-width=\"1.6\" stroke-dasharray=\"5 4\">\n");
  for (k = 0; k < 2; k++) {
    const float *t = k == 0 ? p : q;
    double x = 0.0, y = 0.0, reach = size * t[3] / highest;
    for (axis = 0; axis < 3; axis++) x += t[axis] * right[axis], y -= t[axis] * up[axis];
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", -x * reach, -y * reach, x * reach, y * reach);
    fprintf(out, "<text stroke=\"none\" fill=\"#fff\" font-size=\"15\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">&lambda;<tspan "
                 "dy=\"4\" font-size=\"11\">%d</tspan><tspan dy=\"-4\"> = %.4f</tspan></text>\n",
            k == 0 ? x * reach - 15.0 : x * reach, k == 0 ? -48.0 : y * (reach + 20.0) + 5.0, k + 1, t[3]);
  }
  fprintf(out, "</g>\n</svg>\n");
}

static const char *const head =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Fibre directions with purlin</title>\n"
    "<link rel=\"stylesheet\" href=\"demo.css\"></head><body>\n";

int fibres_page_write(const char *path, const fibres *f, const char *backend, const fibres_row *rows, int64_t row_count) {
  FILE *out = fopen(path, "w");
  int64_t crossing = 0, k, columns;
  slice best, s;
  int failed;
  if (out == NULL) return -1;
  best = best_slice(f, &crossing);
  columns = f->dims[0] * f->dims[1];
  fprintf(out, "%s<h1>Fibre directions in white matter</h1>\n", head);
  fprintf(out,
          "<p>Water moves along nerve fibres more easily than across. From %ld voxels of a diffusion MRI scan purlin made orientation "
          "functions, wrote each as a symmetric tensor of order %d, and found its maxima: the eigenpairs that the shifted "
          "higher-order power method is after, here with a safeguarded Newton step. Backend: %s.</p>\n",
          (long)(columns * f->dims[2]), (int)f->order, backend);
  fprintf(out, "<div class=\"pair\"><figure>\n");
  write_slice(out, f, &best, 64.0, 1, crossing);
  fprintf(out,
          "<figcaption>Slice %s = %ld, %s to the right, %s up, over the signal without diffusion weighting. A stick is a "
          "maximum, as long as it is high; two in a voxel are two fibre bundles that cross. Pale shapes are sections through the "
          "orientation functions.<br><span class=\"key\">Direction:<span style=\"background:#ff1414\"></span>x<span "
          "style=\"background:#14ff14\"></span>y<span style=\"background:#1414ff\"></span>z, in the frame of the "
          "gradients</span></figcaption></figure>\n",
          axis_name[best.through], (long)best.index, axis_name[best.across], axis_name[best.up]);
  fprintf(out, "<figure>\n");
  if (f->count[crossing] >= 2) {
    write_close_up(out, f, crossing);
    fprintf(out,
            "<figcaption>The framed voxel (%ld, %ld, %ld), cut by the plane of its two maxima, which stand at %.1f degrees. The "
            "outline is the orientation function, coloured by direction; the dashed lines are the eigenvectors found.</figcaption>\n",
            (long)(crossing % f->dims[0]), (long)(crossing / f->dims[0] % f->dims[1]), (long)(crossing / columns),
            fibres_angle(f, crossing, 0, 1));
  }
  fprintf(out, "</figure></div>\n<h2>Numbers</h2>\n<table><tbody>\n");
  for (k = 0; k < row_count; k++) fprintf(out, "<tr><td>%s</td><td>%s</td></tr>\n", rows[k].name, rows[k].value);
  fprintf(out, "</tbody></table>\n<h2>Every slice along %s</h2>\n<div class=\"strip\">\n", axis_name[best.through]);
  s = best;
  for (s.index = 0; s.index < f->dims[s.through]; s.index++) {
    fprintf(out, "<figure>\n");
    write_slice(out, f, &s, 24.0, 0, -1);
    fprintf(out, "<figcaption>%s = %ld</figcaption></figure>\n", axis_name[s.through], (long)s.index);
  }
  fprintf(out, "</div>\n</body></html>\n");
  failed = ferror(out);
  return fclose(out) != 0 || failed ? -1 : 0;
}
