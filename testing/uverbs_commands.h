// Commands in the form in which libibverbs writes them to a uverbs file.
#ifndef IBEMU_TESTING_UVERBS_COMMANDS_H_
#define IBEMU_TESTING_UVERBS_COMMANDS_H_

#include <rdma/ib_user_verbs.h>

#include <cstring>
#include <vector>

#include "verbs/uverbs/command.h"

namespace ibemu::testing {

using CommandBytes = std::vector<std::byte>;

template <class T>
void Append(CommandBytes& bytes, const T& value) {
  const verbs::Bytes more = verbs::AsBytes(value);
  bytes.insert(bytes.end(), more.begin(), more.end());
}

// Returns a plain command.  `request` has its `response` set if it is to have
// one, for which there are `room` bytes.
template <class T>
CommandBytes PlainCommand(uint32_t number, const T& request, size_t room) {
  CommandBytes bytes;
  Append(bytes, ib_uverbs_cmd_hdr{
                    number,
                    static_cast<uint16_t>(
                        (sizeof(ib_uverbs_cmd_hdr) + sizeof request) / 4),
                    static_cast<uint16_t>(room / 4)});
  Append(bytes, request);
  return bytes;
}

// Returns the command that posts these work requests (ib_uverbs_send_wr or
// ib_uverbs_recv_wr), whose SGEs are `sges`, one request's after the other's.
template <class Work>
CommandBytes PostCommand(uint32_t number, uint64_t response, uint32_t qp,
                         const std::vector<Work>& works,
                         const std::vector<ib_uverbs_sge>& sges = {}) {
  auto header = verbs::Blank<ib_uverbs_post_recv>();  // sends have the same
  header.response = response;
  header.qp_handle = qp;
  header.wr_count = static_cast<uint32_t>(works.size());
  header.sge_count = static_cast<uint32_t>(sges.size());
  header.wqe_size = sizeof(Work);
  CommandBytes bytes;
  Append(bytes, ib_uverbs_cmd_hdr{});
  Append(bytes, header);
  for (const Work& work : works) Append(bytes, work);
  for (const ib_uverbs_sge& sge : sges) Append(bytes, sge);
  const ib_uverbs_cmd_hdr command = {number,
                                     static_cast<uint16_t>(bytes.size() / 4),
                                     sizeof(ib_uverbs_post_recv_resp) / 4};
  std::memcpy(bytes.data(), &command, sizeof command);
  return bytes;
}

// Returns an extended command, with `room` bytes for the response at
// `response`.
template <class T>
CommandBytes ExtendedCommand(uint32_t number, const T& request,
                             uint64_t response, size_t room) {
  CommandBytes bytes;
  Append(bytes, ib_uverbs_cmd_hdr{number | IB_USER_VERBS_CMD_FLAG_EXTENDED,
                                  static_cast<uint16_t>(sizeof request / 8),
                                  static_cast<uint16_t>(room / 8)});
  Append(bytes, ib_uverbs_ex_cmd_hdr{response, 0, 0, 0});
  Append(bytes, request);
  return bytes;
}

// Returns a T of zeros, a structure that begins with `response`, with that set.
template <class T>
T Answered(uint64_t response) {
  auto request = verbs::Blank<T>();
  request.response = response;
  return request;
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_UVERBS_COMMANDS_H_
