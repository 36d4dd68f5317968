import type { Decoder } from './decoder.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'

export const demandbase: Decoder = {
  vendor: 'Demandbase',
  source: 'https://support.demandbase.com/hc/en-us/articles/203233110-Web-IP-API-Implementation-Guide',
  hosts: ['company-target.com', 'tag.demandbase.com', 'scripts.demandbase.com', 'tag-logger.demandbase.com'],
  routes: [
    // Requests data on the visitor's company on every page.
    jsonEvent(/^\/api\/v\d\/ip\.json$/, {
      account: ({ key, auth }) => key ?? auth,
      event: () => 'company_lookup',
    }),
    { ...jsonEvent(/^\/events\/?$/, { event: 'type' }), when: ({ host }) => host === 'et.company-target.com' },
    { ...scriptLoad(/^\/(?<account>[\w-]+)(?:\.min)?\.js$/), when: ({ host }) => host.endsWith('.demandbase.com') },
    // Ids for other vendors, and reports on the vendor's own code.
    { ...sideChannel(/^\//), when: ({ host }) => /^(?:s|segments|tag-logger)\./.test(host) },
  ],
}
