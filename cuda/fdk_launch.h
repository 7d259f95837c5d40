/* Launch constants and parameter structs of the FDK kernels, under the rules of docs/contributing.md.
 *
 * Words
 *   scan      all views of a plan; tables by view hold one entry for each of them.
 *   batch     the views of a launch: `index[n]` is the scan's index of batch view n.
 *   stored    panel rows first_row .. first_row + rows - 1, the only ones on the device.
 *   image     filtered rows of a batch view, float, with a border of zeros: `height` lines of `pitch` samples. Column c of
 *             stored row r is at [(top + r) * pitch + left + c]. The border lets a kernel read past the panel.
 *   tile      PURLIN_LAUNCH_FDK_TILE^2 voxel columns of some slices: a block's work. The grid of tiles begins at
 *             slice 0 of the volume or at its plane of symmetry. If tiles extend beyond a slab, the rows that they project
 *             onto must be stored too: then cutting the volume into slabs changes no bit.
 *   window    the part of an image that a tile projects onto. A block stages it in shared memory.
 */
#ifndef PURLIN_FDK_LAUNCH_H
#define PURLIN_FDK_LAUNCH_H

#include <stdint.h>

/* element types of an external array */
#define PURLIN_LAUNCH_FDK_U8 0
#define PURLIN_LAUNCH_FDK_I8 1
#define PURLIN_LAUNCH_FDK_U16 2
#define PURLIN_LAUNCH_FDK_I16 3
#define PURLIN_LAUNCH_FDK_U32 4
#define PURLIN_LAUNCH_FDK_I32 5
#define PURLIN_LAUNCH_FDK_F16 6
#define PURLIN_LAUNCH_FDK_F32 7
#define PURLIN_LAUNCH_FDK_F64 8

/* flags of the conversions, a bit set */
#define PURLIN_LAUNCH_FDK_SWAP 1     /* the other byte order */
#define PURLIN_LAUNCH_FDK_COUNTS 2   /* the input is counts, the output line integrals */
#define PURLIN_LAUNCH_FDK_SANITIZE 4 /* numbers that are not finite become 0 */
#define PURLIN_LAUNCH_FDK_OPEN_DOUBLE 8  /* `open_image` is double; purlin_fdk_convert_double alone */
#define PURLIN_LAUNCH_FDK_DARK_DOUBLE 16 /* `dark_image` is double; likewise */

/* flags of the filter */
#define PURLIN_LAUNCH_FDK_WEIGH 1    /* cosine and ray weights; else they are 1 */
#define PURLIN_LAUNCH_FDK_CONTINUE_LEFT 2  /* rows are extrapolated beyond their left end */
#define PURLIN_LAUNCH_FDK_CONTINUE_RIGHT 4 /* and beyond their right one */

#define PURLIN_LAUNCH_FDK_THREADS 256
#define PURLIN_LAUNCH_FDK_FILTER_PAIRS 4 /* pairs of lines that a block of the filter processes */
#define PURLIN_LAUNCH_FDK_NOT_FINITE 0 /* counters: uint64, added to; line integrals that are not finite */
#define PURLIN_LAUNCH_FDK_CLAMPED 1
#define PURLIN_LAUNCH_FDK_NEGATIVE 2 /* counts above the unattenuated count */
#define PURLIN_LAUNCH_FDK_TOO_LARGE 3 /* line integrals that are not finite for the kernels, but are in the caller's array */
#define PURLIN_LAUNCH_FDK_OVERFLOWN 4 /* voxels that are infinite in the type of the output */
#define PURLIN_LAUNCH_FDK_COUNTERS 5

/* Converts raw numbers to line integrals: p = -log(max(I - dark, least) / max(open - dark, least)). purlin_fdk_convert
 * subtracts in float, purlin_fdk_convert_double in double: for counts of more than 24 bits, and for images in double. With `rays` they are
 * also multiplied by the weights of rays that are measured twice, pixel by pixel. A view's entry of `rays` is
 *   a, b, c, d, e, f, radius, start
 * a i + b j + c and d i + e j + f are the parts of the ray through pixel (i, j), counted from the panel's centre, across and
 * along the line from the source to the axis. `radius` is the source's distance from the axis divided by the mean of all
 * views. `start` is the source's angle from the start of the arc. */
#define PURLIN_LAUNCH_FDK_RAY 8 /* floats of an entry of `rays` */
typedef struct purlin_fdk_convert_params {
  uint64_t source;        /* [columns, rows, views] of `number` */
  uint64_t output;        /* float, likewise; 0 = only count the numbers that are not finite */
  uint64_t open_image;    /* float or double [columns, panel rows]: counts without an object; 0 = `open` everywhere */
  uint64_t dark_image;    /* float or double [columns, panel rows]: counts without radiation; 0 = none */
  uint64_t counters;      /* uint64 [PURLIN_LAUNCH_FDK_COUNTERS] */
  uint64_t rays;          /* float [PURLIN_LAUNCH_FDK_RAY, scan]; 0 = no weights */
  uint64_t index;         /* int32 [views]: the scan's index of each view; with `rays` */
  int64_t columns;
  int64_t rows;
  int64_t views;
  int64_t first_row;
  int64_t panel_rows;
  double open;
  double least;
  double ramp;            /* Parker: half of the arc's excess over pi; half fan: half width of the strip; rad */
  double long_side;       /* half fan: 1 or -1, the sign of angles on the long side; 0 = Parker */
  int32_t number;
  int32_t flags;
  float largest;          /* line integrals beyond it count as not finite */
  int32_t reserved;       /* 0 */
} purlin_fdk_convert_params;
#define PURLIN_FDK_CONVERT_PARAMS_BYTES 144

