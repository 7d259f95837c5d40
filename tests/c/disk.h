/* The C library's functions that write to the disk, replaced: they can be made to fail, and record the writes of each file. A program
   includes it once, with _GNU_SOURCE defined. */
#ifndef PURLIN_TESTS_DISK_H
#define PURLIN_TESTS_DISK_H

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The functions below replace the C library's, in purlin too. While `armed`, the disk operation numbered `refused_at` fails:
   no space left, a device error, or a read-only file system. */
static volatile int armed;
static volatile int64_t operations, refused_at;

static int fails(int error) {
  if (!armed || __sync_fetch_and_add(&operations, 1) != refused_at) return 0;
  errno = error;
  return 1;
}

/* Writes and synchronizations of each file and folder, recorded while `watched` is not NULL. After a power failure only the data
   written before a file's last synchronization survive, and of a folder only the names synchronized before it. */
struct watched {
  dev_t device;
  ino_t inode;
  int64_t writes, syncs;
  int is_dirty;
};
struct watch {
  int lock, count, published, early, unknown;
  struct watched all[64];
};
static struct watch *watched;

enum act { WRITTEN, SYNCED, NAMED };

static void note(const struct stat *of, enum act act) {
  int k, is_folder = S_ISDIR(of->st_mode);
  struct watched *found;
  while (__sync_lock_test_and_set(&watched->lock, 1)) continue;
  for (k = 0; k < watched->count; k++)
    if (watched->all[k].inode == of->st_ino && watched->all[k].device == of->st_dev) break;
  found = &watched->all[k < 64 ? k : 63];
  if (k == watched->count && k < 64) {
    watched->count++;
    found->device = of->st_dev;
    found->inode = of->st_ino;
  }
  if (act == WRITTEN) found->writes++, found->is_dirty = 1;
  if (act == SYNCED) found->syncs++, found->is_dirty = 0;
  if (act == NAMED && !is_folder) {
    watched->published++;
    watched->unknown += found->writes == 0;
    watched->early += found->is_dirty || found->syncs == 0;
  }
  /* A new name is a write to its folder. */
  if (act == NAMED && is_folder) found->is_dirty = 1;
  __sync_lock_release(&watched->lock);
}

/* After an operation that succeeded; `errno` stays. */
static void note_file(int file, enum act act) {
  int error = errno;
  struct stat of;
  if (watched && fstat(file, &of) == 0 && (S_ISREG(of.st_mode) || S_ISDIR(of.st_mode))) note(&of, act);
  errno = error;
}

/* Before a file gets a name in the folder of the test, where the program is. */
static void note_name(const char *from) {
  int error = errno;
  struct stat of;
  if (watched && stat(from, &of) == 0) note(&of, NAMED);
  if (watched && stat(".", &of) == 0) note(&of, NAMED);
  errno = error;
}

/* A data pointer of dlsym as a function's. */
#define NEXT(name, type) \
  type next;             \
  void *found = dlsym(RTLD_NEXT, name); \
  memcpy(&next, &found, sizeof next)

typedef ssize_t (*write_fn)(int, const void *, size_t);
typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off64_t);
typedef int (*length_fn)(int, off64_t);
typedef int (*sync_fn)(int);
typedef int (*rename_fn)(const char *, const char *);
typedef int (*link_fn)(int, const char *, int, const char *, int);

/* Standard output and error are written to as well. */
ssize_t write(int file, const void *data, size_t bytes) {
  NEXT("write", write_fn);
  if (file > 2 && fails(ENOSPC)) return -1;
  note_file(file, WRITTEN);
  return next(file, data, bytes);
}

ssize_t pwrite64(int file, const void *data, size_t bytes, off64_t at) {
  NEXT("pwrite64", pwrite_fn);
  if (fails(ENOSPC)) return -1;
  note_file(file, WRITTEN);
  return next(file, data, bytes, at);
}

int ftruncate64(int file, off64_t bytes) {
  NEXT("ftruncate64", length_fn);
  if (fails(ENOSPC)) return -1;
  note_file(file, WRITTEN);
  return next(file, bytes);
}

static int synchronize(sync_fn next, int file) {
  int failed = fails(EIO) ? -1 : next(file);
  if (!failed) note_file(file, SYNCED);
  return failed;
}

int fsync(int file) {
  NEXT("fsync", sync_fn);
  return synchronize(next, file);
}

int fdatasync(int file) {
  NEXT("fdatasync", sync_fn);
  return synchronize(next, file);
}

int rename(const char *from, const char *to) {
  NEXT("rename", rename_fn);
  if (fails(EROFS)) return -1;
  note_name(from);
  return next(from, to);
}

/* A name that no file has is given by a link. */
int linkat(int folder, const char *from, int other, const char *to, int flags) {
  NEXT("linkat", link_fn);
  note_name(from);
  return next(folder, from, other, to, flags);
}

#endif
