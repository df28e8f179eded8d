#include "daemon/journal/journal_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "control/json_text.h"
#include "control/parameters.h"
#include "control/rpc.h"
#include "daemon/journal/journal_statement.h"
#include "daemon/journal/journal_tables.h"
#include "daemon/words/port_text.h"
#include "nlohmann/json.hpp"
#include "wire/types.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

// Of the header of an SQLite database, which is big-endian.
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr size_t kVersionAt = 60, kApplicationAt = 68, kHeaderSize = 100;
constexpr uint32_t kApplication = 0x69626a6c;  // "ibjl"

constexpr int64_t kMaxNodes = std::numeric_limits<uint32_t>::max();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kLatest = 253402300799999;  // the year 9999
constexpr int kMaxLmc = 7;

uint32_t NumberAt(const std::array<unsigned char, kHeaderSize>& header,
                  size_t at) {
  return uint32_t{header[at]} << 24 | uint32_t{header[at + 1]} << 16 |
         uint32_t{header[at + 2]} << 8 | uint32_t{header[at + 3]};
}

// Looks at a file that may be anybody's without SQLite, which might repair it.
// What is missing or empty is good: a journal can be made there.
absl::Status CheckKind(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    return errno == ENOENT ? absl::OkStatus() : absl::ErrnoToStatus(errno, "");
  }
  std::array<unsigned char, kHeaderSize> header{};
  const ssize_t size = read(file.get(), header.data(), header.size());
  if (size < 0) return absl::ErrnoToStatus(errno, "");
  if (size == 0) return absl::OkStatus();
  const std::string_view begin(reinterpret_cast<const char*>(header.data()),
                               kMagic.size());
  if (size < static_cast<ssize_t>(header.size()) || begin != kMagic ||
      NumberAt(header, kApplicationAt) != kApplication) {
    return absl::InvalidArgumentError(
        "it is no journal of ibemud: name one, or a file that is not there");
  }
  return CheckJournalVersion(NumberAt(header, kVersionAt));
}

absl::StatusOr<int64_t> Ask(sqlite3* database, const char* sql) {
  IBEMU_ASSIGN_OR_RETURN(JournalStatement statement,
                         JournalStatement::Prepare(database, sql));
  IBEMU_ASSIGN_OR_RETURN(const bool any, statement.Next());
  return any ? statement.Number(sql, 0, kMax) : 0;
}

// Reads columns of a row.  REQUIRES: the columns are those of the table.
topology::NodeId ReadNode(JournalStatement& row, const char* column) {
  return topology::NodeId{
      static_cast<uint32_t>(row.Number(column, 0, kMaxNodes))};
}

JournalPlace ReadPlace(JournalStatement& row, const char* node,
                       const char* port) {
  const topology::NodeId id = ReadNode(row, node);
  return {.node = id,
          .port = static_cast<int>(row.Number(port, 0, topology::kMaxPorts))};
}

// Decimal, or hexadecimal after "0x".  0: it is none.
uint64_t ReadUnsigned(const std::string& text, absl::Status& status) {
  uint64_t value = 0;
  const bool good = text.starts_with("0x") ? absl::SimpleHexAtoi(text, &value)
                                           : absl::SimpleAtoi(text, &value);
  if (!good && status.ok()) {
    status = absl::DataLossError(absl::StrCat("\"", text, "\" is no number"));
  }
  return value;
}

absl::Status ReadSubnet(sqlite3* database, JournalContent& content) {
  return ReadRows(database, "SELECT topology, digest, seed FROM subnet",
                  [&](JournalStatement& row, absl::Status& status) {
                    JournalSubnet& subnet = content.subnet.emplace();
                    subnet.topology = row.Text("topology");
                    subnet.digest = ReadUnsigned(row.Text("digest"), status);
                    subnet.seed = ReadUnsigned(row.Text("seed"), status);
                  });
}

