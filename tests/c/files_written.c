/* Files that are written in the end: restart files and volumes, in the place of other files, and how partial files are opened. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "families.h"
#include "folder.h"

enum { ROWS = 90, COLUMNS = 40, RANK = 6, N = 24 };

static purlin_context *context;

/* Partial files that the library opened, and how many of them could have been another process's. */
static int opened, unsafe_opened;

static int noted(int folder_descriptor, const char *path, int flags, mode_t mode) {
  const size_t length = strlen(path);
  if (length > 8 && strcmp(path + length - 8, ".partial") == 0) {
    const int safe = O_CREAT | O_EXCL | O_NOFOLLOW;
    opened++;
    if ((flags & safe) != safe) unsafe_opened++;
  }
  return (int)syscall(SYS_openat, folder_descriptor, path, flags, mode);
}

#ifdef __GLIBC__
/* These replace the C library's functions, in purlin too. */
int open64(const char *path, int flags, ...);
int openat64(int folder_descriptor, const char *path, int flags, ...);

int open64(const char *path, int flags, ...) {
  va_list rest;
  mode_t mode;
  va_start(rest, flags);
  mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return noted(AT_FDCWD, path, flags, mode);
}

int openat64(int folder_descriptor, const char *path, int flags, ...) {
  va_list rest;
  mode_t mode;
  va_start(rest, flags);
  mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return noted(folder_descriptor, path, flags, mode);
}
#endif

static void put(const char *name, const char *text, mode_t mode) {
  FILE *file = fopen(in_folder(name), "wb");
  CHECK(file && fputs(text, file) >= 0);
  if (file) fclose(file);
  CHECK(chmod(in_folder(name), mode) == 0);
}

static int begins(const char *name, const char *text) {
  char start[64] = "";
  FILE *file = fopen(in_folder(name), "rb");
  size_t length = file ? fread(start, 1, sizeof start - 1, file) : 0;
  if (file) fclose(file);
  return length >= strlen(text) && memcmp(start, text, strlen(text)) == 0;
}

static struct stat status_of(const char *name) {
  struct stat status;
  memset(&status, 0, sizeof status);
  CHECK(lstat(in_folder(name), &status) == 0);
  return status;
}

static int mode_of(const char *name) { return (int)(status_of(name).st_mode & 07777); }

/* Cancels at the first report of step `*user` or a later one; never if it is 0. Reports within a step depend on time. */
static int32_t stop(int64_t step, int64_t steps, double measure, void *user) {
  (void)steps, (void)measure;
  return *(int *)user > 0 && step >= *(int *)user;
}

