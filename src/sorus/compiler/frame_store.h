#pragma once

namespace sorus {

class Frame;

/// A frame that a thread has while this lives. Frames are never destroyed: the next thread gets it.
class LentFrame {
 public:
  LentFrame();
  ~LentFrame();
  LentFrame(const LentFrame&) = delete;
  LentFrame& operator=(const LentFrame&) = delete;
  Frame& operator*() const { return *frame_; }

 private:
  Frame* frame_;
};

}  // namespace sorus
