import type { KeyReference, Route } from './decoder.ts'
import { scriptLoad } from './route-builders.ts'

/** Meanings of the parameters that state the consent of the visitor in requests of all products. */
export const CONSENT_KEYS: KeyReference = {
  url: 'https://developers.google.com/tag-platform/security/concepts/consent-mode',
  meanings: {
    gcs: ['code', 'Consent for ads and analytics: G1, then 1 for granted or 0 for denied, for each'],
    gcd: ['code', 'Default and updated consent for each type of consent mode, one letter per type'],
    npa: ['boolean', '1 if ads must not be personalized'],
    dma: ['boolean', '1 if the Digital Markets Act applies to the visitor'],
  },
}

/**
 * Returns a route for the library of one type of destination, which is recognised by the prefix of its ids. The
 * customer's own host may serve the library: https://developers.google.com/tag-platform/gtagjs
 */
export function googleTag(ids: RegExp): Route {
  return {
    ...scriptLoad(/\/gtag\/(?:js|destination)$/, 'id'),
    anyHost: true,
    mark: new RegExp(`[?&]id=${ids.source.slice(1)}`),
    when: ({ query }) => ids.test(query.id ?? ''),
  }
}
