import { captureConfigOf } from '../../src/capture/capture-config.ts'
import { decodeHit } from '../../src/decoders/index.ts'
import { makeCaptureFilter } from '../../src/script/capture-filter.ts'

/** Requests that only servers send. The browser script ignores them. */
const FROM_SERVERS: Partial<Record<string, RegExp>> = { Plausible: /^\{"name"/ }

/** The filter of the browser script on a page of the shop, with the vendor lists loaded. */
const config = captureConfigOf(
  { vendors: [], capture: { enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' } },
  { token: 'pt_1', collectUrl: 'https://collect.example/' },
)
const filter = makeCaptureFilter(config, 'www.shop.example', () => 'https://www.shop.example/')
filter.learn(config)

/** How a request to one of the site's own hosts is handled. */
export interface OnOwnHost {
  /** The recognised vendor; null for none. */
  vendor: string | null
  /** True when the request contains an event or loads the vendor's code. */
  carries: boolean
  /** True when the browser script captures the request. */
  isCaptured: boolean
}

/** Replaces the vendor's host with a shop host that has the same first label. Returns how the request is handled. */
export function onOwnHost(url: string, body = ''): OnOwnHost {
  const own = URL.parse(url)
  if (!own) return { vendor: null, carries: false, isCaptured: false }
  own.hostname = `${own.hostname.split('.')[0]}.shop.example`
  const { vendor, events } = decodeHit({ url: own.href, method: body ? 'POST' : 'GET', body: body || null })
  const isFromServer = vendor !== null && FROM_SERVERS[vendor]?.test(body) === true
  const isCaptured = filter.wanted(own.href, () => body) !== null
  return { vendor, carries: events.length > 0 && !isFromServer, isCaptured }
}
