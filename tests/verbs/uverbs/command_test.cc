#include "verbs/uverbs/command.h"

#include <gtest/gtest.h>

#include "testing/uverbs_commands.h"

namespace ibemu::verbs {
namespace {

using testing::Answered, testing::ExtendedCommand, testing::PlainCommand;

TEST(ParseCommandTest, TakesAPlainCommandApart) {
  auto request = Answered<ib_uverbs_query_port>(0x1000);
  request.port_num = 1;
  const auto written = PlainCommand(IB_USER_VERBS_CMD_QUERY_PORT, request, 40);

  const auto command = ParseCommand(written);
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(command->number, IB_USER_VERBS_CMD_QUERY_PORT);
  EXPECT_FALSE(command->extended);
  EXPECT_EQ(command->response, 0x1000u);
  EXPECT_EQ(command->room, 40u);
  EXPECT_EQ(ReadAs<ib_uverbs_query_port>(command->request).port_num, 1);
}

TEST(ParseCommandTest, TakesAnExtendedCommandApart) {
  const auto written =
      ExtendedCommand(IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
                      ib_uverbs_ex_query_device{}, 0x2000, 304);
  const auto command = ParseCommand(written);
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_TRUE(command->extended);
  EXPECT_EQ(command->response, 0x2000u);
  EXPECT_EQ(command->room, 304u);
  EXPECT_EQ(command->request.size(), sizeof(ib_uverbs_ex_query_device));
}

TEST(ParseCommandTest, RefusesLengthsThatAreNotTheWritesOwn) {
  auto written = PlainCommand(IB_USER_VERBS_CMD_ALLOC_PD,
                              Answered<ib_uverbs_alloc_pd>(1), 4);
  written.push_back(std::byte{0});
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCommand(written).status()));
  written.resize(written.size() - 2);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCommand(written).status()));
  written.resize(7);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCommand(written).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCommand({}).status()));
}

TEST(ParseCommandTest, RefusesUnknownFlags) {
  auto written = PlainCommand(IB_USER_VERBS_CMD_ALLOC_PD | 0x100,
                              Answered<ib_uverbs_alloc_pd>(1), 4);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCommand(written).status()));
}

TEST(ParseCommandTest, WantsPlaceAndRoomOfAnExtendedResponseTogether) {
  const ib_uverbs_ex_query_device request{};
  const uint32_t number = IB_USER_VERBS_EX_CMD_QUERY_DEVICE;
  EXPECT_FALSE(ParseCommand(ExtendedCommand(number, request, 0, 8)).ok());
  EXPECT_FALSE(ParseCommand(ExtendedCommand(number, request, 1, 0)).ok());
  EXPECT_TRUE(ParseCommand(ExtendedCommand(number, request, 0, 0)).ok());
}

}  // namespace
}  // namespace ibemu::verbs
