import { AppError } from '../core/error.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'

// Optimisation: see docs/develop/tuning.md

/**
 * Maximum nesting depth, more than twice that of any schema. Deeper values could overflow the stack in TypeBox's
 * recursion.
 */
export const MAX_DEPTH = 50

/** Number of characters read between two checks of the clock. Reading this many takes well under a millisecond. */
const STEP = 4 * 1024
/** Longer strings are read in pieces of this length. */
const PIECE = 16 * 1024
/**
 * Maximum number of fields in an object, more than twice that of any schema. Adding fields to a larger hash table would
 * take too long.
 */
const MAX_FIELDS = 100_000
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const BLANKS = /[ \t\n\r]*/y

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

type Container = unknown[] | Record<string, unknown>

/**
 * Parses JSON in steps of a few milliseconds and handles other requests in between. For 8 MiB, the runtime's parser and
 * `checkJson` block the event loop for up to 0.8 s; this parser takes up to four times as long in total. Throws the
 * same errors as `jsonOf`.
 */
export async function readJsonInSteps(text: string): Promise<unknown> {
  const yielder = new Yielder()
  const reader = new JsonReader(text)
  while (!reader.read()) if (yielder.isDue) await yielder.yieldNow()
  return reader.value
}

class JsonReader {
  /** The parsed value, once parsing is complete. */
  value: unknown
  private at = 0
  /** Open containers, outermost first. */
  private readonly open: Container[] = []
  /**
   * For each open object, the name of the field whose value is read next, and the number of fields including that one.
   * For lists, an empty name and 0.
   */
  private readonly fields: { name: string; count: number }[] = []
  /** Pieces of a long string that have been read so far. */
  private readonly pieces: string[] = []
  /** Position where the last search for a quote stopped. */
  private quoteAt = -1

  constructor(private readonly text: string) {}

  /** Reads about 4 KiB. Returns true at the end of the input. */
  read(): boolean {
    const until = this.at + STEP
    while (this.at < until) {
      const value = this.pieces.length > 0 ? this.moreOfString() : this.begin()
      if (value === BEGUN) continue
      if (typeof value === 'string') checkText(value, () => this.path(false))
      if (this.place(value)) return true
    }
    return false
  }

  /** Reads a scalar, an empty container, or the beginning of any other container up to its first value. */
  private begin(): unknown {
    const code = this.next()
    if (code === QUOTE) return this.string()
    if (code !== OPEN_LIST && code !== OPEN_OBJECT) return this.scalar()
    if (this.open.length === MAX_DEPTH) {
      throw new AppError('invalid', `body: is nested more than ${MAX_DEPTH} levels deep`)
    }
    this.at++
    const isList = code === OPEN_LIST
    const container: Container = isList ? [] : {}
    if (this.next() === (isList ? CLOSE_LIST : CLOSE_OBJECT)) {
      this.at++
      return container
    }
    this.open.push(container)
    this.fields.push(isList ? { name: '', count: 0 } : { name: this.field(), count: 1 })
    return BEGUN
  }

  /**
   * Adds a value to its container, and closes the containers that end after the value. Returns true when the outermost
   * value is complete.
   */
  private place(read: unknown): boolean {
    let value = read
    for (;;) {
      const container = this.open.at(-1)
      if (container === undefined) {
        this.value = value
        if (!Number.isNaN(this.next())) throw notJson()
        return true
      }
      const field = this.fields.at(-1) ?? NO_FIELD
      const isList = Array.isArray(container)
      if (isList) container.push(value)
      else setField(container, field.name, value)
      const code = this.next()
      this.at++
      if (code === COMMA) {
        if (isList) return false
        if (++field.count > MAX_FIELDS) {
          throw new AppError('invalid', `${this.path(true)}: has more than ${MAX_FIELDS} fields`)
        }
        field.name = this.field()
        return false
      }
      if (code !== (isList ? CLOSE_LIST : CLOSE_OBJECT)) throw notJson()
      this.open.pop()
      this.fields.pop()
      value = container
    }
  }

