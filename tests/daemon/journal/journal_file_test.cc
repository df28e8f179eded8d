#include "daemon/journal/journal_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "testing/temp_directory.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using topology::NodeId;

const JournalSubnet kOfLabNet{.topology = "lab.net", .digest = 7, .seed = 42};

class JournalFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<JournalFile> Open() const {
    auto file = JournalFile::Open(path_);
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }
  std::unique_ptr<JournalFile> Make() const {
    auto file = Open();
    EXPECT_TRUE(file->Accept(kOfLabNet).ok());
    return file;
  }
  std::string OpenError() const {
    return std::string(JournalFile::Open(path_).status().message());
  }
  std::string ReadError() const {
    return std::string(Open()->Read().status().message());
  }

  // `stays_in_log`: the file itself does not change.
  void Do(const char* sql, bool stays_in_log = false) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
                      static_cast<int>(stays_in_log), nullptr);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  int VersionInFile() const {
    constexpr size_t kLastByte = 63;
    return Bytes()[kLastByte];
  }
  std::string Bytes() const {
    std::stringstream bytes;
    bytes << std::ifstream(path_, std::ios::binary).rdbuf();
    return bytes.str();
  }
  void SetBytes(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  const testing::TempDirectory directory_;
  const std::string path_ = directory_.path() + "/lab.journal";
};

TEST_F(JournalFileTest, WhatIsWrittenIsReadAgain) {
  const JournalNode node{.node = NodeId{3},
                         .guid = wire::Guid{0xfedcba9876543210},
                         .on = false,
                         .plugged = false,
                         .joined = true};
  const JournalPort loose{.place = {NodeId{1}, 2},
                          .peer = std::nullopt,
                          .cut = false,
                          .guid = wire::Guid{5},
                          .lid = 0xbfff,
                          .lmc = 7,
                          .disabled = true};
  JournalPort cut = loose;
  cut.place.port = 3;
  cut.peer = JournalPlace{NodeId{4}, 1};
  cut.cut = true;
  cut.disabled = false;
  const StoredFault first{.name = "z",
                          .words = {"link", "node \"1\"/1", "loss", "5%"},
                          .seed = 0xffffffffffffffff,
                          .node = NodeId{3}};
  const StoredFault second{.name = "a",
                           .words = {"node", "sw", "slow", "1ms"},
                           .seed = std::nullopt,
                           .node = NodeId{0}};
  const JournalRevert revert{
      .place = {NodeId{1}, 3}, .up = true, .at_unix = 1700000000123};
  {
    const auto file = Make();
    EXPECT_TRUE(file->Write({.nodes = {node},
                             .ports = {loose, cut},
                             .faults = {{first, second}},
                             .reverts = {{revert}}})
                    .ok());
  }
  const auto content = Open()->Read();
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(content->subnet, kOfLabNet);
  EXPECT_THAT(content->nodes, ElementsAre(node));
  EXPECT_THAT(content->ports, ElementsAre(loose, cut));
  EXPECT_THAT(content->faults, ElementsAre(first, second));
  EXPECT_THAT(content->reverts, ElementsAre(revert));
}

TEST_F(JournalFileTest, ALaterRowReplacesAnEarlierOneAndListsAreWhole) {
  const StoredFault fault{
      .name = "a", .words = {"x"}, .seed = std::nullopt, .node = NodeId{0}};
  const auto file = Make();
  ASSERT_TRUE(file->Write({.nodes = {{.node = NodeId{1}}},
                           .ports = {},
                           .faults = {{fault}},
                           .reverts = {}})
                  .ok());
  const JournalNode later{.node = NodeId{1}, .guid = wire::Guid{2}};
  ASSERT_TRUE(file->Write({.nodes = {later},
                           .ports = {},
                           .faults = std::vector<StoredFault>{},
                           .reverts = {}})
                  .ok());
  const auto content = file->Read();
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_THAT(content->nodes, ElementsAre(later));
  EXPECT_THAT(content->faults, IsEmpty());
}

