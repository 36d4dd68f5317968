import type { Decoder, KeyReference, Route } from './decoder.ts'
import { isTracking, MATOMO_MEANINGS, readRequest, trackingMark } from './matomo.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'

const TRACK: Route = { path: /\/ppms\.php$/, read: readRequest }

const KEYS: readonly KeyReference[] = [{ url: 'https://developers.piwik.pro/', meanings: MATOMO_MEANINGS }]

/** Based on Matomo, with the same parameters. Its site ids are not numeric. */
export const piwikPro: Decoder = {
  vendor: 'Piwik PRO',
  source: 'https://developers.piwik.pro/',
  keys: KEYS,
  hosts: ['piwik.pro', 'piwik.cloud'],
  routes: [
    { ...TRACK, path: /\/(?:ppms|piwik)\.php$/ },
    { ...TRACK, anyHost: true },
    // Consent choices, reported for statistics on the consent form.
    { ...sideChannel(/\/consent\/(?:collection|types)\b/), when: ({ host }) => host.endsWith('.piwik.pro') },
    { ...scriptLoad(/\/(?:ppms|ppas)\.js$/), anyHost: true },
    // Requests with a renamed path, which evades ad blockers.
    {
      path: /^/,
      anyHost: true,
      mark: trackingMark('[\\da-f-]{36}'),
      when: (request) => isTracking(request, /^[\da-f-]{36}$/),
      read: readRequest,
    },
  ],
}
