#include "topology/line_cursor.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "absl/strings/ascii.h"

namespace ibemu::topology {

void LineCursor::SkipSpace() {
  size_t n = 0;
  while (n < rest_.size() && (rest_[n] == ' ' || rest_[n] == '\t')) ++n;
  rest_.remove_prefix(n);
}

bool LineCursor::AtEnd() {
  SkipSpace();
  return rest_.empty();
}

bool LineCursor::IsNext(char wanted) {
  SkipSpace();
  return !rest_.empty() && rest_.front() == wanted;
}

bool LineCursor::Eat(char wanted) {
  if (!IsNext(wanted)) return false;
  rest_.remove_prefix(1);
  return true;
}

std::string_view LineCursor::Word() {
  SkipSpace();
  size_t n = 0;
  while (n < rest_.size() &&
         (absl::ascii_isalpha(static_cast<unsigned char>(rest_[n])) ||
          rest_[n] == '-')) {
    ++n;
  }
  const std::string_view word = rest_.substr(0, n);
  rest_.remove_prefix(n);
  return word;
}

std::string_view LineCursor::Token() {
  SkipSpace();
  const std::string_view token = rest_.substr(0, rest_.find_first_of(" \t"));
  rest_.remove_prefix(token.size());
  return token;
}

std::optional<uint64_t> LineCursor::Digits(int base) {
  uint64_t value = 0;
  const char* end = rest_.data() + rest_.size();
  const auto [stop, error] = std::from_chars(rest_.data(), end, value, base);
  if (error != std::errc()) return std::nullopt;
  rest_ = std::string_view(stop, static_cast<size_t>(end - stop));
  return value;
}

std::optional<uint64_t> LineCursor::Number() {
  SkipSpace();
  if (!rest_.starts_with("0x") && !rest_.starts_with("0X")) return Digits(10);
  const std::string_view start = rest_;
  rest_.remove_prefix(2);
  const std::optional<uint64_t> value = Digits(16);
  if (!value) rest_ = start;
  return value;
}

std::optional<std::string_view> LineCursor::Quoted() {
  SkipSpace();
  if (rest_.empty() || rest_.front() != '"') return std::nullopt;
  const size_t end = rest_.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  return text;
}

std::optional<int> LineCursor::Bracketed() {
  const std::string_view start = rest_;
  if (Eat('[')) {
    SkipSpace();
    const bool is_digit = !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9';
    const std::optional<uint64_t> value = Digits(10);
    if (!value && is_digit) {  // too large for 64 bits
      rest_.remove_prefix(
          std::min(rest_.size(), rest_.find_first_not_of("0123456789")));
    }
    if (is_digit && Eat(']')) {
      return value && *value <= std::numeric_limits<int>::max()
                 ? static_cast<int>(*value)
                 : -1;
    }
  }
  rest_ = start;
  return std::nullopt;
}

void LineCursor::SkipExternalPort() {
  if (!rest_.starts_with("[ext ")) return;
  const size_t end = rest_.find(']');
  if (end != rest_.npos) rest_.remove_prefix(end + 1);
}

std::optional<uint64_t> LineCursor::GuidInParentheses() {
  const std::string_view start = rest_;
  if (Eat('(')) {
    const std::optional<uint64_t> value = Digits(16);
    if (value && Eat(')')) return value;
  }
  rest_ = start;
  return std::nullopt;
}

}  // namespace ibemu::topology
