import { atLimits, fits, type JsonSchema, least, NASTY, outOfRange } from './json-schema.ts'

/** JSON text that `JSON.stringify` can't produce from any JavaScript value. */
class Raw {
  constructor(readonly text: string) {}
}

/** Serializes to JSON. `Raw` parts are copied unchanged. */
function jsonOf(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${jsonOf(inner)}`)
  return `{${members.join(',')}}`
}

type Fields = Record<string, unknown>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A position in a body, with a function that returns the body with a different value at this position. */
interface Place {
  schema: JsonSchema
  value: unknown
  put(value: unknown): unknown
}

/** Returns every position that the schema describes, including those that the value lacks. */
function placesOf(schema: JsonSchema, value: unknown, put = (inner: unknown): unknown => inner): Place[] {
  const inside = (schema.anyOf ?? []).flatMap((branch) =>
    placesOf(branch, fits(branch, value) ? value : least(branch), put),
  )
  if (schema.properties) {
    const whole = isFields(value) ? value : {}
    for (const [name, inner] of Object.entries(schema.properties)) {
      const present = name in whole ? whole[name] : least(inner)
      inside.push(...placesOf(inner, present, (one) => put({ ...whole, [name]: one })))
    }
  }
  if (schema.items) {
    const [first = least(schema.items), ...rest] = Array.isArray(value) ? value : []
    inside.push(...placesOf(schema.items, first, (one) => put([one, ...rest])))
  }
  return [{ schema, value, put }, ...inside]
}

const nest = (levels: number, open: string, close: string) => new Raw(`${open.repeat(levels)}1${close.repeat(levels)}`)

const OTHER_TYPES = [null, true, false, 0, -1, 1.5, '', ' ', 'x', [], {}, [[]], [null], { x: 1 }]
const NUMBERS = ['1e999', '-1e999', '-0', '1e-999', '9007199254740993', '9'.repeat(40), '0.1e1', '1E+2'].map(
  (text) => new Raw(text),
)
const TEXTS = ['\0', 'a\0b', '\ud800', '\udfff\ud800', 'x'.repeat(100_000), ...NASTY]
const NESTED = [nest(30, '[', ']'), nest(60, '[', ']'), nest(30, '{"x":', '}'), nest(60, '{"x":', '}')]
const NAMES = ['surprise', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '', '\0', '\ud800', '$ref']

/** Returns objects with unknown, missing or duplicate fields. */
function oddFields({ properties = {} }: JsonSchema, value: Fields): unknown[] {
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${jsonOf(inner)}`)
  const withMember = (member: string) => new Raw(`{${[...members, member].join(',')}}`)
  const added = NAMES.flatMap((name) => ['1', '{"x":1}'].map((one) => withMember(`${JSON.stringify(name)}:${one}`)))
  const left = Object.keys(value).map((name) => Object.fromEntries(Object.entries(value).filter(([n]) => n !== name)))
  const twice = Object.keys(properties).flatMap((name) => {
    const again = JSON.stringify(name)
    return ['null', '1', '"x"', '[]'].map((one) => withMember(`${again}:${one},${again}:${jsonOf(value[name] ?? 1)}`))
  })
  return [...added, ...left, ...twice]
}

/**
 * Returns bodies as JSON text. Each is a valid body in which one position is unusual: a value at or past a limit of the
 * schema, of another type, too long or too deeply nested, or an object with a missing, unknown or duplicate field.
 */
export function oddBodies(schema: JsonSchema, base: unknown): string[] {
  const texts = placesOf(schema, base).flatMap(({ schema: here, value, put }) => {
    const fields = here.properties && isFields(value) ? oddFields(here, value) : []
    const limits = [...atLimits(here), ...outOfRange(here)]
    return [...limits, ...OTHER_TYPES, ...NUMBERS, ...TEXTS, ...NESTED, ...fields].map((one) => jsonOf(put(one)))
  })
  return [...new Set(texts)]
}

/**
 * Returns bodies with a duplicate field: one that must be accepted and one that must be rejected. The last value is
 * used, as in `JSON.parse`.
 */
export function twice(schema: JsonSchema, base: Fields): { taken: string; refused: string } {
  const [name = '', inner = {}] = Object.entries(schema.properties ?? {}).find(([one]) => one in base) ?? []
  const wrong = [[], {}, 1].find((value) => !fits(inner, value))
  const [good, bad] = [base[name], wrong].map((value) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  const rest = Object.entries(base).filter(([one]) => one !== name)
  const others = rest.map(([one, value]) => `${JSON.stringify(one)}:${JSON.stringify(value)}`)
  const text = (...members: (string | undefined)[]) => `{${[...members, ...others].join(',')}}`
  return { taken: text(bad, good), refused: text(good, bad) }
}

const ENCODED = [
  '%00',
  '%ff',
  '%',
  '%zz',
  '%25',
  '%0d%0ax:y',
  '%F0%9F%98%80',
  '%ED%A0%80',
  '%22',
  '+',
  '_',
  '%5C',
  '..%2f..',
  '%2F',
  "'--",
  '%41'.repeat(3000),
  'a'.repeat(300),
  'a'.repeat(9000),
]
const WORDS = ['x', '-1', '0', '1', '1.5', '1e3', '1e309', '-1e309', '-0', 'NaN', 'Infinity', '0x10', 'null', 'true']
const LONG_NUMBERS = ['9007199254740993', '9'.repeat(30), '0'.repeat(50), '1e-400']

/** Returns URL-encoded values of a parameter: at and past the limits of its schema, and malformed. */
export function oddTexts(schema: JsonSchema): string[] {
  const limits = [...atLimits(schema), ...outOfRange(schema), ...(schema.enum ?? []), least(schema)]
  const plain = [...limits.map(String), ...WORDS, ...LONG_NUMBERS, '[]', '{}', ...NASTY]
  const texts = [...plain.map((text) => encodeURIComponent(text)), ...ENCODED]
  return [...new Set(texts)].filter((text) => text !== '')
}

/** Contents of forged pagination cursors. */
const PLACES = [
  [],
  [null],
  ['x'],
  [1],
  [-1],
  [1.5],
  [1e300],
  ['\ud800'],
  ['\0'],
  [{}],
  [[1]],
  [1, 2, 3],
  'x',
  { length: 1 },
  ['severity', 'x', null, 1e300, 4],
  ['severity', 1, 1, 1, '\0'],
  [1e300, 'x', 'y'],
]
const CURSORS = PLACES.map((place) => Buffer.from(JSON.stringify(place)).toString('base64url'))

/** Returns queries in which one parameter is unusual. `base` contains the required parameters. */
export function oddQueries(parameters: readonly { name: string; schema: JsonSchema }[], base: string): string[] {
  const odd = parameters.flatMap(({ name, schema }) => [
    ...['', ...oddTexts(schema), ...(name === 'cursor' ? CURSORS : [])].map((text) => `${name}=${text}`),
    name,
    `${name}=1&${name}=x`,
    `${name}[a]=1`,
    `${name}[]=1`,
    `${name}=1&${name}`,
    `%00${name}=1`,
  ])
  const names = [
    'surprise=1',
    '__proto__=1',
    'constructor=1',
    'toString=1',
    '=1',
    '&&',
    '%00=1',
    '%ED%A0%80=1',
    '?',
    '%',
  ]
  const behindBase = odd.map((text) => `${base}&${text}`)
  return [...odd, ...names.map((text) => `${base}&${text}`), ...(base === '' ? [] : behindBase)]
}
