#include "base/one_line.h"

#include "absl/strings/ascii.h"

namespace ibemu {

std::string OneLine(std::string text) {
  absl::StripTrailingAsciiWhitespace(&text);
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  return text;
}

}  // namespace ibemu
