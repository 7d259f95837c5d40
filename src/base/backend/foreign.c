/* Calls of code that may throw C++ exceptions, which Rust's standard library would answer with an abort. */
#include <setjmp.h>

struct frame {
  jmp_buf start;
  int is_done;
};

/* Runs while an exception unwinds the frame, and ends the unwinding there. The exception is not freed. */
static void stop(struct frame *frame) {
  if (!frame->is_done) longjmp(frame->start, 1);
}

/* Whether `body` returned: 0 if it threw. */
int purlin_foreign_call(void (*body)(void *), void *data) {
  __attribute__((cleanup(stop))) struct frame frame;
  frame.is_done = 0;
  if (_setjmp(frame.start) != 0) {
    frame.is_done = 1;
    return 0;
  }
  body(data);
  frame.is_done = 1;
  return 1;
}
