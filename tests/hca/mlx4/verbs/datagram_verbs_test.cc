// Unreliable datagrams and multicast over two modelled adapters.
#include <endian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hca/mlx4/verbs/multicast_groups.h"
#include "tests/hca/mlx4/verbs_bench.h"
#include "wire/types.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair,
    ::testing::SizeIs;
using verbs::QpState;

constexpr size_t kGrh = 40;

class DatagramVerbsTest : public VerbsBench {
 protected:
  DatagramVerbsTest() {
    Options options;
    options.type = verbs::QpType::kUd;
    Connect(options, options);
  }

  verbs::AddressAttributes ToB() {
    verbs::AddressAttributes to{};
    to.dlid = LidOf(*device_b_);
    to.port_num = 1;
    return to;
  }
  verbs::SendRequest Datagram(verbs::Ah& to, size_t size,
                              uint32_t qkey = VerbsEnd::kQKey) {
    verbs::SendRequest request = a_->Request(IB_UVERBS_WR_SEND, 0, size);
    request.address = &to;
    request.work.wr.ud.remote_qpn = b_->qp->number();
    request.work.wr.ud.remote_qkey = qkey;
    return request;
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

TEST_F(DatagramVerbsTest, SendsADatagramAndSaysWhomItIsFrom) {
  a_->memory->Put(0, "hello");
  b_->memory->Put(100, std::string(64, '-'));
  const auto to = *a_->provider.CreateAh(*a_->pd, ToB());
  ASSERT_TRUE(b_->Receive(100, 64).ok());
  ASSERT_TRUE(a_->Post(Datagram(*to, 5)).ok());
  Run();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].status, status::kSuccess);
  EXPECT_EQ(received[0].byte_len, kGrh + 5);
  EXPECT_EQ(received[0].src_qp, a_->qp->number());
  EXPECT_EQ(received[0].slid, LidOf(*device_a_));
  EXPECT_EQ(received[0].wc_flags, 0u);
  EXPECT_EQ(received[0].port_num, 1);
  EXPECT_EQ(b_->memory->Text(100 + kGrh, 5), "hello");
  EXPECT_EQ(b_->memory->Text(100, kGrh), std::string(kGrh, '-'))
      << "there was no GRH";
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess)));
}

TEST_F(DatagramVerbsTest, CarriesAGrhAndAnImmediate) {
  verbs::AddressAttributes address = ToB();
  address.is_global = 1;
  const wire::Gid gid = device_b_->port(1).GidAt(0);
  for (size_t i = 0; i < 8; ++i) {
    address.grh.dgid[i] = static_cast<uint8_t>(gid.prefix >> (56 - 8 * i));
    address.grh.dgid[8 + i] =
        static_cast<uint8_t>(gid.interface_id >> (56 - 8 * i));
  }
  const auto to = *a_->provider.CreateAh(*a_->pd, address);
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  auto request = Datagram(*to, 4);
  request.work.opcode = IB_UVERBS_WR_SEND_WITH_IMM;
  request.work.ex.imm_data = htobe32(77);
  ASSERT_TRUE(a_->Post(request).ok());
  Run();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].wc_flags,
            verbs::wc_flag::kGrh | verbs::wc_flag::kWithImmediate);
  EXPECT_EQ(be32toh(received[0].ex.imm_data), 77u);
  EXPECT_EQ(b_->memory->Text(24, 16), std::string(std::begin(address.grh.dgid),
                                                  std::end(address.grh.dgid)));
}

TEST_F(DatagramVerbsTest, LosesWhatHasAnotherQKeyOrFindsNoRequest) {
  const auto to = *a_->provider.CreateAh(*a_->pd, ToB());
  ASSERT_TRUE(a_->Post(Datagram(*to, 5)).ok());
  Run();
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  ASSERT_TRUE(a_->Post(Datagram(*to, 5, 0x999)).ok());
  Run();
  EXPECT_THAT(b_->Poll(), IsEmpty());
  EXPECT_THAT(a_->Poll(), SizeIs(2));
}

TEST_F(DatagramVerbsTest, ADatagramThatIsTooLongStopsThoseBehindIt) {
  const auto to = *a_->provider.CreateAh(*a_->pd, ToB());
  ASSERT_TRUE(a_->Post(Datagram(*to, 5000)).ok());
  ASSERT_TRUE(a_->Post(Datagram(*to, 5)).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kLocalLength),
                                          Pair(7u, status::kFlushed)));
  EXPECT_EQ(a_->State(), QpState::kSendQueueError);
  a_->Modify({}, QpState::kReadyToSend);
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  ASSERT_TRUE(a_->Post(Datagram(*to, 5)).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess)));
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

TEST_F(DatagramVerbsTest, RefusesAddressesThatTheDeviceDoesNotHave) {
  verbs::AddressAttributes address = ToB();
  address.port_num = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(
      a_->provider.CreateAh(*a_->pd, address).status()));
  address = ToB();
  address.is_global = 1;
  address.grh.sgid_index = 200;
  EXPECT_TRUE(absl::IsInvalidArgument(
      a_->provider.CreateAh(*a_->pd, address).status()));
}

TEST_F(DatagramVerbsTest, HearsWhatIsSentToItsGroup) {
  constexpr uint16_t kLid = 0xc001;
  const verbs::GidBytes group = Group(1);
  ASSERT_TRUE(a_->qp->AttachMulticast(group, kLid).ok());
  verbs::AddressAttributes address{};
  address.dlid = kLid;
  address.port_num = 1;
  address.is_global = 1;
  std::ranges::copy(group, std::begin(address.grh.dgid));
  const auto to = *a_->provider.CreateAh(*a_->pd, address);
  auto request = Datagram(*to, 3);
  request.work.wr.ud.remote_qpn = 0xffffff;
  ASSERT_TRUE(a_->Receive(0, 64, 1).ok());
  ASSERT_TRUE(a_->Receive(0, 64, 2).ok());
  ASSERT_TRUE(a_->Post(request).ok());
  Run();
  EXPECT_THAT(a_->Poll(), SizeIs(2)) << "sent, and heard by itself";

  a_->qp->DetachMulticast(group, kLid);
  ASSERT_TRUE(a_->Post(request).ok());
  Run();
  EXPECT_THAT(a_->Poll(), SizeIs(1)) << "sent";
  EXPECT_TRUE(absl::IsInvalidArgument(
      a_->qp->AttachMulticast(verbs::GidBytes{}, kLid)));
}

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
    auto request = Datagram(*to, 3);
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
