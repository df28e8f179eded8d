// The suites that say what verbs::Provider promises.  Each room that implements
// it instantiates them with the wirings of its adapters.
#ifndef IBEMU_TESTS_VERBS_PROVIDERS_PROVIDER_SUITES_H_
#define IBEMU_TESTS_VERBS_PROVIDERS_PROVIDER_SUITES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "testing/verbs_end.h"
#include "tests/verbs/providers/host_pair.h"

namespace ibemu::verbs {

// For INSTANTIATE_TEST_SUITE_P().
inline std::string NameOfWiring(const ::testing::TestParamInfo<Wiring>& info) {
  return info.param.name;
}

inline std::string NameOfConnection(
    const ::testing::TestParamInfo<std::tuple<Wiring, QpType>>& info) {
  const auto& [wiring, type] = info.param;
  return wiring.name + (type == QpType::kRc ? "Reliable" : "Unreliable");
}
inline auto AnyConnection() {
  return ::testing::Values(QpType::kRc, QpType::kUc);
}

// A ProviderSuite is two ends on two hosts: a_ on the first, b_ on the second.
class ProviderSuite {
 protected:
  using VerbsEnd = testing::VerbsEnd;
  using FakeMemory = testing::FakeMemory;
  using Options = VerbsEnd::Options;

  explicit ProviderSuite(const Wiring& wiring, uint64_t seed = 1)
      : hosts_(wiring.make(seed)) {}
  ~ProviderSuite() = default;

  std::unique_ptr<VerbsEnd> End(HostNumber host, const Options& options) {
    return std::make_unique<VerbsEnd>(hosts_->timers(), hosts_->provider(host),
                                      options);
  }
  void Make(const Options& a, const Options& b) {
    a_ = End(HostNumber::kOne, a);
    b_ = End(HostNumber::kTwo, b);
  }
  QpAttributes TowardsA() { return VerbsEnd::Towards(*a_); }
  QpAttributes TowardsB() { return VerbsEnd::Towards(*b_); }
  // A connection, or two that exchange datagrams.
  void Connect(const Options& a, const Options& b) {
    Make(a, b);
    VerbsEnd::Join(*a_, *b_);
  }
  void Connect(QpType type) {
    Options options;
    options.type = type;
    Connect(options, options);
  }

  uint16_t LidOf(HostNumber host) {
    return static_cast<uint16_t>(hosts_->provider(host).QueryPort(1)->lid);
  }
  // An address of port 1; of `gid`, if there is one, too.
  static AddressAttributes Address(uint16_t lid,
                                   const GidBytes* gid = nullptr) {
    AddressAttributes to{};
    to.dlid = lid;
    to.port_num = 1;
    if (gid == nullptr) return to;
    to.is_global = 1;
    to.grh.hop_limit = 1;
    std::copy(gid->begin(), gid->end(), to.grh.dgid);
    return to;
  }

  void Run(absl::Duration span = absl::Milliseconds(20)) {
    hosts_->RunFor(span);
  }
  void Lose(double chance) { hosts_->LoseFrom(HostNumber::kOne, chance); }

  std::unique_ptr<HostPair> hosts_;
  std::unique_ptr<VerbsEnd> a_, b_;
};

class WiredSuite : public ::testing::TestWithParam<Wiring>,
                   protected ProviderSuite {
 protected:
  using ProviderSuite::Run;

  WiredSuite() : ProviderSuite(GetParam()) {}
};

// Devices, ports and completion queues.
class ProviderTest : public WiredSuite, private AsyncEventListener {
 protected:
  using Heard = std::vector<std::pair<AsyncEventType, int>>;

  ProviderTest() { hosts_->provider(HostNumber::kOne).AddListener(*this); }
  ~ProviderTest() override {
    hosts_->provider(HostNumber::kOne).RemoveListener(*this);
  }

  Provider& provider() { return hosts_->provider(HostNumber::kOne); }
  Heard Take() {
    Run();
    return std::exchange(heard_, {});
  }

 private:
  void OnDeviceEvent(AsyncEventType type, int port) override {
    heard_.emplace_back(type, port);
  }
  Heard heard_;
};

// Messages over connections, reliable ones (RC) and others (UC).
class ConnectionTest
    : public ::testing::TestWithParam<std::tuple<Wiring, QpType>>,
      protected ProviderSuite {
 protected:
  using ProviderSuite::Run;

  ConnectionTest() : ProviderSuite(std::get<0>(GetParam())) {}

  static bool IsReliable() { return std::get<1>(GetParam()) == QpType::kRc; }
  static Options OfItsType() {
    Options options;
    options.type = std::get<1>(GetParam());
    return options;
  }
  void Connect() { ProviderSuite::Connect(OfItsType(), OfItsType()); }
};

// Tests of what only reliable connections do.
class ReliableConnectionTest : public WiredSuite {
 protected:
  void Connect() { ProviderSuite::Connect(Options(), Options()); }
};

// Tests of what only unreliable connections do.
class UnreliableConnectionTest : public WiredSuite {
 protected:
  static Options Unreliable() {
    Options options;
    options.type = QpType::kUc;
    return options;
  }
  void Connect() { ProviderSuite::Connect(Unreliable(), Unreliable()); }
};

// Datagrams.
class DatagramTest : public WiredSuite {
 protected:
  static constexpr size_t kGrh = 40;

