// RdmaCmLab: two hosts with rdma_cm, the link between them, and an SA.
#ifndef IBEMU_TESTING_RDMA_CM_LAB_H_
#define IBEMU_TESTING_RDMA_CM_LAB_H_

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cm/connection_manager.h"
#include "ipoib/interface.h"
#include "ipoib/multicast_gid.h"
#include "mad/host.h"
#include "mad/wire/sa.h"
#include "rdma_cm/host/adapter.h"
#include "rdma_cm/host/id_table.h"
#include "testing/fake_device.h"
#include "testing/fake_provider.h"
#include "testing/virtual_timers.h"

namespace ibemu::testing {

// A LabDevice is an adapter with a GUID and a LID of its own.
class LabDevice final : public FakeDevice {
 public:
  explicit LabDevice(int number) : guid_(wire::Guid{0x1000u + number}) {
    port(1).info.lid = wire::Lid(number);
    port(1).info.master_sm_lid = wire::Lid{0x77};
    port(1).info.port_state = mad::PortState::kActive;
    port(1).gids = {{wire::kDefaultGidPrefix, 0x2000u + number}};
  }
  wire::Guid node_guid() const override { return guid_; }

 private:
  wire::Guid guid_;
};

// A LabInterface knows its neighbours without asking.
class LabInterface final : public ipoib::Interface {
 public:
  static constexpr uint32_t kQKey = 0x0b1b;

  LabInterface(Timers& timers, const wire::Gid& gid,
               std::vector<wire::IpNetwork> networks, uint16_t pkey = 0xffff)
      : timers_(timers),
        gid_(gid),
        networks_(std::move(networks)),
        pkey_(pkey) {
    group_.mgid = ipoib::BroadcastGid(pkey_);
    group_.q_key = kQKey;
    group_.p_key = pkey_;
    group_.mtu = 4;
    group_.rate = 3;
  }

  ~LabInterface() override {
    for (const TimerId waiting : waiting_) timers_.Cancel(waiting);
  }
  LabInterface(const LabInterface&) = delete;
  LabInterface& operator=(const LabInterface&) = delete;

  const std::vector<wire::IpNetwork>& addresses() const override {
    return networks_;
  }
  wire::Gid gid() const override { return gid_; }
  uint16_t pkey() const override { return pkey_; }
  bool up() const override { return is_up; }
  const mad::McMemberRecord* broadcast_group() const override {
    return is_up ? &group_ : nullptr;
  }

  std::unique_ptr<ipoib::Resolution> Resolve(
      const wire::IpAddress& address, absl::Duration timeout,
      absl::AnyInvocable<void(absl::StatusOr<wire::Gid>)> done) override {
    const auto neighbour = neighbours.find(address);
    auto question = std::make_unique<Question>(timers_);
    if (neighbour == neighbours.end()) {
      question->Answer(timeout, absl::DeadlineExceededError("nobody"),
                       std::move(done));
    } else {
      question->Answer(absl::Microseconds(10), neighbour->second,
                       std::move(done));
    }
    return question;
  }

  void WhenUp(absl::Duration patience,
              absl::AnyInvocable<void()> task) override {
    waiting_.push_back(timers_.RunAfter(is_up ? absl::ZeroDuration() : patience,
                                        std::move(task)));
  }

  std::map<wire::IpAddress, wire::Gid> neighbours;
  bool is_up = true;

 private:
  class Question final : public ipoib::Resolution {
   public:
    explicit Question(Timers& timers) : timers_(timers) {}
    ~Question() override { timers_.Cancel(timer_); }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    void Answer(absl::Duration after, absl::StatusOr<wire::Gid> answer,
                absl::AnyInvocable<void(absl::StatusOr<wire::Gid>)> done) {
      timer_ = timers_.RunAfter(
          after, [answer = std::move(answer),
                  done = std::move(done)]() mutable { done(answer); });
    }

   private:
    Timers& timers_;
    TimerId timer_ = TimerId::kNone;
  };

