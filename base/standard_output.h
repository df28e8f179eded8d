// Functions that write to standard output and keep the first error.
#ifndef IBEMU_BASE_STANDARD_OUTPUT_H_
#define IBEMU_BASE_STANDARD_OUTPUT_H_

#include <string_view>

namespace ibemu {

// Appends `text` to what standard output gets.  After an error nothing more is
// written, and FinishOutput() tells of the first one.
void Print(std::string_view text);

// Print() for who waits for the text: it is written at once.  Returns false
// after an error, so that a program that runs for long can end.
bool PrintNow(std::string_view text);

// Writes what is pending.  Returns the exit status of `program`: `status` if
// all that it printed was written or `status` tells of an error already, else
// 1, with "PROGRAM: cannot write to standard output: REASON" on standard error.
// When the reader of a pipe has gone, the process ends by SIGPIPE, as it does
// when that signal was not ignored.  Called once, at the end of main().
int FinishOutput(std::string_view program, int status);

}  // namespace ibemu

#endif  // IBEMU_BASE_STANDARD_OUTPUT_H_
