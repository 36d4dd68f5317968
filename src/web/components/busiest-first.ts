import type { Domain } from '#client/types.gen'

/** Sorts domains by their events of the last 24 hours, busiest first. */
export const busiestFirst = <D extends Pick<Domain, 'events24h'>>(domains: readonly D[]): D[] =>
  domains.toSorted((a, b) => (b.events24h ?? 0) - (a.events24h ?? 0))
