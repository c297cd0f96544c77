#include "cli/cli.h"

int main(int argc, char** argv) { return ekvi::cli::Main(argc, argv); }
