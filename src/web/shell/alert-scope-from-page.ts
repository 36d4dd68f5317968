const SCOPE = ['domainId', 'vendor', 'event']

/**
 * Returns the domain, vendor and event of the open page, as search params for a new alert. Params with several values
 * are omitted.
 */
export function scopeOf({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Record<string, string> {
  const [, domainId] = /^\/domains\/(?!new\b)([^/]+)/.exec(pathname) ?? []
  const asked = new URLSearchParams(search)
  const named = SCOPE.map((name) => [name, asked.get(name) ?? ''] as const)
  return {
    ...(domainId && { domainId }),
    ...Object.fromEntries(named.filter(([, value]) => value !== '' && !value.includes(','))),
  }
}
