import { decoders } from '../decoders/index.ts'
import type { SessionMode } from '../domains/capture-settings.ts'
import type { CollectorDomain } from '../domains/domain-directory.ts'
import { plainPattern } from '../domains/vendor-pattern.ts'

/** The configuration of the browser script, inlined into `GET /t/{token}.js`. */
export interface CaptureConfig {
  /** Version of this format. A script that does not support it captures nothing. */
  version: 1
  token: string
  /** Absolute URLs: batches are sent to the first, and this configuration is loaded from the second. */
  collectUrl: string
  configUrl: string
  /** Share of captured sessions, 0 to 1. */
  sampleRate: { prod: number; dev: number }
  /** True to capture nothing. Scripts on open pages then stop permanently. */
  kill: boolean
  /** Used when the page sets no mode itself. */
  sessionMode: SessionMode
  /** True to capture every request to another site; false to capture only those that match the lists below. */
  crossSite: boolean
  /**
   * Patterns of requests that are captured with their body on any host: parts of the URL, in lower case and without
   * scheme. `*` matches anything.
   */
  patterns: readonly string[]
  /** Requests that are captured with their body on any host: a regular expression for path and query. */
  paths: string
  /**
   * Requests that are not captured unless they match one of the lists above: a regular expression for path and query.
   */
  ignore: string
  /** True to send page timings. */
  pageStats: boolean
}

/**
 * The full configuration, `GET /t/{token}.json`. The script loads it once per page, because the list of hosts grows
 * with every vendor and the script must stay small.
 */
export interface FullCaptureConfig extends CaptureConfig {
  /** Vendors' hosts, each including its subdomains. Bodies sent to other sites are captured only for these hosts. */
  hosts: readonly string[]
  /**
   * Patterns that recognise vendors' requests to any other host, which are captured with their body. Each is a pair of
   * regular expressions. The first is matched with the path, ignoring case. The second is matched with the host name,
   * the query (`?…`), a line feed and the body, joined together. Both must match. An empty expression matches
   * everything.
   */
  marks: readonly (readonly [path: string, mark: string])[]
}

/** Images, fonts, videos and styles are not tag traffic, but a PNG or GIF with a query may be a tracking pixel. */
const IGNORE = String.raw`^[^?]*\.((css|woff2?|[ot]tf|eot|jpe?g|webp|avif|svg|ico|mp[34]|webm|m4s|m3u8|wasm|map)(\?|$)|(png|gif)$)`

const ofVendors = new Set(decoders.flatMap((decoder) => decoder.hosts))

/** Vendors' hosts. Hosts whose parent domain is listed are omitted. */
const hosts = [...ofVendors].filter((host) => !domainsAbove(host).some((domain) => ofVendors.has(domain))).sort()

/** `a.b.example` → `b.example`, `example`. */
function domainsAbove(host: string): string[] {
  const labels = host.split('.')
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'))
}

/** Google Analytics on the customer's own host. It is so common that it is recognised before the lists are loaded. */
const GOOGLE_ANALYTICS = String.raw`/(g|ccm)/(s/)?c(ollect)?/?\?(.*?&)?tid=GT?-`

/**
 * Routes for events and libraries that a browser can recognise on any host: either by the path alone or by their mark.
 */
const routes = decoders
  .flatMap((decoder) => decoder.routes)
  .filter(({ anyHost, when, mark, carries }) => anyHost && (!when || mark) && carries !== 'nothing')

/**
 * Returns the source without group names, because browsers reject duplicate names, and without the escapes that are
 * only required in literals.
 */
function sourceOf({ source }: RegExp): string {
  return source.replaceAll(/\(\?(?:<\w+>|:)/g, '(').replaceAll('\\/', '/')
}

/** Paths that alone identify vendors' requests on the customer's own host. Requests that load code are excluded. */
const vendorPaths = routes
  .filter(({ mark, carries }) => !mark && !carries)
  .map(({ path }) => sourceOf(path).replaceAll('$', '(\\?|$)'))
const paths = `^[^?]*(${[GOOGLE_ANALYTICS, ...vendorPaths].join('|')})`

/** True for a pattern that matches most paths of any site. Such requests are recognised by the mark alone. */
const isBroad = (path: RegExp) => ['/x', '/x/x'].some((plain) => path.test(plain))

/**
 * Marks for library loads and for routes that are not identified by the path alone. All routes identified by the path
 * alone share one pair.
 */
const marks: [path: string, mark: string][] = [
  [routes.flatMap(({ mark, path }) => (mark ? [] : [sourceOf(path)])).join('|'), ''],
  ...routes.flatMap(({ mark, path }): [string, string][] =>
    mark ? [[isBroad(path) ? '' : sourceOf(path), sourceOf(mark)]] : [],
  ),
]

/** The collector's URL for a domain's script. */
export interface CaptureAddress {
  token: string
  /** Any URL of the collector's host. */
  collectUrl: string
}

/** Returns the configuration of the domain's script. */
export function captureConfigOf(
  { vendors, capture: { enabled, sampleRate, sessionMode } }: Pick<CollectorDomain, 'vendors' | 'capture'>,
  { token, collectUrl }: CaptureAddress,
): FullCaptureConfig {
  return {
    version: 1,
    token,
    collectUrl: new URL('/api/v1/events', collectUrl).href,
    configUrl: new URL(`/t/${token}.json`, collectUrl).href,
    sampleRate,
    kill: !enabled,
    sessionMode,
    crossSite: true,
    patterns: vendors.flatMap(({ urlPatternMatches = [] }) => urlPatternMatches.map(plainPattern)),
    paths,
    ignore: IGNORE,
    pageStats: true,
    hosts,
    marks,
  }
}
