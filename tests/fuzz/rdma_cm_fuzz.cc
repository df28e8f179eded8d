// Two programs of one host write anything to rdma_cm: commands with any fields,
// signals, close(), while answers of the SA arrive and time passes.  Each
// write() is answered once at most, and poll() tells of events alone.
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "cuse/rdma_cm/rdma_cm_file.h"
#include "testing/fuzz_input.h"
#include "testing/post_box.h"
#include "testing/rdma_cm_lab.h"
#include "tests/fuzz/counted_replies.h"

namespace ibemu::cuse {
namespace {

using Input = testing::FuzzInput;

class Client final : public CountedReplies {
 public:
  Client(std::shared_ptr<rdma_cm::RdmaCmView> view, WorkerPool& workers)
      : view_(std::move(view)), workers_(workers) {
    Reopen();
  }

  void Reopen() {
    file_.reset();
    Require(open().empty());  // closing ends every wait
    file_ = std::make_unique<RdmaCmFile>(view_, workers_);
    file_->Open(false, OpenReply(*this, Next(0)));
  }
  // Answers, and options, are where there is room for all.
  void Write(Input& input) {
    rdma_ucm_cmd_hdr header{};
    header.cmd = input.Byte() % kCommands;
    header.out = static_cast<uint16_t>(input.Byte() * 2);
    const Bytes body = input.Take(input.Byte() * size_t{2});
    header.in = static_cast<uint16_t>(body.size());
    std::vector<std::byte> data(sizeof header + body.size());
    std::memcpy(data.data(), &header, sizeof header);
    std::ranges::copy(body, data.begin() + sizeof header);
    SetPlace(header.cmd, data);
    const RequestId id = Next(data.size());
    Written written = Written::Of(data, 0, getpid());
    written.nonblock = (input.Byte() & 1) != 0;
    file_->Write(std::move(written), WriteReply(*this, id));
  }
  void Poll() {
    const uint32_t now = file_->Poll();
    Require(now == 0 || now == (POLLIN | POLLRDNORM));
  }
  void Interrupt() {
    if (!open().empty()) file_->Interrupt(open().begin()->first);
  }

 private:
  static constexpr uint8_t kCommands = RDMA_USER_CM_CMD_JOIN_MCAST + 2;

  // The client is this process: no other memory is to be written over.
  void SetPlace(uint32_t command, std::vector<std::byte>& data) {
    const size_t offset =
        command == RDMA_USER_CM_CMD_CREATE_ID ? sizeof(uint64_t) : 0;
    const size_t place = sizeof(rdma_ucm_cmd_hdr) + offset;
    if (!HasPlace(command) || data.size() < place + sizeof(uint64_t)) return;
    const uint64_t address = reinterpret_cast<uintptr_t>(room_.data());
    std::memcpy(data.data() + place, &address, sizeof address);
  }
  static bool HasPlace(uint32_t command) {
    constexpr std::array<uint32_t, 11> kAnswered = {
        RDMA_USER_CM_CMD_CREATE_ID,     RDMA_USER_CM_CMD_DESTROY_ID,
        RDMA_USER_CM_CMD_QUERY_ROUTE,   RDMA_USER_CM_CMD_INIT_QP_ATTR,
        RDMA_USER_CM_CMD_GET_EVENT,     RDMA_USER_CM_CMD_SET_OPTION,
        RDMA_USER_CM_CMD_JOIN_IP_MCAST, RDMA_USER_CM_CMD_LEAVE_MCAST,
        RDMA_USER_CM_CMD_MIGRATE_ID,    RDMA_USER_CM_CMD_QUERY,
        RDMA_USER_CM_CMD_JOIN_MCAST};
    return std::ranges::find(kAnswered, command) != kAnswered.end();
  }

  std::shared_ptr<rdma_cm::RdmaCmView> view_;
  WorkerPool& workers_;
  std::array<std::byte, 1024> room_{};
  std::unique_ptr<RdmaCmFile> file_;
};

// Jobs of a client's memory run at once.
class JobsAtOnce final : public BriefJobs {
 public:
  explicit JobsAtOnce(Timers& timers) : timers_(timers) {}
  void RunBriefly(BriefJob job) override {
    timers_.RunSoon([job = std::move(job)]() mutable {
      job.run();
      job.done(absl::ZeroDuration());
    });
  }

 private:
  Timers& timers_;
};

class Scene {
 public:
  Scene() { adapters_->Add(lab_.host(1)); }

  void Step(Input& input) {
    const uint8_t what = input.Byte();
    Client& client = clients_[what >> 7];
    switch (what & 0x0f) {
      case 0:
        client.Reopen();
        break;
      case 1:
        client.Interrupt();
        break;
      case 2:
        lab_.timers().RunFor(absl::Milliseconds(100) * input.Byte());
        break;
      case 3:
        adapters_->Remove(lab_.host(1));
        adapters_->Add(lab_.host(1));
        break;
      default:
        client.Write(input);
        break;
    }
    lab_.timers().RunPending();
    client.Poll();
  }

 private:
  testing::RdmaCmLab lab_;
  testing::PostBox posts_;
  JobsAtOnce jobs_{lab_.timers()};
  WorkerPool workers_{lab_.timers(), posts_.Poster(), WorkerPool::Limits(),
                      &jobs_};
  std::shared_ptr<testing::LabAdapters> adapters_ =
      std::make_shared<testing::LabAdapters>();
  std::shared_ptr<rdma_cm::RdmaCmView> view_ =
      std::make_shared<rdma_cm::RdmaCmView>(lab_.timers(), adapters_,
                                            Random(1));
  std::array<Client, 2> clients_ = {Client(view_, workers_),
                                    Client(view_, workers_)};
};

}  // namespace
}  // namespace ibemu::cuse

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::cuse::Scene scene;
  while (!input.empty()) scene.Step(input);
  return 0;
}
