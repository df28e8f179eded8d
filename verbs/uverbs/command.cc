#include "verbs/uverbs/command.h"

#include <rdma/ib_user_verbs.h>

#include "absl/strings/str_format.h"

namespace ibemu::verbs {
namespace {

// The unit of the headers' lengths, in bytes.
constexpr size_t kWord = 4;
constexpr size_t kExtendedWord = 8;

absl::Status WrongLength(size_t said, size_t written) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "the header speaks of %d bytes, written are %d", said, written));
}

absl::StatusOr<Command> ParseExtended(const ib_uverbs_cmd_hdr& header,
                                      Bytes written, Command command) {
  constexpr size_t kHeaders = sizeof header + sizeof(ib_uverbs_ex_cmd_hdr);
  if (written.size() < kHeaders) {
    return absl::InvalidArgumentError("shorter than its headers");
  }
  const auto extended =
      ReadAs<ib_uverbs_ex_cmd_hdr>(written.subspan(sizeof header));
  const size_t said =
      kHeaders +
      (size_t{header.in_words} + extended.provider_in_words) * kExtendedWord;
  if (said != written.size()) return WrongLength(said, written.size());
  const size_t out = size_t{header.out_words} + extended.provider_out_words;
  if (extended.cmd_hdr_reserved != 0 ||
      (extended.response != 0) != (out != 0)) {
    return absl::InvalidArgumentError("a reserved field, or no place or room");
  }
  command.extended = true;
  command.request = written.subspan(kHeaders);
  command.response = extended.response;
  command.room = header.out_words * kExtendedWord;
  return command;
}

}  // namespace

absl::StatusOr<Command> ParseCommand(Bytes written) {
  ib_uverbs_cmd_hdr header;
  if (written.size() < sizeof header) {
    return absl::InvalidArgumentError("shorter than a header");
  }
  header = ReadAs<ib_uverbs_cmd_hdr>(written);
  constexpr uint32_t kKnown =
      IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK;
  if ((header.command & ~kKnown) != 0) {
    return absl::InvalidArgumentError("an unknown flag");
  }
  Command command;
  command.number = header.command & IB_USER_VERBS_CMD_COMMAND_MASK;
  if ((header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0) {
    return ParseExtended(header, written, command);
  }
  const size_t said = header.in_words * kWord;
  if (said != written.size()) return WrongLength(said, written.size());
  command.request = written.subspan(sizeof header);
  command.room = header.out_words * kWord;
  if (command.request.size() >= sizeof command.response) {
    command.response = ReadAs<uint64_t>(command.request);
  }
  return command;
}

}  // namespace ibemu::verbs
