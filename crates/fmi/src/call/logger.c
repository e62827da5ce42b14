/* The logger of FMI 1.0 and 2.0, which is handed a C format with its arguments. Functions with a variable number of
 * arguments cannot be written in Rust.
 *
 * Each conversion is done alone, by its own type, so that a format that asks for more than it was given does no more than
 * show what lies there: texts are read by a way that reports memory that is not there, and nothing is ever written (%n). */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

#define MOST 2000      /* bytes of a message */
#define ARGUMENTS 32   /* taken for one message */
#define WIDEST 500     /* widths and precisions */
#define PAGE 4096      /* what is readable at one of its bytes is so at all of them */

/* In Rust: keeps a message that has been formatted. */
void costep_keep_message(void *environment, const char *instance, int status, const char *category, const char *message);

typedef struct { char text[MOST + 1]; size_t length; } Message;

static void add(Message *message, const char *from, size_t count) {
    size_t room = MOST - message->length;
    if (count > room) count = room;
    memcpy(message->text + message->length, from, count);
    message->length += count;
}

/* Copies bytes of one page, if they can be read. */
static int copy(char *to, const char *from, size_t count) {
#ifdef _WIN32
    SIZE_T done = 0;
    return ReadProcessMemory(GetCurrentProcess(), from, to, count, &done) && done == count;
#else
    /* The system says EFAULT where reading here would be a crash. A page always fits into a pipe. */
    int ends[2], good = 0;
#ifdef __linux__
    if (pipe2(ends, O_CLOEXEC)) return 0;
#else
    if (pipe(ends)) return 0;
#endif
    if (write(ends[1], from, count) == (ssize_t)count) good = read(ends[0], to, count) == (ssize_t)count;
    close(ends[0]);
    close(ends[1]);
    return good;
#endif
}

/* Adds a text of at most so many bytes; 0 if it cannot be read. */
static int add_text(Message *message, const char *from, size_t most) {
    char page[PAGE];
    while (most > 0 && message->length < MOST) {
        size_t count = PAGE - (uintptr_t)from % PAGE;
        if (count > most) count = most;
        if (!copy(page, from, count)) return 0;
        size_t length = strnlen(page, count);
        add(message, page, length);
        if (length < count) break;
        from += count;
        most -= count;
    }
    return 1;
}

/* Reads a number of a conversion, or takes it from the arguments, and adds it to the conversion that is handed on. */
#define NUMBER(value)                                                                              \
    do {                                                                                           \
        value = 0;                                                                                 \
        if (*f == '*') { value = va_arg(arguments, int); taken++; f++; }                           \
        else while (*f >= '0' && *f <= '9' && value <= WIDEST) value = 10 * value + (*f++ - '0'); \
        if (value < -WIDEST || value > WIDEST) goto verbatim;                                      \
        n += (size_t)snprintf(one + n, sizeof one - n, "%d", value);                               \
    } while (0)

#define WRITE(type) written = snprintf(number, sizeof number, one, va_arg(arguments, type)); break
#define WRITE_WHOLE(sign)                                                                          \
    switch (size) {                                                                                \
    case 'l': WRITE(sign long);                                                                    \
    case 'q': WRITE(sign long long);                                                               \
    case 'j': WRITE(intmax_t);                                                                     \
    case 'z': WRITE(size_t);                                                                       \
    case 't': WRITE(ptrdiff_t);                                                                    \
    default: WRITE(sign int);                                                                      \
    }                                                                                              \
    break

static void format(Message *message, const char *f, va_list arguments) {
    int taken = 0;
    while (*f && message->length < MOST) {
        const char *start = f;
        char one[64] = "%", number[1024], size = 0;
        size_t n = 1, longest = MOST;
        int written = -1, value;
        if (*f != '%') { add(message, f++, 1); continue; }
        if (*++f == '%') { add(message, f++, 1); continue; }
        for (; *f && strchr("-+ #0", *f); f++) if (n < 8) one[n++] = *f;
        if (taken + 3 > ARGUMENTS) goto verbatim;
        if (*f == '*' || (*f >= '1' && *f <= '9')) NUMBER(value);
        if (*f == '.') {
            size_t before = n;
            one[n++] = *f++;
            NUMBER(value);
            /* A negative one counts as none. */
            if (value >= 0) longest = (size_t)value; else n = before;
        }
        for (; *f && strchr("hlLqjzt", *f); f++)
            size = size == 'l' && *f == 'l' ? 'q' : size == 'h' && *f == 'h' ? 'b' : *f;
        if (size == 'q') { one[n++] = 'l'; one[n++] = 'l'; }
        else if (size == 'b') { one[n++] = 'h'; one[n++] = 'h'; }
        else if (size) one[n++] = size;
        one[n++] = *f;
        one[n] = 0;
        taken++;
        switch (*f) {
        case 'd': case 'i': WRITE_WHOLE(signed);
        case 'u': case 'o': case 'x': case 'X': WRITE_WHOLE(unsigned);
        case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
            if (size == 'L') { WRITE(long double); }
            WRITE(double);
        case 'c':
            if (size) goto verbatim;
            value = va_arg(arguments, int);
            /* The end of the text, which it is not. */
            if (value % 256) written = snprintf(number, sizeof number, one, value);
            else written = 0;
            break;
        case 'p': WRITE(void *);
        case 's': {
            const char *from = va_arg(arguments, const char *);
            Message text = {{0}, 0}, padded;
            f++;
            if (size || !add_text(&text, from ? from : "(null)", longest)) {
                add(message, start, (size_t)(f - start));
                continue;
            }
            snprintf(padded.text, sizeof padded.text, one, text.text);
            add(message, padded.text, strlen(padded.text));
            continue;
        }
        case 'n':
            (void)va_arg(arguments, void *);
            add(message, start, (size_t)(++f - start));
            continue;
        default: goto verbatim;
        }
        if (written < 0) goto verbatim;
        add(message, number, (size_t)written < sizeof number ? (size_t)written : sizeof number - 1);
        f++;
        continue;
    verbatim: /* What its arguments are is not known any more. */
        add(message, start, strnlen(start, MOST));
        return;
    }
}

void costep_logger(void *environment, const char *instance, int status, const char *category, const char *message, ...) {
    Message formatted = {{0}, 0};
    va_list arguments;
    va_start(arguments, message);
    if (message) format(&formatted, message, arguments);
    va_end(arguments);
    formatted.text[formatted.length] = 0;
    costep_keep_message(environment, instance, status, category, formatted.text);
}
