/* Declarations that the files of the gateway share. Users call the functions of +purlin; these call
 * purlin_mex('command', ...), and purlin_mex.c finds the command below. No two files call each other, directly or by way of
 * others.
 *
 * mexErrMsgIdAndTxt jumps out of the gateway, so nothing is owned outside MATLAB's memory but the handles in the
 * list of temporaries, which every way out releases: see fail() and check(). */
#ifndef PURLIN_GATEWAY_H
#define PURLIN_GATEWAY_H

#include <stdint.h>

#include "generated/options.h"
#include "generated/reports.h"
#include "mex.h"
#include "purlin.h"

#define MAX_DIMS 32

/* ---- errors.c ---- */

/* Raises identifier `purlin:<what>` after releasing the temporaries. */
void fail(const char *what, const char *format, ...);
/* Raises the library's last error unless the status is a success. */
void check(purlin_status status);
/* A text of the library, which counts indices from 0, with its indices counted from 1; valid until the next call. */
const char *counted_from_one(const char *text);
/* Says that an argument of this command, which the library calls otherwise, has this name in MATLAB. */
void name_argument(const char *library, const char *name);
/* Says that messages of the library that begin with `from` begin with `to` in this command. */
void reword(const char *from, const char *to);
/* The same for one whose name is a single capital, if it is: the library's is the small letter. */
void name_capital(const char *name);
/* Raises the error of a status with a message of the library that was kept, with its indices counted from 1. */
void fail_with(purlin_status status, const char *message);
/* The same at the end of a stream's use, which it destroys in any case. */
void check_and_destroy(purlin_status status, purlin_stream *stream);
/* Keeps a tensor until the command ends, however it ends. */
purlin_tensor *temporary(purlin_tensor *tensor);
purlin_matrix *temporary_matrix(purlin_matrix *matrix);
purlin_sink *temporary_sink(purlin_sink *sink);
/* Releases the source alone: a matrix made of it keeps the data that it needs. */
void release_source(void);
/* Most further devices of one command. */
enum { MAX_DEVICES = 64 };
purlin_context *temporary_context(purlin_context *context);
purlin_tt *temporary_train(purlin_tt *tt);
purlin_tt_matrix *temporary_train_matrix(purlin_tt_matrix *matrix);
/* Objects that a command makes at most one of, in the order in which they are destroyed: a name, and the type without purlin_.
 * `temporary_name` keeps one until the command ends. */
#define SINGLE_OBJECTS(one) \
  one(rsvd, rsvd) one(sshopm, sshopm) one(rpca, rpca) one(dwi, dwi) one(lanczos, lanczos) one(plan, spmv) \
  one(contraction, tt_contraction) one(group, group) one(source, source)
#define DECLARED(name, type) purlin_##type *temporary_##name(purlin_##type *made);
SINGLE_OBJECTS(DECLARED)
#undef DECLARED
void release_temporaries(void);
/* Adds a function that is called whenever they are released. */
void at_release(void (*what)(void));
/* Takes an object out of the list: it now belongs to MATLAB. */
void forget(purlin_tensor *tensor);
void forget_matrix(purlin_matrix *matrix);
void forget_train(purlin_tt *tt);
void forget_train_matrix(purlin_tt_matrix *matrix);

/* ---- context.c ---- */

/* The context of all calls, created on first use with the settings of purlin.configure. */
purlin_context *gateway_context(void);
/* Another one like it, on another device. */
purlin_context *another_context(int32_t device);
/* The settings of purlin.configure, or the defaults. */
purlin_context_options configured_options(void);
/* Makes the context with these options, which later ones have, too. */
void configure_context(const purlin_context_options *options);
void destroy_context(void);
/* The next context has the defaults. */
void forget_configuration(void);

/* ---- arguments.c ---- */

/* A word and its constant of purlin.h; lists end with {NULL, 0}. */
typedef struct choice { const char *word; int32_t value; } choice;
extern const choice norms[], packings[], bases[], locations[], endiannesses[], orders[], classes[], precisions[];
/* The lists of options and reports. */
#include "generated/words.h"

