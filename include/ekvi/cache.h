// Key/value caches: the keys and values of all earlier tokens of several rows (sequences), kept so that a decode step
// writes one token and copies none.
//
//   ContiguousCache   [layer][row, kv_head, max_len, head_dim], reserved once, readable as plain strided arrays
//   PagedCache        blocks of tokens from a BlockPool, taken as rows grow, shared after Fork until written
//
// Both stand behind KvCache, the interface that attention reads and a decoder writes. The numbered invariants are in
// docs/cache.md. The paged design follows Kwon et al., "Efficient Memory Management for Large Language Model Serving
// with PagedAttention" (SOSP 2023), section 4; what differs: K lies interleaved in tiles of 16 tokens, for the kernel.
//
// Rows and lengths. A row holds length(row) committed tokens. Tokens are added by an Append: it checks and reserves
// everything first, the layers write, Commit makes the tokens visible in all layers at once. An Append that dies
// without Commit leaves every byte that can be seen as it was.
//
// Threads. One thread at a time may call what is not const. Any number may read (const) meanwhile, except rows that
// an open Append writes; counters, free blocks and invariants are the writer's to ask for. Write calls of one Append
// for different layers or rows may overlap.
//
// Errors. Arguments that cannot be are Error(kInvalidArgument) (a row, layer or head that does not exist: named), what
// does not fit is Error(kCapacity); both change nothing. Changing anything but through the open Append is EKVI_CHECK.
//
// Cost. Nothing but the constructors, ShuffleFreeBlocks, FreeBlocks, CheckInvariants and the text of an error allocates
// memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ekvi/cache_layout.h"
#include "ekvi/dtype.h"

namespace ekvi {

class KvCache;

// How the keys of a tile of 16 tokens lie: [token][d] with rows side by side, or [d][token 0 … 15].
enum class KeyOrder { kTokenMajor, kInterleaved };

// Tiles of one layer and row: where 16 tokens' keys and values of KV head 0 begin, and the way to the next head.
// K of token t in a tile, dimension d: kTokenMajor k[t × head_dim_k + d], kInterleaved k[d × 16 + t].
// V: v[t × head_dim_v + d]. Slots past the row's length hold anything but are readable when kInterleaved;
// token-major rows past max_len do not exist.
struct TileGeometry {
  KeyOrder key_order = KeyOrder::kTokenMajor;
  int64_t k_head_bytes = 0;
  int64_t v_head_bytes = 0;
  // Tiles of a head that lie in one piece: tile t and t + 1, unless t + 1 is a multiple of it.
  int64_t run_tiles = 1;
};

// Reserved room for new tokens, all layers. Move-only; dropping it without Commit gives everything back. It must die
// before its cache. After Commit it may only be dropped; any other call on it is EKVI_CHECK.
class Append {
 public:
  Append(Append&& other) noexcept;
  Append& operator=(Append&&) = delete;
  ~Append();

  // Tokens row `row` receives, its committed length before them, and the length that Commit will make visible.
  int64_t count(int row) const;
  int64_t past(int row) const;
  int64_t total(int row) const { return past(row) + count(row); }
  int rows() const;
  const KvCache& cache() const;

  // Writes all count(row) tokens of a layer: dimension d of head h of token t is k[t × k_token_stride +
  // h × k_head_stride + d], v likewise; strides in elements. Values are rounded to the cache's type, to nearest even,
  // whatever the caller's control word says. T is float or double. Writing a layer and row again overwrites; one that
  // is not written holds anything. Precondition (checked): layer and row exist.
  template <typename T>
  struct Source {
    const T* k;
    const T* v;
    int64_t k_token_stride, k_head_stride;
    int64_t v_token_stride, v_head_stride;
  };
  template <typename T>
  void Write(int layer, int row, const Source<T>& source);

  // Makes the tokens visible in every layer. Never fails.
  void Commit() noexcept;

