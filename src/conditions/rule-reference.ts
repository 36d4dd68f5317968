import type { StoredEvent } from '../core/event.ts'
import type { Condition, Rule } from './condition.ts'

/*
 * Reference implementation of conditions for `agreement.long.test.ts`. It is as simple as possible, regardless of
 * speed, and shares no code with the predicate and the SQL.
 */

export type Node =
  | { kind: 'character'; character: string }
  | { kind: 'any' }
  | { kind: 'class'; negated: boolean; characters: string[] }
  | { kind: 'shorthand'; letter: 'd' | 'D' | 'w' | 'W' | 's' | 'S' }
  | { kind: 'start' | 'end' | 'boundary' }
  | { kind: 'sequence' | 'choice'; parts: Node[] }
  | { kind: 'repeat'; part: Node; least: number; most: number; lazy: boolean }
  | { kind: 'fold'; part: Node }

const quote = (character: string) => (/[\\.+*?()|[\]{}^$-]/.test(character) ? `\\${character}` : character)

export function spell(node: Node): string {
  switch (node.kind) {
    case 'character':
      return quote(node.character)
    case 'any':
      return '.'
    case 'class':
      return `[${node.negated ? '^' : ''}${node.characters.map(quote).join('')}]`
    case 'shorthand':
      return `\\${node.letter}`
    case 'start':
      return '^'
    case 'end':
      return '$'
    case 'boundary':
      return '\\b'
    case 'sequence':
      return node.parts.map(spell).join('')
    case 'choice':
      return `(${node.parts.map(spell).join('|')})`
    case 'repeat': {
      const { least, most } = node
      const times = most < 99 ? `{${least},${most}}` : least === 0 ? '*' : least === 1 ? '+' : `{${least},}`
      return `(?:${spell(node.part)})${times}${node.lazy ? '?' : ''}`
    }
    case 'fold':
      return `(?i:${spell(node.part)})`
  }
}

const isWord = (character: string | undefined) => character !== undefined && /^[0-9A-Za-z_]$/.test(character)
/**
 * Groups of characters that are equal when case is ignored. For example, `s` equals the long s, and `k` the Kelvin
 * sign.
 */
const SAME_LETTER = [
  ['k', 'K', '\u212a'],
  ['s', 'S', 'ſ'],
  ['é', 'É'],
  ['σ', 'Σ', 'ς'],
  ['a', 'A'],
  ['b', 'B'],
]
const spellings = (character: string) => SAME_LETTER.find((letters) => letters.includes(character)) ?? [character]

function fits(node: Node, character: string, fold: boolean): boolean {
  const same = (wanted: string) => (fold ? spellings(wanted).includes(character) : wanted === character)
  if (node.kind === 'character') return same(node.character)
  if (node.kind === 'any') return character !== '\n'
  if (node.kind === 'class') return node.characters.some(same) !== node.negated
  if (node.kind !== 'shorthand') return false
  const letter = node.letter.toLowerCase()
  const inside =
    letter === 'd' ? /^[0-9]$/.test(character) : letter === 'w' ? isWord(character) : /^[\t\n\f\r ]$/.test(character)
  // When case is ignored, `\w` also matches characters that are equal to a word character in another case.
  const folded = fold && letter === 'w' && spellings(character).some(isWord)
  return (inside || folded) === (node.letter === letter)
}

/** Returns the positions at which a match that starts at one of `starts` may end. */
function ends(node: Node, text: readonly string[], starts: ReadonlySet<number>, fold: boolean): Set<number> {
  const here = (holds: (at: number) => boolean) => new Set([...starts].filter(holds))
  switch (node.kind) {
    case 'start':
      return here((at) => at === 0)
    case 'end':
      return here((at) => at === text.length)
    case 'boundary':
      return here((at) => isWord(text[at - 1]) !== isWord(text[at]))
    case 'sequence':
      return node.parts.reduce<Set<number>>((at, part) => ends(part, text, at, fold), new Set(starts))
    case 'choice':
      return new Set(node.parts.flatMap((part) => [...ends(part, text, starts, fold)]))
    case 'fold':
      return ends(node.part, text, starts, true)
    case 'repeat': {
      let now = new Set(starts)
      const reached = new Set(node.least === 0 ? now : [])
      for (let round = 1; round <= Math.min(node.most, node.least + text.length + 1); round++) {
        now = ends(node.part, text, now, fold)
        if (round >= node.least) for (const at of now) reached.add(at)
      }
      return reached
    }
    default:
      return new Set(
        [...starts].filter((at) => at < text.length && fits(node, text[at] ?? '', fold)).map((at) => at + 1),
      )
  }
}

