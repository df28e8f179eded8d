#include "topology/formats/dot_scanner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu::topology {
namespace {

bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || c == '_' || byte >= 0x80;
}

}  // namespace

bool DotToken::IsKeyword(std::string_view word) const {
  return kind == Kind::kId && !quoted &&
         absl::EqualsIgnoreCase(Absl(text), Absl(word));
}

void DotScanner::Skip(size_t bytes) {
  const std::string_view passed = text_.substr(at_, bytes);
  line_ += static_cast<int>(std::ranges::count(passed, '\n'));
  at_ += passed.size();
}

bool DotScanner::SkipSpace() {
  while (at_ < text_.size()) {
    const bool line_begins = at_ == 0 || text_[at_ - 1] == '\n';
    if (absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) {
      Skip(1);
    } else if (Starts("//") || (line_begins && Starts("#"))) {
      Skip(std::min(text_.find('\n', at_), text_.size()) - at_);
    } else if (Starts("/*")) {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == text_.npos) return false;
      Skip(end + 2 - at_);
    } else if (Starts("\xef\xbb\xbf") && at_ == 0) {
      Skip(3);
    } else {
      return true;
    }
  }
  return true;
}

DotToken DotScanner::Next() {
  if (!SkipSpace()) return Bad("this comment has no end: it is */");
  if (at_ == text_.size()) {
    DotToken end;
    end.line = line_;
    return end;
  }
  for (const std::string_view edge : {"--", "->"}) {
    if (Starts(edge)) return Sign("--");
  }
  constexpr std::string_view kSigns = "{}[];,=:+";
  const char c = text_[at_];
  if (kSigns.find(c) != kSigns.npos) return Sign(text_.substr(at_, 1));
  if (c == '"') return Quoted();
  if (c == '<') return Html();
  if (IsWordByte(c) || c == '.' || c == '-') return Bare();
  return Bad(absl::StrFormat("\"%c\" begins nothing in DOT", c));
}

DotToken DotScanner::Sign(std::string_view sign) {
  DotToken token{DotToken::Kind::kSign, std::string(sign), false, line_};
  Skip(sign.size());
  return token;
}

// Only \" and an escaped end of line belong to the language.  The users of the
// text interpret all other escapes.
DotToken DotScanner::Quoted() {
  DotToken token{DotToken::Kind::kId, "", true, line_};
  Skip(1);
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      Skip(1);
      return token;
    }
    if (Starts("\\\"")) {
      token.text += '"';
      Skip(2);
    } else if (Starts("\\\n")) {
      Skip(2);
    } else if (Starts("\\\\")) {
      token.text += "\\\\";
      Skip(2);
    } else {
      token.text += c;
      Skip(1);
    }
  }
  line_ = token.line;
  return Bad("this text in quotes has no end");
}

DotToken DotScanner::Html() {
  DotToken token{DotToken::Kind::kHtml, "", true, line_};
  int depth = 0;
  do {
    if (Starts("<")) ++depth;
    if (Starts(">")) --depth;
    Skip(1);
  } while (depth > 0 && at_ < text_.size());
  if (depth == 0) return token;
  line_ = token.line;
  return Bad("this <text> has no end");
}

DotToken DotScanner::Bare() {
  DotToken token{DotToken::Kind::kId, "", false, line_};
  const bool is_number =
      !IsWordByte(text_[at_]) ||
      absl::ascii_isdigit(static_cast<unsigned char>(text_[at_]));
  const size_t begin = at_;
  do {
    Skip(1);
  } while (at_ < text_.size() &&
           (IsWordByte(text_[at_]) || (is_number && text_[at_] == '.')));
  token.text = text_.substr(begin, at_ - begin);
  return token;
}

DotToken DotScanner::Bad(std::string what) {
  DotToken token{DotToken::Kind::kBadByte, std::move(what), false, line_};
  at_ = text_.size();
  return token;
}

}  // namespace ibemu::topology
