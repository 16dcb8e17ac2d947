#include "sorus/data/classes.h"
#include "sorus/data/partial_sampler.h"
#include "tests/data/helpers.h"

/// Orders by class and by file, against those that the genuine MindSpore gave for the seed 3.
namespace sorus::data {
namespace {

using test::error_of;
using Ids = std::vector<int64_t>;

ClassRows three_classes(const std::string&) {
  return {{0, {0, 1, 2}}, {1, {3, 4, 5, 6}}, {2, {7, 8, 9, 10, 11}}, {3, {}}};
}

SamplerPtr made(const SamplerPtr& sampler) { return sampler_for(sampler, three_classes); }

std::vector<Ids> epochs(const SamplerPtr& sampler, int64_t rows, int count) {
  std::vector<Ids> out;
  SamplerRun run = sampler->start(rows, 3);
  for (int e = 0; e < count; ++e) {
    const RowIds ids = run();
    out.emplace_back();
    for (int64_t i = 0; i < ids.count; ++i) out.back().push_back(ids[i]);
  }
  return out;
}

TEST(ClassSampler, DrawsAsMindSporeDoes) {
  const SamplerPtr sorted = made(class_sampler(2));
  EXPECT_EQ(epochs(sorted, 12, 2), (std::vector<Ids>{{1, 0, 5, 6, 8, 7}, {2, 2, 5, 3, 11, 11}}));
  EXPECT_EQ(sorted->count(12), 6);
  const SamplerPtr shuffled = made(class_sampler(2, true));
  EXPECT_EQ(epochs(shuffled, 12, 2), (std::vector<Ids>{{7, 10, 6, 4, 0, 1}, {11, 11, 5, 3, 2, 2}}));
  const SamplerPtr few = made(class_sampler(2, false, 3));
  EXPECT_EQ(epochs(few, 12, 1), (std::vector<Ids>{{1, 0, 5}}));
  EXPECT_EQ(few->count(12), 3);
}

TEST(ClassSampler, FindsClassesThroughOtherSamplers) {
  const SamplerPtr limited = made(limited_sampler(class_sampler(2), 4));
  EXPECT_EQ(epochs(limited, 12, 1), (std::vector<Ids>{{1, 0, 5, 6}}));
  const SamplerPtr other = limited_sampler(random_sampler(), 4);
  EXPECT_EQ(made(other), other);
}

TEST(ClassSampler, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of<ValueError>([] { (void)class_sampler(0); }),
            "PKSampler: num_val is out of range: got 0, need 1 or more");
  EXPECT_EQ(error_of<ValueError>([] { (void)class_sampler(1, false, {}, ""); }),
            "PKSampler: class_column is empty: need the name of a field");
  EXPECT_EQ(error_of<IndexError>([] { (void)made(class_sampler(1))->start(4, 3); }),
            "PKSampler: a sampler before it leaves rows out: got 4 rows, need all of the source's");
  EXPECT_EQ(error_of<ValueError>([] { (void)class_sampler(1)->start(4, 3); }),
            "PKSampler: there are no classes: need a source that has them");
  EXPECT_EQ(error_of<ValueError>([] { (void)made(class_sampler(INT64_MAX / 2))->count(12); }),
            "PKSampler: num_val is out of range: got 4611686018427387903 of 3 classes, need fewer");
}

TEST(FileSampler, CutsTheOrderBeforeIntoFiles) {
  const SamplerPtr files = file_sampler({3, 5, 2, 4}, FileShuffle::kFiles);
  EXPECT_EQ(epochs(files, 14, 3), (std::vector<Ids>{{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1, 2},
                                                    {6, 7, 8, 9, 10, 11, 12, 3, 4, 5, 13, 0, 1, 2},
                                                    {9, 10, 11, 12, 3, 13, 0, 1, 2, 4, 5, 6, 7, 8}}));
}

TEST(FileSampler, ShufflesInPart) {
  const auto partial = [](const SamplerPtr& choice) {
    return epochs(partial_sampler({3, 5, 2, 4}, choice), 14, 2);
  };
  EXPECT_EQ(partial(sequential_sampler()),
            (std::vector<Ids>{{8, 12, 1, 3, 4, 9, 2, 0, 5, 13, 11, 7, 6, 10},
                              {13, 10, 9, 12, 6, 1, 3, 4, 8, 2, 5, 0, 7, 11}}));
  EXPECT_EQ(partial(sequential_sampler(0, 6)), (std::vector<Ids>{{8, 5, 6, 3, 4, 7}, {4, 5, 3, 7, 6, 8}}));
  EXPECT_EQ(partial(distributed_sampler(3, 2, false)),
            (std::vector<Ids>{{3, 5, 0, 8, 11}, {1, 5, 11, 3, 8}}));
  EXPECT_EQ(partial(distributed_sampler(2, 1, false, 3)), (std::vector<Ids>{{8, 4, 6}, {8, 4, 6}}));
}

TEST(FileSampler, ShufflesAMillionRowsAtATime) {
  const int64_t rows = 2'400'000;
  const Ids ids =
      epochs(partial_sampler({700'000, 800'000, 300'000, 600'000}, sequential_sampler()), rows, 1)[0];
  EXPECT_EQ(Ids(ids.begin(), ids.begin() + 5), (Ids{1176297, 1417953, 1531737, 796427, 1313813}));
  // Files come in the order 1, 2, 3, 0: the last piece is what is left of file 0.
  EXPECT_TRUE(std::all_of(ids.begin() + 2'000'000, ids.end(),
                          [](int64_t id) { return id >= 300'000 && id < 700'000; }));
}

}  // namespace
}  // namespace sorus::data
