import type { CaptureConfig } from '../capture/capture-config.ts'

/** A request to capture. */
export interface Wanted {
  /** Absolute, without its fragment. */
  url: string
  /** The host when it belongs to another site; else null. */
  foreignHost: string | null
  /** False for hosts that no decoder knows, whose bodies are private. Null while the list of hosts is not loaded. */
  withBody: boolean | null
}

/** Decides which requests of the page are captured. */
export interface Filter {
  /** Returns the request to capture; null when it is not captured. */
  wanted(address: string): Wanted | null
  /** Returns the host of an absolute URL of another site; null for the own site and for the collector. */
  foreignHost(address: string): string | null
  /** Adds the hosts of vendors, each with its subdomains. */
  learn(hosts: readonly string[]): void
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
  let vendors: Set<string> | null = null
  const pageSite = `.${siteOf(pageHost)}`
  const ownPrefixes = [config.collectUrl, config.configUrl.replace(/[^/]*$/, '')]
  const isOwn = (href: string) => ownPrefixes.some((prefix) => href.startsWith(prefix))

  const isVendor = (hostname: string) => {
    const known = vendors
    return known && hostname.split('.').some((_, at, labels) => known.has(labels.slice(at).join('.')))
  }
  const isNamed = (url: URL) => {
    if (paths.test(url.pathname)) return true
    return patterns.some((parts) => holdsInOrder(url.href.slice(url.protocol.length + 2).toLowerCase(), parts))
  }
  const foreignHostOf = (url: URL) => (`.${url.hostname}`.endsWith(pageSite) ? null : url.hostname)

  return {
    wanted(address) {
      const url = parse(address, base)
      if (!url) return null
      const href = withoutFragment(url.href)
      if (isOwn(href)) return null
      const foreignHost = foreignHostOf(url)
      if (isNamed(url)) return { url: href, foreignHost, withBody: true }
      if (!config.crossSite || foreignHost === null || ignore.test(url.pathname + url.search)) return null
      return { url: href, foreignHost, withBody: isVendor(foreignHost) }
    },
    foreignHost(address) {
      const url = parse(address, base)
      return url && !isOwn(url.href) ? foreignHostOf(url) : null
    },
    learn(hosts) {
      vendors = new Set(hosts)
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
