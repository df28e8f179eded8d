#include <endian.h>
#include <gmock/gmock.h>

#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

namespace status = wc_status;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair,
    ::testing::SizeIs;

}  // namespace

TEST_P(DatagramTest, SendsADatagramAndSaysWhomItIsFrom) {
  a_->memory->Put(0, "hello");
  b_->memory->Put(100, std::string(64, '-'));
  const auto to = AddressOfB();
  ASSERT_TRUE(b_->Receive(100, 64).ok());
  ASSERT_TRUE(a_->Post(Datagram(*to, 5)).ok());
  Run();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].status, status::kSuccess);
  EXPECT_EQ(received[0].byte_len, kGrh + 5);
  EXPECT_EQ(received[0].src_qp, a_->qp->number());
  EXPECT_EQ(received[0].slid, LidOf(HostNumber::kOne));
  EXPECT_EQ(received[0].wc_flags, 0u);
  EXPECT_EQ(received[0].port_num, 1);
  EXPECT_EQ(b_->memory->Text(100 + kGrh, 5), "hello");
  EXPECT_EQ(b_->memory->Text(100, kGrh), std::string(kGrh, '-'))
      << "there was no GRH";
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess)));
}

TEST_P(DatagramTest, IsNotSentToAnAddressOfAnotherDomain) {
  const auto other = *a_->provider.CreatePd(a_->memory->process());
  const auto to =
      *a_->provider.CreateAh(*other, Address(LidOf(HostNumber::kTwo)));
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  ASSERT_TRUE(a_->Post(Datagram(*to, 5)).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kLocalQpOperation)));
  EXPECT_EQ(a_->State(), QpState::kSendQueueError);
  EXPECT_THAT(b_->Poll(), IsEmpty());
}

TEST_P(DatagramTest, CarriesAGrhAndAnImmediate) {
  const GidBytes gid = hosts_->gid(HostNumber::kTwo);
  const auto to =
      *a_->provider.CreateAh(*a_->pd, Address(LidOf(HostNumber::kTwo), &gid));
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  auto request = Datagram(*to, 4);
  request.work.opcode = IB_UVERBS_WR_SEND_WITH_IMM;
  request.work.ex.imm_data = htobe32(77);
  ASSERT_TRUE(a_->Post(request).ok());
  Run();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].wc_flags, wc_flag::kGrh | wc_flag::kWithImmediate);
  EXPECT_EQ(be32toh(received[0].ex.imm_data), 77u);
  EXPECT_EQ(b_->memory->Text(24, 16), std::string(gid.begin(), gid.end()));
}

TEST_P(DatagramTest, LosesWhatHasAnotherQKeyOrFindsNoRequest) {
  const auto to = AddressOfB();
  ASSERT_TRUE(a_->Post(Datagram(*to, 5)).ok());
  Run();
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  ASSERT_TRUE(a_->Post(Datagram(*to, 5, 0x999)).ok());
  Run();
  EXPECT_THAT(b_->Poll(), IsEmpty());
  EXPECT_THAT(a_->Poll(), SizeIs(2));
}

TEST_P(DatagramTest, ADatagramThatIsTooLongStopsThoseBehindIt) {
  const auto to = AddressOfB();
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

TEST_P(DatagramTest, RefusesAddressesThatTheDeviceDoesNotHave) {
  const auto refuses = [&](const AddressAttributes& address) {
    return absl::IsInvalidArgument(
        a_->provider.CreateAh(*a_->pd, address).status());
  };
  AddressAttributes address = Address(LidOf(HostNumber::kTwo));
  address.port_num = 2;
  EXPECT_TRUE(refuses(address));
  address.port_num = 1;
  address.is_global = 1;
  address.grh.sgid_index = 200;
  EXPECT_TRUE(refuses(address));
}

}  // namespace ibemu::verbs
