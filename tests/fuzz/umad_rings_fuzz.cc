// A client shares rings with the daemon and writes into them what it likes,
// between calls of the file, turns of the loop and answers that arrive.  Each
// request of the file is answered once at most and with no more than was asked
// for, and nothing outside of the client's memory is reached.
#include <rdma/ib_user_mad.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "cuse/umad/umad_file.h"
#include "fast_path/rings/attach_rings.h"
#include "fast_path/rings/umad_ring_memory.h"
#include "testing/fake_device.h"
#include "testing/fuzz_input.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/rings/client_memory_file.h"
#include "tests/fuzz/changed_echo.h"
#include "tests/fuzz/counted_replies.h"

namespace ibemu::cuse {
namespace {

using fast_path::UmadRingMemory;
using Input = testing::FuzzInput;

class Scene final : private CountedReplies {
 public:
  Scene() {
    file_->Open(false, OpenReply(*this, Next(0)));
    const fast_path::AttachRings attach = {fast_path::kRingsVersion,
                                           client_memory_.fd()};
    Ioctl(fast_path::kAttachRings, std::as_bytes(std::span(&attach, 1)));
    Require(set_.Usages().size() == 1);
    for (const uint8_t rmpp_version : {0, 1}) {
      ib_user_mad_reg_req request{};
      request.qpn = 1;
      request.rmpp_version = rmpp_version;
      Ioctl(IB_USER_MAD_REGISTER_AGENT, std::as_bytes(std::span(&request, 1)));
    }
  }
  ~Scene() { file_.reset(); }

  void Step(Input& input) {
    switch (input.Byte() % 12) {
      case 0: {  // anything, anywhere
        const size_t offset = size_t{input.Short()} * 26 % memory().size();
        const Bytes bytes = input.Take(input.Byte());
        const auto to = memory().subspan(offset);
        std::copy_n(bytes.begin(), std::min(bytes.size(), to.size()),
                    to.begin());
        break;
      }
      case 1:
        rings().sent.tail += input.Short();
        break;
      case 2:
        rings().received.head += input.Byte();
        break;
      case 3:
        rings().received.At(input.Byte()).length = input.Short();
        break;
      case 4:
      case 5:
        Send(input);
        break;
      case 6:
        set_.Look();
        break;
      case 7:
        set_.BeforeSleep();
        if (input.Byte() % 2 == 0) set_.AfterSleep();
        break;
      case 8: {
        const size_t room = input.Byte() * size_t{8};
        file_->Read(true, ReadReply(*this, Next(room), room));
        break;
      }
      case 9:
        Ioctl(fast_path::kLookAtRings, {});
        file_->Poll();
        break;
      case 10:
        timers_.RunFor(absl::Milliseconds(50) * input.Byte());
        break;
      default:
        testing::ReceiveChangedEcho(port_, input);
        break;
    }
    timers_.RunPending();
  }

 private:
  // As the library would, but for what it checks.
  void Send(Input& input) {
    auto& ring = rings().sent;
    const uint64_t tail = ring.tail.load();
    fast_path::UmadSlot& slot = ring.At(tail);
    std::memset(slot.data, 0, sizeof slot.data);
    slot.data[0] = std::byte(input.Byte() % 3);  // the agent
    const Bytes mad = input.Take(input.Byte());
    std::copy_n(mad.begin(), std::min(mad.size(), fast_path::kMadSize),
                slot.data + sizeof(ib_user_mad_hdr_old));
    ring.Publish(tail + 1);
  }

  void Ioctl(uint32_t command, Bytes in) {
    file_->Ioctl({.command = command,
                  .in = in,
                  .out_room = in.size(),
                  .caller = gettid()},
                 IoctlReply(*this, Next(in.size())));
  }

  UmadRingMemory& rings() {
    return *static_cast<UmadRingMemory*>(client_memory_.address());
  }
  std::span<std::byte> memory() {
    return {static_cast<std::byte*>(client_memory_.address()),
            sizeof(UmadRingMemory)};
  }

  ClientMemoryFile client_memory_{sizeof(UmadRingMemory)};
  testing::VirtualTimers timers_;
  testing::FakeDevice device_;
  testing::FakePort& port_ = device_.port(1);
  std::shared_ptr<mad::Host> host_ =
      std::make_shared<mad::Host>(timers_, device_);
  RingSet set_;
  std::unique_ptr<UmadFile> file_ = std::make_unique<UmadFile>(host_, 1, &set_);
};

}  // namespace
}  // namespace ibemu::cuse

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::cuse::Scene scene;
  while (!input.empty()) scene.Step(input);
  return 0;
}
