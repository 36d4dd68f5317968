/** Whitespace, then one token of JSON: punctuation, a string, or another value. */
const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y
const SPACE = /[ \t\r\n]*/y

/** The kind of token that is allowed next in a JSON text. */
type Next = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing'

/** Line and column of a character, from 1. */
export interface TextPosition {
  line: number
  column: number
}

/**
 * Returns where a text stops being valid JSON; null for valid JSON. Browsers report the position only in some messages.
 */
export function jsonFaultPosition(text: string): TextPosition | null {
  const open: ('{' | '[')[] = []
  let next: Next = 'value'
  let at = 0
  while (next !== 'nothing') {
    TOKEN.lastIndex = at
    const [, mark, string, other] = TOKEN.exec(text) ?? []
    const after = nextState(
      next,
      mark ?? (string === undefined ? (other === undefined ? '' : 'other') : 'string'),
      open,
    )
    if (after === null) return positionOf(text, afterSpace(text, at))
    next = after
    at = TOKEN.lastIndex
  }
  const end = afterSpace(text, at)
  return end === text.length ? null : positionOf(text, end)
}

/** Returns what may come after a token; null if the token is not allowed. Keeps track of the open brackets. */
function nextState(next: Next, token: string, open: ('{' | '[')[]): Next | null {
  const closed = (): Next => (open.length === 0 ? 'nothing' : 'comma or end')
  const isValue = next === 'value' || next === 'value or end'
  switch (token) {
    case '{':
    case '[':
      if (!isValue) return null
      open.push(token)
      return token === '{' ? 'key or end' : 'value or end'
    case '}':
    case ']': {
      const own = token === '}' ? 'key or end' : 'value or end'
      if ((next !== own && next !== 'comma or end') || open.at(-1) !== (token === '}' ? '{' : '[')) return null
      open.pop()
      return closed()
    }
    case ',':
      if (next !== 'comma or end') return null
      return open.at(-1) === '{' ? 'key' : 'value'
    case ':':
      return next === 'colon' ? 'value' : null
    case 'string':
      return next === 'key' || next === 'key or end' ? 'colon' : isValue ? closed() : null
    case 'other':
      return isValue ? closed() : null
    default:
      return null
  }
}

function afterSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.exec(text)
  return SPACE.lastIndex
}

function positionOf(text: string, at: number): TextPosition {
  const before = text.slice(0, at)
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') }
}
