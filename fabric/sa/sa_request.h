// One request to subnet administration, and what is found for it.
#ifndef IBEMU_FABRIC_SA_SA_REQUEST_H_
#define IBEMU_FABRIC_SA_SA_REQUEST_H_

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/node.h"
#include "mad/address.h"
#include "mad/wire/layout.h"
#include "mad/wire/sa.h"

namespace ibemu::fabric {

struct SaRequest {
  mad::SaHeader header{};
  mad::AddressVector from{};  // where the answer goes
  PortId requester = kNoPort;
  bool trusted = false;  // knows the SM_Key
  // At least kSaDataBytes, zeros after what was sent.
  std::vector<std::byte> data{};

  bool Has(uint64_t components) const {
    return (header.component_mask & components) == components;
  }
  bool HasAny(uint64_t components) const {
    return (header.component_mask & components) != 0;
  }
  bool WantsOne() const { return header.mad.method == mad::Method::kGet; }

  template <wire::Structure T>
  T Record() const {
    return wire::Decode<T>(data);
  }
};

// The records of an answer, one after the other, each padded to 8 bytes.
class SaRecords {
 public:
  template <wire::Structure T>
  void Add(const T& record) {
    const size_t begin = bytes_.size();
    bytes_.resize(begin + each_);
    wire::Encode(record, std::span(bytes_).subspan(begin));
    ++count_;
  }

  // Of one kind: its size.
  explicit SaRecords(uint16_t attribute_offset)
      : each_(size_t{attribute_offset} * 8) {}

  size_t count() const { return count_; }
  uint16_t attribute_offset() const { return static_cast<uint16_t>(each_ / 8); }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  // The place of record `index`.
  std::span<const std::byte> at(size_t index) const {
    return std::span(bytes_).subspan(index * each_, each_);
  }

 private:
  size_t each_;
  size_t count_ = 0;
  std::vector<std::byte> bytes_;
};

// Finds records piece by piece, so that a long table holds nobody up.
class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // Adds what the next piece has.  False: it was the last one.
  virtual bool Next(SaRecords& records) = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_SA_REQUEST_H_
