/* Output files of runs that end half way: at a limit on the size of files, at each operation on the disk that fails, and by
   SIGKILL; and whether a file is on the disk before it gets its name. And input files that become shorter while they are read.
   Each run is a process in a folder of its own. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "children.h"
#include "disk.h"

static char folder[] = "/tmp/purlin-broken-XXXXXX";

/* Files of the folder; of those, the ones under a provisional name: the target's, 16 hexadecimal digits, "partial". */
static int files(const char *target, int *partial) {
  DIR *open = opendir(folder);
  struct dirent *entry;
  int all = 0;
  *partial = 0;
  while (open && (entry = readdir(open)) != NULL) {
    const char *rest = entry->d_name + strlen(target);
    if (entry->d_name[0] == '.') continue;
    all++;
    if (strncmp(entry->d_name, target, strlen(target)) == 0 && rest[0] == '.' && strspn(rest + 1, "0123456789abcdef") == 16 &&
        strcmp(rest + 17, ".partial") == 0)
      ++*partial;
  }
  if (open) closedir(open);
  return all;
}

static void empty_folder(void) {
  DIR *open = opendir(folder);
  struct dirent *entry;
  while (open && (entry = readdir(open)) != NULL)
    if (entry->d_name[0] != '.') CHECK(remove(entry->d_name) == 0);
  if (open) closedir(open);
}

static int64_t size_of(const char *name) {
  struct stat found;
  return stat(name, &found) == 0 ? (int64_t)found.st_size : -1;
}

/* A writer of one file, or of `target` and `beside`. */
struct writer {
  const char *target;
  purlin_status (*write)(const char *path);
  const char *beside;
};

/* Views of a scan; the process ends itself when `stop_at` is read. */
static int64_t stop_at = -1;

static int32_t read_views(const int64_t *first, const int64_t *count, void *block, void *user) {
  float *values = block;
  int64_t i;
  (void)user;
  if (stop_at >= 0 && first[2] + count[2] > stop_at) raise(SIGKILL);
  for (i = 0; i < count[0] * count[1] * count[2]; i++) values[i] = (float)(i % 7);
  return 0;
}

enum { N = 24 };