 private:
  friend class KvCache;
  explicit Append(KvCache* cache) : cache_(cache) {}
  KvCache& Open() const;
  KvCache* cache_;  // null once moved from, committed or given back
};

class KvCache {
 public:
  virtual ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  const CacheLayout& layout() const { return layout_; }
  int rows() const { return static_cast<int>(lengths_.size()); }
  int64_t max_len() const { return max_len_; }
  int64_t length(int row) const;
  // Bytes of the arena; equals ContiguousBytes or PagedBytes.
  virtual size_t bytes() const = 0;
  // What a row's committed tokens occupy: whole blocks when paged, the tokens themselves when contiguous.
  struct Held {
    uint64_t bytes = 0;
    int64_t blocks = 0;  // 0 when contiguous
  };
  virtual Held held(int row) const = 0;
  // Bytes of keys and values stored by Append::Write since construction, and bytes of them moved from row to row: by
  // copy on write (whole tiles of keys, the tokens' values), by Fork and Permute of a contiguous cache (the tokens a
  // row received).
  uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }
  uint64_t bytes_copied() const { return bytes_copied_; }

  // Reserves room for counts[row] more tokens in every row; at most one Append may be open at a time (EKVI_CHECK).
  // Errors, with nothing changed, all rows checked first: kInvalidArgument for a wrong number of counts or a negative
  // one; kCapacity, naming row, length, count and limit, past max_len; kCapacity, naming the row and the blocks needed
  // and free.
  [[nodiscard]] Append BeginAppend(std::span<const int64_t> counts);

  // Cuts row `row` to `length` tokens (kInvalidArgument when it is shorter). Paged: whole blocks behind the new end are
  // given up. Reset is Truncate to 0.
  void Truncate(int row, int64_t length);
  void Reset(int row) { Truncate(row, 0); }
  // Row `to` becomes a second owner of row `from`'s tokens (its own are dropped). Paged: blocks are shared and the
  // partial one is copied when first written; contiguous: the bytes are copied.
  void Fork(int from, int to);
  // Row i becomes what row source[i] was, all at once; a source may repeat (beams). Paged: tables move and share, no
  // token is copied. kInvalidArgument for a wrong number of sources or one outside the rows.
  void Permute(std::span<const int> source);

  // For attention: fills k[i] and v[i] with the addresses of tile first_tile + i (of 16 tokens) of KV head 0.
  // Tiles may reach into tokens of an open Append. Never allocates. Addresses hold until the row is next changed.
  // Precondition (checked): layer and row exist, as many k as v, no tile begins behind the row's room: max_len when
  // contiguous, its blocks when paged.
  virtual void Tiles(int layer, int row, int64_t first_tile, std::span<const std::byte*> k,
                     std::span<const std::byte*> v) const = 0;
  virtual TileGeometry Geometry(int layer) const = 0;

  // Committed token `pos`, KV head `head` as float64, exactly: k[head_dim_k], v[head_dim_v]. For tests, export and the
  // verifier. kInvalidArgument for what does not exist and for spans of another size.
  void Read(int layer, int row, int64_t pos, int head, std::span<double> k, std::span<double> v) const;

 protected:
  // `layout` and the numbers have passed CheckLayout and CheckShape.
  KvCache(CacheLayout layout, int rows, int64_t max_len);

  // What a storage must do; lengths and argument checks are the base class's. lengths_ holds the old lengths in each.
  virtual void Reserve(std::span<const int64_t> counts) = 0;  // throws kCapacity, nothing changed
  virtual void GiveBack() noexcept = 0;                       // undoes Reserve
  virtual void DropTail(int row, int64_t length) = 0;
  virtual void Share(int from, int to) = 0;
  virtual void Rearrange(std::span<const int> source) = 0;
  // Where a tile of KV head 0 lies, for writing and without the faults that Tiles may inject.
  struct TilePlace {
    std::byte* k;
    std::byte* v;
  };
  virtual TilePlace Place(int layer, int row, int64_t tile) = 0;

