/* Files that a call may read, and files that it may replace. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "folder.h"

static purlin_context *context;

static void put(const char *name, const char *text) {
  FILE *file = fopen(in_folder(name), "wb");
  CHECK(file && fputs(text, file) >= 0);
  if (file) fclose(file);
}

/* Whether a file begins with `text`. */
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

static purlin_matrix *identity(void) {
  static int32_t offsets[3] = {0, 1, 2}, columns[2] = {0, 1};
  static double values[2] = {1, 1};
  purlin_matrix *a = NULL;
  OK(purlin_matrix_borrow_csr(context, PURLIN_F64, 0, 2, 2, 2, PURLIN_I32, offsets, PURLIN_I32, columns, values, &a));
  return a;
}

/* A child process with a limit on file sizes and the default action of its signal, which ends a process. */
static void limited_sizes(void) {
  static const int64_t dims[3] = {8, 8, 8};
  static const char *names[] = {"limited.raw", "limited.mha", "limited.mhd"};
  size_t i;
  int status = 0;
  pid_t child;
  fflush(NULL);
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const struct rlimit limit = {1000, RLIM_INFINITY};
    purlin_context_options options;
    purlin_context *own = NULL;
    int failures = 0;
    signal(SIGXFSZ, SIG_DFL);
    failures += setrlimit(RLIMIT_FSIZE, &limit) != 0;
    failures += purlin_context_options_init(&options, sizeof options) != PURLIN_SUCCESS;
    options.backend = PURLIN_BACKEND_CPU;
    options.threads = 1;
    failures += purlin_context_create(&options, &own) != PURLIN_SUCCESS;
    for (i = 0; i < COUNT(names); i++) {
      purlin_sink *sink = NULL;
      const purlin_status made =
          i == 0 ? purlin_sink_to_file(own, in_folder(names[i]), 0, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 3, dims, &sink)
                 : purlin_sink_to_metaimage(own, in_folder(names[i]), PURLIN_F32, 3, dims, NULL, NULL, &sink);
      failures += made != PURLIN_ERROR_IO || sink != NULL;
    }
    failures += purlin_context_destroy(own) != PURLIN_SUCCESS;
    _exit(failures == 0 ? 0 : 1);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (i = 0; i < COUNT(names); i++) CHECK(access(in_folder(names[i]), F_OK) != 0);
}

static void not_regular(const purlin_matrix *a) {
  static const int64_t dims[2] = {2, 2};
  const char *kinds[] = {"fifo", "directory", "device"}, *texts[] = {"is a FIFO", "is a directory", "is a character device"};
  size_t i;
  CHECK(mkfifo(in_folder("fifo"), 0600) == 0 && mkdir(in_folder("directory"), 0700) == 0);
  for (i = 0; i < COUNT(kinds); i++) {
    const char *path = in_folder(kinds[i]);
    purlin_matrix *b = NULL;
    purlin_sink *sink = NULL;
    purlin_source *source = NULL;
    struct stat before, after;
    if (i == 2 && mknod(path, S_IFCHR | 0600, makedev(1, 3)) != 0) {
      printf("no character device: only root can make one\n");
      continue;
    }
    before = status_of(kinds[i]);
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_matrix_write_market(a, path, 0));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_matrix_write_edges(a, path, 0));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_matrix_read_market(context, path, PURLIN_F64, &b));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_matrix_read_edges(context, path, PURLIN_F64, 0, 0, &b, NULL));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_sink_to_file(context, path, 0, PURLIN_U8, 0, 2, dims, &sink));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_sink_to_metaimage(context, path, PURLIN_U8, 2, dims, NULL, NULL, &sink));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_sink_to_tiff(context, path, PURLIN_U8, 2, 2, 1, &sink));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_source_from_file(context, path, 0, PURLIN_U8, 0, 2, dims, &source));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_source_from_mapped_file(context, path, 0, PURLIN_U8, 0, 2, dims, &source));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_source_from_metaimage(context, path, &source));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_source_from_npy(context, path, &source));
    FAILS(PURLIN_ERROR_IO, texts[i], purlin_source_from_tiff(context, 1, &path, &source));
    after = status_of(kinds[i]);
    CHECK(before.st_ino == after.st_ino && before.st_mode == after.st_mode && before.st_rdev == after.st_rdev);
    CHECK(b == NULL && sink == NULL && source == NULL);
    CHECK(remove(path) == 0);
  }
}

static void links_and_modes(const purlin_matrix *a) {
  const char *market = "%%MatrixMarket";
  struct stat before;
  put("file", "old");
  CHECK(symlink("file", in_folder("link")) == 0 && link(in_folder("file"), in_folder("second")) == 0);
  CHECK(chmod(in_folder("file"), 0600) == 0);
  before = status_of("link");
  OK(purlin_matrix_write_market(a, in_folder("link"), 0));
  /* The link stays. Its target is a new file of the same mode, and the other name keeps the old contents. */
  CHECK(status_of("link").st_ino == before.st_ino && S_ISLNK(status_of("link").st_mode));
  CHECK(begins("file", market) && begins("second", "old"));
  CHECK((status_of("file").st_mode & 07777) == 0600);
  CHECK(chmod(in_folder("file"), 0664) == 0);
  OK(purlin_matrix_write_edges(a, in_folder("file"), 0));
  CHECK((status_of("file").st_mode & 07777) == 0664 && begins("file", "# 2 x 2"));
  CHECK(remove(in_folder("file")) == 0);
  FAILS(PURLIN_ERROR_IO, "is a symbolic link to no file", purlin_matrix_write_market(a, in_folder("link"), 0));
  CHECK(access(in_folder("file"), F_OK) != 0);
  CHECK(remove(in_folder("link")) == 0 && remove(in_folder("second")) == 0);

  umask(027);
  OK(purlin_matrix_write_market(a, in_folder("file"), 0));
  CHECK((status_of("file").st_mode & 07777) == 0640);
  CHECK(remove(in_folder("file")) == 0);
}

