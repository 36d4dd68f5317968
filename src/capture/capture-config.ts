import { decoders } from '../decoders/index.ts'
import type { SessionMode } from '../domains/capture-settings.ts'
import type { CollectorDomain } from '../domains/directory.ts'

/** What the browser script is told of its domain: inlined into `GET /t/{token}.js`. */
export interface CaptureConfig {
  /** Of this format. A script that knows only others captures nothing. */
  version: 1
  token: string
  /** Where batches go, and where this configuration is found; absolute. */
  collectUrl: string
  configUrl: string
  /** Share of sessions that are captured, 0 to 1. */
  sampleRate: { prod: number; dev: number }
  /** True: capture nothing, and stop on pages that are open, for good. */
  kill: boolean
  /** Where the page itself declares no mode. */
  sessionMode: SessionMode
  /** True: every request to another site is captured; false: only what the lists below name. */
  crossSite: boolean
  /** Captured on any host, with body: pieces of the address without its scheme; `*` stands for anything. */
  patterns: readonly string[]
  /** Captured on any host, with body: regular expressions for the path. */
  paths: readonly string[]
  /** Regular expressions for path and query of what is not captured on other sites, unless a list above names it. */
  ignore: readonly string[]
  /** True: timings of pages are sent. */
  pageStats: boolean
}

/**
 * The whole configuration, `GET /t/{token}.json`. The script asks for it too, once a page: the list of hosts grows with
 * every vendor, and the script should not.
 */
export interface FullCaptureConfig extends CaptureConfig {
  /** Hosts of vendors, each with its subdomains. Bodies that go to other sites are captured for these only. */
  hosts: readonly string[]
}

/** Pictures, fonts, films and styles are no tag traffic; a PNG or GIF with a query may be a tracking pixel. */
const IGNORE = [
  String.raw`^[^?]*\.(?:css|woff2?|[ot]tf|eot|jpe?g|webp|avif|svg|ico|mp[34]|webm|m4s|m3u8|wasm|map)(?:\?|$)`,
  String.raw`^[^?]*\.(?:png|gif)$`,
]

/** Vendors' hosts, each without those below it. */
const hosts = [...new Set(decoders.flatMap((decoder) => decoder.hosts))]
  .filter((host, _index, all) => !all.some((other) => host.endsWith(`.${other}`)))
  .sort()

/** Google's collection under the customer's own name; `when` of its routes looks at the query too. */
const FIRST_PARTY_PATHS = ['/(?:g|ccm)/(?:s/)?collect/?$']

/**
 * Paths by which vendors are told that run under the customer's own name. Routes that need more than the path to be told
 * are left out, as they would take in what is no vendor's; so is loading of code.
 */
const paths = [
  ...FIRST_PARTY_PATHS,
  ...decoders
    .flatMap(({ routes }) => routes)
    .filter(({ anyHost, when, path }) => anyHost && !when && !/\.js\)?\$?$/.test(path.source))
    // Two groups of one name are an error in browsers when such expressions are read as one.
    .map(({ path }) => path.source.replaceAll(/\(\?<\w+>/g, '(?:')),
]

/** Where a domain's script finds the collector. */
export interface CaptureAddress {
  token: string
  /** Any address of the collector's host. */
  collectUrl: string
}

/** What the script of this domain is told. */
export function captureConfigOf(
  { vendors, capture: { enabled, sampleRate, sessionMode } }: CollectorDomain,
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
    patterns: vendors.flatMap(({ urlPatternMatches = [] }) => urlPatternMatches),
    paths,
    ignore: IGNORE,
    pageStats: true,
    hosts,
  }
}
