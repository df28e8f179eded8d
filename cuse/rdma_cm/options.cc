#include "cuse/rdma_cm/options.h"

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include <cstring>
#include <span>

#include "cuse/rdma_cm/refusal_errno.h"
#include "mad/wire/sa_paths.h"

namespace ibemu::cuse {
namespace {

uint8_t ByteOf(mad::Bytes value) { return std::to_integer<uint8_t>(value[0]); }

bool FlagOf(mad::Bytes value) {
  int flag = 0;
  std::memcpy(&flag, value.data(), sizeof flag);
  return flag != 0;
}

size_t SizeOfOption(uint32_t name) {
  const bool is_flag =
      name == RDMA_OPTION_ID_REUSEADDR || name == RDMA_OPTION_ID_AFONLY;
  return is_flag ? sizeof(int) : sizeof(uint8_t);
}

Errno SetIdOption(rdma_cm::Id& id, uint32_t name, mad::Bytes value) {
  if (name > RDMA_OPTION_ID_ACK_TIMEOUT) return Errno::kNoSystemCall;
  if (value.size() != SizeOfOption(name)) return Errno::kInvalid;
  switch (name) {
    case RDMA_OPTION_ID_TOS:
      id.SetTypeOfService(ByteOf(value));
      return Errno::kOk;
    case RDMA_OPTION_ID_REUSEADDR:
      return RefusalErrno(id.SetReuseAddress(FlagOf(value)));
    case RDMA_OPTION_ID_AFONLY:
      return RefusalErrno(id.SetOnlyFamily(FlagOf(value)));
    default:
      return RefusalErrno(id.SetAckTimeout(ByteOf(value)));
  }
}

// Paths that go one way only, or are alternates, are passed over.
Errno SetPath(rdma_cm::Id& id, mad::Bytes value) {
  constexpr uint32_t kWanted =
      IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
  ib_path_rec_data path{};
  if (value.size() % sizeof path != 0) return Errno::kInvalid;
  for (; !value.empty(); value = value.subspan(sizeof path)) {
    std::memcpy(&path, value.data(), sizeof path);
    if (path.flags != kWanted) continue;
    const auto record =
        wire::Decode<mad::PathRecord>(std::as_bytes(std::span(path.path_rec)));
    return RefusalErrno(id.SetPath(record));
  }
  return Errno::kInvalid;
}

}  // namespace

Errno SetOption(rdma_cm::Id& id, uint32_t level, uint32_t name,
                mad::Bytes value) {
  if (level == RDMA_OPTION_ID) return SetIdOption(id, name, value);
  if (level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH) {
    return SetPath(id, value);
  }
  return Errno::kNoSystemCall;
}

}  // namespace ibemu::cuse
