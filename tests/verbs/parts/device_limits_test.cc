#include "verbs/parts/device_limits.h"

#include <gtest/gtest.h>

namespace ibemu::verbs {
namespace {

class DeviceLimitsTest : public ::testing::Test {
 protected:
  DeviceLimitsTest() {
    device_.max_cqe = 100;
    device_.max_srq_wr = 50;
    device_.max_srq_sge = 4;
    device_.max_qp_wr = 60;
    device_.max_sge = 8;
    device_.phys_port_cnt = 2;
    device_.max_pkeys = 16;
    device_.max_qp_init_rd_atom = device_.max_qp_rd_atom = 4;
    address_.port_num = 1;
    address_.dlid = 5;
  }

  // Whether `change` alone makes them wrong.
  template <class Change>
  bool Wrong(uint32_t mask, Change change) {
    QpAttributes attributes{};
    attributes.qp_attr_mask = mask;
    attributes.port_num = 1;
    attributes.path_mtu = 1;
    attributes.ah_attr = attributes.alt_ah_attr = address_;
    attributes.alt_port_num = 1;
    EXPECT_TRUE(CheckQpAttributes(device_, kGids, attributes).ok());
    change(attributes);
    const bool wrong =
        absl::IsInvalidArgument(CheckQpAttributes(device_, kGids, attributes));
    attributes.qp_attr_mask = 0;
    EXPECT_TRUE(CheckQpAttributes(device_, kGids, attributes).ok())
        << "what the mask does not name does not count";
    return wrong;
  }

