import { RE2JS, RE2JSException } from 're2js'
import { AppError } from '../core/error.ts'
import type { Span } from './find-email-addresses.ts'

/** A pattern equivalent to a plain string at a fixed position, which is much cheaper to test. */
interface Literal {
  at: 'anywhere' | 'start' | 'end' | 'whole'
  text: string
}

/** A user-defined pattern that works in both engines. */
export interface TextPattern {
  /**
   * Returns whether the pattern matches anywhere in the text. Takes linear time for every pattern, without
   * backtracking.
   */
  matches(text: string): boolean
  literal: Literal | null
  /** Returns the matches, in order and without overlaps. Empty matches are omitted. */
  find(text: string): Span[]
  /** Number of instructions, which determines the worst-case cost of a character. */
  size: number
  /** An equivalent pattern in the syntax of the other engine. See `translate`. */
  portable: string
}

/**
 * Maximum number of instructions. Larger programs would take milliseconds per value. `^.{1,1000}$` has 2,003
 * instructions.
 */
const PROGRAM_LIMIT = 2500
/**
 * Maximum estimated number of byte instructions. The C++ RE2 rejects programs above (8 MiB × 2/3) / 4 / 16 = 87,381
 * instructions over bytes ("pattern too large"), see https://github.com/google/re2/blob/main/re2/compile.cc
 * (`Compiler::Setup`). The estimate is an upper bound, so every pattern accepted here compiles there.
 */
const BYTE_PROGRAM_LIMIT = 80_000
/** Byte instructions for one `.` or one 4-byte character, rounded up. */
const CHARACTER_WEIGHT = 8

const META = String.raw`\\.+*?()|[\]{}^$`
const LITERAL = new RegExp(String.raw`^(\^?)((?:[^${META}]|\\[^A-Za-z0-9])*)(\$?)$`, 'u')

function readLiteral(source: string): Literal | null {
  const found = LITERAL.exec(source)
  if (!found) return null
  const at = found[1] ? (found[3] ? 'whole' : 'start') : found[3] ? 'end' : 'anywhere'
  return { at, text: (found[2] ?? '').replaceAll(/\\(.)/gsu, '$1') }
}

/** Returns whether the text contains the literal at its position. */
function holdsLiteral({ at, text: part }: Literal, text: string): boolean {
  if (at === 'anywhere') return text.includes(part)
  if (at === 'start') return text.startsWith(part)
  return at === 'end' ? text.endsWith(part) : text === part
}

type Range = readonly [low: number, high: number]
const knownRanges = new Map<string, readonly Range[]>()

/** Returns the characters matched by one atom such as `\pL` or `(?i)\P{Lu}`, ascending and without surrogates. */
function rangesOf(atom: string): readonly Range[] {
  const known = knownRanges.get(atom)
  if (known) return known
  const ranges: Range[] = []
  // The library stores a class in one instruction, as pairs of first and last characters.
  for (const { runes = [] } of RE2JS.compile(atom).re2Input.prog.inst as { runes?: number[] }[]) {
    for (let at = 0; at < runes.length; at += 2) addRange(ranges, runes[at] ?? 0, runes[at + 1] ?? 0)
  }
  knownRanges.set(atom, ranges)
  return ranges
}

function addRange(ranges: Range[], low: number, high: number): void {
  for (const [from, to] of [
    [low, Math.min(high, 0xd7ff)],
    [Math.max(low, 0xe000), high],
  ] as const) {
    if (from > to) continue
    const last = ranges.at(-1)
    if (last?.[1] === from - 1) ranges[ranges.length - 1] = [last[0], to]
    else ranges.push([from, to])
  }
}

const escapePoint = (point: number) => `\\x{${point.toString(16)}}`

/**
 * Returns the ranges as part of a character class. Single characters are also written as `low-high`, so that a
 * following `-` can't extend the range.
 */
function spellRanges(ranges: readonly Range[]): string {
  // RE2 syntax has no empty class. A surrogate is used instead, because it never occurs in text.
  if (ranges.length === 0) return escapePoint(0xd800)
  return ranges.map(([low, high]) => `${escapePoint(low)}-${escapePoint(high)}`).join('')
}

interface Translation {
  text: string
  /** Upper bound of the byte instructions of the largest character class. */
  weight: number
  /** True when the pattern contains `\B`. */
  innerBoundary: boolean
}

