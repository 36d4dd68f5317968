import { cutText } from '../core/text.ts'
import { addConsent } from './consent.ts'
import type { DecodedEvent } from './decoder.ts'
import { cleanText, flattenParams, type Params } from './params.ts'

/** Maximum length of event and account names. Longer names are truncated. */
export const MAX_NAME_LENGTH = 200
/** Maximum number of events per request. Events beyond this number are dropped. */
export const MAX_EVENTS_PER_HIT = 1000
/**
 * Maximum total number of parameters in the events of a request, not counting the first event. Events beyond this
 * number are dropped. The shared parameters of a batch are repeated in each of its events, so a request of 10 KB could
 * otherwise produce half a million parameters.
 */
export const MAX_PARAMS_PER_HIT = 50_000

const TOO_MANY_EVENTS = `events: more than ${MAX_EVENTS_PER_HIT} in one request; the rest was dropped`
const TOO_MANY_PARAMS = `events: more than ${MAX_PARAMS_PER_HIT} parameters in one request; the rest was dropped`

/** A decoded event as it is stored. If `kind` is `library`, the event's name is empty. */
export interface FlatEvent {
  event: string
  account: string | null
  kind: 'event' | 'library'
  params: Params
  /** Reasons why parts of the event were truncated or dropped, from a fixed list. Usually empty. */
  cut: string[]
}

/** Result of decoding a request. */
export interface Decoded {
  /** Null when the request does not belong to a known vendor. */
  vendor: string | null
  /** Null when the vendor is unknown, or when the request contains neither an event nor a library load. */
  kind: 'event' | 'library' | null
  /** The account of the first event; null without events. */
  account: string | null
  /** For a request that loads the vendor's code, one entry with the kind `library`. */
  events: FlatEvent[]
  /**
   * The reason why an expected event could not be read; `events` is then empty. Does not quote the request. Null
   * without an error.
   */
  error: string | null
}

/**
 * Returns the result for a request without events: the vendor is unknown, the request contains no event, or it could
 * not be read.
 */
export function decodedNothing(vendor: string | null, error: string | null): Decoded {
  return { vendor, kind: null, account: null, events: [], error }
}

/**
 * Returns the decoder's events, flattened and limited, with consent as parameters. Rethrows errors from the decoder.
 */
export function decodedOf(vendor: string, carried: Iterable<DecodedEvent>): Decoded {
  const events: FlatEvent[] = []
  let params = 0
  for (const event of carried) {
    const reason =
      events.length === MAX_EVENTS_PER_HIT ? TOO_MANY_EVENTS : params > MAX_PARAMS_PER_HIT && TOO_MANY_PARAMS
    if (reason) {
      events.at(-1)?.cut.push(reason)
      break
    }
    const flat = flatten(event)
    events.push(flat)
    // The first event is always within the limit. Usually it is the only one.
    if (events.length > 1) params += Object.keys(flat.params).length
  }
  const [first] = events
  return { vendor, kind: first?.kind ?? null, account: first?.account ?? null, events, error: null }
}

function flatten({ event, account, kind = 'event', params }: DecodedEvent): FlatEvent {
  const flat = flattenParams(params, account)
  addConsent(flat.params)
  return { event: name(event), account: account && name(account), kind, ...flat }
}

function name(text: string): string {
  return cleanText(cutText(text, MAX_NAME_LENGTH))
}