/* Weights, smooth extrapolation and ramp filter, two rows in one complex transform. A view's entry of `views` is
 *   a n, b n, c n, a a, 2 a b, b b, 2 a c, 2 b c, weight, table row or -1 (as numbers), s, t
 * with the ray c + a i + b j through pixel (i, j) counted from the panel's centre ((columns - 1) / 2, (panel_rows - 1) / 2),
 * scaled so that |c| = 1, and n the unit vector from the source to the axis, divided by the scale of row j = 0. The scale of
 * row j is sqrt(1 + s j + t j^2) times that.
 *
 * purlin_fdk_filter_<n>: the ramp with transforms of `length` = 2^n, which is 16 to PURLIN_LAUNCH_FDK_MAX_LENGTH and at
 * least output_columns plus twice `extrapolated`. Blocks have max(length / 16, 32) threads and 8.5 bytes of dynamic shared
 * memory for each sample, 4 more up to length FILTER_STORED. purlin_fdk_place: without the ramp.
 * Grid: all pairs of lines x views; with the ramp a block processes FILTER_PAIRS pairs. Lines of the border are zeroed. */
#define PURLIN_LAUNCH_FDK_MAX_LENGTH 16384
#define PURLIN_LAUNCH_FDK_FILTER_STORED 4096 /* longest transform with its response in shared memory */
#define PURLIN_LAUNCH_FDK_FILTER_VIEW 12 /* floats of an entry of `views` */
typedef struct purlin_fdk_filter_params {
  uint64_t input;         /* float [columns, rows, batch] */
  uint64_t output;        /* images */
  uint64_t index;         /* int32 [batch] */
  uint64_t views;         /* float [PURLIN_LAUNCH_FDK_FILTER_VIEW, scan] */
  uint64_t ray_weights;   /* float [columns, table rows]: weight of a view's column; 0 = none */
  uint64_t response;      /* float [length / 2 + 1] */
  uint64_t roots;         /* float2 [length]: exp(-2 pi i k / length) */
  uint64_t fall;          /* float [extrapolated]: factors of the mirror image of a row's end */
  int32_t columns;        /* of the panel */
  int32_t panel_rows;
  int32_t first_row;
  int32_t rows;
  int32_t output_columns; /* the panel's and those added on one side */
  int32_t added_left;
  int32_t extrapolated;
  int32_t length;
  int32_t left;
  int32_t top;
  int32_t pitch;
  int32_t height;
  int32_t batch;
  int32_t flags;
  float largest;          /* pixels beyond it become NaN */
  int32_t reserved;       /* 0 */
} purlin_fdk_filter_params;
#define PURLIN_FDK_FILTER_PARAMS_BYTES 128

/* Back-projection: volume += sum over the batch of weight / w^2 * image(u / w, v / w).
 *
 * A view's entry of `views` is the 3 x 4 matrix from voxel indices to (column w, row w, w), row after row, the weight and
 * three unused numbers. Columns and rows count from the panel's first, added columns included.
 *
 * purlin_fdk_column_*: every matrix has [0][2] = [2][2] = 0, so a voxel column has one u, and rows affine in the slice.
 * A thread iterates over a column and loads a row when v enters it. PURLIN_LAUNCH_FDK_COLUMN_SLICES slices a tile. *_mirror:
 * PURLIN_LAUNCH_FDK_MIRROR_SLICES slices k together with their mirror images mirror - k. If slice k projects onto row r, its
 * mirror image projects onto row mirror_row - r. `volume` begins at slice `first`, `volume_mirror` at slice `first_mirror`.
 * purlin_fdk_general_*: any matrices, PURLIN_LAUNCH_FDK_GENERAL_SLICES slices a tile.
 * Both: *_40 and *_72 have so many samples in a line of the window. Dynamic shared memory: STAGES windows of window_rows lines,
 * 4 bytes a sample; for purlin_fdk_column_* twice TOGETHER windows, of twice the size for *_mirror. The images' border is
 * as wide as a window on every side, `left` and `pitch` are multiples of 4 and `images` is aligned to 16 bytes.
 * purlin_fdk_plain_*: any matrices and sizes, no staging; a border of 2 is enough.
 * *_skip: a sample counts only if its four pixels exist, else pixels outside are 0.
 *
 * Grid: tiles along x and y, and along z those that overlap the slab. */