function matchesReference(node: Node, value: string): boolean {
  const text = [...value]
  return ends(node, text, new Set([...text, ''].keys()), false).size > 0
}

function decodeReference(sent: string): string {
  const text = sent.replace(/\\{1,8}u00([0-7][0-9a-fA-F])/g, '%$1')
  let out = ''
  for (let at = 0; at < text.length; at++) {
    const hex = text.slice(at + 1, at + 3)
    const code = text[at] === '%' && /^[0-9a-fA-F]{2}$/.test(hex) ? Number.parseInt(hex, 16) : 255
    out += code < 128 ? String.fromCharCode(code) : text[at]
    if (code < 128) at += 2
  }
  return out
}

const isDomain = (name: string) => {
  const labels = name.split('.')
  const top = labels.at(-1) ?? ''
  const isLabel = (label: string) =>
    /^[A-Za-z0-9-]{1,63}$/.test(label) && !label.startsWith('-') && !label.endsWith('-')
  if (labels.length < 2 || !labels.slice(0, -1).every(isLabel)) return false
  return /^[A-Za-z]{2,24}$/.test(top) || /^xn--[A-Za-z0-9-]{1,59}$/i.test(top)
}

/** The only base64 strings that the generator creates, each as a separate word. */
export const BASE64 = [
  'amFuZS5kb2VAY29tcGFueS5leGFtcGxl',
  'eyJtYWlsIjoib2xhQHguaW8iLCJuIjoiw7wifQ',
  'bm9ib2R5IGlzIGhlcmUgYXQgYWxsLi4u',
]
const IN_BASE64 = ['jane.doe@company.example', '{"mail":"ola@x.io","n":"ü"}', 'nobody is here at all...']

function emailReference(text: string): boolean {
  const once = decodeReference(text)
  const forms = [text, once, decodeReference(once)]
  const words = forms.flatMap((form) => form.match(/[A-Za-z0-9]+/g) ?? [])
  return [...forms, ...words.map((word) => IN_BASE64[BASE64.indexOf(word)] ?? '')].map(withoutOthers).some((form) =>
    [...form.matchAll(/@/g)].some(({ index }) => {
      const local = /[A-Za-z0-9.!#$%'*+^_`{|}~-]*$/.exec(form.slice(0, index))?.[0] ?? ''
      const rest = form.slice(index + 1)
      if (!/[A-Za-z0-9_]/.test(local)) return false
      return [...rest, ''].some((_, end) => isDomain(rest.slice(0, end)) && !/^[A-Za-z0-9]/.test(rest.slice(end)))
    }),
  )
}

/** Returns the text without the parts that look like an e-mail address but are not one. */
function withoutOthers(text: string): string {
  let out = ''
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at)
    // The pattern includes the character before the name, so that character is removed too.
    const after = at === 0 ? ['', rest] : []
    const next = (word: RegExp) => (word.test(rest[0] ?? '') ? [] : [rest[0] ?? '', rest.slice(1)])
    const named = (pattern: RegExp, [before, name]: string[]) => {
      const found = name === undefined ? null : pattern.exec(name)?.[0]
      return found ? `${before}${found}` : null
    }
    const isGit = /^git@(?:[a-z]+\.)+[a-z]+:[A-Za-z0-9_~/]/
    const isHandle = /^@[A-Za-z0-9_][A-Za-z0-9_.-]*@/
    const taken =
      named(isGit, after) ??
      named(isGit, next(/[A-Za-z0-9_.+-]/)) ??
      named(isHandle, after) ??
      named(isHandle, next(/[A-Za-z0-9@_.+%-]/)) ??
      /^@2x\.png/.exec(rest)?.[0] ??
      /^(?::\\?\/\\?\/|%3A%2F%2F)[^ \t\n\f\r/?#@,;&="'<>()]*@/i.exec(rest)?.[0]
    out += taken ? ' ' : text[at]
    at += taken?.length ?? 1
  }
  return out
}

