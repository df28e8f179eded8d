#include "verbs/uverbs/work_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

namespace ibemu::verbs {
namespace {

// A POST_SEND as libibverbs lays it out: header, requests, pieces.
class SendList {
 public:
  void Add(uint64_t id, uint32_t count) {
    ib_uverbs_send_wr work{};
    work.wr_id = id;
    work.num_sge = count;
    works.push_back(work);
    for (uint32_t i = 0; i < count; ++i) {
      sges.push_back({.addr = 100 * id + i, .length = 8, .lkey = 3});
    }
  }
  std::vector<std::byte> Bytes() const {
    ib_uverbs_post_send header{};
    header.wr_count = count.value_or(static_cast<uint32_t>(works.size()));
    header.sge_count = static_cast<uint32_t>(sges.size());
    header.wqe_size = wqe_size;
    std::vector<std::byte> bytes(offsetof(ib_uverbs_post_send, send_wr));
    std::memcpy(bytes.data(), &header, bytes.size());
    for (const ib_uverbs_send_wr& work : works) Append(bytes, &work, wqe_size);
    for (const ib_uverbs_sge& sge : sges) Append(bytes, &sge, sizeof sge);
    return bytes;
  }

  std::vector<ib_uverbs_send_wr> works;
  std::vector<ib_uverbs_sge> sges;
  std::optional<uint32_t> count;
  uint32_t wqe_size = sizeof(ib_uverbs_send_wr);

 private:
  static void Append(std::vector<std::byte>& bytes, const void* from,
                     size_t size) {
    const auto* const first = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), first, first + size);
  }
};

TEST(WorkRequestsTest, EachRequestHasItsOwnPieces) {
  SendList list;
  list.Add(1, 2);
  list.Add(2, 0);
  list.Add(3, 1);
  const auto sends = DecodeSends(list.Bytes());
  ASSERT_TRUE(sends.ok()) << sends.status();
  ASSERT_EQ(sends->size(), 3u);
  EXPECT_EQ((*sends)[0].work.wr_id, 1u);
  ASSERT_EQ((*sends)[0].sges.size(), 2u);
  EXPECT_EQ((*sends)[0].sges[1].addr, 101u);
  EXPECT_TRUE((*sends)[1].sges.empty());
  ASSERT_EQ((*sends)[2].sges.size(), 1u);
  EXPECT_EQ((*sends)[2].sges[0].addr, 300u);
}

TEST(WorkRequestsTest, AListMayBeEmpty) {
  const auto sends = DecodeSends(SendList().Bytes());
  ASSERT_TRUE(sends.ok()) << sends.status();
  EXPECT_TRUE(sends->empty());
}

TEST(WorkRequestsTest, ALaterKernelsRequestsMayBeLonger) {
  SendList list;
  list.Add(1, 0);
  list.Add(2, 1);
  std::vector<std::byte> bytes = list.Bytes();
  // Eight bytes more after each request.
  auto header = ReadAs<ib_uverbs_post_send>(bytes);
  header.wqe_size += 8;
  std::memcpy(bytes.data(), &header, offsetof(ib_uverbs_post_send, send_wr));
  const auto first = bytes.begin() + offsetof(ib_uverbs_post_send, send_wr);
  const auto size = static_cast<std::ptrdiff_t>(sizeof(ib_uverbs_send_wr));
  bytes.insert(first + 2 * size, 8, std::byte{0xee});
  bytes.insert(bytes.begin() + offsetof(ib_uverbs_post_send, send_wr) + size, 8,
               std::byte{0xee});
  const auto sends = DecodeSends(bytes);
  ASSERT_TRUE(sends.ok()) << sends.status();
  ASSERT_EQ(sends->size(), 2u);
  EXPECT_EQ((*sends)[1].work.wr_id, 2u);
  EXPECT_EQ((*sends)[1].sges.at(0).addr, 200u);
}

TEST(WorkRequestsTest, RefusesAListThatIsShorterThanItSays) {
  SendList list;
  list.Add(1, 1);
  std::vector<std::byte> bytes = list.Bytes();
  bytes.pop_back();
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeSends(bytes).status()));
  list.count = ~uint32_t{0};
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeSends(list.Bytes()).status()));
}

TEST(WorkRequestsTest, RefusesRequestsThatAreTooSmall) {
  SendList list;
  list.Add(1, 0);
  list.wqe_size = sizeof(ib_uverbs_send_wr) - 8;
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeSends(list.Bytes()).status()));
}

TEST(WorkRequestsTest, RefusesMorePiecesThanThereAre) {
  SendList list;
  list.Add(1, 1);
  list.works[0].num_sge = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeSends(list.Bytes()).status()));
}

TEST(WorkRequestsTest, ReceivesAreLaidOutAlike) {
  ib_uverbs_post_recv header{};
  header.wr_count = 1;
  header.sge_count = 1;
  header.wqe_size = sizeof(ib_uverbs_recv_wr);
  const ib_uverbs_recv_wr work = {.wr_id = 9, .num_sge = 1, .reserved = 0};
  const ib_uverbs_sge sge = {.addr = 70, .length = 5, .lkey = 2};
  std::vector<std::byte> bytes(offsetof(ib_uverbs_post_recv, recv_wr) +
                               sizeof work + sizeof sge);
  std::byte* to = bytes.data();
  std::memcpy(to, &header, offsetof(ib_uverbs_post_recv, recv_wr));
  to += offsetof(ib_uverbs_post_recv, recv_wr);
  std::memcpy(to, &work, sizeof work);
  std::memcpy(to + sizeof work, &sge, sizeof sge);
  const auto receives = DecodeReceives(bytes);
  ASSERT_TRUE(receives.ok()) << receives.status();
  ASSERT_EQ(receives->size(), 1u);
  EXPECT_EQ((*receives)[0].id, 9u);
  EXPECT_EQ((*receives)[0].sges.at(0).length, 5u);
}

}  // namespace
}  // namespace ibemu::verbs
