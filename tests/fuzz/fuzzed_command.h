// FuzzedCommand(): commands of verbs that a fuzzer makes.
#ifndef IBEMU_TESTS_FUZZ_FUZZED_COMMAND_H_
#define IBEMU_TESTS_FUZZ_FUZZED_COMMAND_H_

#include <rdma/ib_user_verbs.h>

#include <cstdint>

#include "testing/fuzz_input.h"
#include "testing/uverbs_commands.h"

namespace ibemu::testing {

// Returns a plain command whose lengths are right.
inline CommandBytes FuzzedCommand(FuzzInput& input) {
  const uint8_t number = input.Byte() % 0x30;
  const uint8_t words = input.Byte();
  const mad::Bytes body = input.Take(words * size_t{4});
  CommandBytes command;
  Append(command,
         ib_uverbs_cmd_hdr{number, static_cast<uint16_t>(2 + body.size() / 4),
                           static_cast<uint16_t>(input.Byte())});
  command.insert(command.end(), body.begin(), body.end());
  return command;
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTS_FUZZ_FUZZED_COMMAND_H_
