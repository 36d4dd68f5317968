import type { DomainVendorConfig } from './domain.ts'

/** Names the vendor of a request by the patterns of a domain; null when none fits. */
export type NameVendor = (url: string) => string | null

interface Pattern {
  vendorName: string
  /** What must occur, one behind the other. */
  parts: readonly string[]
}

/**
 * Vendors by the patterns that a domain was given, in their order. A pattern is a piece of the address without its
 * scheme, in which `*` stands for anything: `metrics.shop.example/c*&k=`. Capitals make no difference. Takes linear time.
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

/** True for a pattern that would fit every address. */
export function isBlankPattern(pattern: string): boolean {
  return partsOf(pattern).length === 0
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
