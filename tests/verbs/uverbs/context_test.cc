#include "verbs/uverbs/context.h"

#include "tests/verbs/context_fixture.h"

namespace ibemu::verbs {
namespace {

using testing::Answered, testing::ExtendedCommand;

TEST_F(ContextTest, GivesTheDescriptorOfAsynchronousEvents) {
  const Answer answer = GetContext();
  ASSERT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_EQ(answer.address, kPlace);
  const auto response = ReadAs<ib_uverbs_get_context_resp>(answer.response);
  EXPECT_EQ(response.async_fd, 10u);
  EXPECT_EQ(response.num_comp_vectors, 1u);
  EXPECT_EQ(given_.at(10)->event_size(), sizeof(ib_uverbs_async_event_desc));
}

TEST_F(ContextTest, RefusesASecondContext) {
  ASSERT_TRUE(GetContext().status.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(GetContext().status));
}

TEST_F(ContextTest, TriesAgainAfterADescriptorCouldNotBeGiven) {
  gives_ = false;
  EXPECT_TRUE(absl::IsAborted(GetContext().status));
  gives_ = true;
  EXPECT_TRUE(GetContext().status.ok());
}

TEST_F(ContextTest, RefusesEverythingBeforeTheContext) {
  const Answer answer = Execute(IB_USER_VERBS_CMD_QUERY_DEVICE,
                                Answered<ib_uverbs_query_device>(kPlace), 176);
  EXPECT_TRUE(absl::IsInvalidArgument(answer.status));
  EXPECT_TRUE(answer.response.empty());
}

TEST_F(ContextTest, SaysWhatTheDeviceCanDo) {
  GetContext();
  const Answer answer = Execute(IB_USER_VERBS_CMD_QUERY_DEVICE,
                                Answered<ib_uverbs_query_device>(kPlace), 176);
  ASSERT_EQ(answer.response.size(), 176u);
  EXPECT_EQ(ReadAs<DeviceAttributes>(answer.response).phys_port_cnt, 1);
}

TEST_F(ContextTest, NamesTheAdapterThatSysfsShowsWhateverStandsBehind) {
  GetContext();
  const auto plain = ReadAs<DeviceAttributes>(
      Execute(IB_USER_VERBS_CMD_QUERY_DEVICE,
              Answered<ib_uverbs_query_device>(kPlace), 176)
          .response);
  const auto extended = ReadAs<ib_uverbs_ex_query_device_resp>(
      Execute(ExtendedCommand(IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
                              ib_uverbs_ex_query_device{}, kPlace, 304))
          .response);
  for (const DeviceAttributes& device : {plain, extended.base}) {
    EXPECT_EQ(device.vendor_id, 0x1175u);
    EXPECT_EQ(device.vendor_part_id, 0x24f0u);
    EXPECT_EQ(device.fw_ver, 0x1'001b'0000u);
  }
}

TEST_F(ContextTest, TellsTheFirmwareThatTheProviderKnows) {
  GetContext();
  provider_.device.fw_ver = 0x2'002a'1388;
  const auto device = ReadAs<DeviceAttributes>(
      Execute(IB_USER_VERBS_CMD_QUERY_DEVICE,
              Answered<ib_uverbs_query_device>(kPlace), 176)
          .response);
  EXPECT_EQ(device.fw_ver, 0x2'002a'1388u);
}

TEST_F(ContextTest, CutsTheExtendedAnswerToTheRoomThatThereIs) {
  GetContext();
  const auto query = [this](size_t room) {
    return Execute(ExtendedCommand(IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
                                   ib_uverbs_ex_query_device{}, kPlace, room));
  };
  const Answer whole = query(304);
  ASSERT_EQ(whole.response.size(), 304u);
  const auto response = ReadAs<ib_uverbs_ex_query_device_resp>(whole.response);
  EXPECT_EQ(response.response_length, 304u);
  EXPECT_EQ(response.base.phys_port_cnt, 1);
  EXPECT_EQ(query(200).response.size(), 200u);
  EXPECT_TRUE(absl::IsOutOfRange(query(168).status));
}

TEST_F(ContextTest, RefusesOptionsOfTheExtendedQueryThatNobodyKnows) {
  GetContext();
  const Answer answer =
      Execute(ExtendedCommand(IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
                              ib_uverbs_ex_query_device{1, 0}, kPlace, 304));
  EXPECT_TRUE(absl::IsInvalidArgument(answer.status));
}

TEST_F(ContextTest, SaysHowAPortIs) {
  GetContext();
  auto request = Answered<ib_uverbs_query_port>(kPlace);
  request.port_num = 1;
  const Answer answer = Execute(IB_USER_VERBS_CMD_QUERY_PORT, request, 40);
  ASSERT_EQ(answer.response.size(), 40u);
  EXPECT_EQ(ReadAs<PortAttributes>(answer.response).lid, 7);
  for (const uint8_t number : {0, 2, 255}) {
    request.port_num = number;
    EXPECT_TRUE(absl::IsInvalidArgument(
        Execute(IB_USER_VERBS_CMD_QUERY_PORT, request, 40).status));
  }
}

TEST_F(ContextTest, RefusesCommandsThatItDoesNotKnow) {
  GetContext();
  EXPECT_TRUE(absl::IsInvalidArgument(
      Execute(99, Answered<ib_uverbs_alloc_pd>(kPlace), 4).status));
  EXPECT_TRUE(absl::IsUnimplemented(
      Execute(ExtendedCommand(99, ib_uverbs_ex_query_device{}, kPlace, 8))
          .status));
}

TEST_F(ContextTest, WantsTheWholeRequestAndRoomForTheAnswer) {
  GetContext();
  EXPECT_TRUE(absl::IsOutOfRange(
      Execute(IB_USER_VERBS_CMD_QUERY_PORT, uint64_t{kPlace}, 40).status));
  EXPECT_TRUE(
      absl::IsOutOfRange(Execute(IB_USER_VERBS_CMD_QUERY_PORT,
                                 Answered<ib_uverbs_query_port>(kPlace), 36)
                             .status));
}

TEST_F(ContextTest, TellsOfWhatHappensToPorts) {
  GetContext();
  provider_.listener->OnDeviceEvent(AsyncEventType::kPortError, 1);
  const auto bytes = given_.at(10)->Take();
  const auto event = ReadAs<ib_uverbs_async_event_desc>(bytes);
  EXPECT_EQ(event.element, 1u);
  EXPECT_EQ(event.event_type,
            static_cast<uint32_t>(AsyncEventType::kPortError));
  context_.reset();
  EXPECT_EQ(provider_.listener, nullptr);
}

}  // namespace
}  // namespace ibemu::verbs
