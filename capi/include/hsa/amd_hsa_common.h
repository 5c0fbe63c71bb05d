/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 * Part of Hansa, an HSA runtime.
 *
 * What the headers of AMD's memory layouts share.
 */
#ifndef AMD_HSA_COMMON_H
#define AMD_HSA_COMMON_H

#include <stddef.h>
#include <stdint.h>

/** Version text of the memory layouts. */
#define AMD_HSA_ABI_VERSION "AMD GPU Architecture v0.35 (June 25, 2015)"

/** Aligns a structure. */
#if defined(__GNUC__)
#define __ALIGNED__(x) __attribute__((aligned(x)))
#elif defined(_MSC_VER)
#define __ALIGNED__(x) __declspec(align(x))
#else
#error "no alignment attribute is known for this compiler"
#endif

/** Names for a bit field: its first bit, its width and its mask. */
#define AMD_HSA_BITS_CREATE_ENUM_ENTRIES(name, shift, width) \
  name##_SHIFT = (shift), name##_WIDTH = (width), name = (int)(((1u << (width)) - 1u) << (shift))

/** Reads a bit field. */
#define AMD_HSA_BITS_GET(src, mask) (((src) & (mask)) >> mask##_SHIFT)

/** Replaces a bit field. */
#define AMD_HSA_BITS_SET(dst, mask, val)                    \
  do {                                                      \
    (dst) &= ~(mask);                                       \
    (dst) |= (((val) << mask##_SHIFT) & (mask));            \
  } while (0)

#endif /* AMD_HSA_COMMON_H */
