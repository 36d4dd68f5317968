import type { DomainVendorConfig } from './domain.ts'

/** Returns the vendor of a request according to a domain's patterns; null when none matches. */
export type NameVendor = (url: string) => string | null

interface Pattern {
  vendorName: string
  /** Strings that must occur in the URL in this order. */
  parts: readonly string[]
}

/**
 * Returns a function that identifies a vendor by the patterns of a domain. The first matching pattern is used. A
 * pattern is a part of a URL without the scheme, in which `*` matches anything: `metrics.shop.example/c*&k=`. Case is
 * ignored. Matching takes linear time.
 */
export function vendorsByPattern(vendors: readonly DomainVendorConfig[]): NameVendor {
  const patterns = vendors.flatMap(({ vendorName, urlPatternMatches = [] }) =>
    urlPatternMatches.map((pattern): Pattern => ({ vendorName, parts: partsOf(pattern) })),
  )
  if (patterns.length === 0) return () => null
  return (url) => {
    const address = withoutScheme(url.toLowerCase())
    return patterns.find(({ parts }) => holdsInOrder(address, parts))?.vendorName ?? null
  }
}

/** True for a pattern that would match every URL. */
export function isBlankPattern(pattern: string): boolean {
  return partsOf(pattern).length === 0
}

/** Returns the pattern in lower case, without the scheme and redundant `*`. */
export function plainPattern(pattern: string): string {
  return partsOf(pattern).join('*')
}

function partsOf(pattern: string): string[] {
  return withoutScheme(pattern.trim().toLowerCase()).split('*').filter(Boolean)
}

function withoutScheme(address: string): string {
  return address.replace(/^(?:[a-z][a-z\d+.-]*:)?\/\//, '')
}

function holdsInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0
  for (const part of parts) {
    const at = text.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}
