// The seam between uverbs objects and the adapter behind them.
#ifndef IBEMU_VERBS_PROVIDER_H_
#define IBEMU_VERBS_PROVIDER_H_

#include <rdma/ib_user_verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "verbs/memory.h"
#include "verbs/qp_attributes.h"

namespace ibemu::verbs {

// What QUERY_DEVICE and QUERY_PORT say, reserved bytes zero; GUIDs are in
// network order.
using DeviceAttributes = ib_uverbs_query_device_resp;
using PortAttributes = ib_uverbs_query_port_resp;

using WorkCompletion = ib_uverbs_wc;
using GidBytes = std::array<uint8_t, 16>;

// Objects of a provider.  Destroying one is the driver's destroy_*; whoever
// uses an object must go before it, which Context sees to.
class Pd {
 public:
  virtual ~Pd() = default;
};

class Ah {
 public:
  virtual ~Ah() = default;
};

// That of a provider which keeps no more of it.
struct AddressHandle : Ah {
  explicit AddressHandle(const AddressAttributes& own) : attributes(own) {}
  const AddressAttributes attributes;
};

class Mr {
 public:
  virtual ~Mr() = default;
  virtual uint32_t lkey() const = 0;
  virtual uint32_t rkey() const = 0;
};

// A memory window of type 1: it opens a part of a region to peers, from one
// bind (SendRequest::bind) to the next (IBA vol 1 §10.6.7).
class Mw {
 public:
  virtual ~Mw() = default;
  // Another one after each bind that was carried out.
  virtual uint32_t rkey() const = 0;
};

// A region for fast registration, made once and mapped again and again: what
// kernels of 2005 had for storage and sockets (struct ib_fmr).
class Fmr {
 public:
  virtual ~Fmr() = default;
  // Others after each Map().
  virtual uint32_t lkey() const = 0;
  virtual uint32_t rkey() const = 0;

  // Requests call the first byte of the first page `address`.
  //
  // Errors: InvalidArgument, no pages or too many, one that does not begin
  // where a page does, or mapped too often since Unmap().
  virtual absl::Status Map(std::span<const uint64_t> pages,
                           uint64_t address) = 0;
  virtual void Unmap() = 0;
};

// Hears what happens to an object: its asynchronous (affiliated) events.
class ObjectListener {
 public:
  virtual void OnEvent(EventType type) = 0;

 protected:
  ~ObjectListener() = default;
};

class CqListener : public ObjectListener {
 public:
  // There is one more; it may be polled at once.
  virtual void OnArrival() = 0;
  // What RequestNotify() asked for is there.
  virtual void OnCompletion() = 0;

 protected:
  ~CqListener() = default;
};

class Cq {
 public:
  virtual ~Cq() = default;

  // How many completions it holds at most.
  virtual uint32_t size() const = 0;

  // Errors: InvalidArgument when there are more in it, or out of limits.
  virtual absl::Status Resize(uint32_t size) = 0;

  // Takes the oldest completions out; how many.
  virtual size_t Poll(std::span<WorkCompletion> completions) = 0;

  // How many wait to be polled, counted up to `most`.
  virtual size_t Peek(size_t most) const = 0;

  // Once, for the next completion to come: any, or only a solicited or failed
  // one.
  virtual void RequestNotify(bool solicited_only) = 0;

  // Once, when `count` of them wait to be polled.  False: they do already, and
  // nobody will be notified.
  virtual bool RequestNotifyAfter(size_t count) = 0;
};

// A receive request: where a message goes.
struct ReceiveRequest {
  uint64_t id = 0;
  std::vector<ib_uverbs_sge> pieces;
};

// What a window is to open from now on.
struct WindowBind {
  Mw* window = nullptr;
  const Mr* region = nullptr;  // must allow access::kBindWindow
  uint64_t address = 0;        // as requests to the region call it
  uint64_t length = 0;         // 0: nothing any more
  uint32_t access = 0;         // to peers; bits: access
};

struct SendRequest {
  ib_uverbs_send_wr work;
  std::vector<ib_uverbs_sge> pieces;
  Buffer inline_data;     // null: `pieces` says where the message is
  Ah* address = nullptr;  // of a datagram
  std::optional<WindowBind> bind = std::nullopt;  // of IB_UVERBS_WR_BIND_MW
};

struct SrqAttributes {
  uint32_t max_requests = 0;
  uint32_t max_pieces = 0;
  uint32_t limit = 0;  // below it there is an event, once; 0: never
};

class Srq {
 public:
  virtual ~Srq() = default;
  virtual SrqAttributes Query() const = 0;

  // Errors: InvalidArgument when a number is out of limits.
  virtual absl::Status Resize(uint32_t max_requests) = 0;
  virtual absl::Status SetLimit(uint32_t limit) = 0;

