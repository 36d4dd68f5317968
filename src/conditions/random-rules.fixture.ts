import fc from 'fast-check'
import { OPERATORS } from '../contract/condition-operators.ts'
import { pageGroupOf, releaseOf } from '../core/derived-segments.ts'
import { NO_SEGMENTS, type StoredEvent } from '../core/event.ts'
import type { MembersOf } from '../labels/label.ts'
import type { Condition, Rule } from './condition.ts'
import { resolveLabels } from './label-conditions.ts'
import { BASE64, LABELS, type Node, numberReference, PHONES, spell } from './rule-reference.ts'

/** Keys that an engine might confuse or treat specially. */
export const KEYS = ['k', 'K', 'phone', '$os', "it's", 'a.b', 'constructor', '__proto__', 'cid', 'Ключ', '^k"']
const PIECES = [
  // White space, and two characters that only look like white space.
  ...'\t\v\f\r\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u180e\u2060',
  '%99',
  '',
  ' ',
  '\t',
  '\u00a0',
  '\u0085',
  '\u200b',
  '\ufeff',
  '\u3000',
  '\n',
  'a',
  'A',
  'b',
  'ab',
  'k',
  '\u212a',
  's',
  'ſ',
  'é',
  'e\u0301',
  'É',
  'σ',
  'ς',
  '😀',
  '👩‍👧',
  'ß',
  'ẞ',
  'İ',
  '0',
  '7',
  '12',
  '.',
  '-',
  '+',
  'e3',
  'E',
  '_',
  "'",
  '"',
  '\\',
  '%',
  '$',
  '(',
  '[',
  '^',
  '\ufffd',
  '\u{10ffff}',
  '%41',
  '%2541',
  '%zz',
  '%C3%A9',
  '%40',
  '%2540',
  '@',
  'b.co',
  'x.example.org',
  '@2x.png',
  'jo@ex-1.de',
  '//site.io/@joe.fm',
  '://',
  ':\\/\\/',
  '@shop',
  'git@h.io:x',
  '\\u0040',
  '\\\\u002E',
  ...BASE64.flatMap((text) => [` ${text} `, `/${text}/`, `%3D${text}%3D`]),
]
const NUMBERS = [
  '0',
  '-0',
  '+5',
  '5.',
  '.5',
  '-.5e+3',
  '5.e3',
  '1e5',
  '00012',
  '12',
  '12.0',
  '1e400',
  '-1e400',
  '1e-400',
  '4.9e-324',
  '123456789012345678901234567890',
  '0.1',
  '0.30000000000000004',
  '1_000',
  '0x10',
  'Infinity',
  'NaN',
  '1e',
  '1,5',
  ' 1',
  '1 ',
  '.',
  '-',
  '٣',
  '1.2.3',
  '--1',
  '1e5.5',
]

const text = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map((pieces) => pieces.join('')) },
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 1, arbitrary: fc.constantFrom(...PHONES).map((phone) => `call ${phone} now`) },
)
const shortText = fc.oneof(fc.constantFrom(...PIECES), text)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 })
const number = fc.oneof(
  fc.constantFrom(0, -0, 12, 0.5, 1e-7, 123456.75, 5e-324, 2 ** 53, 1e21, 1.5e22),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: 0, max: 100_000 }),
)

/** Events of one domain with strings and numbers that engines might interpret differently. */
export const anEvent: fc.Arbitrary<StoredEvent> = fc
  .record({
    seq: fc.constant(0),
    id: fc.constant('e'),
    ts: fc.constant(1),
    receivedAt: fc.constant(1),
    orgId: fc.constant('org'),
    domainId: fc.constant('dom'),
    env: fc.constantFrom('prod', 'dev'),
    vendor: fc.constantFrom('GA4', 'ab'),
    event: text,
    account: maybe(text),
    kind: fc.constant('event'),
    host: maybe(text),
    path: maybe(text),
    title: maybe(text),
    sessionId: maybe(text),
    customerId: maybe(text),
    status: maybe(fc.constantFrom('ok', 'failure')),
    execMs: maybe(number),
    durMs: maybe(number),
    bytes: maybe(number),
    version: maybe(number),
    weight: fc.constant(1),
    violations: fc.constant(null),
    params: fc
      .array(fc.tuple(fc.constantFrom(...KEYS), text), { maxLength: 5 })
      .map((entries) => Object.fromEntries(entries)),
    browser: maybe(text),
    consent: fc.constantFrom('granted', 'unknown'),
  })
  .map(({ browser, consent, ...event }) => ({
    ...event,
    segments: {
      ...NO_SEGMENTS,
      browser,
      consent,
      release: releaseOf(event.version),
      pageGroup: pageGroupOf(event.path),
    },
  }))

