#include "daemon/web/http/request_reader.h"

#include <string>

#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

using ReaderState = RequestReader::State;

constexpr char kGetWithQuery[] =
    "GET /health?x HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string PostOf(const std::string& length, const std::string& body) {
  return "POST /api/call HTTP/1.1\r\ncontent-LENGTH:" + length + "\r\n\r\n" +
         body;
}

// What a request that comes in one part is refused with; 0 if it is not.
int RefusalOf(const std::string& text) {
  RequestReader reader;
  return reader.Add(text) == ReaderState::kRefused ? reader.status() : 0;
}

TEST(RequestReaderTest, ARequestIsCompleteAtTheEndOfItsHead) {
  RequestReader reader;
  EXPECT_EQ(reader.Add(kGetWithQuery), ReaderState::kComplete);
  EXPECT_EQ(reader.Target(), "/health?x");
  EXPECT_EQ(reader.text(), kGetWithQuery);
}

TEST(RequestReaderTest, OrOfItsBody) {
  RequestReader reader;
  EXPECT_EQ(reader.Add(PostOf(" 5 ", "1234")), ReaderState::kUnfinished);
  EXPECT_EQ(reader.Add("5"), ReaderState::kComplete);
  EXPECT_EQ(reader.text(), PostOf(" 5 ", "12345"));
}

TEST(RequestReaderTest, ItDoesNotMatterInWhichPartsItComes) {
  const std::string text = PostOf("5", "12345");
  RequestReader reader;
  for (size_t i = 0; i < text.size(); ++i) {
    ASSERT_EQ(reader.state(), ReaderState::kUnfinished) << i;
    reader.Add(std::string_view(text).substr(i, 1));
  }
  EXPECT_EQ(reader.state(), ReaderState::kComplete);
  EXPECT_EQ(reader.text(), text);
}

TEST(RequestReaderTest, WhatFollowsIsDropped) {
  RequestReader reader;
  EXPECT_EQ(reader.Add(PostOf("2", "12") + kGetWithQuery),
            ReaderState::kComplete);
  EXPECT_EQ(reader.Add(kGetWithQuery), ReaderState::kComplete);
  EXPECT_EQ(reader.Take(), PostOf("2", "12"));
}

TEST(RequestReaderTest, AHeadMayHave16KiB) {
  const std::string start = "GET / HTTP/1.1\r\nX: ";
  const auto head = [&](size_t size) {
    return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(RefusalOf(head(RequestReader::kMaxHead)), 0);
  EXPECT_EQ(RefusalOf(head(RequestReader::kMaxHead + 1)), 431);
}

TEST(RequestReaderTest, AnEndlessHeadTakesNoMemory) {
  RequestReader reader;
  for (int i = 0; i < 1000; ++i) reader.Add(std::string(1000, 'x'));
  EXPECT_EQ(reader.state(), ReaderState::kRefused);
  EXPECT_EQ(reader.status(), 431);
  EXPECT_EQ(reader.text(), "");
}

TEST(RequestReaderTest, ABodyMayHave16KiB) {
  EXPECT_EQ(RefusalOf(PostOf("16384", "")), 0);
  EXPECT_EQ(RefusalOf(PostOf("16385", "")), 413);
  EXPECT_EQ(RefusalOf(PostOf("99999999999999999999999", "")), 413);
}

TEST(RequestReaderTest, ALengthIsOneWholeNumber) {
  for (const char* length : {"", "-1", "+1", "0x10", "1 2", "1,1", "1e3",
                             "1\r\nContent-Length: 1"}) {
    EXPECT_EQ(RefusalOf(PostOf(length, "1")), 400) << length;
  }
}

TEST(RequestReaderTest, WhatHasNoTargetHasNone) {
  for (const char* line : {"", "GET", "GET /", " "}) {
    RequestReader reader;
    reader.Add(std::string(line) + "\r\n\r\n");
    EXPECT_EQ(reader.Target(), "") << line;
  }
}

}  // namespace
}  // namespace ibemu::daemon