  /** Skips white space. Returns the code of the next character; NaN at the end. */
  private next(): number {
    const code = this.text.charCodeAt(this.at)
    if (code > 0x20) return code
    BLANKS.lastIndex = this.at
    BLANKS.test(this.text)
    this.at = BLANKS.lastIndex
    return this.text.charCodeAt(this.at)
  }

  private field(): string {
    if (this.next() !== QUOTE) throw notJson()
    const name = this.string()
    if (name === BEGUN) throw new AppError('invalid', `${this.path(true)}: has a field whose name is too long`)
    checkText(name, () => this.path(true))
    if (this.next() !== COLON) throw notJson()
    this.at++
    return name
  }

  /** Reads a string, or the first piece of a long one. */
  private string(): string | typeof BEGUN {
    this.at++
    const piece = this.piece()
    if (piece.isLast) return piece.text
    this.pieces.push(piece.text)
    return BEGUN
  }

  /** Reads the next piece of a long string, and returns the string when it is complete. */
  private moreOfString(): unknown {
    const { text, isLast } = this.piece()
    this.pieces.push(text)
    return isLast ? this.pieces.splice(0).join('') : BEGUN
  }

  /** Reads up to `PIECE` characters of a string. */
  private piece(): { text: string; isLast: boolean } {
    const { text, at } = this
    let quote = this.quoteAt < at ? text.indexOf('"', at) : this.quoteAt
    while (quote !== -1 && quote < at + PIECE && isEscaped(text, at, quote)) quote = text.indexOf('"', quote + 1)
    if (quote === -1) throw notJson()
    this.quoteAt = quote
    const isLast = quote < at + PIECE
    const to = isLast ? quote : beforeEscape(text, at, at + PIECE)
    this.at = isLast ? to + 1 : to
    return { text: parsed(`"${text.slice(at, to)}"`) as string, isLast }
  }

  private scalar(): unknown {
    SCALAR.lastIndex = this.at
    if (!SCALAR.test(this.text)) throw notJson()
    const from = this.at
    this.at = SCALAR.lastIndex
    return parsed(this.text.slice(from, this.at))
  }

  /**
   * Returns the current path, such as `alerts[3].name`. When `isField` is true, returns the path of the object that
   * contains the field.
   */
  private path(isField: boolean): string {
    const containers = isField ? this.open.slice(0, -1) : this.open
    const path = containers.reduce<string>((path, container, depth) => {
      if (Array.isArray(container)) return `${path}[${container.length}]`
      const { name } = this.fields[depth] ?? NO_FIELD
      return path ? `${path}.${name}` : name
    }, '')
    return path || 'body'
  }
}

const BEGUN = Symbol('begun')
const NO_FIELD = { name: '', count: 0 }

const notJson = () => new AppError('invalid', 'body: is not valid JSON')

function parsed(token: string): unknown {
  try {
    return JSON.parse(token)
  } catch {
    throw notJson()
  }
}

/** True when the quote is preceded by an odd number of backslashes, all at or after `from`. */
function isEscaped(text: string, from: number, quote: number): boolean {
  let first = quote
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first--
  return (quote - first) % 2 === 1
}

/**
 * Returns `end`, or the start of the escape sequence that a split at `end` would break. `from` must be outside any
 * escape sequence.
 */
function beforeEscape(text: string, from: number, end: number): number {
  // The longest escape sequence is `\u00e9`.
  for (let at = end - 1; at > end - 6; at--) {
    if (text.charCodeAt(at) !== BACKSLASH || isEscaped(text, from, at)) continue
    const isWhole = at + (text[at + 1] === 'u' ? 6 : 2) <= end
    return isWhole ? end : at
  }
  return end
}

function checkText(text: string, path: () => string): void {
  if (text.isWellFormed() && !text.includes('\0')) return
  throw new AppError('invalid', `${path()}: contains a NUL character or an unpaired surrogate`)
}

function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  // A plain assignment would change the prototype.
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}
