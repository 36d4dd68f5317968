import type { Decoder } from './decoder.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'

export const drift: Decoder = {
  vendor: 'Drift',
  source: 'https://devdocs.drift.com/docs/drift-methods',
  hosts: ['drift.com', 'driftt.com'],
  routes: [
    { ...jsonEvent(/^\/track$/, { account: 'orgId', event: 'event' }), when: ({ host }) => host.startsWith('event.') },
    {
      ...jsonEvent(/^\/(?<event>identify|page)$/, { account: 'orgId' }),
      when: ({ host }) => host.startsWith('event.'),
    },
    scriptLoad(/^\/(?:include|embeds)\/\d+\/(?<account>\w+)\.js(?:on)?$/),
    // Messages, and reports on the vendor's own code.
    { ...sideChannel(/^\//), when: ({ host }) => host.endsWith('.api.drift.com') },
  ],
}
