// Which agents may register, and what becomes of their transaction ids.
#include "mad/host_core.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

using absl::StatusCode;

class RegistrationTest : public HostTest {
 protected:
  static Registration OfClass(int mgmt_class, int qp = 1) {
    return {.qp = qp,
            .mgmt_class = static_cast<uint8_t>(mgmt_class),
            .mgmt_class_version = 1,
            .oui = 0x1405};
  }
  static Registration Server(MgmtClass mgmt_class,
                             std::initializer_list<Method> methods) {
    Registration wanted = OfClass(static_cast<int>(mgmt_class));
    wanted.methods = Methods(methods);
    return wanted;
  }

  // The classes of 0 to 255 that are accepted.
  template <class Make>
  std::vector<int> Accepted(Make&& make) {
    std::vector<int> accepted;
    for (int mgmt_class = 0; mgmt_class < 256; ++mgmt_class) {
      if (TryRegister(make(mgmt_class)) == StatusCode::kOk) {
        accepted.push_back(mgmt_class);
      }
    }
    return accepted;
  }
};

std::vector<int> Range(int first, int last) {
  std::vector<int> range;
  for (int n = first; n <= last; ++n) range.push_back(n);
  return range;
}

// [reg_class_scan*]
TEST_F(RegistrationTest, Qp1TakesClassZeroAndTwoTo4f) {
  std::vector<int> expected = Range(2, 0x4f);
  expected.insert(expected.begin(), 0);
  EXPECT_EQ(Accepted([](int c) { return OfClass(c); }), expected);
}

// [reg_class_scan*]
TEST_F(RegistrationTest, Qp0TakesTheSubnetManagementClasses) {
  EXPECT_THAT(Accepted([](int c) { return OfClass(c, 0); }),
              ElementsAre(0, 1, 0x81));
}

// [reg_class_scan*]
TEST_F(RegistrationTest, RmppIsForItsClasses) {
  std::vector<int> expected = {0, 3, 6, 0x10, 0x12};
  for (const int vendor : Range(0x30, 0x4f)) expected.push_back(vendor);
  EXPECT_EQ(Accepted([](int c) {
              Registration wanted = OfClass(c);
              wanted.rmpp_version = 1;
              return wanted;
            }),
            expected);
}

// [reg_class_scan*]
TEST_F(RegistrationTest, RmppVersionTwoDoesNotExist) {
  EXPECT_THAT(Accepted([](int c) {
                Registration wanted = OfClass(c);
                wanted.rmpp_version = 2;
                return wanted;
              }),
              IsEmpty());
}

// [reg_class_scan*]
TEST_F(RegistrationTest, VendorClassesNeedAnOui) {
  const std::vector<int> accepted = Accepted([](int c) {
    Registration wanted = OfClass(c);
    wanted.oui = 0;
    return wanted;
  });
  std::vector<int> expected = Range(2, 0x2f);
  expected.insert(expected.begin(), 0);
  EXPECT_EQ(accepted, expected);

  Registration wide = OfClass(0x30);
  wide.oui = 0x1000000;
  EXPECT_EQ(TryRegister(wide), StatusCode::kInvalidArgument);
}

// [reg_versions]
TEST_F(RegistrationTest, ClassVersionsEndAt82) {
  Registration wanted = OfClass(4);
  wanted.mgmt_class_version = 0x82;
  EXPECT_EQ(TryRegister(wanted), StatusCode::kOk);
  wanted.mgmt_class_version = 0x83;
  EXPECT_EQ(TryRegister(wanted), StatusCode::kInvalidArgument);
}

// [reg_sendonly]
TEST_F(RegistrationTest, ASendOnlyAgentsVersionMaskAndOuiAreIgnored) {
  Registration wanted{.mgmt_class_version = 0xff, .oui = 0x1000000};
  wanted.methods.set();
  auto first = Register(wanted);
  auto second = Register(wanted);
  EXPECT_NE(first->hi_tid(), second->hi_tid());
}

// [reg2_flags]
TEST_F(RegistrationTest, RmppByTheUserNeedsAClass) {
  EXPECT_EQ(TryRegister({.rmpp_version = 1, .user_rmpp = true}),
            StatusCode::kInvalidArgument);
  Registration wanted = OfClass(4);
  wanted.user_rmpp = true;
  EXPECT_EQ(TryRegister(wanted), StatusCode::kOk);
}