double scalar_argument(const char *name, const mxArray *value);
int64_t integer_argument(const char *name, const mxArray *value, int64_t least, int64_t most);
/* A list of whole numbers of at least `least`, `less` subtracted from each, in memory that MATLAB frees. */
int64_t *integers_argument(const char *name, const mxArray *value, int64_t least, int64_t less, int64_t *count);
/* The sizes of a train's cores, at least one. */
int64_t *modes_argument(const char *name, const mxArray *value, int64_t *count);
/* Says that messages about the sizes of tensors or harmonics of this order are about the argument `order`. */
void name_order(int64_t order);
uint64_t seed_argument(const char *name, const mxArray *value);
/* Refuses a text of several rows. */
void expect_row(const char *name, const mxArray *value);
int32_t choice_argument(const char *name, const mxArray *value, const choice *list);
int is_true(const char *name, const mxArray *value);

/* Options arrive as one struct; a field that is missing or empty leaves the default alone. */
const mxArray *option(const mxArray *options, const char *name);
void read_double(const mxArray *options, const char *name, double *value);
void read_int32(const mxArray *options, const char *name, int32_t *value);
void read_int64(const mxArray *options, const char *name, int64_t *value);
void read_seed(const mxArray *options, const char *name, uint64_t *value);
void read_choice(const mxArray *options, const char *name, const choice *list, int32_t *value);
void read_flag(const mxArray *options, const char *name, int32_t *value);

/* The context in use and those on the devices whose ordinals the option `devices` has, until the command ends; NULL without. */
const purlin_group *read_group(const mxArray *options);

/* ---- classes.c ---- */

/* Refuses by name function handles and objects, where Octave would end the process, and cells and structs that hold such:
 * `names` are the words of a command's arguments. */
void expect_classes(const char *names, int count, const mxArray *arguments[]);
/* An element of a cell; an empty array where none was set. */
const mxArray *cell_element(const mxArray *cell, size_t k);
/* Refuses anything but one struct that has this field; `expected` describes the accepted values. */
void expect_field(const char *name, const mxArray *value, const char *field, const char *expected);

/* ---- elements.c ---- */

int32_t dtype_of(const mxArray *array);
mxClassID class_of(int32_t dtype);
int is_complex(int32_t dtype);
/* The elements as the library reads them. MATLAB since R2018a keeps {re, im}; older ones and Octave keep two
 * arrays, which are woven into memory that MATLAB frees after the command. */
void *elements_of(const mxArray *array, int32_t dtype);
/* Where the library may write the elements of a new array, and the step that ends it. */
void *space_of(mxArray *array, int32_t dtype);
void unweave(mxArray *array, int32_t dtype, const void *space);

/* A new matrix that MATLAB gets, written by the library; `finish_output` gives the array when the library is done. */
typedef struct output { mxArray *array; void *space; purlin_matrix *matrix; int32_t dtype; } output;
output new_matrix(int32_t dtype, int64_t rows, int64_t cols);
mxArray *finish_output(const output *o);
purlin_matrix_info matrix_properties_of(const purlin_matrix *matrix);
/* The type to compute in: the matrix's own or, where the option `dtype` asks for one, that; single for integers. */
int32_t computing_dtype(const mxArray *options, int32_t dtype);
void add_word(mxArray *target, const char *field, const choice *list, int32_t value);

/* ---- arrays.c ---- */

/* Any full real array in place, with at least `ndim` extents: MATLAB drops trailing ones. */
purlin_tensor *borrow_dense(const char *name, const mxArray *array, int ndim);
/* A tensor around a new array that MATLAB owns. */
purlin_tensor *around(mxArray *array, int ndim, const int64_t *dims);

/* A batch of tensors or voxels: the handle, and how the arrays of results are shaped. */
typedef struct batch {
  purlin_tensor *tensor;
  int32_t dtype;
  int64_t count;                  /* T */
  int trailing;                   /* extents after the first of the MATLAB array, e.g. X Y Z */
  mwSize shape[MAX_DIMS];
} batch;

int32_t real_dtype(const char *name, const mxArray *array);
/* An input array of the class `dtype` with exactly these extents in elements, borrowed without a copy. */
purlin_tensor *borrow_array(const char *name, const mxArray *array, int32_t dtype, int ndim, const int64_t *dims);
/* Packed symmetric tensors: U-by-T, U-by-X-by-Y.., or the key of a purlin.Tensor. */
batch borrow_symmetric(const char *name, const mxArray *array, int64_t order, int64_t dimension, int last);
/* Any batch of `rows` numbers each, rows first or, with `last`, rows last; `integers` admits the integer classes that
 * signals may have. */
