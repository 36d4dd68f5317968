import type { Decoder } from './decoder.ts'
import { jsonEvent } from './route-builders.ts'

/** Conversions that follow messages to mobile phones. A cookie identifies the company. */
export const vibes: Decoder = {
  vendor: 'Vibes',
  source: 'https://developer-platform.vibes.com/docs/implementing-vibes-tags',
  hosts: ['tagtracking.vibescm.com', 'tagtracking.eu.vibes.com'],
  routes: [
    jsonEvent(/^\/track\/?$/, {
      account: 'company_key',
      event: ({ action, event, event_type, type }) => action ?? event ?? event_type ?? type ?? 'track',
    }),
  ],
}
