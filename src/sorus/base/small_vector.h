#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace sorus {

/// A vector whose first N elements live inside the object, so that short lists cost no allocation.
/// Grows like std::vector beyond N; references are invalidated by growth. Not thread-safe.
template <class T, size_t N>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(size_t n, const T& value = T()) { resize(n, value); }
  SmallVector(std::initializer_list<T> items) : SmallVector(items.begin(), items.end()) {}
  explicit SmallVector(std::span<const T> items) : SmallVector(items.begin(), items.end()) {}
  template <std::input_iterator It>
  SmallVector(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  SmallVector(const SmallVector& other) : SmallVector(other.begin(), other.end()) {}
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      reserve(other.size_);
      for (const T& item : other) push_back(item);
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] T& operator[](size_t i) { return data_[i]; }
  [[nodiscard]] const T& operator[](size_t i) const { return data_[i]; }
  [[nodiscard]] T& front() { return data_[0]; }
  [[nodiscard]] const T& front() const { return data_[0]; }
  [[nodiscard]] T& back() { return data_[size_ - 1]; }
  [[nodiscard]] const T& back() const { return data_[size_ - 1]; }
  iterator begin() { return data_; }
  iterator end() { return data_ + size_; }
  const_iterator begin() const { return data_; }
  const_iterator end() const { return data_ + size_; }
  operator std::span<T>() { return {data_, size_}; }              // NOLINT: a view is always safe to take
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT

  void reserve(size_t n) {
    if (n > capacity_) grow(n);
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) [[unlikely]] {
      T item(std::forward<Args>(args)...);  // an argument may point into the old block
      grow(capacity_ * 2);
      return *new (data_ + size_++) T(std::move(item));
    }
    return *new (data_ + size_++) T(std::forward<Args>(args)...);
  }
  void push_back(const T& item) { emplace_back(item); }
  void push_back(T&& item) { emplace_back(std::move(item)); }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    std::destroy_n(data_, size_);
    size_ = 0;
  }
  void resize(size_t n, const T& value = T()) {
    reserve(n);
    while (size_ > n) pop_back();
    while (size_ < n) emplace_back(value);
  }
  iterator insert(const_iterator position, T item) {
    size_t at = static_cast<size_t>(position - data_);
    emplace_back(std::move(item));
    std::rotate(data_ + at, data_ + size_ - 1, data_ + size_);
    return data_ + at;
  }
  iterator erase(const_iterator position) {
    T* at = data_ + (position - data_);
    std::move(at + 1, end(), at);
    pop_back();
    return at;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  T* inline_data() { return std::launder(reinterpret_cast<T*>(inline_)); }
  [[nodiscard]] bool on_heap() const {
    return static_cast<const void*>(data_) != static_cast<const void*>(inline_);
  }
  void grow(size_t n) {
    n = std::max(n, size_t{4});
    T* block = static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{alignof(T)}));
    std::uninitialized_move_n(data_, size_, block);
    std::destroy_n(data_, size_);
    free_block();
    data_ = block;
    capacity_ = n;
  }
  void free_block() {
    if (on_heap()) ::operator delete (data_, std::align_val_t{alignof(T)});
  }
  void release() {
    clear();
    free_block();
    data_ = inline_data();
    capacity_ = N;
  }
  void take(SmallVector& other) {
    if (other.on_heap()) {
      data_ = std::exchange(other.data_, other.inline_data());
      capacity_ = std::exchange(other.capacity_, N);
      size_ = std::exchange(other.size_, 0);
    } else {
      std::uninitialized_move_n(other.data_, other.size_, data_);
      size_ = other.size_;
      other.clear();
    }
  }

  alignas(T) std::byte inline_[N * sizeof(T) == 0 ? 1 : N * sizeof(T)];
  T* data_ = inline_data();
  size_t size_ = 0;
  size_t capacity_ = N;
};

}  // namespace sorus
