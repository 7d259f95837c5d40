/* The context of all calls. */
#include "gateway.h"

static purlin_context *context;
/* The settings of purlin.configure; a context is made of them when one is needed. */
static purlin_context_options wanted;
static int configured;

purlin_context_options configured_options(void) {
  if (!configured) check(purlin_context_options_init(&wanted, sizeof wanted));
  configured = 1;
  return wanted;
}

void configure_context(const purlin_context_options *options) {
  purlin_context *made = NULL;
  /* The new context first: when the settings are refused, the old one stays in use. */
  check(purlin_context_create(options, &made));
  (void)!purlin_context_destroy(context);
  context = made;
  wanted = *options;
  configured = 1;
}

void destroy_context(void) {
  (void)!purlin_context_destroy(context);
  context = NULL;
}

void forget_configuration(void) { configured = 0; }

purlin_context *gateway_context(void) {
  purlin_context_options options;
  if (context) return context;
  /* Below version 1.0 the minor number marks an incompatible library. */
  if (purlin_version() / 100 != PURLIN_VERSION_MAJOR * 100 + PURLIN_VERSION_MINOR)
    fail("notSupported", "libpurlin is version %d, but purlin_mex was built for %d.%d", (int)purlin_version(),
         PURLIN_VERSION_MAJOR, PURLIN_VERSION_MINOR);
  options = configured_options();
  check(purlin_context_create(&options, &context));
  return context;
}

purlin_context *another_context(int32_t device) {
  purlin_context_options o;
  purlin_context_info info;
  purlin_context *made = NULL;
  check(purlin_context_info_init(&info, sizeof info));
  check(purlin_context_properties(gateway_context(), &info));
  /* The library's message would name the option of a context. */
  if (info.backend == PURLIN_BACKEND_CPU && device != 0)
    fail("invalidArgument", "devices: has %d, the CPU in use is device 0 alone", (int)device);
  o = configured_options();
  o.device = device;
  check(purlin_context_create(&o, &made));
  return made;
}
