/* Inputs that are larger than they look, or smaller than they were: memory limits hold, and no read ends the process. */
#define _DEFAULT_SOURCE
#if defined(__linux__)
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "families.h"
#include "folder.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* The limit counts arrays. The resident set also has code, buffers of readers and memory that the allocator caches: BOUND allows a
   quarter. A sanitizer's allocator never returns freed memory. */
#if defined(__SANITIZE_ADDRESS__)
enum { N = 24, LIMIT = 64 << 20, BOUND = LIMIT * 16 };
#else
enum { N = 24, LIMIT = 64 << 20, BOUND = LIMIT / 4 * 5 };
#endif

static purlin_context *context, *small;

/* Most memory that this process had, in bytes. */
static int64_t peak(void) {
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  return (int64_t)usage.ru_maxrss * 1024;
}

/* A writer of deflate's bits: the least significant ones first. */
struct bits {
  FILE *file;
  uint32_t held;
  int count;
};

static void put_bits(struct bits *b, uint32_t value, int count) {
  b->held |= value << b->count;
  for (b->count += count; b->count >= 8; b->count -= 8, b->held >>= 8) fputc((int)(b->held & 255), b->file);
}

/* A Huffman code: its most significant bit comes first. */
static void put_code(struct bits *b, uint32_t code, int count) {
  while (count-- > 0) put_bits(b, code >> count & 1, 1);
}

/* A gzip file of `text`, whose last 6 bytes are repeated `times` times 43: one match of 258 bytes after another, 14 bits each. */
static void bomb(const char *name, const char *text, int64_t times) {
  static const unsigned char head[10] = {31, 139, 8, 0, 0, 0, 0, 0, 0, 255};
  struct bits b = {NULL, 0, 0};
  b.file = fopen(in_folder(name), "wb");
  CHECK(b.file && fwrite(head, 1, sizeof head, b.file) == sizeof head);
  if (!b.file) return;
  put_bits(&b, 3, 3);
  for (; *text; text++) put_code(&b, 48 + (uint32_t)*text, 8);
  for (; times > 0; times--) {
    put_code(&b, 197, 8);
    put_code(&b, 4, 5);
    put_bits(&b, 1, 1);
  }
  put_code(&b, 0, 7);
  put_bits(&b, 0, 7);
  CHECK(fclose(b.file) == 0);
}

/* 3 million entries in 125 kB, and sizes that need more than the limit before there is an entry. */
static void inflated(void) {
  enum { TIMES = 70000 };
  char text[128];
  struct stat status;
  purlin_matrix *b = NULL;
  int64_t before = peak();
  snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real general\n9 9 %d\n1 1 1\n", 1 + 43 * TIMES);
  bomb("bomb.mtx.gz", text, TIMES);
  CHECK(stat(in_folder("bomb.mtx.gz"), &status) == 0 && status.st_size < 130000);
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "under the context's limit of 67108864 bytes",
        purlin_matrix_read_market(small, in_folder("bomb.mtx.gz"), PURLIN_F64, &b));
  CHECK(b == NULL && peak() - before <= BOUND);
  bomb("bomb.txt.gz", "1 1 1\n", TIMES);
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "under the context's limit of 67108864 bytes",
        purlin_matrix_read_edges(small, in_folder("bomb.txt.gz"), PURLIN_F64, 0, 0, &b, NULL));
  CHECK(b == NULL && peak() - before <= BOUND);
  /* One line without an end is not held whole. */
  bomb("bomb.mtx.gz", "%%MatrixMarket matrix coordinate real general %      ", 500000);
  CHECK(purlin_matrix_read_market(small, in_folder("bomb.mtx.gz"), PURLIN_F64, &b) != PURLIN_SUCCESS);
  CHECK(strlen(purlin_last_error_message()) <= 1024 && b == NULL && peak() - before <= BOUND);
  CHECK(remove(in_folder("bomb.mtx.gz")) == 0 && remove(in_folder("bomb.txt.gz")) == 0);
}

/* Constructors of sparse matrices whose sizes, not whose entries, take memory. */
static void constructors(void) {
  static const int64_t row[2] = {0, 1}, col[2] = {1, 0};
  static const double ones[2] = {1, 1};
  const int64_t many = 100 * 1000 * 1000;
  purlin_matrix *a = NULL;
  int64_t before = peak();
  FAILS(PURLIN_ERROR_OUT_OF_MEMORY, "under the context's limit of 67108864 bytes",
        purlin_matrix_from_coordinates(small, PURLIN_F64, 0, many, 2, 2, PURLIN_I64, row, col, ones, PURLIN_DUPLICATES_SUM, &a));
  CHECK(a == NULL && peak() - before <= BOUND);
  OK(purlin_matrix_from_coordinates(small, PURLIN_F64, 0, 2, 2, 2, PURLIN_I64, row, col, ones, PURLIN_DUPLICATES_SUM, &a));
  OK(purlin_matrix_destroy(a));
}

static void cut(const char *name, int64_t bytes) { CHECK(truncate(in_folder(name), (off_t)bytes) == 0); }

static void copy(const char *from, const char *name) {
  static char bytes[1 << 20];
  FILE *in = fopen(from, "rb"), *out = fopen(in_folder(name), "wb");
  size_t length = in ? fread(bytes, 1, sizeof bytes, in) : 0;
  CHECK(length > 0 && length < sizeof bytes && out && fwrite(bytes, 1, length, out) == length);
  if (in) fclose(in);
  if (out) CHECK(fclose(out) == 0);
}

