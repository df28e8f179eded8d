// Reads one line of text from left to right.
#ifndef IBEMU_TOPOLOGY_LINE_CURSOR_H_
#define IBEMU_TOPOLOGY_LINE_CURSOR_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace ibemu::topology {

// Each method skips white space first, and leaves the cursor where it was
// when it does not find what it looks for.
class LineCursor {
 public:
  explicit LineCursor(std::string_view line) : rest_(line) {}

  std::string_view rest() const { return rest_; }
  bool AtEnd();

  bool IsNext(char wanted);
  bool Eat(char wanted);

  // Letters and dashes: a keyword.
  std::string_view Word();

  // What is up to the next white space.
  std::string_view Token();

  // Decimal, or hexadecimal behind "0x".
  std::optional<uint64_t> Number();

  // "text" in quotes.
  std::optional<std::string_view> Quoted();

  // "[12]".  A number that does not fit is -1.
  std::optional<int> Bracketed();

  // "[ext 12]", the connector's number on a chassis (ibnetdiscover -g).
  void SkipExternalPort();

  // "(2c903000a5b1f)": hexadecimal without "0x".
  std::optional<uint64_t> GuidInParentheses();

 private:
  void SkipSpace();
  std::optional<uint64_t> Digits(int base);

  std::string_view rest_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_LINE_CURSOR_H_
