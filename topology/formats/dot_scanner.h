// The words of Graphviz's language: https://graphviz.org/doc/info/lang.html.
#ifndef IBEMU_TOPOLOGY_FORMATS_DOT_SCANNER_H_
#define IBEMU_TOPOLOGY_FORMATS_DOT_SCANNER_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace ibemu::topology {

struct DotToken {
  enum class Kind {
    kId,       // a name, number or quoted text
    kHtml,     // <...>: text that only a renderer understands
    kSign,     // one of {}[];,=: or an edge
    kEnd,      // of the text
    kBadByte,  // none of these; `text` is what is wrong
  };
  Kind kind = Kind::kEnd;
  std::string text;     // of a sign: it, "--" of both kinds of edges
  bool quoted = false;  // an ID in quotes is no keyword
  int line = 0;

  bool Is(std::string_view sign) const {
    return kind == Kind::kSign && text == sign;
  }
  // Letter case does not matter.
  bool IsKeyword(std::string_view word) const;
};

class DotScanner {
 public:
  explicit DotScanner(std::string_view text) : text_(text) {}

  DotToken Next();

 private:
  bool SkipSpace();  // false: a comment has no end
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