absl::Status ReadNodes(sqlite3* database, JournalContent& content) {
  return ReadRows(
      database, "SELECT node, guid, is_on, plugged, joined FROM node",
      [&](JournalStatement& row, absl::Status& status) {
        JournalNode& node = content.nodes.emplace_back();
        node.node = ReadNode(row, "node");
        node.guid = wire::Guid{ReadUnsigned(row.Text("guid"), status)};
        node.on = row.Flag("is_on");
        node.plugged = row.Flag("plugged");
        node.joined = row.Flag("joined");
      });
}

absl::Status ReadPorts(sqlite3* database, int64_t version,
                       JournalContent& content) {
  const std::string sql =
      absl::StrCat("SELECT node, port, cut, guid, lid, lmc, ",
                   version < kKnowsDisabledPorts ? "0" : "disabled",
                   ", peer_node, peer_port FROM port");
  return ReadRows(
      database, sql.c_str(), [&](JournalStatement& row, absl::Status& status) {
        JournalPort& port = content.ports.emplace_back();
        port.place = ReadPlace(row, "node", "port");
        port.cut = row.Flag("cut");
        port.guid = wire::Guid{ReadUnsigned(row.Text("guid"), status)};
        port.lid = static_cast<int>(row.Number(
            "lid", 0, static_cast<int64_t>(wire::Lid::kLastUnicast)));
        port.lmc = static_cast<int>(row.Number("lmc", 0, kMaxLmc));
        port.disabled = row.Flag("disabled");
        if (!row.IsNull()) port.peer = ReadPlace(row, "peer_node", "peer_port");
      });
}

absl::Status ReadFaults(sqlite3* database, JournalContent& content) {
  return ReadRows(
      database, "SELECT name, words, node, seed FROM fault ORDER BY place",
      [&](JournalStatement& row, absl::Status& status) {
        StoredFault& fault = content.faults.emplace_back();
        fault.name = row.Text("name");
        const json words = json{
            {"words", control::ParseJson(row.Text("words")).value_or(json())}};
        control::Parameters parameters(words);
        fault.words = parameters.Texts("words");
        if (!parameters.Finish().ok() && status.ok()) {
          status = absl::DataLossError(
              absl::StrCat("the words of the fault \"", fault.name,
                           "\" are no array of strings"));
        }
        fault.node = ReadNode(row, "node");
        if (!row.IsNull()) fault.seed = ReadUnsigned(row.Text("seed"), status);
      });
}

absl::Status ReadReverts(sqlite3* database, JournalContent& content) {
  return ReadRows(database, "SELECT node, port, up, at_unix FROM revert",
                  [&](JournalStatement& row, absl::Status&) {
                    JournalRevert& revert = content.reverts.emplace_back();
                    revert.place = ReadPlace(row, "node", "port");
                    revert.up = row.Flag("up");
                    revert.at_unix = row.Number("at_unix", 0, kLatest);
                  });
}

absl::Status WriteNodes(sqlite3* database,
                        const std::vector<JournalNode>& nodes) {
  IBEMU_ASSIGN_OR_RETURN(
      JournalStatement put,
      JournalStatement::Prepare(
          database, "INSERT OR REPLACE INTO node VALUES(?, ?, ?, ?, ?)"));
  for (const JournalNode& node : nodes) {
    put.Bind(static_cast<int64_t>(node.node))
        .Bind(GuidText(node.guid))
        .Bind(node.on)
        .Bind(node.plugged)
        .Bind(node.joined);
    IBEMU_RETURN_IF_ERROR(put.Run());
  }
  return absl::OkStatus();
}

