// The whole tree of each profile, with what the files hold, against golden/.
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "mad/wire/port_codes.h"
#include "testing/golden.h"
#include "tests/sysfs/fixture.h"

namespace ibemu::sysfs {
namespace {

// What a file holds: its text, or its bytes if it is binary, or why it can't be
// read.
std::string Content(const Entry& entry, const std::string& path) {
  const absl::StatusOr<std::string> text = entry.read();
  if (!text.ok()) return absl::StatusCodeToString(text.status().code());
  if (path.ends_with("/config")) return absl::BytesToHexString(*text);
  return "\"" + absl::CEscape(*text) + "\"";
}

// A line for each entry: of files with mode and size.
void List(const Entry& entry, const std::string& path, std::string& out) {
  switch (entry.kind) {
    case Entry::Kind::kLink:
      absl::StrAppendFormat(&out, "%s -> %s\n", path, entry.target);
      break;
    case Entry::Kind::kText:
      absl::StrAppendFormat(&out, "%s %04o %d %s\n", path, entry.mode,
                            entry.size, Content(entry, path));
      break;
    case Entry::Kind::kDirectory:
      absl::StrAppendFormat(&out, "%s/\n", path);
      for (const auto& [name, child] : entry.children) {
        List(*child, path.empty() ? name : absl::StrCat(path, "/", name), out);
      }
      break;
  }
}

// Compares the tree of `view`, on a machine of two processors, with a file.
void ExpectListing(View view, const std::string& name) {
  view.cpu_count = 2;
  std::string listing;
  List(*BuildTree(view), "", listing);
  std::ifstream file = testing::OpenGolden("tests/sysfs/golden/" + name);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(listing, golden) << name << " should be\n" << listing;
}

// Answers everything with what was asked: all counters are there, and zero.
mad::LocalVerdict Echo(const mad::Arrival& request, mad::MadBytes& reply) {
  reply = request.mad;
  return mad::LocalVerdict::kReply;
}

// Brings a port up, with a value in each field that has a file.
void BringUp(FakePort& port) {
  port.info.port_state = mad::PortState::kActive;
  port.info.port_physical_state = mad::PortPhysicalState::kLinkUp;
  port.info.lid = wire::Lid{0x1f};
  port.info.lmc = 3;
  port.info.master_sm_lid = wire::Lid{0x2};
  port.info.master_sm_sl = 5;
  port.info.capability_mask = 0x0259e848;
  port.info.link_width_active = mad::link_width::k4x;
  port.info.link_speed_active = mad::link_speed::kQdr;
  port.info.link_speed_ext_active = mad::link_speed_ext::kNdr;
  port.local = Echo;
}

// A port that is up beside one that is down and has no agent; a switch, which
// has port 0 and no uverbs; an adapter of one port.
// [sysfs_files]
TEST(ListingTest, HoldsTheseFilesAndNoOthers) {
  Machine machine;
  BringUp(machine.AddAdapter(2).port(1));
  machine.AddSwitch();
  machine.AddAdapter(1);
  ExpectListing(*machine.Show("ibemu%d", Profile::kQib, true), "qib.txt");
}

TEST(ListingTest, HoldsTheseFilesOfAConnectX7) {
  Machine machine;
  BringUp(machine.AddAdapter(1).port(1));
  ExpectListing(*machine.Show("mlx5_%d", Profile::kCx7), "connectx7.txt");
}

TEST(ListingTest, HoldsTheseFilesOfAnHfi1) {
  Machine machine;
  BringUp(machine.AddAdapter(1).port(1));
  ExpectListing(*machine.Show("ibemu%d", Profile::kHfi1, true), "hfi1.txt");
}

// Every link leads somewhere.
void Follow(const Entry& root, const Entry& entry, const std::string& path) {
  for (const auto& [name, child] : entry.children) {
    const std::string at = absl::StrCat(path, "/", name);
    if (child->kind == Entry::Kind::kLink) {
      EXPECT_NE(Find(root, at), nullptr) << at << " -> " << child->target;
    }
    Follow(root, *child, at);
  }
}

TEST(ListingTest, HasNoDanglingLink) {
  Machine machine;
  machine.AddAdapter(2);
  machine.AddAdapter(1);
  const View view = *machine.Show("mlx5_%d", Profile::kCx7);
  const std::unique_ptr<Entry> tree = BuildTree(view);
  Follow(*tree, *tree, "");
}

}  // namespace
}  // namespace ibemu::sysfs
