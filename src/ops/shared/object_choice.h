// SPDX-License-Identifier: Apache-2.0
// How segmentation.random_object_bbox chooses an object of a mask: connected pixels of one label, named by the first of
// them.
#pragma once
#include "families/team/kernels/lowest.h"
#include "families/team/team.h"
#include "pixel/stored.h"

namespace penstock {

using whole::lowered;

struct ObjectChoice {
  PENSTOCK_PIXEL(
      struct Coef {
        RandomStream stream;
        int64_t n;
        int64_t dims;
        int64_t extents[8];
        int64_t least[8];  // of a box
        int64_t background;
        int64_t classes;    // in the table; -1: all labels weigh the same
        int64_t k_largest;  // 0: all
        int32_t ignore_class;
        int32_t measures;  // boxes are needed for the choice
        int32_t ends;      // instead of extents
        int32_t output_class;
      };
      struct Class {
        int64_t label;
        double weight;
      };
      // What the threads share: parents lead to the first pixel of an object; -1 is of none. Boxes are along one axis
      // after the other, where objects have their first pixel: starts, then ends.
      struct Objects {
        const Coef& c;
        const Class* classes;
        int32_t* parent;
        int32_t* box;
        const Team& team;
      };
      PENSTOCK_HD static double weight_of(const Objects& o, int64_t label) {
        if (o.c.classes < 0) return 1.0;
        for (int64_t k = 0; k < o.c.classes; ++k) {
          if (o.classes[k].label == label) return o.classes[k].weight;
        }
        return 0.0;
      } PENSTOCK_HD static int32_t first_of(const int32_t* parent, int32_t i) {
        const volatile int32_t* const known = parent;
        while (known[i] != i) i = known[i];
        return i;
      } PENSTOCK_HD static void unite(const Objects& o, int32_t a, int32_t b) {
        for (;;) {
          a = first_of(o.parent, a);
          b = first_of(o.parent, b);
          if (a == b) return;
          const int32_t low = a < b ? a : b;
          const int32_t high = a < b ? b : a;
          const int32_t before = lowered(o.parent + high, low);
          if (before == high) return;
          a = low;
          b = before;
        }
      } template <class In> PENSTOCK_HD static int64_t label_of(In v) {
        if constexpr (std::is_integral_v<In>) return static_cast<int64_t>(v);
        else return 0;
      } template <class In> PENSTOCK_HD static void connect(const Objects& o, const In* mask) {
        const Share own = o.team.share(o.c.n);
        int64_t last = o.c.background;
        bool wanted = false;
        for (int64_t i = own.begin; i < own.end; ++i) {
          const int64_t label = label_of(mask[i]);
          if (label != last) wanted = label != o.c.background && weight_of(o, label) > 0;
          last = label;
          o.parent[i] = wanted ? static_cast<int32_t>(i) : -1;
        }
        o.team.sync();
        for (int64_t i = own.begin; i < own.end; ++i) {
          if (o.parent[i] < 0) continue;
          int64_t stride = 1;
          for (int64_t d = o.c.dims - 1; d >= 0; --d) {
            if (i / stride % o.c.extents[d] > 0 && mask[i - stride] == mask[i]) {
              unite(o, static_cast<int32_t>(i - stride), static_cast<int32_t>(i));
            }
            stride *= o.c.extents[d];
          }
        }
        o.team.sync();
        for (int64_t i = own.begin; i < own.end; ++i) {
          if (o.parent[i] >= 0) o.parent[i] = first_of(o.parent, static_cast<int32_t>(i));
        }
        o.team.sync();
      } PENSTOCK_HD static int64_t place(const Coef& c, int64_t i, int64_t axis) {
        for (int64_t d = c.dims - 1; d > axis; --d) i /= c.extents[d];
        return i % c.extents[axis];
      }
      // Boxes of all objects; is_object() leaves out those that are too small.
      PENSTOCK_HD static void measure(const Objects& o) {
        const Share own = o.team.share(o.c.n);
        for (int64_t k = 0; k < 2 * o.c.dims; ++k) {
          for (int64_t i = own.begin; i < own.end; ++i) o.box[k * o.c.n + i] = 2147483647;
        }
        o.team.sync();
        for (int64_t i = own.begin; i < own.end; ++i) {
          if (o.parent[i] < 0) continue;
          for (int64_t d = 0; d < o.c.dims; ++d) {
            const int32_t at = static_cast<int32_t>(place(o.c, i, d));
            lowered(o.box + d * o.c.n + o.parent[i], at);
            lowered(o.box + (o.c.dims + d) * o.c.n + o.parent[i], -at - 1);  // minus the end
          }
        }
        o.team.sync();
      } PENSTOCK_HD static int64_t extent(const Objects& o, int64_t i, int64_t d) {
        return -static_cast<int64_t>(o.box[(o.c.dims + d) * o.c.n + i]) - o.box[d * o.c.n + i];
      } PENSTOCK_HD static bool is_object(const Objects& o, int64_t i) {
        if (o.parent[i] != i) return false;
        for (int64_t d = 0; d < o.c.dims && o.c.measures; ++d) {
          if (extent(o, i, d) < o.c.least[d]) return false;
        }
        return true;
      } PENSTOCK_HD static int64_t volume(const Objects& o, int64_t i) {
        int64_t v = 1;
        for (int64_t d = 0; d < o.c.dims; ++d) v *= extent(o, i, d);
        return v;
      }
      // The smallest label of an object after this one; none: the largest number.
      template <class In> PENSTOCK_HD static int64_t label_after(const Objects& o, const In* mask, bool any,
                                                                 int64_t label) {
        const Share own = o.team.share(o.c.n);
        int64_t found = 9223372036854775807;
        for (int64_t i = own.begin; i < own.end; ++i) {
          const int64_t other = o.c.ignore_class ? 0 : label_of(mask[i]);
          if ((any || other > label) && other < found && is_object(o, i)) found = other;
        }
        return o.team.least(found);
      }
      // Object number k of a label, or of all if classes are ignored.
      template <class In> PENSTOCK_HD static int64_t object_at(const Objects& o, const In* mask, int64_t label,
                                                               double u) {
        const Share own = o.team.share(o.c.n);
        const auto fits = [&](int64_t i) {
          return is_object(o, i) && (o.c.ignore_class || label_of(mask[i]) == label);
        };
        int64_t count = 0;
        for (int64_t i = own.begin; i < own.end; ++i) count += fits(i);
        int64_t all = 0;
        const int64_t before = o.team.before(count, all);
        const bool sorts = o.c.k_largest > 0 && all > o.c.k_largest;
        const int64_t choices = sorts ? o.c.k_largest : all;
        int64_t k = static_cast<int64_t>(u * static_cast<double>(choices));
        if (k >= choices) k = choices - 1;
        int64_t found = o.c.n;
        if (!sorts) {
          int64_t left = k - before;
          for (int64_t i = own.begin; i < own.end && left >= 0 && left < count; ++i) {
            if (fits(i) && left-- == 0) found = i;
          }
          return o.team.least(found);
        }
        int64_t size = -9223372036854775807;  // minus the volume of the last one, and the last one
        int64_t last = -1;
        for (int64_t r = 0; r <= k; ++r) {
          int64_t next = 0;
          for (int64_t i = own.begin; i < own.end; ++i) {
            if (!fits(i)) continue;
            const int64_t v = -volume(o, i);
            if ((v > size || (v == size && i > last)) && v < next) next = v;
          }
          next = o.team.least(next);
          found = o.c.n;
          for (int64_t i = own.end - 1; i >= own.begin; --i) {
            if (fits(i) && -volume(o, i) == next && (next > size || i > last)) found = i;
          }
          last = o.team.least(found);
          size = next;
        }
        return last;
      } PENSTOCK_HD static void write(const Objects& o, int64_t object, const Arrays& a) {
        const Share own = o.team.share(o.c.n);
        for (int64_t d = 0; d < o.c.dims; ++d) {
          int64_t start = o.c.extents[d];
          int64_t end = 0;
          for (int64_t i = own.begin; i < own.end; ++i) {
            if (o.parent[i] != object) continue;
            const int64_t at = place(o.c, i, d);
            start = at < start ? at : start;
            end = at + 1 > end ? at + 1 : end;
          }
          start = o.team.least(start);
          end = -o.team.least(-end);
          if (o.team.index == 0) {
            a.to<int32_t>(0)[d] = static_cast<int32_t>(start);
            a.to<int32_t>(1)[d] = static_cast<int32_t>(o.c.ends ? end : end - start);
          }
        }
      } template <class In> PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table,
                                                        const Team& team, Refusal&) {
        const In* const mask = a.from<In>(0);
        int32_t* const parent = a.to<int32_t>(3);
        const Objects o{c, reinterpret_cast<const Class*>(table), parent, parent + c.n, team};
        connect(o, mask);
        if (c.measures) measure(o);
        const int64_t none = 9223372036854775807;
        double sum = 0;
        for (int64_t l = label_after(o, mask, true, 0); l != none; l = label_after(o, mask, false, l)) {
          sum += c.ignore_class ? 1.0 : weight_of(o, l);
        }
        double left = uniform01_wide(c.stream.draw64(1)) * sum;
        int64_t label = label_after(o, mask, true, 0);
        if (label == none) {  // no object: the whole mask
          for (int64_t d = team.index; d < c.dims; d += team.count) {
            a.to<int32_t>(0)[d] = 0;
            a.to<int32_t>(1)[d] = static_cast<int32_t>(c.extents[d]);
          }
          if (c.output_class && team.index == 0) a.to<int32_t>(2)[0] = static_cast<int32_t>(c.background);
          return;
        }
        for (;;) {
          left -= c.ignore_class ? 1.0 : weight_of(o, label);
          const int64_t next = left >= 0 ? label_after(o, mask, false, label) : none;
          if (next == none) break;
          label = next;
        }
        write(o, object_at(o, mask, label, uniform01_wide(c.stream.draw64(2))), a);
        if (c.output_class && team.index == 0) a.to<int32_t>(2)[0] = static_cast<int32_t>(label);
      });
};

}  // namespace penstock