  bool append_open() const { return open_; }
  // Tokens that an open Append adds to a row.
  int64_t pending(int row) const { return open_ ? pending_[static_cast<size_t>(row)] : 0; }
  size_t bytes_per_token() const { return bytes_per_token_; }
  void CheckRow(int row) const;      // kInvalidArgument
  void CheckLayer(int layer) const;  // kInvalidArgument

  std::vector<int64_t> lengths_;
  uint64_t bytes_copied_ = 0;

 private:
  friend class Append;
  template <typename T>
  void WriteRows(int layer, int row, const Append::Source<T>& source);
  void EndAppend() noexcept;

  CacheLayout layout_;
  int64_t max_len_;
  size_t bytes_per_token_;
  std::vector<int64_t> pending_;  // counts of the open Append
  bool open_ = false;
  std::atomic<uint64_t> bytes_written_ = 0;
};

// All rows reserved in full, in memory that is committed when first touched. Strided views of K and V alias the arena:
// k(layer)[row, kv_head, pos, d] is data[row × row_stride + kv_head × head_stride + pos × pos_stride + d], in elements
// of the layout's type.
class ContiguousCache final : public KvCache {
 public:
  // Errors: as ContiguousBytes; kCapacity where the memory is not to be had.
  ContiguousCache(CacheLayout layout, const ContiguousShape& shape);
  ~ContiguousCache() override;

  struct View {
    const void* data;
    DType dtype;
    int64_t row_stride, head_stride, pos_stride;  // elements
  };
  View k(int layer) const;
  View v(int layer) const;

  size_t bytes() const override;
  Held held(int row) const override;
  void Tiles(int layer, int row, int64_t first_tile, std::span<const std::byte*> k,
             std::span<const std::byte*> v) const override;
  TileGeometry Geometry(int layer) const override;

 private:
  void Reserve(std::span<const int64_t> counts) override;
  void GiveBack() noexcept override;
  void DropTail(int row, int64_t length) override;
  void Share(int from, int to) override;
  void Rearrange(std::span<const int> source) override;
  TilePlace Place(int layer, int row, int64_t tile) override;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Blocks taken as rows grow; see BlockPool and BlockTable (src/cache) for the bookkeeping.
class PagedCache final : public KvCache {
 public:
  // Errors: as PagedBytes; kCapacity where the memory is not to be had.
  PagedCache(CacheLayout layout, const PagedShape& shape);
  ~PagedCache() override;

  int block_tokens() const;
  int64_t free_blocks() const;
  // The blocks of a row, in order. For tests and reports.
  std::span<const int32_t> blocks(int row) const;
  // Brings the free blocks into another order, drawn from `seed`: the verifier's proof that their order is nothing.
  void ShuffleFreeBlocks(uint64_t seed);
  // Owners of a block: the rows that name it. kInvalidArgument for a block that does not exist.
  int block_owners(int32_t block) const;
  // The free blocks, next to be taken first. Allocates; for tests and reports.
  std::vector<int32_t> FreeBlocks() const;
  // Aborts where an invariant of docs/cache.md does not hold.
  void CheckInvariants() const;

  size_t bytes() const override;
  Held held(int row) const override;
  void Tiles(int layer, int row, int64_t first_tile, std::span<const std::byte*> k,
             std::span<const std::byte*> v) const override;
  TileGeometry Geometry(int layer) const override;

 private:
  void Reserve(std::span<const int64_t> counts) override;
  void GiveBack() noexcept override;
  void DropTail(int row, int64_t length) override;
  void Share(int from, int to) override;
  void Rearrange(std::span<const int> source) override;
  TilePlace Place(int layer, int row, int64_t tile) override;

  // For the fault kStaleBlock: the index of the row's last full block, −1 where it has fewer than two.
  int64_t StaleBlock(int row) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ekvi