  Timers& timers_;
  const wire::Gid gid_;
  const std::vector<wire::IpNetwork> networks_;
  const uint16_t pkey_;
  mad::McMemberRecord group_{};
  std::vector<TimerId> waiting_;
};

// A LabHost is host number n, with address 198.18.0.n.
class LabHost final : public rdma_cm::Adapter {
 public:
  LabHost(Timers& timers, int number)
      : timers_(timers),
        number_(number),
        device_(number),
        host_(std::make_shared<mad::Host>(timers, device_)),
        cm_(timers, host_, Random(static_cast<uint64_t>(number)), 15),
        sa_(timers, *host_, 1),
        members_(timers, provider_, 1, sa_),
        interface_(timers, gid(), {{address(), 16}, {ipv6_address(), 64}}) {}

  mad::Host& host() override { return *host_; }
  cm::ConnectionManager& cm() override { return cm_; }
  mad::SaClient& sa(int /*port*/) override { return sa_; }
  mad::MulticastMembers& members(int /*port*/) override { return members_; }
  std::vector<ipoib::Interface*> interfaces(int /*port*/) override {
    std::vector<ipoib::Interface*> all = {&interface_};
    if (further_) all.push_back(&*further_);
    return all;
  }
  rdma_cm::ServiceTable& services() override { return services_; }
  rdma_cm::IdTable& ids() override { return ids_; }

  FakePort& port() { return device_.port(1); }
  LabInterface& lab_interface() { return interface_; }
  // Puts the port into one more partition, with an interface there.
  LabInterface& AddInterface(uint16_t pkey, const wire::IpNetwork& network) {
    port().pkeys.push_back(pkey);
    return further_.emplace(timers_, gid(), std::vector{network}, pkey);
  }
  LabDevice& device() { return device_; }
  FakeProvider& provider() { return provider_; }
  wire::Gid gid() const {
    return {wire::kDefaultGidPrefix, 0x2000u + static_cast<unsigned>(number_)};
  }
  wire::IpAddress address() const {
    return wire::IpAddress::Ipv4(0xc6120000u + static_cast<unsigned>(number_));
  }
  wire::IpAddress ipv6_address() const {
    std::array<uint8_t, 16> bytes = {0xfd, 0x1b, 0xe0};
    bytes.back() = static_cast<uint8_t>(number_);
    return wire::IpAddress::Ipv6(bytes);
  }

 private:
  Timers& timers_;
  const int number_;
  LabDevice device_;
  FakeProvider provider_;
  std::shared_ptr<mad::Host> host_;
  cm::ConnectionManager cm_;
  mad::SaClient sa_;
  mad::MulticastMembers members_;
  LabInterface interface_;
  std::optional<LabInterface> further_;
  rdma_cm::ServiceTable services_{cm_};
  rdma_cm::IdTable ids_;
};

// The adapters of one view.
class LabAdapters final : public rdma_cm::AdapterList {
 public:
  std::vector<std::shared_ptr<rdma_cm::Adapter>> adapters() override {
    return all_;
  }
  void AddListener(Listener& listener) override {
    listeners_.push_back(&listener);
  }
  void RemoveListener(Listener& listener) override {
    std::erase(listeners_, &listener);
  }

  void Add(const std::shared_ptr<rdma_cm::Adapter>& adapter) {
    all_.push_back(adapter);
    for (Listener* const listener : listeners_) listener->OnAdded(adapter);
  }
  void Remove(const std::shared_ptr<rdma_cm::Adapter>& adapter) {
    std::erase(all_, adapter);
    for (Listener* const listener : listeners_) listener->OnRemoved(adapter);
  }