// [reg_qpn]
TEST_F(RegistrationTest, OnlyQp0AndQp1AndPortsOfTheDeviceExist) {
  EXPECT_EQ(TryRegister({.qp = 2}), StatusCode::kInvalidArgument);
  EXPECT_EQ(TryRegister({.qp = -1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(TryRegister({}, 0), StatusCode::kInvalidArgument);
  EXPECT_EQ(TryRegister({}, 3), StatusCode::kInvalidArgument);
}

// [reg_qp0] [rxe]
TEST_F(RegistrationTest, APortWithoutQp0SaysSoFirst) {
  port_.has_qp0 = false;
  EXPECT_EQ(TryRegister({.qp = 0, .mgmt_class = 0xff, .rmpp_version = 9}),
            StatusCode::kUnimplemented);
  EXPECT_EQ(TryRegister({.qp = 1}), StatusCode::kOk);
}

// [reg_conflict]
TEST_F(RegistrationTest, AMethodBelongsToOneAgent) {
  auto agent =
      Register(Server(MgmtClass::kPerformance, {Method::kGet, Method::kSet}));
  EXPECT_EQ(TryRegister(
                Server(MgmtClass::kPerformance, {Method::kSet, Method::kSend})),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(TryRegister(Server(MgmtClass::kPerformance, {Method::kSend})),
            StatusCode::kOk);
  EXPECT_EQ(TryRegister(Server(MgmtClass::kDevice, {Method::kSet})),
            StatusCode::kOk);
  agent.reset();
  EXPECT_EQ(TryRegister(Server(MgmtClass::kPerformance, {Method::kSet})),
            StatusCode::kOk);
}

// [reg_methods_hi]
TEST_F(RegistrationTest, Methods64To127Count) {
  Registration high = OfClass(4);
  high.methods.set(127).set(64);
  auto agent = Register(high);
  high.methods.reset(64);
  EXPECT_EQ(TryRegister(high), StatusCode::kInvalidArgument);
}

// [reg_conflict]
TEST_F(RegistrationTest, AnEmptyMaskNeverConflicts) {
  auto first = Register(OfClass(4));
  auto second = Register(OfClass(4));
  auto server = Register(Server(MgmtClass::kPerformance, {Method::kGet}));
  EXPECT_EQ(TryRegister(OfClass(4)), StatusCode::kOk);
}

// [reg_conflict] [reg_other_port] [q0_agent_classes]
TEST_F(RegistrationTest, VersionsOuisPortsAndBothSubnetClassesAreApart) {
  Registration wanted = Server(MgmtClass::kOpenIbPing, {Method::kSend});
  auto agent = Register(wanted);
  EXPECT_EQ(TryRegister(wanted), StatusCode::kInvalidArgument);
  EXPECT_EQ(TryRegister(wanted, 2), StatusCode::kOk);
  Registration other = wanted;
  other.oui = 0x1406;
  EXPECT_EQ(TryRegister(other), StatusCode::kOk);
  other = wanted;
  other.mgmt_class_version = 2;
  EXPECT_EQ(TryRegister(other), StatusCode::kOk);

  Registration smp = OfClass(1, 0);
  smp.methods = Methods({Method::kGet});
  auto by_lid = Register(smp);
  EXPECT_EQ(TryRegister(smp), StatusCode::kInvalidArgument);
  smp.mgmt_class = 0x81;
  EXPECT_EQ(TryRegister(smp), StatusCode::kOk);
}

// [reg_vendor_oui]
TEST_F(RegistrationTest, AVendorClassHasEightOuisEvenWithEmptyMasks) {
  std::vector<std::unique_ptr<Agent>> agents;
  Registration wanted = OfClass(0x32);
  for (uint32_t oui = 1; oui <= 8; ++oui) {
    wanted.oui = oui;
    agents.push_back(Register(wanted));
  }
  EXPECT_EQ(TryRegister(wanted), StatusCode::kOk);  // the eighth again
  agents.push_back(Register(wanted));
  wanted.oui = 9;
  EXPECT_EQ(TryRegister(wanted), StatusCode::kResourceExhausted);
  wanted.mgmt_class = 0x33;
  EXPECT_EQ(TryRegister(wanted), StatusCode::kOk);

  agents.erase(agents.begin());
  wanted.mgmt_class = 0x32;
  EXPECT_EQ(TryRegister(wanted), StatusCode::kOk);
}

// [tid_hi]
TEST_F(RegistrationTest, EachRegistrationCountsTheHighTidUp) {
  auto on_first = Register({});
  auto on_second = Register({}, client_, 2);
  EXPECT_EQ(on_second->hi_tid(), on_first->hi_tid() + 1);

  // A conflict costs a number, as in Linux; a refused class does not.
  auto server = Register(Server(MgmtClass::kPerformance, {Method::kGet}));
  TryRegister(Server(MgmtClass::kPerformance, {Method::kGet}));
  TryRegister(OfClass(0xff));
  EXPECT_EQ(Register({})->hi_tid(), server->hi_tid() + 2);
}

// [one_kernel]
TEST_F(RegistrationTest, AnotherHostHasNumbersAndAgentsOfItsOwn) {
  FakeDevice device;
  Host other(timers_, device);
  const Registration wanted = Server(MgmtClass::kPerformance, {Method::kGet});
  const auto here = Register(wanted);
  const auto there = other.Register(1, wanted, client_);
  ASSERT_TRUE(there.ok());
  EXPECT_EQ((*there)->hi_tid(), here->hi_tid());
}

// [tid_hi]
TEST_F(RegistrationTest, HighTidsHave24Bits) {
  HostCore core(timers_);
  const uint32_t first = core.NextHighTid();
  uint32_t last = first;
  for (uint32_t i = 1; i < 0xffffff; ++i) last = core.NextHighTid();
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(last, 0xffffffu);
  EXPECT_EQ(core.NextHighTid(), 1u);
}

// [removal]
TEST_F(RegistrationTest, ARemovedDeviceTakesNobody) {
  device_.Remove();
  EXPECT_EQ(TryRegister({}), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ibemu::mad