TEST_F(JournalFileTest, WhatIsWrittenOutlivesAProcessThatIsKilled) {
  EXPECT_EXIT(
      {
        const auto file = Make();
        file->Write({.nodes = {{.node = NodeId{1}}},
                     .ports = {},
                     .faults = {},
                     .reverts = {}})
            .IgnoreError();
        raise(SIGKILL);
      },
      ::testing::KilledBySignal(SIGKILL), "");
  const auto content = Open()->Read();
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(content->nodes.size(), 1u);
}

TEST_F(JournalFileTest, AFileThatNobodyAcceptedIsNewAgain) {
  { Open(); }
  EXPECT_THAT(Bytes(), IsEmpty());
  const auto content = Open()->Read();
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(content->subnet, std::nullopt);
}

TEST_F(JournalFileTest, ASecondOneIsRefused) {
  const auto first = Make();
  EXPECT_THAT(OpenError(), StartsWith(path_ + ": another program has it open"));
}

TEST_F(JournalFileTest, ASecondOneIsRefusedAlsoOfANewFile) {
  const auto first = Open();
  EXPECT_THAT(OpenError(), StartsWith(path_ + ": another program has it open"));
}

TEST_F(JournalFileTest, AnotherProgramsFileIsRefusedAndStaysAsItIs) {
  Do("CREATE TABLE mine(a); INSERT INTO mine VALUES(1)");
  const std::string database = Bytes();
  EXPECT_THAT(OpenError(), HasSubstr("it is no journal of ibemud"));
  EXPECT_EQ(Bytes(), database);
  SetBytes("switch-1 1 node-1 1\n");
  EXPECT_THAT(OpenError(), HasSubstr("it is no journal of ibemud"));
  EXPECT_EQ(Bytes(), "switch-1 1 node-1 1\n");
}

TEST_F(JournalFileTest, ANewerVersionsFileIsRefusedAndStaysAsItIs) {
  { Make(); }
  Do("PRAGMA user_version = 3");
  const std::string before = Bytes();
  EXPECT_THAT(OpenError(),
              HasSubstr("version 3, and this ibemud has version 2"));
  EXPECT_EQ(Bytes(), before);
}

TEST_F(JournalFileTest, AnOlderVersionsFileIsReadAndBecomesOneOfThisVersion) {
  { Make(); }
  Do("DROP TABLE port; PRAGMA user_version = 1;"
     "CREATE TABLE port(\n"
     "  node INTEGER NOT NULL, port INTEGER NOT NULL, peer_node INTEGER,\n"
     "  peer_port INTEGER, cut INTEGER NOT NULL, guid TEXT NOT NULL,\n"
     "  lid INTEGER NOT NULL, lmc INTEGER NOT NULL,\n"
     "  PRIMARY KEY(node, port)) STRICT, WITHOUT ROWID;"
     "INSERT INTO port VALUES(1, 2, NULL, NULL, 1, '0x5', 9, 0)");
  const JournalPort old{.place = {NodeId{1}, 2},
                        .peer = std::nullopt,
                        .cut = true,
                        .guid = wire::Guid{5},
                        .lid = 9};
  JournalPort disabled = old;
  disabled.place.port = 3;
  disabled.disabled = true;
  {
    // Who only reads it leaves it as it is.
    const std::string before = Bytes();
    EXPECT_THAT(Open()->Read()->ports, ElementsAre(old));
    EXPECT_EQ(Bytes(), before);
  }
  {
    const auto file = Open();
    ASSERT_TRUE(file->Accept(kOfLabNet).ok());
    EXPECT_EQ(VersionInFile(), 2) << "for an ibemud of version 1";
    EXPECT_TRUE(
        file->Write(
                {.nodes = {}, .ports = {disabled}, .faults = {}, .reverts = {}})
            .ok());
  }
  EXPECT_THAT(Open()->Read()->ports, ElementsAre(old, disabled));
}