absl::Status WritePorts(sqlite3* database,
                        const std::vector<JournalPort>& ports) {
  IBEMU_ASSIGN_OR_RETURN(
      JournalStatement put,
      JournalStatement::Prepare(
          database,
          "INSERT OR REPLACE INTO port VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const JournalPort& port : ports) {
    put.Bind(static_cast<int64_t>(port.place.node)).Bind(port.place.port);
    if (port.peer) {
      put.Bind(static_cast<int64_t>(port.peer->node)).Bind(port.peer->port);
    } else {
      put.BindNull().BindNull();
    }
    put.Bind(port.cut)
        .Bind(GuidText(port.guid))
        .Bind(port.lid)
        .Bind(port.lmc)
        .Bind(port.disabled);
    IBEMU_RETURN_IF_ERROR(put.Run());
  }
  return absl::OkStatus();
}

absl::Status WriteFaults(sqlite3* database,
                         const std::vector<StoredFault>& faults) {
  IBEMU_ASSIGN_OR_RETURN(
      JournalStatement put,
      JournalStatement::Prepare(
          database,
          "INSERT INTO fault(name, words, node, seed) VALUES(?, ?, ?, ?)"));
  for (const StoredFault& fault : faults) {
    put.Bind(fault.name)
        .Bind(control::Dump(fault.words))
        .Bind(static_cast<int64_t>(fault.node));
    if (fault.seed) {
      put.Bind(absl::StrCat(*fault.seed));
    } else {
      put.BindNull();
    }
    IBEMU_RETURN_IF_ERROR(put.Run());
  }
  return absl::OkStatus();
}

absl::Status WriteReverts(sqlite3* database,
                          const std::vector<JournalRevert>& reverts) {
  IBEMU_ASSIGN_OR_RETURN(
      JournalStatement put,
      JournalStatement::Prepare(database,
                                "INSERT INTO revert VALUES(?, ?, ?, ?)"));
  for (const JournalRevert& revert : reverts) {
    put.Bind(static_cast<int64_t>(revert.place.node))
        .Bind(revert.place.port)
        .Bind(revert.up)
        .Bind(revert.at_unix);
    IBEMU_RETURN_IF_ERROR(put.Run());
  }
  return absl::OkStatus();
}

}  // namespace

void JournalFile::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

JournalFile::~JournalFile() = default;

absl::StatusOr<std::unique_ptr<JournalFile>> JournalFile::Open(
    const std::string& path) {
  // SQLite has meanings of its own for names that don't begin with "/".
  std::error_code error;
  const std::string whole = std::filesystem::absolute(path, error);
  std::unique_ptr<JournalFile> file(
      new JournalFile(whole.empty() ? path : whole));
  if (error) return file->Named(absl::ErrnoToStatus(error.value(), ""));
  IBEMU_RETURN_IF_ERROR(file->Named(CheckKind(whole)));
  IBEMU_RETURN_IF_ERROR(file->Named(file->OpenDatabase()));
  IBEMU_RETURN_IF_ERROR(file->Named(file->CheckWhole()));
  return file;
}

absl::Status JournalFile::OpenDatabase() {
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path_.c_str(), &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) return Failure(database);
  // It may be anybody's: its views and triggers call no functions, and nothing
  // writes to its schema.
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Until it is accepted, the file keeps its bytes.
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // Whoever has such a file open has it alone; and a write-ahead log needs no
  // shared memory then.
  IBEMU_RETURN_IF_ERROR(Run("PRAGMA locking_mode = EXCLUSIVE"));
  IBEMU_RETURN_IF_ERROR(Run("PRAGMA synchronous = NORMAL"));
  // The lock stays.  To commit would write a header into an empty file.
  IBEMU_RETURN_IF_ERROR(Run("BEGIN EXCLUSIVE"));
  return Run("ROLLBACK");
}

absl::Status JournalFile::CheckWhole() {
  IBEMU_ASSIGN_OR_RETURN(
      const int64_t tables,
      Ask(database_.get(), "SELECT count(*) FROM sqlite_schema"));
  IBEMU_ASSIGN_OR_RETURN(const int64_t application,
                         Ask(database_.get(), "PRAGMA application_id"));
  // Also when it was not made to its end.
  is_new_ = tables == 0 && application == 0;
  if (!is_new_) {
    // The header of the file may be older than its log.
    IBEMU_ASSIGN_OR_RETURN(version_,
                           Ask(database_.get(), "PRAGMA user_version"));
    IBEMU_RETURN_IF_ERROR(CheckJournalVersion(version_));
    IBEMU_RETURN_IF_ERROR(CheckJournalTables(database_.get(), version_));
  }
  IBEMU_ASSIGN_OR_RETURN(
      JournalStatement check,
      JournalStatement::Prepare(database_.get(), "PRAGMA quick_check(1)"));
  IBEMU_RETURN_IF_ERROR(check.Next().status());
  const std::string found = check.Text("quick_check");
  if (found == "ok") return absl::OkStatus();
  return absl::DataLossError(found);
}