  DatagramTest() { Connect(QpType::kUd); }

  std::unique_ptr<Ah> AddressOfB() {
    return *a_->provider.CreateAh(*a_->pd, Address(LidOf(HostNumber::kTwo)));
  }
  SendRequest Datagram(Ah& to, size_t size, uint32_t qkey = VerbsEnd::kQKey) {
    SendRequest request = a_->Request(IB_UVERBS_WR_SEND, 0, size);
    request.address = &to;
    request.work.wr.ud.remote_qpn = b_->qp->number();
    request.work.wr.ud.remote_qkey = qkey;
    return request;
  }
};

// Ends on both hosts, of which some are members of a group.
class MulticastTest : public DatagramTest {
 protected:
  static constexpr uint16_t kGroupLid = 0xc001;

  MulticastTest() { hosts_->ForwardMulticast(kGroupLid); }

  // A queue pair that has room for ten datagrams.
  std::unique_ptr<VerbsEnd> Listener(HostNumber host) {
    Options options;
    options.type = QpType::kUd;
    auto end = End(host, options);
    end->Connect(VerbsEnd::Towards(0, 0));
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(end->Receive(0, 1000).ok());
    return end;
  }
  std::unique_ptr<VerbsEnd> Member(HostNumber host) {
    auto end = Listener(host);
    EXPECT_TRUE(end->qp->AttachMulticast(group_, kGroupLid).ok());
    return end;
  }
  void Send(VerbsEnd& from, const GidBytes& group) {
    const auto to =
        *from.provider.CreateAh(*from.pd, Address(kGroupLid, &group));
    from.memory->Put(5000, "to all");
    SendRequest request = from.Request(IB_UVERBS_WR_SEND, 5000, 6);
    request.address = to.get();
    request.work.wr.ud.remote_qpn = 0xffffff;
    request.work.wr.ud.remote_qkey = VerbsEnd::kQKey;
    ASSERT_TRUE(from.Post(std::move(request)).ok());
    Run(absl::Milliseconds(2));
  }

  static GidBytes Group(uint8_t last) {
    GidBytes gid{};
    gid[0] = 0xff;
    gid[1] = 0x12;
    gid[15] = last;
    return gid;
  }
  // How many datagrams came.
  static size_t Received(VerbsEnd& end) {
    size_t count = 0;
    for (const auto& [id, status] : end.PollEnds()) count += id == 100 ? 1 : 0;
    return count;
  }

  const GidBytes group_ = Group(1);
};

// Queue pairs with a shared receive queue.
class SharedReceiveTest : public WiredSuite {
 protected:
  static Options Shared() {
    Options options;
    options.shared = true;
    return options;
  }
  void Connect() { ProviderSuite::Connect(Options(), Shared()); }
};

// Reads, writes and atomics of the first host on the second's memory.  Not all
// providers register memory for peers: wirings in which the second does.
class RemoteMemoryTest : public WiredSuite {
 protected:
  void Connect(QpType type = QpType::kRc,
               uint32_t rights = VerbsEnd::kAllRights) {
    Options a, b;
    a.type = b.type = type;
    b.rights = rights;
    ProviderSuite::Connect(a, b);
  }
  // A reliable connection that tries as often as it can.
  void ConnectPatiently() {
    Options b;
    b.rights = VerbsEnd::kAllRights;
    Make({}, b);
    QpAttributes to_a = TowardsA(), to_b = TowardsB();
    to_a.retry_cnt = to_b.retry_cnt = 7;
    a_->Connect(to_b);
    b_->Connect(to_a);
  }
};

// Tests of a reliable connection's promises under losses, by wiring and seed.
class PacketLossTest
    : public ::testing::TestWithParam<std::tuple<Wiring, uint64_t>>,
      protected ProviderSuite {
 protected:
  using ProviderSuite::Run;

  PacketLossTest()
      : ProviderSuite(std::get<0>(GetParam()), std::get<1>(GetParam())) {}
};

}  // namespace ibemu::verbs

#endif  // IBEMU_TESTS_VERBS_PROVIDERS_PROVIDER_SUITES_H_