/** Rewrites a pattern that is known to compile, so it only needs to recognise the parts that it rewrites. */
class Translator {
  private at = 0
  private text = ''
  private weight = CHARACTER_WEIGHT
  private innerBoundary = false
  /** True when case is ignored in the current group. `outer` is the stack of values for the enclosing groups. */
  private fold = false
  private readonly outer: boolean[] = []

  private readonly folds: boolean

  constructor(private readonly source: string) {
    this.folds = /\(\?[a-zA-Z]*i/.test(source)
  }

  translate(): Translation {
    while (this.at < this.source.length) {
      if (this.source.startsWith('\\Q', this.at)) this.quotation()
      else if (this.isProperty()) this.property('[', ']')
      else if (this.source[this.at] === '\\') this.escape()
      else if (this.source[this.at] === '[') this.characterClass()
      else this.plain()
    }
    return { text: this.text, weight: this.weight, innerBoundary: this.innerBoundary }
  }

  private copy(length: number): string {
    const part = this.source.slice(this.at, this.at + length)
    this.text += part
    this.at += length
    return part
  }

  /** Copies a `\Q…` quotation. When it is unterminated, it is closed, so that text can be appended to the pattern. */
  private quotation(): void {
    const end = this.source.indexOf('\\E', this.at + 2)
    this.copy((end < 0 ? this.source.length : end + 2) - this.at)
    if (end < 0) this.text += '\\E'
  }

  private escape(): void {
    if (this.copy(2) === '\\B') this.innerBoundary = true
  }

  private isProperty(): boolean {
    const start = this.source.slice(this.at, this.at + 2)
    return start === '\\p' || start === '\\P'
  }

  /** Writes a Unicode property as ranges and returns the weight of the ranges. */
  private property(open: string, close: string): number {
    const atom = /^\\[pP](?:\{[^}]*\}|.)/su.exec(this.source.slice(this.at))?.[0] ?? ''
    const ranges = rangesOf(this.fold ? `(?i)${atom}` : atom)
    this.at += atom.length
    this.text += open + spellRanges(ranges) + close
    // Measured: 195 for the 684 ranges of \pL, 111 for the 655 of \p{Lu}.
    const weight = 2 * CHARACTER_WEIGHT + ranges.length * 0.4
    this.weight = Math.max(this.weight, weight)
    return weight
  }

  private characterClass(): void {
    const start = this.at
    let weight = CHARACTER_WEIGHT
    this.copy(1)
    if (this.source[this.at] === '^') this.copy(1)
    if (this.source[this.at] === ']') this.copy(1)
    while (this.at < this.source.length && this.source[this.at] !== ']') {
      const named = this.source.startsWith('[:', this.at) ? this.source.indexOf(':]', this.at) : -1
      if (named >= 0) this.copy(named + 2 - this.at)
      else if (this.isProperty()) weight += this.property('', '')
      else this.copy(this.source[this.at] === '\\' ? 2 : 1)
    }
    this.copy(1)
    this.weight = Math.max(this.weight, weight + 2 * (this.at - start))
  }

  private plain(): void {
    const flags = /^\(\?([a-zA-Z-]*)([:)])/.exec(this.source.slice(this.at))
    if (flags) {
      if (flags[2] === ':') this.outer.push(this.fold)
      const [on = '', off = ''] = (flags[1] ?? '').split('-')
      this.fold = (this.fold || on.includes('i')) && !off.includes('i')
      this.copy(flags[0].length)
      return
    }
    if (this.source.startsWith('(?<', this.at)) {
      this.text += '(?P<'
      this.at += 3
      this.outer.push(this.fold)
      return
    }
    const character = this.copy(1)
    if (character === '(') this.outer.push(this.fold)
    if (character === ')') this.fold = this.outer.pop() ?? false
    if (character === '|' && this.folds) this.text += '(?:)'
  }
}

/** A character that no pattern contains. A pattern that matches between two of them matches the empty string. */
const NOWHERE = escapePoint(0x10fffe)

