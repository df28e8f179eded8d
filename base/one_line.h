// OneLine: text from strangers, in a form that is safe to print.
#ifndef IBEMU_BASE_ONE_LINE_H_
#define IBEMU_BASE_ONE_LINE_H_

#include <string>

namespace ibemu {

// Returns a text that stays in its line: names of nodes and files may hold
// anything.  Control characters become "?", and blanks at its end go.
std::string OneLine(std::string text);

}  // namespace ibemu

#endif  // IBEMU_BASE_ONE_LINE_H_