export function numberReference(text: string): number {
  const digits = (part: string | undefined) => part === undefined || /^[0-9]*$/.test(part)
  const unsigned = text.startsWith('-') || text.startsWith('+') ? text.slice(1) : text
  const [mantissa = '', exponent, ...rest] = unsigned.split(/[eE]/)
  const [whole, fraction, ...more] = mantissa.split('.')
  if (rest.length || more.length || !digits(whole) || !digits(fraction) || `${whole}${fraction ?? ''}` === '')
    return NaN
  if (exponent !== undefined && !/^[+-]?[0-9]+$/.test(exponent)) return NaN
  return Number.parseFloat(text)
}

/**
 * The only phone numbers that the generator creates. All other numbers it creates are too short to be phone numbers.
 */
export const PHONES = ['+15062345678', '%2B49%2030%201234567', '0049 30 1234567']

const WHITE = '\t\n\v\f\r \u00a0\u1680\u2000\u2005\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'

function holdsReference(op: string, value: string, text: string, key: string, patterns: Map<string, Node>): boolean {
  switch (op) {
    case 'equals':
      return text === value
    case 'contains':
      return text.split(value).length > 1 || value === ''
    case 'starts_with':
      return text.slice(0, value.length) === value
    case 'ends_with':
      return value === '' || text.slice(-value.length) === value
    case 'is_blank':
      return [...text].every((character) => WHITE.includes(character))
    case 'length_eq':
      return [...text].length === Number(value)
    case 'length_gt':
      return [...text].length > Number(value)
    case 'length_lt':
      return [...text].length < Number(value)
    case 'gt':
      return numberReference(text) > numberReference(value)
    case 'lt':
      return numberReference(text) < numberReference(value)
    case 'contains_email':
      return emailReference(text)
    case 'contains_phone':
      return key !== 'cid' && PHONES.some((phone) => text.includes(phone))
    default:
      return matchesReference(patterns.get(value) ?? { kind: 'sequence', parts: [] }, text)
  }
}

/**
 * Members of labels for tests: a label without members, one with many, one with a whole vendor, and one with the same
 * vendor twice.
 */
export const LABELS: Record<string, readonly (readonly [vendor: string, event: string])[]> = {
  all: [['GA4', '']],
  few: [
    ['ab', 'a'],
    ['GA4', '0'],
    ['GA4', '😀'],
  ],
  both: [
    ['ab', ''],
    ['ab', 'b'],
    ['GA4', "'"],
  ],
  many: ['', ' ', 'a', 'A', 'k', 's', 'é', '7', '12', '.', '-', '%41'].map((event) => [event ? 'ab' : 'no', event]),
  none: [],
}

function labelReference(labels: readonly string[], { vendor, event }: StoredEvent): boolean {
  const members = labels.flatMap((label) => LABELS[label] ?? [])
  return members.some(([of, name]) => of === vendor && (name === '' || name === event))
}

function conditionReference(
  { parameter, op, values = [''] }: Condition,
  event: StoredEvent,
  patterns: Map<string, Node>,
) {
  const negative = op.startsWith('not_')
  if (parameter === '$label') return labelReference(values, event) !== negative
  const positive = op === 'not_blank' ? 'is_blank' : op.replace('not_', '')
  const key = parameter.replace(/^\$\$/, '$')
  const field = parameter.startsWith('$') && !parameter.startsWith('$$')
  const own =
    Object.getOwnPropertyDescriptor(field ? event : event.params, field ? parameter.slice(1) : key)?.value ?? ''
  const spelled = String(own).replace('+', typeof own === 'number' ? '' : '+')
  const read: [string, string][] = parameter === '*' ? Object.entries(event.params) : [[key, spelled]]
  const tested = /blank|email|phone/.test(positive) ? [''] : values
  const any = read.some(([name, text]) => tested.some((value) => holdsReference(positive, value, text, name, patterns)))
  return any !== negative
}

export function violationReference(rule: Rule, event: StoredEvent, patterns: Map<string, Node>): boolean {
  const holds = (condition: Condition) => conditionReference(condition, event, patterns)
  if (!(rule.filters ?? []).every(holds)) return false
  const { logic, items } = rule.conditions ?? { logic: 'all', items: [] }
  const groups = [{ op: logic, items }, ...(rule.conditionGroups ?? [])]
  return groups.every((group) => (group.op === 'any' ? group.items.some(holds) : group.items.every(holds)))
}
