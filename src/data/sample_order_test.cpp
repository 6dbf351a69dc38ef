// SPDX-License-Identifier: Apache-2.0
#include "data/sample_order.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

using Indices = std::vector<int64_t>;

Indices stream(const SampleOrder& order, int samples, int64_t batch_size = 1) {
  Indices v;
  auto cursor = order.begin();
  for (int i = 0; i < samples; ++i) v.push_back(order.next(cursor, batch_size).index);
  return v;
}

SampleOrder plain(int64_t n, int shards, int shard, bool stick, bool pad) {
  return SampleOrder({.size = n,
                      .epoch_end = pad ? EpochEnd::repeat_last : EpochEnd::exact,
                      .num_shards = shards,
                      .shard_id = shard,
                      .stick_to_shard = stick});
}

// Recorded from nvidia.dali 2.4 readers.file: three epochs or so of pipe.run() with shuffling off.
TEST(SampleOrder, UnshuffledShardsAreDalis) {
  EXPECT_EQ(stream(plain(10, 3, 0, false, false), 9), (Indices{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(stream(plain(10, 3, 1, false, false), 9), (Indices{3, 4, 5, 6, 7, 8, 9, 0, 1}));
  EXPECT_EQ(stream(plain(10, 3, 2, false, false), 12), (Indices{6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(stream(plain(10, 3, 0, false, true), 12), (Indices{0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 9}));
  EXPECT_EQ(stream(plain(10, 3, 1, false, true), 12), (Indices{3, 4, 5, 5, 6, 7, 8, 9, 0, 1, 2, 2}));
  EXPECT_EQ(stream(plain(10, 3, 2, false, true), 12), (Indices{6, 7, 8, 9, 0, 1, 2, 2, 3, 4, 5, 5}));
  EXPECT_EQ(stream(plain(10, 3, 0, true, false), 9), (Indices{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(stream(plain(10, 3, 2, true, false), 9), (Indices{6, 7, 8, 9, 6, 7, 8, 9, 6}));
  EXPECT_EQ(stream(plain(10, 3, 1, true, true), 12), (Indices{3, 4, 5, 5, 3, 4, 5, 5, 3, 4, 5, 5}));
  EXPECT_EQ(stream(plain(9, 2, 0, false, true), 18, 2),
            (Indices{0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 8, 8, 0, 1, 2, 3, 3, 3}));
  EXPECT_EQ(stream(plain(9, 2, 1, true, true), 12, 2), (Indices{4, 5, 6, 7, 8, 8, 4, 5, 6, 7, 8, 8}));
  EXPECT_EQ(stream(plain(9, 2, 1, false, false), 12, 2), (Indices{4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(plain(10, 3, 1, false, false).epoch_size(), 10);
  EXPECT_EQ(plain(10, 3, 1, false, false).epoch_size_padded(), 10);
  EXPECT_EQ(plain(10, 3, 1, false, true).epoch_size_padded(), 12);
  EXPECT_EQ(plain(8, 2, 1, true, true).epoch_size_padded(), 8);
}

const std::vector<Shuffle> shuffles{Shuffle::none, Shuffle::once, Shuffle::every_epoch};
const std::vector<EpochEnd> ends{EpochEnd::exact, EpochEnd::wrap, EpochEnd::repeat_last};

OrderSettings settings_of(int64_t n, int shards, Shuffle shuffle, EpochEnd end, bool stick) {
  return {.size = n,
          .seed = 11,
          .shuffle = shuffle,
          .epoch_end = end,
          .num_shards = shards,
          .stick_to_shard = stick,
          .list_hash = 99};
}

// Calls body(settings) for every combination.
template <class Body>
void for_all(const std::vector<int64_t>& sizes, const std::vector<int>& shards, Body body) {
  for (int64_t n : sizes)
    for (int s : shards)
      for (Shuffle shuffle : shuffles)
        for (EpochEnd end : ends)
          for (bool stick : {false, true})
            if (n >= s) body(settings_of(n, s, shuffle, end, stick));
}

std::string describe(const OrderSettings& s) {
  return "size " + std::to_string(s.size) + ", shards " + std::to_string(s.num_shards) + ", shuffle " +
         std::to_string(static_cast<int>(s.shuffle)) + ", end " + std::to_string(static_cast<int>(s.epoch_end)) +
         ", stick " + std::to_string(s.stick_to_shard);
}

SampleOrder rank(OrderSettings settings, int r) {
  settings.shard_id = r;
  return SampleOrder(settings);
}

TEST(SampleOrder, EverySampleExactlyOnceOverAllShards) {
  for_all({1, 2, 3, 7, 10, 64, 301, 1000}, {1, 2, 3, 7, 8}, [](const OrderSettings& s) {
    for (uint64_t epoch : {0, 1, 5}) {
      Indices times(s.size);
      std::set<int64_t> positions;
      int64_t own = 0, shares = 0, shortest = s.size, longest = 0;
      for (int r = 0; r < s.num_shards; ++r) {
        const SampleOrder order = rank(s, r);
        own += order.own_length(epoch);
        shares += order.shard_size(r);
        shortest = std::min(shortest, order.own_length(epoch));
        longest = std::max(longest, order.own_length(epoch));
        ASSERT_EQ(order.length(epoch), s.epoch_end == EpochEnd::exact ? order.own_length(epoch)
                                                                      : (s.size + s.num_shards - 1) / s.num_shards);
        for (int64_t k = 0; k < order.length(epoch); ++k) {
          const OrderedSample sample = order.at(epoch, k);
          ASSERT_EQ(sample.repeated, k >= order.own_length(epoch)) << describe(s);
          ASSERT_EQ(sample.repeated, sample.position >= s.size) << describe(s);
          ASSERT_TRUE(positions.insert(sample.position).second) << describe(s);
          if (!sample.repeated) {
            ++times[sample.index];
            ASSERT_EQ(order.index_at(epoch, sample.position), sample.index);
          }
        }
      }
      ASSERT_EQ(times, Indices(s.size, 1)) << describe(s) << ", epoch " << epoch;
      ASSERT_EQ(own, s.size);
      ASSERT_EQ(shares, s.size);
      ASSERT_LE(longest - shortest, 1);
    }
  });
}

TEST(SampleOrder, ShuffledSamplesAreDealtRoundRobinFromOneGlobalOrder) {
  const auto s = settings_of(100, 4, Shuffle::every_epoch, EpochEnd::exact, false);
  const SampleOrder whole(settings_of(100, 1, Shuffle::every_epoch, EpochEnd::exact, false));
  for (int r = 0; r < 4; ++r)
    for (int64_t k = 0; k < 25; ++k) {
      EXPECT_EQ(rank(s, r).at(3, k).position, k * 4 + r);
      EXPECT_EQ(rank(s, r).at(3, k).index, whole.at(3, k * 4 + r).index);
    }
}

TEST(SampleOrder, ShuffleModesDifferInTheirEpochs) {
  auto epoch_of = [](Shuffle shuffle, bool stick, uint64_t epoch) {
    const SampleOrder order(settings_of(500, 1, shuffle, EpochEnd::exact, stick));
    Indices v;
    for (int64_t k = 0; k < 500; ++k) v.push_back(order.at(epoch, k).index);
    return v;
  };
  Indices sorted(500);
  for (int i = 0; i < 500; ++i) sorted[i] = i;
  for (bool stick : {false, true}) {
    EXPECT_EQ(epoch_of(Shuffle::none, stick, 4), sorted);
    EXPECT_NE(epoch_of(Shuffle::once, stick, 0), sorted);
    EXPECT_EQ(epoch_of(Shuffle::once, stick, 0), epoch_of(Shuffle::once, stick, 7));
    EXPECT_NE(epoch_of(Shuffle::every_epoch, stick, 0), sorted);
    EXPECT_NE(epoch_of(Shuffle::every_epoch, stick, 0), epoch_of(Shuffle::every_epoch, stick, 1));
  }
}

TEST(SampleOrder, StickToShardKeepsTheShard) {
  auto s = settings_of(103, 4, Shuffle::every_epoch, EpochEnd::exact, true);
  for (int r = 0; r < 4; ++r)
    for (uint64_t epoch = 0; epoch < 5; ++epoch)
      for (int64_t k = 0; k < rank(s, r).length(epoch); ++k) {
        const int64_t index = rank(s, r).at(epoch, k).index;
        EXPECT_GE(index, 103 * r / 4);
        EXPECT_LT(index, 103 * (r + 1) / 4);
      }
}

// Every sample once, and where the ranks' batches would differ in number, one more of a rank.
TEST(SampleOrder, EvenLengthsGiveAllRanksAsManyBatches) {
  for_all({7, 8, 40, 41}, {2, 3, 5}, [](const OrderSettings& s) {
    for (int64_t batch : {1, 3, 4, 7, 20})
      for (uint64_t epoch = 0; epoch < 4; ++epoch) {
        std::set<int64_t> batches;
        Indices times(s.size);
        int64_t repeated = 0, wanted = 0;
        const auto count = [&](int64_t n) { return (n + batch - 1) / batch; };
        for (int r = 0; r < s.num_shards; ++r) {
          const SampleOrder order = rank(s, r);
          const int64_t length = order.even_length(epoch, batch);
          batches.insert(count(length));
          wanted += std::max(length, order.length(epoch)) - order.own_length(epoch);
          for (int64_t k = 0; k < length; ++k) {
            const OrderedSample sample = order.at(epoch, k);
            if (sample.repeated) ++repeated;
            else ++times[sample.index];
          }
          if (count(order.length(epoch)) == count(order.largest_share(epoch))) {
            ASSERT_EQ(length, order.length(epoch)) << describe(s);
          }
        }
        ASSERT_EQ(batches.size(), 1u) << describe(s);
        ASSERT_EQ(times, Indices(s.size, 1)) << describe(s);
        ASSERT_EQ(repeated, wanted) << describe(s);
      }
  });
}

TEST(SampleOrder, WrapRepeatsTheFront) {
  auto s = settings_of(10, 4, Shuffle::none, EpochEnd::wrap, false);
  EXPECT_EQ(stream(rank(s, 3), 3), (Indices{7, 8, 9}));
  EXPECT_EQ(stream(rank(s, 0), 3), (Indices{0, 1, 2}));  // two of its own, then the next in the list
  s.stick_to_shard = true;
  EXPECT_EQ(stream(rank(s, 0), 6), (Indices{0, 1, 0, 0, 1, 0}));
  s = settings_of(10, 4, Shuffle::every_epoch, EpochEnd::wrap, false);
  EXPECT_EQ(rank(s, 2).at(0, 2).index, rank(s, 0).at(0, 0).index);
  EXPECT_EQ(rank(s, 3).at(0, 2).index, rank(s, 1).at(0, 0).index);
}

// One epoch: some ranks read a while, a checkpoint is taken, another number of ranks goes on, several times over.
TEST(SampleOrder, AnyNumberOfRanksGoesOnWhereAnotherStopped) {
  const std::vector<std::vector<std::pair<int, int>>> plans{
      {{4, 3}, {2, 1000}},         {{1, 7}, {3, 1000}},
      {{8, 1}, {1, 1000}},         {{2, 5}, {3, 4}, {5, 2}, {1, 1000}},
      {{3, 2}, {3, 3}, {3, 1000}}, {{4, 2}, {4, 1}, {2, 3}, {4, 2}, {7, 1000}},
      {{2, 0}, {5, 1000}}};
  for (int64_t n : {8, 41, 100, 307})
    for (Shuffle shuffle : shuffles)
      for (EpochEnd end : ends)
        for (bool stick : {false, true})
          for (const auto& plan : plans)
            for (uint64_t epoch : {0, 3}) {
              Indices times(n);
              std::map<int64_t, int64_t> index_of;  // position to index
              ReaderState state = SampleOrder(settings_of(n, 1, shuffle, end, stick)).state_at(epoch, 0);
              for (const auto& [ranks, samples] : plan) {
                if (state.epoch != epoch) break;  // the epoch ended on a checkpoint
                OrderSettings s = settings_of(n, ranks, shuffle, end, stick);
                ReaderState next;
                int64_t longest = -1;
                for (s.shard_id = 0; s.shard_id < ranks; ++s.shard_id) {
                  const SampleOrder order(s, ReaderState::from_json(state.to_json()));
                  const int64_t taken = std::min<int64_t>(samples, order.length(epoch));
                  for (int64_t k = 0; k < taken; ++k) {
                    const OrderedSample sample = order.at(epoch, k);
                    if (sample.repeated) continue;
                    ++times[sample.index];
                    ASSERT_TRUE(index_of.emplace(sample.position, sample.index).second);
                  }
                  if (taken > longest) longest = taken, next = order.state_at(epoch, taken);
                }
                state = next;
              }
              ASSERT_EQ(state.epoch, epoch + 1);
              ASSERT_EQ(state.consumed, 0u);
              ASSERT_TRUE(state.legs.empty());
              ASSERT_EQ(times, Indices(n, 1)) << describe(settings_of(n, plan[0].first, shuffle, end, stick));
              // A sample's id does not depend on who read it.
              const SampleOrder first(settings_of(n, plan[0].first, shuffle, end, stick));
              for (const auto& [position, index] : index_of) {
                if (plan[0].second == 0) break;
                ASSERT_EQ(first.index_at(epoch, position), index);
              }
            }
}

TEST(SampleOrder, TheSameRanksGoOnExactly) {
  for_all({8, 41, 100}, {1, 3, 4}, [](const OrderSettings& base) {
    for (OrderSettings s = base; s.shard_id < s.num_shards; ++s.shard_id) {
      const SampleOrder straight(s);
      const int64_t per_epoch = straight.length(2), first = per_epoch / 3;
      // Also the case in which only a repeated sample is left for this rank.
      for (int64_t taken : {per_epoch / 2, s.size / s.num_shards - (s.size % s.num_shards == 0)}) {
        const SampleOrder middle(s, straight.state_at(2, first));
        const SampleOrder late(s, middle.state_at(2, taken - first));
        auto cursor = late.begin();
        SampleOrder::Cursor expected{2, taken};
        for (int64_t i = 0; i < 3 * per_epoch; ++i) {
          const OrderedSample a = late.next(cursor), b = straight.next(expected);
          ASSERT_EQ(a.index, b.index) << describe(s);
          ASSERT_EQ(a.position, b.position) << describe(s);
        }
      }
    }
  });
}

TEST(SampleOrder, StatesOfAllRanksAgree) {
  for_all({40, 41}, {2, 4}, [](const OrderSettings& s) {
    for (int64_t taken = 0; taken < 10; ++taken)
      for (int r = 1; r < s.num_shards; ++r) ASSERT_EQ(rank(s, r).state_at(1, taken), rank(s, 0).state_at(1, taken));
  });
}

TEST(SampleOrder, ARankWithNothingLeftBeginsTheNextEpoch) {
  auto s = settings_of(5, 1, Shuffle::every_epoch, EpochEnd::exact, false);
  const ReaderState state = SampleOrder(s).state_at(0, 4);
  s.num_shards = 3;
  s.shard_id = 2;
  const SampleOrder order(s, state);
  EXPECT_EQ(order.own_length(0), 0);
  EXPECT_EQ(order.first_epoch(), 0u);  // the other ranks' last one
  EXPECT_EQ(order.even_length(0, 4), 1);
  EXPECT_TRUE(order.at(0, 0).repeated);
  auto cursor = order.begin();
  EXPECT_EQ(order.next(cursor).index, rank(s, 2).at(1, 0).index);
  for (EpochEnd end : {EpochEnd::wrap, EpochEnd::repeat_last}) {  // nothing of its own, but a length like the others'
    s.epoch_end = end;
    EXPECT_EQ(SampleOrder(s, state).length(0), 1);
    EXPECT_LT(SampleOrder(s, state).at(0, 0).index, 5);
    EXPECT_TRUE(SampleOrder(s, state).at(0, 0).repeated);
  }
}

std::string message_of(const OrderSettings& s, const ReaderState& state) {
  try {
    SampleOrder order(s, state);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::argument);
    return e.what();
  }
  return "";
}

TEST(SampleOrder, RefusesAStateOfOtherData) {
  const auto s = settings_of(100, 2, Shuffle::every_epoch, EpochEnd::exact, false);
  const ReaderState state = SampleOrder(s).state_at(4, 7);
  EXPECT_EQ(message_of(s, state), "");
  auto with = [&](auto change) {
    OrderSettings t = s;
    change(t);
    return message_of(t, state);
  };
  const std::string begin = "the checkpoint belongs to other data and cannot be resumed: ";
  EXPECT_EQ(with([](auto& t) { t.size = 50; }), begin + "the number of samples was 100, is 50");
  EXPECT_EQ(with([](auto& t) { t.list_hash = 1; }), begin + "the list of files or their labels is another one");
  EXPECT_EQ(with([](auto& t) { t.seed = 3; }), begin + "seed was 11, is 3");
  EXPECT_EQ(with([](auto& t) { t.shuffle = Shuffle::none; }), begin + "shuffling was every_epoch, is none");
  EXPECT_EQ(with([](auto& t) { t.stick_to_shard = true; }), begin + "stick_to_shard was false, is true");
  EXPECT_EQ(with([](auto& t) {
              t.seed = 3;
              t.adopt_seed = true;
            }),
            "");
  EXPECT_EQ(with([](auto& t) {
              t.num_shards = 5;
              t.epoch_end = EpochEnd::wrap;
            }),
            "");
}

TEST(SampleOrder, RefusesADamagedState) {
  const auto dealt = settings_of(100, 2, Shuffle::once, EpochEnd::exact, false);
  const auto split = settings_of(100, 2, Shuffle::none, EpochEnd::exact, false);
  auto damaged = [](const OrderSettings& s, auto change) {
    ReaderState state = SampleOrder(s).state_at(1, 10);
    change(state);
    return message_of(s, state);
  };
  const std::string begin = "the reader's checkpoint is damaged: ";
  EXPECT_EQ(damaged(dealt, [](auto& t) { t.consumed = 101; }), begin + "more consumed than there are samples");
  EXPECT_EQ(damaged(dealt, [](auto& t) { t.consumed = UINT64_MAX; }), begin + "more consumed than there are samples");
  EXPECT_EQ(damaged(dealt, [](auto& t) { t.legs = {{1, 1}}; }),
            begin + "it has legs, but samples are dealt round-robin");
  EXPECT_EQ(damaged(split, [](auto& t) { t.legs = {{2, 51}}; }), begin + "a leg takes more than was left");
  EXPECT_EQ(damaged(split, [](auto& t) { t.legs = {{0, 1}}; }), begin + "a leg takes more than was left");
  EXPECT_EQ(damaged(split, [](auto& t) { t.legs = {{2, -1}}; }), begin + "a leg takes more than was left");
  EXPECT_EQ(damaged(split, [](auto& t) { t.legs = {{2, INT64_MAX}}; }), begin + "a leg takes more than was left");
  EXPECT_EQ(damaged(split, [](auto& t) { t.consumed = 5; }), begin + "its legs do not add up to consumed");
}

TEST(SampleOrder, RefusesWrongSettings) {
  EXPECT_THROW(SampleOrder({.size = 10, .num_shards = 0}), Error);
  EXPECT_THROW(SampleOrder({.size = 10, .num_shards = 2, .shard_id = 2}), Error);
  EXPECT_THROW(SampleOrder({.size = 10, .num_shards = 2, .shard_id = -1}), Error);
  EXPECT_THROW(SampleOrder({.size = 2, .num_shards = 3}), Error);
  EXPECT_THROW(SampleOrder({.size = 0}), Error);
  EXPECT_THROW(SampleOrder({.size = -5}), Error);
  EXPECT_THROW(SampleOrder({.size = INT64_MAX}), Error);
  EXPECT_THROW(SampleOrder({.size = 4}).at(0, 4), Error);
  EXPECT_THROW(SampleOrder({.size = 4}).at(0, -1), Error);
}

TEST(SampleOrder, OrderSeedIsTheSameOnAllRanks) {
  EXPECT_EQ(order_seed({}, 77, 1), 77u);
  EXPECT_EQ(order_seed(-1, 77, 1), 77u);
  EXPECT_EQ(order_seed(5, 77, 1), 5u);
  EXPECT_EQ(order_seed(5, 77, 8), 5u);
  EXPECT_EQ(order_seed({}, 12, 8), order_seed({}, 13, 8));  // pipelines seeded with 12 + rank
}

TEST(SampleOrder, ReadersArgumentsBecomeSettings) {
  OrderSettings s = order_settings({}, 77, 10, 5);
  EXPECT_EQ(s.shuffle, Shuffle::none);
  EXPECT_EQ(s.epoch_end, EpochEnd::exact);
  EXPECT_EQ(s.seed, 77u);
  EXPECT_EQ(s.list_hash, 5u);
  EXPECT_TRUE(s.adopt_seed);
  s = order_settings({.random_shuffle = true,
                      .pad_last_batch = true,
                      .num_shards = 3,
                      .shard_id = 2,
                      .seed = 4,
                      .shuffle_after_epoch_seed = 6},
                     77, 10, 5);
  EXPECT_EQ(s.shuffle, Shuffle::every_epoch);
  EXPECT_EQ(s.epoch_end, EpochEnd::repeat_last);
  EXPECT_EQ(s.seed, 4u);
  EXPECT_FALSE(s.adopt_seed);
  EXPECT_EQ(SampleOrder(s).settings().shard_id, 2);
  s = order_settings({.shuffle_after_epoch = true, .seed = 4, .shuffle_after_epoch_seed = 6}, 77, 10, 5);
  EXPECT_EQ(s.shuffle, Shuffle::every_epoch);
  EXPECT_EQ(s.seed, 6u);
  EXPECT_THROW(order_settings({.random_shuffle = true, .shuffle_after_epoch = true}, 1, 10, 5), Error);
  EXPECT_THROW(order_settings({.shuffle_after_epoch = true, .stick_to_shard = true}, 1, 10, 5), Error);
}

// A state saved by one rank with the pipeline's seed goes on with several ranks, where that seed is not used.
TEST(SampleOrder, ASeedThatWasNotGivenComesFromTheState) {
  const auto one = order_settings({.random_shuffle = true}, 77, 100, 5);
  const ReaderState state = SampleOrder(one).state_at(2, 40);
  std::set<int64_t> rest;
  for (int r = 0; r < 3; ++r) {
    const SampleOrder order(order_settings({.random_shuffle = true, .num_shards = 3, .shard_id = r}, 80 + r, 100, 5),
                            state);
    for (int64_t k = 0; k < order.length(2); ++k) rest.insert(order.at(2, k).index);
  }
  std::set<int64_t> expected;
  for (int64_t k = 40; k < 100; ++k) expected.insert(SampleOrder(one).at(2, k).index);
  EXPECT_EQ(rest, expected);
}

TEST(ReaderState, SurvivesJson) {
  const auto s = settings_of(1000, 3, Shuffle::none, EpochEnd::exact, false);
  ReaderState state = SampleOrder(s).state_at(9, 20);
  state.fingerprint.seed = UINT64_MAX;
  EXPECT_EQ(ReaderState::from_json(state.to_json()), state);
}

TEST(ReaderState, RefusesTextThatIsNoState) {
  const SampleOrder order(settings_of(9, 3, Shuffle::none, EpochEnd::exact, false));
  const std::string good = order.state_at(1, 1).to_json();
  auto replaced = [&](const std::string& from, const std::string& to) {
    std::string t = good;
    t.replace(t.find(from), from.size(), to);
    return t;
  };
  EXPECT_NO_THROW(ReaderState::from_json(good));
  const std::vector<std::string> bad{"",
                                     "[]",
                                     "{}",
                                     "null",
                                     good.substr(0, good.size() / 2),
                                     replaced("\"epoch\":1", "\"epoch\":-1"),
                                     replaced("\"epoch\":1", "\"epoch\":1.5"),
                                     replaced("\"epoch\":1", "\"epoch\":true"),
                                     replaced("\"epoch\":1", "\"epoch\":1e30"),
                                     replaced("\"none\"", "\"often\""),
                                     replaced("\"none\"", "3"),
                                     replaced("[[3,1]]", "[[3]]"),
                                     replaced("[[3,1]]", "[3,1]"),
                                     replaced("[[3,1]]", "{}"),
                                     replaced("[[3,1]]", "[[99999999999,1]]"),
                                     replaced("false", "0"),
                                     replaced("\"seed\"", "\"sead\"")};
  for (const auto& text : bad) {
    try {
      ReaderState::from_json(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::argument);
      EXPECT_EQ(std::string(e.what()).rfind("the reader's checkpoint is damaged: ", 0), 0u) << e.what();
    }
  }
}

}  // namespace
}  // namespace penstock
