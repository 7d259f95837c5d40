/* The smallest program that shows that header and library match. */
#include <purlin.h>
#include <stdio.h>

int main(void) {
  int32_t header = PURLIN_VERSION_MAJOR * 10000 + PURLIN_VERSION_MINOR * 100 + PURLIN_VERSION_PATCH;
  purlin_context *context = NULL;
  purlin_context_options options;
  if (purlin_version() != header) {
    fprintf(stderr, "library is %d, header is %d\n", (int)purlin_version(), (int)header);
    return 1;
  }
  if (purlin_context_options_init(&options, sizeof options) != PURLIN_SUCCESS) return 2;
  options.backend = PURLIN_BACKEND_CPU;
  if (purlin_context_create(&options, &context) != PURLIN_SUCCESS) {
    fprintf(stderr, "%s\n", purlin_last_error_message());
    return 3;
  }
  if (purlin_live_handles() != 1) return 4;
  if (purlin_context_destroy(context) != PURLIN_SUCCESS) return 5;
  if (purlin_live_handles() != 0) return 6;
  printf("%s\n", purlin_build_info());
  return 0;
}
