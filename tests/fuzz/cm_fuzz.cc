// Arbitrary messages arrive at a communication manager whose users connect,
// answer and destroy; now and then what it sent comes back changed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "cm/cm_mad.h"
#include "cm/connection_manager.h"
#include "mad/host.h"
#include "testing/fake_device.h"
#include "testing/fuzz_input.h"
#include "testing/virtual_timers.h"

namespace ibemu::cm {
namespace {

using Input = testing::FuzzInput;

constexpr uint64_t kService = 0x1060001;
constexpr size_t kMaxIds = 64;

class Scene : public CmIdOwner, public CmListener {
 public:
  Scene() {
    Listen(kService);
    Listen(0);
  }

  void OnCmEvent(CmId& id, const CmEvent& event) override {
    ++events_;
    switch (events_ % 4) {
      case 0:
        Forget(id);
        break;
      case 1:
        if (event.kind == CmEvent::Kind::kRep) id.SendRtu({}).IgnoreError();
        break;
      case 2:
        if (event.kind == CmEvent::Kind::kDreq) id.SendDrep({}).IgnoreError();
        break;
      default:
        break;
    }
  }

  void OnRequest(std::unique_ptr<CmId> id, const Arrived& arrived) override {
    if (ids_.size() == kMaxIds) return;
    if (arrived.private_data.size() != (arrived.sidr ? 216 : 92)) std::abort();
    id->SetOwner(*this);
    ids_.push_back(std::move(id));
  }

  void Step(Input& input) {
    const uint8_t what = input.Byte();
    switch (what % 6) {
      case 0:
        timers_.RunFor(absl::Milliseconds(300) * input.Byte());
        break;
      case 1:
        Receive(input, input.Mad());
        break;
      case 2:
        Reflect(input);
        break;
      case 3:
        if (ids_.size() < kMaxIds) ids_.push_back(manager_.Create(*this));
        break;
      case 4:
        if (!ids_.empty()) Forget(*ids_[input.Byte() % ids_.size()]);
        break;
      default:
        if (!ids_.empty()) Call(input, *ids_[input.Byte() % ids_.size()]);
        break;
    }
    timers_.RunPending();
  }

 private:
  void Listen(uint64_t service_id) {
    auto listening = manager_.Listen(service_id, *this);
    if (!listening.ok()) std::abort();
    listening_.push_back(*std::move(listening));
  }

  void Forget(const CmId& id) {
    std::erase_if(ids_, [&](const auto& own) { return own.get() == &id; });
  }

  // A message with a good header, else none would come far.
  void Receive(Input& input, mad::MadBytes mad) {
    mad[0] = std::byte{1};
    mad[1] = std::byte{7};
    mad[2] = std::byte{kClassVersion};
    mad[3] = std::byte{3};
    mad[16] = std::byte{0};
    mad[17] = std::byte(0x10 + std::to_integer<int>(mad[17]) % 12);
    mad::Arrival arrival{
        .qp = 1, .slid = wire::Lid{2}, .source_qpn = 1, .mad = mad};
    if (input.Byte() % 8 == 0) arrival.grh = mad::GlobalRoute{};
    device_.port(1).Receive(arrival);
  }

  // What was sent last comes back as another message, its ids crossed.
  void Reflect(Input& input) {
    if (device_.port(1).sent.empty()) return;
    mad::MadBytes mad = device_.port(1).sent.back().mad;
    mad[17] = std::byte{input.Byte()};
    if (input.Byte() % 4 != 0) {
      for (size_t i = 24; i < 28; ++i) std::swap(mad[i], mad[i + 4]);
    }
    for (int changes = input.Byte() % 4; changes > 0; --changes) {
      const size_t place = 24 + input.Byte() % 232;
      mad[place] = std::byte{input.Byte()};
    }
    Receive(input, mad);
  }

  void Call(Input& input, CmId& id) {
    const uint8_t what = input.Byte();
    const mad::Bytes data = input.Take(input.Byte());
    mad::PathRecord path{.dgid = {wire::kDefaultGidPrefix, input.Byte()},
                         .sgid = device_.port(1).gids[0],
                         .dlid = wire::Lid{2},
                         .slid = wire::Lid{1},
                         .hop_limit = input.Byte(),
                         .p_key = 0xffff,
                         .packet_life_time = input.Byte()};
    switch (what % 12) {
      case 0:
        id.SendReq({.path = path,
                    .service_id = kService,
                    .qp_type = verbs::QpType(2 + input.Byte() % 3),
                    .qpn = input.Byte(),
                    .private_data = {data.begin(), data.end()}})
            .IgnoreError();
        break;
      case 1:
        id.SendRep(
              {.qpn = input.Byte(), .private_data = {data.begin(), data.end()}})
            .IgnoreError();
        break;
      case 2:
        id.SendRtu(data).IgnoreError();
        break;
      case 3:
        id.SendRej(RejectReason::kConsumerDefined, data, data).IgnoreError();
        break;
      case 4:
        id.SendDreq(data).IgnoreError();
        break;
      case 5:
        id.SendDrep(data).IgnoreError();
        break;
      case 6:
        id.PrepareMra().IgnoreError();
        break;
      case 7:
        id.SendSidrReq({.path = path,
                        .service_id = kService,
                        .private_data = {data.begin(), data.end()}})
            .IgnoreError();
        break;
      case 8:
        id.SendSidrRep({.private_data = {data.begin(), data.end()}})
            .IgnoreError();
        break;
      case 9:
        id.NotifyEstablished().IgnoreError();
        id.NotifyMigrated().IgnoreError();
        break;
      case 10:
        id.Ignore();
        break;
      default:
        id.QpAttributesFor(verbs::QpState(input.Byte()), {})
            .status()
            .IgnoreError();
        break;
    }
  }

  testing::VirtualTimers timers_;
  testing::FakeDevice device_;
  ConnectionManager manager_{
      timers_, std::make_shared<mad::Host>(timers_, device_), Random(1), 15};
  std::vector<std::unique_ptr<Listening>> listening_;
  std::vector<std::unique_ptr<CmId>> ids_;
  unsigned events_ = 0;
};

}  // namespace
}  // namespace ibemu::cm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::cm::Scene scene;
  while (!input.empty()) scene.Step(input);
  return 0;
}
