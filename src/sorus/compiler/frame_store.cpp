#include "sorus/compiler/frame_store.h"

#include <pthread.h>

#include <mutex>
#include <vector>

#include "sorus/base/fork_mutex.h"
#include "sorus/compiler/frame.h"

namespace sorus {
namespace {

struct Store {
  ForkMutex mutex;
  std::vector<Frame*> free;
  std::vector<Frame*> lent;

  static Store& instance() {
    static auto& store = *[] {
      auto* made = new Store;
      pthread_atfork(nullptr, nullptr, [] { instance().lose_others(); });
      return made;
    }();
    return store;
  }
  /// In the child of a fork, which has one thread.
  void lose_others() {
    Frame* mine = &Frame::current();
    for (Frame* f : lent)
      if (f != mine) f->lose();
    lent.assign(1, mine);
  }
};

}  // namespace

LentFrame::LentFrame() {
  Store& store = Store::instance();
  std::lock_guard lock(store.mutex);
  if (store.free.empty()) {
    frame_ = new Frame;
  } else {
    frame_ = store.free.back();
    store.free.pop_back();
  }
  store.lent.push_back(frame_);
}

LentFrame::~LentFrame() {
  Store& store = Store::instance();
  std::lock_guard lock(store.mutex);
  std::erase(store.lent, frame_);
  store.free.push_back(frame_);
}

}  // namespace sorus