batch borrow_rows(const char *name, const mxArray *array, int64_t rows, int last, int integers);
/* A logical or uint8 mask of `count` voxels, or NULL for an empty one. */
purlin_tensor *borrow_mask(const mxArray *array, int64_t count);
/* A new MATLAB array [lead.., shape of the batch], written by the library through *tensor. */
mxArray *new_output(const batch *b, int32_t dtype, int lead, const int64_t *dims, purlin_tensor **tensor);
/* A new symmetric batch shaped like `b`. */
mxArray *new_symmetric(const batch *b, int64_t order, int64_t dimension, purlin_tensor **tensor);
batch plain_batch(int32_t dtype, int64_t count);
/* Puts a new output into a field of a struct. */
purlin_tensor *add_output(mxArray *target, const char *field, const batch *b, int32_t dtype, int lead,
                          const int64_t *dims);
void add_number(mxArray *target, const char *field, double value);
void add_text(mxArray *target, const char *field, const char *text);
uint64_t key_argument(const char *name, const mxArray *value);

/* ---- progress.c ---- */

/* A MATLAB function watching one call. */
typedef struct watch { mxArray *function; mxArray *error; const char *message; } watch;
void watch_from(const mxArray *options, watch *w, purlin_progress_fn *progress, void **user);
/* The callback of an object that outlives a command: it reports to the watch that the running command names, until the
 * command ends or fails. */
int32_t report_to_running(int64_t step, int64_t steps, double measure, void *user);
void set_running(watch *w);
/* As check(), but an error raised by the MATLAB function comes first. */
void check_watched(const watch *w, purlin_status status);

/* ---- exceptions.cpp, in Octave ---- */

#ifdef PURLIN_OCTAVE
/* Calls a function, and keeps its exception: that of Ctrl-C, for one. */
void run_with_trap(void (*what)(void *), void *of);
int has_exception(void);
/* Whether Ctrl-C was pressed, whose exception is then kept. Only on Octave's thread. */
int is_interrupted(void);
/* Throws the exception that is kept, if there is one. */
void throw_again(void);
#else
#define run_with_trap(what, of) (what)(of)
#define has_exception() 0
#define is_interrupted() 0
#define throw_again() ((void)0)
#endif
/* Throws it after the temporaries of the command are destroyed. */
void raise_exception(void);

/* ---- functions.c ---- */

/* Runs a function that touches MATLAB's objects on MATLAB's thread, from any thread of a call. */
void on_matlab_thread(void (*what)(void *), void *of);
/* Makes a library call that takes its arguments out of an array; where the command has been given functions, on a
 * second thread, and `w` then has the error. */
typedef purlin_status library_call(void *arguments[]);
purlin_status call_library(watch *w, library_call *call, void *arguments[]);
/* feval; the error that it raised, or NULL. Until it returns no other command can run. */
mxArray *call_matlab(int nout, mxArray *out[], int nin, mxArray *in[]);
int is_calling(void);
/* Structs with `read`, `write` or `apply`, a function handle; see the help of purlin.fdk_reconstruct and purlin.rsvd. */
purlin_source *function_source(const char *name, const mxArray *value);
purlin_sink *function_sink(const char *name, const mxArray *value, int ndim, const int64_t *dims);
purlin_matrix *function_matrix(const char *name, const mxArray *value);
/* The graph of an image that is never formed; of `pixels`, and the numbers of purlin.graph_operator_of_image. */
purlin_matrix *pixel_graph(const char *name, const mxArray *value);
/* Element type and sizes that a struct speaks of. */
int32_t described_dtype(const mxArray *value, int32_t otherwise);
int sizes_of(const char *name, const mxArray *value, int most, int64_t *dims);

/* ---- rsvd.c ---- */

/* A session with the options of every call, for the time of the command; `w` watches it. */
purlin_rsvd *session_of(const char *name, const mxArray *options, int64_t rank, int32_t dtype, watch *w);
mxArray *rsvd_report(const purlin_rsvd_info *info);
/* A new column of `count` real numbers. */
mxArray *new_column(int32_t dtype, int64_t count, purlin_tensor **tensor);

/* ---- blocks.c ---- */

