import type { SeenEvent } from '../browser/traffic.ts'

/**
 * The fields that determine whether two events are duplicates. `host` and `path` identify the page when events from
 * several pages are compared.
 */
export type Repeatable = Pick<SeenEvent, 'vendor' | 'event' | 'account' | 'params'> &
  Partial<Pick<SeenEvent, 'host' | 'path'>>

/** Heartbeats and parts of session recordings, which are sent repeatedly by design. */
const RECURRING =
  /^(?:(?:.*[_ -])?(?:ping|heart_?beat|keep_?alive|engagement)|upload|session_?recording|timing|performance)$/i

/** Returns whether events with this name are sent repeatedly by design. */
export const isRecurring = (event: string): boolean => RECURRING.test(event)

/**
 * Keys that vendors' libraries fill with counters, times or random numbers. Only vendors whose key names do not reveal
 * this are listed. Keys are written as in the decoders.
 */
const OF_LIBRARY = new Map<string, RegExp>(
  Object.entries({
    // Every key except those for the data, URL and title of the page.
    'Google Analytics 4': /^(?!(?:ep|epn|up|upn|pr\d+)\b|(?:cu|uid|dl|dt)$)/,
    'Meta Pixel': /^(?!(?:cd|ud|udff|ap)\b|dl$)/,
    'Google Universal Analytics': /^(?:_[a-z]+|a|z|gjid|jid|ht|qt)$/,
    'Google Ads': /^(?:fst|fmt|tfd|guid|crd|cerd|pscrd|ocp_id|gcl_ctr|rcb)$/,
    'Google Floodlight': /^(?:ord|num|gtm|tfd)$/,
    Quantcast: /^r$/,
    Matomo: /^(?:h|m|s|_[a-z]+|pf_\w+|gt_ms|pv_id|cs)$/,
    'Microsoft Advertising UET': /^(?:lt|mid)$/,
  }),
)

/** Words that occur in the names of times, counters and random numbers. */
const COUNTING = new Set([
  'time',
  'times',
  'timestamp',
  'ts',
  'clock',
  'epoch',
  'msec',
  'ms',
  'elapsed',
  'latency',
  'duration',
  'seq',
  'sequence',
  'counter',
  'nonce',
  'rand',
  'random',
  'rnd',
  'rn',
  'cb',
  'cachebuster',
  'buster',
  'uuid',
  'guid',
  'z',
  'dtm',
  'stm',
  'eid',
])
/** Words in the names of values that are generated for each request. */
const OF_ONE_SENDING =
  /^\$?(?:event|message|request|req|hit|insert|batch|impression|page_?view|view|trace|span|packet|beacon|dedup\w*)_?(?:id|key)$/i
/** Last parts of keys that are counters only when they match as a whole. */
const BARE = /^(?:_+|num|ord|_s|_n|sent_?at|created_?at|received_?at|original_?timestamp)$/i

/**
 * A date with a time, in ISO 8601 or Adobe's format, or a Unix time in milliseconds (for the years 2020 to 2033) or
 * microseconds.
 */
const INSTANT =
  /^(?:\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?|\d{1,2}\/\d{1,2}\/\d{2,4} \d{1,2}:\d{2}:\d{2}.*|1[6-9]\d{8}(?:\.\d+|\d{3}|\d{6}))$/

/** Returns the last part of a dotted or bracketed key, and its words. */
function wordsIn(key: string): { last: string; words: string[] } {
  const last =
    key
      .split(/[.[\]/]+/)
      .filter(Boolean)
      .at(-1) ?? key
  const words = last
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
  return { last, words }
}

/**
 * Returns whether a parameter is a counter, a time or a random number, and therefore differs when the same event is
 * sent twice. The decision is based on the key, and on whether the value is a time.
 */
export function isCounter(vendor: string, key: string, value: string): boolean {
  if (OF_LIBRARY.get(vendor)?.test(key) || INSTANT.test(value)) return true
  const { last, words } = wordsIn(key)
  return BARE.test(last) || OF_ONE_SENDING.test(last) || words.some((word) => COUNTING.has(word))
}

/**
 * Returns the ids by which the vendor recognises an event that a library has sent again, as one string. Empty when there
 * are none.
 */
export function resendingIds({ params }: Pick<Repeatable, 'params'>): string {
  const ids = Object.entries(params).filter(([key, value]) => value !== '' && OF_ONE_SENDING.test(wordsIn(key).last))
  return ids.length === 0 ? '' : JSON.stringify(ids.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Returns events that were sent more than once, each as a list of its occurrences, in the order of their first
 * occurrence. Duplicates have the same vendor, account, event, page and data, ignoring counters and times. Events that
 * are sent repeatedly by design are omitted.
 */
export function duplicatesIn<Event extends Repeatable>(events: readonly Event[]): [Event, Event, ...Event[]][] {
  const groups = Map.groupBy(
    events.filter(({ event }) => !isRecurring(event)),
    spell,
  )
  return [...groups.values()].flatMap(([first, second, ...others]): [Event, Event, ...Event[]][] =>
    first && second ? [[first, second, ...others]] : [],
  )
}

function spell({ vendor, event, account, host = null, path = null, params }: Repeatable): string {
  const data = Object.entries(params)
    .filter(([key, value]) => !isCounter(vendor, key, value))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([vendor, account, event, host, path, data])
}
