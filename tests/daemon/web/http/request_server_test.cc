#include "daemon/web/http/request_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "daemon/web/http/http_listener.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

class RequestServerTest : public ::testing::Test {
 protected:
  // More than fits into a socket, and would be waited for for minutes.
  static constexpr size_t kSize = size_t{16} << 20;

  RequestServerTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    client_.Reset(ends[0]);
    request_.socket.Reset(ends[1]);
    request_.text = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(std::string(kSize, 'x'), "text/plain");
    });
    server_.Open(0);
  }

  UniqueFd client_;
  HttpRequest request_;
  RequestServer server_;
};

TEST_F(RequestServerTest, ItsEndDoesNotWaitForReadersThatNeverRead) {
  std::thread answer([this] { server_.Answer(std::move(request_)); });
  pollfd begun = {client_.get(), POLLIN, 0};
  EXPECT_EQ(poll(&begun, 1, -1), 1);
  server_.Close();
  answer.join();
  size_t got = 0;
  std::string buffer(1 << 16, '\0');
  for (ssize_t size;
       (size = recv(client_.get(), buffer.data(), buffer.size(), 0)) > 0;) {
    got += static_cast<size_t>(size);
  }
  EXPECT_GT(got, 0u);
  EXPECT_LT(got, kSize);
}

TEST_F(RequestServerTest, AfterItsEndNobodyIsAnswered) {
  server_.Close();
  server_.Answer(std::move(request_));
  char byte = 0;
  EXPECT_EQ(recv(client_.get(), &byte, 1, 0), 0);
}

}  // namespace
}  // namespace ibemu::daemon