/**
 * Compiles a pattern in RE2 syntax, https://github.com/google/re2/wiki/Syntax, for two engines that must give the same
 * results. Throws `AppError('invalid')`, with the reason as its whole message, when the pattern does not compile, is
 * too large, or has a different meaning in each engine. Known differences, found by testing all characters and a
 * million random patterns:
 *
 * - Unicode properties depend on the engine's version of Unicode (17 here, 15 in DuckDB), and some exist in one engine
 *   only. `portable` contains ranges instead.
 * - DuckDB 1.5 rewrites a concatenation that contains `^` or `$` to `LIKE` and drops them (`a$b` matches `ab`). The
 *   group around `portable` prevents this.
 * - DuckDB accepts named groups only as `(?P<name>…)`.
 * - The C++ RE2 loses the other case in `[a-z]|(?i:b)`, because it merges both sides into one class. An empty group
 *   separates them.
 * - `\B` matches inside a character in an engine that works on bytes. Patterns are rejected where this could matter.
 * - `(?i)` differs for letters whose other case was added after Unicode 15 (U+019B, U+0264 and historic scripts).
 *
 * Recently compiled patterns are cached unless they are too large.
 */
export function compilePattern(source: string): TextPattern {
  return memory.recall(source, () => compileAnew(source))
}

/**
 * Maximum size of all cached patterns, in instructions and characters. Enough for a few of the most expensive rules, at
 * most 10 MB.
 */
const MAX_SIZE = 80_000

interface Sized {
  /** Number of instructions. */
  size: number
  portable: string
}

const sizeOf = ({ size, portable }: Sized) => size + portable.length

/**
 * Cache of recently compiled patterns. Without the cache, a request would compile each pattern of its rule two to five
 * times (to check the rule, and for each query), at a millisecond each.
 */
class PatternCache<P extends Sized> {
  /** Patterns in order of use, most recently used last. */
  private readonly known = new Map<string, P>()
  private size = 0

  /** Returns the pattern for a source, calling `compile` when it is not cached. Errors are not cached. */
  recall(source: string, compile: () => P): P {
    const pattern = this.known.get(source) ?? compile()
    if (sizeOf(pattern) > MAX_SIZE) return pattern
    this.forget(source)
    this.known.set(source, pattern)
    this.size += sizeOf(pattern)
    for (const oldest of this.known.keys()) {
      if (this.size <= MAX_SIZE) break
      this.forget(oldest)
    }
    return pattern
  }

  private forget(source: string): void {
    const pattern = this.known.get(source)
    if (!pattern) return
    this.known.delete(source)
    this.size -= sizeOf(pattern)
  }
}

const memory = new PatternCache<TextPattern>()

/** Sizes by the hash of the pattern, so that determining the cost of a large rule compiles each pattern only once. */
const sizes = new Map<number | bigint, number>()
const MAX_SIZES = 100_000

/**
 * Returns the number of instructions in a pattern. Calls `compilePattern` for unknown patterns only, and throws the
 * same errors.
 */
export function sizeOfPattern(source: string): number {
  const hash = Bun.hash(source)
  const known = sizes.get(hash)
  if (known !== undefined) return known
  const { size } = compilePattern(source)
  if (sizes.size >= MAX_SIZES) sizes.clear()
  sizes.set(hash, size)
  return size
}

function compileAnew(source: string): TextPattern {
  if (!source.isWellFormed()) throw new AppError('invalid', 'the pattern is not valid Unicode')
  const pattern = compile(source)
  const size = pattern.programSize()
  if (size > PROGRAM_LIMIT) throw tooLarge()
  const { text, weight, innerBoundary } = new Translator(source).translate()
  if (size * weight > BYTE_PROGRAM_LIMIT) throw tooLarge()
  if (innerBoundary && compile(`^${NOWHERE}(?:${text})${NOWHERE}$`).test('\u{10fffe}\u{10fffe}')) {
    throw new AppError(
      'invalid',
      String.raw`the pattern can match an empty string through \B; add a character next to it`,
    )
  }
  const literal = readLiteral(source)
  return {
    matches: literal ? (value) => holdsLiteral(literal, value) : (value) => pattern.test(value),
    literal,
    find: (value) => spansOf(pattern, value),
    size,
    portable: `(${text})`,
  }
}

function spansOf(pattern: RE2JS, text: string): Span[] {
  if (!pattern.test(text)) return []
  const spans: Span[] = []
  const matcher = pattern.matcher(text)
  while (matcher.find()) if (matcher.end() > matcher.start()) spans.push({ start: matcher.start(), end: matcher.end() })
  return spans
}

const tooLarge = () => new AppError('invalid', 'the pattern is too large; use fewer or shorter repetitions')

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown
    throw new AppError('invalid', `the pattern does not compile in RE2: ${thrown.message}`)
  }
}
