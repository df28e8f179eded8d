#include "hca/mlx4/core/icm_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "hca/model/mlx4/core/adapter_limits.h"
#include "testing/mad_builder.h"

namespace ibemu::hca::mlx4 {
namespace {

using testing::HasStatusCode;
using ::testing::HasSubstr;

prm::QueryDevCap Caps() { return model::mlx4::DeviceCapabilities(2); }

TEST(IcmLayout, GivesEveryTableAPlaceOfItsOwn) {
  const auto layout = MakeIcmLayout(Caps());
  ASSERT_TRUE(layout.ok()) << layout.status();
  std::vector<IcmRegion> regions(layout->regions.begin(),
                                 layout->regions.end());
  std::ranges::sort(regions, {}, &IcmRegion::start);
  for (size_t i = 0; i + 1 < regions.size(); ++i) {
    EXPECT_LE(regions[i].start + regions[i].size(), regions[i + 1].start);
  }
  EXPECT_LE(regions.back().start + regions.back().size(), layout->size);
}

TEST(IcmLayout, AlignsTablesToTheirSize) {
  const auto layout = MakeIcmLayout(Caps());
  ASSERT_TRUE(layout.ok()) << layout.status();
  for (const IcmRegion& region : layout->regions) {
    EXPECT_EQ(region.start % region.size(), 0u);
  }
}

TEST(IcmLayout, HasRoomBeyondWhatFirmwareKeeps) {
  prm::QueryDevCap caps = Caps();
  caps.log_rsvd_qp = 13;
  caps.log_max_qp = 17;
  const auto layout = MakeIcmLayout(caps);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ((*layout)[IcmTable::kQp].firmware_entries, 1u << 13);
  EXPECT_EQ((*layout)[IcmTable::kQp].entries(), 1u << 14);
  EXPECT_EQ((*layout)[IcmTable::kRdmaReads].entries(), 1u << 18);
}

TEST(IcmLayout, LeavesEventQueuesOnFirmwaresUarPagesToIt) {
  prm::QueryDevCap caps = Caps();
  EXPECT_EQ(ReservedEqs(caps), 4u) << "one page, and four on it";
  caps.num_rsvd_uar = 9;
  EXPECT_EQ(ReservedEqs(caps), 36u);
  caps.log_rsvd_eq = 6;
  caps.log_max_eq = 8;
  EXPECT_EQ(ReservedEqs(caps), 64u);
  const auto layout = MakeIcmLayout(caps);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_GT((*layout)[IcmTable::kEq].entries(), 64u);
}

TEST(IcmLayout, TellsInitHcaTheSame) {
  const auto layout = MakeIcmLayout(Caps());
  ASSERT_TRUE(layout.ok()) << layout.status();
  const prm::HcaTables tables = TablesOf(*layout);
  EXPECT_EQ(prm::TableBase(tables.qpc), (*layout)[IcmTable::kQp].start);
  EXPECT_EQ(prm::TableLog(tables.cqc), (*layout)[IcmTable::kCq].log_entries);
  EXPECT_EQ(tables.mtt_base, (*layout)[IcmTable::kMtt].start);
  EXPECT_EQ((*layout)[IcmTable::kEqMpt].start - tables.cmpt_base,
            uint64_t{3} * Caps().c_mpt_entry_sz << 24);
}

TEST(IcmLayout, RefusesWhatTheAdapterCantAddress) {
  prm::QueryDevCap caps = Caps();
  caps.max_icm_sz = 1 << 20;
  const auto layout = MakeIcmLayout(caps);
  EXPECT_THAT(layout, HasStatusCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(layout.status().message()), HasSubstr("1048576"));
}

}  // namespace
}  // namespace ibemu::hca::mlx4
