// The whole tree of two devices against golden/two_devices.txt.
#include <fstream>
#include <iterator>
#include <span>

#include "absl/strings/str_format.h"
#include "mad/wire/mad_header.h"
#include "testing/golden.h"
#include "tests/sysfs/fixture.h"

namespace ibemu::sysfs {
namespace {

void List(const Entry& entry, const std::string& path, std::string& out) {
  switch (entry.kind) {
    case Entry::Kind::kLink:
      absl::StrAppendFormat(&out, "%s -> %s\n", path, entry.target);
      break;
    case Entry::Kind::kText:
      absl::StrAppendFormat(&out, "%s %04o %d\n", path, entry.mode, entry.size);
      break;
    case Entry::Kind::kDirectory:
      absl::StrAppendFormat(&out, "%s/\n", path);
      for (const auto& [name, child] : entry.children) {
        List(*child, path.empty() ? name : path + "/" + name, out);
      }
      break;
  }
}

// Says yes to everything: the port then has the extended counters.
mad::LocalVerdict Echo(const mad::Arrival& request, mad::MadBytes& reply) {
  reply = request.mad;
  return mad::LocalVerdict::kReply;
}

TEST(ListingTest, HoldsTheseFilesAndNoOthers) {
  Machine machine;
  FakeDevice& adapter = machine.AddAdapter(2);
  adapter.port(1).local = adapter.port(2).local = Echo;
  machine.AddSwitch();
  const View view = *machine.Show();
  std::string listing;
  List(*BuildTree(view), "", listing);

  std::ifstream file =
      testing::OpenGolden("tests/sysfs/golden/two_devices.txt");
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(listing, golden);
}

// Every link leads somewhere.
void Follow(const Entry& root, const Entry& entry, const std::string& path) {
  for (const auto& [name, child] : entry.children) {
    const std::string at = path + "/" + name;
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

// Each text can be read, and ends its line: config is binary, and attributes of
// GIDs may say EINVAL.
void ReadAll(const Entry& entry, const std::string& path) {
  if (entry.kind == Entry::Kind::kText && !path.ends_with("/config")) {
    const absl::StatusOr<std::string> text = entry.read();
    if (text.ok()) {
      EXPECT_TRUE(text->ends_with('\n')) << path;
    } else {
      EXPECT_NE(path.find("/gid_attrs/"), path.npos)
          << path << ": " << text.status();
    }
  }
  for (const auto& [name, child] : entry.children) {
    ReadAll(*child, path + "/" + name);
  }
}

TEST(ListingTest, LetsEveryFileBeRead) {
  Machine machine;
  FakeDevice& device = machine.AddAdapter(1);
  device.port(1).local = Echo;
  device.port(1).info.link_width_active = mad::link_width::k4x;
  const View view = *machine.Show();
  ReadAll(*BuildTree(view), "");
}

}  // namespace
}  // namespace ibemu::sysfs
