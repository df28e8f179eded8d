// LineCursor: a reader of one line of text, from left to right.
#ifndef IBEMU_TOPOLOGY_LINE_CURSOR_H_
#define IBEMU_TOPOLOGY_LINE_CURSOR_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace ibemu::topology {

// A cursor in a line.  Each method skips white space first, and does not move
// the cursor if it does not find what it looks for.
class LineCursor {
 public:
  explicit LineCursor(std::string_view line) : rest_(line) {}

  std::string_view rest() const { return rest_; }
  bool AtEnd();

  bool IsNext(char wanted);
  bool Eat(char wanted);

  // Takes a keyword: letters and dashes.
  std::string_view Word();

  // Takes everything up to the next white space.
  std::string_view Token();

  // Takes a number: decimal, or hexadecimal with "0x".
  std::optional<uint64_t> Number();

  // Takes a "text" in quotes.
  std::optional<std::string_view> Quoted();

  // Takes a number in brackets, such as "[12]".  A number that is too large is
  // -1.
  std::optional<int> Bracketed();

  // Skips "[ext 12]", the number of the connector on a chassis (ibnetdiscover
  // -g).
  void SkipExternalPort();

  // Takes a GUID such as "(2c903000a5b1f)": hexadecimal without "0x".
  std::optional<uint64_t> GuidInParentheses();

 private:
  void SkipSpace();
  std::optional<uint64_t> Digits(int base);

  std::string_view rest_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_LINE_CURSOR_H_
