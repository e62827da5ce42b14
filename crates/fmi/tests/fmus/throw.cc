/* Test FMUs of costep: an exception that nobody catches. MIT OR Apache-2.0. */
#include <stdexcept>
extern "C" void throw_exception(void) { throw std::runtime_error("the table has no such row"); }
