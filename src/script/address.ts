import type { CaptureConfig, FullCaptureConfig } from '../capture/capture-config.ts'

/** A request to capture. */
export interface Wanted {
  /** Absolute, without its fragment. */
  url: string
  /** The host when it belongs to another site; else null. */
  foreignHost: string | null
  /**
   * True for a vendor's request, which is captured with its body; false for others, whose bodies are private. Null while
   * it is not known: the lists of vendors are not loaded, or only the body can tell and is not read yet.
   */
  isVendors: boolean | null
  /** False when only a vendor's request may be captured, and it is not known yet whether it is one. */
  isSure: boolean
}

/** The lists of vendors, from the full configuration. */
type Known = Pick<FullCaptureConfig, 'hosts' | 'marks'>

/** Decides which requests of the page are captured. */
export interface Filter {
  /**
   * Returns the request to capture; null when it is not captured. `content` returns the body as text, empty when there is
   * none, null when it is not read yet; it is called only when host and path do not decide.
   */
  wanted(address: string, content?: () => string | null): Wanted | null
  /** Returns the host of an absolute URL of another site; null for the own site and for the collector. */
  foreignHost(address: string): string | null
  /** Sets the lists of vendors. */
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
 * Returns the approximate registrable domain: browsers don't expose it, and the public suffix list is too long to
 * include. Two labels, three when the last two are as short as in `co.uk`. An IP address is its own site.
 */
export function siteOf(hostname: string): string {
  if (/^[\d.]+$|:/.test(hostname)) return hostname
  const labels = hostname.split('.')
  const isShort = (labels.at(-1) ?? '').length === 2 && (labels.at(-2) ?? '').length <= 3
  return labels.slice(isShort ? -3 : -2).join('.')
}

/** `base` returns the base of the page's relative URLs. */
export function makeFilter(config: CaptureConfig, pageHost: string, base: () => string): Filter {
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
  /** Null when it is not known yet. */
  const isVendors = ({ hostname, pathname, search }: URL, isForeign: boolean, content: () => string | null) => {
    if (!known) return null
    const { hosts, marks, anywhere } = known
    if (isForeign && hostname.split('.').some((_, at, labels) => hosts.has(labels.slice(at).join('.')))) return true
    // One test in place of many: most paths fit none, and each expression is compiled at its first use.
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

/** Returns the URL without its fragment, as in resource timing. */
export function withoutFragment(href: string): string {
  const at = href.indexOf('#')
  return at < 0 ? href : href.slice(0, at)
}

/** Parses a URL; null when it is not http(s). */
function parse(address: string, base: () => string): URL | null {
  const isWhole = /^https?:/i.test(address)
  // Pages load many `data:` URLs; parsing megabytes of an image would cost the page time.
  if (!isWhole && /^[a-z][a-z\d+.-]*:/i.test(address)) return null
  try {
    const url = isWhole ? new URL(address) : new URL(address, base())
    return url.protocol.startsWith('http') ? url : null
  } catch {
    // The browser reports the invalid URL to the page.
    return null
  }
}
