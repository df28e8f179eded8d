// SaRequest: one request to subnet administration, and the records found for
// it.
#ifndef IBEMU_FABRIC_SA_SA_REQUEST_H_
#define IBEMU_FABRIC_SA_SA_REQUEST_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fabric/subnet/node.h"
#include "mad/address.h"
#include "mad/wire/sa.h"
#include "wire/layout.h"

namespace ibemu::fabric {

// A request as it arrived.
struct SaRequest {
  mad::SaHeader header{};
  mad::AddressVector from{};  // where the answer goes
  PortId requester = kNoPort;
  bool trusted = false;  // the request has the SM_Key
  // At least kSaDataBytes, padded with zeros.
  std::vector<std::byte> data{};

  bool Has(uint64_t components) const {
    return (header.component_mask & components) == components;
  }
  bool WantsOne() const { return header.mad.method == mad::Method::kGet; }

  template <wire::Structure T>
  T Record() const {
    return wire::Decode<T>(data);
  }
};

// The records of an answer, in one message: room for the header, then the
// records, each padded to a multiple of 8 bytes.
class SaRecords {
 public:
  // The most bytes of one answer; larger ones get ERR_NO_RESOURCES.
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  // `attribute_offset`: the size of a record in units of 8 bytes.  All records
  // have the same type.
  explicit SaRecords(uint16_t attribute_offset)
      : each_(size_t{attribute_offset} * 8), message_(mad::kSaDataOffset) {}

  template <wire::Structure T>
  void Add(const T& record) {
    // A long message gets all its address space at once, so that it is not
    // copied again.  The pages take no memory until they are written to.
    constexpr size_t kLong = size_t{1} << 20;
    const size_t begin = message_.size();
    if (begin > kLong && message_.capacity() < kMaxBytes) {
      message_.reserve(2 * kMaxBytes);
    }
    message_.resize(begin + each_);
    wire::Encode(record, std::span(message_).subspan(begin));
    ++count_;
  }

  size_t count() const { return count_; }
  size_t bytes() const { return message_.size(); }
  uint16_t attribute_offset() const { return static_cast<uint16_t>(each_ / 8); }
  // Returns the bytes of record `index`.
  std::span<const std::byte> at(size_t index) const {
    return std::span(message_).subspan(mad::kSaDataOffset + index * each_,
                                       each_);
  }

  // Returns the whole message, in which the header is not filled in yet.  To be
  // called once.
  std::vector<std::byte> Take() { return std::move(message_); }

 private:
  size_t each_;
  size_t count_ = 0;
  std::vector<std::byte> message_;
};

// An iterator that finds records in steps, so that a long table does not block
// the event loop.
class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // Adds the records of the next step.  Returns false if it was the last one.
  virtual bool Next(SaRecords& records) = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SA_REQUEST_H_
