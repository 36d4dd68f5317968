import type { CaptureConfig, FullCaptureConfig } from '../capture/capture-config.ts'

/** A request to capture. */
export interface CapturedRequest {
  /** Absolute URL without its fragment. */
  url: string
  /** The host if it belongs to another site, else null. */
  foreignHost: string | null
  /**
   * True for a vendor's request, which is captured with its body. False for other requests, whose bodies are private.
   * Null while undecided: either the vendor lists are not loaded, or the decision requires the body, which has not been
   * read yet.
   */
  isVendors: boolean | null
  /** False while it is undecided whether the request may be captured at all. */
  isSure: boolean
}

/** The vendor lists from the full configuration. */
type Known = Pick<FullCaptureConfig, 'hosts' | 'marks'>

/** Decides which of the page's requests are captured. */
export interface CaptureFilter {
  /**
   * Returns the request to capture, or null when it must not be captured. `content` returns the body as a string: empty
   * when there is no body, null when it has not been read yet. `content` is called only when host and path are not
   * enough to decide.
   */
  wanted(address: string, content?: () => string | null): CapturedRequest | null
  /** Returns the host of an absolute URL on another site; null for the page's own site and for the collector. */
  foreignHost(address: string): string | null
  /** Sets the vendor lists. */
  learn(known: Known): void
}

function holdsInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0
  return parts.every((part) => {
    const at = text.indexOf(part, from)
    from = at + part.length
    return at >= 0
  })
}

/**
 * Returns the approximate registrable domain. Browsers don't expose it, and the public suffix list is too long to
 * include. It is the last two labels, or three when the last two are as short as in `co.uk`. An IP address is a site in
 * itself.
 */
export function siteOf(hostname: string): string {
  if (/^[\d.]+$|:/.test(hostname)) return hostname
  const labels = hostname.split('.')
  const isShort = (labels.at(-1) ?? '').length === 2 && (labels.at(-2) ?? '').length <= 3
  return labels.slice(isShort ? -3 : -2).join('.')
}

/** Creates a filter. `base` returns the base URL for the page's relative URLs. */
export function makeCaptureFilter(config: CaptureConfig, pageHost: string, base: () => string): CaptureFilter {
  const patterns = config.patterns.map((pattern) => pattern.split('*'))
  const paths = new RegExp(config.paths, 'i')
  const ignore = new RegExp(config.ignore, 'i')
  let known: { hosts: Set<string>; marks: [path: RegExp, mark: RegExp][]; anywhere: RegExp[]; paths: RegExp } | null =
    null
  const pageSite = `.${siteOf(pageHost)}`
  const ownPrefixes = [config.collectUrl, config.configUrl.replace(/[^/]*$/, '')]
  const isOwn = (href: string) => ownPrefixes.some((prefix) => href.startsWith(prefix))

  const isNamed = (url: URL) => {
    if (paths.test(url.pathname + url.search)) return true
    return patterns.some((parts) => holdsInOrder(url.href.slice(url.protocol.length + 2).toLowerCase(), parts))
  }
  const foreignHostOf = (url: URL) => (`.${url.hostname}`.endsWith(pageSite) ? null : url.hostname)
  /** Returns null while undecided. */
  const isVendors = ({ hostname, pathname, search }: URL, isForeign: boolean, content: () => string | null) => {
    if (!known) return null
    const { hosts, marks, anywhere } = known
    if (isForeign && hostname.split('.').some((_, at, labels) => hosts.has(labels.slice(at).join('.')))) return true
    // A single test instead of many, because most paths match no pattern, and each expression is compiled when it is
    // first used.
    const own = known.paths.test(pathname) ? marks.filter(([path]) => path.test(pathname)).map(([, mark]) => mark) : []
    const text = content()
    const subject = `${hostname}${search}\n${text ?? ''}`
    return [...own, ...anywhere].some((mark) => mark.test(subject)) || (text === null ? null : false)
  }

  return {
    wanted(address, content = () => '') {
      const url = parse(address, base)
      if (!url) return null
      const href = withoutFragment(url.href)
      if (isOwn(href)) return null
      const foreignHost = foreignHostOf(url)
      if (isNamed(url)) return { url: href, foreignHost, isVendors: true, isSure: true }
      const isIgnored = ignore.test(url.pathname + url.search)
      if (isIgnored && content() === '') return null
      const isForeign = config.crossSite && foreignHost !== null
      const answer = isVendors(url, isForeign, content)
      const isOther = isForeign && !isIgnored
      if (answer === false && !isOther) return null
      return { url: href, foreignHost, isVendors: answer, isSure: answer === true || isOther }
    },
    foreignHost(address) {
      const url = parse(address, base)
      return url && !isOwn(url.href) ? foreignHostOf(url) : null
    },
    learn({ hosts, marks }) {
      const narrow = marks.filter(([path]) => path)
      known = {
        hosts: new Set(hosts),
        marks: narrow.map(([path, mark]) => [new RegExp(path, 'i'), new RegExp(mark)]),
        anywhere: marks.flatMap(([path, mark]) => (path ? [] : [new RegExp(mark)])),
        paths: new RegExp(narrow.map(([path]) => path).join('|'), 'i'),
      }
    },
  }
}

/** Returns the URL without its fragment, as resource timing reports it. */
export function withoutFragment(href: string): string {
  const at = href.indexOf('#')
  return at < 0 ? href : href.slice(0, at)
}

/** Parses a URL; null when it is not http(s). */
function parse(address: string, base: () => string): URL | null {
  const isWhole = /^https?:/i.test(address)
  // Pages load many `data:` URLs, and parsing megabytes of image data would slow the page down.
  if (!isWhole && /^[a-z][a-z\d+.-]*:/i.test(address)) return null
  try {
    const url = isWhole ? new URL(address) : new URL(address, base())
    return url.protocol.startsWith('http') ? url : null
  } catch {
    // The browser reports the invalid URL to the page.
    return null
  }
}
