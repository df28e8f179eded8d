// Columns for people.
#ifndef IBEMU_DAEMON_TABLE_H_
#define IBEMU_DAEMON_TABLE_H_

#include <string>
#include <vector>

namespace ibemu::daemon {

// Rows of text in columns that are as wide as their widest cell; numbers stand
// to the right.  No trailing blanks.
class Table {
 public:
  explicit Table(std::vector<std::string> titles);

  // Requires as many cells as there are titles.
  void Add(std::vector<std::string> cells);

  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // titles first
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_TABLE_H_