const character = fc.constantFrom('a', 'b', 'k', 's', 'é', 'σ', '😀', ' ', '\n', '.', '-', '@', '7', '_', '^', '\u0301')
const pattern: fc.Arbitrary<Node> = fc.letrec<{ node: Node; leaf: Node }>((tie) => ({
  leaf: fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('character' as const), character }) },
    fc.constant<Node>({ kind: 'any' }),
    fc.record({
      kind: fc.constant('class' as const),
      negated: fc.boolean(),
      characters: fc.array(character, { minLength: 1, maxLength: 3 }),
    }),
    fc
      .constantFrom(...(['d', 'D', 'w', 'W', 's', 'S'] as const))
      .map((letter): Node => ({ kind: 'shorthand', letter })),
    fc.constantFrom<Node>({ kind: 'start' }, { kind: 'end' }, { kind: 'boundary' }),
  ),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    fc.record({
      kind: fc.constantFrom('sequence' as const, 'choice' as const),
      parts: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('repeat' as const),
      part: tie('node'),
      least: fc.integer({ min: 0, max: 2 }),
      most: fc.constantFrom(2, 3, 99),
      lazy: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('fold' as const), part: tie('node') }),
  ),
})).node

const parameter = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...KEYS).map((key) => key.replace(/^\$/, '$$$$')) },
  { weight: 2, arbitrary: fc.constant('*') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...'$vendor $event $account $host $path $title $env $status $sessionId $customerId $execMs $durMs $bytes $version'.split(
        ' ',
      ),
    ),
  },
)

/** A condition, with each of its patterns in reference form. */
interface Case {
  condition: Condition
  patterns: [string, Node][]
}
export const membersOf: MembersOf = (label) => (LABELS[label] ?? []).map(([vendor, event]) => ({ vendor, event }))

const labelCondition = fc
  .record({
    op: fc.constantFrom('equals', 'not_equals'),
    values: fc.subarray([...Object.keys(LABELS), 'unknown'], { minLength: 1, maxLength: 3 }),
  })
  .map(({ op, values }): Case => ({ condition: { parameter: '$label', op, values }, patterns: [] }))

const few = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: 1, maxLength: 3 })

const plainCondition: fc.Arbitrary<Case> = fc
  .record({ parameter, op: fc.constantFrom(...OPERATORS) })
  .chain(({ parameter, op }): fc.Arbitrary<Case> => {
    const of = (values: fc.Arbitrary<string[]>) =>
      values.map((v) => ({ condition: { parameter, op, values: v }, patterns: [] }))
    if (/blank|email|phone/.test(op)) return fc.constant({ condition: { parameter, op }, patterns: [] })
    if (op.startsWith('length')) return of(few(fc.integer({ min: 0, max: 9 }).map(String)))
    if (op === 'gt' || op === 'lt')
      return of(few(fc.constantFrom(...NUMBERS.filter((n) => !Number.isNaN(numberReference(n))))))
    if (op !== 'regex' && op !== 'custom_pii_regex') return of(few(shortText))
    return few(pattern).map((nodes) => {
      const patterns = nodes.map((node): [string, Node] => [spell(node), node])
      return { condition: { parameter, op, values: patterns.map(([source]) => source) }, patterns }
    })
  })

const condition = fc.oneof({ weight: 12, arbitrary: plainCondition }, { weight: 1, arbitrary: labelCondition })

/** A rule as saved, the same rule with resolved labels, and each of its patterns in reference form. */
export const aRule = fc
  .record({
    filters: fc.array(condition, { maxLength: 1 }),
    conditions: fc.option(
      fc.record({ logic: fc.constantFrom('any', 'all'), items: fc.array(condition, { maxLength: 2 }) }),
      { freq: 5 },
    ),
    conditionGroups: fc.array(
      fc.record({ op: fc.constantFrom('any', 'all'), items: fc.array(condition, { maxLength: 2 }) }),
      { maxLength: 1 },
    ),
  })
  .map(({ filters, conditions, conditionGroups }) => {
    const plain = (cases: Case[]) => cases.map(({ condition }) => condition)
    const all = [...filters, ...(conditions?.items ?? []), ...conditionGroups.flatMap(({ items }) => items)]
    const written: Rule = {
      filters: plain(filters),
      ...(conditions && { conditions: { logic: conditions.logic, items: plain(conditions.items) } }),
      conditionGroups: conditionGroups.map(({ op, items }) => ({ op, items: plain(items) })),
    }
    return {
      rule: written,
      read: resolveLabels(written, membersOf),
      patterns: new Map(all.flatMap(({ patterns }) => patterns)),
    }
  })

/** A rule with one condition. */
export const aSingle = condition.map(({ condition, patterns }) => {
  const rule: Rule = { conditions: { logic: 'all', items: [condition] } }
  return { rule, read: resolveLabels(rule, membersOf), patterns: new Map(patterns) }
})
