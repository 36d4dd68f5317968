import type { SeenEvent } from '../browser/traffic.ts'

/** The part of an event by which it is told whether it came twice. `host` and `path`: its page, where several are looked at. */
export type Repeatable = Pick<SeenEvent, 'vendor' | 'event' | 'account' | 'params'> &
  Partial<Pick<SeenEvent, 'host' | 'path'>>

/** Signs of life and pieces of a recorded session: they are sent again and again on purpose. */
const RECURRING =
  /^(?:(?:.*[_ -])?(?:ping|heart_?beat|keep_?alive|engagement)|upload|session_?recording|timing|performance)$/i

/** Whether events of this name are sent again and again on purpose. */
export const isRecurring = (event: string): boolean => RECURRING.test(event)

/**
 * Of vendors whose keys say nothing of themselves: what their own libraries count, clock or draw by lot. Keys are as the
 * decoders name them.
 */
const OF_LIBRARY = new Map<string, RegExp>(
  Object.entries({
    // Everything but what the page gave, its address and its title.
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

/** Words in the names of times, counters and random numbers. */
const COUNTING = new Set([
  ...['time', 'times', 'timestamp', 'ts', 'clock', 'epoch', 'msec', 'ms', 'elapsed', 'latency', 'duration'],
  ...['seq', 'sequence', 'counter', 'nonce', 'rand', 'random', 'rnd', 'rn', 'cb', 'cachebuster', 'buster'],
  ...['uuid', 'guid', 'z', 'dtm', 'stm', 'eid'],
])
/** Names of what is drawn anew for each sending. */
const OF_ONE_SENDING =
  /^\$?(?:event|message|request|req|hit|insert|batch|impression|page_?view|view|trace|span|packet|beacon|dedup\w*)_?(?:id|key)$/i
/** Ends of keys that are a counter when they are all of it. */
const BARE = /^(?:_+|num|ord|_s|_n|sent_?at|created_?at|received_?at|original_?timestamp)$/i

/** A time of day with a date: ISO 8601, or as Adobe writes it; milliseconds since 1970 in the years 2020 to 2033, or microseconds. */
const INSTANT =
  /^(?:\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?|\d{1,2}\/\d{1,2}\/\d{2,4} \d{1,2}:\d{2}:\d{2}.*|1[6-9]\d{8}(?:\.\d+|\d{3}|\d{6}))$/

/** The last part of a dotted or bracketed key, in its words. */
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
 * Whether a parameter counts, tells a time or is drawn by lot, so that the same event sent twice differs in it. It is told
 * by the key, and by values that are instants.
 */
export function isCounter(vendor: string, key: string, value: string): boolean {
  if (OF_LIBRARY.get(vendor)?.test(key) || INSTANT.test(value)) return true
  const { last, words } = wordsIn(key)
  return BARE.test(last) || OF_ONE_SENDING.test(last) || words.some((word) => COUNTING.has(word))
}

/**
 * Returns the events that came more than once, each as the list of its occurrences, in the order in which they first came:
 * the same vendor, account, event, page and data, counters and times aside. What is sent again and again on purpose is left
 * out.
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
