// MemoryStream: a request in memory and the socket for its answer, as a stream
// of the HTTP library.
#ifndef IBEMU_DAEMON_WEB_HTTP_MEMORY_STREAM_H_
#define IBEMU_DAEMON_WEB_HTTP_MEMORY_STREAM_H_

#include <httplib.h>

#include <cstddef>
#include <string>

#include "daemon/web/http/timed_stream.h"

namespace ibemu::daemon {

// A MemoryStream gives the bytes of a request that is complete, then the end of
// the stream, and writes to a socket.  A reader of the answer who takes less
// than kSlowest bytes in a second loses it, so that no thread waits for one.
class MemoryStream : public TimedStream {
 public:
  static constexpr double kSlowest = 64 << 10;
  static constexpr double kPatience = 2;  // seconds, for however little

  // `socket` must outlive this object; it is not owned, and does not block.
  MemoryStream(std::string request, int socket)
      : request_(std::move(request)), socket_(socket) {}

  bool is_readable() const override { return read_ < request_.size(); }
  // Returns false if the other end is gone, or takes nothing.
  bool is_writable() const override;
  ssize_t read(char* bytes, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;

  // Nobody asks who it is: everybody comes from this machine.
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  // The library only refuses numbers that select() can't take, which is of no
  // account here, and would keep a daemon with many files from answering.
  socket_t socket() const override { return 0; }

 private:
  const std::string request_;
  const int socket_;
  size_t read_ = 0;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_HTTP_MEMORY_STREAM_H_
