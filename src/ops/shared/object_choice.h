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
        int32_t* first;  // of this thread: the first pixels of its objects, in order
        int32_t* box;
        const Team& team;
        int64_t width;      // of a row: the extent of the last axis that has more than one place
        int64_t count = 0;  // of this thread's objects
      };
      PENSTOCK_HD static int64_t width_of(const Coef& c) {
        int64_t d = c.dims - 1;
        while (d > 0 && c.extents[d] == 1) --d;
        return c.extents[d];
      }
      // Bit d: the place of pixel i on axis d is not the first one. For axes before that of a row.
      PENSTOCK_HD static uint32_t inner_axes(const Coef& c, int64_t i) {
        uint32_t axes = 0;
        int64_t stride = 1;
        for (int64_t d = c.dims - 1; d >= 0; --d) {
          if (stride > 1 && i / stride % c.extents[d] > 0) axes |= 1u << d;
          stride *= c.extents[d];
        }
        return axes;
      } PENSTOCK_HD static double weight_of(const Objects& o, int64_t label) {
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
      }
      // A pixel with those of the same label before it on the axes. If the pixels before both are of that label too,
      // they have connected these.
      template <class In> PENSTOCK_HD static void connect_rows(const Objects& o, const In* mask, int64_t i,
                                                               bool follows, uint32_t axes) {
        int64_t stride = 1;
        for (int64_t d = o.c.dims - 1; d >= 0; --d) {
          if (axes >> d & 1) {
            const int64_t other = i - stride;
            if (mask[other] == mask[i] && !(follows && mask[other - 1] == mask[i])) {
              unite(o, static_cast<int32_t>(other), static_cast<int32_t>(i));
            }
          }
          stride *= o.c.extents[d];
        }
      } template <class In> PENSTOCK_HD static void connect(Objects& o, const In* mask) {
        const Share own = o.team.share(o.c.n);
        int64_t last = o.c.background;
        bool wanted = false;
        int64_t start = own.begin;  // the first pixel of a run of one label leads the others
        for (int64_t i = own.begin, at = i % o.width; i < own.end; ++i, at = at + 1 == o.width ? 0 : at + 1) {
          const int64_t label = label_of(mask[i]);
          if (label != last) wanted = label != o.c.background && weight_of(o, label) > 0;
          if (label != last || at == 0) start = i;
          last = label;
          o.parent[i] = wanted ? static_cast<int32_t>(start) : -1;
        }
        o.team.sync();
        uint32_t axes = inner_axes(o.c, own.begin);
        for (int64_t i = own.begin, at = i % o.width; i < own.end; ++i, at = at + 1 == o.width ? 0 : at + 1) {
          if (at == 0) axes = inner_axes(o.c, i);
          if (o.parent[i] < 0) continue;
          const bool follows = at > 0 && mask[i - 1] == mask[i];
          if (follows && i == own.begin) unite(o, static_cast<int32_t>(i - 1), static_cast<int32_t>(i));
          connect_rows(o, mask, i, follows, axes);
        }
        o.team.sync();
        for (int64_t i = own.begin; i < own.end; ++i) {
          if (o.parent[i] < 0) continue;
          o.parent[i] = first_of(o.parent, static_cast<int32_t>(i));
          if (o.parent[i] == i) o.first[o.count++] = static_cast<int32_t>(i);
        }
        o.team.sync();
      } PENSTOCK_HD static int64_t place(const Coef& c, int64_t i, int64_t axis) {
        for (int64_t d = c.dims - 1; d > axis; --d) i /= c.extents[d];
        return i % c.extents[axis];
      }
      // Whether the pixels before and after one in its row belong to its object: then it is at no end of a box.
      PENSTOCK_HD static bool inside_run(const Objects& o, int64_t i, int64_t at) {
        return at > 0 && at + 1 < o.width && o.parent[i - 1] == o.parent[i] && o.parent[i + 1] == o.parent[i];
      }
      // Boxes of all objects.
      PENSTOCK_HD static void measure(const Objects& o) {
        const Share own = o.team.share(o.c.n);
        for (int64_t j = 0; j < o.count; ++j) {
          for (int64_t k = 0; k < 2 * o.c.dims; ++k) o.box[k * o.c.n + o.first[j]] = 2147483647;
        }
        o.team.sync();
        for (int64_t i = own.begin, at = i % o.width; i < own.end; ++i, at = at + 1 == o.width ? 0 : at + 1) {
          if (o.parent[i] < 0 || inside_run(o, i, at)) continue;
          for (int64_t d = 0; d < o.c.dims; ++d) {
            const int32_t on_axis = static_cast<int32_t>(place(o.c, i, d));
            lowered(o.box + d * o.c.n + o.parent[i], on_axis);
            lowered(o.box + (o.c.dims + d) * o.c.n + o.parent[i], -on_axis - 1);  // minus the end
          }
        }
        o.team.sync();
      } PENSTOCK_HD static int64_t extent(const Objects& o, int64_t i, int64_t d) {
        return -static_cast<int64_t>(o.box[(o.c.dims + d) * o.c.n + i]) - o.box[d * o.c.n + i];
      }
      // Leaves out objects that are too small.
      PENSTOCK_HD static void keep_large(Objects& o) {
        int64_t kept = 0;
        for (int64_t j = 0; j < o.count; ++j) {
          bool large = true;
          for (int64_t d = 0; d < o.c.dims; ++d) large &= extent(o, o.first[j], d) >= o.c.least[d];
          if (large) o.first[kept++] = o.first[j];
        }
        o.count = kept;
      } PENSTOCK_HD static int64_t volume(const Objects& o, int64_t i) {
        int64_t v = 1;
        for (int64_t d = 0; d < o.c.dims; ++d) v *= extent(o, i, d);
        return v;
      }
      // The smallest label of an object after this one; none: the largest number.
      template <class In> PENSTOCK_HD static int64_t label_after(const Objects& o, const In* mask, bool any,
                                                                 int64_t label) {
        int64_t found = 9223372036854775807;
        for (int64_t j = 0; j < o.count; ++j) {
          const int64_t other = o.c.ignore_class ? 0 : label_of(mask[o.first[j]]);
          if ((any || other > label) && other < found) found = other;
        }
        return o.team.least(found);
      }
      // Object number k of a label, or of all if classes are ignored.
      template <class In> PENSTOCK_HD static int64_t object_at(const Objects& o, const In* mask, int64_t label,
                                                               double u) {
        const auto fits = [&](int64_t j) { return o.c.ignore_class || label_of(mask[o.first[j]]) == label; };
        int64_t count = 0;
        for (int64_t j = 0; j < o.count; ++j) count += fits(j);
        int64_t all = 0;
        const int64_t before = o.team.before(count, all);
        const bool sorts = o.c.k_largest > 0 && all > o.c.k_largest;
        const int64_t choices = sorts ? o.c.k_largest : all;
        int64_t k = static_cast<int64_t>(u * static_cast<double>(choices));
        if (k >= choices) k = choices - 1;
        int64_t found = o.c.n;
        if (!sorts) {
          int64_t left = k - before;
          for (int64_t j = 0; j < o.count && left >= 0 && left < count; ++j) {
            if (fits(j) && left-- == 0) found = o.first[j];
          }
          return o.team.least(found);
        }
        int64_t size = -9223372036854775807;  // minus the volume of the last one, and the last one
        int64_t last = -1;
        for (int64_t r = 0; r <= k; ++r) {
          int64_t next = 0;
          for (int64_t j = 0; j < o.count; ++j) {
            if (!fits(j)) continue;
            const int64_t i = o.first[j];
            const int64_t v = -volume(o, i);
            if ((v > size || (v == size && i > last)) && v < next) next = v;
          }
          next = o.team.least(next);
          found = o.c.n;
          for (int64_t j = o.count - 1; j >= 0; --j) {
            const int64_t i = o.first[j];
            if (fits(j) && -volume(o, i) == next && (next > size || i > last)) found = i;
          }
          last = o.team.least(found);
          size = next;
        }
        return last;
      } PENSTOCK_HD static void write(const Objects& o, int64_t object, const Arrays& a) {
        const Share own = o.team.share(o.c.n);
        int64_t starts[8];
        int64_t ends[8];
        for (int64_t d = 0; d < o.c.dims; ++d) {
          starts[d] = o.c.extents[d];
          ends[d] = 0;
        }
        const int64_t from = own.begin > object ? own.begin : object;
        for (int64_t i = from, at = i % o.width; i < own.end; ++i, at = at + 1 == o.width ? 0 : at + 1) {
          if (o.parent[i] != object || inside_run(o, i, at)) continue;
          for (int64_t d = 0; d < o.c.dims; ++d) {
            const int64_t on_axis = place(o.c, i, d);
            starts[d] = on_axis < starts[d] ? on_axis : starts[d];
            ends[d] = on_axis + 1 > ends[d] ? on_axis + 1 : ends[d];
          }
        }
        for (int64_t d = 0; d < o.c.dims; ++d) {
          const int64_t start = o.team.least(starts[d]);
          const int64_t end = -o.team.least(-ends[d]);
          if (o.team.index == 0) {
            a.to<int32_t>(0)[d] = static_cast<int32_t>(start);
            a.to<int32_t>(1)[d] = static_cast<int32_t>(o.c.ends ? end : end - start);
          }
        }
      } template <class In> PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table,
                                                        const Team& team, Refusal&) {
        const In* const mask = a.from<In>(0);
        int32_t* const parent = a.to<int32_t>(3);
        int32_t* const first = parent + c.n + team.share(c.n).begin;
        Objects o{c, reinterpret_cast<const Class*>(table), parent, first, parent + 2 * c.n, team, width_of(c)};
        connect(o, mask);
        if (c.measures) {
          measure(o);
          keep_large(o);
        }
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