/* A reconstruction whose volume goes to a sink slab after slab. */
static purlin_status write_volume(const char *path, purlin_status (*make)(purlin_context *, const char *, purlin_sink **)) {
  const int64_t panel[3] = {N, N, N};
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_source *source = NULL;
  purlin_sink *sink = NULL;
  purlin_fdk *fdk = NULL;
  THEN(make(context, path, &sink));
  THEN(family_fdk_of(context, N, N, N, &fdk));
  THEN(purlin_source_from_callback(context, PURLIN_F32, 3, panel, read_views, NULL, &source));
  THEN(purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  GONE(purlin_source_destroy(source));
  GONE(purlin_sink_destroy(sink));
  GONE(purlin_fdk_destroy(fdk));
  GONE(purlin_context_destroy(context));
  return status;
}

static const int64_t cube[3] = {N, N, N};

static purlin_status to_file(purlin_context *context, const char *path, purlin_sink **sink) {
  return purlin_sink_to_file(context, path, 0, PURLIN_F32, 0, 3, cube, sink);
}
static purlin_status to_metaimage(purlin_context *context, const char *path, purlin_sink **sink) {
  return purlin_sink_to_metaimage(context, path, PURLIN_F32, 3, cube, NULL, NULL, sink);
}
static purlin_status to_tiff(purlin_context *context, const char *path, purlin_sink **sink) {
  return purlin_sink_to_tiff(context, path, PURLIN_F32, N, N, N, sink);
}
static purlin_status raw(const char *path) { return write_volume(path, to_file); }
static purlin_status metaimage(const char *path) { return write_volume(path, to_metaimage); }
static purlin_status tiff(const char *path) { return write_volume(path, to_tiff); }

static purlin_status graph_to(const char *path, purlin_status (*write)(const purlin_matrix *, const char *, purlin_flags)) {
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_matrix *graph = NULL;
  THEN(family_graph_of(context, &graph));
  THEN(write(graph, path, 0));
  GONE(purlin_matrix_destroy(graph));
  GONE(purlin_context_destroy(context));
  return status;
}
static purlin_status market(const char *path) { return graph_to(path, purlin_matrix_write_market); }
static purlin_status edges(const char *path) { return graph_to(path, purlin_matrix_write_edges); }

/* Of the last run with a restart file that succeeded: its values, and whether it went on from the file. */
struct found {
  double values[5];
  int32_t is_restarted;
};
static struct found *found;
static int64_t passes_read;

/* A matrix read from a function; the process ends itself in the pass after `stop_at` of them. */
static int32_t read_matrix(const int64_t *first, const int64_t *count, void *block, void *user) {
  double *values = block;
  int64_t i, j;
  (void)user;
  if (first[0] == 0 && first[1] == 0 && stop_at >= 0 && passes_read++ >= stop_at) raise(SIGKILL);
  for (j = 0; j < count[1]; j++)
    for (i = 0; i < count[0]; i++) *values++ = family_input[(first[0] + i) * 100 + first[1] + j];
  return 0;
}

/* Singular values of a 100 x 100 matrix, with a restart file. */
static purlin_status low_rank(const char *path) {
  const int64_t dims[2] = {100, 100};
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_source *source = NULL;
  purlin_matrix *a = NULL;
  purlin_tensor *s = NULL;
  purlin_rsvd *rsvd = NULL;
  purlin_rsvd_options o;
  purlin_rsvd_info info;
  THEN(purlin_rsvd_options_init(&o, sizeof o));
  THEN(purlin_rsvd_info_init(&info, sizeof info));
  o.rank = 5;
  o.power_iterations = 3;
  o.method = PURLIN_RSVD_METHOD_FUSED;
  o.restart_path = path;
  THEN(purlin_source_from_callback(context, PURLIN_F64, 2, dims, read_matrix, NULL, &source));
  THEN(purlin_matrix_from_source(context, source, 0, &a));
  THEN(purlin_rsvd_create(context, &o, &rsvd));
  THEN(family_vector(context, 5, family_output[0], &s));
  THEN(purlin_rsvd_compute(rsvd, NULL, a, NULL, s, NULL, &info));
  if (status == PURLIN_SUCCESS) {
    memcpy(found->values, family_output[0], sizeof found->values);
    found->is_restarted = info.restarted;
  }
  GONE(purlin_tensor_destroy(s));
  GONE(purlin_rsvd_destroy(rsvd));
  GONE(purlin_matrix_destroy(a));
  GONE(purlin_source_destroy(source));
  GONE(purlin_context_destroy(context));
  return status;
}

static const struct writer writers[] = {{"volume.raw", raw, NULL},
                                        {"volume.mha", metaimage, NULL},
                                        {"volume.tif", tiff, NULL},
                                        {"graph.mtx", market, NULL},
                                        {"graph.mtx.gz", market, NULL},
                                        {"graph.txt", edges, NULL},
                                        {"volume.mhd", metaimage, "volume.raw"},
                                        {"run.state", low_rank, NULL}};
static const struct writer *const two_files = &writers[6], *const restart = &writers[7];

static const struct writer *current;

static int write_once(const struct family *unused, int64_t limit) {
  struct rlimit size;
  purlin_status status;
  (void)unused;
  if (limit >= 0) {
    if (getrlimit(RLIMIT_FSIZE, &size) != 0) return 4;
    size.rlim_cur = (rlim_t)limit;
    if (setrlimit(RLIMIT_FSIZE, &size) != 0) return 4;
  }
  status = current->write(current->target);
  if (purlin_live_handles() != 0) return 3;
  if (status == PURLIN_SUCCESS) return 0;
  return status == PURLIN_ERROR_IO ? 1 : 2;
}

/* Leaves the files that a run replaces: any file, an image of the same names, or the state of a run that was killed in its second
   pass; the start of the data is also read before the first one. */
static void make_older(void) {
  struct ends ends = {0};
  if (current == restart) {
    stop_at = 2;
    in_child(&ends, write_once, NULL, -1);
    stop_at = -1;
    CHECK(ends.killed == 1);
  } else if (current == two_files) {
    in_child(&ends, write_once, NULL, -1);
    CHECK(ends.succeeded == 1);
  } else {
    FILE *file = fopen(current->target, "wb");
    CHECK(file && fputs("older", file) >= 0 && fclose(file) == 0);
  }
}

/* Whether `name` is a file that was neither replaced nor written to since `old`. */
static int is_same(const char *name, const struct stat *old) {
  struct stat now;
  return stat(name, &now) == 0 && now.st_ino == old->st_ino && now.st_size == old->st_size &&
         now.st_mtim.tv_sec == old->st_mtim.tv_sec && now.st_mtim.tv_nsec == old->st_mtim.tv_nsec;
}

/* A run that went on from a state, or began without one, ends with the values of a run without interruption. */
static void check_resumed(const double *values, int is_restarted) {
  struct ends ends = {0};
  int partial;
  memset(found, 0, sizeof *found);
  in_child(&ends, write_once, NULL, -1);
  CHECK(ends.succeeded == 1 && files(current->target, &partial) == 0);
  CHECK(memcmp(found->values, values, sizeof found->values) == 0 && found->is_restarted == is_restarted);
}

/* No signal and no new file; old ones stay. */
static void at_limits(void) {
  size_t k;
  for (k = 0; k < COUNT(writers); k++) {
    struct ends ends = {0};
    double values[5];
    int64_t whole, beside, n, limits = rounds(9, 2);
    int partial;
    current = &writers[k];
    in_child(&ends, write_once, NULL, -1);
    memcpy(values, found->values, sizeof values);
    /* The state of a run that is complete has been removed. */
    if (current == restart) make_older();
    whole = size_of(current->target);
    beside = current->beside ? size_of(current->beside) : 0;
    if (beside > whole) whole = beside;
    CHECK(ends.succeeded == 1 && whole > 0);
    for (n = 0; n < limits; n++) {
      int is_old = n % 2, old_files = is_old ? 1 + (current->beside != NULL) : 0;
      struct stat old[2];
      empty_folder();
      if (is_old) {
        make_older();
        CHECK(stat(current->target, &old[0]) == 0 && (!current->beside || stat(current->beside, &old[1]) == 0));
      }
      in_child(&ends, write_once, NULL, n * (whole - 1) / (limits - 1));
      CHECK(files(current->target, &partial) == old_files && partial == 0);
      CHECK(!is_old || (is_same(current->target, &old[0]) && (!current->beside || is_same(current->beside, &old[1]))));
      if (current == restart) check_resumed(values, is_old);
    }
    print_ends(current->target, &ends);
    CHECK(ends.killed == 0 && ends.wrong == 0 && ends.succeeded == 1 && ends.refused == limits);
    empty_folder();
  }
}

static int64_t *count;

static int write_failing(const struct family *unused, int64_t number) {
  int end;
  operations = 0;
  refused_at = number;
  armed = 1;
  end = write_once(unused, -1);
  armed = 0;
  *count = operations;
  return end;
}

/* After a failed operation files with a new name are complete, the others are as before, and no other file remains. */
static void check_files(const int64_t sizes[2], const struct stat old[2], int is_old, const int is_named[2]) {
  const char *names[2];
  int k, there = 0, partial;
  names[0] = current->target, names[1] = current->beside;
  for (k = 0; k < 2 && names[k]; k++) {
    int64_t size = size_of(names[k]);
    there += size >= 0;
    CHECK(is_named[k] ? size == sizes[k] : is_old ? is_same(names[k], &old[k]) : size == -1);
  }
  CHECK(files(current->target, &partial) == there);
}

/* Whichever operation fails, the run returns an error. */
static void at_failures(void) {
  enum { MOST = 24 };
  size_t k;
  int is_old;
  count = shared_memory(sizeof *count);
  for (k = 0; k < 2 * COUNT(writers); k++) {
    struct ends ends = {0};
    double values[5];
    int64_t n, all, sizes[2];
    int partial;
    current = &writers[k / 2];
    is_old = k % 2;
    if (is_old) make_older();
    in_child(&ends, write_failing, NULL, -1);
    memcpy(values, found->values, sizeof values);
    sizes[0] = size_of(current->target);
    sizes[1] = current->beside ? size_of(current->beside) : 0;
    all = *count;
    CHECK(ends.succeeded == 1 && all >= 3);
    for (n = 0; n < all; n++) {
      int is_last = n == all - 1, is_named[2], now;
      struct stat old[2];
      /* Of many operations, the first and the last ones. */
      if (n >= MOST / 2 && n < all - MOST / 2) continue;
      /* Of a single file, half of them without an older one, and the others with one. */
      if (current != two_files && n % 2 != is_old) continue;
      empty_folder();
      if (is_old) {
        make_older();
        CHECK(stat(current->target, &old[0]) == 0 && (!current->beside || stat(current->beside, &old[1]) == 0));
      }
      ends.succeeded = ends.refused = 0;
      in_child(&ends, write_failing, NULL, n);
      now = files(current->target, &partial);
      if (getenv("PURLIN_TEST_VERBOSE"))
        printf("  %s: operation %lld of %lld: %d succeeded, %d refused, %d files, %d bytes\n", current->target, (long long)n,
               (long long)all, ends.succeeded, ends.refused, now, (int)size_of(current->target));
      CHECK(partial == 0 && ends.wrong == 0 && ends.killed == 0);
      CHECK(ends.refused == 1 || (is_last && ends.succeeded == 1));
      if (current == restart) {
        /* The state before the one that failed stays. */
        CHECK(is_old ? now == 1 : now <= 1);
        check_resumed(values, now);
        continue;
      }
      /* The last operation makes the name durable; the file is complete before it. The last three of an image of two files make
         the name of the data durable, rename the header, and make that durable. Data that have their name keep it. */
      is_named[0] = is_last || (current == two_files && n == all - 3);
      is_named[1] = n >= all - 3;
      check_files(sizes, old, is_old, is_named);
    }
    printf("%s: %lld operations failed\n", current->target, (long long)all);
    empty_folder();
  }
}

static int write_watched(const struct family *unused, int64_t limit) {
  watched->count = watched->published = watched->early = watched->unknown = 0;
  memset(watched->all, 0, sizeof watched->all);
  return write_once(unused, limit);
}

/* A file is on the disk before it gets its name, and its name is there when the run has ended. */
static void on_the_disk_first(void) {
  struct stat here;
  size_t k;
  CHECK(stat(".", &here) == 0);
  watched = shared_memory(sizeof *watched);
  for (k = 0; k < COUNT(writers); k++) {
    int is_old;
    current = &writers[k];
    for (is_old = 0; is_old < 2; is_old++) {
      struct ends ends = {0};
      int j, names = 0;
      in_child(&ends, write_watched, NULL, -1);
      for (j = 0; j < watched->count; j++)
        if (watched->all[j].inode == here.st_ino && watched->all[j].device == here.st_dev)
          names = watched->all[j].syncs > 0 && !watched->all[j].is_dirty;
      printf("%s: %d names given, %d before the file was on the disk\n", current->target, watched->published, watched->early);
      CHECK(ends.succeeded == 1 && watched->count < 64 && watched->unknown == 0 && watched->early == 0);
      CHECK(current == restart ? watched->published >= 2 : watched->published == (current == two_files ? 2 : 1));
      CHECK(names);
    }
    empty_folder();
  }
  watched = NULL;
}

/* A killed run leaves one file, under a provisional name. The next run neither reads nor changes it. */
static void killed(void) {
  size_t k;
  for (k = 0; k < 3; k++) {
    struct ends ends = {0};
    int partial;
    current = &writers[k];
    stop_at = N / 2;
    in_child(&ends, write_once, NULL, -1);
    CHECK(ends.killed == 1 && files(current->target, &partial) == 1 && partial == 1);
    in_child(&ends, write_once, NULL, -1);
    stop_at = -1;
    in_child(&ends, write_once, NULL, -1);
    print_ends(current->target, &ends);
    CHECK(ends.killed == 2 && ends.succeeded == 1 && files(current->target, &partial) == 3 && partial == 2);
    CHECK(size_of(current->target) >= (int64_t)(N * N * N * sizeof(float)));
    empty_folder();
  }
}

/* A restart file is complete at any time: a run that was killed resumes from it. */
static void restarted(void) {
  struct ends ends = {0};
  int partial, after;
  current = restart;
  for (after = 0; after < 4; after++) {
    stop_at = after;
    in_child(&ends, write_once, NULL, -1);
    CHECK(files(current->target, &partial) <= 1 && partial == 0);
  }
  CHECK(ends.killed >= 3);
  stop_at = -1;
  in_child(&ends, write_once, NULL, -1);
  print_ends(current->target, &ends);
  CHECK(ends.succeeded >= 1 && ends.wrong == 0 && files(current->target, &partial) == 0);
  in_child(&ends, write_once, NULL, 100);
  CHECK(ends.refused == 1 && files(current->target, &partial) == 0);
}

static const char *shrinking;

static int32_t shorten(int64_t step, int64_t steps, double measure, void *user) {
  (void)step, (void)steps, (void)measure, (void)user;
  return truncate(shrinking, 4096) != 0;
}

/* Files that become shorter, before and during a run: an error, not SIGBUS. */
static int shortened(const struct family *unused, int64_t mapped) {
  const int64_t dims[2] = {100, 200};
  purlin_context *context;
  purlin_status status = family_context(&context);
  purlin_source *source = NULL;
  purlin_matrix *a = NULL;
  purlin_rsvd *rsvd = NULL;
  purlin_rsvd_options o;
  (void)unused;
  shrinking = "matrix.raw";
  THEN(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = 5;
  o.power_iterations = 3;
  if (mapped > 1) o.progress = shorten;
  THEN((mapped % 2 ? purlin_source_from_mapped_file : purlin_source_from_file)(context, shrinking, 0, PURLIN_F64, 0, 2, dims,
                                                                               &source));
  THEN(purlin_matrix_from_source(context, source, 0, &a));
  THEN(purlin_rsvd_create(context, &o, &rsvd));
  if (status != PURLIN_SUCCESS) return 2;
  if (mapped < 2 && shorten(0, 0, 0, NULL)) return 2;
  THEN(purlin_rsvd_compute(rsvd, NULL, a, NULL, NULL, NULL, NULL));
  if (status == PURLIN_ERROR_IO && !strstr(purlin_last_error_message(), shrinking)) return 2;
  GONE(purlin_rsvd_destroy(rsvd));
  GONE(purlin_matrix_destroy(a));
  GONE(purlin_source_destroy(source));
  GONE(purlin_context_destroy(context));
  return status == PURLIN_ERROR_IO ? 1 : status == PURLIN_SUCCESS ? 0 : 2;
}

static void shrink(void) {
  struct ends ends = {0};
  int64_t way;
  for (way = 0; way < 4; way++) {
    FILE *file = fopen("matrix.raw", "wb");
    CHECK(file && fwrite(family_input, sizeof family_input, 1, file) == 1 && fclose(file) == 0);
    in_child(&ends, shortened, NULL, way);
  }
  print_ends("matrix.raw", &ends);
  /* A run that is over when the file becomes shorter may succeed. */
  CHECK(ends.killed == 0 && ends.wrong == 0 && ends.refused >= 2);
  empty_folder();
}

int main(void) {
  family_inputs();
  found = shared_memory(sizeof *found);
  if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
  at_limits();
  at_failures();
  on_the_disk_first();
  killed();
  restarted();
  shrink();
  CHECK(chdir("/") == 0 && rmdir(folder) == 0);
  return finish();
}
