// DotScanner: the scanner of a text in Graphviz's language, for its tokens
// (https://graphviz.org/doc/info/lang.html).
#ifndef IBEMU_TOPOLOGY_FORMATS_DOT_SCANNER_H_
#define IBEMU_TOPOLOGY_FORMATS_DOT_SCANNER_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace ibemu::topology {

// One token of the language.
struct DotToken {
  enum class Kind {
    kId,       // a name, number or quoted text
    kHtml,     // <...>: text for renderers only
    kSign,     // one of {}[];,=: or an edge
    kEnd,      // the end of the text
    kBadByte,  // none of these; `text` is the fault
  };
  Kind kind = Kind::kEnd;
  std::string text;     // of a sign: the sign; "--" for both kinds of edge
  bool quoted = false;  // a quoted ID is not a keyword
  int line = 0;

  bool Is(std::string_view sign) const {
    return kind == Kind::kSign && text == sign;
  }
  // Ignores letter case.
  bool IsKeyword(std::string_view word) const;
};

// The scanner of one text.
class DotScanner {
 public:
  // REQUIRES: `text` outlives this object.
  explicit DotScanner(std::string_view text) : text_(text) {}

  DotToken Next();

 private:
  bool SkipSpace();  // false if a comment does not end
  DotToken Sign(std::string_view sign);
  DotToken Quoted();
  DotToken Html();
  DotToken Bare();
  DotToken Bad(std::string what);
  bool Starts(std::string_view with) const {
    return text_.substr(at_).starts_with(with);
  }
  void Skip(size_t bytes);

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_DOT_SCANNER_H_
