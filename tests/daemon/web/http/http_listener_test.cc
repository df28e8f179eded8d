#include "daemon/web/http/http_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

using ::testing::HasSubstr;

constexpr char kGetHealth[] = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

class HttpListenerTest : public ::testing::Test {
 protected:
  void Bind(absl::Duration patience) {
    listener_ = HttpListener::Bind("127.0.0.1", 0, patience).value();
  }

  // Answers each request with its target.  Who has connected before is taken
  // then, with what he has sent.
  void Serve() {
    listener_->Start([](const HttpRequest& request) {
      send(request.socket.get(), request.target.data(), request.target.size(),
           MSG_NOSIGNAL);
    });
  }

  void Start(absl::Duration patience) {
    Bind(patience);
    Serve();
  }

  UniqueFd Connect() const {
    UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(listener_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address),
                      sizeof address),
              0);
    return client;
  }

  std::unique_ptr<HttpListener> listener_;
};

void SendText(const UniqueFd& client, std::string_view text) {
  EXPECT_EQ(send(client.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// What comes until the other end closes.
std::string ReadToEnd(const UniqueFd& client) {
  std::string answer;
  std::array<char, 4096> buffer;
  for (ssize_t size;
       (size = recv(client.get(), buffer.data(), buffer.size(), 0)) > 0;) {
    answer.append(buffer.data(), static_cast<size_t>(size));
  }
  return answer;
}

TEST_F(HttpListenerTest, HandsOnARequestThatIsComplete) {
  Start(absl::InfiniteDuration());
  const UniqueFd client = Connect();
  SendText(client, kGetHealth);
  EXPECT_EQ(ReadToEnd(client), "/health");
}

TEST_F(HttpListenerTest, SlowSendersKeepNobodyWaiting) {
  Start(absl::InfiniteDuration());
  std::vector<UniqueFd> slow;
  for (size_t i = 0; i < HttpListener::kMaxConnections - 1; ++i) {
    slow.push_back(Connect());
    SendText(slow.back(), "GET /");
  }
  const UniqueFd client = Connect();
  SendText(client, kGetHealth);
  EXPECT_EQ(ReadToEnd(client), "/health");
  SendText(slow.front(), " HTTP/1.1\r\n\r\n");
  EXPECT_EQ(ReadToEnd(slow.front()), "/");
}

TEST_F(HttpListenerTest, WhenThereAreTooManyTheOldestGoes) {
  Start(absl::InfiniteDuration());
  const UniqueFd oldest = Connect();
  std::vector<UniqueFd> more;
  for (size_t i = 0; i < HttpListener::kMaxConnections; ++i) {
    more.push_back(Connect());
  }
  EXPECT_EQ(ReadToEnd(oldest), "");
  SendText(more.back(), kGetHealth);
  EXPECT_EQ(ReadToEnd(more.back()), "/health");
}

TEST_F(HttpListenerTest, ARequestThatTakesTooLongIsRefused) {
  Bind(absl::Milliseconds(50));
  const UniqueFd client = Connect();
  const UniqueFd silent = Connect();
  SendText(client, "GET /health");
  Serve();
  EXPECT_THAT(ReadToEnd(client), HasSubstr("HTTP/1.1 408 "));
  EXPECT_EQ(ReadToEnd(silent), "");
}

TEST_F(HttpListenerTest, AnEndlessHeadIsRefused) {
  Start(absl::InfiniteDuration());
  const UniqueFd client = Connect();
  SendText(client, std::string(100'000, 'x'));
  const std::string answer = ReadToEnd(client);
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 431 "));
  EXPECT_THAT(answer, HasSubstr("the head of a request may have 16384 bytes"));
}

TEST_F(HttpListenerTest, ItEndsWithRequestsUnderWay) {
  Start(absl::InfiniteDuration());
  const UniqueFd client = Connect();
  SendText(client, "GET /");
  listener_.reset();
  EXPECT_EQ(ReadToEnd(client), "");
}

TEST_F(HttpListenerTest, ANameIsNoAddress) {
  EXPECT_EQ(HttpListener::Bind("localhost", 0).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ibemu::daemon
