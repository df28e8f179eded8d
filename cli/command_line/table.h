// Columns for people.
#ifndef IBEMU_CLI_COMMAND_LINE_TABLE_H_
#define IBEMU_CLI_COMMAND_LINE_TABLE_H_

#include <string>
#include <vector>

namespace ibemu::cli {

// Rows of text in columns that are as wide as their widest cell; numbers stand
// to the right.  No trailing blanks; what is no text in a cell becomes "?".
class Table {
 public:
  explicit Table(std::vector<std::string> titles);

  // Requires as many cells as there are titles.
  void Add(std::vector<std::string> cells);

  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // titles first
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMAND_LINE_TABLE_H_
