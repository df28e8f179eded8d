#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "gmock/gmock.h"
#include "hca/mlx4/core/icm_layout.h"
#include "hca/mlx4/verbs/mcg_table.h"
#include "testing/mad_builder.h"
#include "testing/mlx4_machine.h"

namespace ibemu::hca::mlx4 {
namespace {

using prm::Opcode;
using testing::HasStatusCode;
using ::testing::HasSubstr;
using testing::Mlx4Lab, testing::Mlx4Machine;

class MulticastGroupsTest : public Mlx4Lab {
 protected:
  MulticastGroupsTest() {
    auto adapter = Mlx4Adapter::Start(*host_.function, timers_, Options());
    if (!adapter.ok()) throw std::runtime_error("the driver did not start");
    adapter_ = *std::move(adapter);
    resources_ = std::make_unique<Resources>(*adapter_);
    groups_ = std::make_unique<McgTable>(*resources_);
  }

  // Where the last group was written.
  uint32_t LastWritten() const {
    uint32_t index = 0;
    for (const model::CommandRecord& record : host_.trace.records) {
      if (record.opcode == Opcode::kWriteMcg) index = record.in_modifier;
    }
    return index;
  }

  Mlx4Machine& host_ = PlugIn();
  std::unique_ptr<Mlx4Adapter> adapter_;
  std::unique_ptr<Resources> resources_;
  std::unique_ptr<McgTable> groups_;
};

TEST_F(MulticastGroupsTest, RefusesAListThatIsARing) {
  constexpr verbs::GidBytes kGid = {0xff, 0x12, 0x40, 0x1b};
  ASSERT_TRUE(groups_->Attach(kGid, 0x50, 8).ok());
  // Another group with the same hash, which is the next of itself.
  prm::McgHeader header{.next_gid_index = LastWritten(),
                        .member_count = 1,
                        .gid = {0xff, 0x12, 0x60, 0x1b}};
  std::array<std::byte, size_t{1} << kLogMulticastEntry> entry{};
  wire::Encode(header, std::span(entry).first<wire::kBytes<prm::McgHeader>>());
  ASSERT_TRUE(adapter_->commands()
                  .Send(Opcode::kWriteMcg, std::span<const std::byte>(entry),
                        {.in = LastWritten()})
                  .ok());
  const absl::Status attached = groups_->Attach(kGid, 0x51, 8);
  EXPECT_EQ(attached.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(attached.message()), HasSubstr("a ring"));
  EXPECT_EQ(groups_->Detach(kGid, 0x50).code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace ibemu::hca::mlx4
