#include "verbs/uverbs/command_table.h"

#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>

namespace ibemu::verbs {
namespace {

Command CommandNumbered(uint32_t number) {
  Command command;
  command.number = number;
  return command;
}

Command ExtendedNumbered(uint32_t number) {
  Command command = CommandNumbered(number);
  command.extended = true;
  return command;
}

class CommandTableTest : public ::testing::Test {
 protected:
  CommandTableTest() {
    table_.Add<ib_uverbs_query_device, ib_uverbs_query_device_resp>(
        IB_USER_VERBS_CMD_QUERY_DEVICE,
        [](CommandCall&) { return absl::OkStatus(); });
    table_.AddExtended<ib_uverbs_ex_query_device, ib_uverbs_query_device_resp>(
        IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
        [](CommandCall&) { return absl::AbortedError("extended"); });
    table_.Add<ib_uverbs_dereg_mr>(
        IB_USER_VERBS_CMD_DEREG_MR,
        [](CommandCall&) { return absl::OkStatus(); });
  }

  CommandTable table_;
};

TEST_F(CommandTableTest, ACommandHasTheLengthsOfItsStructures) {
  const CommandTable::Method* const method =
      table_.Find(CommandNumbered(IB_USER_VERBS_CMD_QUERY_DEVICE));
  ASSERT_NE(method, nullptr);
  EXPECT_EQ(method->request, sizeof(ib_uverbs_query_device));
  EXPECT_EQ(method->response, sizeof(ib_uverbs_query_device_resp));
}

TEST_F(CommandTableTest, ACommandWithoutAResponseNeedsNoRoomForOne) {
  const CommandTable::Method* const method =
      table_.Find(CommandNumbered(IB_USER_VERBS_CMD_DEREG_MR));
  ASSERT_NE(method, nullptr);
  EXPECT_EQ(method->response, 0u);
}

TEST_F(CommandTableTest, AnExtendedCommandIsAnotherThanThatOfItsNumber) {
  const CommandTable::Method* const method =
      table_.Find(ExtendedNumbered(IB_USER_VERBS_EX_CMD_QUERY_DEVICE));
  ASSERT_NE(method, nullptr);
  CommandCall call{};
  EXPECT_TRUE(absl::IsAborted(method->handler(call)));
  EXPECT_EQ(table_.Find(ExtendedNumbered(IB_USER_VERBS_CMD_DEREG_MR)), nullptr);
}

TEST_F(CommandTableTest, AnUnknownCommandIsNotFound) {
  EXPECT_EQ(table_.Find(CommandNumbered(IB_USER_VERBS_CMD_REREG_MR)), nullptr);
}

}  // namespace
}  // namespace ibemu::verbs
