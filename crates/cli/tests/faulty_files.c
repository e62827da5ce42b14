/* Stands between a program and its files (LD_PRELOAD), for tests of costep. MIT OR Apache-2.0.

   COSTEP_TEST_FAULT = "KIND NUMBER ERROR": the call of this number, from 1 on, fails with this error. KIND `change` counts calls
   that open for writing, write, sync, cut and rename files whose path has COSTEP_TEST_FILES in it; `read` those that open for
   reading and read them. Error 0 is no error: half of the bytes are written; a
   negative one is a signal that the process gets there, and the call is done. Each counted call adds a line to the file
   COSTEP_TEST_TALLY. COSTEP_TEST_CLOCKS lets clocks jump with every look at them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NONE = -1, HALF = 0 };

/* What is to become of a call: NONE, or the error. */
static int fate(const char *kind, const char *call, const char *path) {
    static atomic_int count;
    const char *files = getenv("COSTEP_TEST_FILES"), *fault = getenv("COSTEP_TEST_FAULT");
    const char *tally = getenv("COSTEP_TEST_TALLY");
    char wanted[16];
    int number = 0, error = 0;
    if (!files || !fault || !tally || !strstr(path, files)) return NONE;
    if (sscanf(fault, "%15s %d %d", wanted, &number, &error) != 3 || strcmp(wanted, kind)) return NONE;
    int mine = atomic_fetch_add(&count, 1) + 1;
    char line[4300];
    int length = snprintf(line, sizeof line, "%d %s %s\n", mine, call, path);
    int file = (int)syscall(SYS_openat, AT_FDCWD, tally, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0 || syscall(SYS_write, file, line, (size_t)length) != length) _exit(99);
    syscall(SYS_close, file);
    if (mine != number || error >= 0) return mine == number ? error : NONE;
    kill(getpid(), -error);
    return NONE;
}

static int fate_of(const char *kind, const char *call, int file) {
    char link[64], path[4096];
    struct stat status;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0 || fstat(file, &status) || !S_ISREG(status.st_mode)) return NONE;
    path[length] = 0;
    return fate(kind, call, path);
}

#define REAL(name) __extension__({ static void *real; if (!real) real = dlsym(RTLD_NEXT, #name); (__typeof__(&name))real; })
#define MAY_FAIL(fate) do { int why = (fate); if (why > 0) { errno = why; return -1; } } while (0)

ssize_t write(int file, const void *bytes, size_t count) {
    int error = fate_of("change", "write", file);
    if (error == HALF && count > 1) return REAL(write)(file, bytes, count / 2);
    MAY_FAIL(error);
    return REAL(write)(file, bytes, count);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
    MAY_FAIL(fate_of("change", "writev", file));
    return REAL(writev)(file, parts, count);
}
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *there, size_t count, unsigned flags) {
    MAY_FAIL(fate_of("change", "copy", to));
    return REAL(copy_file_range)(from, at, to, there, count, flags);
}
ssize_t read(int file, void *bytes, size_t count) {
    MAY_FAIL(fate_of("read", "read", file));
    return REAL(read)(file, bytes, count);
}
int fsync(int file) {
    MAY_FAIL(fate_of("change", "sync", file));
    return REAL(fsync)(file);
}
int fdatasync(int file) {
    MAY_FAIL(fate_of("change", "sync", file));
    return REAL(fdatasync)(file);
}
int ftruncate64(int file, off64_t length) {
    MAY_FAIL(fate_of("change", "cut", file));
    return REAL(ftruncate64)(file, length);
}
int rename(const char *from, const char *to) {
    MAY_FAIL(fate("change", "rename", to));
    return REAL(rename)(from, to);
}
int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (flags & (O_WRONLY | O_RDWR)) MAY_FAIL(fate("change", "open", path));
    else if (!(flags & O_DIRECTORY)) MAY_FAIL(fate("read", "open", path));
    return REAL(open64)(path, flags, mode);
}

/* The time of day jumps by days, back and forth; time that passes does so in leaps of an hour. */
int clock_gettime(clockid_t clock, struct timespec *now) {
    static atomic_int looks;
    int outcome = REAL(clock_gettime)(clock, now);
    if (outcome || !getenv("COSTEP_TEST_CLOCKS")) return outcome;
    int look = atomic_fetch_add(&looks, 1);
    if (clock == CLOCK_REALTIME) now->tv_sec += (look % 3 - 1) * 1000000L;
    if (clock == CLOCK_MONOTONIC) now->tv_sec += 3600L * look;
    return outcome;
}