// As a daemon leaves them that is killed before it copies its log to the file.
TEST_F(JournalFileTest, AVersionInTheLogIsTheOneThatCounts) {
  { Make(); }
  Do("PRAGMA user_version = 1; PRAGMA journal_mode = WAL");
  Do("PRAGMA user_version = 2", /*stays_in_log=*/true);
  EXPECT_EQ(VersionInFile(), 1);
  EXPECT_EQ(Open()->Read()->subnet, kOfLabNet);
  Do("PRAGMA user_version = 3", /*stays_in_log=*/true);
  EXPECT_EQ(VersionInFile(), 1);
  EXPECT_THAT(OpenError(),
              HasSubstr("version 3, and this ibemud has version 2"));
}

TEST_F(JournalFileTest, APathThatLeadsNowhereIsExplained) {
  EXPECT_THAT(
      std::string(JournalFile::Open(directory_.path()).status().message()),
      HasSubstr("Is a directory"));
  EXPECT_THAT(
      std::string(
          JournalFile::Open(directory_.path() + "/a/b").status().message()),
      HasSubstr("No such file or directory"));
}

TEST_F(JournalFileTest, ADamagedFileIsRefusedAndStaysAsItIs) {
  { Make(); }
  std::string bytes = Bytes();
  for (size_t i = 4096; i < bytes.size(); i += 7) bytes[i] ^= 0x55;
  SetBytes(bytes);
  EXPECT_THAT(OpenError(), StartsWith(path_ + ": it is damaged"));
  EXPECT_EQ(Bytes(), bytes);
  SetBytes(bytes.substr(0, 5000));
  EXPECT_THAT(OpenError(), StartsWith(path_ + ": it is damaged"));
}

TEST_F(JournalFileTest, ValuesThatNobodyHasWrittenAreRefused) {
  { Make(); }
  Do("INSERT INTO port VALUES(1, 1, NULL, NULL, 0, '0x1', 65535, 0, 0)");
  EXPECT_THAT(ReadError(), HasSubstr("is not a whole number from 0 to 49151"));
  Do("UPDATE port SET lid = 1, guid = 'none'");
  EXPECT_THAT(ReadError(), HasSubstr("\"none\" is no number"));
  Do("DELETE FROM port; INSERT INTO fault VALUES(1, 'a', '[1', NULL, 0)");
  EXPECT_THAT(ReadError(), HasSubstr("are no array of strings"));
  Do("DELETE FROM fault; INSERT INTO revert VALUES(1, 1, 2, 0)");
  EXPECT_THAT(ReadError(), HasSubstr("up of "));
  Do("DELETE FROM revert; DELETE FROM subnet");
  EXPECT_THAT(ReadError(), HasSubstr("it does not say of which subnet it is"));
}

TEST_F(JournalFileTest, OtherTablesAreRefused) {
  { Make(); }
  // Rows without end.
  Do("DROP TABLE revert; CREATE VIEW revert AS "
     "WITH RECURSIVE r(node) AS (VALUES(1) UNION ALL SELECT 1 FROM r) "
     "SELECT node, 1 AS port, 1 AS up, 1 AS at_unix FROM r");
  EXPECT_THAT(OpenError(), HasSubstr("its tables are not those of a journal"));
}

TEST_F(JournalFileTest, ANameIsOneOfAFileWhateverItLooksLike) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory_.path());
  for (const char* const name : {":memory:", "file:x"}) {
    const auto file = JournalFile::Open(name);
    EXPECT_TRUE(file.ok()) << file.status();
    EXPECT_EQ((*file)->path(), directory_.path() + "/" + name);
    EXPECT_TRUE((*file)->Accept(kOfLabNet).ok());
    EXPECT_TRUE(std::filesystem::exists(directory_.path() + "/" + name));
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace ibemu::daemon
