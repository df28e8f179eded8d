#include "daemon/resources/resource_lists.h"

#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/verbs/context_fixture.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using testing::Answered, testing::FakeMemory;

// A context with what its client makes.
class ResourceListsTest : public verbs::ContextTest {
 protected:
  ResourceListsTest() {
    GetContext();
    pd_ = AllocPd();
  }
  // Takes all objects.
  struct Everything final : ResourceTaker {
    bool Wants(uint32_t place) override {
      places.push_back(place);
      return true;
    }
    void Take(json item) override { all.push_back(std::move(item)); }

    std::vector<uint32_t> places;
    json all = json::array();
  };
  json All(void (*list)(const verbs::Context&, ResourceTaker&)) {
    Everything taker;
    list(*context_, taker);
    EXPECT_THAT(taker.places, ::testing::WhenSorted(taker.places));
    return taker.all;
  }
  uint32_t CreateSrq(uint32_t size, uint32_t limit) {
    auto request = Answered<ib_uverbs_create_srq>(kPlace);
    request.pd_handle = pd_;
    request.max_wr = size;
    request.max_sge = 2;
    request.srq_limit = limit;
    return Made<ib_uverbs_create_srq_resp>(IB_USER_VERBS_CMD_CREATE_SRQ,
                                           request)
        .srq_handle;
  }
  uint32_t CreateQpOn(uint32_t send_cq, uint32_t receive_cq, uint32_t srq) {
    auto request = Answered<ib_uverbs_create_qp>(kPlace);
    request.pd_handle = pd_;
    request.send_cq_handle = send_cq;
    request.recv_cq_handle = receive_cq;
    request.srq_handle = srq;
    request.is_srq = 1;
    request.qp_type = static_cast<uint8_t>(verbs::QpType::kRc);
    return Made<ib_uverbs_create_qp_resp>(IB_USER_VERBS_CMD_CREATE_QP, request)
        .qp_handle;
  }

  static constexpr uint32_t kQpn = 0x77;  // of all queue pairs of the fake
  uint32_t pd_ = 0;
};

TEST_F(ResourceListsTest, AContextThatMadeNothingHasNothing) {
  for (const auto list : {ListCqs, ListMrs, ListSrqs, ListGroups}) {
    EXPECT_EQ(All(list), json::array());
  }
}

TEST_F(ResourceListsTest, CompletionQueuesNameWhoCompletesThere) {
  const uint32_t sends = CreateCq(), receives = CreateCq(CreateChannel());
  provider_.cq->completions.resize(3);
  CreateQpOn(sends, receives, CreateSrq(5, 0));
  EXPECT_EQ(All(ListCqs), (json{{{"handle", sends},
                                 {"size", 10},
                                 {"waiting", 0},
                                 {"channel", false},
                                 {"send", {kQpn}},
                                 {"receive", json::array()}},
                                {{"handle", receives},
                                 {"size", 10},
                                 {"waiting", 3},
                                 {"channel", true},
                                 {"send", json::array()},
                                 {"receive", {kQpn}}}}));
}

TEST_F(ResourceListsTest, RegionsTellTheirKeysPlaceAndRights) {
  auto request = Answered<ib_uverbs_reg_mr>(kPlace);
  request.start = FakeMemory::kStart;
  request.hca_va = FakeMemory::kStart + 0x10000;
  request.length = 100;
  request.pd_handle = pd_;
  request.access_flags =
      verbs::access::kLocalWrite | verbs::access::kRemoteRead;
  const auto made =
      Made<ib_uverbs_reg_mr_resp>(IB_USER_VERBS_CMD_REG_MR, request);
  EXPECT_EQ(All(ListMrs), (json{{{"handle", made.mr_handle},
                                 {"lkey", 0x11},
                                 {"rkey", 0x22},
                                 {"address", FakeMemory::kStart + 0x10000},
                                 {"length", 100},
                                 {"access", {"local-write", "remote-read"}}}}));
}

TEST_F(ResourceListsTest, SharedReceiveQueuesTellWhoTakesFromThem) {
  const uint32_t cq = CreateCq(), unused = CreateSrq(7, 0);
  const uint32_t used = CreateSrq(5, 2);
  provider_.srq->received.resize(4);
  CreateQpOn(cq, cq, used);
  EXPECT_EQ(All(ListSrqs), (json{{{"handle", unused},
                                  {"size", 7},
                                  {"posted", 0},
                                  {"limit", 0},
                                  {"sges", 2},
                                  {"receive", json::array()}},
                                 {{"handle", used},
                                  {"size", 5},
                                  {"posted", 4},
                                  {"limit", 2},
                                  {"sges", 2},
                                  {"receive", {kQpn}}}}));
}

TEST_F(ResourceListsTest, GroupsTellTheirMembers) {
  ib_uverbs_attach_mcast group{};
  group.gid[0] = 0xff;
  group.gid[1] = 0x12;
  group.gid[15] = 5;
  group.mlid = 0xc001;
  group.qp_handle = CreateQp(pd_, CreateCq(), verbs::QpType::kUd);
  ASSERT_TRUE(Execute(IB_USER_VERBS_CMD_ATTACH_MCAST, group).status.ok());
  EXPECT_EQ(All(ListGroups),
            (json{{{"qpn", kQpn}, {"mgid", "ff12::5"}, {"mlid", 0xc001}}}));
}

TEST_F(ResourceListsTest, TheContextIsOfWhoMadeIt) {
  EXPECT_EQ(context_->process(), memory_->process());
}

}  // namespace
}  // namespace ibemu::daemon