  // Takes requests until one is refused; `taken` says how many those were.
  //
  // Errors: ResourceExhausted when it is full, InvalidArgument.
  virtual absl::Status PostReceive(std::span<ReceiveRequest> requests,
                                   size_t& taken) = 0;
};

struct QpCapacity {
  uint32_t send_requests = 0, receive_requests = 0;
  uint32_t send_pieces = 0, receive_pieces = 0;
  uint32_t inline_bytes = 0;
};

struct QpInit {
  QpType type = QpType::kReliable;
  bool signal_all = false;  // every send request gives a completion
  QpCapacity capacity;
  Pd* pd = nullptr;
  Cq* send_cq = nullptr;
  Cq* receive_cq = nullptr;
  Srq* srq = nullptr;  // instead of a receive queue of its own; or null
};

class Qp {
 public:
  virtual ~Qp() = default;

  virtual uint32_t number() const = 0;
  virtual QpCapacity capacity() const = 0;

  // Errors: InvalidArgument, see CheckTransition(); nothing has changed then.
  virtual absl::Status Modify(const QpAttributes& attributes) = 0;
  // All attributes, whatever qp_attr_mask says.
  virtual QpAttributes Query() const = 0;

  // As Srq::PostReceive().
  virtual absl::Status PostReceive(std::span<ReceiveRequest> requests,
                                   size_t& taken) = 0;
  virtual absl::Status PostSend(std::span<SendRequest> requests,
                                size_t& taken) = 0;

  // What is sent to the group comes to this queue pair, too, until it is
  // detached from it or destroyed.  It is attached once.
  //
  // Errors: InvalidArgument, ResourceExhausted.
  virtual absl::Status AttachMulticast(const GidBytes& gid, uint16_t lid) = 0;
  virtual void DetachMulticast(const GidBytes& gid, uint16_t lid) = 0;
};

struct MrInit {
  Pd* pd = nullptr;
  std::shared_ptr<Memory> memory;
  uint64_t start = 0;    // in the process
  uint64_t length = 0;   // not 0, and no address wraps
  uint64_t address = 0;  // what requests call the first byte
  uint32_t access = 0;   // bits: access
};

struct FmrInit {
  Pd* pd = nullptr;
  std::shared_ptr<Memory> memory;
  uint32_t access = 0;      // bits: access
  uint32_t max_pages = 0;   // in a Map()
  uint32_t max_maps = 0;    // until Unmap()
  uint8_t page_shift = 12;  // binary logarithm of a page's size
};

// Hears what happens to the device and its ports.
class DeviceListener {
 public:
  // `port` is 0 for an event of the whole device.
  virtual void OnDeviceEvent(EventType type, int port) = 0;

 protected:
  ~DeviceListener() = default;
};

// One adapter, as its Linux driver would offer it to the InfiniBand core
// (struct ib_device_ops; "InfiniBand core software", OLS 2005, §5).  A back end
// (fabric/, hca/) implements it.  Everything runs on the loop thread.
//
// Errors of Create*(): ResourceExhausted when the device has no more of them,
// InvalidArgument when it can't be as asked for.
class Provider {
 public:
  virtual ~Provider() = default;

  virtual DeviceAttributes QueryDevice() const = 0;

  // Errors: InvalidArgument, no such port.
  virtual absl::StatusOr<PortAttributes> QueryPort(int port) const = 0;

  // `process`: whose it is (Memory::process()), and so what is made in it.
  virtual absl::StatusOr<std::unique_ptr<Pd>> CreatePd(uint64_t process) = 0;
  virtual absl::StatusOr<std::unique_ptr<Mr>> CreateMr(const MrInit& init) = 0;
  virtual absl::StatusOr<std::unique_ptr<Mw>> CreateMw(Pd& pd) = 0;
  virtual absl::StatusOr<std::unique_ptr<Fmr>> CreateFmr(
      const FmrInit& init) = 0;
  virtual absl::StatusOr<std::unique_ptr<Ah>> CreateAh(
      Pd& pd, const AddressAttributes& attributes) = 0;
  virtual absl::StatusOr<std::unique_ptr<Cq>> CreateCq(
      uint32_t size, CqListener& listener) = 0;
  virtual absl::StatusOr<std::unique_ptr<Srq>> CreateSrq(
      Pd& pd, const SrqAttributes& attributes, ObjectListener& listener) = 0;
  virtual absl::StatusOr<std::unique_ptr<Qp>> CreateQp(
      const QpInit& init, ObjectListener& listener) = 0;

  virtual void AddListener(DeviceListener& listener) = 0;
  virtual void RemoveListener(DeviceListener& listener) = 0;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PROVIDER_H_
