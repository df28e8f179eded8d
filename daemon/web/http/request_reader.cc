#include "daemon/web/http/request_reader.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/absl_text.h"

namespace ibemu::daemon {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr int kBadRequest = 400, kContentTooLarge = 413, kHeadersTooLarge = 431;

}  // namespace

RequestReader::State RequestReader::Add(std::string_view bytes) {
  if (state_ != State::kUnfinished) return state_;
  if (head_ == 0) {
    const size_t before = text_.size();
    const std::string_view taken =
        bytes.substr(0, kMaxHead - std::min(before, kMaxHead));
    text_ += taken;
    const size_t from = before - std::min(before, kHeadEnd.size() - 1);
    const size_t end = text_.find(kHeadEnd, from);
    if (end == std::string::npos) {
      return text_.size() < kMaxHead ? state_ : Refuse(kHeadersTooLarge);
    }
    head_ = end + kHeadEnd.size();
    text_.resize(head_);
    bytes.remove_prefix(head_ - before);
    if (ReadHead() == State::kRefused) return state_;
  }
  text_ += bytes.substr(0, head_ + body_ - text_.size());
  if (text_.size() == head_ + body_) state_ = State::kComplete;
  return state_;
}

RequestReader::State RequestReader::Refuse(int status) {
  status_ = status;
  text_ = {};
  return state_ = State::kRefused;
}

RequestReader::State RequestReader::ReadHead() {
  std::string_view lines(text_);
  bool has_length = false;
  lines.remove_prefix(lines.find(kLineEnd) + kLineEnd.size());
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find(kLineEnd));
    lines.remove_prefix(line.size() + kLineEnd.size());
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos ||
        !absl::EqualsIgnoreCase(Absl(line.substr(0, colon)),
                                "Content-Length")) {
      continue;
    }
    // A request with two lengths is ambiguous (RFC 9112 §6.3).
    if (has_length || !ReadLength(line.substr(colon + 1))) {
      return Refuse(kBadRequest);
    }
    has_length = true;
  }
  return body_ > kMaxBody ? Refuse(kContentTooLarge) : state_;
}

bool RequestReader::ReadLength(std::string_view value) {
  const absl::string_view digits = absl::StripAsciiWhitespace(Absl(value));
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, body_);
  if (read.ptr != end || digits.empty()) return false;
  if (read.ec == std::errc::result_out_of_range) body_ = kMaxBody + 1;
  return true;
}

std::string_view RequestReader::Target() const {
  if (head_ == 0) return "";
  const std::string_view line =
      std::string_view(text_).substr(0, text_.find(kLineEnd));
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return "";
  return line.substr(first + 1, last - first - 1);
}

}  // namespace ibemu::daemon