static void fail_to_read(purlin_source *source, const char *name) {
  static float volume[N * N * N];
  static const int64_t cube[3] = {N, N, N};
  purlin_tensor *v = NULL;
  purlin_sink *sink = NULL;
  purlin_fdk *fdk = NULL;
  OK(purlin_tensor_borrow(context, PURLIN_F32, 0, 3, cube, NULL, volume, &v));
  OK(purlin_sink_to_tensor(context, v, &sink));
  OK(family_fdk_of(context, N, N, N, &fdk));
  FAILS(PURLIN_ERROR_IO, name, purlin_fdk_reconstruct_to_sink(fdk, NULL, source, sink, NULL));
  OK(purlin_fdk_destroy(fdk));
  OK(purlin_sink_destroy(sink));
  OK(purlin_tensor_destroy(v));
  OK(purlin_source_destroy(source));
}

/* Files of N^3 numbers that are truncated to their headers after their sources were made. */
static void shorter(void) {
  static const int64_t cube[3] = {N, N, N};
  static const char *names[] = {"raw", "mapped", "a.mha", "a.tif"};
  size_t i;
  for (i = 0; i < COUNT(names); i++) {
    const char *path = in_folder(names[i]);
    purlin_source *ones = NULL, *source = NULL;
    purlin_sink *sink = NULL;
    purlin_fdk *fdk = NULL;
    purlin_tensor *tensor = NULL;
    OK(purlin_tensor_borrow(context, PURLIN_F32, 0, 3, cube, NULL, family_volume, &tensor));
    OK(purlin_source_from_tensor(context, tensor, &ones));
    if (i == 2) OK(purlin_sink_to_metaimage(context, path, PURLIN_F32, 3, cube, NULL, NULL, &sink));
    else if (i == 3) OK(purlin_sink_to_tiff(context, path, PURLIN_F32, N, N, N, &sink));
    else OK(purlin_sink_to_file(context, path, 0, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 3, cube, &sink));
    OK(family_fdk_of(context, N, N, N, &fdk));
    OK(purlin_fdk_reconstruct_to_sink(fdk, NULL, ones, sink, NULL));
    OK(purlin_fdk_destroy(fdk));
    OK(purlin_sink_destroy(sink));
    OK(purlin_source_destroy(ones));
    OK(purlin_tensor_destroy(tensor));
    path = in_folder(names[i]);
    if (i == 0) OK(purlin_source_from_file(context, path, 0, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 3, cube, &source));
    else if (i == 1) OK(purlin_source_from_mapped_file(context, path, 0, PURLIN_F32, PURLIN_LITTLE_ENDIAN, 3, cube, &source));
    else if (i == 2) OK(purlin_source_from_metaimage(context, path, &source));
    else OK(purlin_source_from_tiff(context, 1, &path, &source));
    cut(names[i], 5000);
    fail_to_read(source, names[i]);
    CHECK(remove(in_folder(names[i])) == 0);
  }
}

/* The same for an array file, and for a compressed one without its end. */
static void shorter_matrices(void) {
  purlin_source *source = NULL;
  purlin_matrix *a = NULL;
  purlin_rsvd *rsvd = NULL;
  purlin_rsvd_options o;
  copy(PURLIN_GOLDEN "/rsvd/rank7_120x90.npy", "a.npy");
  OK(purlin_source_from_npy(context, in_folder("a.npy"), &source));
  OK(purlin_matrix_from_source(context, source, PURLIN_ROW_MAJOR, &a));
  OK(purlin_rsvd_options_init(&o, sizeof o));
  o.rank = 4;
  OK(purlin_rsvd_create(context, &o, &rsvd));
  cut("a.npy", 8000);
  FAILS(PURLIN_ERROR_IO, "a.npy", purlin_rsvd_compute(rsvd, NULL, a, NULL, NULL, NULL, NULL));
  OK(purlin_rsvd_destroy(rsvd));
  OK(purlin_matrix_destroy(a));
  OK(purlin_source_destroy(source));
  a = NULL;
  copy(PURLIN_GOLDEN "/spectral/bcsstk13.mtx.gz", "a.mtx.gz");
  cut("a.mtx.gz", 20000);
  FAILS(PURLIN_ERROR_IO, "a.mtx.gz", purlin_matrix_read_market(context, in_folder("a.mtx.gz"), PURLIN_F64, &a));
  CHECK(a == NULL && remove(in_folder("a.mtx.gz")) == 0 && remove(in_folder("a.npy")) == 0);
}

int main(void) {
  purlin_context_options o;
#if defined(M_MMAP_THRESHOLD)
  /* Freed arrays are returned to the system at once; otherwise the C library would cache up to 64 MiB of them. */
  mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
  if (!mkdtemp(folder)) return 1;
  family_inputs();
  OK(purlin_context_options_init(&o, sizeof o));
  o.backend = PURLIN_BACKEND_CPU;
  o.threads = 1;
  o.host_memory_limit = LIMIT;
  OK(purlin_context_create(&o, &small));
  inflated();
  constructors();
  OK(purlin_context_destroy(small));
  context = cpu_context(2);
  shorter();
  shorter_matrices();
  CHECK(rmdir(folder) == 0);
  OK(purlin_context_destroy(context));
  return finish();
}
