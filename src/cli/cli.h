// The program: one command line from its words to its exit code.
#pragma once

namespace ekvi::cli {

// Never throws: every error has become a message on stderr and an exit code (cli/exit_code.h).
int Main(int argc, const char* const* argv);

}  // namespace ekvi::cli
