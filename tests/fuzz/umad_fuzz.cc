// Two clients do anything to umad files of one adapter: ioctl(), write(),
// read(), poll(), signals, close(), while answers arrive and time passes.  Each
// request is answered once at most, and with no more than was asked for.
#include <poll.h>
#include <rdma/ib_user_mad.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "cuse/umad/umad_file.h"
#include "testing/fake_device.h"
#include "testing/fuzz_input.h"
#include "testing/virtual_timers.h"
#include "tests/fuzz/changed_echo.h"
#include "tests/fuzz/counted_replies.h"

namespace ibemu::cuse {
namespace {

using Input = testing::FuzzInput;

class Client final : public CountedReplies {
 public:
  explicit Client(std::shared_ptr<mad::Host> host) : host_(std::move(host)) {
    Reopen();
  }

  void Reopen() {
    file_.reset();
    Require(open().empty());  // closing ends every wait
    file_ = std::make_unique<UmadFile>(host_, 1);
    file_->Open(false, OpenReply(*this, Next(0)));
  }
  void Ioctl(Input& input) {
    constexpr std::array<uint32_t, 5> kCommands = {
        IB_USER_MAD_REGISTER_AGENT, IB_USER_MAD_UNREGISTER_AGENT,
        IB_USER_MAD_ENABLE_PKEY, IB_USER_MAD_REGISTER_AGENT2, 0x1bff};
    const uint32_t command = kCommands[input.Byte() % kCommands.size()];
    // The kernel passes as much as the command's number says.
    const Bytes in = input.Take(_IOC_SIZE(command));
    if (in.size() < _IOC_SIZE(command)) return;
    const RequestId id = Next(in.size());
    file_->Ioctl({.command = command,
                  .argument = input.Byte(),
                  .in = in,
                  .out_room = in.size()},
                 IoctlReply(*this, id));
    Require(!open().contains(id));
  }
  void Write(Input& input) {
    const size_t size = input.Byte() * size_t{4};
    const Bytes data = input.Take(size);
    const RequestId id = Next(data.size());
    file_->Write(Written::Of(data, file_->HeadSize()), WriteReply(*this, id));
    Require(!open().contains(id));
  }
  void Read(Input& input) {
    const bool nonblock = (input.Byte() & 1) != 0;
    const size_t room = input.Byte() * size_t{8};
    const RequestId id = Next(room);
    file_->Read(nonblock, ReadReply(*this, id, room));
    Require(!nonblock || !open().contains(id));
  }
  void Poll() { Require((file_->Poll() & ~uint32_t{kAllEvents}) == 0); }
  void Interrupt() {
    if (!open().empty()) file_->Interrupt(open().begin()->first);
  }

 private:
  static constexpr int kAllEvents =
      POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLERR;

  std::shared_ptr<mad::Host> host_;
  std::unique_ptr<UmadFile> file_;  // its end answers what is open
};

class Scene {
 public:
  void Step(Input& input) {
    const uint8_t what = input.Byte();
    Client& client = clients_[what >> 7];
    switch (what & 0x0f) {
      case 0:
        client.Reopen();
        break;
      case 1:
      case 2:
      case 3:
        client.Ioctl(input);
        break;
      case 4:
      case 5:
      case 6:
        client.Write(input);
        break;
      case 7:
      case 8:
        client.Read(input);
        break;
      case 9:
        client.Poll();
        break;
      case 10:
        client.Interrupt();
        break;
      case 11:
        timers_.RunFor(absl::Milliseconds(50) * input.Byte());
        break;
      default:
        testing::ReceiveChangedEcho(port_, input);
        break;
    }
    timers_.RunPending();
  }

 private:
  testing::VirtualTimers timers_;
  testing::FakeDevice device_;
  testing::FakePort& port_ = device_.port(1);
  std::shared_ptr<mad::Host> host_ =
      std::make_shared<mad::Host>(timers_, device_);
  std::array<Client, 2> clients_ = {Client(host_), Client(host_)};
};

}  // namespace
}  // namespace ibemu::cuse

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::cuse::Scene scene;
  while (!input.empty()) scene.Step(input);
  return 0;
}
