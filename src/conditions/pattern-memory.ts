import type { TextPattern } from './pattern.ts'

/**
 * Instructions and letters of all that is remembered: a few of the dearest rules, 10 MB at most. One question compiles the
 * patterns of its rule two to five times, a millisecond each: when the rule is checked, and for each query it makes.
 */
const MAX_SIZE = 80_000

/** The one that was asked for last comes last. */
const known = new Map<string, TextPattern>()
let knownSize = 0

const sizeOf = ({ size, portable }: TextPattern) => size + portable.length

/** The compiled pattern of a source, by `compile` when it is not remembered; what that throws is not. */
export function recall(source: string, compile: () => TextPattern): TextPattern {
  const pattern = known.get(source) ?? compile()
  if (sizeOf(pattern) > MAX_SIZE) return pattern
  if (known.delete(source)) knownSize -= sizeOf(pattern)
  known.set(source, pattern)
  knownSize += sizeOf(pattern)
  for (const [oldest, { size, portable }] of known) {
    if (knownSize <= MAX_SIZE) break
    known.delete(oldest)
    knownSize -= size + portable.length
  }
  return pattern
}
