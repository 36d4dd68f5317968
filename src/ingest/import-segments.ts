import type { DERIVED_SEGMENTS, Segment } from '../core/event.ts'
import { Closed, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { readLanguage } from '../visitor/language.ts'

export const DEVICES = ['desktop', 'phone', 'tablet', 'bot'] as const
export const CONSENT_STATES = ['granted', 'denied', 'unknown'] as const
export const VISITORS = ['new', 'returning'] as const
/** Minimum and maximum lengths of segments that are free text, in UTF-16 units. */
export const SEGMENT_LENGTHS = {
  browser: [1, 100],
  browserVersion: [1, 20],
  os: [1, 100],
  language: [1, 35],
  country: [2, 2],
} as const

const texts = {
  browser: Text(...SEGMENT_LENGTHS.browser),
  browserVersion: Text(...SEGMENT_LENGTHS.browserVersion),
  os: Text(...SEGMENT_LENGTHS.os),
  language: Text(...SEGMENT_LENGTHS.language),
  country: Text(...SEGMENT_LENGTHS.country),
}
const words = { consent: OneOf(CONSENT_STATES), visitor: OneOf(VISITORS) }
const optionalNull = Type.Optional(Nullable(Type.Unknown()))

/**
 * Fields of an imported event that describe segments: our own, each as a field or in `segments`, and the records
 * `device`, `geo` and `privacy_info` of Google Analytics' export
 * (https://support.google.com/analytics/answer/7029846). `release` and `pageGroup` are computed from other fields.
 */
export const segmentFields = {
  browser: Type.Optional(texts.browser),
  browserVersion: Type.Optional(texts.browserVersion),
  os: Type.Optional(texts.os),
  device: Type.Optional(Type.Union([OneOf(DEVICES), Type.Object({})])),
  language: Type.Optional(texts.language),
  country: Type.Optional(texts.country),
  consent: Type.Optional(words.consent),
  visitor: Type.Optional(words.visitor),
  segments: Type.Optional(
    Closed({
      browser: Type.Optional(Nullable(texts.browser)),
      browserVersion: Type.Optional(Nullable(texts.browserVersion)),
      os: Type.Optional(Nullable(texts.os)),
      device: Type.Optional(Nullable(OneOf(DEVICES))),
      language: Type.Optional(Nullable(texts.language)),
      country: Type.Optional(Nullable(texts.country)),
      consent: Type.Optional(Nullable(words.consent)),
      visitor: Type.Optional(Nullable(words.visitor)),
      release: optionalNull,
      pageGroup: optionalNull,
    }),
  ),
  geo: Type.Optional(Type.Object({})),
  privacy_info: Type.Optional(Type.Object({})),
}
const SegmentFieldsSchema = Closed(segmentFields)

export type StoredSegments = Record<Exclude<Segment, (typeof DERIVED_SEGMENTS)[number]>, string | null>

/** Returns the segments of an imported event. A field takes precedence over `segments`, and both over the records. */
export function importedSegments(line: Static<typeof SegmentFieldsSchema>): StoredSegments {
  const { segments = {}, geo, privacy_info: privacy } = line
  const [record, device] = typeof line.device === 'object' ? [line.device, undefined] : [undefined, line.device]
  const exported = record === undefined ? {} : deviceOf(record)
  return {
    browser: line.browser ?? segments.browser ?? exported.browser ?? null,
    browserVersion: line.browserVersion ?? segments.browserVersion ?? exported.browserVersion ?? null,
    os: line.os ?? segments.os ?? exported.os ?? null,
    device: device ?? segments.device ?? exported.device ?? null,
    language: readLanguage(line.language ?? segments.language ?? exported.language),
    country: countryCode(line.country ?? segments.country ?? textIn(geo, 'country')),
    consent: line.consent ?? segments.consent ?? consentIn(privacy) ?? 'unknown',
    visitor: line.visitor ?? segments.visitor ?? null,
  }
}

/** Returns a value of a record from an export as a string; undefined if it is missing, empty or not set. */
function textIn(record: object | null | undefined, name: string): string | undefined {
  const value = (record as Record<string, unknown> | null | undefined)?.[name]
  return typeof value === 'string' && value !== '' && value !== '(not set)' ? value : undefined
}

/** Names of the export that differ from ours. */
const SYSTEMS = new Map([
  ['Macintosh', 'macOS'],
  ['Chrome OS', 'ChromeOS'],
])
const CATEGORIES = new Map<string, (typeof DEVICES)[number]>([
  ['desktop', 'desktop'],
  ['mobile', 'phone'],
  ['tablet', 'tablet'],
])

function deviceOf(record: object): Partial<Record<keyof StoredSegments, string | undefined>> {
  const web = (record as { web_info?: object }).web_info
  const system = textIn(record, 'operating_system')
  return {
    browser: textIn(web, 'browser') ?? textIn(record, 'browser'),
    browserVersion: (textIn(web, 'browser_version') ?? textIn(record, 'browser_version'))?.split('.')[0],
    os: system && (SYSTEMS.get(system) ?? system),
    device: CATEGORIES.get(textIn(record, 'category') ?? ''),
    language: textIn(record, 'language'),
  }
}

function consentIn(record: object | null | undefined): (typeof CONSENT_STATES)[number] | undefined {
  const states = ['analytics_storage', 'ads_storage'].map((name) => textIn(record, name))
  if (states.includes('No')) return 'denied'
  return states.includes('Yes') ? 'granted' : undefined
}

let codes: Map<string, string> | undefined

/** Returns the code of a country, given its code or its English name; null for other text. */
function countryCode(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null
  if (/^[A-Z]{2}$/i.test(text)) return text.toUpperCase()
  codes ??= countryCodes()
  return codes.get(text.toLowerCase()) ?? null
}

function countryCodes(): Map<string, string> {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at))
  const pairs = letters.flatMap((first) => letters.map((second) => first + second))
  return new Map(
    pairs.flatMap((code): [string, string][] => {
      const name = names.of(code)
      return name === undefined ? [] : [[name.toLowerCase(), code]]
    }),
  )
}
