import { messageOf } from '../core/error.ts'
import type { DecodedEvent, Decoder, RawHit, Route } from './decoder.ts'
import { googleAnalytics4 } from './google-analytics-4.ts'
import { linkedinInsight } from './linkedin-insight.ts'
import { matomo } from './matomo.ts'
import { metaPixel } from './meta-pixel.ts'
import { microsoftAdvertisingUet } from './microsoft-advertising-uet.ts'
import { cleanText, cutText, flattenParams, type Params } from './params.ts'
import { VendorRequest } from './request.ts'
import { segment } from './segment.ts'
import { tiktokPixel } from './tiktok-pixel.ts'

export type { DecodedEvent, Decoder, RawHit, Route }

/** Where two decoders could read the same request, the one that comes first does. */
export const decoders: readonly Decoder[] = [
  googleAnalytics4,
  metaPixel,
  microsoftAdvertisingUet,
  tiktokPixel,
  linkedinInsight,
  segment,
  matomo,
]

/** Longer names of events and accounts are cut. */
export const MAX_NAME_LENGTH = 200
/** A request that carries more events keeps the first ones. */
export const MAX_EVENTS_PER_HIT = 1000

/** An event as it is stored. For kind `library` the event's name is empty. */
export interface FlatEvent {
  event: string
  account: string | null
  kind: 'event' | 'library'
  params: Params
  /** What had to be cut or dropped, as reasons from a closed list; mostly empty. */
  cut: string[]
}

/** What a request says. */
export interface Decoded {
  /** Null: nobody's that is known here. */
  vendor: string | null
  /** Null when the vendor is not known and when the request carries nothing. */
  kind: 'event' | 'library' | null
  /** The first event's; null when there is none. */
  account: string | null
  /** A request that loads the vendor's code has one entry, of kind `library`. */
  events: FlatEvent[]
  /** Why nothing could be read although there should be something; then `events` is empty. Quotes nothing. */
  error: string | null
}

interface Candidate {
  vendor: string
  route: Route
}

const byHost = new Map<string, Candidate[]>()
const anywhere: Candidate[] = []
for (const { vendor, hosts, routes } of decoders) {
  const candidates = routes.map((route) => ({ vendor, route }))
  for (const host of hosts) byHost.set(host, [...(byHost.get(host) ?? []), ...candidates])
  anywhere.push(...candidates.filter(({ route }) => route.anyHost))
}

/** Never throws. A preflight (OPTIONS) is the vendor's request, but carries nothing. */
export function decodeHit(hit: RawHit): Decoded {
  const url = URL.parse(hit.url)
  if (!url) return nothing(null, 'url: is not an absolute address')
  let vendor: string | null = null
  try {
    const request = new VendorRequest(url, hit.body)
    const found = find(request)
    if (!found) return nothing(null, null)
    vendor = found.vendor
    return hit.method === 'OPTIONS' ? nothing(vendor, null) : decoded(vendor, found.route.read(request))
  } catch (error) {
    // Whatever a decoder throws is about this one request; the next one must not suffer for it.
    return nothing(vendor, `${vendor ?? 'request'}: ${messageOf(error)}`)
  }
}

/** The most exact host name first, then those that may be on any host. */
function find(request: VendorRequest): Candidate | undefined {
  const fits = ({ route }: Candidate) => route.path.test(request.path) && (route.when?.(request) ?? true)
  for (let host = request.host; host !== ''; host = parentOf(host)) {
    const found = byHost.get(host)?.find(fits)
    if (found) return found
  }
  return anywhere.find(fits)
}

/** `a.b.c` → `b.c`; empty after the last. */
function parentOf(host: string): string {
  const dot = host.indexOf('.')
  return dot === -1 ? '' : host.slice(dot + 1)
}

function nothing(vendor: string | null, error: string | null): Decoded {
  return { vendor, kind: null, account: null, events: [], error }
}

function decoded(vendor: string, carried: Iterable<DecodedEvent>): Decoded {
  const events: FlatEvent[] = []
  for (const event of carried) {
    if (events.length === MAX_EVENTS_PER_HIT) {
      events.at(-1)?.cut.push(`events: more than ${MAX_EVENTS_PER_HIT} in one request, the rest was dropped`)
      break
    }
    events.push(flatten(event))
  }
  const [first] = events
  return { vendor, kind: first?.kind ?? null, account: first?.account ?? null, events, error: null }
}

function flatten({ event, account, kind = 'event', params }: DecodedEvent): FlatEvent {
  return { event: name(event), account: account && name(account), kind, ...flattenParams(params) }
}

function name(text: string): string {
  return cleanText(cutText(text, MAX_NAME_LENGTH))
}
