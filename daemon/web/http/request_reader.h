// The bytes of one HTTP request, as they come.
#ifndef IBEMU_DAEMON_WEB_HTTP_REQUEST_READER_H_
#define IBEMU_DAEMON_WEB_HTTP_REQUEST_READER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace ibemu::daemon {

// A RequestReader collects an HTTP/1 request (RFC 9112) up to its end, and
// refuses one that is too long before it takes memory.  It looks at lengths
// only: what the request asks for is the library's to parse.
class RequestReader {
 public:
  // The request line and the headers, with the empty line at their end.
  static constexpr size_t kMaxHead = size_t{16} << 10;
  static constexpr size_t kMaxBody = size_t{16} << 10;

  enum class State {
    kUnfinished,  // more bytes have to come
    kComplete,
    kRefused,  // see status()
  };

  // Takes the next bytes; what comes after the request's end is dropped.
  State Add(std::string_view bytes);

  State state() const { return state_; }

  // The request so far, never more than kMaxHead + kMaxBody bytes.
  const std::string& text() const { return text_; }
  // Gives the request away.
  std::string Take() { return std::move(text_); }

  // Why a request is refused: 400, 413 or 431 (RFC 9110 §15.5, RFC 6585 §5).
  int status() const { return status_; }

  // Returns the target of the request line ("/health?x=1"), empty while the
  // head is unfinished or if there is none.
  std::string_view Target() const;

 private:
  State Refuse(int status);
  State ReadHead();
  // Returns false if `value` is not a number.
  bool ReadLength(std::string_view value);

  State state_ = State::kUnfinished;
  std::string text_;
  size_t head_ = 0;  // bytes of the head; 0 while its end has not come
  size_t body_ = 0;  // bytes of the body, once the head is there
  int status_ = 0;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_HTTP_REQUEST_READER_H_