/* A sink's provisional name used to be predictable. */
static void planted(void) {
  static const int64_t dims[2] = {2, 2};
  purlin_sink *sink = NULL;
  char name[64];
  int count;
  put("victim", "theirs");
  for (count = 0; count < 32; count++) {
    snprintf(name, sizeof name, "out.%d-%d.partial", (int)getpid(), count);
    CHECK(symlink("victim", in_folder(name)) == 0);
  }
  OK(purlin_sink_to_file(context, in_folder("out"), 0, PURLIN_U8, 0, 2, dims, &sink));
  OK(purlin_sink_destroy(sink));
  CHECK(begins("victim", "theirs") && status_of("victim").st_size == 6 && access(in_folder("out"), F_OK) != 0);
  for (count = 0; count < 32; count++) {
    snprintf(name, sizeof name, "out.%d-%d.partial", (int)getpid(), count);
    CHECK(remove(in_folder(name)) == 0);
  }
  CHECK(remove(in_folder("victim")) == 0);
}

/* A relative path means the folder of the call that made the sink. */
static void moved(void) {
  static const int64_t dims[2] = {2, 2};
  purlin_sink *sink = NULL;
  char *here = getcwd(NULL, 0);
  CHECK(here && chdir(folder) == 0);
  OK(purlin_sink_to_file(context, "out", 0, PURLIN_U8, 0, 2, dims, &sink));
  CHECK(here && chdir(here) == 0);
  OK(purlin_sink_destroy(sink));
  free(here);
}

/* Most memory that this process had, in bytes. */
static int64_t peak(void) {
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return (int64_t)usage.ru_maxrss * 1024;
}

#define REAL "%%MatrixMarket matrix coordinate real general\n"

/* The memory limit refuses the sizes that a header claims before anything is allocated. */
static void limits(void) {
  const int64_t limit = (int64_t)64 << 20;
  purlin_context_options o;
  purlin_context *small = NULL;
  purlin_matrix *b = NULL;
  int64_t before;
  OK(purlin_context_options_init(&o, sizeof o));
  o.backend = PURLIN_BACKEND_CPU;
  o.threads = 1;
  o.host_memory_limit = limit;
  OK(purlin_context_create(&o, &small));
  before = peak();
  put("a.mtx", REAL "100000000 1 1\n1 1 1\n");
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "under the context's limit of 67108864 bytes",
        purlin_matrix_read_market(small, in_folder("a.mtx"), PURLIN_F64, &b));
  put("a.txt", "0 300000000\n");
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "under the context's limit of 67108864 bytes",
        purlin_matrix_read_edges(small, in_folder("a.txt"), PURLIN_F64, 0, 0, &b, NULL));
  CHECK(peak() - before <= limit);
  put("a.mtx", REAL "18446744073709551615 1 1\n1 1 1\n");
  FAILS(PURLIN_ERROR_IO, "a.mtx: line 2: 18446744073709551615 rows, at most",
        purlin_matrix_read_market(context, in_folder("a.mtx"), PURLIN_F64, &b));
  put("a.mtx", REAL "1 1 1000000000000\n1 1 1\n");
  FAILS(PURLIN_ERROR_IO, "is too short for the 1000000000000 entries",
        purlin_matrix_read_market(context, in_folder("a.mtx"), PURLIN_F64, &b));
  CHECK(b == NULL && remove(in_folder("a.mtx")) == 0 && remove(in_folder("a.txt")) == 0);
  OK(purlin_context_destroy(small));
}

/* A TIFF file whose description claims more than the decoder takes. It must not print to this process's streams. */
static void texts(void) {
  static const unsigned char head[] = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 14, 1, 2, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0};
  const char *path = in_folder("x.tif");
  purlin_source *source = NULL;
  FILE *file = fopen(path, "wb");
  int old = dup(2), out = open(in_folder("stderr"), O_CREAT | O_RDWR, 0600);
  CHECK(file && fwrite(head, 1, sizeof head, file) == sizeof head && fclose(file) == 0);
  CHECK(old >= 0 && out >= 0 && dup2(out, 2) == 2);
  FAILS(PURLIN_ERROR_IO, "tag 270 claims a text of 4294967295 bytes", purlin_source_from_tiff(context, 1, &path, &source));
  CHECK(dup2(old, 2) == 2 && close(old) == 0);
  CHECK(lseek(out, 0, SEEK_END) == 0 && close(out) == 0);
  CHECK(source == NULL && remove(in_folder("stderr")) == 0 && remove(in_folder("x.tif")) == 0);
}

int main(void) {
  purlin_matrix *a;
  if (!mkdtemp(folder)) return 1;
  /* First, since it forks: this process has no threads yet. */
  limited_sizes();
  context = cpu_context(1);
  a = identity();
  not_regular(a);
  links_and_modes(a);
  planted();
  moved();
  limits();
  texts();
  /* Nothing provisional is left. */
  CHECK(rmdir(folder) == 0);
  OK(purlin_matrix_destroy(a));
  OK(purlin_context_destroy(context));
  return finish();
}
