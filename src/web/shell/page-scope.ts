const SCOPE = ['domainId', 'vendor', 'event']

/** What the open page is about, as a new alert takes it: its domain, vendor and event, where it is one. */
export function scopeOf({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Record<string, string> {
  const [, domainId] = /^\/domains\/(?!new\b)([^/]+)/.exec(pathname) ?? []
  const asked = new URLSearchParams(search)
  const named = SCOPE.map((name) => [name, asked.get(name) ?? ''] as const)
  return {
    ...(domainId && { domainId }),
    ...Object.fromEntries(named.filter(([, value]) => value !== '' && !value.includes(','))),
  }
}