/* A run with a restart file that is cancelled after `steps` steps, or completes if `steps` is 0. */
static purlin_status run(purlin_matrix *a, const char *path, int steps) {
  purlin_rsvd_options o;
  purlin_rsvd *rsvd = NULL;
  purlin_status status;
  OK(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = RANK;
  o.method = PURLIN_RSVD_METHOD_FUSED;
  o.power_iterations = 4;
  o.restart_path = path;
  o.progress = stop;
  o.progress_user = &steps;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  status = purlin_rsvd_compute(rsvd, NULL, a, NULL, NULL, NULL, NULL);
  if (purlin_rsvd_destroy(rsvd) != PURLIN_SUCCESS) return PURLIN_ERROR_INTERNAL;
  return status;
}

static void restart_files(void) {
  static const char *kinds[] = {"fifo", "device", "directory"};
  const char *texts[] = {"is a FIFO", "is a character device", "is a directory"};
  purlin_matrix *a = NULL;
  purlin_rsvd_options o;
  purlin_rsvd *rsvd = NULL;
  ino_t before;
  size_t i;
  OK(family_matrix(context, ROWS, COLUMNS, family_input, &a));
  OK(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = RANK;
  o.method = PURLIN_RSVD_METHOD_FUSED;
  o.power_iterations = 4;
  CHECK(mkfifo(in_folder("fifo"), 0600) == 0 && mkdir(in_folder("directory"), 0700) == 0);
  for (i = 0; i < COUNT(kinds); i++) {
    struct stat old;
    if (i == 1 && mknod(in_folder("device"), S_IFCHR | 0600, makedev(1, 3)) != 0) {
      printf("no character device: only root can make one\n");
      continue;
    }
    old = status_of(kinds[i]);
    o.restart_path = in_folder(kinds[i]);
    OK(purlin_rsvd_create(context, &o, &rsvd));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_rsvd_compute(rsvd, NULL, a, NULL, NULL, NULL, NULL));
    OK(purlin_rsvd_destroy(rsvd));
    CHECK(old.st_ino == status_of(kinds[i]).st_ino && old.st_mode == status_of(kinds[i]).st_mode);
    CHECK(remove(in_folder(kinds[i])) == 0);
  }

  /* A link would be removed with the state at the end of the run. */
  put("victim", "theirs", 0644);
  CHECK(symlink("victim", in_folder("link")) == 0);
  o.restart_path = in_folder("link");
  OK(purlin_rsvd_create(context, &o, &rsvd));
  BAD_ARGUMENT("is a symbolic link", purlin_rsvd_compute(rsvd, NULL, a, NULL, NULL, NULL, NULL));
  OK(purlin_rsvd_destroy(rsvd));
  CHECK(begins("victim", "theirs") && S_ISLNK(status_of("link").st_mode));
  CHECK(remove(in_folder("link")) == 0 && remove(in_folder("victim")) == 0);

  /* A state file that was made private stays private when the next state replaces it, and is removed at the end. */
  umask(022);
  CHECK(run(a, in_folder("state"), 1) == PURLIN_ERROR_CANCELLED);
  CHECK(mode_of("state") == 0644);
  CHECK(chmod(in_folder("state"), 0600) == 0);
  before = status_of("state").st_ino;
  CHECK(run(a, in_folder("state"), 2) == PURLIN_ERROR_CANCELLED);
  CHECK(status_of("state").st_ino != before && mode_of("state") == 0600);
  CHECK(run(a, in_folder("state"), 0) == PURLIN_SUCCESS);
  CHECK(access(in_folder("state"), F_OK) != 0);
  OK(purlin_matrix_destroy(a));
}

static int32_t ones(const int64_t *first, const int64_t *count, void *out, void *user) {
  float *pixels = out;
  int64_t k;
  (void)first, (void)user;
  for (k = 0; k < count[0] * count[1] * count[2]; k++) pixels[k] = 1;
  return 0;
}

/* A volume through a link to a private file that has a second name. */
static void volumes(void) {
  static const char *ends[] = {".raw", ".mha", ".mhd", ".tif"}, *heads[] = {"", "ObjectType", "ObjectType", "II"};
  static const int64_t panel[3] = {N, N, N};
  size_t i;
  for (i = 0; i < COUNT(ends); i++) {
    char file[16], link_[16];
    purlin_source *source = NULL;
    purlin_sink *sink = NULL;
    purlin_fdk *fdk = NULL;
    struct stat before, old;
    const char *path;
    snprintf(file, sizeof file, "file%s", ends[i]);
    snprintf(link_, sizeof link_, "link%s", ends[i]);
    put(file, "old", 0600);
    CHECK(symlink(file, in_folder(link_)) == 0 && link(in_folder(file), in_folder("second")) == 0);
    before = status_of(link_);
    old = status_of(file);
    path = in_folder(link_);
    if (i == 0) OK(purlin_sink_to_file(context, path, 0, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 3, panel, &sink));
    else if (i == 3) OK(purlin_sink_to_tiff(context, path, PURLIN_F32, N, N, N, &sink));
    else OK(purlin_sink_to_metaimage(context, path, PURLIN_F32, 3, panel, NULL, NULL, &sink));
    OK(purlin_source_from_callback(context, PURLIN_F32, 3, panel, ones, NULL, &source));
    OK(family_fdk_of(context, N, N, N, &fdk));
    CHECK(begins(file, "old"));
    OK(purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
    OK(purlin_fdk_destroy(fdk));
    OK(purlin_sink_destroy(sink));
    OK(purlin_source_destroy(source));
    CHECK(S_ISLNK(status_of(link_).st_mode) && status_of(link_).st_ino == before.st_ino);
    CHECK(status_of(file).st_ino != old.st_ino && mode_of(file) == 0600);
    CHECK(begins(file, heads[i]) && !begins(file, "old") && begins("second", "old"));
    if (i == 2) {
      CHECK(status_of("file.raw").st_size == (off_t)(N * N * N * sizeof(float)));
      CHECK(remove(in_folder("file.raw")) == 0);
    }
    CHECK(remove(in_folder(file)) == 0 && remove(in_folder(link_)) == 0 && remove(in_folder("second")) == 0);
  }
}

/* A new file has the mode that the process wants. */
static void new_modes(void) {
  static const int64_t panel[3] = {N, N, N};
  purlin_source *source = NULL;
  purlin_sink *sink = NULL;
  purlin_fdk *fdk = NULL;
  umask(077);
  OK(purlin_sink_to_metaimage(context, in_folder("new.mha"), PURLIN_F32, 3, panel, NULL, NULL, &sink));
  OK(purlin_source_from_callback(context, PURLIN_F32, 3, panel, ones, NULL, &source));
  OK(family_fdk_of(context, N, N, N, &fdk));
  OK(purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  CHECK(mode_of("new.mha") == 0600);
  CHECK(remove(in_folder("new.mha")) == 0);
  OK(purlin_fdk_destroy(fdk));
  OK(purlin_sink_destroy(sink));
  OK(purlin_source_destroy(source));
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  family_inputs();
  OK(family_context(&context));
  if (!context) return 1;
  restart_files();
  volumes();
  new_modes();
#ifdef __GLIBC__
  /* Three states at least and five volumes, one of them in two files. */
  CHECK(opened >= 9 && unsafe_opened == 0);
#endif
  /* Nothing provisional is left. */
  CHECK(rmdir(folder) == 0);
  OK(purlin_context_destroy(context));
  return finish();
}