#define PURLIN_LAUNCH_FDK_TILE 16
#define PURLIN_LAUNCH_FDK_COLUMN_SLICES 40
#define PURLIN_LAUNCH_FDK_MIRROR_SLICES 20
#define PURLIN_LAUNCH_FDK_GENERAL_SLICES 16
#define PURLIN_LAUNCH_FDK_STAGES 3
#define PURLIN_LAUNCH_FDK_TOGETHER_NARROW 2 /* views that a column adds between two barriers */
#define PURLIN_LAUNCH_FDK_TOGETHER_WIDE 1
#define PURLIN_LAUNCH_FDK_CHUNK 32       /* views whose numbers a block stores at once */
#define PURLIN_LAUNCH_FDK_NARROW 40      /* samples of a line of a window */
#define PURLIN_LAUNCH_FDK_WIDE 72
#define PURLIN_LAUNCH_FDK_VIEW 16        /* doubles of an entry of `views` */
typedef struct purlin_fdk_backproject_params {
  uint64_t images;
  uint64_t index;         /* int32 [batch] */
  uint64_t views;         /* double [PURLIN_LAUNCH_FDK_VIEW, scan] */
  uint64_t volume;        /* float [nx, ny, slices] */
  uint64_t volume_mirror; /* likewise */
  int64_t nx;
  int64_t ny;
  int64_t start;          /* first slice of the first tile */
  int64_t first;          /* the slab: slices first .. first + slices - 1 */
  int64_t slices;
  int64_t first_mirror;   /* the slab of mirror images */
  int64_t slices_mirror;
  int64_t mirror;         /* *_mirror: slices k and mirror - k belong together, tiles hold those with
                             2 k >= mirror; the others: slices of the whole volume */
  int64_t mirror_row;     /* and rows r and mirror_row - r */
  int32_t batch;
  int32_t columns;        /* of the images */
  int32_t panel_rows;
  int32_t first_row;
  int32_t rows;
  int32_t left;
  int32_t top;
  int32_t pitch;
  int32_t height;
  int32_t window_rows;
} purlin_fdk_backproject_params;
#define PURLIN_FDK_BACKPROJECT_PARAMS_BYTES 152

/* Converts a finished volume for output: scale * value + offset, in double for F64 and in float for other types, rounded to even and
 * saturated for integers (NaN gives 0). Counts infinite results: the values are finite or NaN.
 * With `fov_radius` >= 0, voxels farther from the point (fov_x, fov_y) become `offset`. */
typedef struct purlin_fdk_store_params {
  uint64_t source;        /* float [nx, ny, slices] */
  uint64_t output;        /* `number`, likewise; may be `source` for F32 */
  uint64_t counters;      /* uint64 [PURLIN_LAUNCH_FDK_COUNTERS] */
  int64_t nx;
  int64_t ny;
  int64_t slices;
  double scale;
  double offset;
  double fov_x;           /* voxel indices */
  double fov_y;
  double fov_radius;      /* in units of voxel_x; < 0: no mask */
  double ratio;           /* voxel_y / voxel_x */
  int32_t number;
  int32_t flags;          /* PURLIN_LAUNCH_FDK_SWAP */
} purlin_fdk_store_params;
#define PURLIN_FDK_STORE_PARAMS_BYTES 104

/* Exact line integrals of ellipsoids. A view's entry of `views` is its source and the rays' 3 x 3 matrix, row after row: the
 * ray through pixel (i, j) has the direction `rays * (i, j, 1)`. Four unused numbers follow. An ellipsoid is
 * density, semi-axes (3), centre (3), rotation about z. */
#define PURLIN_LAUNCH_FDK_ELLIPSOID 8
typedef struct purlin_fdk_ellipsoids_params {
  uint64_t output;        /* float [columns, rows, batch] */
  uint64_t views;         /* double [PURLIN_LAUNCH_FDK_VIEW, batch] */
  uint64_t ellipsoids;    /* double [PURLIN_LAUNCH_FDK_ELLIPSOID, count] */
  int64_t columns;
  int64_t rows;
  int64_t batch;
  int64_t count;
} purlin_fdk_ellipsoids_params;
#define PURLIN_FDK_ELLIPSOIDS_PARAMS_BYTES 56

#ifdef __cplusplus
static_assert(sizeof(purlin_fdk_convert_params) == PURLIN_FDK_CONVERT_PARAMS_BYTES, "purlin_fdk_convert_params changed size");
static_assert(sizeof(purlin_fdk_filter_params) == PURLIN_FDK_FILTER_PARAMS_BYTES, "purlin_fdk_filter_params changed size");
static_assert(sizeof(purlin_fdk_backproject_params) == PURLIN_FDK_BACKPROJECT_PARAMS_BYTES,
              "purlin_fdk_backproject_params changed size");
static_assert(sizeof(purlin_fdk_store_params) == PURLIN_FDK_STORE_PARAMS_BYTES, "purlin_fdk_store_params changed size");
static_assert(sizeof(purlin_fdk_ellipsoids_params) == PURLIN_FDK_ELLIPSOIDS_PARAMS_BYTES,
              "purlin_fdk_ellipsoids_params changed size");
#endif

#endif /* PURLIN_FDK_LAUNCH_H */