absl::Status JournalFile::Named(const absl::Status& status) const {
  if (status.ok()) return status;
  std::string text(status.message());
  if (absl::IsDataLoss(status)) {
    text = absl::StrCat("it is damaged: ", text,
                        ": name a file that is not there to begin anew");
  }
  // ErrnoToStatus() begins with the empty name that it was given.
  if (text.starts_with(": ")) text.erase(0, 2);
  return {status.code(), absl::StrCat(path_, ": ", text)};
}

absl::Status JournalFile::Run(const char* sql) {
  return sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) ==
                 SQLITE_OK
             ? absl::OkStatus()
             : Failure(database_.get());
}

absl::StatusOr<JournalContent> JournalFile::Read() {
  JournalContent content;
  if (is_new_) return content;
  for (const auto read : {ReadSubnet, ReadNodes, ReadFaults, ReadReverts}) {
    IBEMU_RETURN_IF_ERROR(Named(read(database_.get(), content)));
  }
  IBEMU_RETURN_IF_ERROR(Named(ReadPorts(database_.get(), version_, content)));
  if (content.subnet) return content;
  return Named(absl::DataLossError("it does not say of which subnet it is"));
}

absl::Status JournalFile::Accept(const JournalSubnet& subnet) {
  const auto accept = [&]() -> absl::Status {
    IBEMU_RETURN_IF_ERROR(Run("BEGIN"));
    const bool is_older = version_ < kJournalVersion;
    if (is_new_) {
      IBEMU_RETURN_IF_ERROR(Run(
          absl::StrFormat("PRAGMA application_id = %d", kApplication).c_str()));
      IBEMU_RETURN_IF_ERROR(Run(MakeJournalTables().c_str()));
    } else if (is_older) {
      IBEMU_RETURN_IF_ERROR(Run(UpgradeJournalTables().c_str()));
    }
    IBEMU_RETURN_IF_ERROR(Run("DELETE FROM subnet"));
    IBEMU_ASSIGN_OR_RETURN(
        JournalStatement put,
        JournalStatement::Prepare(database_.get(),
                                  "INSERT INTO subnet VALUES(?, ?, ?)"));
    IBEMU_RETURN_IF_ERROR(put.Bind(subnet.topology)
                              .Bind(absl::StrFormat("0x%016x", subnet.digest))
                              .Bind(absl::StrCat(subnet.seed))
                              .Run());
    IBEMU_RETURN_IF_ERROR(Run("COMMIT"));
    // An older ibemud looks at the version in the file, before the log.
    if (is_older) IBEMU_RETURN_IF_ERROR(Run("PRAGMA wal_checkpoint(TRUNCATE)"));
    return Run("PRAGMA journal_mode = WAL");
  };
  const absl::Status status = accept();
  if (status.ok()) {
    is_new_ = false;
    version_ = kJournalVersion;
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0,
                      nullptr);
  }
  return Named(status);
}

absl::Status JournalFile::Write(const JournalChange& change) {
  sqlite3* const database = database_.get();
  const auto write = [&]() -> absl::Status {
    IBEMU_RETURN_IF_ERROR(WriteNodes(database, change.nodes));
    IBEMU_RETURN_IF_ERROR(WritePorts(database, change.ports));
    if (change.faults) {
      IBEMU_RETURN_IF_ERROR(Run("DELETE FROM fault"));
      IBEMU_RETURN_IF_ERROR(WriteFaults(database, *change.faults));
    }
    if (change.reverts) {
      IBEMU_RETURN_IF_ERROR(Run("DELETE FROM revert"));
      IBEMU_RETURN_IF_ERROR(WriteReverts(database, *change.reverts));
    }
    return Run("COMMIT");
  };
  absl::Status status = Run("BEGIN");
  if (status.ok()) status = write();
  if (!status.ok() && sqlite3_get_autocommit(database) == 0) {
    Run("ROLLBACK").IgnoreError();
  }
  return Named(status);
}

}  // namespace ibemu::daemon
