// GoldenCase: an input and what is expected of it, in a text file.
#ifndef IBEMU_TESTING_GOLDEN_CASES_H_
#define IBEMU_TESTING_GOLDEN_CASES_H_

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace ibemu::testing {

// A case of a file such as
//
//     # Remarks, up to the first case.
//
//     === A sentence: what the case shows
//     the input, line by line
//     --- faults
//     what is expected, up to the next line of "---" or "==="
//
//     === Another sentence
//     ...
//
// A case may have several expectations, each with a word that says what of.
// Blank lines at the end of an expectation are no part of it.
struct GoldenCase {
  struct Expectation {
    std::string what;  // "faults"
    std::string text;  // ends with a line feed, unless it is empty
  };

  std::string file;  // relative to the folder: "net/cables.txt"
  int line = 0;      // of its title
  std::string title;
  std::string input;
  std::vector<Expectation> expected;

  // Returns the file and the title as the name of a test:
  // "net_cables_A_port_is_used_twice".
  std::string TestName() const;
};

// Returns the cases of the *.txt files in `folder`, which is relative to the
// root of the source tree, and in the folders in it, in the order of their
// names.  So that nothing is passed over in silence, a file without a case, and
// what stands above the first one and is no remark, are returned as a case
// without title and expectations.
std::vector<GoldenCase> ReadGoldenCases(std::string_view folder);

// Prints the place.
std::ostream& operator<<(std::ostream& out, const GoldenCase& golden);

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_GOLDEN_CASES_H_