 private:
  std::vector<std::shared_ptr<rdma_cm::Adapter>> all_;
  std::vector<Listener*> listeners_;
};

// Hosts 1 and 2.  What one sends arrives at the host with that LID a moment
// later, unless `lose` says true; what goes to the SA is answered: all paths
// and all groups that are asked for exist.
class RdmaCmLab {
 public:
  RdmaCmLab() {
    for (const auto& from : hosts_) {
      from->port().on_transmit = [this, &from](const mad::Outgoing& packet) {
        Carry(*from, packet);
      };
      for (const auto& to : hosts_) {
        from->lab_interface().neighbours[to->address()] = to->gid();
        from->lab_interface().neighbours[to->ipv6_address()] = to->gid();
      }
    }
  }
  RdmaCmLab(const RdmaCmLab&) = delete;
  RdmaCmLab& operator=(const RdmaCmLab&) = delete;
  ~RdmaCmLab() {
    for (const auto& host : hosts_) host->port().on_transmit = nullptr;
  }

  VirtualTimers& timers() { return timers_; }
  // REQUIRES: 1 or 2.
  const std::shared_ptr<LabHost>& host(int number) {
    return hosts_[static_cast<size_t>(number - 1)];
  }

  // Lets what is under way arrive.
  void Settle() { timers_.RunFor(absl::Milliseconds(1)); }

  std::function<bool(LabHost& from, const mad::Outgoing& packet)> lose;
  // What the SA says to all questions.
  mad::MadStatus sa_status = mad::MadStatus::kOk;
  // The last question that it got.
  mad::SaHeader asked{};
  mad::PathRecord asked_path{};
  mad::McMemberRecord asked_group{};

 private:
  static constexpr wire::Lid kMulticastLid{0xc001};
  static constexpr absl::Duration kFlightTime = absl::Microseconds(10);

  void Carry(LabHost& from, const mad::Outgoing& packet) {
    if (lose && lose(from, packet)) return;
    if (packet.to.dlid == from.port().info.master_sm_lid) {
      return Deliver(from, Answer(packet));
    }
    LabHost& to =
        packet.to.dlid == host(1)->port().info.lid ? *host(1) : *host(2);
    Deliver(to, {.qp = 1,
                 .slid = from.port().info.lid,
                 .sl = packet.to.sl,
                 .source_qpn = 1,
                 .mad = packet.mad});
  }

  void Deliver(LabHost& to, const mad::Arrival& arrival) {
    timers_.RunAfter(kFlightTime,
                     [&to, arrival] { to.port().Receive(arrival); });
  }

  mad::Arrival Answer(const mad::Outgoing& packet) {
    mad::Arrival answer{
        .qp = 1, .slid = packet.to.dlid, .source_qpn = 1, .mad = packet.mad};
    asked = wire::Decode<mad::SaHeader>(packet.mad);
    mad::SaHeader header = asked;
    header.mad.method = header.mad.method == mad::Method::kDelete
                            ? mad::Method::kDeleteResp
                            : mad::Method::kGetResp;
    header.mad.status = sa_status;
    wire::Encode(header, answer.mad);
    const std::span data = std::span(answer.mad).subspan(mad::kSaDataOffset);
    if (header.mad.attr_id == mad::AttributeId::kPathRecord) {
      asked_path = wire::Decode<mad::PathRecord>(data);
      wire::Encode(PathFor(asked_path), data);
    } else {
      asked_group = wire::Decode<mad::McMemberRecord>(data);
      mad::McMemberRecord group = asked_group;
      group.mlid = kMulticastLid;
      wire::Encode(group, data);
    }
    return answer;
  }

  static mad::PathRecord PathFor(mad::PathRecord path) {
    constexpr uint64_t kNumber = 0xfff;
    path.dlid = wire::Lid(path.dgid.interface_id & kNumber);
    path.slid = wire::Lid(path.sgid.interface_id & kNumber);
    path.mtu = 4;
    path.rate = 7;
    path.packet_life_time = 18;
    return path;
  }

  VirtualTimers timers_;
  std::array<std::shared_ptr<LabHost>, 2> hosts_ = {
      std::make_shared<LabHost>(timers_, 1),
      std::make_shared<LabHost>(timers_, 2)};
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_RDMA_CM_LAB_H_