  static constexpr int kGids = 32;
  DeviceAttributes device_{};
  AddressAttributes address_{};
};

TEST_F(DeviceLimitsTest, QueuesHaveSizesThatTheDeviceHas) {
  EXPECT_TRUE(CheckCqSize(device_, 1).ok());
  EXPECT_TRUE(CheckCqSize(device_, 100).ok());
  EXPECT_FALSE(CheckCqSize(device_, 0).ok());
  EXPECT_FALSE(CheckCqSize(device_, 101).ok());
  EXPECT_TRUE(CheckSrq(device_, {.max_requests = 50, .max_sges = 4}).ok());
  EXPECT_FALSE(CheckSrq(device_, {.max_requests = 51, .max_sges = 4}).ok());
  EXPECT_FALSE(CheckSrq(device_, {.max_requests = 50, .max_sges = 5}).ok());
  EXPECT_FALSE(CheckSrq(device_, {.max_requests = 0, .max_sges = 1}).ok());
  EXPECT_FALSE(
      CheckSrq(device_, {.max_requests = 5, .max_sges = 1, .limit = 6}).ok());
}

TEST_F(DeviceLimitsTest, QueuePairsHaveCapacitiesThatTheDeviceHas) {
  constexpr uint32_t kInline = 64;
  const QpCapacity most = {.send_requests = 60,
                           .receive_requests = 60,
                           .send_sges = 8,
                           .receive_sges = 8,
                           .inline_bytes = kInline};
  EXPECT_TRUE(CheckCapacity(device_, most, kInline).ok());
  for (uint32_t QpCapacity::*const member :
       {&QpCapacity::send_requests, &QpCapacity::receive_requests,
        &QpCapacity::send_sges, &QpCapacity::receive_sges,
        &QpCapacity::inline_bytes}) {
    QpCapacity more = most;
    ++(more.*member);
    EXPECT_TRUE(absl::IsInvalidArgument(CheckCapacity(device_, more, kInline)));
  }
}

TEST_F(DeviceLimitsTest, ARefusalNamesTheFieldItsValueAndItsRange) {
  EXPECT_EQ(CheckCqSize(device_, 101).message(),
            "cqe is 101: there may be 1 to 100");
  EXPECT_EQ(CheckCapacity(device_, {.send_sges = 9}, 0).message(),
            "max_send_sge is 9: there may be 0 to 8");
}

TEST_F(DeviceLimitsTest, AnEmptyTableHasNoIndex) {
  AddressAttributes address = address_;
  address.is_global = 1;
  EXPECT_TRUE(CheckAddress(device_, 1, address).ok());
  EXPECT_FALSE(CheckAddress(device_, 0, address).ok());
  device_.max_pkeys = 0;
  QpAttributes attributes{};
  attributes.qp_attr_mask = qp_attribute::kPKeyIndex;
  EXPECT_FALSE(CheckQpAttributes(device_, kGids, attributes).ok());
}

TEST_F(DeviceLimitsTest, AddressesAreOfThisDevice) {
  const auto wrong = [this](auto change) {
    AddressAttributes address = address_;
    EXPECT_TRUE(CheckAddress(device_, kGids, address).ok());
    change(address);
    return absl::IsInvalidArgument(CheckAddress(device_, kGids, address));
  };
  EXPECT_TRUE(wrong([](auto& address) { address.port_num = 0; }));
  EXPECT_TRUE(wrong([](auto& address) { address.port_num = 3; }));
  EXPECT_TRUE(wrong([](auto& address) { address.sl = 16; }));
  EXPECT_TRUE(wrong([](auto& address) { address.dlid = 0; }));
  EXPECT_TRUE(wrong([](auto& address) {
    address.is_global = 1;
    address.grh.sgid_index = kGids;
  }));
}

TEST_F(DeviceLimitsTest, AttributesAreInTheirBounds) {
  using namespace qp_attribute;  // NOLINT: all of them are meant
  EXPECT_TRUE(Wrong(kPort, [](auto& to) { to.port_num = 3; }));
  EXPECT_TRUE(Wrong(kPKeyIndex, [](auto& to) { to.pkey_index = 16; }));
  EXPECT_TRUE(Wrong(kAddress, [](auto& to) { to.ah_attr.dlid = 0; }));
  EXPECT_TRUE(Wrong(kAddress, [](auto& to) { to.ah_attr.dlid = 0xc000; }));
  EXPECT_TRUE(
      Wrong(kDestinationQp, [](auto& to) { to.dest_qp_num = 0x1000000; }));
  EXPECT_TRUE(Wrong(kPathMtu, [](auto& to) { to.path_mtu = 6; }));
  EXPECT_TRUE(Wrong(kMaxReads, [](auto& to) { to.max_rd_atomic = 5; }));
  EXPECT_TRUE(
      Wrong(kMaxReadsHere, [](auto& to) { to.max_dest_rd_atomic = 5; }));
  EXPECT_TRUE(Wrong(kMinRnrTimer, [](auto& to) { to.min_rnr_timer = 32; }));
  EXPECT_TRUE(Wrong(kTimeout, [](auto& to) { to.timeout = 32; }));
  EXPECT_TRUE(Wrong(kRetryCount, [](auto& to) { to.retry_cnt = 8; }));
  EXPECT_TRUE(Wrong(kRnrRetry, [](auto& to) { to.rnr_retry = 8; }));
}

TEST_F(DeviceLimitsTest, AnAlternatePathIsInItsBoundsToo) {
  using qp_attribute::kAlternatePath;
  const auto wrong = [this](auto change) {
    return Wrong(kAlternatePath, change);
  };
  EXPECT_TRUE(wrong([](auto& to) { to.alt_ah_attr.dlid = 0; }));
  EXPECT_TRUE(wrong([](auto& to) { to.alt_ah_attr.dlid = 0xffff; }));
  EXPECT_TRUE(wrong([](auto& to) { to.alt_port_num = 2; }))
      << "the address is of port 1";
  EXPECT_TRUE(wrong([](auto& to) { to.alt_port_num = 0; }));
  EXPECT_TRUE(wrong([](auto& to) { to.alt_port_num = 3; }));
  EXPECT_TRUE(wrong([](auto& to) { to.alt_pkey_index = 16; }));
  EXPECT_TRUE(wrong([](auto& to) { to.alt_timeout = 32; }));
}

}  // namespace
}  // namespace ibemu::verbs
