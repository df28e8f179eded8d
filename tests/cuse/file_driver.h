// A front end of nothing: calls a File and writes down what it answers.
#ifndef IBEMU_TESTS_CUSE_FILE_DRIVER_H_
#define IBEMU_TESTS_CUSE_FILE_DRIVER_H_

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cuse/file.h"

namespace ibemu::cuse {

class FileDriver final : public ReplySink, public File::Listener {
 public:
  struct Answer {
    Errno error = Errno::kOk;
    std::vector<std::byte> data;  // of reads and ioctls; of kNoSpace, too
  };

  explicit FileDriver(File& file) : file_(file) { file.SetListener(this); }

  Errno Open(bool nonblock = false) {
    return Finish(StartOpen(nonblock)).error;
  }
  RequestId StartOpen(bool nonblock = false) {
    const RequestId id = Next();
    file_.Open(nonblock, OpenReply(*this, id));
    return id;
  }
  RequestId StartRead(size_t room, bool nonblock = false) {
    const RequestId id = Next();
    file_.Read(nonblock, ReadReply(*this, id, room));
    return id;
  }
  Answer Read(size_t room) { return Finish(StartRead(room, true)); }
  Errno Write(Bytes data) {
    const RequestId id = Next();
    file_.Write(Written::Of(data, file_.HeadSize()), WriteReply(*this, id));
    return Finish(id).error;
  }
  Errno Write(Written data) {
    const RequestId id = Next();
    file_.Write(std::move(data), WriteReply(*this, id));
    return Finish(id).error;
  }
  RequestId StartWrite(Bytes data, pid_t caller) {
    const RequestId id = Next();
    file_.Write(Written::Of(data, file_.HeadSize(), caller),
                WriteReply(*this, id));
    return id;
  }
  Answer Ioctl(uint32_t command, Bytes in, bool writable = true,
               pid_t caller = 0, uid_t user = 0) {
    return Ioctl({.command = command,
                  .in = in,
                  .out_room = in.size(),
                  .writable = writable,
                  .caller = caller,
                  .user = user});
  }
  Answer Ioctl(const IoctlRequest& request) {
    const RequestId id = Next();
    file_.Ioctl(request, IoctlReply(*this, id));
    return Finish(id);
  }

  // Nothing while the request is parked.
  std::optional<Answer> AnswerTo(RequestId id) {
    auto node = answers_.extract(id);
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped());
  }

  int events = 0;  // how often poll() may have changed

 private:
  RequestId Next() { return RequestId{++last_}; }

  Answer Finish(RequestId id) {
    const std::optional<Answer> answer = AnswerTo(id);
    EXPECT_TRUE(answer.has_value()) << "the request was parked";
    return answer.value_or(Answer{});
  }

  void Put(RequestId id, Errno error, Bytes head = {}, Bytes body = {}) {
    Answer answer{.error = error, .data = {head.begin(), head.end()}};
    answer.data.insert(answer.data.end(), body.begin(), body.end());
    EXPECT_TRUE(answers_.emplace(id, std::move(answer)).second);
  }

  void OnEvents() override { ++events; }
  void SendError(RequestId id, Errno error) override { Put(id, error); }
  void SendOpened(RequestId id) override { Put(id, Errno::kOk); }
  void SendData(RequestId id, Bytes head,
                std::vector<std::byte> body) override {
    Put(id, Errno::kOk, head, body);
  }
  void SendNoSpace(RequestId id, size_t /*room*/, Bytes head,
                   Bytes body) override {
    Put(id, Errno::kNoSpace, head, body);
  }
  void SendWritten(RequestId id, size_t /*size*/) override {
    Put(id, Errno::kOk);
  }
  void SendIoctl(RequestId id, Errno result, Bytes out) override {
    Put(id, result, out);
  }

  File& file_;
  uintptr_t last_ = 0;
  std::map<RequestId, Answer> answers_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_FILE_DRIVER_H_
