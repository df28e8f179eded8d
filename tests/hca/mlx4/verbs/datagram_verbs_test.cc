// Multicast groups over two modelled adapters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hca/mlx4/verbs/mcg_table.h"
#include "tests/hca/mlx4/verbs_lab.h"
#include "wire/types.h"

namespace ibemu::hca::mlx4 {
namespace {

using ::testing::ElementsAre;

class DatagramVerbsTest : public VerbsLab {
 protected:
  DatagramVerbsTest() {
    Options options;
    options.type = verbs::QpType::kUd;
    Connect(options, options);
  }

  static verbs::GidBytes Group(uint8_t last, uint8_t other = 0) {
    verbs::GidBytes gid{};
    gid[0] = 0xff;
    gid[1] = 0x12;
    gid[12] = other;
    gid[15] = last;
    return gid;
  }
};

// The hash is made of pairs of bytes: these have the same one.
TEST_F(DatagramVerbsTest, KeepsGroupsThatShareAPlaceApart) {
  constexpr uint16_t kLid = 0xc001;
  const std::vector<verbs::GidBytes> groups = {Group(1), Group(1, 1),
                                               Group(1, 2)};
  const auto heard = [&](const verbs::GidBytes& group) {
    verbs::AddressAttributes address{};
    address.dlid = kLid;
    address.port_num = 1;
    address.is_global = 1;
    std::ranges::copy(group, std::begin(address.grh.dgid));
    const auto to = *a_->provider.CreateAh(*a_->pd, address);
    auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 3);
    request.address = to.get();
    request.work.wr.ud.remote_qkey = VerbsEnd::kQKey;
    request.work.wr.ud.remote_qpn = 0xffffff;
    EXPECT_TRUE(a_->Receive(0, 64).ok());
    EXPECT_TRUE(a_->Post(request).ok());
    Run();
    return a_->Poll().size() == 2;
  };
  for (const auto& group : groups) {
    ASSERT_TRUE(a_->qp->AttachMulticast(group, kLid).ok());
  }
  for (const auto& group : groups) EXPECT_TRUE(heard(group));
  // The first of the list, whose place the second takes; then the last.
  a_->qp->DetachMulticast(groups[0], kLid);
  EXPECT_FALSE(heard(groups[0]));
  EXPECT_TRUE(heard(groups[1]));
  EXPECT_TRUE(heard(groups[2]));
  a_->qp->DetachMulticast(groups[2], kLid);
  EXPECT_TRUE(heard(groups[1]));
  EXPECT_FALSE(heard(groups[2]));
  ASSERT_TRUE(a_->qp->AttachMulticast(groups[0], kLid).ok());
  EXPECT_TRUE(heard(groups[0]));
  EXPECT_TRUE(heard(groups[1]));
}

TEST_F(DatagramVerbsTest, AMemberThatGoesLeavesItsGroup) {
  constexpr uint16_t kLid = 0xc001;
  ASSERT_TRUE(a_->qp->AttachMulticast(Group(1), kLid).ok());
  host_a_.trace.records.clear();
  a_->qp.reset();
  EXPECT_THAT(
      host_a_.trace.Names(),
      ElementsAre("MGID_HASH", "READ_MCG", "WRITE_MCG", "2RST_QP", "HW2SW_CQ"));
}

}  // namespace
}  // namespace ibemu::hca::mlx4