/* Where projections come from and where a volume goes: arrays, functions, or files by name or description. */
/* The name of a file, without null characters, at which C would end it. */
char *text_of(const char *name, const mxArray *value);
purlin_source *source_of(const char *name, const mxArray *value);
/* A matrix to read, until the command ends: a full array in place, the transpose of a sparse one, the key of a
 * purlin.Matrix, the name of an .npy file, or a struct that describes a raw file or has functions. */
purlin_matrix *matrix_of(const char *name, const mxArray *value);
/* `spacing` and `origin` of a volume, mm, or NULL. */
purlin_sink *sink_of(const char *name, const mxArray *value, int ndim, const int64_t *dims, const double *spacing,
                     const double *origin);

/* ---- tt.c ---- */

/* A train to read: a cell of cores in place, until the command ends, or the key of a purlin.TT; a TT-matrix likewise. */
purlin_tt *train_of(const char *name, const mxArray *value);
purlin_tt_matrix *train_matrix_of(const char *name, const mxArray *value);
int32_t train_dtype(const purlin_tt *tt);
int train_is_ring(const purlin_tt *tt);
int train_matrix_is_ring(const purlin_tt_matrix *matrix);
int32_t train_matrix_dtype(const purlin_tt_matrix *matrix);
int64_t train_length(const purlin_tt *tt);
/* In MATLAB's memory. */
void train_shape(const purlin_tt *tt, int64_t **modes, int64_t **ranks);
/* The cores as a new cell. */
mxArray *gather_train(const purlin_tt *tt);

/* ---- tt_contraction.c ---- */

/* A contraction with the options of every call, for the time of the command; `w` watches it. Or the key of one that is
 * kept. */
purlin_tt_contraction *contraction_of(const mxArray *options, watch *w);
/* Refuses `cut` and `block` in the options of one call without a ring, and TRIANGLE with one. The library does so in its
 * functions of one call, which there are of inner products, norms and distances without an exponent alone. */
void expect_rings(const mxArray *options, int has_ring);
/* Whether one of two lists of trains has a ring, or is empty. */
int have_rings(const purlin_tt **x, int64_t rows, const purlin_tt **y, int64_t cols);
purlin_tt_contraction_info fresh_contraction_info(void);
mxArray *contraction_report(const purlin_tt_contraction_info *info);
/* Handles of a cell of trains, each a key or a cell of cores; sets `numbers` if one is complex. */
const purlin_tt **trains_of(const char *name, const mxArray *cell, int64_t *count, int *numbers);

/* ---- spectra.c ---- */

purlin_lanczos_options lanczos_options_of(const mxArray *options, int64_t count, watch *w);
/* A solver that ends with the command. */
purlin_lanczos *solver_of(const purlin_lanczos_options *o);
purlin_lanczos_info fresh_lanczos_info(void);
mxArray *lanczos_report(const purlin_lanczos_info *i);
/* Pairs that have converged are a result, so no error is raised: the caller looks at `converged`. */
void check_lanczos(const watch *w, purlin_status status);
/* The order of the operator that `kind` makes of a matrix. */
int64_t operator_order(const purlin_matrix_info *shape, int32_t kind);

/* ---- sparse.c ---- */

/* A new sparse matrix as row numbers, column numbers, values and sizes. */
void hand_over_rows(purlin_matrix *made, int nlhs, mxArray *plhs[]);

/* ---- commands ---- */

typedef void (*command_fn)(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);
/* The names of the arguments, as the user knows them, are separated by spaces; a '?' follows one that may be left out. */
typedef struct command { const char *name, *arguments; command_fn run; } command;
/* The files with a table of commands, each named after its file. */
#define COMMAND_TABLES(of) \
  of(symmetric) of(sshopm) of(dwi) of(fdk) of(rsvd) of(pca) of(rpca) of(tt) of(tt_contraction) of(tt_plan) of(tt_algebra) \
  of(spectra) of(spmv) of(graph) of(sparse) of(objects)
#define DECLARED(name) extern const command name##_commands[];
COMMAND_TABLES(DECLARED)
#undef DECLARED
mxArray *key_of(const void *handle);
/* The rows and columns of a sparse matrix as row numbers, column numbers, values and sizes: five arrays. */
void gather_rows(const purlin_matrix *matrix, mxArray *plhs[]);
void info_struct(const purlin_sshopm_info *info, mxArray *target);

#endif
